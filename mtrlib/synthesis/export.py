"""Finished conversations as files: the plain layout, a BEIR folder, or rows like MTR-Bench's.

All three are read back by :mod:`mtrlib.data.formats`. Every folder gets an ``export.json``
that says what it holds and what its layout could not carry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mtrlib.data.jsonl import write_jsonl
from mtrlib.data.schema import Passage, Turn
from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, as_conversation
from mtrlib.synthesis.export_checks import by_split, check_drafts, manifest
from mtrlib.synthesis.export_folder import whole_folder, write_manifest

_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


def export_plain(
    folder: Path | str,
    conversations: Sequence[DraftConversation],
    passages: Sequence[Passage],
    *,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write ``corpus.jsonl`` and ``queries.jsonl``, the layout of this project.

    A query holds its history, all gold, the self-contained form, the answer and its labels,
    and as fields that the reader passes over its split, clusters and topic switch.

    Parameters
    ----------
    folder : new or empty; files are UTF-8 and appear together or not at all.
    passages : the whole corpus, not only the gold.
    overwrite : replace an earlier export there; never other files.

    Returns
    -------
    dict
        The content of ``export.json``.

    Raises
    ------
    InputError
        The folder is taken, two turns share an id, or a turn has no question, no gold, gold
        outside the corpus, or text that is not Unicode; the turn is named.
    """
    check_drafts(conversations, passages)
    with whole_folder(folder, overwrite=overwrite) as part:
        write_jsonl(part / "corpus.jsonl", (_passage(p, "id") for p in passages))
        write_jsonl(part / "queries.jsonl", _plain_queries(conversations))
        return write_manifest(part, manifest("plain", conversations, passages))


def export_beir(
    folder: Path | str,
    conversations: Sequence[DraftConversation],
    passages: Sequence[Passage],
    *,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``.

    BEIR has single queries: the text is the question as asked, and conversation, turn,
    history, self-contained form and answer go into ``metadata``, which readers pass over.
    Conversations without a split are ``test``. Parameters, result and errors are those of
    :func:`export_plain`; ids with tabs or line ends are refused as well.
    """
    check_drafts(conversations, passages)
    ids = [i for c in conversations for t in c.turns for i in (t.turn_id, *t.gold)]
    odd = [i for i in ids if _BREAKS.search(i)]
    if odd:
        raise InputError(f"id {odd[0]!r} cannot stand in a table. Mend: use ids without tabs.")
    lost = ["history is metadata only: a query is read as a conversation of its own"]
    with whole_folder(folder, overwrite=overwrite) as part:
        write_jsonl(part / "corpus.jsonl", (_passage(p, "_id") for p in passages))
        write_jsonl(part / "queries.jsonl", _beir_queries(conversations))
        (part / "qrels").mkdir()
        for split, found in by_split(conversations).items():
            rows = [f"{t.turn_id}\t{g}\t1" for c in found for t in c.turns for g in t.gold]
            text = "\n".join(["query-id\tcorpus-id\tscore", *rows, ""])
            (part / "qrels" / f"{split}.tsv").write_text(text, encoding="utf-8", newline="\n")
        return write_manifest(part, {**manifest("beir", conversations, passages), "lost": lost})


def _plain_queries(conversations: Iterable[DraftConversation]) -> Iterable[dict[str, Any]]:
    for draft in conversations:
        for turn in as_conversation(draft).turns:
            yield {
                "id": turn.query_id,
                "conversation_id": turn.conversation_id,
                "turn": turn.turn_number,
                "query": turn.raw_utterance,
                "history": _history(turn),
                "gold": list(turn.gold),
                "rewrite": turn.rewrite,
                "answer": turn.answer,
                "labels": list(turn.labels),
                "split": draft.split,
                "clusters": list(draft.clusters),
                "topic_switch_turn": draft.switch_turn,
            }


def _beir_queries(conversations: Iterable[DraftConversation]) -> Iterable[dict[str, Any]]:
    for draft in conversations:
        for turn in as_conversation(draft).turns:
            about = {
                "conversation_id": turn.conversation_id,
                "turn": turn.turn_number,
                "history": _history(turn),
                "rewrite": turn.rewrite,
                "answer": turn.answer,
            }
            yield {"_id": turn.query_id, "text": turn.raw_utterance, "metadata": about}


def _history(turn: Turn) -> list[dict[str, str]]:
    return [{"role": u.role, "text": u.text} for u in turn.history]


def _passage(passage: Passage, key: str) -> dict[str, Any]:
    return {
        key: passage.passage_id,
        "title": passage.title,
        "section": list(passage.section),
        "text": passage.text,
    }
