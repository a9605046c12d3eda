"""Finished conversations as rows like MTR-Bench's, for tools that read the released set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtrlib.data.formats.mtr_bench import FAILED
from mtrlib.data.jsonl import write_jsonl
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError
from mtrlib.synthesis.drafts import DraftConversation, as_conversation
from mtrlib.synthesis.export_checks import by_split, check_drafts, manifest
from mtrlib.synthesis.export_folder import whole_folder, write_manifest

Record = dict[str, Any]


def export_mtr_bench(
    folder: Path | str,
    conversations: Sequence[DraftConversation],
    passages: Sequence[Passage],
    clusters: Mapping[str, Sequence[str]],
    *,
    overwrite: bool = False,
) -> Record:
    """Write ``corpus.jsonl`` and one ``rows_<split>.jsonl`` per split.

    One row per turn, as in the 12-turn release: ``messages`` up to the turn's answer,
    ``ctxs`` (its cluster), ``ground_truth_document_idx`` (row of the corpus, from 0),
    ``ground_truth_ctx``, ``cluster_idx`` (place in ``clusters``, from 0), ``turn`` and
    ``switch_turn`` (-1, or the last turn before the new topic). Quality scores are null: they
    are not measured here. Our ids go along in fields of their own, which readers pass over;
    read back, conversations are numbered from 1 and gold is the row of the corpus.

    A row has one gold passage: the first. Others stand in ``other_document_idx``, are passed
    over by readers, and ``export.json`` counts the turns.

    Parameters
    ----------
    folder : new or empty; files are UTF-8 and appear together or not at all.
    passages : the whole corpus.
    clusters : passage ids by cluster id, for ``ctxs``; gold from outside is put last.
    overwrite : replace an earlier export there; never other files.

    Returns
    -------
    dict
        The content of ``export.json``.

    Raises
    ------
    InputError
        As :func:`mtrlib.synthesis.export.export_plain`; a turn without answer or with the
        error text of a failed call in its place; an unknown cluster or passage in one.
    """
    check_drafts(conversations, passages)
    _check_answers(conversations)
    rows = _Rows(passages, clusters)
    several = sum(len(t.gold) > 1 for c in conversations for t in c.turns)
    lost = [f"{several} turns have more than one gold passage; a row has the first"]
    with whole_folder(folder, overwrite=overwrite) as part:
        write_jsonl(part / "corpus.jsonl", map(rows.corpus_record, passages))
        for split, found in by_split(conversations).items():
            write_jsonl(part / f"rows_{split}.jsonl", (r for c in found for r in rows.of(c)))
        about = manifest("mtr-bench", conversations, passages)
        return write_manifest(part, {**about, "lost": lost if several else []})


class _Rows:
    """Makes rows over one corpus and its clusters."""

    def __init__(self, passages: Sequence[Passage], clusters: Mapping[str, Sequence[str]]) -> None:
        self._passages = passages
        self._row = {p.passage_id: row for row, p in enumerate(passages)}
        self._cluster = {name: number for number, name in enumerate(clusters)}
        self._members = clusters

    def corpus_record(self, passage: Passage) -> Record:
        return {
            "id": passage.document or passage.passage_id,
            "url": "",
            "title": passage.title,
            "naive_quality": None,
            "edu_quality": None,
            "passage_id": passage.passage_id,
            "text": passage.text,
        }

    def of(self, draft: DraftConversation) -> Iterator[Record]:
        messages: list[Record] = []
        switch = draft.switch_turn
        for turn in as_conversation(draft).turns:
            messages += [
                {"role": "user", "content": turn.raw_utterance},
                {"role": "assistant", "content": turn.answer},
            ]
            second = int(switch is not None and turn.turn_number >= switch)
            cluster = self._known(draft, draft.clusters[second : second + 1])
            yield {
                "turn": turn.turn_number,
                "switch_turn": -1 if switch is None else switch - 1,
                "cluster_idx": self._cluster[cluster],
                "ground_truth_document_idx": self._row[turn.gold[0]],
                "other_document_idx": [self._row[g] for g in turn.gold[1:]],
                "conversation_id": turn.conversation_id,
                "turn_id": turn.query_id,
                "messages": list(messages),
                "ctxs": self._contexts(cluster, turn.gold),
                "ground_truth_ctx": self._context(turn.gold[0]),
            }

    def _known(self, draft: DraftConversation, found: Sequence[str]) -> str:
        if not found or found[0] not in self._cluster:
            raise InputError(
                f"conversation {draft.conversation_id}: cluster {found[0] if found else None!r} "
                "is not among the clusters given. Mend: pass those it was written from."
            )
        return found[0]

    def _contexts(self, cluster: str, gold: Sequence[str]) -> list[Record]:
        members = dict.fromkeys([*self._members[cluster], *gold])
        lost = [p for p in members if p not in self._row]
        if lost:
            raise InputError(
                f"cluster {cluster}: passage {lost[0]} is not in the corpus. "
                "Mend: export with the corpus that was clustered."
            )
        return [self._context(p) for p in members]

    def _context(self, passage_id: str) -> Record:
        row = self._row[passage_id]
        return {"document_idx": row, **self.corpus_record(self._passages[row])}


def _check_answers(conversations: Sequence[DraftConversation]) -> None:
    for conversation in conversations:
        for turn in conversation.turns:
            if not turn.answer.strip() or turn.answer.lstrip().startswith(FAILED):
                raise InputError(
                    f"conversation {conversation.conversation_id}, turn {turn.turn_id}: no answer, "
                    "and a row ends with one. Mend: drop the turn, or ask for its answer again."
                )
