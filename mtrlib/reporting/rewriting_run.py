"""What notebooks 07 and 08 measure on a study: retrievers, bounds, labels of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mtrlib import paths
from mtrlib.errors import FetchError, InputError
from mtrlib.profiles import Profile
from mtrlib.reporting.rewriting_study import DEPTH, RAW, RESOLVED, Study, Texts
from mtrlib.retrieval.query_text import VIEWS, query_texts
from mtrlib.retrieval.search import searcher
from mtrlib.rewriting.attribution import attribute
from mtrlib.rewriting.bound import best_of, oracle_bound
from mtrlib.rewriting.failure_set import read_failures, write_failures
from mtrlib.rewriting.index_look import Build, bm25_parameters, joined, look_at_index
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.remembered import Remembered, remembered
from mtrlib.rewriting.tiers import LOW, Bound

# (k1, b) of BM25, and passages a chunk, that are looked at where the bound is low
BM25_SETTINGS = ((0.9, 0.4), (0.6, 0.4), (1.2, 0.75), (1.5, 0.4))
CHUNKS = (2, 3)
CHEAP = ("lexical", "static")  # kinds that can pass another cut of the corpus in seconds


@dataclass(frozen=True, eq=False)
class Searchers:
    """Retrievers that search each text once, and the query views of each.

    Attributes
    ----------
    by_name : name -> retriever.
    views : name -> view -> query id -> text, cut to the retriever's budget.
    unavailable : name -> why it is left out.
    """

    by_name: dict[str, Remembered] = field(default_factory=dict)
    views: dict[str, dict[str, Texts]] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)

    def describe(self) -> dict[str, dict[str, Any]]:
        """What identifies each retriever, for manifests."""
        return {name: found.describe() for name, found in self.by_name.items()}


def open_searchers(study: Study, views: Sequence[str] = ()) -> Searchers:
    """Every retriever of the profile over the corpus; all texts of the study are searched at once.

    Parameters
    ----------
    views : of the original; all of ``_views_of`` by default.

    Notes
    -----
    Rewrites go in one batch and longer views in another, so that notebooks which look at
    different views share the vectors of the first. A retriever whose model cannot be had is left
    out with its reason.

    Raises
    ------
    InputError
        No retriever is left.
    """
    found = Searchers()
    short = {text for own in study.rewrites.values() for texts in own.values() for text in texts}
    short |= {t for own in (study.by_rules, study.resolved, study.texts(RAW)) for t in own.values()}
    for name in study.profile.RETRIEVERS:
        try:
            retriever = remembered(searcher(name, study.benchmark.passages), DEPTH)
        except FetchError as error:
            found.unavailable[name] = str(error)
            continue
        own = {v: _view_texts(study, retriever, v) for v in views or _views_of(study.profile)}
        for batch in (short, {text for texts in own.values() for text in texts.values()}):
            retriever.search({text: text for text in batch}, DEPTH)
        found.by_name[name], found.views[name] = retriever, own
    if not found.by_name:
        raise InputError(f"no retriever can be had: {found.unavailable}. Mend: RETRIEVERS.")
    return found


def _views_of(profile: Profile) -> list[str]:
    """The views that a bound is measured under: the profile's, and after coreference."""
    return list(dict.fromkeys([RAW, *(v for v in profile.VIEWS if v in VIEWS), RESOLVED]))


def _view_texts(study: Study, retriever: Remembered, view: str) -> Texts:
    if view in (RAW, RESOLVED):
        return study.texts(view)
    budget, counter = retriever.budget()
    made = query_texts(study.turns, view, budget=budget, count_tokens=counter)
    return {t.query_id: t.text for t in made}


def measure_bounds(
    study: Study, searchers: Searchers, rng: np.random.Generator, views: Sequence[str] = ()
) -> list[tuple[str, Bound]]:
    """``(view, bound)`` of both bounds, for every retriever and view (default: all)."""
    candidates = study.candidates()
    voice = {q: texts[0] for q, texts in study.rewrites["author_voice"].items()}
    how: dict[str, Any] = {"gate": study.gates.oracle, "k": study.profile.K, **study.sure}
    found = []
    for name, retriever in searchers.by_name.items():
        for view in views or _views_of(study.profile):
            args = retriever, study.turns, study.benchmark.qrels
            own = {**how, "texts": searchers.views[name][view], "rng": rng}
            found.append((view, oracle_bound(*args, voice, **own)))
            found.append((view, best_of(*args, candidates, **own)))
    return found


def attribute_all(
    study: Study, searchers: Searchers, *, deep: int = DEPTH
) -> dict[tuple[str, str], Attribution]:
    """Labels of the failures by (retriever, text): of the raw turn and after coreference.

    ``deep`` is how far down a list a failure counts as found but ranked low, DEPTH at most.
    """
    return {
        (name, base): attribute(
            retriever,
            study.benchmark.passages,
            study.turns,
            study.benchmark.qrels,
            texts=study.texts(base),
            evidence=study.truth.evidence or None,
            words=study.words,
            k=study.profile.K,
            deep=deep,
            near_copy_min=study.gates.near_copy_min,
            least=study.gates.labels_min_examples,
        )
        for name, retriever in searchers.by_name.items()
        for base in (RAW, RESOLVED)
    }


def low_bounds(bounds: Sequence[tuple[str, Bound]]) -> list[tuple[str, str]]:
    """Retriever and view of each author-voice bound in the lowest tier."""
    return [(b.system, view) for view, b in bounds if b.name == "author_voice" and b.tier == LOW]


def look_instead(
    study: Study, searchers: Searchers, bounds: Sequence[tuple[str, Bound]]
) -> pd.DataFrame:
    """Chunk sizes and index parameters for every retriever and view whose bound is low.

    Retrievers whose encoder would need minutes for another cut of the corpus are left out.
    """
    tables = []
    for name, view in low_bounds(bounds):
        spec = searchers.by_name[name].spec
        if spec.kind not in CHEAP:
            continue
        plain: dict[str, Build] = {name: partial(searcher, name)}
        lexical = spec.kind == "lexical"
        table = look_at_index(
            study.benchmark.passages,
            study.turns,
            study.benchmark.qrels,
            bm25_parameters(spec, BM25_SETTINGS) if lexical else plain,
            [joined(study.benchmark.passages, size) for size in CHUNKS],
            texts=searchers.views[name][view],
            k=study.profile.K,
        )
        tables.append(table.assign(system=name, view=view))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def failure_files(
    study: Study, labels: Mapping[tuple[str, str], Attribution]
) -> dict[str, tuple[Path, Attribution, Attribution]]:
    """Write the failure set of each retriever to label, or read what people wrote into it.

    Returns
    -------
    dict
        Retriever -> its file, relative to the repository; the labels of the rules; and the same
        with people's labels where they gave any. A file with labels is never written over.
    """
    found = {}
    folder = paths.build(study.profile.tag) / "failures"
    for (system, base), own in labels.items():
        if base != RAW:
            continue
        path = folder / f"{system}.jsonl"
        if not path.is_file() or not _has_labels(path):
            folder.mkdir(parents=True, exist_ok=True)
            write_failures(path, own, study.turns, study.benchmark.qrels, study.truth.passages)
        given = read_failures(path).labels
        known = {q: label for q, label in given.items() if q in own.failures.index}
        name = Path("build", study.profile.tag, "failures", path.name)
        found[system] = (name, own, own.relabelled(known))
    return found


def _has_labels(path: Path) -> bool:
    found = read_failures(path)
    return bool(found.labels or found.disputed)
