"""Files of any layout: JSON Lines, JSON, CSV or TSV with a map from our fields to theirs.

Names that people really use are recognised by themselves (``QUERY_NAMES`` and
``PASSAGE_NAMES`` of ``columns.py``; upper and lower case are one). A map overrides them: a
dict, or a file ``columns.yaml`` in the folder of the data::

    queries:
      file: fragen.csv          # may be left out when the reader is given the file
      encoding: gb18030         # default utf-8; a BOM is allowed
      query: Frage
      gold: [chunk_ids, meta.docs]   # the first that is not null; a dot goes one level down
      answer: null              # ignore what would be recognised
    passages:
      file: corpus.tsv
      columns: [id, title, text]     # for a file without a header line
      passage_id: "#"           # the number of the record, from 0, where the file has no ids

A mapped field must be in every record (null is allowed). Further settings: ``delimiter``,
``quotes: false`` (quotes are plain characters), ``split: ";"`` (gold as ``d1;d2`` in one cell).

How gold is read
    A list, a list stored as text (JSON or Python, never evaluated), or one bare string.
    A list of lists is AutoRAG's and/or form, as its documentation has it: every inner list
    names passages of which one suffices, and all inner lists are needed. ``gold`` is their
    union; the groups stay in ``Turn.labels`` and :func:`gold_groups` gives them back.
    Objects count by their id (``{"doc_id": "kb", "page": 30}`` is ``kb``; the rest goes
    to ``labels``), or by their text where they have no id. Strings under
    ``ground_truth_contexts``, ``reference_contexts`` and ``gold_passages`` are texts
    (``Turn.gold_texts``), under all other names ids; map ``gold`` or ``gold_texts`` where
    a file means it otherwise.

How messages are read
    Three schemas of roles (see :func:`mtrlib.data.formats.base.utterances`), or texts that
    alternate. The last message of the user is the question. What the agent says after it is
    the answer. System prompts and empty messages are dropped; earlier messages of one side
    in a row become one. ``input`` and ``context`` count only where they hold such objects.

Refusals
    A true ``should_refuse``, ``expected_empty`` or ``is_unanswerable``, or a false
    ``metric_eligible``, becomes a label ``unanswerable``; together with gold it is an error.
    ``expected_outcome`` becomes the label ``expected_outcome:<value>``.

How the answer is read
    The first one. ``answer`` counts only where no field such as ``ground_truth`` or
    ``reference`` does, because there it is what a system said.

Ids that a file does not have: ``<conversation>_<turn>`` for a query, the number of the record
(from 1) for a conversation. Rows of one conversation must stand together.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, alternating, utterances
from mtrlib.data.formats.column_files import is_part, recognises
from mtrlib.data.formats.columns import (
    MAP_FILE,
    PASSAGE_NAMES,
    QUERY_NAMES,
    Columns,
    Record,
    is_absent,
    open_mapped,
    read_listed,
    rows_of,
)
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError

_GROUPS = "gold_groups:"


def read_conversations(path: Path | str, columns: Columns | None = None) -> Iterator[Conversation]:
    """Conversations of a file, or of the folder whose ``columns.yaml`` names one, streamed.

    Parameters
    ----------
    columns : our names to theirs, with settings (module text); None = ``columns.yaml``
        beside the file if there is one, else recognised names only.

    Raises
    ------
    InputError
        What cannot be read, with file, place and mend: no question, gold of an unknown
        shape, two recognised fields that disagree, a mapped field that is not there.
    """
    path, columns = open_mapped(Path(path), columns, "queries", QUERY_NAMES)
    seen: set[str] = set()
    group: list[Turn] = []
    for number, (source, record) in enumerate(rows_of(path, columns)):
        turn = _turn(Record(path, source, record, columns, QUERY_NAMES, number))
        if number == 0 and not _has_gold(record, columns):
            warnings.warn(
                f"{path}: no field of gold was recognised (has {', '.join(record)}); name it "
                f"as gold or gold_texts in {MAP_FILE}",
                stacklevel=2,
            )
        goes_on = bool(group) and group[0].conversation_id == turn.conversation_id
        if goes_on and turn.conversation_id != turn.query_id:
            group.append(turn)
            continue
        if group:
            yield _conversation(group)
        if turn.conversation_id in seen:
            raise InputError(
                f"{path}: {source}: conversation or query {turn.conversation_id} occurs again. "
                "Mend: give records ids of their own; keep those of a conversation together."
            )
        seen.add(turn.conversation_id)
        group = [turn]
    if group:
        yield _conversation(group)


def read_passages(path: Path | str, columns: Columns | None = None) -> Iterator[Passage]:
    """Passages of a file or of the folder whose ``columns.yaml`` names one, streamed.

    Texts stay as they are; an empty one is allowed (it is never a hit). That ids are unique
    is checked where a benchmark is put together.

    Raises
    ------
    InputError
        A record without id or text, with file, place and mend.
    """
    path, columns = open_mapped(Path(path), columns, "passages", PASSAGE_NAMES)
    for number, (source, record) in enumerate(rows_of(path, columns)):
        row = Record(path, source, record, columns, PASSAGE_NAMES, number)
        section = row.listed("section", row.get("section") or [])
        yield Passage(
            row.id("passage_id", required=True),
            row.text("text", required=True),
            row.text("title"),
            tuple(str(s) for s in (section if isinstance(section, list) else [section])),
            document=row.id("document"),
            source=source,
        )


def gold_groups(turn: Turn) -> tuple[tuple[str, ...], ...]:
    """The and/or groups of a turn's gold: all are needed, one passage of each suffices.

    Without groups in the file every gold passage is a group of its own.
    """
    for label in turn.labels:
        if label.startswith(_GROUPS):
            return tuple(tuple(g) for g in json.loads(label.removeprefix(_GROUPS)))
    return tuple((g,) for g in turn.gold)


def _turn(row: Record) -> Turn:
    history, question, said = _dialogue(row)
    gold, texts, labels = _gold(row)
    if True in row.flags("refusal") or False in row.flags("eligible"):
        if gold or texts:
            raise row.error(
                "marked as without an answer, and yet it has gold",
                f"empty one of them, or ignore the mark with `refusal: null` in {MAP_FILE}",
            )
        labels.append("unanswerable")
    outcome = row.get("outcome")
    if outcome is not None:
        labels.append(f"expected_outcome:{outcome}")
    conversation = row.id("conversation_id") or row.id("query_id") or str(row.number + 1)
    return Turn(
        query_id=row.id("query_id"),
        conversation_id=conversation,
        turn_number=_turn_number(row, history),
        raw_utterance=question,
        history=history,
        gold=gold,
        gold_texts=texts,
        rewrite=row.text("rewrite") or None,
        author_voice=row.text("author_voice") or None,
        answer=_answer(row) or said or None,
        labels=tuple(labels),
        scope=row.id("scope"),
        source=row.source,
    )


def _conversation(group: list[Turn]) -> Conversation:
    """Turns by number where they have one, else by place; missing query ids are made."""
    numbered = [
        t if t.turn_number else dataclasses.replace(t, turn_number=place)
        for place, t in enumerate(group, start=1)
    ]
    turns = [
        t if t.query_id else dataclasses.replace(t, query_id=f"{t.conversation_id}_{t.turn_number}")
        for t in sorted(numbered, key=lambda t: t.turn_number)
    ]
    return Conversation(turns[0].conversation_id, tuple(turns))


def _turn_number(row: Record, history: Sequence[Utterance]) -> int:
    name, value = row.found("turn")
    if value is None:
        return sum(u.role == "user" for u in history) + 1 if history else 0
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if type(value) is not int:
        raise row.error(f"{name} is {value!r}", "turns are numbered 1, 2, ...")
    return value


def _dialogue(row: Record) -> tuple[tuple[Utterance, ...], str, str]:
    """History, question and what the agent said after it."""
    query = row.text("query")
    name, value = row.found("messages")
    messages = row.listed(name, value) if value is not None else []
    if not isinstance(messages, list):
        raise row.error(f"{name} is {type(messages).__name__}, expected a list", "see the map")
    if all(isinstance(m, str) for m in messages):
        if query and len(messages) % 2:
            raise row.error(
                f"{name} has {len(messages)} texts, so its last one is a user's without a reply",
                "write messages as objects with role and text",
            )
        turns = list(alternating(messages))
    elif all(isinstance(m, dict) for m in messages):
        turns = [u for m in messages for u in utterances([m], row.source, row.path)]
    else:
        raise row.error(f"{name} mixes texts and objects", "write all as objects with role")
    if query and not (turns and turns[-1] == Utterance("user", query.strip())):
        return _joined(turns), query, ""
    last = max((i for i, u in enumerate(turns) if u.role == "user"), default=None)
    if last is None:
        raise row.error(
            f"no question (has {', '.join(row.record)})", f"name its field as query in {MAP_FILE}"
        )
    said = "\n".join(u.text for u in turns[last + 1 :])
    return _joined(turns[:last]), query or turns[last].text, said


def _joined(turns: Sequence[Utterance]) -> tuple[Utterance, ...]:
    joined: list[Utterance] = []
    for turn in turns:
        if joined and joined[-1].role == turn.role:
            joined[-1] = Utterance(turn.role, f"{joined[-1].text}\n{turn.text}")
        else:
            joined.append(turn)
    return tuple(joined)


def _gold(row: Record) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Ids, texts and labels (groups, details of objects) of the gold."""
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    for field in ("gold", "gold_texts"):
        name, value = row.found(field)
        items = _items(row, name, value)
        nested = [isinstance(i, list) for i in items]
        if any(nested) and not all(nested):
            raise row.error(f"{name} mixes ids and lists of ids", "write each id as a list")
        groups = []
        for group in items if any(nested) else [items]:
            found = [_gold_item(row, name, field, item, labels) for item in group]
            ids += [i for i, _ in found if i]
            texts += [t for _, t in found if t]
            groups.append([i for i, _ in found if i])
        if any(nested) and any(groups):
            labels.append(_GROUPS + json.dumps([g for g in groups if g], ensure_ascii=False))
    return tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(texts)), labels


