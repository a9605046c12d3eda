"""Training of retrievers: loss, freezing, early stop, cache and stops, on a tiny random BERT."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needed import fetched

from mtrlib.data.schema import Passage
from mtrlib.data.tasks import ListQuestion
from mtrlib.errors import InputError
from mtrlib.retrieval.models import TokenCounter, model_folder
from mtrlib.retrieval.registry import RetrieverSpec, retriever_spec
from mtrlib.retrieval.search import VectorSearcher
from mtrlib.rvr import loss as losses
from mtrlib.rvr import trainer, training
from mtrlib.rvr.context import query_with_context
from mtrlib.rvr.dev_check import DevCheck
from mtrlib.rvr.examples import Example
from mtrlib.rvr.training import TrainedRetriever, train_retriever
from mtrlib.rvr.training_set import TrainingSet
from mtrlib.rvr.training_settings import TrainingSettings

WORDS = (
    "which ones of question documents title text river boat lake hill moor dale fell beck".split()
)
PASSAGES = [
    Passage(
        f"p{i}", f"{WORDS[7 + i % 8]} text {WORDS[7 + (3 * i) % 8]}", f"{WORDS[7 + i // 3]} title"
    )
    for i in range(12)
]
QUESTIONS = [
    ListQuestion("q0", "Which river?", gold=("p0", "p8", "p3")),
    ListQuestion("q1", "Which boat ones?", gold=("p1", "p9")),
    ListQuestion("q2", "Which of the lake?", gold=("p2", "p10", "p0")),
    ListQuestion("q3", "Which hill?", gold=("p3", "p11")),
]
DEV = {"authored": [ListQuestion("d0", "Which moor?", gold=("p4", "p5"))]}
FAST = TrainingSettings(steps=2, batch=3, rate=1e-2, max_length=24, frozen_layers=1, check_every=1)
TRAINED = "encoder.layer.1.output.dense.weight"

# Case 09: rows q1, q2, q3 with positives A, B, A; columns A, B, A.
SIMILARITY = [[0.9, 0.1, 0.9], [0.2, 0.8, 0.2], [0.7, 0.3, 0.7]]
GOLD = [(0,), (1,), (0,)]
MASKED, UNMASKED = [0.371101, 0.740805, 0.513015], [0.895814, 0.740805, 0.982198]


def save_tiny_bert(folder: Path) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    vocabulary = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config).save_pretrained(folder / "raw")
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder / "raw")
    transformer = Transformer(str(folder / "raw"))
    model = SentenceTransformer(modules=[transformer, Pooling(16)], device="cpu")
    model.save_pretrained(str(folder / "tiny"), create_model_card=False)
    return folder / "tiny"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> RetrieverSpec:
    folder = save_tiny_bert(tmp_path_factory.mktemp("models"))
    return RetrieverSpec("tiny", "dense", str(folder), max_length=32, sanity=False)


pytestmark = pytest.mark.usefixtures("fresh_cache")


def train(base: RetrieverSpec, dev: Any = DEV, **changes: Any) -> TrainedRetriever:
    return train_retriever(base, QUESTIONS, dev, PASSAGES, replace(FAST, **changes))


def weights(spec: RetrieverSpec) -> dict[str, np.ndarray]:
    from safetensors.numpy import load_file

    return load_file(Path(spec.model) / "model.safetensors")


def dev_losses(monkeypatch: pytest.MonkeyPatch, *values: float) -> list[Any]:
    """Let dev report these losses, look by look; returns one layer's weights as seen there."""
    seen: list[Any] = []

    def told(self: DevCheck, model: Any) -> dict[str, float]:
        (found,) = (v for n, v in model.state_dict().items() if n.endswith(TRAINED))
        seen.append(found.clone().numpy())
        return {"authored_loss": values[len(seen) - 1], "authored_recall": 0.0}

    monkeypatch.setattr(DevCheck, "__call__", told)
    return seen


