"""What a run cost, what people would have cost, and the ratio: always ranges, never a false 0."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mtrlib.errors import InputError
from mtrlib.llm.client import NOT_RECORDED, Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.store import ReplyStore
from mtrlib.synthesis.cost import ALL, CostLedger
from mtrlib.synthesis.cost_comparison import compare_costs, cost_ratio
from mtrlib.synthesis.human_cost import STEPS, HumanCost, load_human_cost

# 10 and 20 per million tokens
PRICES = """
demo: {input: 10, output: 20, date: 2026-01-02}
own: {input: 0, output: 0, date: 2026-01-02}
euro: {input: 1, output: 1, date: 2026-01-02, currency: EUR}
"""
DEMO = Endpoint("demo", "demo", "demo-model")
FREE = Endpoint("free", "whatever", price="own")
UNKNOWN = Endpoint("unknown", "no-such-model")


@pytest.fixture(autouse=True)
def price_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(PRICES, "utf-8")
    monkeypatch.setenv("MTR_PRICES", str(path))


def reply(key: str, tokens_in: int = 0, tokens_out: int = 0, **more) -> Reply:
    return Reply(key, tokens_in=tokens_in, tokens_out=tokens_out, **{"attempts": 1} | more)


def row(ledger: CostLedger, stage: str, as_if: str = "") -> pd.Series:
    table = ledger.table(as_if)
    return table[table["stage"] == stage].iloc[0]


def test_tokens_of_a_stage_are_added_and_priced() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 1000, 100), reply("b", 3000, 400)], DEMO)
    ledger.add("response", [reply("c", 500, 50)], DEMO)
    query = row(ledger, "query")
    assert (query["requests"], query["calls"], query["replayed"]) == (2, 2, 0)
    assert (query["tokens_in"], query["tokens_out"]) == (4000, 500)
    assert query["cost_low"] == query["cost_high"] == pytest.approx(0.05)
    assert (query["currency"], query["price_date"]) == ("USD", "2026-01-02")
    total = row(ledger, ALL)
    assert (total["tokens_in"], total["tokens_out"], total["requests"]) == (4500, 550, 3)
    assert total["cost_low"] == pytest.approx(0.056)
    assert list(ledger.table()["stage"]) == ["query", "response", ALL]


def test_a_request_is_paid_once_however_often_it_comes_back() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 10, 1), reply("a", 10, 1)], DEMO)
    ledger.add("query", [reply("a", 10, 1, replayed=True, attempts=0)], DEMO)
    ledger.add("response", [reply("a", 10, 1, replayed=True, attempts=0)], DEMO)
    assert row(ledger, ALL)["tokens_in"] == 10
    assert row(ledger, "query")["replayed"] == 0


def test_a_failure_gives_way_to_its_later_success() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", failed="timeout", attempts=3)], DEMO)
    assert row(ledger, "query")["uncounted"] == 1
    assert math.isnan(row(ledger, "query")["cost_low"])  # never 0
    ledger.add("query", [reply("a", 10, 1)], DEMO)
    assert tuple(row(ledger, "query")[["requests", "uncounted", "tokens_in"]]) == (1, 0, 10)
    ledger.add("query", [reply("a", failed="timeout")], DEMO)
    assert row(ledger, "query")["uncounted"] == 0


def test_retries_and_uncounted_requests_widen_the_range_upwards() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 1000, 100, attempts=3), reply("b", 3000, 300)], DEMO)
    query = row(ledger, "query")
    assert query["calls"] == 4
    assert query["cost_low"] == pytest.approx(0.048)
    assert query["cost_high"] == pytest.approx(0.048 + 2 * 0.01)
    ledger.add("query", [reply("c", failed=NOT_RECORDED, attempts=0)], DEMO)
    query = row(ledger, "query")
    assert (query["requests"], query["calls"], query["uncounted"]) == (3, 4, 1)
    # one more like the mean of the stage: 2,000 in, 200 out
    assert query["cost_high"] == pytest.approx(0.048 + 2 * 0.01 + 0.024)


def test_unknown_price_is_unknown_and_poisons_the_total() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 10, 1)], DEMO)
    ledger.add("unique", [reply("b", 10, 1)], UNKNOWN)
    assert math.isnan(row(ledger, "unique")["cost_low"]) and row(ledger, "unique")["currency"] == ""
    assert ledger.cost() is None and math.isnan(row(ledger, ALL)["cost_high"])
    assert ledger.cost(as_if="demo") == pytest.approx((0.00024, 0.00024))


def test_free_models_and_two_currencies() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 10, 1)], FREE)
    assert ledger.cost() == (0, 0)
    ledger.add("unique", [reply("b", 1_000_000, 0)], Endpoint("e", "euro"))
    assert ledger.cost() == (1, 1) and ledger.currency() == "EUR"
    ledger.add("response", [reply("c", 10, 1)], DEMO)
    with pytest.raises(InputError, match=r"EUR and USD.*MTR_PRICES"):
        ledger.table()


def test_nothing_asked_costs_no_known_sum() -> None:
    ledger = CostLedger()
    assert ledger.cost() is None
    assert list(ledger.table()["stage"]) == [ALL] and ledger.table()["tokens_in"].item() == 0


def test_a_replayed_run_shows_what_it_cost_when_it_was_made(tmp_path: Path) -> None:
    asked = [Request("demo", "demo-model", "chat", {"messages": [{"content": t}]}) for t in "ab"]
    sent = []

    def send(request: Request, body) -> dict:
        sent.append(body)
        return {
            "model": "demo",
            "choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 2},
        }

    live, again = CostLedger(), CostLedger()
    store = tmp_path / "demo.jsonl"
    live.meter("query", Client(DEMO, ReplyStore(store), send=send)).ask(asked)
    assert len(sent) == 2 and row(live, ALL)["tokens_in"] == 14
    client = Client(DEMO, ReplyStore(store), replay_only=True)
    meter = again.meter("query", client)
    assert [r.text for r in meter.ask(asked)] == ["yes", "yes"] and meter.endpoint is DEMO
    assert client.usage.tokens_in == 0  # which is why the client's own count is not used
    columns = ["requests", "calls", "tokens_in", "tokens_out", "cost_low", "cost_high"]
    pd.testing.assert_frame_equal(live.table()[columns], again.table()[columns])
    assert row(again, "query")["replayed"] == 2


HUMAN = HumanCost(
    turns_per_conversation=(8, 12),
    minutes_per_conversation=(0, 30),
    minutes_per_turn={"write_question": (1, 2), "find_gold": (2, 4), "write_answer": (0, 0)}
    | {"check": (0, 3)},
    hourly_wage=(10, 20),
    overhead=(1, 1.5),
    currency="USD",
    date="2026-01-01",
)


def test_people_cost_minutes_times_wage() -> None:
    assert HUMAN.per_conversation(10) == pytest.approx((30 / 60 * 10, 120 / 60 * 20 * 1.5))
    assert HUMAN.per_conversation() == pytest.approx((24 / 60 * 10, 138 / 60 * 20 * 1.5))
    assert HUMAN.per_turn(10) == pytest.approx((0.5, 6.0))
    # the conversation's own minutes weigh most where there are few turns
    assert HUMAN.per_turn() == pytest.approx((0.5, (30 + 72) / 60 * 30 / 8))
    table = HUMAN.table()
    assert table.loc["hourly wage"].tolist() == [10, 20, "USD"]
    assert len(table) == 4 + len(STEPS) + 2 and (table["low"] <= table["high"]).all()


def test_the_assumptions_of_the_library_are_whole_and_each_is_commented() -> None:
    human = load_human_cost()
    assert human.turns_per_conversation == (8, 12) and set(human.minutes_per_turn) == set(STEPS)
    low, high = human.per_turn()
    assert 0.1 < low < high < 50
    text = (Path(load_human_cost.__code__.co_filename).parent / "human_cost.yaml").read_text(
        "utf-8"
    )
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if "low:" in line:
            assert lines[number - 1].lstrip().startswith("#"), line


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"hourly_wage": {"low": 9, "high": 3}}, "hourly_wage is"),
        ({"hourly_wage": {"low": 9}}, "hourly_wage is"),
        ({"hourly_wage": {"low": 0, "high": 3}}, "hourly_wage is below"),
        ({"overhead": {"low": 0.5, "high": 3}}, "overhead is below 1"),
        ({"overhead": {"low": True, "high": 3}}, "overhead is"),
        ({"overhead": 1.2}, "overhead is 1.2"),
        ({"wage": {"low": 1, "high": 2}}, "wage: missing or unknown"),
        ({"minutes_per_turn": {"check": {"low": 1, "high": 2}}}, "find_gold.*missing"),
        ({"minutes_per_turn": None}, "minutes_per_turn: .*missing"),
    ],
)
def test_assumptions_that_make_no_sense_are_refused(tmp_path: Path, change, named) -> None:
    path = tmp_path / "mine.yaml"
    source = Path(load_human_cost.__code__.co_filename).parent / "human_cost.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(source.read_text("utf-8")) | change), "utf-8")
    with pytest.raises(InputError, match=rf"mine\.yaml: .*{named}"):
        load_human_cost(path)


def test_no_file_of_assumptions(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load_human_cost(tmp_path / "absent.yaml")


def test_the_ratio_takes_the_ends_crosswise() -> None:
    assert cost_ratio((1, 2), (100, 400)) == (0.0025, 0.02)
    assert cost_ratio(None, (1, 2)) is None
    assert cost_ratio((0, 0), (1, 2)) is None  # own hardware is not free


def test_people_and_machines_side_by_side() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 100_000, 50_000)], FREE)
    table = compare_costs(ledger, HUMAN, conversations=2, turns=20, as_if=["demo", "nobody"])
    assert list(table["who"]) == ["people", "as run", "demo", "nobody"]
    by_name = table.set_index("who")
    assert by_name.loc["people", ["conversation_low", "conversation_high"]].tolist() == [5, 60]
    assert math.isnan(by_name.loc["as run", "ratio_low"])
    assert "computer" in by_name.loc["as run", "note"]
    assert by_name.loc["demo", "conversation_low"] == pytest.approx(1.0)
    assert by_name.loc["demo", "turn_high"] == pytest.approx(0.1)
    assert by_name.loc["demo", ["ratio_low", "ratio_high"]].tolist() == pytest.approx([1 / 60, 0.2])
    assert math.isnan(by_name.loc["nobody", "turn_low"])
    assert "unknown" in by_name.loc["nobody", "note"]


def test_no_comparison_without_conversations_or_over_currencies() -> None:
    ledger = CostLedger()
    ledger.add("query", [reply("a", 10, 5)], Endpoint("e", "euro"))
    with pytest.raises(InputError, match="0 turns in 0 conversations"):
        compare_costs(ledger, HUMAN, conversations=0, turns=0)
    with pytest.raises(InputError, match="EUR, people in USD"):
        compare_costs(ledger, HUMAN, conversations=1, turns=8)
