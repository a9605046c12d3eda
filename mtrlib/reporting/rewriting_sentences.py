"""Plain sentences of notebooks 07 and 08, made of the numbers of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from mtrlib.reporting.rewriting_run import low_bounds
from mtrlib.reporting.rewriting_study import RAW, RESOLVED
from mtrlib.reporting.rewriting_trials import COREFERENCE, HYDE, Key
from mtrlib.rewriting.decisions import Decision, next_launch
from mtrlib.rewriting.interaction import FOUND
from mtrlib.rewriting.labels import REMEDY, Attribution
from mtrlib.rewriting.next_step import next_step
from mtrlib.rewriting.tiers import Bound

SAID_TO_HELP = {
    "coreference": "missing_context",
    "decomposition": "underspecified",
    "multi_query": "vocabulary_mismatch",
    "hyde": "expression_gap",
}


def bound_sentences(bounds: Sequence[tuple[str, Bound]], views: Sequence[str]) -> list[str]:
    """Per retriever and view, the author-voice bound with its tier at value and both ends."""
    said = []
    for view, b in bounds:
        if b.name != "author_voice" or view not in views:
            continue
        p = b.points
        said.append(
            f"{b.system}, {view}: Recall@{b.k} {100 * b.before.mean():.1f} to "
            f"{100 * b.after.mean():.1f}, {p.value:+.1f} [{p.low:+.1f}, {p.high:+.1f}] points; "
            f"n = {p.n}: {p.n_gained} gained, {p.n_lost} lost, {p.n_same} same; "
            f"{len(b.fell_back)} fell back, {b.n_without_gold} without gold; "
            f"tier {b.tier} (ends: {b.tier_low or '–'}, {b.tier_high or '–'}): {b.verdict}"
        )
    return said


def next_lines(
    bounds: Sequence[tuple[str, Bound]], labels: Mapping[tuple[str, str], Attribution]
) -> list[str]:
    """What to do next, one line per retriever: for the raw turn, and after coreference."""
    bound_of = {(b.system, view): b for view, b in bounds if b.name == "author_voice"}
    said = []
    for system in dict.fromkeys(s for s, _ in labels):
        parts = {base: next_step(bound_of[system, base], labels[system, base])
                 for base in (RAW, RESOLVED)}  # fmt: skip
        said.append(f"{system}: {parts[RAW]}. After coreference: {parts[RESOLVED]}")
    return said


def look_sentence(bounds: Sequence[tuple[str, Bound]], looked: pd.DataFrame) -> str:
    """Whether a look at chunks and index parameters is needed, and for what it was taken."""
    low = low_bounds(bounds)
    if not low:
        return "chunk size and index parameters: not needed, no bound is in the lowest tier"
    named = ", ".join(f"{system} ({view})" for system, view in low)
    seen = set(zip(looked["system"], looked["view"], strict=True)) if len(looked) else set()
    left = ", ".join(f"{system} ({view})" for system, view in low if (system, view) not in seen)
    tail = f"; not looked at, since another cut must be encoded: {left}" if left else ""
    return f"bound in the lowest tier: {named}{tail}"


def failure_lines(files: Mapping[str, tuple[Any, Attribution, Attribution]]) -> list[str]:
    """Per retriever, where its failure set lies and how many of its labels people changed."""
    said = []
    for system, (path, before, after) in files.items():
        changed = int((before.failures["primary"] != after.failures["primary"]).sum())
        n = len(before.failures)
        said.append(
            f"{system}: {path.as_posix()}, {n} failures; {changed} labels changed by people"
        )
    return said


def decision_lines(found: Mapping[Key, Decision]) -> list[str]:
    """Per decision: verdict, the numbers that decided it, and what would change it."""
    return [
        f"{system}, {_after(base)}{label}: {d.verdict.upper()}, used for {d.n_used} of "
        f"{d.n_queries}, fell back for {d.n_fell_back}. Decided by: {d.why}. "
        f"Would change it: {d.change}"
        for (system, base, label), d in found.items()
    ]


def launch_lines(found: Mapping[Key, Decision]) -> list[str]:
    """Per retriever the one method to admit next; on the raw turn, and once coreference is on."""
    said = []
    for system in dict.fromkeys(key[0] for key in found):
        parts = {
            base: next_launch([d for k, d in found.items() if k[0] == system and k[1] == base])
            for base in (RAW, RESOLVED)
        }
        said.append(f"{system}: next {parts[RAW]}. After coreference: {parts[RESOLVED]}")
    return said


def label_lines(effects: pd.DataFrame) -> list[str]:
    """Per method and retriever: does it help the label it is said to help?

    Parameters
    ----------
    effects : of :func:`mtrlib.reporting.rewriting_trials.label_effects`.
    """
    said = []
    for method, label in SAID_TO_HELP.items():
        base = RAW if method == COREFERENCE else RESOLVED
        own = effects[(effects["method"] == method) & (effects["before"] == base)]
        rest = own[own["label"] == FOUND].set_index("system")
        for row in own[own["label"] == label].to_dict("records"):
            lost = rest["points"].get(row["system"])
            note = f" ({row['note']})" if row["note"] else ""
            kept = f"; queries found before {lost:+.1f}" if lost is not None else ""
            said.append(
                f"{row['system']}, {_after(base)}{method} on {label}: {row['points']:+.1f} points, "
                f"used for {row['used']} of n = {row['n']}{note}{kept}"
            )
        absent = [s for s in dict.fromkeys(own["system"]) if s not in
                  set(own.loc[own["label"] == label, "system"])]  # fmt: skip
        if absent:
            said.append(f"{', '.join(absent)}: no failure is labelled {label} ({REMEDY[label]})")
    return said


def noise_lines(noise: pd.DataFrame) -> list[str]:
    """Where more gold is found while the top gets worse; or that it occurs nowhere."""
    there = noise[noise["occurs"].astype(bool)]
    said = [
        f"{r['system']}, {_after(r['before_it'])}{r['method']}: "
        f"Recall@20 {r['recall_points']:+.1f}, nDCG@5 {r['ndcg_points']:+.1f} points over {r['n']} "
        f"queries; in {r['queries']} single queries"
        for r in there.to_dict("records")
    ]
    total, single = len(noise), int(noise["queries"].sum())
    head = (
        f"Recall@20 up and nDCG@5 down: in the means of {len(there)} of {total} trials, in "
        f"{single} single queries"
    )
    return [head, *said]


def keeping_lines(found: Mapping[Key, Decision]) -> list[str]:
    """Per way of keeping the original: net benefit by retriever."""
    said = []
    for label in dict.fromkeys(key[2] for key in found):
        shown = [f"{system} {_net(d)}" for (system, _, name), d in found.items() if name == label]
        said.append(f"{label}: net {', '.join(shown)}")
    return said


def hyde_lines(off: pd.DataFrame) -> list[str]:
    """Why HyDE keeps out: queries by reason, for the raw turn and after coreference."""
    own = off[(off["method"] == HYDE) & (off["system"] == off["system"].iloc[0])]
    return [
        f"{HYDE}, {'after coreference' if base == RESOLVED else 'on the raw turn'}, turns: "
        + ", ".join(f"{r['why'] or r['what']} {r['queries']}" for r in part.to_dict("records"))
        for base, part in own.groupby("before_it", sort=False)
    ]


def real_lines(real: Mapping[str, pd.DataFrame]) -> list[str]:
    """What ``make real`` measured on MTRAG, with its date; says so where there is nothing."""
    if "rewriting_mtrag" not in real:
        return ["nothing measured here yet: `make real` needs MTR_REAL_DATA"]
    table = real["rewriting_mtrag"]
    said = [f"MTRAG, measured on {table.attrs['date']}: last turn against LLM rewrite"]
    said += [
        f"{r['system']}, {r['what']}: {r['value']:.1f} "
        f"[{r['ci_low']:.1f}, {r['ci_high']:.1f}], n = {r['n']}: {r['reading']}"
        for r in table.to_dict("records")
    ]
    return said


def _after(base: str) -> str:
    return "after coreference " if base == RESOLVED else ""


def _net(d: Decision) -> str:
    if not d.net:
        return "–"
    b = d.net["points"]
    return f"{b.value:+.1f} [{b.low:+.1f}, {b.high:+.1f}] (n = {b.n}, {d.verdict})"
