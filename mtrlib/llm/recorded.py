"""Committed replies: what replays on a fresh clone, without requests and without copied text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.jsonl import read_jsonl, write_jsonl
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.llm.replies import Replies
from mtrlib.llm.requests import Reply, Request
from mtrlib.llm.store import ReplyStore


class _HasLines(Protocol):
    def line(self, key: str) -> Mapping[str, Any] | None: ...


@dataclass(frozen=True)
class Committed:
    """What became of the keys given: written, written as rejected, not in the store."""

    kept: int
    rejected: int
    missing: int


def commit_replies(
    store: _HasLines,
    keys: Iterable[str],
    passages: Iterable[Passage],
    where: Path,
    header: Mapping[str, Any],
) -> Committed:
    """Write replies in the form that is committed: the same input gives the same bytes.

    A line holds the hash of the request, never the request. A reply that shares a run of
    eight words with a passage is written as rejected, by the hash and the length of its
    text. Failures are not written.

    Parameters
    ----------
    keys : of the requests that replay must answer, all on frozen inputs.
    passages : the corpus that replies must not copy.
    where : the file, ``<alias>.jsonl``; the header goes to ``<alias>.json`` beside it.
    header : model, date and settings, as ``Endpoint.describe`` gives them; the lines
        themselves carry no date.
    """
    check = CopyCheck(passages)
    lines, missing = [], 0
    for key in sorted(set(keys)):
        line = store.line(key)
        if line is None or line.get("failed"):
            missing += 1
        else:
            lines.append(_committed(line, check))
    rejected = sum("rejected" in line for line in lines)
    write_jsonl(where, lines)
    text = json.dumps(
        {**header, "replies": len(lines) - rejected, "rejected": rejected},
        ensure_ascii=False,
        indent=2,
        sort_keys=True,
    )
    where.with_suffix(".json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return Committed(len(lines) - rejected, rejected, missing)


class RecordedReplies(Replies):
    """Committed replies of all endpoints, with the header of each file by alias."""

    def __init__(self, headers: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__()
        self.headers = dict(headers)


def read_recorded(folder: Path | str) -> RecordedReplies:
    """Read every ``<alias>.jsonl`` of a folder and its header ``<alias>.json``.

    A rejected line replays as a failure, so its verdict is missing and counted. A folder
    that does not exist holds no replies.

    Raises
    ------
    InputError
        No header, a line without key, or another number of lines than the header says.
    """
    lines, headers = [], {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        beside = path.with_suffix(".json")
        if not beside.is_file():
            raise InputError.at(
                beside, None, "no header for the replies", "restore both files from the repository"
            )
        headers[path.stem] = json.loads(beside.read_text(encoding="utf-8"))
        own = [record for _, record in read_jsonl(path)]
        stated = headers[path.stem]["replies"] + headers[path.stem]["rejected"]
        if len(own) != stated or not all(isinstance(r.get("key"), str) for r in own):
            raise InputError.at(
                path,
                None,
                f"{len(own)} lines, but the header says {stated}, each with a key",
                "restore both files from the repository",
            )
        lines += own
    recorded = RecordedReplies(headers)
    for line in lines:
        recorded.add(line)
    return recorded


class LayeredReplies:
    """The user's own replies first, then the committed ones; new ones go to the user's.

    Parameters
    ----------
    recorded_first : what is committed counts before the user's own, a committed rejection
        too. A replay then gives the committed numbers, whatever the user has asked since.
    """

    def __init__(
        self, store: ReplyStore, recorded: Replies, *, recorded_first: bool = False
    ) -> None:
        self.store = store
        self.recorded = recorded
        self.recorded_first = recorded_first

    def get(self, key: str) -> Reply | None:
        """As :meth:`.Replies.get`."""
        if self.recorded_first and self.recorded.line(key) is not None:
            return self.recorded.get(key)
        return self.store.get(key) or self.recorded.get(key)

    def failure(self, key: str) -> Reply | None:
        """As :meth:`.Replies.failure`."""
        if self.recorded_first and self.recorded.line(key) is not None:
            return self.recorded.failure(key)
        return self.store.failure(key) or self.recorded.failure(key)

    def line(self, key: str) -> Mapping[str, Any] | None:
        """As :meth:`.Replies.line`, a reply of either before a failure of either."""
        first = self.store if self.store.get(key) or not self.recorded.get(key) else self.recorded
        return first.line(key) or self.recorded.line(key)

    def append(self, request: Request, reply: Reply, body: Mapping[str, Any] | None = None) -> None:
        """As :meth:`.ReplyStore.append`."""
        self.store.append(request, reply, body)


def _committed(line: Mapping[str, Any], check: CopyCheck) -> dict[str, Any]:
    if "rejected" in line:
        return dict(line)
    texts = [line["text"], *_strings(line["data"])]
    if any(True for _ in check.problems("", *texts)):
        text = line["text"] or json.dumps(line["data"], ensure_ascii=False, sort_keys=True)
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return {
            "key": line["key"],
            "note": line["note"],
            "rejected": "copies",
            "sha256": digest,
            "length": len(text),
        }
    return {name: value for name, value in line.items() if name not in ("when", "failed")}


def _strings(value: Any) -> Iterator[str]:
    """All text in an answer made of fields, names of fields included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
