"""Doc2Dial and MultiDoc2Dial: goal-oriented dialogues over public-service documents.

Documents: ``doc_data[domain][doc_id]`` with ``title`` and ``spans`` ``{sp_id: {text_sp, id_sec,
text_sec, title, parent_titles}}``. Dialogues: ``dial_data[domain][doc_id][]`` in Doc2Dial,
``dial_data[domain][]`` in MultiDoc2Dial, with ``dial_id`` and ``turns[]`` of ``turn_id``,
``role``, ``utterance``, ``da`` and ``references`` ``{sp_id or id_sp, label, doc_id}``.

A question's gold is what the agent's next turn refers to; ids of questions are
``<dial_id>_<turn_id>``, as in the official predictions. An empty ``references`` means that the
documents do not answer (label ``unanswerable``). A user turn that no agent turn follows has no
gold and the label ``no_reply`` (the official reader drops it). In Doc2Dial the dialogue's
document is the scope of its turns; MultiDoc2Dial searches all.

The retrieval unit is the annotated span, ``<doc_id>_<sp_id>``, or the section around it,
``<doc_id>_sec_<id_sec>``. Addresses: doc2dial.github.io, doc2dial.github.io/multidoc2dial.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from mtrlib.data.formats.base import Format, fields, utterances
from mtrlib.data.formats.nested import json_head, members, source_of
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

Unit = Literal["span", "section"]


def passages(path: Path, *, unit: Unit = "span") -> Iterator[Passage]:
    """Read ``doc2dial_doc.json`` or ``multidoc2dial_doc.json``.

    Parameters
    ----------
    unit : ``span`` (a phrase or sentence) or ``section`` (a paragraph with all its spans). For
        sections give the document file to :func:`conversations`, too.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind; its place is named.
    """
    FORMAT_DOCUMENTS.notice()
    for source, document, span in _spans(path):
        key = document["doc_id"]
        sp_id, sec_id, text_sp, text_sec = fields(
            span, source, path, "id_sp", "id_sec", "text_sp", "text_sec", kinds=[str]
        )
        if unit == "section" and sec_id in document["_sections"]:
            continue
        document["_sections"].add(sec_id)
        headings = [*_parents(span.get("parent_titles"), source, path), span.get("title")]
        yield Passage(
            f"{key}_{sp_id}" if unit == "span" else f"{key}_sec_{sec_id}",
            (text_sp if unit == "span" else text_sec).strip(),
            str(document.get("title") or ""),
            tuple(str(h) for h in headings if h),
            document=key,
            source=source,
        )


def _spans(path: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for keys, document in members(path, 3):
        source = source_of(path, keys)
        if keys[0] != "doc_data":
            continue
        if not isinstance(document, dict):
            raise InputError(f"{path}: {source}: no document. Mend: use the published file.")
        (spans,) = fields(document, source, path, "spans", kinds=[dict, list])
        document = {"doc_id": keys[-1], **document, "_sections": set()}
        for span in spans.values() if isinstance(spans, dict) else spans:
            yield f"{source}/{span.get('id_sp')}", document, span


def _parents(value: Any, source: str, path: Path) -> list[str]:
    """Headings above, outermost first; some files hold the list as a Python string."""
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value) if value else []
        except (ValueError, SyntaxError):
            value = None
    elif value is None:
        value = []
    if not isinstance(value, list):
        raise InputError(f"{path}: {source}: parent_titles is no list. Mend: see the format.")
    return [str(v.get("text", "")).strip() if isinstance(v, dict) else str(v) for v in value]


def conversations(path: Path, *, documents: Path | None = None) -> Iterator[Conversation]:
    """Read a dialogue file of either set.

    Parameters
    ----------
    documents : the document file; with it the gold are sections instead of spans.

    Raises
    ------
    InputError
        A field is missing or of the wrong kind, an unknown role, or a reference to a span
        that ``documents`` lacks.
    """
    FORMAT.notice()
    section_of = None
    if documents is not None:
        section_of = {
            (d["doc_id"], str(s.get("id_sp"))): str(s.get("id_sec"))
            for _, d, s in _spans(documents)
        }
    for keys, dialogue in members(path, 3):
        if keys[0] != "dial_data":
            continue
        source = source_of(path, keys)
        if not isinstance(dialogue, dict):
            raise InputError(f"{path}: {source}: no dialogue. Mend: use the published file.")
        (turns,) = fields(dialogue, source, path, "turns", kinds=[list])
        (key,) = fields(dialogue, source, path, "dial_id")
        scope = keys[2] if len(keys) == 4 else ""
        key = text_id(key, path, None, f"{source}: dial_id")
        yield Conversation(key, tuple(_turns(turns, key, scope, section_of, source, path)))


def _turns(
    messages: list[dict[str, Any]],
    key: str,
    scope: str,
    section_of: dict[tuple[str, str], str] | None,
    source: str,
    path: Path,
) -> Iterator[Turn]:
    number = 0
    for index, message in enumerate(messages):
        place = f"{source}/turns/{index}"
        role, text = fields(message, place, path, "role", "utterance", kinds=[str])
        if role != "user":
            continue
        number += 1
        (turn_id,) = fields(message, place, path, "turn_id")
        follows = messages[index + 1] if index + 1 < len(messages) else {}
        reply = follows if follows.get("role") == "agent" else None
        gold, labels = [], [str(message["da"])] if message.get("da") else []
        if reply is None:
            labels.append("no_reply")
        else:
            for reference in reply.get("references") or []:
                gold.append(_gold(reference, scope, section_of, place, path))
            if reply.get("references") == []:
                labels.append("unanswerable")
        yield Turn(
            query_id=f"{key}_{text_id(turn_id, path, None, f'{place}: turn_id')}",
            conversation_id=key,
            turn_number=number,
            raw_utterance=text,
            history=utterances(messages[:index], place, path),
            gold=tuple(dict.fromkeys(gold)),
            answer=str(reply["utterance"]) if reply and reply.get("utterance") else None,
            labels=tuple(labels),
            scope=scope,
            source=place,
        )


def _gold(
    reference: dict[str, Any],
    scope: str,
    section_of: dict[tuple[str, str], str] | None,
    source: str,
    path: Path,
) -> str:
    span = reference.get("sp_id", reference.get("id_sp"))
    document = reference.get("doc_id") or scope
    if not isinstance(span, str) or not document:
        raise InputError(
            f"{path}: {source}: a reference without sp_id or doc_id. Mend: use the published file."
        )
    if section_of is None:
        return f"{document}_{span}"
    if (document, span) not in section_of:
        raise InputError(
            f"{path}: {source}: span {span} of {document} is not in the documents. "
            "Mend: use files of one version."
        )
    return f"{document}_sec_{section_of[document, span]}"


FORMAT = Format(
    name="doc2dial",
    title="Doc2Dial and MultiDoc2Dial dialogues",
    seen="description only",
    recognises=lambda path: '"dial_data"' in json_head(path, 200),
    conversations=conversations,
)
FORMAT_DOCUMENTS = Format(
    name="doc2dial-documents",
    title="Doc2Dial and MultiDoc2Dial documents (spans or sections)",
    seen="description only",
    recognises=lambda path: '"doc_data"' in json_head(path, 200),
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_DOCUMENTS)
