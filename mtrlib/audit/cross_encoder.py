"""A cross-encoder fine-tuned from MiniLM's weights on the judged pairs; off by default.

A training step costs about 1.7 s on two cores and six models are needed for each query (five
folds and one on all), so a run costs minutes where the feature judge costs seconds.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mtrlib import paths, progress
from mtrlib.audit.cross_fit import ALL
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judged_pairs import JudgedPair, conversation_folds
from mtrlib.audit.pair_features import Pair
from mtrlib.audit.pair_judge import PairJudge, retrievers_behind
from mtrlib.data.schema import Passage, Turn
from mtrlib.retrieval.models import TokenCounter, model_fingerprint, model_folder
from mtrlib.retrieval.query_text import query_text
from mtrlib.retrieval.registry import retriever_spec
from mtrlib.retrieval.text import encoded_text

BASE = "minilm"
MAX_LENGTH = 256  # tokens of query and passage together
QUERY_LENGTH = 96  # of these for turn and history: the question whole, then what fits
GOLD, REJECTED = 4, 12  # pairs of each kind in a training step
RATE = 3e-5
STEPS = 80
AT_ONCE = 32  # pairs scored at a time


class CrossEncoderJudge(PairJudge):
    """Probability that a passage supports question or answer, from both read together.

    Cross-fitted by conversation as the feature judge is. Steps are balanced (1 gold in 4), and
    the log odds are moved back to the share of gold in the training pairs. Does not compare
    options that MiniLM retrieved, whose weights it started from.

    Parameters
    ----------
    training : labelled pairs by query: ``question`` and ``answer``.
    steps : optimiser steps of each model; trained models are cached by content.
    """

    name = "cross-encoder"
    probabilities = True

    def __init__(
        self,
        sets: Sequence[ItemSet],
        training: Mapping[str, Sequence[JudgedPair]],
        *,
        seed: int,
        steps: int = STEPS,
    ) -> None:
        super().__init__(sets)
        self._training, self._seed, self._steps = training, seed, steps
        self._models: dict[tuple[str, int], tuple[Any, float]] = {}

    def can_compare(self, negatives_from: str) -> bool:
        """Not with negatives of MiniLM."""
        return BASE not in retrievers_behind(negatives_from)

    def support(self, metric: str, benchmark: str, pairs: Sequence[Pair]) -> np.ndarray:
        """Probability that each passage supports, shape (n_pairs,)."""
        query = "answer" if metric == "faithfulness" else "question"
        known = conversation_folds(
            (p.item.conversation_id for p in self._training[query]), self._seed
        )
        folds = np.array([known.get(item.conversation_id, ALL) for item, _ in pairs])
        texts = [_texts(item, passage, query) for item, passage in pairs]
        found = np.empty(len(pairs))
        for fold in np.unique(folds):
            model, shift = self._model(query, int(fold), known)
            at = np.flatnonzero(folds == fold)
            logits = _logits(model, [texts[i] for i in at]) + shift
            found[at] = 1 / (1 + np.exp(-logits))
        return found

    def _model(self, query: str, fold: int, known: Mapping[str, int]) -> tuple[Any, float]:
        """The model that did not see a fold, and what takes its log odds back to the pools'."""
        if (query, fold) not in self._models:
            rows = sorted(
                (*_texts(p.item, p.passage, query), p.label)
                for p in self._training[query]
                if known[p.item.conversation_id] != fold
            )
            gold = sum(label for *_, label in rows)
            shift = math.log(gold / (len(rows) - gold)) - math.log(GOLD / REJECTED)
            self._models[query, fold] = _trained(rows, self._steps, self._seed), shift
        return self._models[query, fold]


def _texts(item: AuditItem, passage: Passage, query: str) -> tuple[str, str]:
    if query == "answer":
        return item.answer or "", encoded_text(passage)
    turn = Turn(item.item_id, item.conversation_id, item.turn_number, item.question, item.history)
    counter = TokenCounter(retriever_spec(BASE))
    text = query_text(turn, "full_history", budget=QUERY_LENGTH, count_tokens=counter).text
    return text, encoded_text(passage)


def _trained(rows: Sequence[tuple[str, str, bool]], steps: int, seed: int) -> Any:
    """A model trained on (query text, passage text, label), from the cache where it is there."""
    import torch
    from safetensors.torch import load_file, save_file

    spec = retriever_spec(BASE)
    settings = [model_fingerprint(spec), MAX_LENGTH, GOLD, REJECTED, RATE, steps, seed]
    key = hashlib.sha256(json.dumps([settings, rows]).encode()).hexdigest()[:32]
    path = paths.cache("judges", "cross-encoder") / f"{key}.safetensors"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # the new head's weights, and dropout
        model = _Encoder(model_folder(spec))
        if path.is_file():
            model.network.load_state_dict(load_file(path))
        else:
            _train(model, rows, steps, np.random.default_rng(seed))
            part = path.with_name(f".{os.getpid()}-{path.name}")
            save_file(model.network.state_dict(), part)
            part.replace(path)
    model.network.eval()
    return model


class _Encoder:
    """Tokenizer and network with one output."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
        from transformers.utils import logging

        before = logging.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()  # says that the head is new, which is the point
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self.network = AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1)
        logging.set_verbosity(before)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Any:
        """Log odds, shape (n_pairs,)."""
        queries, passages = zip(*pairs, strict=True)
        inputs = self._tokenizer(
            list(queries),
            list(passages),
            truncation="longest_first",
            max_length=MAX_LENGTH,
            padding=True,
            return_tensors="pt",
        )
        return self.network(**inputs).logits[:, 0]


def _train(
    model: _Encoder,
    rows: Sequence[tuple[str, str, bool]],
    steps: int,
    rng: np.random.Generator,
) -> None:
    import torch

    gold = [i for i, row in enumerate(rows) if row[2]]
    rejected = [i for i, row in enumerate(rows) if not row[2]]
    labels = torch.tensor([1.0] * GOLD + [0.0] * REJECTED)
    optimiser = torch.optim.AdamW(model.network.parameters(), lr=RATE)
    loss = torch.nn.BCEWithLogitsLoss()
    model.network.train()
    for _ in progress.track(range(steps), "training the cross-encoder", steps, unit="steps"):
        drawn = [*rng.choice(gold, GOLD), *rng.choice(rejected, REJECTED)]
        optimiser.zero_grad()
        loss(model([rows[i][:2] for i in drawn]), labels).backward()
        optimiser.step()


def _logits(model: _Encoder, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    import torch

    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][1]))  # little padding
    found = np.empty(len(pairs))
    with torch.inference_mode():
        for start in range(0, len(order), AT_ONCE):
            at = order[start : start + AT_ONCE]
            found[at] = model([pairs[i] for i in at]).numpy()
    return found
