"""What notebook 11 saved, BM25 as a fresh run gives it, and its audit against a live endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from needed import fetched
from scripted_server import completion, serving

from mtrlib import paths, profiles
from mtrlib.audit.judging import METRICS
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.reporting import notebook_form, results, retriever_grid
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.tiers import tier_of

DEFAULT = profiles.PROFILES["default"]
NOTEBOOK = paths.notebooks() / "11_your_benchmark.ipynb"
VIEWS = [*DEFAULT.VIEWS, "rewrite", "author_voice"]


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_every_retriever_under_every_view_of_the_file():
    found = table("t11_recall")
    pairs = set(zip(found["system"], found["view"], strict=True))
    assert pairs == {(s, v) for s in DEFAULT.RETRIEVERS for v in VIEWS} and len(found) == len(pairs)
    assert set(found["n_queries"]) == {9} and set(found["n_conversations"]) == {4}
    assert (found["ci_low"] <= found["value"]).all() and (found["value"] <= found["ci_high"]).all()
    assert set(table("t11_coverage")["n_without_gold"]) == {1}


def test_bm25_is_what_a_fresh_run_gives():
    profile = profiles.load("default", RETRIEVERS=["bm25"], K=DEFAULT.OWN_K)
    grid = retriever_grid.measure([load_benchmark(DEFAULT.OWN, profile)], profile, VIEWS)
    fresh = grid.per_query.groupby("view")["value"].mean()
    saved = table("t11_recall").query("system == 'bm25'").set_index("view")["value"]
    assert fresh.to_dict() == pytest.approx(saved.to_dict(), abs=5e-7)


def test_rewrites_find_what_the_last_turn_misses():
    value = table("t11_recall").set_index(["system", "view"])["value"]
    for system in DEFAULT.RETRIEVERS:
        assert value[system, "rewrite"] > value[system, "last_turn"]


def test_ten_turns_tell_no_two_retrievers_apart():
    pairs, seen = table("t11_pairs"), table("t11_detectable")
    assert len(pairs) == len(seen) == len(VIEWS) * 6
    assert set(pairs["verdict"]) == {"inconclusive"}
    assert (pairs["p_value"] >= 2 / 2**4).all()  # the least that four conversations can give
    assert seen["mdd"].median() > 0.2 and seen["for_worth"].median() > 100


def test_bounds_of_each_kind_with_tiers_that_agree():
    found, gate = table("t11_bounds"), Gates.read().oracle
    assert len(found) == 3 * len(DEFAULT.RETRIEVERS)
    assert found["tier"].tolist() == [tier_of(v, gate) for v in found["points"]]
    after = found.set_index(["system", "bound"])["after"].unstack()
    assert (after["best_of"] >= after[["rewrite", "author_voice"]].max(axis=1)).all()
    assert set(found.query("bound == 'author_voice'")["fell_back"]) == {1}


def test_labels_count_every_failure_once():
    for _, part in table("t11_labels").groupby(["system", "text"]):
        assert part["primary"].sum() == part["failures"].iloc[0]


def test_scores_stand_with_their_coverage_and_suspects_are_unmarked():
    scores = table("t11_scores").set_index(["judge", "metric"])
    assert scores["value"].dropna().between(1, 5).all()
    assert (scores.loc["feature", "coverage"].drop("quality") == 1).all()
    assert (scores.loc["smollm2", "coverage"] == 0).all()  # nothing is stored for this file
    assert scores.loc["smollm2", "value"].isna().all()
    profile = profiles.load("default")
    gold = {(t.query_id, p) for t in load_benchmark(DEFAULT.OWN, profile).turns() for p in t.gold}
    found = table("t11_suspects")
    assert not gold & set(zip(found["item_id"], found["passage_id"], strict=True))
    assert found["p"].is_monotonic_decreasing


def test_figure_points_are_the_saved_means():
    points = pd.read_csv(paths.figures() / "fig11_recall_by_view.csv")
    assert points["value"].equals(table("t11_recall")["value"])


def last_allowed(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """The last value that the schema of a request allows."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    return 200, completion(json.dumps({n: field["enum"][-1] for n, field in schema.items()}))


@pytest.fixture
def endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """A server on this machine under the alias ``mine``, with a price; what it was asked."""
    monkeypatch.setattr("mtrlib.llm.client.store_path", lambda alias: tmp_path / f"{alias}.jsonl")
    with serving(last_allowed) as server:
        entry = {
            "base_url": server.endpoint.base_url,
            "model": "served",
            "dialect": "chat_schema",
            "price": "mine",
        }
        price = {"input": 2, "output": 8, "date": "2026-01-01", "currency": "EUR"}
        for name, content in (("MTR_ENDPOINTS", entry), ("MTR_PRICES", price)):
            file = tmp_path / f"{name}.yaml"
            file.write_text(json.dumps({"mine": content}))  # JSON is YAML
            monkeypatch.setenv(name, str(file))
        yield server.sent


def run_until(call: str, **given: Any) -> dict[str, Any]:
    """Run the cells of the notebook up to that with a call, with these parameters; their names."""
    cells = [c for c in notebook_form.read(NOTEBOOK).cells if c.cell_type == "code"]
    last = next(n for n, c in enumerate(cells) if call in c.source)
    names: dict[str, Any] = {}
    for cell in cells[: last + 1]:
        exec(compile(cell.source, NOTEBOOK.name, "exec"), names)
        if "parameters" in cell.metadata.get("tags", []):
            names |= given
    return names


def test_an_endpoint_is_priced_then_asked_once_then_replayed(
    endpoint: list[Any], capsys: pytest.CaptureFixture[str]
):
    given: dict[str, Any] = {"JUDGES": ["mine"], "RETRIEVERS": ["bm25"]}
    with fetched("static-256"):
        dry = run_until("judge_all", **given)
    told = capsys.readouterr().out
    n = len(dry["judged"])
    assert endpoint == [] and "not LIVE: nothing is sent" in told
    assert f"an LLM judge needs {n} calls" in told and set(dry["scores"]["note"]) == {"none"}

    run_until("cost_before", **given, LIVE=True)
    told = capsys.readouterr().out
    assert endpoint == [] and "LIVE: replies that are not stored are asked for" in told
    assert re.search(rf"to ask +{n}\n", told) and re.search(r"cost +0\.\d+ to 0\.\d+ EUR", told)

    live = run_until("judge_all", **given, LIVE=True)
    assert len(endpoint) == n
    scores = live["scores"].set_index("metric")
    assert set(scores.index) == set(METRICS) and (scores["coverage"] == 1).all()
    # the last level of every scale is the highest, the last label of a choice is "none"
    assert (scores["value"].drop("completeness") == 5).all()
    assert scores.loc["completeness", "value"] == 1

    capsys.readouterr()
    again = run_until("judge_all", **given, LIVE=True)
    assert len(endpoint) == n and re.search(r"to ask +0\n", capsys.readouterr().out)
    assert again["judged"].equals(live["judged"])
    silent = run_until("judge_all", **given)
    assert len(endpoint) == n and silent["judged"].equals(live["judged"])
