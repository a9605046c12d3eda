"""One set of turns with all its rewrites: what notebooks 07 and 08 search, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.benchmarks import load_benchmark
from mtrlib.data.schema import Benchmark, Turn
from mtrlib.errors import FetchError, InputError
from mtrlib.llm.client import open_client
from mtrlib.profiles import Profile
from mtrlib.rewriting.coreference import Coreference
from mtrlib.rewriting.corpus_words import CorpusWords
from mtrlib.rewriting.diversity import Vectors, encoder_vectors, token_vectors
from mtrlib.rewriting.gates import Gates
from mtrlib.rewriting.given_rewriter import GivenRewriter
from mtrlib.rewriting.llm_rewriter import LlmRewriter
from mtrlib.rewriting.plans import Method
from mtrlib.rewriting.recorded_rewriter import RecordedRewriter
from mtrlib.rewriting.rewrites import KINDS, Rewriter, tasks_for
from mtrlib.rewriting.rules_rewriter import RulesRewriter
from mtrlib.rewriting.standard import standard_methods
from mtrlib.rewriting.truth import Truth

RAW, RESOLVED = "last_turn", "coreference"  # what stands before a method: the turn, or resolved
DIVERSITY = "minilm"  # whose cosine says whether two variants are alike
WITH_HISTORY = ("standalone", "author_voice")  # rewritten from the turn; the others from these
NOT_WHOLE = ("decomposition",)  # a sub-query asks for a part, so it is no rewrite of the query
DEPTH = 50  # passages of every list: as deep as failures are looked into
LOCAL = ("recorded", "rules")  # rewriters that ask nobody

Texts = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Study:
    """One set of turns with everything that can be searched for them.

    Attributes
    ----------
    rewrites : kind -> query id -> usable texts of the rewriter.
    failed : kind -> query id -> why there is none.
    resolved : query id -> what coreference makes of it: the standalone query where its trigger
        fires, else the turn.
    by_rules : the same by the rules alone.
    vectors : of the diversity filter.
    vectors_from : their name.
    """

    profile: Profile
    benchmark: Benchmark
    gates: Gates
    rewriter: Rewriter
    truth: Truth
    words: CorpusWords
    rewrites: Mapping[str, Mapping[str, tuple[str, ...]]]
    failed: Mapping[str, Mapping[str, str]]
    resolved: Texts
    by_rules: Texts
    vectors: Vectors
    vectors_from: str

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns, with and without gold."""
        return self.truth.turns

    @property
    def sure(self) -> dict[str, Any]:
        """Resamples and level of every interval."""
        return {"resamples": self.profile.RESAMPLES, "confidence": self.profile.CONFIDENCE}

    def texts(self, base: str) -> Texts:
        """What stands before a method: ``last_turn`` or ``coreference``."""
        return self.resolved if base == RESOLVED else {t.query_id: t.raw_utterance
                                                       for t in self.turns}  # fmt: skip

    def methods(self, rewriter: Rewriter | None = None, **changed: Any) -> dict[str, Method]:
        """The four methods by name, with the thresholds of the gates."""
        made = standard_methods(
            rewriter or self.rewriter, self.gates, vectors=self.vectors, words=self.words, **changed
        )
        return {m.name: m for m in made}

    def candidates(self) -> Mapping[str, Texts]:
        """Every rewrite of the whole query, by name: "variants 1", "variants 2", ..."""
        found: dict[str, dict[str, str]] = {}
        for kind in (k for k in KINDS if k not in NOT_WHOLE):
            for query_id, texts in self.rewrites[kind].items():
                for i, text in enumerate(texts, start=1):
                    found.setdefault(f"{kind} {i}", {})[query_id] = text
        return found


def _make_rewriter(profile: Profile, turns: Sequence[Turn]) -> Rewriter:
    """The profile's REWRITER; an endpoint replays its stored replies unless LIVE.

    ``recorded`` = rewrites-mini, or for other turns than its own the rewrites they bring along.
    """
    if profile.REWRITER == "recorded":
        records = load_authored().rewrites
        known = any(t.query_id in records for t in turns)
        return RecordedRewriter(records) if known else GivenRewriter(turns)
    if profile.REWRITER == "rules":
        return RulesRewriter()
    return LlmRewriter(open_client(profile.REWRITER, replay_only=not profile.LIVE))


