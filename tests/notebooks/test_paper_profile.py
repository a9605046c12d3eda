"""The paper profile end to end: QAMPARI's format, its three encoders and its LLM by name.

What no machine here holds is put in by the same YAML: MiniLM under the names of the encoders,
the local server under the name of the LLM. The manifest must say so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from mtrlib import paths, profiles
from mtrlib.errors import FetchError
from mtrlib.retrieval.models import model_fingerprint
from mtrlib.retrieval.registry import retriever_spec

pytestmark = [pytest.mark.models, pytest.mark.slow]

ENCODERS = profiles.PROFILES["paper"].ENCODERS
RETRIEVER = """
{name}:
  kind: dense
  model: minilm
  query_prompt: ""
  passage_prompt: ""
  max_length: {length}
"""
ENDPOINT = """
qwen3-30b:
  base_url: {url}
  model: smollm2
  model_alias: SmolLM2-135M-Instruct
  dialect: system_one
  concurrency: 2
  max_tokens: 16
"""


def test_qampari_with_three_encoders_and_an_llm(qampari_folder: Path, tmp_path: Path, llm_url: str):
    try:
        weights = model_fingerprint(retriever_spec("minilm"))
    except FetchError as error:
        pytest.skip(f"minilm cannot be fetched here: {error}")
    retrievers, endpoints = tmp_path / "retrievers.yaml", tmp_path / "endpoints.yaml"
    text = "".join(RETRIEVER.format(name=n, length=64 + i) for i, n in enumerate(ENCODERS))
    retrievers.write_text(text, encoding="utf-8")
    endpoints.write_text(ENDPOINT.format(url=llm_url), encoding="utf-8")
    build = tmp_path / "build"
    given = f"LISTS={qampari_folder} BUDGET=10 STEPS=2 LIVE=true"
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "mtrlib.reporting", "run", "--profile", "paper", "--nb", "05"),
            *("--param", given),
        ],
        env={
            **os.environ,
            "MTR_RETRIEVERS": str(retrievers),
            "MTR_ENDPOINTS": str(endpoints),
            "MTR_BUILD": str(build),
            "HF_HUB_OFFLINE": "1",
        },
        cwd=paths.root(),
        capture_output=True,
        encoding="utf-8",
        timeout=1500,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]

    manifest = json.loads(next(build.rglob("t05_main.json")).read_text(encoding="utf-8"))
    settings = manifest["settings"]
    assert settings["PROFILE"] == "paper"
    assert (settings["BUDGET"], settings["ENCODERS"]) == (10, list(ENCODERS))
    assert {manifest["trained"][name] for name in ENCODERS} == {weights}
    assert "qwen3-30b" in manifest["notes"]
    assert "SmolLM2-135M-Instruct" in manifest["notes"]

    costs = pd.read_csv(next(build.rglob("t05_costs.csv")))
    asked = costs[costs["verifier"] == "qwen3-30b"]
    assert set(asked["encoder"]) == set(ENCODERS)
    assert (asked["questions"] == 5).all()
    assert (asked["judged"] == 10).all()
    assert (asked["coverage"] > 0.9).all()
    main = pd.read_csv(next(build.rglob("t05_main.csv")))
    assert set(main["encoder"]) == set(ENCODERS)
    assert main["value"].between(0, 1).all()
    assert (main.loc[main["rule"] == "answers", "n"] == 5).all()
