"""What RVR is compared with: a single round, and re-ranking for diversity (MMR)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.cache import embeddings
from mtrlib.retrieval.index import DenseIndex
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.search import Searcher
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.loop import SPARE
from mtrlib.rvr.merge import distinct

Vector = npt.NDArray[np.float32]


def single_round(
    questions: Sequence[ListQuestion],
    searcher: Searcher,
    passages_by_id: Mapping[str, Passage],
    k: int,
) -> Run:
    """One retrieval with the bare question, texts under two ids once, as in the loop."""
    found = searcher.search({q.question_id: q.question for q in questions}, k + SPARE)
    rankings = {}
    for question_id, ranking in found.rankings.items():
        kept = {
            p.passage_id for p in distinct(passages_by_id[passage_id] for passage_id, _ in ranking)
        }
        rankings[question_id] = tuple(row for row in ranking if row[0] in kept)[:k]
    return Run(f"single({searcher.spec.name})", rankings)


def mmr_order(
    query: Vector, candidates: npt.NDArray[np.float32], k: int, relevance: float
) -> list[int]:
    """Pick k candidates, each relevant to the query and unlike what was picked before.

    Each step takes the candidate with the largest ``relevance * cos(query, c) -
    (1 - relevance) * max over picked p of cos(c, p)``; of equal ones the first.

    Parameters
    ----------
    query : (dimension,).
    candidates : (n, dimension), best first.
    relevance : lambda of the paper, in [0, 1]: 1 keeps the order by similarity to the query, 0
        looks at diversity alone.

    Returns
    -------
    list
        Rows in the order picked, at most k.

    Raises
    ------
    InputError
        ``relevance`` outside [0, 1].

    References
    ----------
    Carbonell and Goldstein, "The use of MMR, diversity-based reranking", 1998. Public versions
    have turned lambda round, ignored it, lost the order, or looked at the last pick alone.
    """
    if not 0 <= relevance <= 1:
        raise InputError(f"MMR: relevance={relevance} must lie between 0 and 1.")
    own = _unit(np.asarray(candidates, dtype=np.float64))
    to_query = own @ _unit(np.asarray(query, dtype=np.float64)[None, :])[0]  # (n,)
    nearest = np.full(len(own), -np.inf)  # to anything picked so far
    open_ = np.ones(len(own), dtype=bool)
    picked: list[int] = []
    while len(picked) < min(k, len(own)):
        penalty = nearest if picked else np.zeros(len(own))
        gain = relevance * to_query - (1 - relevance) * penalty
        best = int(np.argmax(np.where(open_, gain, -np.inf)))
        picked.append(best)
        open_[best] = False
        nearest = np.maximum(nearest, own @ own[best])
    return picked


class VectorSpace:
    """Vectors of a dense or static retriever by id; from the same cache as its searcher.

    Parameters
    ----------
    name : of the registry.
    passages : the corpus, in the order in which the searcher got it (part of the cache key).

    Raises
    ------
    InputError
        A lexical, sparse or hybrid retriever.
    """

    def __init__(self, name: str, passages: Sequence[Passage]) -> None:
        self.spec = retriever_spec(name)
        if self.spec.kind not in ("dense", "static"):
            raise InputError(f"{name} is {self.spec.kind}. Mend: use a dense or static retriever.")
        ids = [p.passage_id for p in passages]
        texts = [encoded_text(p) for p in passages]
        vectors = embeddings(self.spec, ids, texts, self.spec.passage_prompt, f"{name} passages")
        self.passages: dict[str, Vector] = dict(zip(ids, vectors, strict=True))
        self._index = DenseIndex(ids, vectors)

    def questions(self, questions: Sequence[ListQuestion]) -> dict[str, Vector]:
        """Vectors of the bare questions by id, each (dimension,)."""
        ids, texts = [q.question_id for q in questions], [q.question for q in questions]
        label = f"{self.spec.name} queries"
        return dict(
            zip(ids, embeddings(self.spec, ids, texts, self.spec.query_prompt, label), strict=True)
        )

    def search(self, vectors: Mapping[str, Vector], depth: int) -> Run:
        """Rank passages for vectors of this space."""
        return self._index.search(vectors, depth, self.spec.name)


def mmr(
    questions: Sequence[ListQuestion],
    space: VectorSpace,
    k: int,
    *,
    depth: int,
    relevance: float = 0.7,
) -> Run:
    """MMR over the first ``depth`` passages of each question, :func:`mmr_order` by question.

    Returns
    -------
    Run
        In the order picked; scores number the ranks down to 1.
    """
    vectors = space.questions(questions)
    rankings = {}
    for question_id, ranking in space.search(vectors, depth).rankings.items():
        ids = [passage_id for passage_id, _ in ranking]
        matrix = np.stack([space.passages[i] for i in ids]) if ids else np.zeros((0, 1), np.float32)
        order = mmr_order(vectors[question_id], matrix, k, relevance) if ids else []
        rankings[question_id] = tuple(
            (ids[row], float(len(order) - rank)) for rank, row in enumerate(order)
        )
    return Run(f"mmr({space.spec.name}, {relevance:g})", rankings)


def _unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
