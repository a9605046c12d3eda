"""The replies store after crashes, beside other writers, and in its committed form."""

from __future__ import annotations

import json
import multiprocessing
import threading
import time
import warnings
from pathlib import Path

import pytest

from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.recorded import LayeredReplies, commit_replies, read_recorded
from mtrlib.llm.replies import REJECTED
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.store import ReplyStore, store_path

SECRET = "the passage that nobody may find in a reply file"


def request(name: str, **body: object) -> Request:
    content = f"{SECRET} {name}"
    return Request(
        "demo",
        "demo-model",
        "chat",
        {"messages": [{"role": "user", "content": content}], **body},
        note=name,
    )


def answered(asked: Request, text: str = "yes", **fields: object) -> Reply:
    return Reply(asked.key, text=text, **fields)


def store_with(path: Path, *names: str) -> ReplyStore:
    store = ReplyStore(path)
    for name in names:
        store.append(request(name), answered(request(name), f"reply {name}"))
    return store


def test_a_reply_comes_back_whole_and_marked_as_replayed(tmp_path: Path) -> None:
    path = tmp_path / "new" / "demo.jsonl"
    asked = request("a", temperature=0.5)
    sent = Reply(
        asked.key,
        text="数 \u2028 {",
        data={"answers": {"answer": {"noul": 0.5}}},
        finish_reason="stop",
        tokens_in=7,
        tokens_out=2,
        model="served",
        attempts=2,
        seconds=1.5,
    )
    ReplyStore(path).append(asked, sent)
    got = ReplyStore(path).get(asked.key)
    assert got is not None and got.replayed and got.attempts == 0 and got.seconds == 0
    for field in ("key", "text", "data", "finish_reason", "tokens_in", "tokens_out", "model"):
        assert getattr(got, field) == getattr(sent, field)


def test_a_line_says_what_was_sent_but_not_what_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    schema = {"type": "json_schema", "json_schema": {"schema": {"enum": [SECRET]}}}
    asked = request("a", temperature=0.5, seed=3, max_tokens=9, response_format=schema)
    body = {**asked.body, "max_completion_tokens": 9, "state": SECRET, "questions": {"q": SECRET}}
    del body["max_tokens"]
    ReplyStore(path).append(asked, answered(asked), body)
    line = json.loads(path.read_text("utf-8"))
    assert line["sent"] == {
        "temperature": 0.5,
        "seed": 3,
        "max_completion_tokens": 9,
        "response_format": "json_schema",
    }
    assert (line["endpoint"], line["model"], line["dialect"]) == ("demo", "demo-model", "chat")
    assert line["note"] == "a" and len(line["when"]) == 10
    assert "nobody may find" not in path.read_text("utf-8")


def test_the_later_line_wins_but_a_failure_never_hides_a_success(tmp_path: Path) -> None:
    path, asked = tmp_path / "demo.jsonl", request("a")
    store = ReplyStore(path)
    store.append(asked, Reply(asked.key, failed="status 500"))
    assert store.get(asked.key) is None and len(store) == 0
    assert store.failure(asked.key).failed == "status 500"
    store.append(asked, answered(asked, "first"))
    store.append(asked, answered(asked, "second"))
    store.append(asked, Reply(asked.key, failed="timeout"))
    for each in (store, ReplyStore(path)):
        assert each.get(asked.key).text == "second"
        assert each.failure(asked.key) is None


