"""Tables of the training of retrievers, and how far they may differ elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mtrlib.reporting.rvr_retrievers import Retrievers

# Weights trained on another processor differ in their last bits, and passages that score nearly
# the same then change places: about three questions of sixty may fall either way.
_TOLERATED = {
    0.06: ("value", "ci_low", "ci_high", "difference", "low", "high", "full", "better", "worse"),
    0.05: ("share", "cosine", "same_article", "new", "auc", "precision", "recall", "f1"),
    0.5: ("retrieved", "verified", "accepted", "accepted_gold", "new_gold", "new_answers"),
    1.0: ("p", "p_holm", "judged", "searches", "calls", "unread", "not_judged", "loss"),
    0.2: ("context", "context_answers", "answers_per_passage", "answers_per_accepted"),
}
TRAINED = {column: within for within, columns in _TOLERATED.items() for column in columns}


def availability(retrievers: Retrievers) -> list[str]:
    """One line per encoder that is left out, with the reason; says so where all are there."""
    said = [f"{name} left out: {why}" for name, why in retrievers.unavailable.items()]
    return said or [f"encoders: {', '.join(retrievers.trained)}"]


def curves_of(
    retrievers: Retrievers, encoder: str
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Curves and best steps of an encoder by recipe."""
    made = retrievers.trained[encoder]
    return (
        {recipe: found.curves for recipe, found in made.items()},
        {recipe: int(found.manifest["best_step"]) for recipe, found in made.items()},
    )


def training_table(retrievers: Retrievers, paper: Mapping[str, Any]) -> pd.DataFrame:
    """What every training run was, beside the paper's.

    Parameters
    ----------
    paper : values of the block ``rvr_training``.
    """
    rows = {}
    for encoder, recipes in retrievers.trained.items():
        for recipe, found in recipes.items():
            manifest, settings = found.manifest, found.manifest["settings"]
            rows[f"{encoder}, {recipe}"] = {
                "steps run": str(manifest["steps_run"]),
                "step kept": str(manifest["best_step"]),
                "questions a step": str(settings["batch"]),
                "rate": f"{settings['rate']:g}",
                "temperature": f"{settings['temperature']:g}",
                "M": str(settings["context"]),
                "tokens": str(settings["max_length"]),
                "weights trained": f"{manifest['trainable_weights']:,}",
                "false negatives masked": str(manifest["masked_pairs"]),
                "base": manifest["base_sha256"][:12],
            }
    rows["paper"] = {
        "steps run": f"{paper['steps']:,}",
        "questions a step": f"{paper['batch_per_gpu']} x {paper['grad_accumulation']} on each GPU",
        "rate": f"{paper['lr']:g}",
        "temperature": f"{paper['temperature']:g}",
    }
    table = pd.DataFrame.from_dict(rows, orient="index").fillna("–")
    return table.rename_axis("run")


def tidy_curves(curves: Mapping[str, pd.DataFrame], best: Mapping[str, int]) -> pd.DataFrame:
    """Curves of all recipes in one long table: ``recipe, step, series, value, kept``."""
    parts = []
    for recipe, curve in curves.items():
        long = curve.astype({"step": int}).melt("step", var_name="series").dropna()
        parts.append(long.assign(recipe=recipe, kept=long["step"] == best[recipe]))
    table = pd.concat(parts, ignore_index=True)
    return table[["recipe", "step", "series", "value", "kept"]]
