"""What every reader of a published format is made of.

A format is a module of this package with a constant ``FORMAT``. Its functions stream: they
yield records one by one and never hold a file in memory, so that a 711 MB JSON list reads in
the memory of its largest record. Each record says where it was read (``source``).
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from mtrlib.data.jsonl import read_jsonl, refuse_pointer
from mtrlib.data.schema import Conversation, Passage, Qrels, Role, Run, Utterance
from mtrlib.data.tasks import Decomposition, ListQuestion, Rating
from mtrlib.errors import InputError

Seen = Literal["real record", "description only"]


@dataclass(frozen=True)
class Format:
    """One published format and the functions that read it.

    Attributes
    ----------
    name : as on the command line, for example ``mtr-bench``.
    title : one line for people.
    seen : ``real record`` if the reader was tried on a record of the set itself,
        ``description only`` if it follows a description; the latter says so at first use
        and validates strictly.
    recognises : whether a file or folder looks like this format; must be cheap and never raise.
    passages, conversations, questions, decompositions, ratings, rewrites, qrels, run :
        readers of a file or folder; None where the format holds no such thing.
    """

    name: str
    title: str
    seen: Seen
    recognises: Callable[[Path], bool]
    passages: Callable[[Path], Iterable[Passage]] | None = None
    conversations: Callable[[Path], Iterable[Conversation]] | None = None
    questions: Callable[[Path], Iterable[ListQuestion]] | None = None
    decompositions: Callable[[Path], Iterable[Decomposition]] | None = None
    ratings: Callable[[Path], Iterable[Rating]] | None = None
    rewrites: Callable[[Path], Any] | None = None
    qrels: Callable[[Path], Qrels] | None = None
    run: Callable[[Path], Run] | None = None

    def notice(self) -> None:
        """Warn once per process when the reader has never seen a record of the real set."""
        if self.seen == "description only" and self.name not in _NOTICED:
            _NOTICED.add(self.name)
            warnings.warn(
                f"the reader of {self.name} follows a description and was never tried on the "
                "real files; it refuses whatever it does not expect",
                stacklevel=2,
            )


_NOTICED: set[str] = set()


def records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects of a JSON list, a JSON object of objects, or JSON Lines, streamed.

    Yields
    ------
    ``(source, record)`` with source ``name:line`` for JSON Lines, ``name#index`` (from 0)
    for a list, ``name#key`` for an object of objects; the key is also put into the record
    as ``"_key"`` if the record has no such field.

    Raises
    ------
    InputError
        Missing file, wrong encoding, LFS pointer, cut or malformed JSON; with the place.
    """
    kind = _layout(path)
    if kind == "list":
        yield from _list_items(path)
    elif kind == "object":
        yield from _object_items(path)
    elif kind == "record":
        yield path.name, json.loads(path.read_text(encoding="utf-8-sig"))
    else:
        for line, record in read_jsonl(path):
            yield f"{path.name}:{line}", record


def _layout(path: Path) -> str:
    """``list``, ``object`` (of records), ``record`` (a single one) or ``lines``.

    Looks at the first line only, and at no more of it than ``LONGEST_LINE``: a JSON list of
    hundreds of megabytes may stand on one line.
    """
    with _binary(path) as stream:
        first = b""
        while not first.strip():
            first = stream.readline(LONGEST_LINE)
            if not first:
                raise InputError.at(path, None, "an empty file", "fetch it again")
        refuse_pointer(path, first[:64].decode("ascii", "replace"))
        more = bool(stream.read(1 << 16).strip())
    opening = first.lstrip()[:1]
    if opening != b"{":
        return "list" if opening == b"[" else "lines"
    try:
        record = json.loads(first)
    except ValueError:
        record = None
    if isinstance(record, dict) and (more or not _holds_records(record)):
        return "lines"
    if record is None and path.stat().st_size <= SMALL:
        try:
            record = json.loads(path.read_text(encoding="utf-8-sig"))
        except ValueError:
            return "object"
        return "object" if _holds_records(record) else "record"
    return "object"


LONGEST_LINE = 1 << 26  # bytes of a first line that are looked at
SMALL = 1 << 20  # bytes of a file that is looked at whole


