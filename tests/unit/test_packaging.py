"""What the packaging files promise each other: bounds, lock, conda, hooks, make targets."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from mtrlib.reporting import canonical

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LOCK = (ROOT / "requirements.lock").read_text("utf-8")
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")

CONDA_NAMES = {"torch": "pytorch", "jupyter-client": "jupyter_client"}  # where they differ
NBSTRIPOUT_ARGUMENTS = [
    "--keep-output",
    "--keep-count",
    "--extra-keys",
    "metadata.papermill cell.metadata.papermill metadata.language_info.version",
]
TARGETS = set(
    """help env data reproduce all refresh nb-% llm record real lab test test-all lint typecheck
    format lock html check-site verify check-notebooks ci clean distclean""".split()
)


def make(*arguments: str, cwd: Path = ROOT) -> str:
    """Output of make, untouched by the options of a make that runs this test."""
    ours = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PROFILE", "NB", "P"}
    env = {k: v for k, v in os.environ.items() if k not in ours}
    done = subprocess.run(
        ["make", "-s", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def direct() -> dict[str, SpecifierSet]:
    lines = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"]
    return {canonicalize_name(r.name): r.specifier for r in map(Requirement, lines)}


def pins() -> list[Requirement]:
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    return [Requirement(line) for line in lines]


def conda() -> dict[str, SpecifierSet]:
    """Direct packages of environment.yml, under their names on the Python registry."""
    listed = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    through_pip = next(item["pip"] for item in listed if isinstance(item, dict))
    plain = [item for item in listed if isinstance(item, str)]
    names = {conda: pypi for pypi, conda in CONDA_NAMES.items()}
    found: dict[str, SpecifierSet] = {}
    for item in map(Requirement, plain + through_pip):
        name = names.get(item.name, canonicalize_name(item.name))
        assert name not in found, f"{name} has two owners"
        found[name] = item.specifier
    return found


def test_every_direct_package_has_a_lower_and_an_upper_bound():
    scale = map(Requirement, PROJECT["optional-dependencies"]["scale"])
    for name, bounds in {**direct(), **{r.name: r.specifier for r in scale}}.items():
        assert {s.operator for s in bounds} == {">=", "<"}, name


def test_conda_and_pip_name_the_same_packages_with_the_same_bounds():
    environment = conda()
    python = environment.pop("python")
    assert python == SpecifierSet(PROJECT["requires-python"])
    assert environment == direct()


def test_every_line_of_the_lock_is_one_exact_version():
    for pin in pins():
        assert [s.operator for s in pin.specifier] == ["=="], pin
        assert "*" not in str(pin.specifier), pin
    names = [(pin.name, str(pin.marker)) for pin in pins()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_lock_gives_each_direct_package_one_version_within_its_bounds(python, platform):
    names = {"linux": "posix", "darwin": "posix", "win32": "nt"}
    where = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": platform,
        "os_name": names[platform],
    }
    found: dict[str, str] = {}
    for pin in pins():
        if pin.marker is None or Marker(str(pin.marker)).evaluate(where):
            assert pin.name not in found, pin.name
            found[pin.name] = next(iter(pin.specifier)).version
    for name, bounds in direct().items():
        assert name in found, f"{name} is not locked"
        assert bounds.contains(found[name]), f"{name} {found[name]} is outside {bounds}"
    assert found["torch"] == "2.13.0"
    assert "ray" not in found


def test_lock_says_nothing_about_the_machine_it_was_made_on():
    assert not re.search(r"\+|://|file:|@|--|\\|(^|\s)/", LOCK, re.M)
    assert not re.search(r"^(nvidia|cuda|triton|pytorch-triton)", LOCK, re.M)


def test_notebooks_are_stripped_by_the_same_rule_everywhere():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    hooks = {hook["id"]: hook for repo in config["repos"] for hook in repo["hooks"]}
    assert {repo["repo"] for repo in config["repos"]} == {"local"}
    assert hooks["nbstripout"]["args"] == NBSTRIPOUT_ARGUMENTS
    *flags, keys = NBSTRIPOUT_ARGUMENTS
    spoken = f'{" ".join(flags)} "{keys}"'
    assert spoken in re.sub(r"[\\\s]+", " ", MAKEFILE)
    assert spoken in re.sub(r"\s+", " ", canonical.__doc__ or "")
    assert set(keys.split()) <= set(canonical.EXTRA_KEYS)


def test_every_target_exists_and_has_a_help_text():
    helped = re.findall(r"^([a-z][a-z%-]*):.*## \S", MAKEFILE, re.M)
    assert set(helped) == TARGETS
    phony = MAKEFILE.split(".PHONY:")[1].split("\n\n")[0].replace("\\", "").split()
    inner = {"planned"}  # the first step of reproduce, of no use alone
    assert set(phony) == TARGETS - {"nb-%"} | inner


def test_make_help_lists_the_targets():
    listed = [line.split()[0] for line in make().split("\nOptions")[0].splitlines()]
    assert set(listed) == TARGETS


@pytest.mark.parametrize(
    "text", ["""BENCHMARKS=["a b", 'c']""", "K=$(shell echo 10) x=$x", "K=1; echo `id` \\ #"]
)
def test_options_reach_the_command_as_typed(text, tmp_path):
    makefile = tmp_path / "Makefile"
    stubs = ".venv/.mtr-env planned data:\n\t@:\nRUN = printf '[%s]'\n"
    rule = "\nreproduce: planned data"
    head, tail = MAKEFILE.split("\nenv: $(ENV)")[0], MAKEFILE.split(rule)[1]
    makefile.write_text(f"{head}\n{stubs}{rule}{tail}", "utf-8")
    printed = make("reproduce", "PROFILE=smoke", f"P={text}", cwd=tmp_path)
    assert printed == f"[--profile][smoke][--param][{text}]"


def test_ci_runs_the_make_targets_that_a_contributor_runs():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    steps = re.findall(r"^step (.+)$", script, re.M)
    assert steps == [
        "make test",
        "make lint typecheck check-notebooks",
        "make reproduce PROFILE=smoke",
        "tools/browser.sh",
        "make check-site",
    ]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert ".ci/run" in (ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8")
