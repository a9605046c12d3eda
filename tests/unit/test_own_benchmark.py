"""Notebook 11's parts: the example in three forms, stripped copies, and files that are refused."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needed import fetched

from mtrlib import paths, profiles
from mtrlib.audit import panel
from mtrlib.audit.judges import build_judges
from mtrlib.audit.metrics import judgements
from mtrlib.audit.panel import item_scores
from mtrlib.data.__main__ import main as data_command
from mtrlib.data.assemble import as_benchmark, read_parts
from mtrlib.errors import InputError
from mtrlib.reporting import audit_run, own_benchmark, own_bound, own_sentences, rewriting_study
from mtrlib.rewriting.diversity import token_vectors
from mtrlib.rewriting.given_rewriter import GivenRewriter
from mtrlib.rewriting.rewrites import KINDS, tasks_for

EXAMPLE = paths.root() / "examples" / "my_benchmark"
Change = Callable[[list[dict[str, Any]]], Any]
Copy = Callable[..., Path]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Copies the example folder and lets a function change the records of one file."""

    def make(change: Change, file: str = "queries.jsonl") -> Path:
        folder = tmp_path / "mine"
        shutil.copytree(EXAMPLE, folder)
        lines = (folder / file).read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        records = change(records) or records
        text = "".join(json.dumps(record) + "\n" for record in records)
        (folder / file).write_text(text, encoding="utf-8")
        return folder

    return make


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The diversity filter of variants plays no part here; without it no model is loaded."""
    monkeypatch.setattr(rewriting_study, "_vectors", lambda *_: (token_vectors, "shared tokens"))


def without(*fields: str) -> Change:
    def change(records: list[dict[str, Any]]) -> None:
        for record in records:
            for field in fields:
                record.pop(field, None)

    return change


def read(folder: Path | str, **settings: Any) -> own_benchmark.Own:
    given = {"RETRIEVERS": ["bm25"], "JUDGES": ["lexical"], "NEGATIVES": "bm25", **settings}
    return own_benchmark.read_own(profiles.load("smoke", OWN=str(folder), **given))


def page(own: own_benchmark.Own) -> dict[str, Any]:
    """Everything that the notebook computes, in its order."""
    rng = np.random.default_rng(1)
    items = audit_run.item_set(own.benchmark, own.profile)
    judges = build_judges(own.profile.JUDGES, [items], own.profile)
    rated = item_scores(audit_run.judge_all([items], judges, own.profile))
    scores = panel.scores(rated, resamples=20, confidence=0.95, rng=rng)
    told = own_benchmark.compare(own, rng)
    study, searchers = own_bound.open_study(own)
    bounds = own_bound.measure(study, searchers, rng)
    labels, counts = own_bound.failures(study, searchers)
    return {
        "metrics": set(scores.dropna(subset="value")["metric"]),
        "told": told,
        "views": list(dict.fromkeys(told.means["view"])),
        "lines": own_sentences.told_lines(told, own.profile.K),
        "bounds": bounds,
        "bound_lines": own_sentences.bound_lines(bounds),
        "counts": counts,
        "next": own_sentences.next_lines(own, scores, told, "none", bounds, labels),
    }


def test_the_example_lacks_nothing_and_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    own = read("examples/my_benchmark")
    assert own.lacks == {} and own.report[-1] == "verdict: usable"
    assert own.profile.K == 5 and own.views[-2:] == ["rewrite", "author_voice"]
    turns = list(own.benchmark.turns())
    assert (len(turns), len(own.benchmark.conversations)) == (10, 4)
    assert [t.query_id for t in turns if not t.gold] == ["alarm_2"]
    assert sum(len(t.gold) > 1 for t in turns) == 2


def test_the_spreadsheets_hold_the_same_records():
    folder, sheets = (
        as_benchmark("x", read_parts(EXAMPLE.with_name(name)))[0]
        for name in ("my_benchmark", "my_benchmark_csv")
    )
    assert folder.digest() == sheets.digest()
    assert [t.answer for t in folder.turns()] == [t.answer for t in sheets.turns()]


def test_the_beir_folder_holds_what_its_layout_can():
    own, beir = read("examples/my_benchmark"), read("examples/my_benchmark_beir")
    texts = {t.query_id: t.rewrite or t.raw_utterance for t in own.benchmark.turns() if t.gold}
    assert {t.query_id: t.raw_utterance for t in beir.benchmark.turns()} == texts
    for query_id in texts:
        assert beir.benchmark.qrels.gold(query_id) == own.benchmark.qrels.gold(query_id)
    assert {p.text for p in beir.benchmark.passages} == {p.text for p in own.benchmark.passages}
    assert set(beir.lacks) == {"answers", "rewrites", "author_voices", "history"}


@pytest.mark.usefixtures("no_encoder")
def test_the_last_turn_fails_where_the_rewrite_succeeds():
    found = page(read("examples/my_benchmark"))
    names = [b.name for _, b in found["bounds"]]
    assert names == ["rewrite", "author_voice", "best_of"]
    for _, bound in found["bounds"]:
        assert bound.points.n == 9 and bound.n_without_gold == 1
        assert bound.points.n_gained >= 3 and bound.points.n_lost == 0
    assert found["counts"]["failures"].max() >= 3
    assert any("design multi-query" in line for line in found["next"])


@pytest.mark.usefixtures("no_encoder")
def test_without_answers_and_rewrites_the_rest_runs(copy: Copy):
    own = read(copy(without("answer", "rewrite", "author_voice")))
    assert "no answer for 9 of 9 turns" in own.lacks["answers"]
    found = page(own)
    assert found["metrics"] == {"query_evidence", "completeness"}
    assert found["views"] == list(own.profile.VIEWS)
    assert found["bounds"] == [] and own_bound.bound_rows([]).empty
    assert found["bound_lines"][0].startswith("no rewrites, so no bound")
    assert [line for line in found["next"] if line.startswith("fill: no rewrite at all")]


@pytest.mark.usefixtures("no_encoder")
def test_rewrites_can_come_from_the_rules(copy: Copy):
    own = read(copy(without("rewrite", "author_voice")), REWRITER="rules")
    names = [b.name for _, b in page(own)["bounds"]]
    assert names == ["rewrite", "best_of"]


@pytest.mark.usefixtures("no_encoder")
def test_one_conversation_gives_no_interval_and_says_so(copy: Copy):
    own = read(
        copy(lambda records: [r for r in records if r["conversation_id"] == "winter"]),
        RETRIEVERS=["bm25", "static-256"],
    )
    assert "one conversation" in own.lacks["conversations"]
    with fetched("static-256"):
        found = page(own)
    assert found["told"].means["ci_low"].isna().all()
    assert "no spread to say what difference" in found["lines"][0]
    assert any(line.startswith("collect: no spread") for line in found["next"])
    assert any("one conversation gives no interval" in line for line in found["next"])


@pytest.mark.usefixtures("no_encoder")
def test_a_judge_without_verdicts_is_named_at_the_end():
    found = page(read("examples/my_benchmark", JUDGES=["lexical", "smollm2"]))
    asked = [line for line in found["next"] if line.startswith("ask: ")]
    assert len(asked) == 1
    assert re.fullmatch(r"ask: smollm2 judged 0 of \d+ questions: LIVE asks the rest", asked[0])


@pytest.mark.usefixtures("no_encoder")
def test_one_retriever_is_compared_with_nothing():
    found = page(read("examples/my_benchmark"))
    assert found["lines"] == ["one retriever: nothing to compare"]
    assert found["told"].pairs.empty


def test_a_file_of_ten_says_that_it_ranks_nothing():
    with fetched("static-256"):
        own = read("examples/my_benchmark", RETRIEVERS=["bm25", "static-256"])
        told = own_benchmark.compare(own, np.random.default_rng(1))
    assert (told.pairs["verdict"] == "inconclusive").all()
    last = own_sentences.told_lines(told, 5)[-1]
    assert last.startswith("9 queries of 4 conversations tell 0 of 5 pairs apart")
    seen = told.detectable.dropna(subset="mdd").iloc[0]
    wanted = seen["n_conversations"] * (seen["mdd"] / own_benchmark.WORTH) ** 2
    assert seen["for_worth"] == math.ceil(wanted)


def test_the_price_counts_every_question_once_and_follows_the_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
):
    table = tmp_path / "prices.yaml"
    table.write_text("dear: {input: 1000, output: 0, date: 2026-01-01, currency: EUR}\n")
    monkeypatch.setenv("MTR_PRICES", str(table))
    own = read("examples/my_benchmark")
    items = audit_run.item_set(own.benchmark, own.profile)
    (judge,) = build_judges(["lexical"], [items], own.profile)
    n = len(judgements(items, judge, seed=1))
    prices = own_benchmark.price_list(items, own.profile)
    assert set(prices["calls"]) == {n}
    dear = prices.set_index("model").loc["dear"]
    assert dear["cost_high"] == pytest.approx(dear["tokens_in_high"] / 1000)
    lines = own_sentences.dry_run_lines(prices, own.profile)
    assert "EUR" in lines[0] and "nothing is sent" in lines[1]
    assert not list(fresh_cache.rglob("price-list*"))


def test_given_rewrites_pass_the_guards():
    own = read("examples/my_benchmark")
    turns = list(own.benchmark.turns())
    rewriter = GivenRewriter(turns)
    found = {kind: rewriter.rewrite(kind, tasks_for(turns)) for kind in KINDS}
    assert [r.failed for r in found["standalone"]].count("none given") == 2
    texts = {r.query_id: r.texts for r in found["standalone"] if r.texts}
    assert texts == {t.query_id: (t.rewrite,) for t in turns if t.rewrite}
    assert {r.failed for r in found["variants"]} == {"not offered"}
    bad = GivenRewriter([*turns[:1]])
    assert bad.rewrite("standalone", tasks_for(turns[1:2]))[0].failed == "none given"
    with pytest.raises(InputError, match="of kind 'poem' are unknown"):
        rewriter.rewrite("poem", [])


def test_a_cutoff_beyond_the_lists_is_refused():
    with pytest.raises(InputError, match="OWN_K=60 must lie between 1 and 50"):
        read("examples/my_benchmark", OWN_K=60)


def unknown_gold(records: list[dict[str, Any]]) -> None:
    records[6]["gold"] = ["v99"]


REFUSED: dict[str, tuple[Callable[[Copy, Path], Path], str]] = {
    "missing file": (lambda copy, tmp: tmp / "none", "none' is neither .*check the name"),
    "unknown gold": (
        lambda copy, tmp: copy(unknown_gold),
        r"mine: queries.jsonl:7: gold 'v99' of query holiday_1 is not in the corpus.*the id",
    ),
    "duplicate query": (
        lambda copy, tmp: copy(lambda records: [*records, records[3]]),
        "query ids occur twice, first 'greenhouse_1'.*correct the file",
    ),
    "duplicate passage": (
        lambda copy, tmp: copy(lambda records: [*records, records[3]], "corpus.jsonl"),
        "ids occur twice, first 'v04': keep one each.*correct the file",
    ),
    "no gold": (
        lambda copy, tmp: copy(lambda records: [r | {"gold": []} for r in records]),
        "no turn has gold: nothing can be scored; add qrels or gold",
    ),
    "no query": (
        lambda copy, tmp: copy(lambda r: r[4].pop("query") and None),
        "queries.jsonl:5: no field query.*see the layout",
    ),
    "empty folder": (lambda copy, tmp: tmp, "no file here is of a known format.*mtrlib.data list"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*are not in the corpus")
@pytest.mark.parametrize("case", REFUSED)
def test_a_file_with_a_slip_is_refused_in_one_line(case: str, copy: Copy, tmp_path: Path):
    make, message = REFUSED[case]
    with pytest.raises(InputError, match=message) as caught:
        read(make(copy, tmp_path))
    assert "\n" not in str(caught.value) and "Mend: " in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("Question", "questions.csv: .*:2: no field Question .*correct query in the map"),
        ("Relevant sections", "no field Relevant sections .*correct gold in the map"),
        ("Section", "sections.csv: .*:2: no field Section .*correct passage_id in the map"),
    ],
)
def test_a_spreadsheet_without_a_mapped_column_is_refused(
    column: str, message: str, tmp_path: Path
):
    folder = tmp_path / "sheets"
    shutil.copytree(EXAMPLE.with_name("my_benchmark_csv"), folder)
    for path in folder.glob("*.csv"):
        head, rest = path.read_text(encoding="utf-8").split("\n", 1)
        names = ["other" if name == column else name for name in head.split(",")]
        path.write_text(",".join(names) + "\n" + rest, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read(folder)
    assert caught.value.exit_code == 2 and "\n" not in str(caught.value)


def test_the_check_command_takes_all_three_forms(capsys: pytest.CaptureFixture[str]):
    for name in ("my_benchmark", "my_benchmark_csv", "my_benchmark_beir"):
        assert data_command(["check", str(EXAMPLE.with_name(name))]) == 0
        assert capsys.readouterr().out.endswith("verdict: usable\n")
