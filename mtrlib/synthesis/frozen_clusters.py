"""Committed clusters: cluster id to passage ids, without any text, so that replay asks the same."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mtrlib.errors import InputError


def write_clusters(path: Path | str, clusters: Mapping[str, Sequence[str]]) -> None:
    """Write clusters atomically, one a line, in the order given; the same input, the same bytes.

    Raises
    ------
    InputError
        What :func:`read_clusters` would refuse; nothing is written then.
    """
    path = Path(path)
    _check(path, clusters)
    lines = [
        f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(list(ids), ensure_ascii=False)}"
        for name, ids in clusters.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    part.replace(path)


def read_clusters(path: Path | str, passage_ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read clusters in the order of the file; every passage must be in the corpus.

    Parameters
    ----------
    passage_ids : of the corpus that the clusters were made on.

    Raises
    ------
    InputError
        No such file, another form, a cluster id that occurs twice, a cluster without
        passages, a passage in two places, or an id outside the corpus; the file and the id
        are named.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError.at(path, None, "no such file", "check the path")
    try:
        pairs = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=list)
    except ValueError as error:
        raise InputError.at(path, None, f"not JSON ({error})", "restore the file") from None
    if not isinstance(pairs, list) or not all(isinstance(p, tuple) for p in pairs):
        raise InputError.at(path, None, "not one JSON object", "write {cluster id: [passage ids]}")
    clusters = dict(pairs)
    if len(clusters) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError.at(path, None, f"cluster {twice!r} occurs twice", "keep one of the two")
    _check(path, clusters)
    known = set(passage_ids)
    for name, ids in clusters.items():
        for passage_id in ids:
            if passage_id not in known:
                raise InputError.at(
                    path,
                    None,
                    f"cluster {name!r} has passage {passage_id!r}, which is not in the corpus",
                    "use the corpus that the clusters were made on, or make them again",
                )
    return {name: tuple(ids) for name, ids in clusters.items()}


def _check(path: Path, clusters: Mapping[str, Any]) -> None:
    """Refuse anything but non-empty lists of ids, each id in one place."""
    home: dict[str, str] = {}
    for name, ids in clusters.items():
        if not isinstance(ids, list | tuple) or not ids:
            raise InputError.at(path, None, f"cluster {name!r} has no passages", "leave it out")
        for passage_id in ids:
            if not isinstance(passage_id, str) or not passage_id:
                raise InputError.at(
                    path, None, f"cluster {name!r} has the id {passage_id!r}", "write ids as text"
                )
            if passage_id in home:
                raise InputError.at(
                    path,
                    None,
                    f"passage {passage_id!r} is in cluster {home[passage_id]!r} and again in "
                    f"{name!r}",
                    "keep it in one place; splits must not share passages",
                )
            home[passage_id] = name
