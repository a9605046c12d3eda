"""Tables of notebooks 07 and 08, made of the records of :mod:`mtrlib.rewriting`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from mtrlib.reporting.rewriting_run import Searchers
from mtrlib.reporting.rewriting_study import Study
from mtrlib.reporting.rewriting_trials import Key, Trials
from mtrlib.rewriting.conditions import condition_table
from mtrlib.rewriting.costs import cost_table, reasons
from mtrlib.rewriting.decisions import Decision, decision_table
from mtrlib.rewriting.labels import Attribution
from mtrlib.rewriting.net_benefit import net_table, noise_story
from mtrlib.rewriting.tiers import Bound, bound_table

KEY = ["system", "before_it", "method"]


def about(study: Study, searchers: Searchers) -> list[str]:
    """Lines that say what is rewritten, by whom, and what is left out or failed."""
    turns = study.turns
    gold = sum(bool(study.benchmark.qrels.gold(t.query_id)) for t in turns)
    asked = sum(study.resolved[t.query_id] != t.raw_utterance for t in turns)
    said = [
        f"mode: measured; {study.benchmark.name}: {len(turns)} turns of "
        f"{len(study.benchmark.conversations)} conversations, {gold} with gold, "
        f"{len(turns) - gold} without (left out of every mean)",
        f"rewriter: {study.rewriter.name}; coreference changes {asked} turns; thresholds: "
        f"{study.gates.source}; similarity of variants: {study.vectors_from}",
    ]
    said += [
        f"{kind}: {len(lost)} unusable ({'; '.join(sorted(set(lost.values())))})"
        for kind, lost in study.failed.items()
        if lost
    ]
    said += [f"{name} is left out: {why}" for name, why in searchers.unavailable.items()]
    return said


def bounds_table(bounds: Sequence[tuple[str, Bound]]) -> pd.DataFrame:
    """One row per retriever, view and bound; without the sentences."""
    found = bound_table([b for _, b in bounds], [view for view, _ in bounds])
    return found.drop(columns="verdict")


def shown_bounds(table: pd.DataFrame) -> pd.DataFrame:
    """The bounds to read, author_voice and best_of side by side: ``+12.3 [+8.0, +16.5]``."""
    ends = zip(table["points"], table["ci_low"], table["ci_high"], strict=True)
    text = [f"{p:+.1f} [{low:+.1f}, {high:+.1f}]" for p, low, high in ends]
    wins = table["gained"].astype(str) + "/" + table["lost"].astype(str)
    own = table.assign(points=text, wins=wins + "/" + table["same"].astype(str))
    wide = own.pivot(index=["system", "view"], columns="bound", values=["points", "wins", "tier"])
    order = table[["system", "view"]].drop_duplicates().itertuples(index=False, name=None)
    wide.columns = wide.columns.map(", ".join)
    return wide.reindex(list(order))


def label_counts(labels: Mapping[tuple[str, str], Attribution]) -> pd.DataFrame:
    """Failures per retriever, text and label, with the remedy; near copies and n beside them."""
    tables = [
        found.counts()
        .reset_index()
        .assign(
            system=system,
            text=base,
            failures=len(found.failures),
            queries=found.n_queries,
            near_copies=found.n_near_copy,
        )
        for (system, base), found in labels.items()
    ]
    return pd.concat(tables, ignore_index=True)


def label_matrix(labels: Mapping[tuple[str, str], Attribution]) -> pd.DataFrame:
    """Failures that carry both labels, all retrievers below each other."""
    tables = {key: found.matrix().rename_axis("label") for key, found in labels.items()}
    return pd.concat(tables, names=["system", "text"])


def decisions(found: Mapping[Key, Decision]) -> pd.DataFrame:
    """One row per decision, numbers and verdict; sentences are printed apart."""
    table = decision_table(list(found.values()))
    keys = pd.DataFrame(list(found), columns=KEY)
    return pd.concat(
        [keys, table.drop(columns=["method", "system", "seconds", "why", "change"])], axis=1
    )


def conditions(found: Mapping[Key, Decision]) -> pd.DataFrame:
    """Every condition of every decision."""
    tables = {key: condition_table(d.conditions) for key, d in found.items() if d.conditions}
    joined = pd.concat(tables, names=[*KEY, ""]).reset_index(level=KEY)
    return joined.reset_index(drop=True)


def verdicts(found: Mapping[Key, Decision]) -> pd.DataFrame:
    """Verdicts to read: method and what stood before it, by retriever."""
    table = decisions(found)
    wide = table.pivot(index=["before_it", "method"], columns="system", values="verdict")
    rows = table[["before_it", "method"]].drop_duplicates().itertuples(index=False, name=None)
    return wide.reindex(list(rows))[list(dict.fromkeys(table["system"]))]


def nets(found: Mapping[Key, Decision]) -> pd.DataFrame:
    """Net benefit in both readings, one row per trial that was used for any query."""
    tables = {
        key: net_table({reading: b for reading, b in d.net.items()}).drop(columns="what")
        for key, d in found.items()
        if d.net
    }
    return pd.concat(tables, names=[*KEY, ""]).reset_index(level=KEY).reset_index(drop=True)


def noise(trials: Trials) -> pd.DataFrame:
    """Per trial, whether Recall@20 rises while nDCG@5 falls, and in how many queries."""
    found = noise_story({str(i): trial.table for i, trial in enumerate(trials.values())})
    keys = pd.DataFrame(list(trials), columns=KEY)
    return pd.concat([keys, found.drop(columns="method")], axis=1)


def costs(trials: Trials) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Calls and searches per query, the same everywhere; and seconds, for a cell not compared."""
    found = cost_table({str(i): trial.run for i, trial in enumerate(trials.values())})
    keys = pd.DataFrame(list(trials), columns=KEY)
    table = pd.concat([keys, found.drop(columns=["method", "system"])], axis=1)
    seconds = [c for c in table if "seconds" in str(c)]
    return table.drop(columns=seconds), table[[*KEY, *seconds]].set_index(KEY)


