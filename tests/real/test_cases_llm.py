"""The open case on judge replies (04), read from its own file."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtrlib.data.jsonl import read_jsonl
from mtrlib.llm.parsing import read_score


def test_case_04(shared_cases: Path) -> None:
    folder = shared_cases / "04_judge_replies"
    text = (folder / "expected.md").read_text(encoding="utf-8")
    expected = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    verdicts = {
        record["id"]: read_score(
            record["reply"], low=1, high=5, finish_reason=record["finish_reason"]
        )
        for _, record in read_jsonl(folder / "replies.jsonl")
    }
    assert {name: verdict.value for name, verdict in verdicts.items()} == expected["scores"]
    valid = [verdict.value for verdict in verdicts.values() if verdict.value is not None]
    assert len(valid) == expected["n_valid"]
    assert sum(valid) / len(valid) == pytest.approx(expected["mean_valid"])
    reasons = [verdicts[f"r{i}"].reason for i in range(5, 11)]
    assert reasons == ["off_scale", "out_of_range", "empty", "refusal", "truncated", "no_score"]
