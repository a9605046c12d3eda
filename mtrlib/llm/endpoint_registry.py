"""The endpoint registry, read from YAML: the built-in ones and the user's own."""

from __future__ import annotations

import os
import re
from dataclasses import fields, replace
from typing import Any

import yaml

from mtrlib.data.own_tables import table_texts
from mtrlib.errors import InputError
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import DIALECTS

_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_ALIAS = re.compile(r"[a-z0-9][a-z0-9._-]*", re.IGNORECASE)


def parse_endpoints(text: str, where: str) -> dict[str, Endpoint]:
    """Read endpoints from YAML.

    Raises
    ------
    InputError
        Unknown field, wrong type, a value out of range, or an alias that is no file name.
    """
    found = {}
    for alias, entry in (yaml.safe_load(text) or {}).items():
        if not isinstance(alias, str) or not _ALIAS.fullmatch(alias):
            raise InputError.at(
                where, None, f"alias {alias!r}", "use letters, digits, dot, dash and underscore"
            )
        found[alias] = Endpoint(alias=alias, **_checked(alias, entry, where))
    return found


def endpoints() -> dict[str, Endpoint]:
    """All endpoints by alias, the user's own (``MTR_ENDPOINTS``) over the built-in ones."""
    found: dict[str, Endpoint] = {}
    for text, where in table_texts("mtrlib.llm", "endpoints.yaml", "MTR_ENDPOINTS"):
        found |= parse_endpoints(text, where)
    return found


def endpoint(alias: str) -> Endpoint:
    """One endpoint, with its model resolved.

    Raises
    ------
    InputError
        Unknown alias (the known ones are listed), or no model named.
    """
    known = endpoints()
    where = os.environ.get("MTR_ENDPOINTS") or "endpoints.yaml"
    if alias not in known:
        raise InputError.at(
            where,
            None,
            f"endpoint {alias!r} is unknown; known: {', '.join(known)}",
            "add it to a YAML file and name that file in MTR_ENDPOINTS",
        )
    chosen = known[alias]
    model = os.environ.get(chosen.model_env, "") if chosen.model_env else ""
    model = model or chosen.model
    if not model:
        raise InputError.at(
            where, None, f"{alias}: no model", f"set {chosen.model_env or 'model'} to its name"
        )
    model_alias = chosen.model_alias or _without_folders(model)
    return replace(chosen, model=model, model_alias=model_alias)


def _without_folders(model: str) -> str:
    """A hub name as it is, of a path the last part: no path of a machine enters a key."""
    is_path = model[:1] in "/.~" or "\\" in model
    return re.split(r"[/\\]", model.rstrip("/\\"))[-1] if is_path else model


_TYPES: dict[str, tuple[type, ...]] = {
    "local": (bool,),
    "concurrency": (int,),
    "timeout_s": (int, float),
    "max_attempts": (int,),
    "temperature": (int, float, type(None)),
    "max_tokens": (int, type(None)),
}


def _checked(alias: str, entry: Any, where: str) -> dict[str, Any]:
    """The fields of an entry. No value is shown in an error: it may be a key in a wrong place."""
    known = [f.name for f in fields(Endpoint) if f.name != "alias"]
    if not isinstance(entry, dict):
        raise InputError.at(where, None, f"{alias}: no fields", "write model and base_url below it")
    for name, value in entry.items():
        if name not in known:
            raise InputError.at(
                where, None, f"{alias}: unknown field {name!r}", f"known: {', '.join(known)}"
            )
        wanted = _TYPES.get(name, (str,))
        right = isinstance(value, wanted) and (wanted == (bool,) or not isinstance(value, bool))
        lowest = {"concurrency": 1, "max_attempts": 1, "max_tokens": 1}.get(name, 0)
        if not right or (isinstance(value, int | float) and value < lowest):
            raise InputError.at(
                where,
                None,
                f"{alias}: {name} cannot be used",
                f"write {' or '.join(t.__name__ for t in wanted)}, {lowest} or more if a number",
            )
        if name.endswith("_env") and value and not _VARIABLE.fullmatch(value):
            raise InputError.at(
                where,
                None,
                f"{alias}: {name} is no name of an environment variable",
                "name the variable here and put the value into it",
            )
    if entry.get("dialect", "") not in ("", *DIALECTS):
        raise InputError.at(
            where, None, f"{alias}: unknown dialect", f"one of {', '.join(DIALECTS)}, or none"
        )
    return entry
