"""Fit so that nothing is judged by a model that saw its conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from mtrlib.audit.judged_pairs import conversation_folds

ALL = -1  # "fold" of the model that saw everything


class CrossFitted:
    """One model per fold that did not see the fold, and one that saw everything.

    Parameters
    ----------
    frame : features, shape (n_pairs, n_features), indexed by ``(item_id, passage_id)``; rows
        may come in any order.
    labels, conversations : of each row, shape (n_pairs,).
    fit : features and labels -> a model with ``predict_proba``.

    Attributes
    ----------
    trained_on : fold -> the conversations that its model saw.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        labels: np.ndarray,
        conversations: np.ndarray,
        fit: Callable[[pd.DataFrame, np.ndarray], Any],
        *,
        seed: int,
    ) -> None:
        order = sorted(range(len(frame)), key=frame.index.__getitem__)
        frame, labels, conversations = frame.iloc[order], labels[order], conversations[order]
        self._fold_of = conversation_folds(conversations, seed)
        folds = np.array([self._fold_of[c] for c in conversations])
        seen = {fold: folds != fold for fold in sorted(set(folds.tolist()))}
        seen[ALL] = np.ones(len(folds), dtype=bool)
        self.trained_on = {f: frozenset(conversations[rows].tolist()) for f, rows in seen.items()}
        self._models = {f: fit(frame[rows], labels[rows]) for f, rows in seen.items()}

    def fold(self, conversation_id: str) -> int:
        """Whose model judges a conversation: that of its fold, or ``ALL`` for a new one."""
        return self._fold_of.get(conversation_id, ALL)

    def predict(self, frame: pd.DataFrame, conversations: Sequence[str]) -> np.ndarray:
        """Probability of each pair by the model that did not see it, shape (n_pairs,)."""
        folds = np.array([self.fold(c) for c in conversations])
        found = np.empty(len(frame))
        for fold in np.unique(folds):
            found[folds == fold] = self.predict_by(fold, frame[folds == fold])
        return found

    def predict_by(self, fold: int, frame: pd.DataFrame) -> np.ndarray:
        """Probability of each pair by one model, whatever it saw."""
        return np.asarray(self._models[fold].predict_proba(frame)[:, 1])
