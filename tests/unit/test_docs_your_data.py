"""Every block of docs/your_data.md is tried: maps and registries are read, commands are settled."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from mtrlib import paths
from mtrlib.data.__main__ import main as data_command
from mtrlib.data.assemble import as_benchmark, read_parts
from mtrlib.data.formats import formats
from mtrlib.llm.endpoint_registry import parse_endpoints
from mtrlib.llm.prices import find_price
from mtrlib.reporting import jobs, parameters
from mtrlib.retrieval.registry import parse_specs

PAGE = (paths.root() / "docs" / "your_data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
YAML = {text.splitlines()[0].removeprefix("# "): text for kind, text in BLOCKS if kind == "yaml"}
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
CHECKS = [c for c in COMMANDS if "mtrlib.data check examples" in c]
MAKES = [c for c in COMMANDS if "make nb-" in c]


def test_the_page_has_what_is_tried_here():
    assert set(YAML) == {"columns.yaml", "retrievers.yaml", "endpoints.yaml", "prices.yaml"}
    assert len(CHECKS) == 3 and len(MAKES) >= 9
    known = [c for c in COMMANDS if not c.startswith(("cp ", "export "))]
    assert set(known) == {".venv/bin/python -m mtrlib.data check my_data", *CHECKS, *MAKES}


@pytest.mark.parametrize("command", CHECKS)
def test_checks_find_the_examples_usable(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(paths.root())
    assert data_command(shlex.split(command)[3:]) == 0
    assert "verdict: usable\n" in capsys.readouterr().out


@pytest.mark.parametrize("command", MAKES)
def test_the_notebooks_take_the_parameters(command: str):
    words = shlex.split(command)
    number = next(w for w in words if w.startswith("nb-")).removeprefix("nb-")
    given = next(w for w in words if w.startswith("P=")).removeprefix("P=")
    (job,) = jobs.plan(jobs.select(number), "default", parameters.parse_text(given))
    settled = job.profile
    for name in (settled.OWN, settled.TURNS, *settled.BENCHMARKS):
        assert name in ("headings", "mtr-mini", "my_data") or paths.given(name).is_dir()


def test_the_map_reads_the_spreadsheets(tmp_path: Path):
    examples = paths.root() / "examples"
    folder = shutil.copytree(examples / "my_benchmark_csv", tmp_path / "sheets")
    (folder / "columns.yaml").write_text(YAML["columns.yaml"], encoding="utf-8")
    mapped, plain = (
        as_benchmark("x", read_parts(p))[0] for p in (folder, examples / "my_benchmark")
    )
    assert mapped.digest() == plain.digest()


def test_two_files_with_usual_names_need_no_map(tmp_path: Path):
    (tmp_path / "questions.csv").write_text("query_id,question,gold,answer\nq1,how?,p1,so\n")
    (tmp_path / "manual.csv").write_text("id,title,text\np1,t,press it\np2,t,pull it\n")
    parts = read_parts(tmp_path)
    assert dict((name, held) for name, _, held in parts.read) == {
        "questions.csv": "conversations",
        "manual.csv": "passages",
    }
    (turn,) = as_benchmark("x", parts)[0].turns()
    assert (turn.gold, turn.answer) == (("p1",), "so")


def test_a_map_of_one_part_leaves_the_other_file_to_its_names(tmp_path: Path):
    (tmp_path / "columns.yaml").write_text("queries: {file: q.csv, query: Frage, gold: Beleg}\n")
    (tmp_path / "q.csv").write_text("id,Frage,Beleg\nq1,wie?,p1\n")
    (tmp_path / "corpus.csv").write_text("id,text\np1,so\n")
    parts = read_parts(tmp_path)
    assert parts.left_out == [] and len(parts.passages) == 1
    assert parts.conversations[0].turns[0].gold == ("p1",)


def test_registries_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (judge,) = parse_endpoints(YAML["endpoints.yaml"], "page").values()
    assert (judge.alias, judge.dialect, judge.key_env) == (
        "my-judge",
        "chat_schema",
        "MY_JUDGE_KEY",
    )
    file = tmp_path / "prices.yaml"
    file.write_text(YAML["prices.yaml"], encoding="utf-8")
    monkeypatch.setenv("MTR_PRICES", str(file))
    price = find_price(judge.price)
    assert price is not None and (price.input, price.output) == (0.4, 1.6)
    specs = parse_specs(YAML["retrievers.yaml"], "page")
    assert specs["my-hybrid"].parts == ("my-bm25", "minilm")


def test_the_formats_that_are_named_are_read():
    titles = " ".join(f"{f.name} {f.title}" for f in formats().values()).lower()
    named = re.search(r"every format that is read: (.*?) and more", PAGE, re.S)
    assert named is not None
    for name in named[1].replace("\n", " ").replace("folders", "").replace("files", "").split(","):
        assert name.strip().lower() in titles
