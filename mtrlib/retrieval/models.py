"""Where a model's files are, what identifies them, and how its tokenizer counts."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from mtrlib import paths
from mtrlib.data import registry as sources
from mtrlib.data.fetch import fetch, file_sha256
from mtrlib.errors import InputError
from mtrlib.retrieval.registry import RetrieverSpec

WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt", "*.model")


def model_folder(spec: RetrieverSpec) -> Path:
    """Local folder of a model: registry entry, folder, or hub snapshot (not offline).

    Raises
    ------
    FetchError
        A registry entry cannot be had.
    InputError
        Neither an entry nor a folder, and the hubs are off or do not have it.
    """
    if spec.model in sources.registry():
        return fetch(sources.entry(spec.model))
    for folder in (Path(spec.model), paths.root() / spec.model):
        if folder.is_dir():
            return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(spec.model, revision=spec.revision or None))
    except Exception as error:
        raise InputError(
            f"{spec.name}: model {spec.model!r} is no entry of data/registry.json, no folder, and "
            f"the hub gave nothing ({type(error).__name__}). Mend: give a local folder; hub names "
            "need the profile `paper`."
        ) from None


@lru_cache(maxsize=16)
def model_fingerprint(spec: RetrieverSpec) -> str:
    """SHA-256 over the model's files: part of cache keys, printed in manifests."""
    if spec.model in sources.registry():
        return sources.entry(spec.model).fingerprint
    folder = model_folder(spec)
    files = sorted({p for pattern in WEIGHTS for p in folder.rglob(pattern)})
    rows = [f"{p.relative_to(folder).as_posix()} {file_sha256(p)}" for p in files]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


@lru_cache(maxsize=16)
def _tokenizer(folder: Path) -> Tokenizer:
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise InputError.at(
            path, None, "no such file", "save the model with its fast tokenizer (tokenizer.json)"
        )
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


KEPT = 2**14  # texts whose tokens are remembered, some 40 MB


class TokenCounter:
    """Counts tokens as the encoder will, without loading torch; texts come again and again."""

    def __init__(self, spec: RetrieverSpec) -> None:
        self._tokenizer = _tokenizer(model_folder(spec))
        self._ends = lru_cache(maxsize=KEPT)(self._encoded)
        special = self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self.query_budget = spec.max_length - special - self(spec.query_prompt)
        self.passage_budget = spec.max_length - special - self(spec.passage_prompt)

    def __call__(self, text: str) -> int:
        """Tokens of ``text`` without special tokens."""
        return len(self._ends(text))

    def cut(self, text: str, budget: int) -> str:
        """The longest beginning of ``text`` that its first ``budget`` tokens cover.

        This is what is left of it where an encoder truncates on the right.
        """
        ends = self._ends(text)
        if len(ends) <= budget:
            return text
        return text[: ends[budget - 1]] if budget > 0 else ""

    def _encoded(self, text: str) -> tuple[int, ...]:
        """Where each token of the text ends."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return tuple(end for _, end in found.offsets)
