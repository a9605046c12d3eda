"""A small run on the real local server, its resumption, and its replay without any server."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from mtrlib.data.schema import Passage
from mtrlib.errors import CoverageError
from mtrlib.llm import local_server
from mtrlib.llm.accounts import Limits
from mtrlib.llm.chat import Sampling
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.store import ReplyStore
from mtrlib.synthesis.agents import Agents
from mtrlib.synthesis.drafts import Synthesised, as_conversation
from mtrlib.synthesis.generation import generate
from mtrlib.synthesis.key_log import KeyLog
from mtrlib.synthesis.support import LlmSupport
from mtrlib.synthesis.verifiers import Verifiers

pytestmark = [pytest.mark.models, pytest.mark.slow]

FACTS = {
    "arlen": [
        ("Arlen Bridge", "The stone bridge of Arlen was opened in 1932 by the mayor Otto Brandt."),
        ("Arlen Mill", "The mill of Arlen ground rye until the great flood of 1954."),
        ("Arlen Ferry", "The ferry of Arlen crosses the river Orl every hour from May to October."),
    ],
    "saffron": [
        ("Saffron", "Saffron is picked by hand in autumn; 150 flowers give one gram of the spice."),
        ("Vanilla", "Vanilla pods are the fruit of an orchid that is pollinated by hand."),
        ("Cinnamon", "Cinnamon is the dried inner bark of a tree that grows in Sri Lanka."),
    ],
}
CLUSTERS = {
    name: [Passage(f"{name}{n}", text, title) for n, (title, text) in enumerate(facts)]
    for name, facts in FACTS.items()
}
CORPUS = [passage for passages in CLUSTERS.values() for passage in passages]


def endpoint(url: str) -> Endpoint:
    return Endpoint(
        "live",
        model="smollm2",
        model_alias="smollm2",
        base_url=url,
        dialect="system_one",
        concurrency=2,
        timeout_s=180,
    )


def made_with(client: Client, log: list[str] | None = None) -> Synthesised:
    """The model is too small to judge, so every level passes, and only an unread one does not."""
    asker = KeyLog(client)
    verifiers = Verifiers(
        CORPUS, LlmSupport(asker), answerable_at=1.0, faithful_at=1.0, hits=1, most_rivals=1
    )
    agents = Agents(
        asker, claims="alone", asking=Sampling(0.5, 0.95, 40), answering=Sampling(0.3, 0.95, 64)
    )
    made = generate(CLUSTERS, agents, verifiers, turns=2, attempts_per_turn=2, seed=1)
    if log is not None:
        log.extend(asker.requests)
    return made


def check(made: Synthesised) -> None:
    for draft in made.conversations:
        said: list[str] = []
        for turn in as_conversation(draft).turns:
            assert turn.gold[0] in {p.passage_id for p in CLUSTERS[draft.clusters[0]]}
            assert [u.text for u in turn.history] == said
            assert "?" in turn.raw_utterance and turn.answer
            said += [turn.raw_utterance, turn.answer]


def test_a_run_is_cut_off_goes_on_and_replays(llm_url: str, tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    cut = Client(endpoint(llm_url), ReplyStore(path), limits=Limits(tokens=400))
    with pytest.raises(CoverageError):
        made_with(cut)
    kept = len(ReplyStore(path))
    assert 0 < kept < 12

    keys: list[str] = []
    client = Client(endpoint(llm_url), ReplyStore(path))
    made = made_with(client, keys)
    check(made)
    assert made.conversations, Counter((r.stage, r.reason) for r in made.rejects)
    assert made.attempts["response"] > 0
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == len(ReplyStore(path)) == len(set(keys))  # nothing was asked twice
    assert client.usage.calls == len(lines) - kept

    nowhere = endpoint(f"http://127.0.0.1:{local_server.free_port()}/v1")
    again = Client(nowhere, ReplyStore(path))
    assert made_with(again) == made
    assert again.usage.calls == 0