def cost_lines(profile: Profile, benchmark: Benchmark | None = None) -> list[str]:
    """Dry run of an endpoint as rewriter, every kind for every turn; others cost no money.

    Kinds that rewrite the standalone query are counted with the raw turn in its place.
    ``benchmark`` replaces the profile's TURNS.
    """
    if profile.REWRITER in LOCAL:
        return [f"rewriter {profile.REWRITER}: no calls, no money"]
    client = open_client(profile.REWRITER, replay_only=not profile.LIVE)
    rewriter, gates = LlmRewriter(client), Gates.read(profile.GATES or None)
    turns = list((benchmark or load_benchmark(profile.TURNS, profile)).turns())
    tasks = tasks_for(
        turns, history_turns=gates.coreference.turns, wanted=gates.multi_query.variants
    )
    plan = client.plan([r for kind in KINDS for r in rewriter.requests(kind, tasks)])
    sent = "LIVE: missing replies are asked for" if profile.LIVE else "not LIVE: nothing is sent"
    return [f"rewriter {profile.REWRITER}; {sent}", plan.table().to_string()]


def load_study(profile: Profile, benchmark: Benchmark | None = None) -> Study:
    """Load turns and gates, and ask the rewriter for every kind of rewrite.

    ``benchmark`` replaces the profile's TURNS.

    Raises
    ------
    InputError
        K beyond the lists, a set in which no turn has gold, or as the readers of benchmark, gates
        and rewriter.
    """
    if profile.K > DEPTH:
        raise InputError(f"K={profile.K} must lie between 1 and {DEPTH}, the lists kept here.")
    benchmark = benchmark or load_benchmark(profile.TURNS, profile)
    gates = Gates.read(profile.GATES or None)
    turns = list(benchmark.turns())
    rewriter = _make_rewriter(profile, turns)
    if not any(benchmark.qrels.gold(t.query_id) for t in turns):
        raise InputError(f"{benchmark.name}: no turn has gold. Mend: check the qrels.")
    rewrites: dict[str, dict[str, tuple[str, ...]]] = {}
    failed: dict[str, dict[str, str]] = {}
    standalone: dict[str, str] = {}
    for kind in sorted(KINDS, key=lambda k: k not in WITH_HISTORY):
        own = kind in WITH_HISTORY
        tasks = tasks_for(
            turns,
            None if own else standalone,
            history_turns=gates.coreference.turns if own else 0,
            wanted=gates.multi_query.variants if kind == "variants" else 1,
        )
        found = rewriter.rewrite(kind, tasks)
        rewrites[kind] = {r.query_id: r.texts for r in found if r.texts}
        failed[kind] = {r.query_id: r.failed for r in found if r.failed}
        if kind == "standalone":
            standalone = {q: texts[0] for q, texts in rewrites[kind].items()}
    vectors, vectors_from = _vectors(rewrites["variants"], turns)
    return Study(
        profile,
        benchmark,
        gates,
        rewriter,
        _truth(benchmark, turns),
        CorpusWords(benchmark.passages),
        rewrites,
        failed,
        _resolved(rewriter, turns, gates),
        _resolved(RulesRewriter(), turns, gates),
        vectors,
        vectors_from,
    )


def _truth(benchmark: Benchmark, turns: Sequence[Turn]) -> Truth:
    """Answers and evidence are known for mtr-mini alone."""
    authored = load_authored() if benchmark.name == "mtr-mini" else Authored()
    own = {t.query_id for t in turns}
    evidence = RecordedRewriter(authored.rewrites).evidence()
    answers = {q: t["answer_strings"] for q, _, t in authored.turns() if t["answer_strings"]}
    return Truth(
        turns,
        benchmark.qrels,
        {p.passage_id: p for p in benchmark.passages},
        {q: parts for q, parts in answers.items() if q in own},
        {q: pieces for q, pieces in evidence.items() if q in own},
    )


def _resolved(rewriter: Rewriter, turns: Sequence[Turn], gates: Gates) -> Texts:
    """The standalone query where the trigger fires and the rewrite is usable, else the turn."""
    method = Coreference(rewriter, turns=gates.coreference.turns, keep_original="never")
    raw = {t.query_id: t.raw_utterance for t in turns}
    new = {p.query_id: p.paths[0].text for p in method.plan(turns, raw) if p.paths}
    return raw | new


def _vectors(variants: Mapping[str, tuple[str, ...]], turns: Sequence[Turn]) -> tuple[Vectors, str]:
    try:
        made = encoder_vectors(DIVERSITY)
        made([*(t.raw_utterance for t in turns), *(v for own in variants.values() for v in own)])
        return made, DIVERSITY
    except FetchError:
        return token_vectors, "shared tokens"
