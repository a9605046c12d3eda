"""ChatRAG-Bench: the subsets QReCC, Doc2Dial, QuAC, TopiOCQA and INSCIT.

One row per question: ``messages`` (ends with the user), ``answers``, ``document``, ``ctxs`` and
``ground_truth_ctx``. The gold differs between the subsets:

- QReCC, Doc2Dial, QuAC: ``{index, ctx}``, a chunk of ``documents.json[document]``. The search is
  restricted to that document, which becomes the scope of the turn; the passage's id is
  ``<document>_<index>``. An index below 0 (not found) leaves only the text.
- TopiOCQA: ``{ctx, ...}`` without an index, a text of the set's own Wikipedia corpus.
- INSCIT: a list of ``{ctx, passage_id}``, possibly empty.

Rows carry no id of their conversation; they are grouped by their history (see
:mod:`mtrlib.data.formats.grouping`). Left out: ``ctxs`` (what one retriever found), ``topic``
(the title of the gold document, so no fair part of a query), answers after the first.
Address: huggingface.co/datasets/nvidia/ChatRAG-Bench.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import ROLES, Format, fields, records, utterances
from mtrlib.data.formats.grouping import Row, by_history
from mtrlib.data.formats.nested import json_head, members, source_of
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

_CHUNKS = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\[\s*"')


def passages(path: Path, *, append_answer: bool = False) -> Iterator[Passage]:
    """Read ``documents.json``, a map from a document's id to its chunks.

    Parameters
    ----------
    append_answer : add ``" || " + answer`` to the gold chunk of every question in the rows
        beside the file, as the published retrieval scores of the QReCC subset do (its gold was
        found by word overlap with the answer). The answers are then in the passages: use it
        only to compare with those scores. A chunk that is gold of several questions gets
        all their answers.

    Raises
    ------
    InputError
        Not a map of lists of texts; with ``append_answer`` no rows beside it, or a question
        whose chunk does not exist.
    """
    FORMAT.notice()
    extra = _answers(path) if append_answer else {}
    for keys, text in members(path, 1):
        if len(keys) != 2 or not isinstance(text, str):
            raise InputError(
                f"{path}: {source_of(path, keys)}: not a list of texts. "
                "Mend: use documents.json of the subset."
            )
        document, index = keys
        text = " || ".join([text, *extra.pop(f"{document}_{index}", [])])
        yield Passage(f"{document}_{index}", text, document=document, source=source_of(path, keys))
    if extra:
        raise InputError(f"{path}: no chunk {next(iter(extra))}. Mend: use files of one subset.")


def _answers(path: Path) -> dict[str, list[str]]:
    found = [path.with_name(n) for n in ("test.json", "dev.json") if path.with_name(n).is_file()]
    if not found:
        raise InputError.at(
            path, None, "no test.json or dev.json beside it", "append_answer needs the questions"
        )
    warnings.warn(
        "append_answer writes the answers into the gold passages (leakage): scores are "
        "comparable with the published QReCC ones only and say little about retrieval",
        stacklevel=3,
    )
    extra: dict[str, list[str]] = {}
    for source, record in records(found[0]):
        turn = _turn(record, source, found[0])
        for chunk in turn.gold:
            extra.setdefault(chunk, []).append(turn.answer or "")
    return extra


def conversations(path: Path, *, contiguous: bool = True) -> Iterator[Conversation]:
    """Read ``test.json`` or ``dev.json`` of a subset, row by row (one file has 711 MB).

    Raises
    ------
    InputError
        A field is missing or of the wrong kind, the last message is not the user's, or rows
        of one conversation are apart (see :func:`mtrlib.data.formats.grouping.by_history`).
    """
    FORMAT.notice()
    yield from by_history(_rows(path), path, contiguous=contiguous)


def _rows(path: Path) -> Iterator[Row]:
    for source, record in records(path):
        turn = _turn(record, source, path)
        said = tuple(
            (ROLES.get(str(m["role"]).lower(), ""), str(m["content"])) for m in record["messages"]
        )
        yield Row(str(record.get("document") or ""), said, turn)


def _turn(record: dict[str, Any], source: str, path: Path) -> Turn:
    (messages,) = fields(record, source, path, "messages", kinds=[list])
    (context,) = fields(record, source, path, "ground_truth_ctx", kinds=[dict, list])
    said = [fields(m, source, path, "role", "content", kinds=[str]) for m in messages]
    if not said or said[-1][0].lower() != "user" or not said[-1][1].strip():
        raise InputError(
            f"{path}: {source}: the last message is not a question of the user. "
            "Mend: cut the row after its question."
        )
    answers = record.get("answers", record.get("answer"))
    answers = [answers] if isinstance(answers, str) else answers
    if answers is not None and not isinstance(answers, list):
        raise InputError(f"{path}: {source}: answers is no list. Mend: see the format.")
    gold, texts, scope = _gold(context, record, source, path)
    return Turn(
        query_id="",
        conversation_id="",
        turn_number=sum(role.lower() == "user" for role, _ in said),
        raw_utterance=said[-1][1],
        history=utterances(messages[:-1], source, path),
        gold=gold,
        gold_texts=texts,
        answer=str(answers[0]) if answers else None,
        scope=scope,
        source=source,
    )


def _gold(
    context: dict[str, Any] | list[Any], record: dict[str, Any], source: str, path: Path
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Gold ids, gold texts where there is no id, and the document searched in."""
    if isinstance(context, list):
        ids, texts = [], []
        for each in context:
            if each.get("passage_id"):
                ids.append(str(each["passage_id"]))
            else:
                texts += fields(each, source, path, "ctx", kinds=[str])
        return tuple(dict.fromkeys(ids)), tuple(texts), ""
    if "index" not in context:
        return (), tuple(fields(context, source, path, "ctx", kinds=[str])), ""
    (index,) = fields(context, source, path, "index", kinds=[int])
    (document,) = fields(record, source, path, "document", kinds=[str])
    if index < 0:
        return (), tuple(fields(context, source, path, "ctx", kinds=[str])), document
    return (f"{document}_{index}",), (), document


def _is_rows(path: Path) -> bool:
    start = json_head(path)
    return (
        '"messages"' in start
        and '"ctxs"' in start
        and any(f'"{n}"' in start for n in ("answers", "answer", "ground_truth_ctx"))
        and "document_idx" not in start
    )


def _is_documents(path: Path) -> bool:
    return path.name == "documents.json" and _CHUNKS.match(json_head(path)) is not None


FORMAT = Format(
    name="chatrag-bench",
    title="ChatRAG-Bench questions (QReCC, Doc2Dial, QuAC, TopiOCQA, INSCIT)",
    seen="description only",
    recognises=_is_rows,
    conversations=conversations,
)
FORMAT_DOCUMENTS = Format(
    name="chatrag-bench-documents",
    title="ChatRAG-Bench documents.json (QReCC, Doc2Dial, QuAC)",
    seen="description only",
    recognises=_is_documents,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_DOCUMENTS)
