"""TREC CAsT 2019 to 2022: topics with human rewrites; each year has a layout of its own.

==== ======================= ============================ =============================
year utterance               rewrite                      what answers the turn
==== ======================= ============================ =============================
2019 raw_utterance           a TSV beside, ``31_2`` TAB   nothing
2020 raw_utterance           ``manual_``, ``automatic_``  ``manual_canonical_result_id``
2021 raw_utterance           ``manual_``, ``automatic_``  ``canonical_result_id`` + passage
2022 utterance               one of the two               response and provenance
==== ======================= ============================ =============================

All are JSON lists of ``{number, turn}``; query ids are the official ``<topic>_<turn>``. Gold is
the passage (2020, 2021) or provenance (2022) that the topic itself names as its answer; the
graded judgements of the track are qrels files, read by :mod:`mtrlib.data.formats.trec`.

In 2022 a topic is a tree. It comes flattened, one record per path, or as nodes with parents;
both give **every path as a conversation** named ``<topic>/<path>``, paths counted from 1. Turns
that several paths share repeat their id: the first keeps the official one, the later ones get
``@2``, ``@3`` ... and the label ``repeated_turn``, so that 205 official turns become 284.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from mtrlib.data.formats import cast_rewrites
from mtrlib.data.formats.base import Format, fields, head, records
from mtrlib.data.formats.cast_tree import ways
from mtrlib.data.formats.conversational import spoken
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn, Utterance
from mtrlib.errors import InputError

Rewrite = Literal["manual", "automatic"]
_CANONICAL = ("manual_canonical_result_id", "canonical_result_id")


def conversations(
    path: Path, rewrite: Rewrite | None = None, resolved: Path | None = None
) -> Iterator[Conversation]:
    """Topics of any year; the layout is told from the fields.

    History holds the user's earlier utterances, and the answers where the topics have their
    text (2021, 2022). ``answer`` is that text. Labels: ``automatic_rewrite`` for a rewrite by a
    machine; ``gold_in_history`` for turns of 2021 after the first, whose history holds earlier
    gold passages word for word; ``repeated_turn`` (see the module). Titles, descriptions, the
    notes of annotators and ``automatic_canonical_result_id`` (what a baseline retrieved, so no
    judgement) are left out.

    Parameters
    ----------
    rewrite : which rewrite to take; None = the manual one, else the automatic one.
    resolved : rewrites of 2019; None = the first ``*resolved*.tsv`` beside the topics, if any
        (``*annotated_resolved*`` first).

    Raises
    ------
    InputError
        A turn of no known layout, a tree whose parents do not fit, or a turn of 2019 without a
        line in the TSV.
    """
    texts: dict[str, str] | None = None
    names = _PassageNames()
    counted: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for source, record in records(path):
        number, nodes = fields(record, source, path, "number", "turn")
        if not (isinstance(nodes, list) and nodes and all(isinstance(n, dict) for n in nodes)):
            raise InputError(f"{path}: {source}: turn is no list of turns. Mend: see the format.")
        topic = text_id(number, path, None, f"{source}: number")
        if "raw_utterance" in nodes[0]:
            if texts is None:
                texts = cast_rewrites.beside(path, resolved)
            yield _topic(topic, nodes, names, texts, rewrite, source, path)
            continue
        if "participant" in nodes[0]:
            FORMAT_TREE.notice()
        for way in ways(nodes, source, path):
            counted[topic] += 1
            yield _path(topic, f"{topic}/{counted[topic]}", way, seen, rewrite, source, path)


def passages(path: Path) -> Iterator[Passage]:
    """The canonical passages of 2021, once each: a closed corpus for its topics.

    The id is ``<canonical_result_id>-<passage_id>``. One published id has two texts; the second
    text gets the id with ``@2``, here and in the gold. The texts are under the licences of
    MS MARCO, the Washington Post and Wikipedia.
    """
    FORMAT_2021.notice()
    names = _PassageNames()
    for source, record in records(path):
        (nodes,) = fields(record, source, path, "turn", kinds=(list,))
        for index, node in enumerate(nodes):
            where = f"{source}/{index}"
            name, new = names.of(node, where, path)
            if new:
                yield Passage(
                    name, node["passage"], document=node["canonical_result_id"], source=where
                )


class _PassageNames:
    """Ids of canonical passages, made unique by text."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}

    def of(self, node: dict[str, Any], where: str, path: Path) -> tuple[str, bool]:
        """The id, and whether it is new."""
        document, text = fields(node, where, path, "canonical_result_id", "passage", kinds=(str,))
        (part,) = fields(node, where, path, "passage_id", kinds=(int, str))
        texts = self._texts.setdefault(f"{document}-{part}", [])
        new = text not in texts
        if new:
            texts.append(text)
        count = texts.index(text) + 1
        return f"{document}-{part}" + (f"@{count}" if count > 1 else ""), new


