"""Streaming of JSON in all the layouts that datasets come in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mtrlib.data.formats.base import Format, alternating, fields, records, utterances
from mtrlib.errors import InputError

A, B = {"id": "a", "n": 1.5}, {"id": "b"}
ONE_LINE = {"version": "1", "data": [A, B]}
KEYED = [("f#x", {"_key": "x", **A}), ("f#y", {"_key": "y", **B})]
IN_DATA = [("f#data/0", {"_key": "data", **A}), ("f#data/1", {"_key": "data", **B})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (json.dumps([A, B]), [("f#0", A), ("f#1", B)]),
        (json.dumps([A, B], indent=1), [("f#0", A), ("f#1", B)]),
        (f"{json.dumps(A)}\n\n{json.dumps(B)}\n", [("f:1", A), ("f:3", B)]),
        (f"{json.dumps(A)}\n", [("f:1", A)]),
        (json.dumps({"x": A, "y": B}), KEYED),
        (json.dumps({"x": A, "y": B}, indent=1), KEYED),
        (json.dumps(ONE_LINE), IN_DATA),
        (json.dumps(ONE_LINE, indent=1), IN_DATA),
        (json.dumps({**A, "inner": {"k": 1}}, indent=1), [("f", {**A, "inner": {"k": 1}})]),
        ("\ufeff" + json.dumps([A]), [("f#0", A)]),
    ],
)  # fmt: skip
def test_layouts(tmp_path: Path, text: str, expected: list):
    path = tmp_path / "f"
    path.write_text(text, encoding="utf-8")
    assert list(records(path)) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty file"),
        (b'[{"a": 1}, {"a"', "not valid JSON"),
        (b"[1, 2]", "item 0 is no object"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b'{"a": 1}\n{"a', ":2: not JSON"),
    ],
)
def test_broken_files_name_the_mend(tmp_path: Path, data: bytes, message: str):
    path = tmp_path / "f"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        list(records(path))


def test_missing_file(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        list(records(tmp_path / "absent"))


def test_a_long_list_on_one_line_streams(tmp_path: Path):
    path = tmp_path / "f"
    path.write_text(
        "[" + ",".join(json.dumps({"id": str(i), "t": "x" * 500}) for i in range(4000)) + "]"
    )
    stream = records(path)
    assert next(stream)[1]["id"] == "0"
    assert sum(1 for _ in stream) == 3999


def test_role_schemas_and_odd_turns():
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "one"},
        {"from": "human", "value": "two"},
        {"speaker": "agent", "text": ""},
        {"participant": "assistant", "utterance": "three"},
    ]
    found = utterances(messages, "f#0", Path("f"))
    assert [(u.role, u.text) for u in found] == [("user", "one\ntwo"), ("agent", "three")]
    with pytest.raises(InputError, match="f#1: role 'judge' is unknown"):
        utterances([{"role": "judge", "text": "x"}], "f#1", Path("f"))
    assert [u.role for u in alternating(["a", "b", "c"])] == ["user", "agent", "user"]


def test_required_fields():
    assert fields({"a": 1}, "f#0", Path("f"), "a", kinds=(int,)) == [1]
    with pytest.raises(InputError, match="f#0: no field 'b'"):
        fields({"a": 1}, "f#0", Path("f"), "b")
    with pytest.raises(InputError, match="a is int, expected str"):
        fields({"a": 1}, "f#0", Path("f"), "a", kinds=(str,))


def test_a_reader_that_never_saw_the_set_says_so_once():
    each = Format("toy-set", "t", "description only", lambda _: False)
    with pytest.warns(UserWarning, match="toy-set follows a description"):
        each.notice()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        each.notice()
