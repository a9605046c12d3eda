"""MTR-Pipeline over the Wikipedia slice: what notebook 02 shows, and what `record` asks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mtrlib import paths
from mtrlib.audit.simple_judges import content_terms
from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.schema import Benchmark, Passage
from mtrlib.llm.chat import Sampling
from mtrlib.llm.decide import Asker
from mtrlib.profiles import Profile
from mtrlib.retrieval.cache import embeddings
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.text import encoded_text
from mtrlib.synthesis.agents import Agents
from mtrlib.synthesis.clustering import Clusters, cluster
from mtrlib.synthesis.cost import CostLedger
from mtrlib.synthesis.drafts import DraftConversation, Synthesised, as_conversation
from mtrlib.synthesis.frozen_clusters import read_clusters
from mtrlib.synthesis.generation import generate
from mtrlib.synthesis.humanise import humanise
from mtrlib.synthesis.key_log import KeyLog
from mtrlib.synthesis.knn import nearest_documents
from mtrlib.synthesis.rewriter import CONTEXT_DEPENDENT, VERBOSE, Rewriter
from mtrlib.synthesis.support import LocalSupport
from mtrlib.synthesis.topic_switch import switch_topics
from mtrlib.synthesis.verifiers import Verifiers

VECTORS = "static-256"  # encoder behind the clusters
NEIGHBOURS, SIZE = 32, 8
SYNTHETIC = "smollm2-bench"  # name of the benchmark that comes out
# set by eye on other clusters: shares of terms, not probabilities
ANSWERABLE_AT, FAITHFUL_AT = 0.5, 0.6


@dataclass
class PipelineRun:
    """All stages of a run, the requests it asked, and their cost.

    Attributes
    ----------
    made, humanised, switched : after generation, after rewriting, after topic switches.
    log : every request, by key.
    """

    made: Synthesised
    humanised: Synthesised
    switched: Synthesised
    log: KeyLog
    ledger: CostLedger

    @property
    def conversations(self) -> list[DraftConversation]:
        """What went out."""
        return self.switched.conversations

    @property
    def whole(self) -> Synthesised:
        """All stages as one, for the funnel."""
        parts = (self.made, self.humanised, self.switched)
        return Synthesised(
            self.conversations,
            [reject for part in parts for reject in part.rejects],
            {stage: n for part in parts for stage, n in part.attempts.items()},
        )


def vectors(passages: Sequence[Passage]) -> np.ndarray:
    """Vectors of the passages by ``VECTORS``, shape (n_passages, dimension)."""
    spec = retriever_spec(VECTORS)
    ids, texts = [p.passage_id for p in passages], [encoded_text(p) for p in passages]
    found = embeddings(spec, ids, texts, spec.passage_prompt, f"{VECTORS} passages")
    return np.asarray(found)


def clusterings(passages: Sequence[Passage], knn: np.ndarray) -> dict[str, Clusters]:
    """As published, and our two: from the first row on, and free of the order of rows."""
    ids = [p.passage_id for p in passages]
    return {
        "as published": cluster(knn, size=SIZE, paper_compatible=True),
        "ours, ascending": cluster(knn, size=SIZE),
        "ours, free": cluster(knn, size=SIZE, order="free", document_ids=ids),
    }


def neighbours(passages: Sequence[Passage]) -> np.ndarray:
    """Nearest neighbours of every passage, shape (n_passages, NEIGHBOURS), int32."""
    ids = [p.passage_id for p in passages]
    return nearest_documents(ids, vectors(passages), NEIGHBOURS)


def frozen(passages: Sequence[Passage], most: int = 0) -> dict[str, list[Passage]]:
    """The committed clusters that the recorded replies were made on; ``most`` 0 = all."""
    by_id = {p.passage_id: p for p in passages}
    path = paths.root() / "data" / "recorded" / "clusters.json"
    found = read_clusters(path, by_id)
    kept = list(found.items())[: most or None]
    return {name: [by_id[p] for p in ids] for name, ids in kept}


def word_support() -> LocalSupport:
    """Share of content terms that a passage holds: weak, but the same on every processor.

    A number that differs in its last bits elsewhere could change what is asked next, and so
    lose the recorded replies.
    """

    def shares(text: str, passages: Sequence[Passage]) -> list[float]:
        terms = content_terms(text)
        held = (terms.intersection(tokenize(encoded_text(p))) for p in passages)
        return [len(found) / len(terms) if terms else 0.0 for found in held]

    return LocalSupport(shares)


def run_pipeline(
    clusters: Mapping[str, Sequence[Passage]],
    corpus: Sequence[Passage],
    client: Asker,
    profile: Profile,
    *,
    turns: int = 3,
    attempts: int = 2,
) -> PipelineRun:
    """Generate, verify, humanise and switch topics, by one model and word overlap.

    Parameters
    ----------
    client : whom to ask, live or replaying.
    turns, attempts : planned turns of a conversation, tries at each.
    """
    ledger, log, copies = CostLedger(), KeyLog(client), CopyCheck(corpus)
    agents = Agents(
        ledger.meter("agents", log),
        claims="alone",
        asking=Sampling(0.5, 0.95, 48),
        answering=Sampling(0.3, 0.95, 96),
        seed=profile.SEED,
        copies=copies,
    )
    verifiers = Verifiers(
        corpus,
        word_support(),
        answerable_at=ANSWERABLE_AT,
        faithful_at=FAITHFUL_AT,
        most_rivals=2,
    )
    made = generate(
        clusters, agents, verifiers, turns=turns, attempts_per_turn=attempts, seed=profile.SEED
    )
    style = partial(Rewriter, ledger.meter("humanise", log), seed=profile.SEED, copies=copies)
    short = humanise(made.conversations, style(CONTEXT_DEPENDENT), verifiers)
    long = humanise(short.conversations, style(VERBOSE, share=0.3), verifiers)
    both = Synthesised(
        long.conversations,
        short.rejects + long.rejects,
        {"humanise": short.attempts.get("humanise", 0) + long.attempts.get("humanise", 0)},
    )
    switched = switch_topics(both.conversations, share=0.5, seed=profile.SEED)
    return PipelineRun(made, both, switched, log, ledger)


def as_benchmark(
    run: PipelineRun,
    corpus: Sequence[Passage],
    clusters: Mapping[str, Sequence[Passage]],
    profile: Profile,
) -> Benchmark:
    """What went out as a benchmark, ready to be audited.

    It is searched over the whole corpus; where the profile cuts the corpus, over the
    passages of the clusters and the gold alone.
    """
    conversations = tuple(as_conversation(draft) for draft in run.conversations)
    used = {p.passage_id for members in clusters.values() for p in members}
    used |= {p for draft in run.conversations for turn in draft.turns for p in turn.gold}
    kept = [p for p in corpus if not profile.PASSAGE_LIMIT or p.passage_id in used]
    return Benchmark(SYNTHETIC, tuple(kept), conversations)