def test_case_09_losses_with_and_without_the_mask():
    import torch

    similarity = torch.tensor(SIMILARITY, dtype=torch.float64)
    mask = losses.mask_of(GOLD, torch.tensor([[0, 0], [1, 1], [2, 0]]))
    assert mask.tolist() == [[False, False, True], [False] * 3, [True, False, False]]
    masked = losses.info_nce(similarity, mask, 1.0)
    assert masked.tolist() == pytest.approx(MASKED, abs=5e-7)
    assert float(masked.mean()) == pytest.approx(0.541640, abs=5e-7)
    plain = losses.info_nce(similarity, torch.zeros_like(mask), 1.0)
    assert plain.tolist() == pytest.approx(UNMASKED, abs=5e-7)
    assert float(plain.mean()) == pytest.approx(0.872939, abs=5e-7)


def test_a_random_negative_that_is_gold_of_another_row_is_masked_there_only_for_that_row():
    import torch

    mask = losses.mask_of([(0, 2), (1,)], torch.tensor([[0, 0, 3], [1, 1, 2]]))
    assert mask.tolist() == [[False, False, False, True], [False] * 4]


def test_the_temperature_divides_and_must_be_positive():
    import torch

    similarity, none = torch.tensor(SIMILARITY), torch.zeros(3, 3, dtype=torch.bool)
    assert torch.allclose(
        losses.info_nce(similarity, none, 0.05), losses.info_nce(similarity * 20, none, 1.0)
    )
    with pytest.raises(InputError, match="temperature=0"):
        losses.info_nce(similarity, none, 0)


def test_mode_45_cached_and_plain_loss_and_gradients_agree(base: RetrieverSpec):
    import torch
    from sentence_transformers import SentenceTransformer

    data = TrainingSet(QUESTIONS, PASSAGES)
    batch = [Example(0, (1,), 0, (5,)), Example(2, (), 2, (6,)), Example(3, (), 3, (0,))]
    rows = trainer.batch_rows(data, batch, base)
    found = []
    for mini_batch in (0, 2):
        model = SentenceTransformer(base.model, device="cpu")
        model.eval()  # without dropout: its random numbers fall otherwise in the two
        loss = losses.masked_loss(
            model, data.gold, temperature=0.05, cosine=True, mini_batch=mini_batch
        )
        columns = ("anchor", "positive", "negative_0")
        features = [model.preprocess([row[c] for row in rows]) for c in columns]
        value = loss(features, torch.tensor([row["label"] for row in rows]))
        value.backward()
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        found.append((float(value.detach()), torch.cat(gradients)))
    (plain, plain_gradient), (cached, cached_gradient) = found
    assert cached == pytest.approx(plain, abs=1e-6)
    assert plain_gradient.abs().max() > 1e-3
    difference = (cached_gradient - plain_gradient).abs().max()
    assert difference < 1e-5 * plain_gradient.abs().max()


def test_traps_5_and_6_the_texts_of_a_batch_are_those_of_inference(base: RetrieverSpec):
    spec = replace(base, query_prompt="river ", passage_prompt="boat ")
    batch = [Example(0, (), 0, (4,)), Example(0, (1, 2), 0, (5,))]
    bare, joined = trainer.batch_rows(TrainingSet(QUESTIONS, PASSAGES), batch, spec)
    assert bare["anchor"] == "river Which river?"
    assert bare["positive"].startswith(f"boat {PASSAGES[0].title}\n")
    data = TrainingSet(QUESTIONS, PASSAGES)
    counter = TokenCounter(spec)
    context = [data.passages[1], data.passages[2]]
    expected = query_with_context(
        "Which river?", context, budget=counter.query_budget, count_tokens=counter, cut=counter.cut
    )
    assert joined["anchor"] == "river " + expected.text
    assert joined["label"] == [0, 0, 5]


