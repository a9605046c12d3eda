"""Query expansion by pseudo-relevance feedback: a second round without a verifier.

The first passages are taken for relevant, unread. For BM25 their words join the query (in the
manner of RM3), for dense and static vectors their mean does (Rocchio).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from mtrlib.data.schema import Passage, Run
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.search import Searcher
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.baselines import VectorSpace

REPEATS = 100  # words of an expanded query, so weights are kept to one part in a hundred


def common_terms(passages: Sequence[Passage], share: float = 0.1) -> frozenset[str]:
    """Terms in more than this share of the passages: they say nothing and are not added."""
    counts = Counter(term for p in passages for term in set(tokenize(encoded_text(p))))
    return frozenset(term for term, n in counts.items() if n > share * len(passages))


def rm3_text(
    question: str,
    feedback: Sequence[tuple[Passage, float]],
    *,
    terms: int = 10,
    original: float = 0.5,
    without: frozenset[str] = frozenset(),
) -> str:
    """The question with words of its first passages, as a text for BM25.

    ``P(w) = original * P(w | question) + (1 - original) * P(w | feedback)``, with
    ``P(w | feedback)`` proportional to ``sum over passages of score * tf / length``, kept for
    its ``terms`` largest. A weight becomes a number of repetitions, which BM25 adds up.

    Parameters
    ----------
    feedback : passages with their BM25 scores (above 0).
    terms : words added, at most.
    original : weight of the question, in [0, 1].
    without : words never added, see :func:`common_terms`.

    Raises
    ------
    InputError
        ``original`` outside [0, 1].

    References
    ----------
    Abdul-Jaleel et al., "UMass at TREC 2004", 2004. Theirs weights by query likelihood; BM25
    scores stand in for it here, so this is "in the manner of".
    """
    if not 0 <= original <= 1:
        raise InputError(f"RM3: original={original} must lie between 0 and 1.")
    model: defaultdict[str, float] = defaultdict(float)
    for passage, score in feedback:
        tokens = tokenize(encoded_text(passage))
        for term, count in Counter(tokens).items():
            if term not in without:
                model[term] += score * count / len(tokens)
    added = sorted(model.items(), key=lambda row: (-row[1], row[0]))[:terms]
    own = Counter(tokenize(question))
    mass = sum(weight for _, weight in added)
    if not mass or not own:
        return question
    weights = {term: original * n / own.total() for term, n in own.items()}
    for term, weight in added:
        weights[term] = weights.get(term, 0.0) + (1 - original) * weight / mass
    words = [[term] * round(weight * REPEATS) for term, weight in weights.items()]
    return " ".join(word for repeated in words for word in repeated)


def rm3(
    questions: Sequence[ListQuestion],
    searcher: Searcher,
    passages: Sequence[Passage],
    k: int,
    *,
    feedback: int = 10,
    terms: int = 10,
    original: float = 0.5,
) -> Run:
    """Search, expand by the first ``feedback`` passages, and search again.

    Parameters
    ----------
    searcher : a lexical one over ``passages``.

    Raises
    ------
    InputError
        Another kind of retriever: repeated words mean nothing to it.
    """
    if searcher.spec.kind != "lexical":
        raise InputError(f"{searcher.spec.name} is {searcher.spec.kind}; RM3 is for BM25.")
    by_id = {p.passage_id: p for p in passages}
    common = common_terms(passages)
    first = searcher.search({q.question_id: q.question for q in questions}, feedback)
    texts = {
        q.question_id: rm3_text(
            q.question,
            [(by_id[i], score) for i, score in first.rankings[q.question_id]],
            terms=terms,
            original=original,
            without=common,
        )
        for q in questions
    }
    return Run(f"rm3({searcher.spec.name})", searcher.search(texts, k).rankings)


def rocchio_vector(
    query: np.ndarray, feedback: Sequence[np.ndarray], *, original: float = 1.0, weight: float = 0.5
) -> np.ndarray:
    """``original * query + weight * mean(feedback)``, with the length of the query's vector.

    Parameters
    ----------
    query : (dimension,). Without feedback it is the result.

    References
    ----------
    Rocchio, "Relevance feedback in information retrieval", 1971, without its negative term.
    """
    if not feedback:
        return query
    moved = original * query + weight * np.mean(np.stack(feedback), axis=0)
    norm = float(np.linalg.norm(moved))
    return moved * (float(np.linalg.norm(query)) / norm) if norm else query


def rocchio(
    questions: Sequence[ListQuestion],
    space: VectorSpace,
    k: int,
    *,
    feedback: int = 5,
    original: float = 1.0,
    weight: float = 0.5,
) -> Run:
    """Search, move the vectors towards the first ``feedback`` passages, and search again."""
    vectors = space.questions(questions)
    first = space.search(vectors, feedback)
    moved: Mapping[str, np.ndarray] = {
        question_id: rocchio_vector(
            vector,
            [space.passages[i] for i in first.ids(question_id)],
            original=original,
            weight=weight,
        )
        for question_id, vector in vectors.items()
    }
    return Run(f"rocchio({space.spec.name})", space.search(moved, k).rankings)
