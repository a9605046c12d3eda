"""The retriever registry: what is fixed about each retriever, read from YAML."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import yaml

from mtrlib.data.own_tables import table_texts
from mtrlib.errors import InputError

_VARIABLE = "MTR_RETRIEVERS"
KINDS = ("lexical", "dense", "static", "sparse", "hybrid")


@dataclass(frozen=True)
class RetrieverSpec:
    """One retriever. Lengths are in tokens of its own tokenizer, special tokens included.

    Attributes
    ----------
    kind : ``lexical``, ``dense``, ``static`` (token embeddings), ``sparse`` (SPLADE), ``hybrid``.
    model : entry of ``data/registry.json``, local folder, or hub name with ``revision``.
    query_prompt, passage_prompt : put in front of the text exactly as written.
    pooling : how token vectors become one; for ``dense`` the model's own modules decide
        and this field documents it.
    sanity : three question-answer pairs must come out in order before anything is encoded.
    parts, rrf_k : of a hybrid, the retrievers fused and the constant of RRF.
    """

    name: str
    kind: str
    model: str = ""
    revision: str = ""
    query_prompt: str = ""
    passage_prompt: str = ""
    max_length: int = 512
    pooling: str = "mean"
    normalize: bool = True
    batch_size: int = 32
    dtype: str = "float32"
    trust_remote_code: bool = False
    sanity: bool = True
    k1: float = 0.9
    b: float = 0.4
    parts: tuple[str, ...] = ()
    rrf_k: int = 60


def parse_specs(text: str, where: str) -> dict[str, RetrieverSpec]:
    """Parse registry YAML.

    Raises
    ------
    InputError
        Unknown field, unknown kind, or an encoder without explicit prompts.
    """
    known = {f.name for f in fields(RetrieverSpec)} - {"name"}
    specs = {}
    for name, entry in (yaml.safe_load(text) or {}).items():
        unknown = set(entry) - known
        if unknown:
            raise InputError.at(
                where,
                None,
                f"{name}: unknown field {sorted(unknown)[0]!r}",
                f"known: {sorted(known)}",
            )
        _check_entry(name, entry, where)
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()
        }
        specs[name] = RetrieverSpec(name=name, **values)
    return specs


def _check_entry(name: str, entry: dict[str, Any], where: str) -> None:
    if entry.get("kind") not in KINDS:
        raise InputError.at(
            where, None, f"{name}: kind {entry.get('kind')!r} is unknown", f"use one of {KINDS}"
        )
    if entry["kind"] in ("dense", "static", "sparse"):
        for field in ("model", "query_prompt", "passage_prompt"):
            if field not in entry:
                raise InputError.at(
                    where, None, f"{name}: no {field}", f'write {field}, "" where there is none'
                )


@lru_cache(maxsize=4)
def _specs(_own: str) -> dict[str, RetrieverSpec]:
    specs: dict[str, RetrieverSpec] = {}
    for text, where in table_texts("mtrlib.retrieval", "retrievers.yaml", _VARIABLE):
        specs |= parse_specs(text, where)
    return specs


def retriever_specs() -> dict[str, RetrieverSpec]:
    """All retrievers by name, the user's own (``MTR_RETRIEVERS``) over the built-in ones."""
    return _specs(os.environ.get(_VARIABLE, ""))


def retriever_spec(name: str) -> RetrieverSpec:
    """One retriever.

    Raises
    ------
    InputError
        Unknown name; the known ones are listed.
    """
    specs = retriever_specs()
    if name not in specs:
        raise InputError(
            f"retriever {name!r} is unknown. Known: {', '.join(specs)}. "
            "Mend: add it to a YAML file and name that file in MTR_RETRIEVERS."
        )
    return specs[name]
