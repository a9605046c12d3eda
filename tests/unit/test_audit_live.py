"""An audit over the real local server: killed half-way, resumed, replayed with it gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import METRICS
from mtrlib.audit.llm_judge import LlmJudge
from mtrlib.audit.metrics import judgements
from mtrlib.data.schema import Passage, Utterance
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.store import ReplyStore

pytestmark = pytest.mark.models

TURNS = 12
TEXTS = ("The mill burnt down in {}.", "Mill number {} stands on a hill.", "Bread is baked daily.")


def item_set() -> ItemSet:
    made = []
    for i in range(TURNS):
        p = [Passage(f"p{i}-{j}", text.format(1800 + i)) for j, text in enumerate(TEXTS)]
        history = (Utterance("user", "who built it?"), Utterance("agent", "A miller."))
        question = f"when did mill {i} burn down?"
        made.append(
            AuditItem(f"c{i}_2", "tiny", f"c{i}", 2, question, history, tuple(p[:1]), tuple(p[1:]),
                      f"In {1800 + i}.")
        )  # fmt: skip
    return ItemSet("tiny", tuple(made), ())


def audit(url: str, store: Path, *, replay_only: bool = False):
    """The whole audit, with one call at a time so that a kill falls between two replies."""
    endpoint = Endpoint("smollm2", model="smollm2", model_alias="smollm2", base_url=url,
                        dialect="system_one", concurrency=1)  # fmt: skip
    client = Client(endpoint, ReplyStore(store), replay_only=replay_only)
    return judgements(item_set(), LlmJudge("smollm2", client), METRICS, seed=1), client


def test_an_audit_is_killed_resumes_and_replays(llm_url: str, tmp_path: Path):
    store = tmp_path / "replies.jsonl"
    code = (
        "import runpy, sys; m = runpy.run_path(sys.argv[1]); from pathlib import Path; "
        "m['audit'](sys.argv[2], Path(sys.argv[3]))"
    )
    child = subprocess.Popen([sys.executable, "-c", code, __file__, llm_url, str(store)])
    until = time.monotonic() + 240
    while not store.is_file() or store.read_bytes().count(b"\n") < 2 * TURNS:
        assert child.poll() is None, "the audit ended before it could be killed"
        assert time.monotonic() < until
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    before = store.read_bytes().count(b"\n")
    assert before < len(METRICS) * TURNS

    table, client = audit(llm_url, store)
    assert len(table) == len(METRICS) * TURNS
    assert table["value"].notna().all()
    assert client.usage.calls == len(table) - client.usage.replayed
    assert client.usage.replayed >= before - 1  # the last line may be torn
    assert client.usage.failed == 0

    nowhere = "http://127.0.0.1:9/v1"  # discard port: nothing answers
    again, silent = audit(nowhere, store, replay_only=True)
    assert again.equals(table)
    assert silent.usage.calls == 0
