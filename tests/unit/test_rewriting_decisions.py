"""Gates and decisions: thresholds of the source, their borders, four verdicts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from mtrlib import paths
from mtrlib.errors import InputError
from mtrlib.evaluation.significance import Difference
from mtrlib.rewriting.conditions import condition, condition_table
from mtrlib.rewriting.decisions import decide, decision_table, next_launch
from mtrlib.rewriting.gate_conditions import gate_conditions, in_prompt_reading
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.labels import LABELS, Attribution
from mtrlib.rewriting.tiers import Bound

GATES = Gates.read()
NO_LIMIT = replace(GATES, latency_budget_ms=None)


def how(seed=1):
    return {"resamples": 300, "confidence": 0.95, "rng": np.random.default_rng(seed)}


def table(n=40, **columns):
    """n used queries, one a conversation, with a large gain and everything else neutral."""
    base = {
        "used": True, "failed": "", "recall_before": 0.0, "recall_after": 1.0,
        "ndcg_before": 0.2, "ndcg_after": 0.4, "new": 4, "new_in_prompt": 2, "listed": 10,
        "contaminated": 0, "pieces": 2.0, "covered_before": 1.0, "covered_after": 2.0,
        "standalone_hit": 1.0, "similarity": 0.4, "calls": 1, "seconds": 0.1,
    }  # fmt: skip
    index = pd.Index([f"q{i}" for i in range(n)], name="query_id")
    found = pd.DataFrame({k: columns.get(k, v) for k, v in base.items()}, index=index)
    return found, {q: f"c-{q}" for q in index}


def bound(points=20.0):
    d = Difference(points, points - 1, points + 1, 100, 50, 0.01, 50, 0, 50)
    empty = pd.Series(dtype=float)
    return Bound("author_voice", "s", 20, empty, empty, d, "above", "above", "above", None, 0, {})


def labelled(n, label="vocabulary_mismatch"):
    failures = pd.DataFrame(
        {"text": "", **{x: x == label for x in LABELS}, "primary": label, "gold_rank": pd.NA},
        index=pd.Index([f"q{i}" for i in range(n)], name="query_id"),
    )
    return Attribution("s", failures, 200, 0, 0, 30)


# --- the file


def test_defaults_are_the_thresholds_of_the_source():
    text = (paths.root() / "data" / "paper" / "expected.yaml").read_text("utf-8")
    source = yaml.safe_load(text)["rewriting_thresholds"]
    assert [GATES.oracle.low_points, GATES.oracle.high_points] == source["oracle_tiers_points"]
    assert GATES.decomposition.overlap_max == source["decomposition"]["overlap_max"]
    assert GATES.decomposition.coverage_gain_above == source["decomposition"]["coverage_gain_min"]
    assert {"k": GATES.fusion.rrf_k, "top_n": GATES.fusion.top_n} == source["rrf"]
    assert GATES.decomposition.chunk_tokens == source["chunk_tokens"]
    many = dict(source["multi_query"])
    assert GATES.multi_query.bound_above_points == many.pop("oracle_bound_min_points")
    assert many == {name: getattr(GATES.multi_query, name) for name in many}
    hyde = {**source["hyde"], "added_p99_ms": tuple(source["hyde"]["added_p99_ms"])}
    assert hyde == {name: getattr(GATES.hyde, name) for name in hyde}
    assert GATES.latency_budget_ms == hyde["added_p99_ms"][1]
    assert source["coreference"] == vars(GATES.coreference)
    assert source["net_benefit"] == vars(GATES.net_benefit)
    assert GATES.labels_min_examples == source["labels_min_examples"]


def edited(tmp_path, old, new):
    text = (paths.root() / "data" / "gates.yaml").read_text("utf-8")
    assert old in text
    path = tmp_path / "gates.yaml"
    path.write_text(text.replace(old, new), "utf-8")
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  variants: 3", "  variant: 3", r"gates.yaml: multi_query.variant is unknown"),
        ("  variants: 3", "", r"multi_query.variants is missing"),
        ("  variants: 3", "  variants: three", r"multi_query.variants is 'three'.*whole number"),
        ("overlap_max: 0.70", "overlap_max: 70", r"overlap_max is 70.*fraction"),
        ("confidence_min: 0.6", "confidence_min: true", r"confidence_min is True"),
        ("[300, 800]", "[800, 300]", r"added_p99_ms.*smaller first"),
        ("low_points: 3", "low_points: 9", r"low_points is above high_points"),
        ("prompt_size: 5", "prompt_size: 50", r"the prompt exceeds top_n"),
        ("oracle:", "oracle: [", r"gates.yaml: not YAML"),
        ("net_benefit:", "net:", r"net is unknown"),
    ],
)
def test_wrong_gate_files_name_file_name_and_mend(tmp_path, old, new, message):
    with pytest.raises(InputError, match=message):
        Gates.read(edited(tmp_path, old, new))
    with pytest.raises(InputError, match="no such file"):
        Gates.read(tmp_path / "none.yaml")


def test_a_file_of_ones_own_changes_the_verdict(tmp_path):
    found, groups = table()
    strict = edited(tmp_path, "hit_rate_launch_above: 0.75", "hit_rate_launch_above: 1.0")
    assert decide("coreference", found, groups, GATES, **how()).verdict == "launch"
    assert decide("coreference", found, groups, Gates.read(strict), **how()).verdict == "hold"


def test_no_latency_budget_is_no_condition(tmp_path):
    free = Gates.read(edited(tmp_path, "latency_budget_ms: 800", "latency_budget_ms: null"))
    found, groups = table()
    names = [c.name for c in decide("hyde", found, groups, free, **how()).conditions]
    assert "added time p99, ms" not in names


# --- conditions and their borders


@pytest.mark.parametrize(
    ("value", "threshold", "wanted", "state"),
    [
        (0.25, 0.25, "above", "failed"), (0.2501, 0.25, "above", "met"),
        (0.15, 0.15, "below", "failed"), (0.1499, 0.15, "below", "met"),
        (0.75, 0.75, "above", "failed"), (0.88, 0.88, "below", "failed"),
        (0.2, 0.2, "above", "failed"), (0.1 + 0.2, 0.3, "above", "failed"),
        (0.0, 0.0, "not below", "met"), (-0.01, 0.0, "not below", "failed"),
        (5.0, 5.0, "above", "failed"), (math.nan, 0.5, "above", "not measured"),
    ],
)  # fmt: skip
def test_thresholds_are_exclusive(value, threshold, wanted, state):
    assert condition("x", value, threshold, wanted).state == state


def test_intervals_over_the_threshold_are_undecided():
    c = condition("rate", 0.3, 0.25, "above", low=0.2, high=0.4, n=100)
    assert (c.state, c.n_needed) == ("undecided", 400)
    assert condition("rate", 0.3, 0.25, "above", low=0.26, high=0.4, n=9).state == "met"
    assert condition("rate", 0.1, 0.25, "above", low=0.05, high=0.2, n=9).state == "failed"
    assert condition("d", -0.1, 0, "not below", low=-0.2, high=0.1).state == "undecided"
    assert condition("d", -0.1, 0, "not below", low=-0.2, high=-0.05).state == "failed"
    assert "0.300 [0.200, 0.400], wanted above 0.25: undecided" in c.text
    assert condition_table([c])["n_needed"].tolist() == [400]


@pytest.mark.parametrize(
    ("rate", "reading"),
    [
        (0.1499, "noise"), (0.15, "neither"), (0.25, "neither"), (0.40, "neither"),
        (0.4001, "fills gaps"), (math.nan, "nothing new"),
    ],
)  # fmt: skip
def test_readings_of_the_in_prompt_rate(rate, reading):
    assert in_prompt_reading(rate, GATES.multi_query).startswith(reading)


def gate(method, found, groups, gates=GATES):
    return gate_conditions(method, found, groups, gates, bound=None, attribution=None, **how())


def test_latency_is_a_condition():
    for seconds, state in ((0.799, "met"), (0.8, "failed"), (math.nan, "not measured")):
        (c,) = gate("a chain", *table(seconds=seconds))
        assert (c.name, c.threshold, c.state) == ("added time p99, ms", 800, state)


def test_a_gain_that_repeats_is_there_in_every_part():
    found, groups = table()
    lucky, _ = table(recall_after=[1.0] + [0.0] * 39)
    one = dict.fromkeys(groups, "c")
    for own, of, state in ((found, groups, "met"), (lucky, groups, "failed"),
                           (found, one, "not measured")):  # fmt: skip
        _, repeated = gate("hyde", own, of, NO_LIMIT)
        assert repeated.name.startswith("smallest recall gain") and repeated.state == state


# --- verdicts


@pytest.mark.parametrize("method", ["coreference", "decomposition", "multi_query", "hyde"])
def test_launch_needs_net_benefit_and_gate(method):
    found, groups = table()
    more = {"bound": bound(), "attribution": labelled(40)}
    good = decide(method, found, groups, GATES, **more, **how())
    assert good.verdict == "launch" and good.n_needed is None
    assert good.net["points"].low > 0 and "fractions" in good.net
    worse, _ = table(recall_before=1.0, recall_after=0.0)
    bad = decide(method, worse, groups, GATES, **more, **how())
    assert bad.verdict == "hold" and "net benefit must rise above 0" in bad.change


@pytest.mark.parametrize(
    ("method", "change", "named"),
    [
        ("coreference", {"standalone_hit": 0.0}, "standalone hit rate must rise above 0.75"),
        ("decomposition", {"covered_after": 1.0}, "relative gain of coverage must rise above 0.2"),
        ("decomposition", {"ndcg_after": 0.1}, "nDCG@5 change must reach 0"),
        ("multi_query", {"new_in_prompt": 0}, "in-prompt rate must rise above 0.25"),
        ("multi_query", {"similarity": 0.9}, "mean similarity of variants must fall below 0.88"),
        ("hyde", {"contaminated": 5}, "contamination must fall below 0.15"),
        ("hyde", {"seconds": 2.0}, "added time p99, ms must fall below 800"),
    ],
)
def test_what_holds_a_method_is_named_with_its_mend(method, change, named):
    found, groups = table(**change)
    made = decide(method, found, groups, GATES, bound=bound(), attribution=labelled(40), **how())
    assert made.verdict == "hold" and named in made.change


def test_coverage_up_and_ndcg_down_blames_the_fusion():
    found, groups = table(ndcg_after=0.1)
    made = decide("decomposition", found, groups, GATES, **how())
    assert "the fusion is at fault" in made.why


def test_nothing_covered_before_is_an_endless_gain():
    found, groups = table(covered_before=0.0)
    made = decide("decomposition", found, groups, GATES, **how())
    assert made.verdict == "launch" and made.conditions[1].value == math.inf


def test_multi_query_needs_bound_and_label():
    found, groups = table()
    low = decide("multi_query", found, groups, GATES, bound=bound(3.0),
                 attribution=labelled(40), **how())  # fmt: skip
    assert low.verdict == "hold" and "upper bound" in low.change
    few = decide("multi_query", found, groups, GATES, bound=bound(), attribution=labelled(10),
                 **how())  # fmt: skip
    assert few.verdict == "undecided" and few.n_needed == 600  # 200 queries gave 10 of 30
    none = decide("multi_query", found, groups, GATES, bound=bound(), attribution=labelled(0),
                  **how())  # fmt: skip
    assert none.verdict == "hold"
    blind = decide("multi_query", found, groups, GATES, **how())
    assert "still to be measured: upper bound, points" in blind.change


def test_undecided_names_the_n_it_takes():
    gains = [1.0, 0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 0.0]
    found, groups = table(8, recall_after=gains)
    made = decide("coreference", found, groups, NO_LIMIT, **how())
    assert made.verdict == "undecided" and made.n_needed > 8
    assert f"about {made.n_needed:,} queries (now 8)" in made.change


def test_not_applicable_and_fallbacks():
    found, groups = table(used=False)
    made = decide("hyde", found, groups, GATES, **how())
    assert (made.verdict, made.net, made.conditions) == ("not applicable", {}, ())
    broken, _ = table(used=False, failed="empty")
    lost = decide("hyde", broken, groups, GATES, **how())
    assert lost.n_fell_back == 40 and "fell back" in lost.why


def test_one_conversation_decides_nothing():
    found, groups = table(4)
    made = decide("coreference", found, dict.fromkeys(groups, "c"), NO_LIMIT, **how())
    assert made.verdict == "undecided"


def test_recorded_rewrites_leave_latency_open():
    found, groups = table(seconds=math.nan)
    made = decide("coreference", found, groups, GATES, **how())
    assert made.verdict == "launch" and "still to be measured: added time" in made.change


def test_one_step_at_a_time_goes_live():
    found, groups = table()
    less, _ = table(recall_after=0.5)
    a = decide("coreference", found, groups, GATES, system="bm25", **how())
    b = decide("hyde", less, groups, GATES, system="bm25", **how())
    assert next_launch([b, a]) == "coreference on bm25; then measure again before hyde"
    assert next_launch([]).startswith("none")
    rare, groups = table(400, recall_after=1.0)
    rare.loc[rare.index[40:], "used"] = False  # a larger gain, for a tenth of the queries
    few = decide("decomposition", rare, groups, GATES, system="bm25", **how())
    assert few.verdict == "launch" and next_launch([few, b]).startswith("hyde")
    rows = decision_table([a, b, decide("hyde", table(used=False)[0], groups, GATES, **how())])
    assert rows["verdict"].tolist() == ["launch", "launch", "not applicable"]


@pytest.mark.parametrize("gain", [0.0, 1.0])
def test_a_handful_of_queries_decides_nothing(gain):
    found, groups = table(40, recall_after=gain, ndcg_after=gain)
    found.loc[found.index[29:], "used"] = False  # one query less than a label must have
    made = decide("coreference", found, groups, GATES, **how())
    assert made.verdict == "undecided" and made.n_needed == 42  # 40 * 30 / 29, rounded up
    assert "used for 29 queries" in made.why and "about 42 queries (now 40)" in made.change
    found.loc[found.index[29], "used"] = True
    enough = decide("coreference", found, groups, GATES, **how())
    assert enough.verdict == ("launch" if gain else "hold")
