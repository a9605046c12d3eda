"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``.

Judgements may also be JSON Lines, and may lie beside the queries as ``qrels.jsonl`` or
``qrels.tsv`` (LIMIT). Ids may hold spaces, titles may all be empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format
from mtrlib.data.formats.conversational import first_record, passages
from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.formats.trec import read_qrels
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Benchmark, Conversation, Qrels, Turn
from mtrlib.errors import InputError


def read_beir(folder: Path | str, split: str = "test") -> Benchmark:
    """Read a BEIR folder; every query becomes a conversation of one turn.

    Queries that the split does not judge belong to other splits and are left out.

    Raises
    ------
    InputError
        A file is missing (splits found are listed), or the qrels name an unknown query.
    """
    folder = Path(folder)
    return Benchmark(
        folder.name,
        read_corpus(folder / "corpus.jsonl"),
        tuple(conversations(folder, split)),
        qrels(folder, split),
    )


def conversations(folder: Path, split: str = "test") -> Iterator[Conversation]:
    """The judged queries of a folder, in the order of the judgements.

    Raises
    ------
    InputError
        As :func:`read_beir`.
    """
    judged = _qrels_path(folder, split)
    grades = qrels(folder, split)
    path = folder / "queries.jsonl"
    texts: dict[str, tuple[int, str]] = {}
    for line, record in read_jsonl(path):
        name = text_id(record.get("_id", record.get("id")), path, line, "_id")
        text = record.get("text")
        if not isinstance(text, str):
            raise InputError.at(path, line, f"query {name} has no text", "add a text field")
        if name in texts:
            raise InputError.at(path, line, f"query {name} again", "keep one of the lines")
        if name in grades:
            texts[name] = (line, text)
    for name in grades:
        if name not in texts:
            raise InputError.at(
                judged, None, f"query {name} is not in queries.jsonl", "use files of one version"
            )
        line, text = texts[name]
        gold = tuple(sorted(grades.gold(name)))
        turn = Turn(name, name, 1, text, gold=gold, source=f"{path.name}:{line}")
        yield Conversation(name, (turn,))


def qrels(path: Path, split: str = "test") -> Qrels:
    """Judgements of a folder or file, tabular or as JSON Lines.

    Raises
    ------
    InputError
        As :func:`mtrlib.data.formats.trec.read_qrels`.
    """
    return read_qrels(_qrels_path(path, split) if path.is_dir() else path)


def _qrels_path(folder: Path, split: str) -> Path:
    wanted = [
        folder / "qrels" / f"{split}.tsv",
        folder / "qrels" / f"{split}.jsonl",
        folder / "qrels.jsonl",
        folder / "qrels.tsv",
    ]
    for path in wanted[:2] if (folder / "qrels").is_dir() else wanted:
        if path.is_file():
            return path
    found = sorted(p.stem for p in (folder / "qrels").glob("*.*") if p.suffix in (".tsv", ".jsonl"))
    raise InputError.at(
        wanted[0], None, "no such split", f"splits found here: {', '.join(found) or 'none'}"
    )


def _is_folder(path: Path) -> bool:
    judged = (path / "qrels").is_dir() or any(
        (path / f"qrels.{kind}").is_file() for kind in ("jsonl", "tsv")
    )
    if not judged or not (path / "corpus.jsonl").is_file():
        return False
    return {"_id", "text"} <= first_record(path / "queries.jsonl").keys()


FORMAT = Format(
    "beir",
    "BEIR folder: corpus.jsonl, queries.jsonl, qrels",
    "real record",
    _is_folder,
    passages=passages,
    conversations=conversations,
    qrels=qrels,
)
FORMATS = (FORMAT,)
