"""Every method of query rewriting tried on every retriever: what notebook 08 is made of."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.data.schema import Run
from mtrlib.errors import FetchError
from mtrlib.reporting.rewriting_run import DEPTH, RAW, RESOLVED, Searchers, Study
from mtrlib.retrieval.fusion import fuse_runs
from mtrlib.retrieval.lexical import tokenize
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.rewriting.comparison import Scorer, comparison_rows, reranked
from mtrlib.rewriting.contamination import contamination_rate
from mtrlib.rewriting.coreference import over_completion
from mtrlib.rewriting.decisions import Decision, decide
from mtrlib.rewriting.diversity import Vectors, encoder_vectors, token_vectors
from mtrlib.rewriting.gate_conditions import in_prompt_reading
from mtrlib.rewriting.harness import measured, summary
from mtrlib.rewriting.hubness import hubness
from mtrlib.rewriting.hyde import Hyde, with_careful
from mtrlib.rewriting.interaction import effect_by_label, interaction_table, run_pairs
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.methods import MethodRun, apply_method
from mtrlib.rewriting.plans import Method
from mtrlib.rewriting.rules_rewriter import RulesRewriter
from mtrlib.rewriting.standard import standard_fusion
from mtrlib.rewriting.tiers import Bound
from mtrlib.rewriting.truth import licensed_texts

COREFERENCE, HYDE = "coreference", "hyde"
WIDE = "hyde, any length or word"  # its gate left open for all but exact and two-sided queries
RERANKER = "static-256"  # cosine of the cheap reranker, beside shared words
HYBRID = "hybrid"

Key = tuple[str, str, str]  # retriever, what stood before (last_turn or coreference), label


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
    """One method applied by one retriever, and what it changed per query with gold."""

    run: MethodRun
    table: pd.DataFrame


Trials = dict[Key, Trial]


def _trial(study: Study, run: MethodRun) -> Trial:
    return Trial(run, measured(run, study.truth))


def run_methods(study: Study, searchers: Searchers) -> Trials:
    """Each method alone on the raw turn, and the later three after coreference as well."""
    fusion = standard_fusion(study.gates)
    found: Trials = {}
    for base in (RAW, RESOLVED):
        methods = study.methods()
        for name, retriever in searchers.by_name.items():
            for label, method in methods.items():
                if base == RESOLVED and label == COREFERENCE:
                    continue
                run = apply_method(
                    method, retriever, study.turns, texts=study.texts(base), fusion=fusion
                )
                found[name, base, label] = _trial(study, run)
    return found


def run_all_pairs(study: Study, searchers: Searchers, alone: Trials) -> Trials:
    """Every pair as a chain on the raw turn, beside the methods alone."""
    fusion, methods = standard_fusion(study.gates), list(study.methods().values())
    found: Trials = {}
    for name, retriever in searchers.by_name.items():
        runs = run_pairs(methods, retriever, study.turns, fusion=fusion)
        for steps, run in runs.items():
            label = " + ".join(steps)
            known = alone.get((name, RAW, label))
            found[name, RAW, label] = known or _trial(study, run)
    return found


def run_keeping(study: Study, searchers: Searchers) -> Trials:
    """Coreference with each way of keeping the original, and by the rules rewriter."""
    made: dict[str, Method] = {
        f"{COREFERENCE}, original {keep}": study.methods(keep_original=keep)[COREFERENCE]
        for keep in ("always", "low_confidence", "never")
    }
    made[f"{COREFERENCE}, rules"] = study.methods(RulesRewriter())[COREFERENCE]
    return _run_each(study, searchers, RAW, made)


def hyde_methods(study: Study) -> dict[str, Hyde]:
    """HyDE with and without its signs of short and vague queries, full and careful text."""
    gated = study.methods()[HYDE]
    assert isinstance(gated, Hyde)
    long = dataclasses.replace(gated, short=False)
    wide = dataclasses.replace(long, domain=False)
    return {
        "hyde, careful": dataclasses.replace(gated, careful=True),
        "hyde, any length": long,
        WIDE: wide,
        f"{WIDE}, careful": dataclasses.replace(wide, careful=True),
    }


def run_hyde(study: Study, searchers: Searchers) -> Trials:
    """Every way of :func:`hyde_methods`, after coreference."""
    return _run_each(study, searchers, RESOLVED, hyde_methods(study))


def _run_each(
    study: Study, searchers: Searchers, base: str, methods: Mapping[str, Method]
) -> Trials:
    fusion = standard_fusion(study.gates)
    return {
        (name, base, label): _trial(
            study,
            apply_method(method, retriever, study.turns, texts=study.texts(base), fusion=fusion),
        )
        for name, retriever in searchers.by_name.items()
        for label, method in methods.items()
    }


def careful_switch(study: Study, searchers: Searchers) -> pd.DataFrame:
    """Per retriever, whether contamination asks for the careful text, with the gate left open."""
    hyde, gate = hyde_methods(study)[WIDE], study.gates.hyde.contamination_careful_above
    queries = [t.query_id for t in study.turns if study.benchmark.qrels.gold(t.query_id)]
    known, passages = licensed_texts(study.truth, queries), study.truth.mentions
    how: dict[str, Any] = {
        "texts": study.texts(RESOLVED),
        "fusion": standard_fusion(study.gates),
    }
    rows = []
    for name, retriever in searchers.by_name.items():
        first, careful = with_careful(
            hyde, retriever, study.turns, known, passages, above=gate, **how
        )
        rates = [contamination_rate(run, known, passages) if run else math.nan
                 for run in (first, careful)]  # fmt: skip
        rows.append((name, len(first.used), rates[0], careful is not None, rates[1]))
    columns = ["system", "used", "contamination", "switched", "contamination_careful"]
    return pd.DataFrame(rows, columns=columns)


def summaries(trials: Trials, study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """Measures of every trial with intervals, over the queries that the method was used for."""
    tables = []
    for key, trial in trials.items():
        used = trial.table[trial.table["used"].astype(bool)]
        found = summary(used, study.truth.groups, **study.sure, rng=rng).reset_index()
        tables.append(_keyed(found, key))
    return pd.concat(tables, ignore_index=True)


def decide_all(
    trials: Trials,
    study: Study,
    bounds: Iterable[tuple[str, Bound]],
    labels: Mapping[tuple[str, str], Attribution],
    rng: np.random.Generator,
) -> dict[Key, Decision]:
    """A decision per trial, by the gate of the method that the label begins with."""
    bound_of = {(b.system, view): b for view, b in bounds if b.name == "author_voice"}
    return {
        (system, base, label): decide(
            label.split(",")[0],
            trial.table,
            study.truth.groups,
            study.gates,
            system=system,
            bound=bound_of.get((system, base)),
            attribution=labels.get((system, base)),
            **study.sure,
            rng=rng,
        )
        for (system, base, label), trial in trials.items()
    }


def interactions(trials: Trials, study: Study, rng: np.random.Generator) -> pd.DataFrame:
    """What every pair gains beyond the sum of its parts, in Recall@20 and in nDCG@5."""
    tables = []
    for system in dict.fromkeys(key[0] for key in trials):
        own = {
            tuple(label.split(" + ")): trial.table
            for (name, base, label), trial in trials.items()
            if name == system and base == RAW
        }
        for measure in ("recall", "ndcg"):
            found = interaction_table(
                own, study.truth.groups, measure=measure, **study.sure, rng=rng
            )
            tables.append(found.assign(system=system, measure=measure))
    return pd.concat(tables, ignore_index=True)


def label_effects(
    trials: Trials,
    labels: Mapping[tuple[str, str], Attribution],
    study: Study,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """ΔRecall@20 of every method per label of the failures before it."""
    tables = []
    for (system, base), found in labels.items():
        own = {k[2]: t.table for k, t in trials.items() if k[:2] == (system, base)}
        if own:
            table = effect_by_label(own, found, study.truth.groups, **study.sure, rng=rng)
            tables.append(table.assign(system=system, before=base))
    return pd.concat(tables, ignore_index=True)


def hubs(trials: Trials, study: Study) -> pd.DataFrame:
    """Hubness of what each method brings, beside its in-prompt rate."""
    tables, gate = [], study.gates.multi_query
    for key, trial in trials.items():
        used = trial.table[trial.table["used"].astype(bool)]
        if used.empty:
            continue
        new = used["new"].sum()
        rate = used["new_in_prompt"].sum() / new if new else float("nan")
        found = hubness(trial.run, study.truth.groups).reset_index()
        tables.append(
            _keyed(found.assign(in_prompt_rate=rate, reading=in_prompt_reading(rate, gate)), key)
        )
    return pd.concat(tables, ignore_index=True)


def reviews(trials: Trials, study: Study) -> pd.DataFrame:
    """Over-completion of coreference: entities filled in, and cases for review, per retriever."""
    rows = []
    above = study.gates.coreference.over_completion_above
    for (system, base, label), trial in trials.items():
        if label != COREFERENCE or base != RAW:
            continue
        found = over_completion(trial.run, study.truth.mentions, above=above)
        flagged = found[found["review"].astype(bool)]
        hit = trial.table["recall_after"].reindex(flagged["query_id"]).fillna(0).gt(0).mean()
        mean = found["share"].mean()
        rows.append((system, len(found), mean, len(flagged), flagged["query_id"].nunique(), hit))
    columns = ["system", "entities", "mean_share", "for_review", "queries", "of_these_with_gold"]
    return pd.DataFrame(rows, columns=columns)


def cheap_scorer(study: Study) -> Scorer:
    """A reranker without a cross-encoder: shared words by idf, and a static cosine, summed.

    Both lie in [0, 1] or nearly; no weight was tuned. Without the static model, words alone.
    """
    vectors: Vectors
    try:
        vectors = encoder_vectors(RERANKER)
        vectors(["?"])
    except FetchError:
        vectors = token_vectors

    tokens: dict[str, frozenset[str]] = {}

    def scores(pairs: Sequence[tuple[str, str]]) -> list[float]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not texts:
            return []
        tokens.update({t: frozenset(tokenize(t)) for t in texts if t not in tokens})
        idf = {q: study.words.idf(tokens[q]) for q in dict.fromkeys(q for q, _ in pairs)}
        whole = {q: math.fsum(own.values()) or 1.0 for q, own in idf.items()}
        found = np.asarray(vectors(texts), dtype=float)  # (n_texts, dimension)
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)
        row = {text: i for i, text in enumerate(texts)}
        return [
            float(found[row[q]] @ found[row[p]])
            + math.fsum(idf[q][t] for t in tokens[q] & tokens[p]) / whole[q]
            for q, p in pairs
        ]

    return scores


def comparisons(
    study: Study,
    searchers: Searchers,
    labels: Mapping[tuple[str, str], Attribution],
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Rows that are no rewriting: hybrid search and a cheap reranker, before any rewriting.

    Over all queries with gold, and over those whose failure is labelled ``ranking``.
    """
    scorer, how = cheap_scorer(study), {**study.sure, "rng": rng}
    hybrid, top = _hybrid(study, searchers), study.gates.fusion.top_n
    tables = []
    for base in (RAW, RESOLVED):
        for name, retriever in searchers.by_name.items():
            texts = study.texts(base)
            before = retriever.search(texts, top)
            again = reranked(
                retriever, study.turns, study.truth.passages, scorer, texts=texts, top_n=top
            )
            others = {"reranker": again, **({HYBRID: hybrid[base]} if hybrid else {})}
            for which in ("all", "ranking"):
                only = labels[name, base].queries("ranking") if which == "ranking" else None
                if only == []:
                    continue
                found = comparison_rows(
                    before, others, study.benchmark.qrels, study.truth.groups, only=only, **how
                )
                tables.append(found.assign(system=name, before_it=base, queries=which))
    return pd.concat(tables, ignore_index=True)


def _hybrid(study: Study, searchers: Searchers) -> dict[str, Run]:
    """Fused runs by what stood before; empty where a part of the hybrid is missing."""
    spec = retriever_spec(HYBRID)
    if not set(spec.parts) <= set(searchers.by_name):
        return {}
    return {
        base: fuse_runs(
            [searchers.by_name[part].search(study.texts(base), DEPTH) for part in spec.parts],
            system=HYBRID,
            k=spec.rrf_k,
            depth=DEPTH,
        )
        for base in (RAW, RESOLVED)
    }


def _keyed(table: pd.DataFrame, key: Key) -> pd.DataFrame:
    for i, (name, value) in enumerate(zip(("system", "before_it", "method"), key, strict=True)):
        table.insert(i, name, value)
    return table


def flat(found: Mapping[Key, Any]) -> dict[str, Any]:
    """The same with one text per key, for tables that take labels."""
    return {", ".join(key): value for key, value in found.items()}