def _topic(
    topic: str,
    nodes: Sequence[dict[str, Any]],
    names: _PassageNames,
    texts: dict[str, str],
    wanted: Rewrite | None,
    source: str,
    path: Path,
) -> Conversation:
    """2019 to 2021: turns in a row, their answers as passages or ids of passages."""
    turns: list[Turn] = []
    said: list[Utterance] = []
    for index, node in enumerate(nodes):
        where = f"{source}/{index}"
        (utterance,) = fields(node, where, path, "raw_utterance", kinds=(str,))
        (number,) = fields(node, where, path, "number", kinds=(int,))
        query_id = f"{topic}_{number}"
        text, labels = _rewrite(node, wanted)
        if texts and not any(key.endswith("_rewritten_utterance") for key in node):
            if query_id not in texts:
                raise InputError(
                    f"{path}: {where}: turn {query_id} has no line in the TSV of rewrites. "
                    "Mend: give the TSV of these topics as `resolved`."
                )
            text = texts[query_id]
        answer = None
        gold = tuple(str(node[k]) for k in _CANONICAL if node.get(k))[:1]
        if "passage" in node:
            FORMAT_2021.notice()
            gold = (names.of(node, where, path)[0],)
            answer = node["passage"]
            labels += ("gold_in_history",) if said else ()
        turns.append(
            Turn(
                query_id, topic, number, utterance, tuple(said), gold, text,
                answer=answer, labels=labels, source=where,
            )
        )  # fmt: skip
        said += spoken(turns[-1])
    return Conversation(topic, tuple(turns))


def _path(
    topic: str,
    name: str,
    way: Sequence[dict[str, Any]],
    seen: Counter[str],
    wanted: Rewrite | None,
    source: str,
    path: Path,
) -> Conversation:
    """2022: one path, user turns with the response that followed on this path."""
    turns: list[Turn] = []
    said: list[Utterance] = []
    for index, node in enumerate(way):
        where = f"{source}/{node.get('number', index)}"
        number, utterance = fields(node, where, path, "number", "utterance", kinds=(str,))
        if "system_response" in node:
            raise InputError(
                f"{path}: {where}: a draft of the topics (field 'system_response'). "
                "Mend: use 2022_evaluation_topics_flattened_duplicated_v1.0.json."
            )
        gold = node.get("provenance") or []
        if not isinstance(gold, list):
            raise InputError(f"{path}: {where}: provenance is no list. Mend: see the format.")
        query_id = f"{topic}_{number}"
        seen[query_id] += 1
        text, labels = _rewrite(node, wanted)
        if seen[query_id] > 1:
            labels += ("repeated_turn",)
            query_id = f"{query_id}@{seen[query_id]}"
        turns.append(
            Turn(
                query_id, name, index + 1, utterance, tuple(said),
                tuple(dict.fromkeys(text_id(p, path, None, where) for p in gold)), text,
                answer=node.get("response") or None, labels=labels, source=where,
            )
        )  # fmt: skip
        said += spoken(turns[-1])
    return Conversation(name, tuple(turns))


def _rewrite(node: dict[str, Any], wanted: Rewrite | None) -> tuple[str | None, tuple[str, ...]]:
    for kind in (wanted,) if wanted else ("manual", "automatic"):
        if text := node.get(f"{kind}_rewritten_utterance"):
            return str(text), ("automatic_rewrite",) if kind == "automatic" else ()
    return None, ()


def _opening(path: Path) -> str:
    opening = head(path) if path.suffix == ".json" else ""
    return opening if opening.lstrip().startswith("[") and '"turn"' in opening else ""


def _is_2019(path: Path) -> bool:
    opening = _opening(path)
    return '"raw_utterance"' in opening and '_rewritten_utterance"' not in opening


def _is_2020(path: Path) -> bool:
    opening = _opening(path)
    return (
        '"raw_utterance"' in opening
        and '_rewritten_utterance"' in opening
        and '"passage"' not in opening
    )


def _is_2021(path: Path) -> bool:
    opening = _opening(path)
    return '"raw_utterance"' in opening and '"passage"' in opening


def _is_2022(path: Path) -> bool:
    opening = _opening(path)
    return '"utterance"' in opening and '"participant"' not in opening


def _is_tree(path: Path) -> bool:
    return '"participant"' in _opening(path)


FORMAT_2019 = Format(
    "cast-2019", "TREC CAsT 2019 topics", "real record", _is_2019, conversations=conversations
)
FORMAT_2020 = Format(
    "cast-2020", "TREC CAsT 2020 topics", "real record", _is_2020, conversations=conversations
)
FORMAT_2021 = Format(
    "cast-2021",
    "TREC CAsT 2021 topics with canonical passages",
    "description only",
    _is_2021,
    passages=passages,
    conversations=conversations,
)
FORMAT_2022 = Format(
    "cast-2022",
    "TREC CAsT 2022 topics, flattened to paths",
    "real record",
    _is_2022,
    conversations=conversations,
)
FORMAT_TREE = Format(
    "cast-2022-tree",
    "TREC CAsT 2022 topics as trees",
    "description only",
    _is_tree,
    conversations=conversations,
)
FORMATS = (
    FORMAT_2019,
    FORMAT_2020,
    FORMAT_2021,
    FORMAT_TREE,
    FORMAT_2022,
    *cast_rewrites.FORMATS,
)