def why_off(trials: Trials) -> pd.DataFrame:
    """Queries for which each method was used, off or failed, by reason; gates look at texts, so
    one retriever tells of all, vetoes by overlap aside.
    """
    tables = {key: reasons(trial.run) for key, trial in trials.items()}
    return pd.concat(tables, names=[*KEY, ""]).reset_index(level=KEY).reset_index(drop=True)


def shown_hubs(table: pd.DataFrame) -> pd.DataFrame:
    """In how many other conversations' lists a passage stands (mean), by how it was found."""
    rows = table[KEY].drop_duplicates().itertuples(index=False, name=None)
    wide = table.pivot(index=KEY, columns="found_by", values="other_conversations")
    rates = table.drop_duplicates(KEY).set_index(KEY)[["in_prompt_rate", "reading"]]
    return wide[list(dict.fromkeys(table["found_by"]))].join(rates).reindex(list(rows))


def shown_comparison(table: pd.DataFrame) -> pd.DataFrame:
    """Changes in points with intervals: a column per row that is no rewriting, and measure."""
    ends = zip(table["points"], table["ci_low"], table["ci_high"], strict=True)
    own = table.assign(text=[_span(*found, 1) for found in ends])
    index = ["system", "before_it", "queries", "n"]
    rows = own[index].drop_duplicates().itertuples(index=False, name=None)
    wide = own.pivot(index=index, columns=["what", "measure"], values="text")
    wide.columns = wide.columns.map(", ".join)
    return wide.reindex(list(rows))


def spans(table: pd.DataFrame, measures: Sequence[str], *, scale: float = 100) -> pd.DataFrame:
    """Chosen measures of :func:`mtrlib.reporting.rewriting_trials.summaries` to read."""
    own = table[table["measure"].isin(measures) & table["n"].gt(0)]
    text = [_span(r["value"], r["ci_low"], r["ci_high"], scale) for r in own.to_dict("records")]
    wide = own.assign(text=text).pivot(index=KEY, columns="measure", values="text").fillna("–")
    rows = own[KEY].drop_duplicates().itertuples(index=False, name=None)
    return wide.reindex(list(rows))[[m for m in measures if m in wide]]


def _span(value: float, low: float, high: float, scale: float) -> str:
    if math.isnan(value):
        return "–"
    ends = "" if math.isnan(low) else f" [{scale * low:.1f}, {scale * high:.1f}]"
    return f"{scale * value:.1f}{ends}"
