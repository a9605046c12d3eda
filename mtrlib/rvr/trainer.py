"""sentence-transformers' trainer, set up for our batches, dev looks and stops."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter
from mtrlib.retrieval.registry import RetrieverSpec
from mtrlib.retrieval.text import encoded_text
from mtrlib.rvr.dev_check import DevCheck
from mtrlib.rvr.examples import Example, query_of
from mtrlib.rvr.training_set import TrainingSet
from mtrlib.rvr.training_settings import TrainingSettings


def batch_rows(
    data: TrainingSet, batch: Iterable[Example], spec: RetrieverSpec
) -> list[dict[str, Any]]:
    """Texts of a batch by column, and ``label``: numbers of question, positive and negatives."""
    counter = TokenCounter(spec)
    rows = []
    for e in batch:
        passages = (e.positive, *e.negatives)
        query = query_of(
            data, e, budget=counter.query_budget, count_tokens=counter, cut=counter.cut
        )
        texts = [spec.passage_prompt + encoded_text(data.passages[p]) for p in passages]
        columns = ["positive", *(f"negative_{i}" for i in range(len(e.negatives)))]
        rows.append(
            {"anchor": spec.query_prompt + query}
            | dict(zip(columns, texts, strict=True))
            | {"label": [e.question, *passages]}
        )
    return rows


class Watch:
    """Keeps the best state on dev, the curve, and says when to stop.

    Parameters
    ----------
    check : measures a state; None keeps the last state.
    decides : the dev set whose value orders the states.

    Attributes
    ----------
    rows : ``step``, ``loss`` of that step, and ``<name>_loss``, ``<name>_recall`` at looks.
    best_step : step of the state that is kept; 0 = the base model.
    """

    def __init__(self, check: DevCheck | None, decides: str, settings: TrainingSettings) -> None:
        self._check, self._settings = check, settings
        self._column = f"{decides}_{settings.stop_on}"
        self._best = math.inf
        self._state: dict[str, Any] | None = None
        self._worse = 0
        self.rows: list[dict[str, float]] = []
        self.best_step = 0

    def look(self, step: int, loss: float | None, model: Any) -> bool:
        """Note a step; look at dev where that is due. True = stop."""
        row: dict[str, float] = {"step": step}
        if loss is not None:
            row["loss"] = loss
        self.rows.append(row)
        if self._check is None:
            self.best_step = step
            return False
        if step % self._settings.check_every and step != self._settings.steps:
            return False
        row |= self._check(model)
        value = row[self._column]
        return self._judge(step, -value if self._settings.stop_on == "recall" else value, model)

    def _judge(self, step: int, value: float, model: Any) -> bool:
        if value < self._best:
            self._best, self.best_step, self._worse = value, step, 0
            self._state = {name: p.detach().clone() for name, p in _trainable(model) if step}
        else:
            self._worse += 1
        return self._worse >= self._settings.patience

    def restore(self, model: Any) -> None:
        """Put the best state back; of the base model nothing was kept, nor is it needed."""
        for name, parameter in _trainable(model):
            if self._state:
                parameter.data.copy_(self._state[name])


def _trainable(model: Any) -> Iterator[tuple[str, Any]]:
    return ((n, p) for n, p in model.named_parameters() if p.requires_grad)


def run_trainer(
    model: Any,
    loss: Any,
    data: TrainingSet,
    rows: Iterable[list[dict[str, Any]]],
    settings: TrainingSettings,
    watch: Watch,
    folder: Path,
) -> None:
    """Train until the steps are done or the watch stops it.

    Parameters
    ----------
    rows : the batches in order, taken as they come; one process, one device.
    folder : the trainer's own; nothing of it is kept.

    Raises
    ------
    InputError
        The packages for training are missing; or a loss that is not finite, with step, question
        and passage ids (mode 45: it is never averaged on).
    """
    from sentence_transformers.util import is_training_available

    if not is_training_available():
        raise InputError(
            "training needs accelerate and datasets. "
            "Mend: pip install 'sentence-transformers[train]'."
        )
    from transformers import PrinterCallback, TrainerCallback

    class Looks(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            if watch.look(state.global_step, trainer.last_loss, model):
                control.should_training_stop = True

    trainer = _trainer_class(data, rows)(
        model=model, args=_arguments(settings, folder), loss=loss, callbacks=[Looks()]
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()


def _trainer_class(data: TrainingSet, rows: Iterable[list[dict[str, Any]]]) -> Any:
    """sentence-transformers' trainer over our batches; it stops at a loss that is not finite."""
    import torch
    from sentence_transformers import SentenceTransformerTrainer

    class Batches(torch.utils.data.IterableDataset):  # type: ignore[misc]
        def __iter__(self) -> Iterator[list[dict[str, Any]]]:
            yield from rows

    class BatchTrainer(SentenceTransformerTrainer):  # type: ignore[misc]
        def get_train_dataloader(self) -> Any:
            return torch.utils.data.DataLoader(
                Batches(), batch_size=None, collate_fn=self.data_collator
            )

        def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            labels = inputs["label"]
            found = super().compute_loss(model, inputs, *args, **kwargs)
            self.last_loss = float(found.detach())
            if not math.isfinite(self.last_loss):
                step = self.state.global_step + 1
                raise InputError(_not_finite(step, self.last_loss, data, labels.tolist()))
            return found

    return BatchTrainer


def _arguments(settings: TrainingSettings, folder: Path) -> Any:
    from sentence_transformers import SentenceTransformerTrainingArguments

    return SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        max_steps=settings.steps,
        per_device_train_batch_size=settings.batch,
        learning_rate=settings.rate,
        warmup_steps=round(settings.warmup * settings.steps),
        weight_decay=0.01,
        seed=settings.seed,
        data_seed=settings.seed,
        save_strategy="no",
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )


def _not_finite(step: int, loss: float, data: TrainingSet, labels: list[list[int]]) -> str:
    items = [
        f"{data.questions[q].question_id} ({', '.join(data.passages[p].passage_id for p in ps)})"
        for q, *ps in labels
    ]
    return (
        f"step {step}: the loss is {loss}. Questions of the batch with their passages: "
        f"{'; '.join(items)}. Mend: a lower learning rate, float32, and no empty texts."
    )
