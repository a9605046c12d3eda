"""Retrieval tasks of MTRAG: three forms of each query, and judgements, per domain.

``<domain>_lastturn.jsonl``, ``<domain>_questions.jsonl`` (all the user's turns in one text, a
turn a line, each prefixed) and ``<domain>_rewrite.jsonl``, with ``<domain>_qrels.tsv`` or
``qrels/dev.tsv`` beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats import conversational
from mtrlib.data.formats.base import Format, head
from mtrlib.data.formats.trec import read_qrels
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Conversation, Passage, Qrels, Turn, Utterance
from mtrlib.errors import InputError

_KINDS = ("lastturn", "questions", "rewrite")
_MARK = "|user|: "


def conversations(path: Path) -> Iterator[Conversation]:
    """Retrieval tasks of a folder (all domains in it), or of the domain of one file.

    The question is the last turn, ``history`` the user's earlier questions (agents' replies
    are not in these files), ``rewrite`` the LLM's, ``gold`` from the judgements beside them,
    the label is the domain. Tasks stay apart, each a conversation of one turn, because the id
    of a conversation is written only inside the task ids.

    Raises
    ------
    InputError
        No ``*_lastturn.jsonl``, a text without the prefix, or files that do not fit together.
    """
    for folder, domain in _domains(path):
        texts = {kind: _texts(folder / f"{domain}_{kind}.jsonl") for kind in _KINDS}
        judged = _judgements(folder, domain)
        for query_id, (source, last) in texts["lastturn"].items():
            asked = _turns(texts["questions"].get(query_id, (source, last))[1])
            if asked[-1] != last.removeprefix(_MARK):
                raise InputError(
                    f"{folder}: {source}: the last of the questions is not the last turn of "
                    f"{query_id}. Mend: use files of one version."
                )
            rewrite = texts["rewrite"].get(query_id)
            turn = Turn(
                query_id=query_id,
                conversation_id=query_id,
                turn_number=len(asked),
                raw_utterance=asked[-1],
                history=tuple(Utterance("user", text) for text in asked[:-1]),
                gold=tuple(p for p, g in judged.grades(query_id).items() if g > 0),
                rewrite=rewrite[1].removeprefix(_MARK) if rewrite else None,
                labels=(domain,),
                source=source,
            )
            yield Conversation(query_id, (turn,))


def passages(path: Path) -> Iterator[Passage]:
    """Passages that lie in the folder as ``corpus.jsonl`` or ``<domain>.jsonl``; none is fine."""
    for folder, domain in _domains(path):
        if (folder / f"{domain}.jsonl").is_file():
            yield from conversational.passages(folder / f"{domain}.jsonl")
    if path.is_dir() and (path / "corpus.jsonl").is_file():
        yield from conversational.passages(path)


def qrels(path: Path) -> Qrels:
    """Judgements of all domains of a folder.

    Raises
    ------
    InputError
        As :func:`conversations`.
    """
    found: dict[str, dict[str, int]] = {}
    for folder, domain in _domains(path):
        judged = _judgements(folder, domain)
        found |= {query_id: judged.grades(query_id) for query_id in judged}
    return Qrels(found)


def _domains(path: Path) -> list[tuple[Path, str]]:
    """Folders and domains, from a folder, from the folder above them, or from one file."""
    if not path.is_dir():
        for kind in _KINDS:
            if path.name.endswith(f"_{kind}.jsonl"):
                return [(path.parent, path.name.removesuffix(f"_{kind}.jsonl"))]
    else:
        files = sorted(path.glob("*_lastturn.jsonl")) or _below(path)
        if files:
            return [(f.parent, f.name.removesuffix("_lastturn.jsonl")) for f in files]
    raise InputError.at(
        path, None, "no retrieval tasks", "a folder with <domain>_lastturn.jsonl, or such a file"
    )


def _below(path: Path) -> list[Path]:
    """``<domain>/<domain>_lastturn.jsonl`` as in the official repository."""
    found = sorted(path.glob("*/*_lastturn.jsonl"))
    return [f for f in found if f.name == f"{f.parent.name}_lastturn.jsonl"]


def _texts(path: Path) -> dict[str, tuple[str, str]]:
    """Query id -> (source, text); empty for a file that is not there."""
    found: dict[str, tuple[str, str]] = {}
    if not path.is_file():
        return found
    for line, record in read_jsonl(path):
        name = text_id(record.get("_id"), path, line, "_id")
        text = record.get("text")
        if not isinstance(text, str) or not text.startswith(_MARK):
            raise InputError.at(
                path, line, f"the text of {name} does not start with {_MARK!r}", "see the format"
            )
        if name in found:
            raise InputError.at(path, line, f"query {name} again", "keep one of the lines")
        found[name] = (f"{path.name}:{line}", text)
    return found


def _turns(text: str) -> list[str]:
    """The user's turns of a text; line ends inside a turn stay."""
    return text.removeprefix(_MARK).split(f"\n{_MARK}")


def _judgements(folder: Path, domain: str) -> Qrels:
    for path in (folder / f"{domain}_qrels.tsv", folder / "qrels" / "dev.tsv"):
        if path.is_file():
            return read_qrels(path)
    return Qrels({})


def _is_retrieval(path: Path) -> bool:
    if path.is_dir():
        return any(path.glob("*_lastturn.jsonl")) or bool(_below(path))
    named = any(path.name.endswith(f"_{kind}.jsonl") for kind in _KINDS)
    return named and f'"{_MARK}' in head(path)


FORMAT_RETRIEVAL = Format(
    "mtrag-retrieval",
    "MTRAG retrieval tasks: last turn, questions, rewrite and judgements per domain",
    "real record",
    _is_retrieval,
    passages=passages,
    conversations=conversations,
    qrels=qrels,
)
FORMATS = (FORMAT_RETRIEVAL,)