def _items(row: Record, name: str, value: Any) -> list[Any]:
    if value is None:
        return []
    value = row.listed(name, value)
    if isinstance(value, str) and row.columns.get("split"):
        return [part.strip() for part in value.split(row.columns["split"]) if part.strip()]
    return value if isinstance(value, list) else [value]


def _gold_item(row: Record, name: str, field: str, item: Any, labels: list[str]) -> tuple[str, str]:
    """``(id, "")`` or ``("", text)``."""
    if isinstance(item, dict):
        keys = {k.lower(): k for k in item}
        for key in PASSAGE_NAMES["passage_id"]:
            if key in keys:
                found = row.as_id(item[keys[key]], f"{name}.{keys[key]}")
                rest = {k: v for k, v in item.items() if k != keys[key] and _is_detail(k, v)}
                if rest:
                    labels.append(f"gold:{found} {json.dumps(rest, ensure_ascii=False)}")
                return found, ""
        for key in PASSAGE_NAMES["text"]:
            if isinstance(item.get(keys.get(key, "")), str):
                return "", item[keys[key]]
        raise row.error(f"{name} has an object without id or text ({', '.join(item)})", "add one")
    if field == "gold_texts" and isinstance(item, str):
        return "", item
    return row.as_id(item, name), ""


def _is_detail(key: str, value: Any) -> bool:
    """A page, a clause, a score; not the title or text of the passage."""
    known = key.lower() in (*PASSAGE_NAMES["text"], *PASSAGE_NAMES["title"])
    return not known and isinstance(value, int | float | str) and len(str(value)) <= 80


def _answer(row: Record) -> str:
    """The first answer as text."""
    name, value = row.found("answer")
    try:
        value = read_listed(value)
    except ValueError:
        return str(value)
    if isinstance(value, list):
        value = next((v for v in value if not is_absent(v)), None)
    if isinstance(value, dict):
        value = value.get("text")
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, int | float):
        return str(value)
    raise row.error(f"{name} is {type(value).__name__}, expected text", "write the answer as text")


def _has_gold(record: Mapping[str, Any], columns: Columns) -> bool:
    known = {*QUERY_NAMES["gold"], *QUERY_NAMES["gold_texts"]}
    mapped = "gold" in columns or "gold_texts" in columns
    return mapped or any(k.strip().lower() in known for k in record)


def _conversations(path: Path) -> Iterator[Conversation]:
    return read_conversations(path) if is_part(path, "queries") else iter(())


def _passages(path: Path) -> Iterator[Passage]:
    return read_passages(path) if is_part(path, "passages") else iter(())


FORMAT = Format(
    name="column-map",
    title="any JSON Lines, JSON, CSV or TSV, with recognised names or a columns.yaml",
    seen="real record",
    recognises=recognises,
    passages=_passages,
    conversations=_conversations,
)
FORMATS = (FORMAT,)
