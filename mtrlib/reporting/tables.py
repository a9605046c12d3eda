"""Small tables that every notebook shows: versions, and what identifies each retriever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd

from mtrlib.profiles import Profile
from mtrlib.reporting.results import versions
from mtrlib.retrieval.models import model_fingerprint
from mtrlib.retrieval.registry import RetrieverSpec, retriever_spec

_COLUMNS = [
    "kind",
    "model_sha256",
    "max_length",
    "pooling",
    "normalize",
    "query_prompt",
    "passage_prompt",
]


def versions_table() -> pd.DataFrame:
    """Versions a number may depend on, for the cell tagged ``env``."""
    return pd.Series(versions(), name="version").rename_axis("package").to_frame()


def retriever_table(retrievers: Mapping[str, RetrieverSpec | Mapping[str, Any]]) -> pd.DataFrame:
    """One row per retriever; a prompt is quoted, so that "no prompt" is seen to be meant."""
    rows = {}
    for name, found in retrievers.items():
        fields = asdict(found) if isinstance(found, RetrieverSpec) else dict(found)
        is_encoder = fields["kind"] in ("dense", "static", "sparse")
        rows[name] = {c: _shown(c, fields.get(c)) if is_encoder else "" for c in _COLUMNS}
        rows[name]["kind"] = fields["kind"]
        rows[name]["first query as sent"] = _shown("query_prompt", fields.get("first_query"))
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("retriever")
    return table.loc[:, (table != "").any()]


def model_hashes(retrievers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Model fingerprints by retriever, for manifests; the parts of a hybrid by their own names."""
    found: dict[str, str] = {}
    for name, fields in retrievers.items():
        if "model_sha256" in fields:
            found[name] = fields["model_sha256"]
        found |= model_hashes(fields.get("parts", {}))
    return found


def registry_hashes(profile: Profile) -> dict[str, str]:
    """Fingerprints of the profile's retrievers that are models, for manifests."""
    specs = {name: retriever_spec(name) for name in profile.RETRIEVERS}
    return {name: model_fingerprint(spec) for name, spec in specs.items() if spec.model}


def _shown(column: str, value: Any) -> str:
    if value is None:
        return ""
    if column.endswith("sha256"):
        return str(value)[:12]
    return repr(value) if column.endswith("prompt") else str(value)
