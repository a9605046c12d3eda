"""MTR-Bench: rows of 8- and 12-turn conversations over Wikipedia, and its corpus.

A row holds the conversation up to one turn: ``messages`` (ends with the assistant's reply),
``ctxs`` (the cluster that the conversation was written from), ``ground_truth_document_idx``
(row of the corpus), ``ground_truth_ctx``, ``cluster_idx``; the 12-turn release adds ``turn`` and
``switch_turn`` (-1, or the last turn before the topic changes). The set is made with
``datasets.save_to_disk``; write it out with ``Dataset.to_json`` first. Source of the format:
``generate/build_dataset.py`` and ``merge_result.py`` of github.com/rangehow/mtr-suite.

Rows carry no id of their conversation. They are written conversation by conversation, turn 1
first, and are grouped on that ground; anything else is refused, since nothing in a row could
bring it back to its conversation. A row whose history is not what the row before said (the
generator joins turns by position) stays and gets the label ``history_differs``. A reply that
is the generator's error text gives no answer and the label ``failed_answer``.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields, records, utterances
from mtrlib.data.formats.nested import json_head, names_all
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError

FAILED = "[ERROR: generation failed]"


def passages(path: Path) -> Iterator[Passage]:
    """Read the corpus, or from conversation rows the passages of their clusters.

    A corpus record's id is its position in the file, from 0, as ``document_idx`` counts. From
    rows each passage is given once, at its first appearance; this is a part of the corpus.

    Raises
    ------
    InputError
        A record without text, or two texts under one ``document_idx``.
    """
    FORMAT.notice()
    seen: dict[str, bytes] = {}
    for position, (source, record) in enumerate(records(path)):
        if "messages" not in record:
            yield _passage(record, str(position), source, path)
            continue
        for each in fields(record, source, path, "ctxs", kinds=[list])[0]:
            (number,) = fields(each, source, path, "document_idx", kinds=[int])
            found = _passage(each, str(number), source, path)
            digest = hashlib.blake2b(found.text.encode(), digest_size=16).digest()
            if found.passage_id not in seen:
                seen[found.passage_id] = digest
                yield found
            elif seen[found.passage_id] != digest:
                raise _wrong(path, source, f"passage {number} has two texts", "use one release")


def _passage(record: dict[str, Any], key: str, source: str, path: Path) -> Passage:
    (text,) = fields(record, source, path, "text", kinds=[str])
    document = record.get("id")
    return Passage(
        key,
        text,
        str(record.get("title") or ""),
        document="" if document is None else str(document),
        source=source,
    )


def conversations(path: Path) -> Iterator[Conversation]:
    """Read rows as conversations, numbered from 1 in the order of the file.

    ``topic_switch_turn`` is the turn after ``switch_turn``; rows without that field (8 turns)
    switch where ``cluster_idx`` first changes.

    Raises
    ------
    InputError
        Rows of one conversation are apart or out of order, ``turn`` is not the number of
        questions, the last message is not a reply to a user, or the two gold fields disagree.
    """
    FORMAT.notice()
    number = 0
    group: list[tuple[Turn, dict[str, Any]]] = []
    for source, record in records(path):
        turn = _turn(record, source, path)
        if turn.turn_number == 1:
            if group:
                yield _conversation(str(number), group)
            number, group = number + 1, []
        else:
            before = group[-1] if group else None
            follows = before is not None and _begins(record, before[1])
            if before is None or not (
                turn.turn_number == before[0].turn_number + 1
                or (follows and turn.turn_number > before[0].turn_number)
            ):
                after = f"turn {before[0].turn_number}" if before else "nothing"
                raise _wrong(
                    path,
                    source,
                    f"turn {turn.turn_number} comes after {after}; rows of a conversation must "
                    "stand together, turn 1 first",
                    "write the rows in the published order",
                )
            if not follows:
                turn = dataclasses.replace(turn, labels=(*turn.labels, "history_differs"))
        group.append((turn, record))
    if group:
        yield _conversation(str(number), group)


def _turn(record: dict[str, Any], source: str, path: Path) -> Turn:
    messages, gold, context = fields(
        record, source, path, "messages", "ground_truth_document_idx", "ground_truth_ctx"
    )
    said = utterances(messages, source, path) if isinstance(messages, list) else ()
    if len(said) < 2 or len(said) % 2 or said[0].role != "user":
        raise _wrong(
            path, source, "messages do not alternate from a user to a final reply", "see the format"
        )
    count = len(said) // 2
    if record.get("turn", count) != count:
        raise _wrong(
            path, source, f"turn is {record['turn']!r} after {count} questions", "use one release"
        )
    if type(gold) is not int or gold < 0:
        raise _wrong(path, source, f"ground_truth_document_idx is {gold!r}", "it is a corpus row")
    other = context.get("document_idx", gold) if isinstance(context, dict) else None
    if other != gold:
        raise _wrong(path, source, f"gold is {gold} and in its context {other}", "use one release")
    failed = said[-1].text.startswith(FAILED)
    return Turn(
        query_id="",
        conversation_id="",
        turn_number=count,
        raw_utterance=said[-2].text,
        history=said[:-2],
        gold=(str(gold),),
        answer=None if failed else said[-1].text,
        labels=("failed_answer",) if failed else (),
        source=source,
    )


def _begins(record: dict[str, Any], before: dict[str, Any]) -> bool:
    said = before["messages"]
    return bool(record["messages"][: len(said)] == said)


def _conversation(key: str, group: list[tuple[Turn, dict[str, Any]]]) -> Conversation:
    switch = group[-1][1].get("switch_turn")
    if switch is None:
        clusters = [(t.turn_number, r.get("cluster_idx")) for t, r in group]
        changed = [n for n, c in clusters if c != clusters[0][1]]
        start = changed[0] if changed else None
    else:
        start = switch + 1 if switch > 0 else None
    turns = tuple(
        dataclasses.replace(t, conversation_id=key, query_id=f"{key}_{t.turn_number}")
        for t, _ in group
    )
    return Conversation(key, turns, start)


def _wrong(path: Path, source: str, problem: str, mend: str) -> InputError:
    return InputError(f"{path}: {source}: {problem}. Mend: {mend}.")


def _is_rows(path: Path) -> bool:
    start = json_head(path)
    return names_all(start, "messages", "ctxs") and "document_idx" in start


def _is_corpus(path: Path) -> bool:
    start = json_head(path)
    return '"edu_quality"' in start and '"text"' in start and '"messages"' not in start


FORMAT = Format(
    name="mtr-bench",
    title="MTR-Bench rows (8 or 12 turns), with the passages of their clusters",
    seen="description only",
    recognises=_is_rows,
    passages=passages,
    conversations=conversations,
)
FORMAT_CORPUS = Format(
    name="mtr-bench-corpus",
    title="MTR-Bench corpus (Wikipedia passages with quality scores)",
    seen="description only",
    recognises=_is_corpus,
    passages=passages,
)
FORMATS = (FORMAT, FORMAT_CORPUS)
