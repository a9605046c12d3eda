"""Train a retriever for RVR, keep it by content, and hand it out as a retriever spec."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from mtrlib import paths
from mtrlib.data.schema import Passage, corpus_digest
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.models import model_fingerprint
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.rvr.training_questions import normal_form
from mtrlib.rvr.training_run import MODEL, fit
from mtrlib.rvr.training_set import TrainingSet
from mtrlib.rvr.training_settings import TrainingSettings

RULE = "rvr training, v1"  # part of the key: change it together with what training does
MANIFEST, CURVES = "manifest.json", "curves.csv"


@dataclass(frozen=True, eq=False)
class TrainedRetriever:
    """A trained encoder, or the base where training did not help.

    Attributes
    ----------
    spec : to search with, :class:`mtrlib.retrieval.search.VectorSearcher`. Where no step was
        better than the base on dev it *is* the base's, so its cached vectors serve again.
    manifest : settings, base and model hashes, data, ``best_step``, ``steps_run``,
        ``masked_pairs``, versions, threads.
    curves : one row per step, see :class:`mtrlib.rvr.trainer.Watch`; NaN where nobody looked.
    """

    spec: RetrieverSpec
    manifest: Mapping[str, Any]
    curves: pd.DataFrame

    @property
    def changed(self) -> bool:
        """Whether the weights differ from the base's."""
        return bool(self.manifest["changed"])


def train_retriever(
    base: RetrieverSpec,
    questions: Sequence[ListQuestion],
    dev: Mapping[str, Sequence[ListQuestion]],
    passages: Sequence[Passage],
    settings: TrainingSettings,
) -> TrainedRetriever:
    """Train ``base`` on list questions, or take the result from the cache.

    Parameters
    ----------
    base : a dense retriever.
    questions : with gold; none of dev or test (see
        :func:`mtrlib.rvr.training_questions.without`).
    dev : sets by name; the first decides on the best state and on stopping. Empty: no looks,
        the last state is kept.
    passages : the corpus; gold and, by switch, random negatives come from it.

    Returns
    -------
    TrainedRetriever
        From ``models/trained/<key>`` of the user cache, where the key covers settings, base
        model, questions, dev and passages.

    Raises
    ------
    InputError
        No dense retriever, no usable question, a dev question among the training questions
        (by normal form, trap 19), an empty gold passage, missing packages, or a loss that is
        not finite.

    Notes
    -----
    float32; the same seed gives the same weights on the same machine with the same number of
    threads. Elsewhere compare with a tolerance (mode 44).
    """
    if base.kind != "dense":
        raise InputError(f"{base.name} is {base.kind}. Mend: training needs a dense retriever.")
    _refuse_overlap(questions, dev)
    key = _key(base, questions, dev, passages, settings)
    folder = paths.cache("models", "trained") / key[:32]
    if not (folder / MANIFEST).is_file():
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
        try:
            data = TrainingSet(questions, passages)
            outcome, curves = fit(base, data, dev, passages, settings, part)
            manifest = {"key": key, "rule": RULE, "settings": dataclasses.asdict(settings)}
            text = json.dumps(manifest | outcome, indent=1)
            curves.to_csv(part / CURVES, index=False)
            (part / MANIFEST).write_text(text, encoding="utf-8")
            _publish(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return _load(base, settings, folder)


def _refuse_overlap(
    questions: Sequence[ListQuestion], dev: Mapping[str, Sequence[ListQuestion]]
) -> None:
    known = {normal_form(q.question) for q in questions}
    for name, held_out in dev.items():
        for q in held_out:
            if normal_form(q.question) in known:
                raise InputError(
                    f"question {q.question_id!r} of dev {name!r} is among the training questions. "
                    "Mend: take them out with training_questions.without."
                )


def _key(
    base: RetrieverSpec,
    questions: Sequence[ListQuestion],
    dev: Mapping[str, Sequence[ListQuestion]],
    passages: Sequence[Passage],
    settings: TrainingSettings,
) -> str:
    def rows(found: Sequence[ListQuestion]) -> list[Any]:
        return [(q.question_id, q.question, q.gold) for q in found]

    parts = [
        RULE,
        model_fingerprint(base),
        [base.query_prompt, base.passage_prompt, base.max_length, base.normalize],
        dataclasses.asdict(settings),
        rows(questions),
        [(name, rows(found)) for name, found in dev.items()],
        corpus_digest(passages),
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _publish(part: Path, folder: Path) -> None:
    """Rename into place; where another process was first, its result stands."""
    part.chmod(0o755)  # mkdtemp makes it private
    try:
        part.rename(folder)
    except OSError:
        if not (folder / MANIFEST).is_file():
            raise


def _load(base: RetrieverSpec, settings: TrainingSettings, folder: Path) -> TrainedRetriever:
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    curves = pd.read_csv(folder / CURVES)
    spec = base
    if manifest["changed"]:
        spec = replace(
            base,
            name=f"{base.name}-{settings.recipe}",
            model=str(folder / MODEL),
            revision="",
        )
        manifest["model_sha256"] = model_fingerprint(spec)
    else:
        manifest["model_sha256"] = manifest["base_sha256"]
    return TrainedRetriever(spec, manifest, curves)
