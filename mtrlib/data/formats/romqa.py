"""RoMQA: questions over Wikidata constraints in clusters, with all answers.

A JSON list, packed with bzip2 (``dev.json.bz2``) or plain; a record has ``id, cluster_id,
question, constraints, candidates[{text, is_answer, aliases, ...}], complete_answer[{text,
aliases, uri, desc}]``. The test files (``...test.noanswer...``) have neither ``complete_answer``
nor ``is_answer``. There are no passage ids, hence no gold; ``dpr`` lists of the open setting are
one retriever's output and are not read.

Source: github.com/facebookresearch/romqa (``evaluation.py``, the files' sanity checks), Zhong et
al. 2022.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mtrlib.data.formats.base import Format, fields
from mtrlib.data.formats.multi_answer import as_answer, listed, question_text, split_in_name
from mtrlib.data.formats.packed import json_items, packed_head
from mtrlib.data.jsonl import text_id
from mtrlib.data.tasks import ListQuestion


def read_questions(path: Path) -> Iterator[ListQuestion]:
    """Questions with their complete answers; unlabelled ones have none.

    ``kind`` is the cluster id: the set's robust measure takes the minimum over a cluster.
    Answers come from ``complete_answer``; candidates are a sample and are not read.

    Raises
    ------
    InputError
        Damaged packing, or a field that is missing or of another kind.
    """
    FORMAT.notice()
    for source, record in json_items(path):
        where = f"{path}: {source}"
        (question,) = fields(record, source, path, "question")
        fields(record, source, path, "candidates", kinds=(list,))
        answers = listed(record.get("complete_answer"), "complete_answer", where)
        yield ListQuestion(
            text_id(record.get("id"), where, None, "id"),
            question_text(question, where),
            tuple(
                as_answer([a.get("text", ""), *(a.get("aliases") or [])], where) for a in answers
            ),
            split=split_in_name(path),
            kind=text_id(record.get("cluster_id"), where, None, "cluster_id"),
            source=source,
        )


def _recognises(path: Path) -> bool:
    start = packed_head(path) if path.is_file() else ""
    return start.lstrip().startswith("[") and '"cluster_id"' in start


FORMAT = Format(
    "romqa",
    "RoMQA",
    "description only",
    _recognises,
    questions=read_questions,
)
FORMATS = (FORMAT,)
