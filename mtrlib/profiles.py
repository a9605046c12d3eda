"""The three profiles: every setting that a number depends on, in one frozen object.

A notebook calls ``profiles.load(PROFILE, K=K, SEED=SEED)``. Unknown names and wrong types
raise before any work, so a misspelt parameter never runs with defaults.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import sys
from dataclasses import dataclass
from typing import Any, get_type_hints

import pandas as pd

from mtrlib import ranges
from mtrlib.errors import InputError

# pandas would keep text in Arrow arrays as soon as pyarrow is there (a dependency of the trainer),
# which makes row-wise work up to twice as slow
pd.set_option("mode.string_storage", "python")


@dataclass(frozen=True)
class Profile:
    """Resolved settings of one run. Field names are the notebook parameter names.

    Attributes
    ----------
    PROFILE : name of the profile the values come from.
    SEED : seed of every generator of the run.
    K : cutoff of Recall@K and the like, in passages.
    DEPTH : length of the ranked lists that are kept, in passages (at least K).
    BENCHMARKS : registered benchmark names or folders.
    RETRIEVERS : names in the retriever registry.
    VIEWS : query views, see :mod:`mtrlib.retrieval.query_text`.
    PASSAGE_LIMIT : the corpus is cut to whole articles of at most this many passages; 0 = all.
    CONVERSATION_LIMIT : conversations per benchmark; 0 = all.
    TURN_LIMIT : turns per conversation of benchmarks built by code.
    RESAMPLES : bootstrap resamples behind an interval.
    CONFIDENCE : level of the intervals, fraction in (0, 1).
    OFFLINE : model hubs are switched off.
    JUDGES : names of judges, see :mod:`mtrlib.audit.judges`.
    LIVE : LLM judges ask their endpoint; off, they replay what is stored and send nothing.
    NEGATIVES : retriever of the hard negatives that the completeness test shows.
    OPTIONS : passages that the completeness test shows at most, gold among them.
    LISTS : list questions: ``list-mini``, or a folder with questions and their corpus.
    LIST_SPLIT : the split that is reported.
    QUESTION_LIMIT : list questions per split; 0 = all.
    LIST_K : cutoff of Recall@K and MRecall@K of list questions, and length of the lists.
    LIST_RULE : what counts as found, see :mod:`mtrlib.evaluation.multi_answer`.
    ENCODERS : retrievers that RVR trains and runs with.
    RECIPES : training recipes, see :data:`mtrlib.rvr.examples.RECIPES`.
    STEPS : optimiser steps of a training run.
    ROUNDS, BUDGET : T and B of RVR, see :class:`mtrlib.rvr.settings.RvrSettings`.
    CONTEXT : M of RVR; 0 = as published for the encoder.
    SEEN : whether passages judged before may come back, ``allow`` or ``mask``.
    VERIFIERS : names of verifiers, see :mod:`mtrlib.reporting.rvr_verifiers`.
    TURNS : the conversations whose turns are rewritten: ``mtr-mini``, or a folder.
    REWRITER : ``recorded`` (rewrites-mini, or those of the file), ``rules``, or an endpoint.
    GATES : file with the thresholds of query rewriting; empty = ``data/gates.yaml``.
    OWN : file or folder with a benchmark of the reader's own, see :func:`mtrlib.paths.given`.
    OWN_K : cutoff of Recall@K on it, in passages (at most DEPTH).
    """

    PROFILE: str
    SEED: int = 13
    K: int = 20
    DEPTH: int = 100
    BENCHMARKS: tuple[str, ...] = ("headings", "mtr-mini")
    RETRIEVERS: tuple[str, ...] = ("bm25", "static-256", "splade-tiny", "minilm")
    VIEWS: tuple[str, ...] = ("last_turn", "user_turns", "full_history")
    PASSAGE_LIMIT: int = 0
    CONVERSATION_LIMIT: int = 0
    TURN_LIMIT: int = 8
    RESAMPLES: int = 2000
    CONFIDENCE: float = 0.95
    OFFLINE: bool = True
    JUDGES: tuple[str, ...] = ("reference", "lexical", "minilm", "feature", "smollm2")
    LIVE: bool = False
    NEGATIVES: str = "static-256"
    OPTIONS: int = 8
    LISTS: str = "list-mini"
    LIST_SPLIT: str = "test"
    QUESTION_LIMIT: int = 0
    LIST_K: int = 20
    LIST_RULE: str = "answers"
    ENCODERS: tuple[str, ...] = ("minilm",)
    RECIPES: tuple[str, ...] = ("initial", "later")
    STEPS: int = 60
    ROUNDS: int = 2
    BUDGET: int = 20
    CONTEXT: int = 3
    SEEN: str = "allow"
    VERIFIERS: tuple[str, ...] = ("none", "lexical", "minilm", "feature", "oracle")
    TURNS: str = "mtr-mini"
    REWRITER: str = "recorded"
    GATES: str = ""
    OWN: str = "examples/my_benchmark"
    OWN_K: int = 5

    @property
    def overrides(self) -> dict[str, Any]:
        """Settings that differ from the profile's own, by name."""
        base = PROFILES[self.PROFILE]
        return {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != getattr(base, f.name)
        }

    @property
    def tag(self) -> str:
        """Folder name below ``build/``: overridden runs never mix with the profile's own."""
        extra = [f"{name}={_plain(value)}" for name, value in sorted(self.overrides.items())]
        tag = "+".join([self.PROFILE, *extra])
        safe = re.sub(r"[^\w.=,+-]", "_", tag)
        if safe == tag and len(tag) <= 80:
            return tag
        return f"{safe[:70]}~{hashlib.sha256(tag.encode()).hexdigest()[:8]}"

    def to_dict(self) -> dict[str, Any]:
        """Settings as plain JSON types, for manifests."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in vars(self).items()}

    def table(self) -> pd.DataFrame:
        """One row per setting, for the notebook's second cell."""
        rows = [(name, _plain(value)) for name, value in vars(self).items()]
        return pd.DataFrame(rows, columns=["setting", "value"]).set_index("setting")