@pytest.mark.parametrize("cut", [1, 3, 40, -1, -3, -20])
def test_a_torn_last_line_is_set_aside_and_the_next_starts_afresh(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "demo.jsonl"
    store_with(path, "a", "b")
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1][:-1]  # a cut of -1 takes the brace
    path.write_bytes(whole[: -len(last) - 1] + last[:cut])
    with pytest.warns(UserWarning, match="cut off"):
        store = ReplyStore(path)
    assert store.get(request("a").key).text == "reply a"
    assert store.get(request("b").key) is None
    assert store.torn == (f"{path}:2",)
    assert path.with_name("demo.jsonl.torn").read_bytes() == last[:cut] + b"\n"
    store.append(request("c"), answered(request("c"), "reply c"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # reported once, not for ever
        again = ReplyStore(path)
    assert again.get(request("a").key) and again.get(request("c").key) and again.torn == ()


def test_half_a_character_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    store = store_with(path, "a")
    store.append(request("b"), answered(request("b"), "北京"))
    data = path.read_bytes()
    path.write_bytes(data[: data.index("京".encode()) + 1])
    with pytest.warns(UserWarning, match="cut off"):
        store = ReplyStore(path)
    assert len(store) == 1
    store.append(request("b"), answered(request("b"), "北京"))
    assert ReplyStore(path).get(request("b").key).text == "北京"


def test_a_missing_final_newline_is_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    store_with(path, "a", "b")
    path.write_bytes(path.read_bytes()[:-1])
    store = ReplyStore(path)
    assert len(store) == 2 and store.torn == ()
    store.append(request("c"), answered(request("c")))
    assert len(ReplyStore(path)) == 3


def test_blocks_of_nul_empty_lines_and_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    path.touch()
    assert len(ReplyStore(path)) == 0
    store_with(path, "a")
    with path.open("ab") as out:
        out.write(b"\n\r\n" + b"\0" * 200)
    store = ReplyStore(path)
    store.append(request("b"), answered(request("b")))
    assert len(ReplyStore(path)) == 2


@pytest.mark.parametrize("line", ['{"id": 1}', "[1]", "name\tvalue", '{"key": 7}'])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path, line: str) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(line + "\n", "utf-8")
    with pytest.raises(InputError, match=r"other\.jsonl:1: not a stored reply"):
        ReplyStore(path)
    assert path.read_text("utf-8") == line + "\n"


def _append(path: Path, name: str, n: int) -> None:
    store = ReplyStore(path)
    for i in range(n):
        asked = request(f"{name}{i}")
        store.append(asked, answered(asked, f"{name}{i} " * 2000))


def test_processes_and_threads_append_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_append, args=(path, name, 40)) for name in "ab"]
    for writer in writers:
        writer.start()
    shared = ReplyStore(path)
    threads = [
        threading.Thread(
            target=lambda n=name: [
                shared.append(request(f"{n}{i}"), answered(request(f"{n}{i}"))) for i in range(40)
            ]
        )
        for name in "cd"
    ]
    for thread in threads:
        thread.start()
    for worker in [*writers, *threads]:
        worker.join()
    store = ReplyStore(path)
    assert len(store) == 160 and store.torn == ()
    assert store.get(request("a39").key).text == "a39 " * 2000


def test_ten_thousand_lines_load_fast(tmp_path: Path) -> None:
    path = tmp_path / "demo.jsonl"
    store_with(path, "a")
    line = json.loads(path.read_text("utf-8"))
    rows = (json.dumps({**line, "key": f"{i:064x}", "text": "x" * 400}) for i in range(10_000))
    path.write_text("\n".join(rows), "utf-8")
    started = time.perf_counter()
    assert len(ReplyStore(path)) == 10_000
    assert time.perf_counter() - started < 3  # about 0.2 alone


def test_the_default_place_is_the_user_cache(fresh_cache: Path) -> None:
    assert store_path("demo") == fresh_cache / "replies" / "demo.jsonl"


# --- committed replies

PASSAGE = Passage("p1", "one two three four five six seven eight nine ten eleven twelve")
COPY = "It says: Two three four, five six seven EIGHT nine!"
HEADER = {"model_alias": "demo-model", "date": "2026-01-02", "temperature": 0.0}


def committed(tmp_path: Path, order: str = "abc") -> tuple[Path, list[str]]:
    store = ReplyStore(tmp_path / f"live-{order}.jsonl")
    replies = {
        "a": {"text": "yes"},
        "b": {"text": COPY},
        "c": {"data": {"answers": [{"choice": "1"}]}},
        "x": {"failed": "timeout"},
    }
    for name in [*order, "x"]:
        store.append(request(name), Reply(request(name).key, **replies[name]))
    where = tmp_path / f"recorded-{order}" / "demo.jsonl"
    keys = [request(name).key for name in ("x", "never", *order)]
    counts = commit_replies(store, keys, [PASSAGE], where, HEADER)
    assert (counts.kept, counts.rejected, counts.missing) == (2, 1, 2)
    return where, keys


