"""Shared case 09, read from its own files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.rvr.batches import false_negatives
from mtrlib.rvr.examples import Example
from mtrlib.rvr.loss import info_nce, mask_of
from mtrlib.rvr.training_set import TrainingSet


def test_case_09(shared_cases: Path):
    import torch

    (folder,) = shared_cases.glob("09_*")
    batch = json.loads((folder / "batch.json").read_text(encoding="utf-8"))
    text = (folder / "expected.md").read_text(encoding="utf-8")
    expected = json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL)[1])
    names = [q for q, _ in batch["pairs"]]
    documents = list(dict.fromkeys(d for _, d in batch["pairs"]))
    data = TrainingSet(
        [ListQuestion(q, f"Which {q}?", gold=tuple(batch["gold"][q])) for q in names],
        [Passage(d, f"text of {d}") for d in documents],
    )
    rows = [Example(i, (), documents.index(d)) for i, (_, d) in enumerate(batch["pairs"])]
    labels = torch.tensor([[e.question, e.positive] for e in rows])
    similarity = torch.tensor(batch["sim"], dtype=torch.float64)
    mask = mask_of(data.gold, labels)
    for wanted, masked in (
        (expected["masked"], mask),
        (expected["unmasked"], torch.zeros_like(mask)),
    ):
        found = info_nce(similarity, masked, batch["temperature"])
        by_name = dict(zip(names, found.tolist(), strict=True)) | {"mean": float(found.mean())}
        for name, value in wanted.items():
            assert by_name[name] == pytest.approx(value, abs=5e-6), name
    assert false_negatives(data, rows) == int(mask.sum()) == 2
