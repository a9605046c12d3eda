"""Every method of query rewriting tried on every retriever: what notebook 08 is made of."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.reporting.rewriting_run import Searchers
from mtrlib.reporting.rewriting_study import RAW, RESOLVED, Study
from mtrlib.rewriting.contamination import contamination_rate
from mtrlib.rewriting.coreference import over_completion
from mtrlib.rewriting.decisions import Decision, decide
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


def _hyde_methods(study: Study) -> dict[str, Hyde]:
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
    """Every way of ``_hyde_methods``, after coreference."""
    return _run_each(study, searchers, RESOLVED, _hyde_methods(study))


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
    hyde, gate = _hyde_methods(study)[WIDE], study.gates.hyde.contamination_careful_above
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


def _keyed(table: pd.DataFrame, key: Key) -> pd.DataFrame:
    for i, (name, value) in enumerate(zip(("system", "before_it", "method"), key, strict=True)):
        table.insert(i, name, value)
    return table
