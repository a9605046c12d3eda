"""Prompt files: two parts, checked fields, versions, and what every audit prompt must show."""

from __future__ import annotations

import shutil

import pytest

from mtrlib.data.schema import Utterance
from mtrlib.errors import InputError
from mtrlib.llm.prompts import FOLDER, dialogue, load_prompt, numbered

FIELDS = {
    "query_evidence": {"history", "question", "passage"},
    "completeness": {"history", "question", "passages"},
    "faithfulness": {"history", "question", "passage", "answer"},
    "quality": {"history", "question", "passage", "answer"},
    "atomicity": {"history", "question"},
    "explicit_reference": {"history", "question"},
}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", FIELDS)
def test_audit_prompts_take_their_fields(name, language) -> None:
    prompt = load_prompt(name, language)
    assert prompt.fields == FIELDS[name]
    state, instruction = prompt.fill(**{f: f"<{f}>" for f in prompt.fields})
    assert all(f"<{f}>" in state for f in prompt.fields)
    assert instruction and "---" not in state + instruction
    # the question comes after its history: the current turn is what is judged
    assert state.index("<history>") < state.index("<question>")


def test_every_prompt_file_exists_in_both_languages() -> None:
    names = {path.name.split(".")[0] for path in FOLDER.glob("*.txt")}
    assert names >= set(FIELDS)
    assert all((FOLDER / f"{name}.{lang}.txt").is_file() for name in names for lang in ("en", "zh"))


def test_values_are_put_in_as_they_are() -> None:
    passage = "Rain fell for {three} days [3].\n---\nThen {0} it stopped { ."
    state, instruction = load_prompt("query_evidence").fill(
        history="", question="How long?", passage=passage
    )
    assert passage in state
    assert "[3]" not in instruction


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"history": "", "question": "q"}, r"missing fields \['passage'\]"),
        ({"history": "", "question": "q", "passage": "p", "answer": "a"}, r"unknown.*\['answer'\]"),
    ],
)
def test_missing_and_unknown_fields_are_refused(fields, named) -> None:
    with pytest.raises(InputError, match=named):
        load_prompt("query_evidence").fill(**fields)


def test_version_changes_with_the_wording_and_not_with_line_ends(tmp_path) -> None:
    original = load_prompt("quality")
    assert original.version.startswith("quality.en.txt@")
    assert len(original.version.split("@")[1]) == 12
    copy = tmp_path / "quality.en.txt"
    shutil.copy(FOLDER / copy.name, copy)
    raw = copy.read_bytes()
    copy.write_bytes(raw.replace(b"\n", b"\r\n"))
    assert load_prompt("quality", folder=tmp_path) == original
    copy.write_bytes(raw.replace(b"clear", b"plain"))
    assert load_prompt("quality", folder=tmp_path).version != original.version


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("only {question}", "not two parts"),
        ("{question}\n---\nOne.\n---\nTwo.", "not two parts"),
        ("{question}\n---\nSay {", "braces"),
        ("{question!r}\n---\nSay it.", "no plain field"),
        ("{0}\n---\nSay it.", "no plain field"),
        ("{question.text}\n---\nSay it.", "no plain field"),
    ],
)
def test_files_that_cannot_be_used_are_named(tmp_path, text, named) -> None:
    (tmp_path / "bad.en.txt").write_text(text, "utf-8")
    with pytest.raises(InputError, match=f"bad.en.txt.*{named}"):
        load_prompt("bad", folder=tmp_path)


def test_unknown_prompts_and_languages_are_named() -> None:
    with pytest.raises(InputError, match=r"query_evidence\.fr\.txt.*quality\.zh\.txt"):
        load_prompt("query_evidence", "fr")
    with pytest.raises(InputError, match="'fr'"):
        dialogue([], "fr")


def test_history_is_shown_oldest_first_with_both_sides() -> None:
    history = [Utterance("user", "Who built it?"), Utterance("agent", "The Romans [3].")]
    assert dialogue(history) == "User: Who built it?\nAssistant: The Romans [3]."
    assert dialogue(history, "zh") == "用户：Who built it?\n助手：The Romans [3]."
    assert dialogue([]) == "(nothing yet)"


def test_passages_are_numbered_from_one_without_brackets() -> None:
    assert numbered(["alpha [1]", "beta"]) == "Passage 1: alpha [1]\n\nPassage 2: beta"
    assert numbered(["甲"], "zh") == "文段 1：甲"
