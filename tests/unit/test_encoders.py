"""The real encoders on a few sentences: shape, prompts, sanity, order, length."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from needed import fetched

from mtrlib.errors import InputError
from mtrlib.retrieval import encoders
from mtrlib.retrieval.models import TokenCounter, model_folder
from mtrlib.retrieval.registry import RetrieverSpec, retriever_spec

pytestmark = pytest.mark.models

TEXTS = ["A short one.", "A much longer sentence about bridges, rivers and boats.", "Cake."]


def _spec(name: str) -> RetrieverSpec:
    spec = retriever_spec(name)
    with fetched(name):
        model_folder(spec)
    return spec


@pytest.mark.parametrize(
    ("name", "dimension"), [("static-256", 256), ("splade-tiny", 30522), ("minilm", 384)]
)
def test_rows_keep_the_order_of_the_texts(name: str, dimension: int):
    spec = _spec(name)
    together = encoders.encode(spec, TEXTS, "", "toy")
    alone = [encoders.encode(spec, [text], "", "toy") for text in TEXTS]
    assert together.shape == (3, dimension)
    for row, single in enumerate(alone):
        difference = together[row] - single[0]
        assert abs(difference).max() < 1e-4
    if spec.normalize:
        assert np.linalg.norm(together, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


def test_the_prompt_reaches_the_encoder():
    spec = _spec("static-256")
    prompted = encoders.encode(spec, ["bridges"], "rivers and ", "toy")
    assert np.allclose(prompted, encoders.encode(spec, ["rivers and bridges"], "", "toy"))


def test_a_model_that_orders_nothing_right_is_refused(monkeypatch: pytest.MonkeyPatch):
    spec = dataclasses.replace(_spec("static-256"), name="mirrored")
    swapped = tuple((q, other, right) for q, right, other in encoders.SANITY)
    monkeypatch.setattr(encoders, "SANITY", swapped)
    with pytest.raises(InputError, match="puts 3 of 3 plain question-answer pairs"):
        encoders.load_model(spec)
    assert encoders.load_model(dataclasses.replace(spec, sanity=False)) is not None


def test_tokens_are_counted_without_torch():
    counter = TokenCounter(_spec("minilm"))
    assert counter("bridges and rivers") == 3
    assert counter.query_budget == 254  # 256 less [CLS] and [SEP]
    assert [counter(text) for text in ("bridges", "")] == [1, 0]


def test_a_model_that_is_nowhere_names_the_mend():
    spec = RetrieverSpec("mine", "dense", model="no/such-model")
    with pytest.raises(InputError, match=r"no entry of data/registry.json, no folder"):
        model_folder(spec)


def test_pooling_gives_the_numbers_of_the_library():
    import torch
    from sentence_transformers.sparse_encoder.modules import SpladePooling

    torch.manual_seed(0)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 0, 0, 0]])
    features = {"token_embeddings": torch.randn(3, 5, 40) - 0.5, "attention_mask": mask}
    library = SpladePooling(pooling_strategy="max").eval()
    theirs = library({k: v.clone() for k, v in features.items()})["sentence_embedding"]
    ours = encoders.splade_pooling("max").eval()(dict(features))["sentence_embedding"]
    assert torch.equal(ours, theirs)
    assert isinstance(encoders.splade_pooling("sum"), SpladePooling)
