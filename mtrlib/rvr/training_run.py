"""One training run: open the base, train, keep the best state, say what happened."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib import progress
from mtrlib.data.fetch import file_sha256
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.retrieval.models import model_fingerprint, model_folder
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.batches import batches, false_negatives
from mtrlib.rvr.dev_check import DevCheck
from mtrlib.rvr.loss import masked_loss
from mtrlib.rvr.trainable import freeze_lower, with_adapters
from mtrlib.rvr.trainer import Watch, batch_rows, run_trainer
from mtrlib.rvr.training_set import TrainingSet
from mtrlib.rvr.training_settings import TrainingSettings

MODEL, WEIGHTS, SCRATCH = "model", "model.safetensors", "trainer"


def fit(
    base: RetrieverSpec,
    data: TrainingSet,
    dev: Mapping[str, Sequence[ListQuestion]],
    passages: Sequence[Passage],
    settings: TrainingSettings,
    folder: Path,
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Train and save the best state below ``folder``, unless that is the base itself.

    Returns
    -------
    tuple
        What belongs into the manifest, and the curves.
    """
    import torch

    started = time.monotonic()
    cut = settings.shortened(base)
    check = DevCheck(dev, passages, base, settings) if dev else None
    watch = Watch(check, next(iter(dev), ""), settings)
    rows = _Rows(data, cut, settings)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(settings.seed)
        model = _open(base, cut, settings)
        trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
        watch.look(0, None, model)
        if settings.steps:
            loss = masked_loss(
                model,
                data.gold,
                temperature=settings.temperature,
                cosine=base.normalize,
                mini_batch=settings.mini_batch,
            )
            run_trainer(model, loss, data, rows, settings, watch, folder / SCRATCH)
        watch.restore(model)
    weights = _save(model, base, settings, folder) if watch.best_step else None
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    outcome = {
        "base": base.name,
        "base_sha256": model_fingerprint(base),
        "data": dict(data.describe()),
        "trainable_weights": trainable,
        "steps_run": int(watch.rows[-1]["step"]),
        "best_step": watch.best_step,
        "changed": watch.best_step > 0,
        "weights_sha256": weights,
        "masked_pairs": rows.masked,
        **_machine(model),
        "seconds": round(time.monotonic() - started, 1),
    }
    return outcome, pd.DataFrame(watch.rows)


def _machine(model: Any) -> dict[str, Any]:
    """What the last bits of the weights hang on beside the seed (mode 44)."""
    import torch

    first = next(model.parameters())
    return {
        "threads": torch.get_num_threads(),
        "device": first.device.type,
        "dtype": str(first.dtype).removeprefix("torch."),
        "versions": {p: version(p) for p in ("torch", "transformers", "sentence-transformers")},
    }


class _Rows:
    """The batches as texts, made when they are asked for; counts the cells that are masked."""

    def __init__(self, data: TrainingSet, cut: RetrieverSpec, settings: TrainingSettings) -> None:
        self._data, self._cut, self._settings = data, cut, settings
        self.masked = 0

    def __iter__(self) -> Iterator[list[dict[str, Any]]]:
        settings = self._settings
        sequence = batches(
            self._data,
            settings.recipe,
            steps=settings.steps,
            size=settings.batch,
            most=settings.context,
            negatives=settings.negatives,
            seed=settings.seed,
        )
        label = f"training {self._cut.name} ({settings.recipe})"
        for batch in progress.track(sequence, label, settings.steps, unit="steps"):
            self.masked += false_negatives(self._data, batch)
            yield batch_rows(self._data, batch, self._cut)


def _open(base: RetrieverSpec, cut: RetrieverSpec, settings: TrainingSettings) -> Any:
    """A fresh copy of the base in float32; the one that searches is never trained."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = SentenceTransformer(
        str(model_folder(base)),
        trust_remote_code=base.trust_remote_code,
        model_kwargs={"dtype": "float32"},
    )
    model.max_seq_length = cut.max_length
    if settings.lora_rank:
        model[0].model = with_adapters(model[0].model, settings.lora_rank)
    elif settings.frozen_layers is not None:
        freeze_lower(model[0].model, settings.frozen_layers)
    return model


def _save(model: Any, base: RetrieverSpec, settings: TrainingSettings, folder: Path) -> str:
    """Save with the base's length; the SHA-256 of the weights."""
    if settings.lora_rank:
        model[0].model = model[0].model.merge_and_unload()
    model.max_seq_length = base.max_length
    model.save_pretrained(str(folder / MODEL), create_model_card=False)
    return file_sha256(folder / MODEL / WEIGHTS)
