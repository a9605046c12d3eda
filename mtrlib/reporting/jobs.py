"""Which notebooks run with which values: all of it settled before any kernel starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from mtrlib import paths, profiles
from mtrlib.errors import InputError, NotebookError
from mtrlib.profiles import Profile
from mtrlib.reporting import notebook_form, parameters


@dataclass(frozen=True)
class Job:
    """A notebook whose parameters are settled: ``values`` differ from its own literals."""

    path: Path
    notebook: NotebookNode
    values: Mapping[str, Any]
    profile: Profile


def select(names: str = "") -> list[Path]:
    """Numbered notebooks by number or name (``"03 00"``), all if empty, in numeric order.

    Raises
    ------
    InputError
        A name that fits none, or no notebooks at all.
    """
    known = sorted(paths.notebooks().glob("[0-9][0-9]_*.ipynb"))
    if not known:
        raise InputError.at(paths.notebooks(), None, "no numbered notebooks", "check the clone")
    wanted = names.split()
    for name in wanted:
        if not any(_fits(path, name) for path in known):
            listed = ", ".join(path.stem for path in known)
            raise InputError(f"{name!r} is no notebook. Known notebooks: {listed}.")
    return [p for p in known if not wanted or any(_fits(p, name) for name in wanted)]


def plan(
    notebooks: Sequence[Path],
    profile_name: str | None = None,
    given: Mapping[str, Any] | None = None,
    *,
    resolve: Callable[..., Profile] = profiles.load,
) -> list[Job]:
    """Settle the parameters of all notebooks before any of them starts.

    Parameters
    ----------
    notebooks : files to run, in this order.
    profile_name : passed as PROFILE; None leaves the notebooks' own.
    given : parameters, see :mod:`mtrlib.reporting.parameters`.
    resolve : makes a profile of a name and all values that a notebook will see.

    Raises
    ------
    InputError
        Unknown name, wrong type, or a value that the profile refuses.
    NotebookError
        A notebook that declares its parameters in no usable way.
    """
    given = dict(given or {})
    if profile_name is not None:
        if given.get("PROFILE", profile_name) != profile_name:
            raise InputError(f"PROFILE is given twice: {profile_name} and {given['PROFILE']}.")
        given["PROFILE"] = parameters.Typed(profile_name)
    sources = {path: notebook_form.read(path) for path in notebooks}
    declared = {}
    for path, notebook in sources.items():
        try:
            declared[str(path)] = notebook_form.declared_parameters(notebook)
        except NotebookError as error:
            raise NotebookError(f"{path.name}: {error}") from None
        if "PROFILE" not in declared[str(path)]:
            raise NotebookError(f"{path.name}: declares no PROFILE. Mend: add `PROFILE = ...`.")
    assigned = parameters.assign(declared, given)
    jobs = []
    for path, notebook in sources.items():
        values = _own(declared[str(path)], assigned[str(path)], given) | assigned[str(path)]
        seen = {**declared[str(path)], **values}
        profile = resolve(seen.pop("PROFILE"), **seen)
        jobs.append(Job(path, notebook, values, profile))
    return jobs


def _own(
    declared: Mapping[str, Any], assigned: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """What another profile sets otherwise than the notebook's literals, which are the default's.

    Without it ``PROFILE=smoke`` would train for as many steps as the default does.
    """
    name = assigned.get("PROFILE", declared["PROFILE"])
    chosen = profiles.PROFILES.get(str(name))
    if chosen is None or name == declared["PROFILE"]:
        return {}
    own = {k: v for k, v in chosen.to_dict().items() if k in declared and k not in given}
    return {k: v for k, v in own.items() if v != _plain(declared[k])}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _fits(path: Path, name: str) -> bool:
    number = path.stem.split("_")[0]
    return name in (path.stem, path.name, number, number.lstrip("0") or "0")