def test_mode_44_the_same_seed_gives_the_same_weights(
    base: RetrieverSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    digests = []
    for number, seed in enumerate((1, 1, 2)):
        monkeypatch.setenv("MTR_CACHE", str(tmp_path / str(number)))
        digests.append(train(base, dev={}, seed=seed).manifest["weights_sha256"])
    assert digests[0] == digests[1] != digests[2]


def test_frozen_weights_stay_and_the_others_move(base: RetrieverSpec):
    found = train(base, dev={})
    before, after = weights(base), weights(found.spec)
    moved = {n for n in before if not np.array_equal(before[n], after[n])}
    assert moved
    assert all("layer.1" in n or "pooler" in n for n in moved)
    everything = train(base, dev={}, frozen_layers=None)
    assert any("embeddings" in n for n in weights(everything.spec)) and everything.changed
    after = weights(everything.spec)
    assert not np.array_equal(
        before["embeddings.word_embeddings.weight"], after["embeddings.word_embeddings.weight"]
    )


def test_more_frozen_layers_than_there_are_is_refused(base: RetrieverSpec):
    with pytest.raises(InputError, match="frozen_layers=3, but the model has 2"):
        train(base, frozen_layers=3)


def test_manifest_and_curves_say_what_happened(base: RetrieverSpec):
    found = train(base, negatives=1, recipe="later")
    assert list(found.curves["step"]) == [0, 1, 2]
    assert set(found.curves) == {"step", "loss", "authored_loss", "authored_recall"}
    assert found.curves["loss"].isna().tolist() == [True, False, False]
    assert found.curves["authored_loss"].notna().all()
    m = found.manifest
    assert m["settings"]["recipe"] == "later"
    assert m["data"]["questions"] == 4
    assert (m["steps_run"], m["dtype"]) == (2, "float32")
    assert m["threads"] >= 1
    assert m["masked_pairs"] > 0, "q0 and q2 share p0, q0 and q3 share p3"
    assert m["model_sha256"] != m["base_sha256"] or not found.changed


def test_a_second_call_comes_from_the_cache_and_any_change_trains_anew(
    base: RetrieverSpec, monkeypatch: pytest.MonkeyPatch
):
    first = train(base)

    def refuse(*_: Any) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(training, "fit", refuse)
    again = train(base)
    assert again.spec == first.spec
    assert again.manifest == first.manifest
    assert again.curves.equals(first.curves)
    for changes in ({"seed": 5}, {"rate": 1e-3}, {"context": 1}, {"dev": {}}):
        with pytest.raises(AssertionError, match="trained again"):
            train(base, **changes)
    with pytest.raises(AssertionError, match="trained again"):
        train_retriever(base, QUESTIONS[:3], DEV, PASSAGES, FAST)


def test_the_trained_retriever_searches_with_vectors_of_its_own(
    base: RetrieverSpec, fresh_cache: Path
):
    found = train(base, dev={})
    assert found.spec.name == "tiny-initial"
    runs = [VectorSearcher(s, PASSAGES).search({"q": "river"}, 5) for s in (base, found.spec)]
    assert runs[0].rankings["q"] != runs[1].rankings["q"]
    folders = {p.name for p in (fresh_cache / "embeddings").iterdir()}
    assert folders == {"tiny", "tiny-initial"}


@pytest.mark.parametrize("why", ["no steps", "worse on dev"])
def test_where_training_does_not_help_the_base_and_its_vectors_serve(
    why: str, base: RetrieverSpec, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
):
    VectorSearcher(base, PASSAGES)
    if why == "worse on dev":
        dev_losses(monkeypatch, 1.0, 2.0, 3.0, 4.0)
    found = train(base, steps=0 if why == "no steps" else 9)
    assert found.spec == base
    assert not found.changed
    assert found.manifest["model_sha256"] == found.manifest["base_sha256"]
    assert found.manifest["steps_run"] == (0 if why == "no steps" else FAST.patience)
    before = sorted((fresh_cache / "embeddings").rglob("*.npy"))
    VectorSearcher(found.spec, PASSAGES)
    assert sorted((fresh_cache / "embeddings").rglob("*.npy")) == before


def test_the_best_state_is_kept_not_the_last(base: RetrieverSpec, monkeypatch: pytest.MonkeyPatch):
    seen = dev_losses(monkeypatch, 5.0, 4.0, 1.0, 3.0, 2.0)
    found = train(base, steps=4, patience=9)
    assert (found.manifest["best_step"], found.manifest["steps_run"]) == (2, 4)
    kept = weights(found.spec)[TRAINED]
    assert np.array_equal(kept, seen[2])
    assert not np.array_equal(kept, seen[4])


def test_a_loss_that_is_not_finite_stops_with_step_and_ids(
    base: RetrieverSpec, monkeypatch: pytest.MonkeyPatch, fresh_cache: Path
):
    calls = []
    true_loss = losses.info_nce

    def broken(similarity: Any, masked: Any, temperature: float) -> Any:
        calls.append(1)
        return true_loss(similarity, masked, temperature) * (np.nan if len(calls) == 2 else 1.0)

    monkeypatch.setattr(losses, "info_nce", broken)
    with pytest.raises(InputError, match=r"step 2: the loss is nan.*q\d \(p\d+\)"):
        train(base, steps=5, dev={})
    assert len(calls) == 2
    assert not list((fresh_cache / "models" / "trained").iterdir()), "nothing half-made is kept"


def test_what_cannot_be_trained_is_refused(base: RetrieverSpec):
    with pytest.raises(InputError, match="is lexical"):
        train(replace(base, kind="lexical"))
    with pytest.raises(InputError, match="'again' of dev 'authored'"):
        train(base, dev={"authored": [ListQuestion("again", "which RIVER", gold=("p4",))]})


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"recipe": "both"}, "recipe='both'"),
        ({"batch": 1}, "batch=1"),
        ({"steps": -1}, "steps=-1"),
        ({"rate": 0}, "rate"),
        ({"frozen_layers": -1}, "frozen_layers=-1"),
        ({"lora_rank": 4}, "exclude each other"),
        ({"stop_on": "luck"}, "stop_on"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any], named: str):
    with pytest.raises(InputError, match=named):
        replace(FAST, **wrong)