def _holds_records(value: dict[str, Any]) -> bool:
    """An object of objects, or ``{"data": [...]}``, rather than one record."""
    if isinstance(value.get("data"), list):
        return True
    return len(value) > 0 and all(isinstance(v, dict) for v in value.values())


def _list_items(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import ijson

    with _binary(path) as stream:
        try:
            for index, item in enumerate(ijson.items(stream, "item", use_float=True)):
                if not isinstance(item, dict):
                    raise InputError.at(path, None, f"item {index} is no object", "see its format")
                yield f"{path.name}#{index}", item
        except ijson.JSONError as error:
            raise _broken(path, error) from None


def _object_items(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    import ijson

    with _binary(path) as stream:
        try:
            for key, value in ijson.kvitems(stream, "", use_float=True):
                if isinstance(value, dict):
                    yield f"{path.name}#{key}", {"_key": key, **value}
                elif isinstance(value, list):  # {"data": [...]} as in SQuAD and its kin
                    for index, item in enumerate(value):
                        if isinstance(item, dict):
                            yield f"{path.name}#{key}/{index}", {"_key": key, **item}
        except ijson.JSONError as error:
            raise _broken(path, error) from None


def _binary(path: Path) -> Any:
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    stream = path.open("rb")
    if stream.read(3) != b"\xef\xbb\xbf":
        stream.seek(0)
    return stream


def _broken(path: Path, error: Exception) -> InputError:
    reason = str(error).splitlines()[0]
    return InputError.at(path, None, f"not valid JSON ({reason})", "fetch it again; it may be cut")


def fields(
    record: Mapping[str, Any], source: str, path: Path, *names: str, kinds: Sequence[type] = ()
) -> list[Any]:
    """The values of required fields; a missing or mistyped one is an error with its place.

    Parameters
    ----------
    kinds : allowed Python types for all of them, () = anything.
    """
    found = []
    for name in names:
        if name not in record:
            raise InputError(
                f"{path}: {source}: no field {name!r} (has {', '.join(list(record)[:12])}). "
                "Mend: check that the file is of this format and version."
            )
        value = record[name]
        if kinds and not isinstance(value, tuple(kinds)):
            wanted = " or ".join(k.__name__ for k in kinds)
            raise InputError(
                f"{path}: {source}: {name} is {type(value).__name__}, expected {wanted}. "
                "Mend: check that the file is of this format and version."
            )
        found.append(value)
    return found


ROLES: dict[str, Role] = {
    "user": "user", "human": "user", "usr": "user", "client": "user",
    "agent": "agent", "assistant": "agent", "gpt": "agent", "bot": "agent", "model": "agent",
    "system_response": "agent",
}  # fmt: skip


def utterances(
    messages: Sequence[Mapping[str, Any]], source: str, path: Path
) -> tuple[Utterance, ...]:
    """Messages in any of the role schemas that real files use, as utterances.

    Role is read from ``role``, ``speaker``, ``from`` or ``participant``, text from
    ``content``, ``text``, ``value`` or ``utterance``. System prompts and empty messages are
    dropped; two messages of one side in a row are joined by a line end.

    Raises
    ------
    InputError
        A role that is none of the known ones.
    """
    found: list[Utterance] = []
    for message in messages:
        role = str(_first(message, ("role", "speaker", "from", "participant")) or "").lower()
        text = str(_first(message, ("content", "text", "value", "utterance")) or "").strip()
        if role == "system" or not text:
            continue
        if role not in ROLES:
            raise InputError(
                f"{path}: {source}: role {role!r} is unknown. Mend: use user and agent."
            )
        side = ROLES[role]
        if found and found[-1].role == side:
            found[-1] = Utterance(side, f"{found[-1].text}\n{text}")
        else:
            found.append(Utterance(side, text))
    return tuple(found)


def alternating(texts: Sequence[str]) -> tuple[Utterance, ...]:
    """Plain texts that alternate between the sides, the user first."""
    sides: tuple[Role, Role] = ("user", "agent")
    return tuple(Utterance(sides[i % 2], str(t)) for i, t in enumerate(texts))


def _first(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[n] for n in names if record.get(n) is not None), None)


def head(path: Path, size: int = 4096) -> str:
    """The first characters of a file for ``recognises``; "" for anything unreadable."""
    try:
        with path.open("rb") as stream:
            return stream.read(size).decode("utf-8-sig", errors="replace")
    except OSError:
        return ""
