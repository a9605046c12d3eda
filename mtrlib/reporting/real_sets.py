"""Real sets that people have rated, as passages to judge beside what people said.

They stay outside the repository: packs lie in the folder of ``MTR_REAL_DATA``, else in
``shared/data`` beside the repository, and no text of theirs goes into a result.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mtrlib import paths
from mtrlib.audit.items import AuditItem, ItemSet
from mtrlib.audit.judging import Judge, Task
from mtrlib.data.formats import begin, conversational, mtrag_ratings
from mtrlib.data.formats.base import fields
from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Passage, Turn

# pack -> the files of it that are read
FILES = {
    "mtrag_human": ("corpus.jsonl", "ratings_clean.jsonl", "tasks_clean.jsonl"),
    "begin": ("begin_dev_cmu.tsv", "begin_dev_wow.tsv", "begin_test_wow.tsv"),
    "clapnq": ("closed_corpus.jsonl", "closed_queries.jsonl"),
    "inscit": ("corpus.jsonl", "qrels.tsv", "queries.jsonl"),
    "mtrag_un": ("corpus.jsonl",),
}


@dataclass(frozen=True)
class Rated:
    """Passages to judge, and what people said of the same.

    Attributes
    ----------
    pack, part : where it comes from; part is the name of the item set.
    tasks : one per passage.
    keys : of each task, the rated thing that it belongs to; an answer with three gold passages
        has three tasks.
    people : indexed by key; ``group``, the unit that is resampled, and one column of numbers
        per question that people answered.
    """

    pack: str
    part: str
    items: ItemSet
    tasks: tuple[Task, ...]
    keys: tuple[str, ...]
    people: pd.DataFrame


def packs() -> dict[str, Path]:
    """Packs that are there with all the files that are read, by name."""
    chosen = os.environ.get("MTR_REAL_DATA")
    folder = Path(chosen) if chosen else paths.root().parent / "shared" / "data"
    return {
        name: folder / name
        for name, files in FILES.items()
        if all((folder / name / file).is_file() for file in files)
    }


def verdicts(judge: Judge, tasks: Sequence[Task]) -> pd.DataFrame:
    """What a judge says of each task: ``score``, its rating, and ``probability`` of yes.

    NaN where it gives no verdict, or estimates no probability. One row per task, in order.
    """
    rows = [
        (np.nan if v.value is None else float(v.value), v.probabilities.get("yes", np.nan))
        for v in judge.judge(tasks)
    ]
    return pd.DataFrame(rows, columns=["score", "probability"], dtype=float)


def mtrag_human(folder: Path) -> Rated:
    """Answers against each gold passage of their task; people: mean rating of an answer.

    Tasks without gold have no passage to judge: their answers count as missing.
    """
    corpus = read_corpus(folder / "corpus.jsonl")
    by_id = {p.passage_id: p for p in corpus}
    turns = _mtrag_turns(folder)
    items, tasks = [], []
    for answer in mtrag_ratings.read_answers(folder / "ratings_clean.jsonl"):
        turn = turns[answer.item_id]
        item = AuditItem(
            f"{answer.item_id} {answer.system}",
            "mtrag_human",
            _dialogue(turn),
            turn.turn_number,
            turn.raw_utterance,
            turn.history,
            tuple(by_id[p] for p in turn.gold if p in by_id),
            answer=answer.answer,
        )
        items.append(item)
        tasks += [Task("faithfulness", item, passage) for passage in item.gold]
    ratings = mtrag_human_ratings(folder)
    means = ratings.pivot_table(index="item_id", columns="metric", values="rating")
    people = means[["faithfulness", "completeness"]]
    people.insert(0, "group", ratings.groupby("item_id")["group"].first())
    found = ItemSet("mtrag_human", tuple(items), corpus)
    keys = tuple(task.item.item_id for task in tasks)
    return Rated("mtrag_human", "mtrag_human", found, tuple(tasks), keys, people)


def mtrag_human_ratings(folder: Path) -> pd.DataFrame:
    """Single ratings, 1 to 4: ``metric, item_id, group, rater, rating``; group = dialogue."""
    turns = _mtrag_turns(folder)
    rows = [
        (r.metric, f"{r.item_id} {r.system}", _dialogue(turns[r.item_id]), r.rater, r.value)
        for r in mtrag_ratings.read_ratings(folder / "ratings_clean.jsonl")
        if r.metric in ("faithfulness", "completeness")
    ]
    return pd.DataFrame(rows, columns=["metric", "item_id", "group", "rater", "rating"])


def begin_sets(folder: Path) -> Iterator[Rated]:
    """One set per file: response against its knowledge; people: 1 = fully attributable.

    Several systems answered on one piece of knowledge, so that is the unit resampled.
    """
    for name in FILES["begin"]:
        path = folder / name
        answers = list(begin.read_answers(path))
        texts = list(dict.fromkeys(a.evidence for a in answers))
        passages = {text: Passage(f"{path.stem} {n}", text) for n, text in enumerate(texts, 1)}
        tasks, groups = [], []
        for a in answers:
            passage = passages[a.evidence]
            item = AuditItem(
                a.item_id, path.stem, a.item_id, 1, a.question, gold=(passage,), answer=a.answer
            )
            tasks.append(Task("faithfulness", item, passage))
            groups.append(passage.passage_id)
        labels = {r.item_id: r.value for r in begin.read_ratings(path)}
        keys = tuple(t.item.item_id for t in tasks)
        whole = [float(labels[key] == begin.LABELS[0]) for key in keys]
        people = pd.DataFrame({"group": groups, "fully_attributable": whole}, index=list(keys))
        found = ItemSet(path.stem, tuple(t.item for t in tasks), tuple(passages.values()))
        yield Rated("begin", path.stem, found, tuple(tasks), keys, people)


def clapnq(folder: Path) -> Rated:
    """Question against the one passage shown with it; people: 1 = it can be answered."""
    corpus = read_corpus(folder / "closed_corpus.jsonl")
    by_id = {p.passage_id: p for p in corpus}
    path, tasks, rows = folder / "closed_queries.jsonl", [], []
    for line, record in read_jsonl(path):
        name, question, candidate, answerable = fields(
            record, f"{path.name}:{line}", path, "id", "query", "candidate", "answerable"
        )
        name = text_id(name, path, line, "id")
        passage = by_id[text_id(candidate[0], path, line, "candidate")]
        item = AuditItem(name, "clapnq", name, 1, question, gold=(passage,))
        tasks.append(Task("query_evidence", item, passage))
        rows.append((passage.passage_id, float(answerable)))
    keys = tuple(t.item.item_id for t in tasks)
    people = pd.DataFrame(rows, index=list(keys), columns=["group", "answerable"])
    found = ItemSet("clapnq", tuple(t.item for t in tasks), corpus)
    return Rated("clapnq", "clapnq", found, tuple(tasks), keys, people)


def _mtrag_turns(folder: Path) -> dict[str, Turn]:
    found = conversational.conversations(folder / "tasks_clean.jsonl")
    return {turn.query_id: turn for conversation in found for turn in conversation.turns}


def _dialogue(turn: Turn) -> str:
    """The set names no dialogues; turns of one begin with the same words."""
    opening = turn.history[0].text if turn.history else turn.raw_utterance
    return hashlib.sha256(opening.encode()).hexdigest()[:12]