def test_missing_packages_are_named_with_the_mend(
    base: RetrieverSpec, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(InputError, match="pip install peft"):
        train(base, lora_rank=2, frozen_layers=None)
    monkeypatch.setattr("sentence_transformers.util.is_training_available", lambda: False)
    with pytest.raises(InputError, match=r"sentence-transformers\[train\]"):
        train(base)


def test_lora_saves_merged_weights(base: RetrieverSpec):
    pytest.importorskip("peft")
    found = train(base, dev={}, lora_rank=2, frozen_layers=None)
    before, after = weights(base), weights(found.spec)
    assert before.keys() == after.keys()
    moved = {n for n in before if not np.array_equal(before[n], after[n])}
    assert moved
    assert not any("LayerNorm" in n or "embeddings" in n for n in moved)


@pytest.mark.models
def test_two_steps_of_minilm_with_gradient_caching():
    spec = retriever_spec("minilm")
    with fetched("minilm"):
        model_folder(spec)
    settings = replace(FAST, recipe="joint", frozen_layers=3, mini_batch=2, rate=3e-5)
    found = train_retriever(spec, QUESTIONS, {}, PASSAGES, settings)
    assert found.manifest["steps_run"] == 2
    assert np.isfinite(found.curves["loss"].dropna()).all()
    assert len(VectorSearcher(found.spec, PASSAGES).search({"q": "river"}, 5).ids("q")) == 5
    assert found.changed


def test_a_step_is_one_batch_and_one_move_of_the_rate(tmp_path: Path):
    """Trap 20: with accumulation, steps and the schedule would count different things."""
    arguments = trainer._arguments(FAST, tmp_path)
    assert (arguments.max_steps, arguments.gradient_accumulation_steps) == (FAST.steps, 1)
