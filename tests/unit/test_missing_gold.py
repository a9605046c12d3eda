"""Suspected missing gold: the ranking, the list for people, the verdicts, recovery."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from mtrlib.audit.confirmation import opening, read_confirmed, write_suspects
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.missing_gold import recovery, suspects
from mtrlib.data.jsonl import write_jsonl
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.evaluation.calibration import wilson_interval


@pytest.fixture
def pairs() -> pd.DataFrame:
    return pd.DataFrame(
        [
            ("t1", "g1", True, 0.95), ("t1", "g2", True, 0.30), ("t1", "n1", False, 0.90),
            ("t1", "n2", False, 0.85), ("t1", "n3", False, 0.80), ("t1", "n4", False, 0.10),
            ("t2", "g1", True, 0.20), ("t2", "n1", False, 0.70), ("t2", "n2", False, None),
            ("t3", "n1", False, 0.70),
        ],
        columns=["item_id", "passage_id", "marked", "p"],
    ).assign(set="b", conversation_id="c")  # fmt: skip


def named(found: pd.DataFrame) -> list[str]:
    return [f"{i} {p}" for i, p in zip(found["item_id"], found["passage_id"], strict=True)]


def test_suspects_are_ranked_by_p_with_at_most_so_many_of_a_turn(pairs):
    found = suspects(pairs, most_per_turn=2)
    assert named(found) == ["t1 n1", "t1 n2", "t2 n1", "t3 n1"]
    assert found["rank"].tolist() == [1, 2, 3, 4]
    assert found["over_best"].round(2).tolist()[:3] == [-0.05, -0.10, 0.50]
    assert found["over_weakest"].round(2).tolist()[:3] == [0.60, 0.55, 0.50]
    assert math.isnan(found["over_best"].iloc[3])


def test_suspects_by_their_lead_over_the_gold(pairs):
    assert named(suspects(pairs, by="over_best", most_per_turn=1)) == ["t2 n1", "t1 n1", "t3 n1"]
    by_weakest = suspects(pairs, by="over_weakest", most_per_turn=2)
    assert named(by_weakest) == ["t1 n1", "t1 n2", "t2 n1", "t3 n1"]


def test_order_of_pairs_changes_nothing(pairs):
    shuffled = pairs.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(suspects(pairs), suspects(shuffled))


@pytest.fixture
def items() -> ItemSet:
    text = " ".join(f"word{n}" for n in range(30))
    passages = tuple(Passage(p, text, f"Title {p}") for p in ("g1", "g2", "n1", "n2", "n3", "n4"))
    made = tuple(AuditItem(t, "b", "c", 1, f"Question {t}?", gold=passages[:2]) for t in
                 ("t1", "t2", "t3"))  # fmt: skip
    return ItemSet("b", made, passages)


def test_list_for_people_shows_little_and_hides_the_judge(pairs, items, tmp_path):
    path = tmp_path / "list.jsonl"
    assert write_suspects(path, suspects(pairs, most_per_turn=1), items) == 3
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["item_id"] for r in rows] == ["t1", "t2", "t3"]
    assert rows[0] == {
        "item_id": "t1",
        "passage_id": "n1",
        "question": "Question t1?",
        "title": "Title n1",
        "opening": "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11 ...",
        "marked": [{"passage_id": p, "title": f"Title {p}"} for p in ("g1", "g2")],
        "verdict": "",
        "rater": "",
    }
    stranger = suspects(pairs).assign(passage_id="zz")
    with pytest.raises(InputError, match="'zz'"):
        write_suspects(path, stranger, items)


def test_opening_counts_words_of_any_script():
    assert opening(" Two words. ") == "Two words."
    assert opening("这是一段没有空格的很长的中文文字") == "这是一段没有空格的很长的 ..."


def filled(path: Path, rater: str, **verdicts: str) -> Path:
    rows = [
        {"item_id": pair[:2], "passage_id": pair[2:], "verdict": v, "rater": rater}
        for pair, v in verdicts.items()
    ]
    write_jsonl(path, rows)
    return path


def test_verdicts_of_three_raters(tmp_path):
    a = filled(tmp_path / "a.jsonl", "ann", t1n1="yes", t1n2="no", t2n1="Yes ", t3n1="")
    b = filled(tmp_path / "b.jsonl", "bob", t1n1="yes", t1n2="yes", t2n1="yes", t3n1="")
    c = filled(tmp_path / "c.jsonl", "cy", t1n1="yes", t2n1="no")
    found = read_confirmed([a, b, c])
    assert found.confirmed == (("t1", "n1"), ("t2", "n1"))  # t1 n2 is a draw
    assert (found.n, found.n_open, found.n_raters) == (3, 1, 3)
    assert found.share == pytest.approx(2 / 3)
    assert (found.low, found.high) == wilson_interval(2, 3, 0.95)
    # P: 1 (yyy), 0 (yn), 1/3 (yyn); ratings 6 yes, 2 no: P_e = 9/16 + 1/16
    assert found.kappa == pytest.approx((4 / 9 - 10 / 16) / (6 / 16))


def test_one_rater_has_no_kappa_and_an_empty_list_no_share(tmp_path):
    found = read_confirmed([filled(tmp_path / "a.jsonl", "ann", t1n1="yes", t1n2="no")])
    assert math.isnan(found.kappa)
    assert found.share == 0.5
    empty = read_confirmed([filled(tmp_path / "b.jsonl", "", t1n1="", t1n2="")])
    assert math.isnan(empty.share)
    assert (empty.n, empty.n_open, empty.confirmed) == (0, 2, ())


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({"verdict": "maybe"}, "'maybe'"),
        ({"rater": " "}, "without rater"),
        ({"item_id": None}, "item_id"),
        ({"passage_id": "p0"}, "before"),
    ],
)
def test_errors_name_file_and_line(tmp_path, record, problem):
    good = {"item_id": "t", "passage_id": "p0", "verdict": "yes", "rater": "ann"}
    path = tmp_path / "list.jsonl"
    write_jsonl(path, [good, {**good, "passage_id": "p1", **record}])
    with pytest.raises(InputError, match=rf"list\.jsonl:2: .*{problem}"):
        read_confirmed([path])
    write_jsonl(path, [{k: v for k, v in good.items() if k != "rater"}])
    with pytest.raises(InputError, match=r"list\.jsonl:1: no field 'rater'"):
        read_confirmed([path])


def test_recovery_by_hand(pairs):
    found = suspects(pairs, most_per_turn=5)  # t1 n1, t1 n2, t1 n3, t2 n1, t3 n1, t1 n4
    hidden = {("t1", "n1"), ("t2", "n1"), ("t9", "outside the pool")}
    table = recovery(found, hidden, at=(1, 4, 50))
    assert table["n"].tolist() == [1, 4, 6]
    assert table["n_found"].tolist() == [1, 2, 2]
    assert table["precision"].tolist() == pytest.approx([1, 1 / 2, 1 / 3])
    assert table["recall"].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert table.loc[1, ["ci_low", "ci_high"]].tolist() == pytest.approx(
        wilson_interval(2, 4, 0.95)
    )
    with pytest.raises(InputError, match="nothing hidden"):
        recovery(found, set())
