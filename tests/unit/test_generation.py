"""Whole runs with a scripted endpoint: failures, kills, replays; nothing is ever misaligned."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Passage
from mtrlib.errors import EndpointError, InputError
from mtrlib.llm.answers import CallError
from mtrlib.llm.client import Client
from mtrlib.llm.endpoints import Endpoint
from mtrlib.llm.recorded import LayeredReplies, commit_replies, read_recorded
from mtrlib.llm.requests import Request
from mtrlib.llm.store import ReplyStore
from mtrlib.synthesis.agents import Agents
from mtrlib.synthesis.drafts import Synthesised, as_conversation
from mtrlib.synthesis.generation import generate
from mtrlib.synthesis.key_log import KeyLog
from mtrlib.synthesis.support import LlmSupport
from mtrlib.synthesis.verifiers import Verifiers

ENDPOINT = Endpoint("lab", model="m-1", model_alias="m", dialect="chat", concurrency=1)
STAGES = ["query", "source_wording", "answerable", "unique", "used_before", "response", "faithful"]


def passage(name: str) -> Passage:
    text = f"{name} was planted by gardener {name}ov, and its bark is good against {name}itis."
    return Passage(name, text, f"The elm {name}")


CLUSTERS = {c: [passage(f"{c}{n}") for n in "pqrstu"] for c in ("alba", "bora", "cyra")}
CORPUS = [p for passages in CLUSTERS.values() for p in passages]

Script = Callable[[Request, str], str | None]


class World:
    """An endpoint that knows the passages; ``script`` may say otherwise (None = as usual)."""

    def __init__(self, script: Script = lambda request, prompt: None) -> None:
        self.script = script
        self.calls: list[Request] = []

    def __call__(self, request: Request, endpoint: Endpoint) -> Mapping[str, Any]:
        self.calls.append(request)
        prompt = request.body["messages"][0]["content"]
        said = self.script(request, prompt)
        text = usual(request.note, prompt) if said is None else said
        return {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        }


def usual(note: str, prompt: str) -> str:
    names = re.findall(r"The elm (\w+)\n", prompt)
    asked = re.findall(r"planted (\w+)\?", prompt)[-1:]
    if note.endswith("question"):
        return f"[1] Who planted {names[0]}?"
    if note.endswith("answer"):
        return f"Gardener {names[0]}ov."
    return '{"score": 5}' if names[:1] == asked else '{"score": 1}'


def run(
    world: World,
    store: Path,
    *,
    log: list[KeyLog] | None = None,
    copies: CopyCheck | None = None,
    client: Client | None = None,
    clusters: Mapping[str, list[Passage]] = CLUSTERS,
    **settings: Any,
) -> Synthesised:
    client = client or Client(ENDPOINT, ReplyStore(store), send=world, wait=lambda seconds: None)
    asker = KeyLog(client)
    if log is not None:
        log.append(asker)
    rules = {key: settings.pop(key) for key in ("most_rivals",) if key in settings}
    verifiers = Verifiers(CORPUS, LlmSupport(asker), **rules)
    agents = Agents(asker, copies=copies)
    return generate(clusters, agents, verifiers, **{"turns": 3, **settings})


def check_alignment(made: Synthesised) -> None:
    """Everything of a turn is about the passage that its own conversation claims."""
    for draft in made.conversations:
        (cluster,) = draft.clusters
        assert draft.conversation_id == f"synth-{cluster}"
        gold = [t.gold for t in draft.turns]
        assert len(set(gold)) == len(gold)
        for n, turn in enumerate(draft.turns, start=1):
            assert turn.turn_id == f"synth-{cluster}_{n}"
            assert turn.gold[0] in {p.passage_id for p in CLUSTERS[cluster]}
            assert turn.question == turn.standalone == f"Who planted {turn.gold[0]}?"
            assert turn.answer == f"Gardener {turn.gold[0]}ov."
        for turn in as_conversation(draft).turns:
            before = draft.turns[: turn.turn_number - 1]
            said = [text for t in before for text in (t.question, t.answer)]
            assert [u.text for u in turn.history] == said


def test_every_cluster_becomes_a_conversation(tmp_path) -> None:
    made = run(World(), tmp_path / "r.jsonl")
    assert [c.conversation_id for c in made.conversations] == [f"synth-{c}" for c in CLUSTERS]
    assert [len(c.turns) for c in made.conversations] == [3, 3, 3]
    assert made.rejects == []
    assert made.attempts == {**dict.fromkeys(STAGES, 9), "rewrite": 0}
    check_alignment(made)


def test_the_agent_sees_its_own_history_and_no_used_passage(tmp_path) -> None:
    world = World()
    made = run(world, tmp_path / "r.jsonl", turns=6)
    for draft in made.conversations:
        asked = [r for r in world.calls if r.note.startswith(draft.conversation_id)]
        prompts = [r.body["messages"][0]["content"] for r in asked if r.note.endswith("question")]
        assert len(prompts) == 6
        for n, prompt in enumerate(prompts):
            before, rest = draft.turns[:n], draft.turns[n:]
            shown = set(re.findall(r"The elm (\w+)\n", prompt))
            assert len(shown) == min(5, 6 - n)
            assert shown.isdisjoint(t.gold[0] for t in before)
            said = prompt.split("\n\n")[0]
            assert all(t.question in said and t.answer in said for t in before)
            assert not any(t.question in said for t in rest)


def test_passages_shown_follow_the_seed(tmp_path) -> None:
    def gold(store: str, **settings: Any) -> list[tuple[str, ...]]:
        made = run(World(), tmp_path / store, **settings)
        return [t.gold for c in made.conversations for t in c.turns]

    assert gold("a") == gold("b") != gold("c", seed=1)
    few = {name: CLUSTERS[name] for name in ("cyra", "alba")}
    assert set(gold("d", clusters=few)) < set(gold("a"))


def test_a_conversation_ends_when_its_passages_are_used_up(tmp_path) -> None:
    made = run(World(), tmp_path / "r.jsonl", turns=8)
    assert [len(c.turns) for c in made.conversations] == [6, 6, 6]
    assert made.rejects == []


def test_failed_calls_cost_a_try_and_touch_no_other_conversation(tmp_path) -> None:
    def fails(request: Request, prompt: str) -> str | None:
        if request.note == "synth-bora turn 2 answer":
            raise CallError("status", "overloaded", status=500)
        return None

    whole = run(World(), tmp_path / "whole.jsonl")
    made = run(World(fails), tmp_path / "hurt.jsonl")
    check_alignment(made)
    alba, bora, cyra = made.conversations
    assert [alba, cyra] == [whole.conversations[0], whole.conversations[2]]
    assert bora.turns == whole.conversations[1].turns[:1]
    assert len(made.rejects) == 6  # two planned turns, three tries each
    assert {(r.conversation_id, r.turn_number, r.stage, r.reason) for r in made.rejects} == {
        ("synth-bora", 2, "response", "failed")
    }
    assert made.attempts["response"] - made.attempts["faithful"] == 6


@pytest.mark.parametrize(
    ("stage", "text", "reason"),
    [
        ("answer", "[ERROR: generation failed]", "error_text"),
        ("answer", "", "empty"),
        ("question", "[1] [ERROR: generation failed]?", "error_text"),
        ("question", "HTTP 503", "error_text"),
        ("answerable", "[ERROR: generation failed]", "unread"),
        ("faithful", "", "unread"),
        ("faithful", '{"score": 2}', "not_faithful"),
    ],
)
def test_an_error_text_never_becomes_data(tmp_path, stage, text, reason) -> None:
    once: Counter[str] = Counter()

    def errs(request: Request, prompt: str) -> str | None:
        if not request.note.startswith("synth-alba") or not request.note.endswith(stage):
            return None
        once["alba"] += 1
        return text if once["alba"] == 1 else None

    made = run(World(errs), tmp_path / "r.jsonl")
    check_alignment(made)
    assert [len(c.turns) for c in made.conversations] == [3, 3, 3]
    (reject,) = made.rejects
    assert (reject.conversation_id, reject.turn_number, reject.reason) == ("synth-alba", 1, reason)
    assert text not in str(made.conversations) or not text


def test_a_turn_that_never_passes_is_left_out_and_the_numbers_close_up(tmp_path) -> None:
    def silent(request: Request, prompt: str) -> str | None:
        # nothing in the first planned turn: no history yet, tries 1 to 3
        first = request.note == "synth-cyra turn 1 question"
        return "I cannot do that." if first and len(tries) < 3 and not tries.append(1) else None

    tries: list[int] = []
    made = run(World(silent), tmp_path / "r.jsonl")
    check_alignment(made)
    assert [len(c.turns) for c in made.conversations] == [3, 3, 2]
    assert [r.reason for r in made.rejects] == ["refusal"] * 3


def test_a_conversation_without_turns_is_no_conversation(tmp_path) -> None:
    def silent(request: Request, prompt: str) -> str | None:
        return "" if request.note.startswith("synth-bora") else None

    made = run(World(silent), tmp_path / "r.jsonl")
    assert [c.conversation_id for c in made.conversations] == ["synth-alba", "synth-cyra"]
    assert Counter(r.conversation_id for r in made.rejects) == {"synth-bora": 9}


def test_an_ambiguous_question_is_asked_anew_about_the_same_passages(tmp_path) -> None:
    vague = "Who planted elms?"

    def script(request: Request, prompt: str) -> str | None:
        if request.note.endswith("question") and vague not in prompt:
            return f"[1] {vague}"
        return '{"score": 5}' if request.note.endswith("answerable") and vague in prompt else None

    world = World(script)
    few = {"alba": CLUSTERS["alba"]}
    made = run(world, tmp_path / "r.jsonl", turns=1, clusters=few)
    (reject,) = made.rejects
    assert (reject.stage, reject.reason) == ("unique", "too_many_rivals")
    assert made.attempts["rewrite"] == 1
    prompts = [r.body["messages"][0]["content"] for r in world.calls if "question" in r.note]
    first, second = (re.findall(r"The elm (\w+)\n", prompt) for prompt in prompts)
    assert first == second
    assert f"- {vague}" in prompts[1]
    check_alignment(made)


def test_other_tries_see_other_passages(tmp_path) -> None:
    world = World(lambda request, prompt: "?" if request.note.endswith("question") else None)
    run(world, tmp_path / "r.jsonl", turns=1, clusters={"alba": CLUSTERS["alba"]})
    prompts = [r.body["messages"][0]["content"] for r in world.calls]
    shown = [re.findall(r"The elm (\w+)\n", prompt) for prompt in prompts]
    assert len(shown) == 3
    assert len({names[0] for names in shown}) == 3


def test_each_try_follows_from_what_became_of_the_last_one(tmp_path) -> None:
    said = ["Let me see.", "[1] Who planted elms?", "I cannot do that.", None]
    vague = "Who planted elms?"
    asked: list[list[str]] = []

    def script(request: Request, prompt: str) -> str | None:
        if request.note.endswith("question"):
            asked.append(re.findall(r"The elm (\w+)\n", prompt))
            return said[len(asked) - 1]
        return '{"score": 5}' if vague in prompt else None

    few = {"alba": CLUSTERS["alba"]}
    made = run(World(script), tmp_path / "r.jsonl", turns=1, clusters=few, attempts_per_turn=4)
    assert [r.reason for r in made.rejects] == ["no_claim", "too_many_rivals", "refusal"]
    assert asked[0] != asked[1] == asked[2] != asked[3]
    assert made.attempts["rewrite"] == 1
    assert len(made.conversations[0].turns) == 1


def test_rivals_of_other_clusters_become_gold(tmp_path) -> None:
    twin = Passage("twin", CLUSTERS["alba"][0].text.replace("bark", "leaf"), "The elm albap")
    clusters = {"alba": CLUSTERS["alba"][:1], "other": [twin]}
    world = World()
    client = Client(ENDPOINT, ReplyStore(tmp_path / "r.jsonl"), send=world)
    verifiers = Verifiers([*CORPUS, twin], LlmSupport(client))
    made = generate(clusters, Agents(client), verifiers, turns=1)
    assert [t.gold for c in made.conversations for t in c.turns] == [
        ("albap", "twin"),
        ("twin", "albap"),
    ]


@pytest.mark.parametrize("killed_at", [0, 1, 7, 20, 40, 62])
def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path, killed_at) -> None:
    whole = World()
    wanted = run(whole, tmp_path / "whole.jsonl")

    def killed(request: Request, prompt: str) -> str | None:
        if len(first.calls) > killed_at:
            raise KeyboardInterrupt
        return None

    first = World(killed)
    with pytest.raises(KeyboardInterrupt):
        run(first, tmp_path / "r.jsonl")
    second = World()
    assert run(second, tmp_path / "r.jsonl") == wanted
    asked = [r.key for r in (*first.calls[:-1], *second.calls)]
    assert len(asked) == len(set(asked))
    assert set(asked) == {r.key for r in whole.calls}


def test_a_dead_endpoint_ends_the_run_and_keeps_what_came(tmp_path) -> None:
    def dies(request: Request, prompt: str) -> str | None:
        if len(world.calls) > 10:
            raise CallError("status", "no credit", status=402)
        return None

    world = World(dies)
    with pytest.raises(EndpointError, match="402"):
        run(world, tmp_path / "r.jsonl")
    assert len(ReplyStore(tmp_path / "r.jsonl")) == 10


def test_what_is_recorded_replays_without_an_endpoint(tmp_path) -> None:
    once: list[str] = []

    def copies(request: Request, prompt: str) -> str | None:
        if request.note != "synth-bora turn 2 answer" or once:
            return None
        once.append(re.findall(r"The elm \w+\n(.*)", prompt)[0])
        return once[0]  # live and replayed, it must be the same reject

    log: list[KeyLog] = []
    check = CopyCheck(CORPUS)
    live = run(World(copies), tmp_path / "r.jsonl", log=log, copies=check, turns=6)
    assert [r.reason for r in live.rejects] == ["copies_passage"]
    store = ReplyStore(tmp_path / "r.jsonl")
    where = tmp_path / "recorded" / "lab.jsonl"
    committed = commit_replies(store, log[0].requests, CORPUS, where, {})
    assert (committed.rejected, committed.missing) == (1, 0)
    assert committed.kept + 1 == len(log[0].requests)
    layers = LayeredReplies(ReplyStore(tmp_path / "none.jsonl"), read_recorded(where.parent))
    offline = Client(ENDPOINT, layers, replay_only=True)
    again = run(World(), tmp_path / "none.jsonl", client=offline, copies=check, turns=6)
    assert again == live
    assert offline.usage.calls == 0


def test_nothing_recorded_is_no_conversation_and_says_so(tmp_path) -> None:
    client = Client(ENDPOINT, ReplyStore(tmp_path / "r.jsonl"), replay_only=True)
    made = run(World(), tmp_path / "r.jsonl", client=client)
    assert made.conversations == []
    assert Counter(r.reason for r in made.rejects) == {"not_recorded": 27}


@pytest.mark.parametrize("passages", [[CORPUS[0], CORPUS[0]], [passage("unknown")]])
def test_clusters_must_fit_the_corpus(tmp_path, passages) -> None:
    with pytest.raises(InputError, match="cluster 'alba'"):
        run(World(), tmp_path / "r.jsonl", clusters={"alba": passages})


@settings(max_examples=25, deadline=None)
@given(rate=st.floats(0.0, 0.9), salt=st.integers(0, 10**6), turns=st.integers(1, 4))
def test_random_failures_never_misalign(rate, salt, turns) -> None:
    bad = ["", "[ERROR: x]", "[9] Who planted it?", "I'm sorry.", "[1] Who planted elms?"]

    def drops(request: Request, prompt: str) -> str | None:
        digest = hashlib.sha256(f"{salt} {request.key}".encode()).digest()
        if digest[0] / 256 >= rate:
            return None
        kind = digest[1] % (len(bad) + 1)
        if kind == len(bad):
            raise CallError("timeout", "too slow")
        return bad[kind]

    with tempfile.TemporaryDirectory() as folder:
        made = run(World(drops), Path(folder) / "r.jsonl", turns=turns)
    check_alignment(made)
    # whatever entered and did not come out was turned away with a reason
    lost = Counter(r.stage for r in made.rejects)
    entered = [made.attempts[stage] for stage in STAGES]
    accepted = sum(len(c.turns) for c in made.conversations)
    for stage, n, further in zip(STAGES, entered, [*entered[1:], accepted], strict=True):
        assert n - lost[stage] == further
