"""list-mini as list questions, ready for RVR."""

from __future__ import annotations

from mtrlib.data.authored.records import Authored, load_authored
from mtrlib.data.tasks import Answer, ListQuestion
from mtrlib.errors import InputError

SPLITS = ("train", "dev", "test")


def list_questions(split: str = "", *, authored: Authored | None = None) -> list[ListQuestion]:
    """Questions of one split in the order of the file.

    Parameters
    ----------
    split : ``train``, ``dev`` or ``test``; "" = all.

    Returns
    -------
    list
        ``gold`` is every passage that supports an answer, each once.

    Raises
    ------
    InputError
        Unknown split.
    """
    if split and split not in SPLITS:
        raise InputError(f"split {split!r} of list-mini is unknown. Known: {', '.join(SPLITS)}.")
    found = []
    for record in (authored or load_authored()).questions:
        if split and record["split"] != split:
            continue
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