PROFILES: dict[str, Profile] = {
    "smoke": Profile(
        "smoke",
        PASSAGE_LIMIT=300,
        CONVERSATION_LIMIT=4,
        RESAMPLES=200,
        QUESTION_LIMIT=4,
        RECIPES=("later",),
        STEPS=5,
        VERIFIERS=("none", "lexical", "oracle"),
    ),
    "default": Profile("default"),
    "paper": Profile(
        "paper",
        RESAMPLES=10_000,
        OFFLINE=False,
        LISTS="qampari",
        LIST_SPLIT="dev",
        LIST_K=100,
        ENCODERS=("contriever-msmarco", "qwen3-embedding-0.6b", "inf-retriever-v1-1.5b"),
        RECIPES=("initial", "later", "joint"),
        STEPS=50_000,
        BUDGET=100,
        CONTEXT=0,
        VERIFIERS=("none", "qwen3-30b", "oracle"),
    ),
}


def load(name: str = "default", **overrides: Any) -> Profile:
    """Resolve a profile and switch the model hubs off unless it is ``paper``.

    Parameters
    ----------
    name : ``smoke``, ``default`` or ``paper``.
    overrides : field values that replace the profile's; lists become tuples.

    Raises
    ------
    InputError
        Unknown profile, unknown setting, wrong type or value out of range; or a hub
        client is already imported in the other mode.
    """
    if name not in PROFILES:
        raise InputError(f"PROFILE={name!r} is unknown. Known profiles: {', '.join(PROFILES)}.")
    types = get_type_hints(Profile)
    values = {}
    for key, value in overrides.items():
        if key not in types:
            raise InputError(f"{key!r} is not a setting. Known settings: {', '.join(types)}.")
        values[key] = _checked(key, value, types[key])
    profile = dataclasses.replace(PROFILES[name], **values)
    ranges.check(vars(profile))
    _switch_hubs(profile.OFFLINE)
    return profile


def _checked(key: str, value: Any, wanted: Any) -> Any:
    if wanted == tuple[str, ...]:
        if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
            return tuple(value)
        raise InputError(f"{key}={value!r} must be a list of text.")
    # bool is an int in Python; K=True must not pass as 1
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise InputError(
            f"{key}={value!r} is {type(value).__name__}, but must be {wanted.__name__}."
        )
    return value


def _plain(value: Any) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _switch_hubs(offline: bool) -> None:
    # huggingface_hub reads the variable once, at import
    hub = sys.modules.get("huggingface_hub.constants")
    if hub is not None and offline != hub.HF_HUB_OFFLINE:
        raise InputError(
            "A model hub client is already imported in the other mode "
            f"(HF_HUB_OFFLINE={hub.HF_HUB_OFFLINE}). "
            "Mend: restart the kernel, load the profile first."
        )
    os.environ["HF_HUB_OFFLINE"] = "1" if offline else "0"
