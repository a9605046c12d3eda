"""The settings of a training run: all that its result hangs on, beside data and base model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from mtrlib.errors import InputError
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.examples import RECIPES, Recipe


@dataclass(frozen=True)
class TrainingSettings:
    """One training run. Defaults are for a CPU; the paper's stand in brackets.

    Attributes
    ----------
    recipe : ``initial`` (D_i), ``later`` (D_r) or ``joint`` (both).
    steps : optimiser steps, one batch each, so the rate moves once per step (trap 20) [50,000,
        unit not stated].
    batch : questions a step [384 candidates over four devices].
    rate : peak learning rate of AdamW, per backbone [1e-4 Contriever, 5e-6 Qwen3].
    warmup : share of the steps in which the rate rises; then it falls to 0 [1,000 steps].
    temperature : tau of InfoNCE [0.05].
    context : M, gold passages in a context at most [3 Contriever, 6 Qwen3 and INF].
    max_length : tokens of a text in training; longer ones are cut, contexts evenly.
    negatives : explicit random negatives a question; 0 = in-batch alone, half the cost [1].
    frozen_layers : embeddings and this many lower layers stay as they are; None trains all
        [None].
    lora_rank : rank of LoRA adapters, needs peft; 0 trains the weights themselves.
    mini_batch : texts embedded at a time under gradient caching; 0 = off.
    check_every : steps between two looks at dev; the first is before step 1.
    patience : looks without a better dev value before training stops early.
    stop_on : dev value that decides, ``loss`` (lower is better) or ``recall`` (higher).
    seed : of examples, their order, dropout and adapters.
    """

    recipe: Recipe = "initial"
    steps: int = 80
    batch: int = 16
    rate: float = 3e-5
    warmup: float = 0.1
    temperature: float = 0.05
    context: int = 3
    max_length: int = 160
    negatives: int = 0
    frozen_layers: int | None = 3
    lora_rank: int = 0
    mini_batch: int = 0
    check_every: int = 20
    patience: int = 2
    stop_on: Literal["loss", "recall"] = "loss"
    seed: int = 13

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise InputError(f"recipe={self.recipe!r} is unknown. Known: {', '.join(RECIPES)}.")
        if self.stop_on not in ("loss", "recall"):
            raise InputError(f"stop_on={self.stop_on!r} is unknown. Known: loss, recall.")
        least = {"steps": 0, "batch": 2, "context": 0, "negatives": 0, "lora_rank": 0}
        least |= {"mini_batch": 0, "check_every": 1, "patience": 1, "max_length": 16}
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise InputError(f"{name}={getattr(self, name)} must be at least {lowest}.")
        if self.frozen_layers is not None and self.frozen_layers < 0:
            raise InputError(f"frozen_layers={self.frozen_layers} must be at least 0, or None.")
        if not (self.rate > 0 and self.temperature > 0 and 0 <= self.warmup <= 1):
            raise InputError("rate and temperature must be above 0, warmup must lie in [0, 1].")
        if self.lora_rank and self.frozen_layers is not None:
            raise InputError(
                "lora_rank and frozen_layers exclude each other: adapters leave all weights "
                "frozen. Mend: frozen_layers=None."
            )

    def shortened(self, base: RetrieverSpec) -> RetrieverSpec:
        """The base with the length of training, to which contexts are fitted."""
        return replace(base, max_length=min(base.max_length, self.max_length))
