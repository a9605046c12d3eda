"""MTRAG and MTRAG-UN: human multi-turn RAG conversations over four corpora (Katsis and others).

Four kinds of files, each a format of its own (the second and third in modules beside this):

- **generation tasks** (JSON Lines): ``task_id``, ``turn`` (a number or text), ``input`` (messages
  with ``speaker`` and ``text``, ending with the user), ``contexts`` (the passages the task is
  based on) and ``targets``; task ids such as ``hash<::>3`` (or ``hash::3``) are never split;
- **retrieval tasks**: ``<domain>_lastturn.jsonl``, ``_questions``, ``_rewrite`` of BEIR queries
  whose texts are prefixed ``|user|:``, with ``<domain>_qrels.tsv`` or ``qrels/dev.tsv``;
- **conversations** (a JSON list): ``messages`` whose agents' replies carry ``contexts`` with the
  annotators' ``feedback``;
- **passages** (JSON Lines): ``_id``, ``id``, ``url``, ``title``, ``text``.

Format facts: passage ids of tasks and judgements are those of the passage-level corpora; the
document-level corpora lack the last two numbers and match nothing. Contexts may have no title.
Twelve texts of MTRAG-UN sit under two ids and stay two passages. Missing labels are NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats import conversational, mtrag_conversations, mtrag_retrieval
from mtrlib.data.formats.base import Format, fields, head, records, utterances
from mtrlib.data.formats.conversational import objects, once
from mtrlib.data.formats.mtrag_conversations import contexts, labels
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Conversation, Passage, Turn
from mtrlib.errors import InputError


def task_conversations(path: Path, contexts_are_gold: bool | None = None) -> Iterator[Conversation]:
    """Generation tasks, each a conversation of one turn with its history.

    ``gold`` are the ids of the contexts; where contexts say whether they are a ``reference``,
    only those that are. ``answer`` is the first target as written, ``labels`` are
    answerability, question types and the like, without "N/A".

    Parameters
    ----------
    contexts_are_gold : None = yes, unless the file is called ``RAG.jsonl``, whose contexts were
        retrieved by a system.

    Raises
    ------
    InputError
        A field is missing or mistyped, an unknown speaker, or an input ending with the agent.
    """
    if contexts_are_gold is None:
        contexts_are_gold = path.stem.lower() != "rag"
    for source, record in records(path):
        task, number = fields(record, source, path, "task_id", "turn")
        (messages,) = fields(record, source, path, "input")
        messages = objects(messages, source, path)
        if not messages or messages[-1].get("speaker") != "user":
            raise InputError(
                f"{path}: {source}: the input does not end with the user. Mend: drop the agent's "
                "last message, or take it as the target."
            )
        (question,) = fields(messages[-1], source, path, "text", kinds=(str,))
        task = text_id(task, path, None, f"{source}: task_id")
        targets = objects(record.get("targets") or [], source, path)
        turn = Turn(
            query_id=task,
            conversation_id=task,
            turn_number=_number(number, source, path),
            raw_utterance=question,
            history=utterances(messages[:-1], source, path),
            gold=_gold(record, source, path) if contexts_are_gold else (),
            answer=str(targets[0].get("text")) if targets else None,
            labels=labels(record),
            source=source,
        )
        yield Conversation(task, (turn,))


def task_passages(path: Path) -> Iterator[Passage]:
    """The contexts of generation tasks, each once: a closed corpus for the file.

    Raises
    ------
    InputError
        A context without id or text, or one id with two texts.
    """

    def every() -> Iterator[Passage]:
        for source, record in records(path):
            yield from contexts(record.get("contexts"), source, path)

    return once(every(), path)


def corpus_passages(path: Path) -> Iterator[Passage]:
    """Passages of a passage-level corpus.

    Raises
    ------
    InputError
        A record without id or text.
    """
    FORMAT_CORPUS.notice()
    yield from conversational.passages(path)


def _gold(record: dict[str, Any], source: str, path: Path) -> tuple[str, ...]:
    found = objects(record.get("contexts") or [], source, path)
    if any("reference" in c for c in found):
        found = [c for c in found if c.get("reference")]
    ids = []
    for context in found:
        (passage_id,) = fields(context, source, path, "document_id")
        ids.append(text_id(passage_id, path, None, f"{source}: document_id"))
    return tuple(dict.fromkeys(ids))


def _number(value: Any, source: str, path: Path) -> int:
    if isinstance(value, str) and value.isdecimal():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise InputError(f"{path}: {source}: turn is {value!r}. Mend: turns are numbered 1, 2, ...")


def _is_tasks(path: Path) -> bool:
    opening = head(path) if path.suffix == ".jsonl" else ""
    return '"task_id"' in opening and '"task_type"' in opening


def _is_corpus(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    return {"_id", "id", "url", "title", "text"} <= conversational.first_record(path).keys()


FORMAT_TASKS = Format(
    "mtrag-tasks",
    "MTRAG and MTRAG-UN generation tasks (contexts as gold)",
    "real record",
    _is_tasks,
    passages=task_passages,
    conversations=task_conversations,
)
FORMAT_CORPUS = Format(
    "mtrag-corpus",
    "MTRAG passage-level corpus",
    "description only",
    _is_corpus,
    passages=corpus_passages,
)
FORMATS = (FORMAT_TASKS, *mtrag_retrieval.FORMATS, *mtrag_conversations.FORMATS, FORMAT_CORPUS)
