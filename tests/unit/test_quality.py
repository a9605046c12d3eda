"""Quality filters: each rule by itself, scripts, and a classifier of one's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib.data.schema import Passage
from mtrlib.data.script_width import width
from mtrlib.errors import InputError
from mtrlib.synthesis.quality import Decision, Heuristics, surface
from mtrlib.synthesis.quality_model import ClassifierQuality

PROSE = (
    "The mill stands where the river bends, and its wheel has turned since the harbour was "
    "built. Farmers brought their grain by boat. The miller kept a tenth of it as his fee."
)
CHINESE = (
    "这座水磨坊位于河流转弯处，自港口建成以来水轮一直转动。农民用船运来谷物，磨坊主留下十分之一作为"
    "报酬。后来铁路通车，磨坊逐渐失去作用，如今是一座小型博物馆，每年接待许多来自各地的游客。"
)
THAI = (
    "โรงสีน้ำตั้งอยู่ตรงโค้งแม่น้ำและกังหันหมุนมาตั้งแต่สร้างท่าเรือชาวนานำข้าวมาทางเรือและเจ้าของโรงสีเก็บส่วนหนึ่งเป็นค่าจ้าง"
)


def decide(text: str, filter_: Heuristics | None = None) -> Decision:
    (decision,) = (filter_ or Heuristics()).keep([Passage("p", text)])
    return decision


@pytest.mark.parametrize("text", [PROSE, CHINESE, THAI])
def test_prose_of_any_script_stays(text):
    assert decide(text) == Decision(True, 1.0)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("The mill stands where the river bends.", ["width"]),
        (f"{PROSE} " + "12 345 678 901 " * 6, ["digits"]),
        (f"{PROSE} " + "{}=>[]; " * 14, ["letters", "symbols"]),
        ("\n".join(f"• {name} mill, a mill of the river {name}" for name in "abcdef"), ["listed"]),
        (
            "\n".join(f"{name} river | wide | a bridge near {name}." for name in "abcdef"),
            ["listed"],
        ),
        ("\n".join([PROSE] * 4), ["repeated"]),
        ("", ["width", "letters"]),
    ],
)
def test_each_rule_by_itself(text, rules):
    decision = decide(text)
    assert not decision.keep
    assert [part.split()[0] for part in decision.reason.split("; ")] == rules
    assert decision.score == pytest.approx(1 - len(rules) / 6)


def test_the_reason_names_what_was_found_and_the_limit():
    assert decide("A mill of twenty ons").reason == "width 20 < 100"
    assert decide(PROSE, Heuristics(least_width=500)).reason.endswith("< 500")


def test_three_lines_are_no_list_and_sentences_are_no_items():
    assert decide("\n".join([PROSE[:70]] * 3)).keep is True
    sentences = "\n".join(f"The {name} mill stands by the river." for name in "abcdef")
    assert surface(sentences)["listed"] == 0


def test_dense_characters_count_more():
    assert width("磨坊a") == pytest.approx(1 + 2 * 5 / 3)
    assert width("ไทย") == 3
    assert surface(THAI)["letters"] == 1.0


def test_decisions_keep_the_order():
    found = Heuristics().keep([Passage("a", PROSE), Passage("b", ""), Passage("c", CHINESE)])
    assert [d.keep for d in found] == [True, False, True]
    assert Heuristics().keep([]) == []


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier with random weights: one layer, labels ``good`` and ``bad``."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "mill", "river"]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder)
    torch.manual_seed(13)
    config = BertConfig(
        vocab_size=4, hidden_size=8, num_hidden_layers=1, num_attention_heads=1,
        intermediate_size=8, max_position_embeddings=32, id2label={0: "good", 1: "bad"},
        label2id={"good": 0, "bad": 1},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


@pytest.mark.slow
def test_a_classifier_from_a_folder(tiny_model):
    passages = [Passage("a", "mill " * 100), Passage("b", "river")]
    everything = ClassifierQuality(str(tiny_model), 0.0, "good", max_length=32)
    scores = [d.score for d in everything.keep(passages)]
    assert scores[0] != scores[1]
    assert all(d.keep and 0 < d.score < 1 and not d.reason for d in everything.keep(passages))
    others = ClassifierQuality(str(tiny_model), 0.0, "bad", max_length=32).keep(passages)
    assert [d.score for d in others] == pytest.approx([1 - s for s in scores], abs=1e-6)
    between = ClassifierQuality(str(tiny_model), sum(scores) / 2, "good", max_length=32)
    assert [d.keep for d in between.keep(passages)] == [s > sum(scores) / 2 for s in scores]
    nothing = ClassifierQuality(str(tiny_model), 1.0, "good", max_length=32).keep(passages)
    assert [d.reason for d in nothing] == [f"good {s:.3g} < 1" for s in scores]
    raw = ClassifierQuality(str(tiny_model), -9, "good", activation="none", max_length=32)
    assert [d.score for d in raw.keep(passages)] != pytest.approx(scores, abs=1e-3)
    with pytest.raises(InputError, match="one of bad, good"):
        ClassifierQuality(str(tiny_model), 0.5, "fair", max_length=32).keep(passages)
    with pytest.raises(InputError, match="one of bad, good"):
        ClassifierQuality(str(tiny_model), 0.5, max_length=32).keep(passages)


@pytest.mark.slow
def test_a_grade_from_a_model_with_one_output(tiny_model, tmp_path):
    import shutil

    import torch
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "graded"
    shutil.copytree(tiny_model, folder)
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"] = torch.zeros(1, 8)
    weights["classifier.bias"] = torch.tensor([1.5])
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config |= {"id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    graded = ClassifierQuality(str(folder), 1.9, activation="none", max_length=32)
    assert graded.keep([Passage("a", "mill")]) == [Decision(False, 1.5, "grade 1.5 < 1.9")]


@pytest.mark.slow
def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(InputError, match=r"quality model '.*' cannot be loaded.*Mend"):
        ClassifierQuality(str(tmp_path), 0.5).keep([Passage("a", "mill")])


def test_no_passages_load_no_model():
    assert ClassifierQuality("no/such-model", 0.5).keep([]) == []
