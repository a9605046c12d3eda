"""What RVR sets per encoder: its context size M and how it is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mtrlib.rvr.examples import Recipe
from mtrlib.rvr.training_settings import TrainingSettings


@dataclass(frozen=True)
class Backbone:
    """Settings that go with an encoder.

    Attributes
    ----------
    context : M, verified passages that join the question.
    rate, batch, max_length, frozen_layers, negatives, mini_batch, check_every, warmup : as
        :class:`mtrlib.rvr.training_settings.TrainingSettings`.
    """

    context: int = 3
    rate: float = 3e-5
    batch: int = 16
    max_length: int = 160
    frozen_layers: int | None = 3
    negatives: int = 0
    mini_batch: int = 0
    check_every: int = 30
    warmup: float = 0.1

    def training(self, recipe: Recipe, *, steps: int, context: int, seed: int) -> TrainingSettings:
        """Settings of a training run; ``context`` 0 = the encoder's own M."""
        return TrainingSettings(
            recipe=recipe,
            steps=steps,
            batch=self.batch,
            rate=self.rate,
            context=context or self.context,
            max_length=self.max_length,
            negatives=self.negatives,
            frozen_layers=self.frozen_layers,
            warmup=self.warmup,
            mini_batch=self.mini_batch,
            check_every=min(self.check_every, max(1, steps)),
            seed=seed,
        )


SMALL = Backbone()  # for two cores: a step of 16 pairs takes 2.3 s
# M, temperature, batch (384 candidates over four devices: 192 questions, one explicit negative
# each) and the rate of Contriever stand in the paper, that of Qwen3 in its launch script. Lengths
# are those of the published trainers. The rate for INF is not given; Qwen3's is taken. The rate
# rises over 1,000 of the paper's 50,000 steps.
_PAPER = Backbone(
    batch=192, frozen_layers=None, negatives=1, check_every=1000, warmup=1_000 / 50_000
)
_QWEN = replace(_PAPER, context=6, rate=5e-6, max_length=8192)
PUBLISHED = {
    "contriever-msmarco": replace(_PAPER, context=3, rate=1e-4, max_length=512, mini_batch=48),
    "qwen3-embedding-0.6b": replace(_QWEN, mini_batch=8),
    "inf-retriever-v1-1.5b": replace(_QWEN, mini_batch=4),
}


def backbone(encoder: str) -> Backbone:
    """Settings of an encoder of the paper, else those for a small machine."""
    return PUBLISHED.get(encoder, SMALL)
