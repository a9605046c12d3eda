"""InfoNCE over a batch with false negatives masked, plain and with cached gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mtrlib.errors import InputError
from mtrlib.rvr.training_set import gold_columns


def info_nce(similarity: Any, masked: Any, temperature: float) -> Any:
    """Loss of each row: minus the log share of its positive, which stands on the diagonal.

    ``l_i = logsumexp_j(s_ij / tau, j not masked) - s_ii / tau``

    Parameters
    ----------
    similarity : tensor of shape (n_rows, n_columns), columns as rows first, then negatives.
    masked : bool tensor of that shape: cells left out of the sum. The diagonal never is.
    temperature : tau, above 0.

    References
    ----------
    RVR, section 4: tau = 0.05. van den Oord et al., arXiv 1807.03748.
    """
    if not temperature > 0:
        raise InputError(f"temperature={temperature} must be above 0.")
    scores = similarity / temperature
    kept = scores.masked_fill(masked, float("-inf"))
    return kept.logsumexp(dim=1) - scores.diagonal()


def mask_of(gold: Sequence[tuple[int, ...]], labels: Any) -> Any:
    """Which cells to mask: a column whose passage is gold for the row, but not its positive.

    Parameters
    ----------
    labels : int tensor of shape (n_rows, 2 + n_negatives): numbers of question, positive and
        negatives of each row.
    """
    import torch

    rows = labels.tolist()
    columns = [passage for column in zip(*rows, strict=True) for passage in column][len(rows) :]
    masked = torch.zeros(len(rows), len(columns), dtype=torch.bool)
    for row, column in gold_columns(gold, [r[0] for r in rows], columns):
        masked[row, column] = row != column
    return masked.to(labels.device)


def masked_loss(
    model: Any,
    gold: Sequence[tuple[int, ...]],
    *,
    temperature: float,
    cosine: bool,
    mini_batch: int = 0,
) -> Any:
    """The loss as a module that sentence-transformers' trainer takes.

    Parameters
    ----------
    model : SentenceTransformer.
    gold : gold passages of each question, by number.
    cosine : similarity of unit vectors, else dot product.
    mini_batch : texts embedded at a time under gradient caching (GradCache, Gao et al. 2021);
        0 = all at once. The loss is the same; memory no longer grows with the batch, and each
        text is embedded twice. The second pass replays the first one's dropout.
    """
    import torch
    from sentence_transformers.util import cos_sim, dot_score

    similarity = cos_sim if cosine else dot_score

    def mean_loss(embeddings: Sequence[Any], labels: Any) -> Any:
        scores = similarity(embeddings[0], torch.cat(list(embeddings[1:])))
        return info_nce(scores, mask_of(gold, labels), temperature).mean()

    return _cached(model, mean_loss, mini_batch) if mini_batch else _plain(model, mean_loss)


def _plain(model: Any, mean_loss: Callable[[Sequence[Any], Any], Any]) -> Any:
    import torch
    from sentence_transformers.base.losses.merged_forward import embed_columns

    class Plain(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, features: Any, labels: Any) -> Any:
            return mean_loss(embed_columns(self.model, features), labels)

    return Plain()


def _cached(model: Any, mean_loss: Callable[[Sequence[Any], Any], Any], mini_batch: int) -> Any:
    import torch
    from sentence_transformers.base.losses.gradcache import CachedLossMixin

    class Cached(CachedLossMixin, torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model, self.mini_batch_size = model, mini_batch

        def calculate_loss(
            self, reps: Any, labels: Any = None, *, with_backward: bool = False
        ) -> Any:
            loss = mean_loss([torch.cat(column) for column in reps], labels)
            if with_backward:
                loss.backward()
                return loss.detach()
            return loss

        def forward(self, features: Any, labels: Any) -> Any:
            return self.forward_cached(features, labels)

    return Cached()