def test_committed_files_have_the_same_bytes_whatever_the_order(tmp_path: Path) -> None:
    first, second = committed(tmp_path, "abc")[0], committed(tmp_path, "cba")[0]
    for suffix in (".jsonl", ".json"):
        assert first.with_suffix(suffix).read_bytes() == second.with_suffix(suffix).read_bytes()
    lines = [json.loads(line) for line in first.read_text("utf-8").splitlines()]
    assert [line["key"] for line in lines] == sorted(line["key"] for line in lines)
    assert not any("when" in line for line in lines)
    header = json.loads(first.with_suffix(".json").read_text("utf-8"))
    assert header == {**HEADER, "replies": 2, "rejected": 1}


def test_a_reply_that_copies_is_committed_by_hash_only(tmp_path: Path) -> None:
    where, _ = committed(tmp_path)
    text = where.read_text("utf-8")
    assert "five six seven" not in text and SECRET not in text
    line = next(json.loads(t) for t in text.splitlines() if "rejected" in t)
    assert line["rejected"] == "copies" and line["length"] == len(COPY)
    assert len(line["sha256"]) == 64
    recorded = read_recorded(where.parent)
    key = request("b").key
    assert recorded.get(key) is None and recorded.failure(key).failed == REJECTED
    assert recorded.get(request("c").key).data == {"answers": [{"choice": "1"}]}
    assert recorded.headers["demo"]["date"] == "2026-01-02"


def test_a_copy_inside_fields_is_found_too(tmp_path: Path) -> None:
    store, asked = ReplyStore(tmp_path / "live.jsonl"), request("a")
    store.append(asked, Reply(asked.key, data={"answers": {"q": {"legend": {"0": COPY}}}}))
    where = tmp_path / "demo.jsonl"
    assert commit_replies(store, [asked.key], [PASSAGE], where, HEADER).rejected == 1


def test_the_users_own_reply_comes_before_the_committed_one(tmp_path: Path) -> None:
    where, keys = committed(tmp_path)
    own = ReplyStore(tmp_path / "own.jsonl")
    replies = LayeredReplies(own, read_recorded(where.parent))
    a, b = request("a"), request("b")
    assert replies.get(a.key).text == "yes" and replies.failure(b.key).failed == REJECTED
    own.append(a, Reply(a.key, failed="timeout"))
    assert replies.get(a.key).text == "yes" and replies.line(a.key)["text"] == "yes"
    replies.append(a, answered(a, "no"))
    replies.append(b, answered(b, "maybe"))
    assert replies.get(a.key).text == "no" and replies.get(b.key).text == "maybe"
    # a replay gives what is committed, the rejection too, whatever was asked since
    frozen = LayeredReplies(own, read_recorded(where.parent), recorded_first=True)
    assert frozen.get(a.key).text == "yes" and frozen.get(b.key) is None
    assert frozen.failure(b.key).failed == REJECTED
    new = request("new")
    frozen.append(new, answered(new, "own"))
    assert frozen.get(new.key).text == "own"
    # what was committed can be committed again, rejected lines included
    again = tmp_path / "again" / "demo.jsonl"
    commit_replies(read_recorded(where.parent), keys, [PASSAGE], again, HEADER)
    assert again.read_bytes() == where.read_bytes()


def test_recorded_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    assert len(read_recorded(tmp_path / "absent")) == 0
    where, _ = committed(tmp_path)
    where.write_text("\n".join(where.read_text("utf-8").splitlines()[:2]), "utf-8")
    with pytest.raises(InputError, match="2 lines, but the header says 3"):
        read_recorded(where.parent)
    where.with_suffix(".json").unlink()
    with pytest.raises(InputError, match="no header"):
        read_recorded(where.parent)
