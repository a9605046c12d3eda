"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``."""

from __future__ import annotations

from pathlib import Path

from mtrlib.data.formats.corpus_jsonl import read_corpus
from mtrlib.data.formats.trec import read_qrels
from mtrlib.data.jsonl import read_jsonl, text_id
from mtrlib.data.schema import Benchmark, Conversation, Turn
from mtrlib.errors import InputError


def read_beir(folder: Path | str, split: str = "test") -> Benchmark:
    """Read a BEIR folder; every query becomes a conversation of one turn.

    Queries that the split does not judge belong to other splits and are left out.

    Raises
    ------
    InputError
        A file is missing (splits found are listed), or the qrels name an unknown query.
    """
    folder = Path(folder)
    qrels_path = folder / "qrels" / f"{split}.tsv"
    if not qrels_path.is_file():
        found = ", ".join(sorted(p.stem for p in qrels_path.parent.glob("*.tsv"))) or "none"
        raise InputError.at(qrels_path, None, "no such split", f"splits found here: {found}")
    qrels = read_qrels(qrels_path)
    path = folder / "queries.jsonl"
    texts = {text_id(r.get("_id"), path, n, "_id"): str(r["text"]) for n, r in read_jsonl(path)}
    for query_id in qrels:
        if query_id not in texts:
            raise InputError.at(
                qrels_path,
                None,
                f"query {query_id} is not in queries.jsonl",
                "use files of one version",
            )
    conversations = tuple(
        Conversation(q, (Turn(q, q, 1, texts[q], gold=tuple(sorted(qrels.gold(q)))),))
        for q in qrels
    )
    return Benchmark(folder.name, read_corpus(folder / "corpus.jsonl"), conversations, qrels)
