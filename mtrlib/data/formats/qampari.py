"""QAMPARI: question files, files with contexts; with the chunk corpus and ALCE's demonstrations.

Questions are JSON Lines with ``qid, question_text, entities, answer_list[{aid, answer_text,
aliases, answer_url, proof[{pid, proof_text, found_in_url}]}]``. Files with contexts (a JSON
list, or JSON Lines with ``id, answers, ans_mappings``) add ``positive_ctxs[{chunk_id, pid,
title, text}]`` and ``ctxs[{id, title, text}]``. Any of them may be packed with gzip.

Known defects of the set (audited for RVR) and what becomes of them: empty questions are left
out with a warning; stray white space around titles is removed; a gold chunk named twice counts
once; commas inside answers stay; questions that stand in the set under several ids are kept, and
whoever splits must put them on one side (:mod:`mtrlib.rvr.training_questions` merges them).

Source: github.com/samsam3232/qampari (the code that writes the files), Amouyal et al. 2022.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats import qampari_chunks, qampari_demos
from mtrlib.data.formats.base import Format, fields
from mtrlib.data.formats.multi_answer import as_answer, listed, split_in_name
from mtrlib.data.formats.packed import packed_head, packed_records
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Passage
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError

# the set names kind and split of a question only at the end of its id, which itself stays whole
_KIND = re.compile(r"__(wikidata_\w+?|wikitables_\w+?)__(train|dev|test)$")
_HEAD = 1 << 16


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Questions with answers, and with gold chunks where the file has contexts.

    In a question file gold is empty: its proofs are sentences, not
    chunks. With contexts, ``gold`` has every chunk aligned to a proof; an answer has its own
    chunks only where the record keeps ``answer_list``, which ties proofs to answers. Answers
    that repeat stay separate, as in the set. ``entities`` and ``answer_url`` are not kept.

    Raises
    ------
    InputError
        A field is missing or of another kind; file and place are named.
    """
    FORMAT.notice()
    empty: list[str] = []
    for source, record in packed_records(path):
        question = _question(record, source, path)
        if question.question:
            yield question
        else:
            empty.append(source)
    if empty:
        warnings.warn(
            f"{path.name}: {len(empty)} questions are empty and left out, first {empty[0]}",
            stacklevel=2,
        )


def read_contexts(path: Path) -> Iterator[Passage]:
    """Chunks beside the questions, each once: gold ones, retrieved ones, hard negatives.

    Held in memory are the ids and a digest of each text, not the texts.

    Raises
    ------
    InputError
        A field is missing, or one chunk id has two texts.
    """
    FORMAT_CONTEXTS.notice()
    seen: dict[str, int] = {}
    for source, record in packed_records(path):
        where = f"{path}: {source}"
        for name in ("positive_ctxs", "ctxs", "hard_negative_ctxs"):
            for context in listed(record.get(name), name, where):
                (text,) = fields(context, source, path, "text", kinds=(str,))
                chunk = text_id(context.get("chunk_id", context.get("id")), where, None, "chunk id")
                if chunk not in seen:
                    seen[chunk] = hash(text)
                    title = qampari_chunks.clean_title(context.get("title"))
                    yield Passage(chunk, text, title, source=source)
                elif seen[chunk] != hash(text):
                    raise InputError(
                        f"{where}: chunk {chunk} has two texts. "
                        "Mend: use files made from one version of the corpus."
                    )


def _question(record: dict[str, Any], source: str, path: Path) -> ListQuestion:
    where = f"{path}: {source}"
    question_id = text_id(record.get("qid", record.get("id")), where, None, "qid")
    name = "question_text" if "question_text" in record else "question"
    (question,) = fields(record, source, path, name, kinds=(str, type(None)))
    chunks: dict[str, list[str]] = defaultdict(list)  # by proof
    for context in listed(record.get("positive_ctxs"), "positive_ctxs", where):
        pid, chunk = fields(context, source, path, "pid", "chunk_id", kinds=(str,))
        chunks[pid].append(chunk)
    kind = _KIND.search(question_id)
    return ListQuestion(
        question_id,
        (question or "").strip(),
        tuple(_answers(record, chunks, where)),
        tuple(dict.fromkeys(chunk for found in chunks.values() for chunk in found)),
        split=kind[2] if kind else split_in_name(path),
        kind=kind[1] if kind else "",
        source=source,
    )


def _answers(record: dict[str, Any], chunks: dict[str, list[str]], where: str) -> Iterator[Answer]:
    if "answer_list" in record:
        for answer in listed(record["answer_list"], "answer_list", where):
            forms = [answer.get("answer_text", ""), *(answer.get("aliases") or [])]
            proofs = listed(answer.get("proof"), "proof", where)
            yield as_answer(forms, where, (c for p in proofs for c in chunks.get(p.get("pid"), ())))
    elif isinstance(record.get("ans_mappings"), dict):
        for text, aliases in record["ans_mappings"].items():
            yield as_answer([text, *listed(aliases, "ans_mappings", where, object)], where)
    else:
        raise InputError(
            f"{where}: neither answer_list nor ans_mappings. "
            "Mend: check that the file is of this format and version."
        )


def _has_contexts(path: Path) -> bool:
    head = packed_head(path, _HEAD) if path.is_file() else ""
    listing = head.lstrip().startswith("[") and '"answer_list"' in head
    aligned = all(f'"{name}"' in head for name in ("positive_ctxs", "chunk_id", "pid"))
    return '"question' in head and (listing or aligned or '"ans_mappings"' in head)


def _has_questions(path: Path) -> bool:
    head = packed_head(path, _HEAD) if path.is_file() else ""
    return '"question_text"' in head and '"answer_list"' in head and not _has_contexts(path)


FORMAT = Format(
    "qampari",
    "QAMPARI questions with answers and proofs",
    "description only",
    _has_questions,
    questions=read_questions,
)
FORMAT_CONTEXTS = Format(
    "qampari-contexts",
    "QAMPARI questions with gold and retrieved chunks",
    "description only",
    _has_contexts,
    passages=read_contexts,
    questions=read_questions,
)
FORMATS = (FORMAT_CONTEXTS, FORMAT, *qampari_chunks.FORMATS, *qampari_demos.FORMATS)
