"""Parameters arrive as declared or not at all; a failed run never looks like a finished one."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

from mtrlib import profiles
from mtrlib.errors import EndpointError, InputError, NotebookError
from mtrlib.reporting import jobs, notebook_form, notebook_runner, parameters
from mtrlib.reporting.__main__ import main
from mtrlib.reporting.kernel import Follower

Make = Callable[..., Path]

TEXTS = {
    "parameters": 'PROFILE = "default"\nrun_id = "demo"\nversion = "1.0"\n'
    'NAMES = ["a"]\nFAST = True',
    "print": "import os, sys\nprint(repr(run_id), repr(version), NAMES, FAST)\n"
    "print(sys.executable, os.environ['PYTHONHASHSEED'], os.environ['MTR_PROGRESS_FILE'])",
}


def any_profile(name: str, **_: object) -> profiles.Profile:
    """Accept names that are no settings, as the shared case has them."""
    return profiles.load(name)


def printed(path: Path) -> str:
    notebook = nbformat.read(path, as_version=4)
    return "".join(o.text for c in notebook.cells for o in c.get("outputs", []) if "text" in o)


def test_text_stays_text_in_a_kernel_of_this_interpreter(make_notebook: Make) -> None:
    source = make_notebook("01_texts", TEXTS)
    before = source.read_bytes()
    given = parameters.parse_text('run_id=007 version="1.10" NAMES=[1, b] FAST=false')
    (job,) = jobs.plan([source], None, given, resolve=any_profile)
    done = notebook_runner.execute(job)
    shown = printed(done.path)
    assert "'007' '1.10' ['1', 'b'] False" in shown
    assert f"{sys.executable} 0 " in shown and "01_texts.log" in shown
    assert source.read_bytes() == before
    tags = [c.metadata.get("tags") for c in nbformat.read(done.path, as_version=4).cells]
    assert tags == [None, ["parameters"], ["injected-parameters"], ["print"]]


@pytest.mark.parametrize(
    ("text", "wanted", "given"),
    [
        ("K=ten", "a whole number", "text"),
        ("K=1e3", "a whole number", "text"),
        ("K=2.0", "a whole number", "text"),
        ("K=", "a whole number", "text"),
        ("OFFLINE=1", "true or false", "text"),
        ("CONFIDENCE=nan", "a number", "text"),
        ("BENCHMARKS=headings", "a list of text", "text"),
    ],
)
def test_wrong_type_names_both(make_notebook: Make, text: str, wanted: str, given: str) -> None:
    cells = (
        'PROFILE = "default"\nK = 20\nOFFLINE = True\nCONFIDENCE = 0.95\nBENCHMARKS = ["headings"]'
    )
    source = make_notebook("01_typed", {"parameters": cells})
    with pytest.raises(InputError, match=f"is {given}, but the notebook declares {wanted}"):
        jobs.plan([source], None, parameters.parse_text(text))


@pytest.mark.parametrize(
    ("value", "default"),
    [
        ("7", 1),
        (7, "7"),
        (1.1, "1.0"),
        (True, 1),
        (1, True),
        ([1], ["a"]),
        ("a", ["a"]),
        (None, ""),
    ],
)
def test_typed_values_of_a_file_are_not_converted(value: object, default: object) -> None:
    with pytest.raises(InputError, match="declares"):
        parameters.coerce("X", value, default)


def test_spelled_values_get_the_declared_type() -> None:
    given = parameters.parse_text("""A=+10 B=true C=2 D=[] E='two words' F=[a, "b c"] G=""")
    defaults = {"A": 1, "B": False, "C": 0.5, "D": ["x"], "E": "", "F": ("x",), "G": "x"}
    assert parameters.assign({"n": defaults}, given) == {
        "n": {"A": 10, "B": True, "C": 2.0, "D": [], "E": "two words", "F": ("a", "b c"), "G": ""}
    }


@pytest.mark.parametrize("text", ["K", "K 5", "=5", "K=5 5", "K=[a", 'K="5', "K=1 K=2"])
def test_unreadable_parameter_text(text: str) -> None:
    with pytest.raises(InputError, match="Mend"):
        parameters.parse_text(text)


def test_unknown_name_before_any_work(make_notebook: Make, repository: Path) -> None:
    make_notebook("01_first")
    with pytest.raises(InputError, match=r"'tpo_k' .* Known parameters: PROFILE, SEED"):
        main(["run", "--param", "tpo_k=5"])
    assert not (repository / "build").exists()


def test_each_notebook_gets_what_it_declares(make_notebook: Make) -> None:
    first = make_notebook("01_first")
    second = make_notebook("02_second", {"parameters": 'PROFILE = "default"\nK = 20'})
    planned = jobs.plan(jobs.select("2 01"), "smoke", parameters.parse_text("K=10 SEED=13"))
    assert [job.path for job in planned] == [first, second]
    # a value equal to the literal is no override and injects nothing
    assert [dict(job.values) for job in planned] == [
        {"PROFILE": "smoke"},
        {"K": 10, "PROFILE": "smoke"},
    ]
    assert [job.profile.tag for job in planned] == ["smoke", "smoke+K=10"]
    assert jobs.plan([first], "default")[0].values == {}


def test_values_out_of_range_and_profile_twice(make_notebook: Make) -> None:
    source = make_notebook("02_second", {"parameters": 'PROFILE = "default"\nK = 20'})
    with pytest.raises(InputError, match="K=0 must lie between"):
        jobs.plan([source], None, {"K": 0})
    with pytest.raises(InputError, match="PROFILE is given twice"):
        jobs.plan([source], "smoke", {"PROFILE": "paper"})
    with pytest.raises(InputError, match="PROFILE='big' is unknown"):
        jobs.plan([source], "big")
    with pytest.raises(InputError, match="'99' is no notebook"):
        jobs.select("99")


def test_derived_and_untagged_parameters_are_refused(make_notebook: Make) -> None:
    derived = make_notebook(
        "01_derived", {"parameters": 'PROFILE = "default"\nout = f"{PROFILE}/x"'}
    )
    with pytest.raises(NotebookError, match="out is computed"):
        jobs.plan([derived])
    untagged = make_notebook("02_untagged", {"other": 'PROFILE = "default"'})
    with pytest.raises(NotebookError, match="0 code cells are tagged 'parameters'"):
        jobs.plan([untagged])


@pytest.mark.parametrize(
    ("code", "reason", "exit_code"),
    [
        ("raise SystemExit(0)", "cell 3: SystemExit: 0", NotebookError.exit_code),
        (
            "from mtrlib.errors import EndpointError\nraise EndpointError('no answer')",
            "cell 3: EndpointError: no answer",
            EndpointError.exit_code,
        ),
        ("import os\nos._exit(1)", "cell 3: DeadKernelError", NotebookError.exit_code),
        ("import sys\nprint('odd', file=sys.stderr)", "cell 3: wrote to stderr: odd", 7),
    ],
)
def test_failure_keeps_the_old_file(
    make_notebook: Make, repository: Path, code: str, reason: str, exit_code: int
) -> None:
    source = make_notebook(
        "01_fails", {"parameters": 'PROFILE = "default"', "x": code, "after": "print('later')"}
    )
    folder = repository / "build" / "default" / "notebooks"
    folder.mkdir(parents=True)
    (folder / "01_fails.ipynb").write_text("yesterday's")
    with pytest.raises(NotebookError, match=f"01_fails, {reason}") as raised:
        notebook_runner.execute(*jobs.plan([source]))
    assert raised.value.exit_code == exit_code
    assert (folder / "01_fails.ipynb").read_text() == "yesterday's"
    assert sorted(os.listdir(folder)) == ["01_fails.failed.ipynb", "01_fails.ipynb"]


def test_follower_shows_whole_new_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "x.log"
    with Follower(log, "01_x", seconds=0.02):
        time.sleep(0.05)
        log.write_text("encoded 100\nencoded 200\nenc")
        time.sleep(0.1)
        with log.open("a") as more:
            more.write("oded 300\n")
        time.sleep(0.1)
    assert capsys.readouterr().out.splitlines() == ["  01_x: encoded 200", "  01_x: encoded 300"]


def test_form_names_each_problem(make_notebook: Make) -> None:
    good = make_notebook("01_good")
    assert notebook_form.check(notebook_form.read(good)) == []
    bad = make_notebook(
        "02_bad",
        {
            "parameters": "SEED = 14\ntop_k = 5",
            "setup": "!ls",
            "results": "for x in [1]:\n    print(x)",
            "more": "def f():\n    a = 1\n    b = 2\n    c = 3\n    d = 4\n    return a",
            "fine": "words = [w for w in 'a b'.split()]\ntext = '''\n%time\n'''",
        },
    )
    found = "\n".join(notebook_form.check(notebook_form.read(bad)))
    for problem in (
        "parameter top_k is no field",
        "cell 2: parameter top_k needs a comment that begins with 'whole number'",
        "does not declare PROFILE",
        "SEED = 14, but profile 'default' has 13",
        "0 code cells are tagged 'env'",
        "cell 3: line 1 is not plain Python",
        "cell 4: line 1 is a loop",
        "cell 5: f has 6 lines",
    ):
        assert problem in found
    assert "cell 6" not in found


def test_another_profile_brings_its_own_values_for_declared_parameters(make_notebook: Make) -> None:
    cells = {"parameters": 'PROFILE = "default"\nSTEPS = 80\nVERIFIERS = ["none"]\nSEED = 13'}
    path = make_notebook("04_steps", cells)
    (plain,) = jobs.plan([path], "default")
    assert plain.values == {}
    (smoke,) = jobs.plan([path], "smoke")
    assert smoke.values["STEPS"] == profiles.PROFILES["smoke"].STEPS != 80
    assert smoke.profile.overrides == {}
    (given,) = jobs.plan([path], "smoke", {"STEPS": 7})
    assert given.profile.STEPS == 7
    (same,) = jobs.plan([path], "smoke", {"STEPS": 80})
    assert same.profile.STEPS == 80
