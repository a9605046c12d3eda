"""list-mini as list questions, ready for RVR."""

from __future__ import annotations

from mtrlib.data.authored.records import load_authored
from mtrlib.data.tasks import Answer, ListQuestion

SPLITS = ("train", "dev", "test")


def list_questions() -> list[ListQuestion]:
    """All questions in the order of the file.

    Returns
    -------
    list
        ``gold`` is every passage that supports an answer, each once.
    """
    found = []
    for record in load_authored().questions:
        answers = tuple(
            Answer(a["text"], tuple(a["aliases"]), tuple(a["passages"])) for a in record["answers"]
        )
        gold = tuple(dict.fromkeys(p for a in answers for p in a.passages))
        found.append(
            ListQuestion(
                record["question_id"],
                record["question"],
                answers,
                gold,
                record["split"],
                record["kind"],
                f"list-mini/questions.jsonl#{record['question_id']}",
            )
        )
    return found
