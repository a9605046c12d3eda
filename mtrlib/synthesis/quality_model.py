"""Quality by a text-classification model: any that ``transformers`` can load by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.quality import Decision


@dataclass(frozen=True)
class ClassifierQuality:
    """Keep passages that a classifier gives ``label`` with at least ``threshold``.

    Attributes
    ----------
    model : a local folder, or a hub name (in the profile ``paper``; the others are offline).
    threshold : least score of the label that stays, on the scale that ``activation`` makes.
    label : as the model's configuration calls it; empty for a model with one output.
    activation : ``softmax`` over labels, ``sigmoid`` for one output, or ``none`` for the raw
        output, as of a model that was trained to predict a grade.
    revision : commit of a hub model.
    max_length : tokens read from the start of a passage; the published pipeline reads 512.
    batch_size : passages at a time.

    Notes
    -----
    The published pipeline keeps what one model labels 0 and another grades above 1.9. A model
    whose repository brings code of its own is not run; load it elsewhere and pass an object
    with ``name`` and ``keep`` (see :class:`mtrlib.synthesis.quality.QualityFilter`).

    Examples
    --------
    >>> grade = ClassifierQuality("models/edu-grade", threshold=1.9, activation="none")
    >>> grade.name
    'models/edu-grade'
    """

    model: str
    threshold: float
    label: str = ""
    activation: Literal["softmax", "sigmoid", "none"] = "softmax"
    revision: str | None = None
    max_length: int = 512
    batch_size: int = 16

    @property
    def name(self) -> str:
        """The model and its label."""
        return f"{self.model} {self.label}".strip()

    def keep(self, passages: Sequence[Passage]) -> list[Decision]:
        """Score each passage's text.

        Raises
        ------
        InputError
            The model cannot be loaded, or has no such label.
        """
        if not passages:
            return []
        classify = _pipeline(self.model, self.revision)
        answers = classify(
            [p.text for p in passages],
            top_k=None,
            function_to_apply=self.activation,
            truncation=True,
            max_length=self.max_length,
            batch_size=self.batch_size,
        )
        return [self._decision({a["label"]: float(a["score"]) for a in row}) for row in answers]

    def _decision(self, scores: dict[str, float]) -> Decision:
        label = self.label or (next(iter(scores)) if len(scores) == 1 else "")
        if label not in scores:
            known = ", ".join(sorted(scores))
            raise InputError(f"{self.model}: no label {label!r}. Mend: label= one of {known}.")
        score = scores[label]
        if score >= self.threshold:
            return Decision(True, score)
        said = self.label or "grade"
        return Decision(False, score, f"{said} {score:.3g} < {self.threshold:g}")


@lru_cache(maxsize=2)
def _pipeline(model: str, revision: str | None) -> Any:
    from transformers import pipeline

    try:
        return pipeline("text-classification", model=model, revision=revision, device="cpu")
    except (OSError, ValueError) as error:
        raise InputError(
            f"quality model {model!r} cannot be loaded ({type(error).__name__}). Mend: give a "
            "local folder with model and tokenizer; hub names need the profile `paper`."
        ) from error
