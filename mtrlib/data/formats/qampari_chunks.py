"""QAMPARI's corpus: Wikipedia of 1 August 2021 in 25,856,230 chunks of about 100 words.

``chunked_wikipedia.tar.gz`` unpacks to ``wikipedia_chunks_<n>.jsonl``, one chunk a line:
``{id, contents, meta{title, url, revid, page_id, chunk_id, content, file_path}}``, where
``contents`` is the title in front of the content. A file or a folder of such files is read,
packed with gzip or not. The TSV form that some projects make of it is read by ``dpr``.

Source: github.com/samsam3232/qampari, ``models/retrievers/BM25/chunk_wiki.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mtrlib.data.formats.base import Format, fields
from mtrlib.data.formats.packed import packed_head, packed_records
from mtrlib.data.jsonl import text_id
from mtrlib.data.schema import Passage
from mtrlib.errors import InputError

_PATTERN = "wikipedia_chunks_*.jsonl*"


def read_chunks(path: Path) -> Iterator[Passage]:
    """Chunks as passages, file by file in the order of names; ``document`` is the page id.

    ``text`` is the content alone. Titles such as ``None`` or ``N/A`` are text. Ids are not
    compared with each other, so that memory does not grow with the corpus.

    Raises
    ------
    InputError
        A folder without chunk files, a field that is missing or of another kind, or a chunk
        whose id differs from the one in its ``meta``.
    """
    FORMAT.notice()
    files = sorted(path.glob(_PATTERN)) if path.is_dir() else [path]
    if not files:
        raise InputError.at(path, None, f"no files {_PATTERN}", "unpack chunked_wikipedia.tar.gz")
    for file in files:
        for source, record in packed_records(file):
            yield _chunk(record, source, file)


def clean_title(value: Any) -> str:
    """A title without stray white space; "" for a missing one.

    >>> clean_title(" The  Lake (film) ")
    'The Lake (film)'
    """
    return " ".join(str(value).split()) if value is not None else ""


def _chunk(record: dict[str, Any], source: str, path: Path) -> Passage:
    where = f"{path}: {source}"
    (meta,) = fields(record, source, path, "meta", kinds=(dict,))
    title, content = fields(meta, source, path, "title", "content", kinds=(str,))
    chunk_id = text_id(record.get("id"), where, None, "id")
    if meta.get("chunk_id", chunk_id) != chunk_id:
        raise InputError(
            f"{where}: id {chunk_id} but chunk_id {meta['chunk_id']!r}. "
            "Mend: use files of one version."
        )
    page = meta.get("page_id")
    document = text_id(page, where, None, "page_id") if page is not None else ""
    return Passage(chunk_id, content, clean_title(title), document=document, source=source)


def _recognises(path: Path) -> bool:
    if path.is_dir():  # beside questions the chunk files are read one by one
        files = {f for f in path.iterdir() if f.is_file() and not f.name.startswith(".")}
        return bool(files) and files == set(path.glob(_PATTERN))
    head = packed_head(path)
    return head.startswith("{") and '"contents"' in head and '"meta"' in head


FORMAT = Format(
    "qampari-chunks",
    "QAMPARI's Wikipedia in chunks",
    "description only",
    _recognises,
    passages=read_chunks,
)
FORMATS = (FORMAT,)
