"""Fixtures shared by all tests.

Real records and shared cases live outside the repository; tests that need them skip with
a reason where they are absent. Models and the corpus come through the registry; where they
cannot be had the tests that need them skip too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from needed import fetched

from mtrlib import paths

ROOT = Path(__file__).resolve().parent.parent


def _shared(name: str) -> Path:
    found = Path(os.environ.get("MTR_REAL_DATA") or ROOT.parent / "shared" / "data")
    return found if name == "data" else found.parent / name


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with packs of real public records."""
    folder = _shared("data")
    if not folder.is_dir():
        pytest.skip("no real data: set MTR_REAL_DATA to the folder that holds the packs")
    return folder


@pytest.fixture(scope="session")
def shared_cases() -> Path:
    """Folder with the shared cases: small inputs with exact expectations."""
    folder = _shared("cases")
    if not folder.is_dir():
        pytest.skip("no shared cases beside the real data (see MTR_REAL_DATA)")
    return folder


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach a model hub."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user cache for one test."""
    monkeypatch.setenv("MTR_CACHE", str(tmp_path / "cache"))
    return paths.cache()


@pytest.fixture(scope="session")
def llm_folder() -> Path:
    """The converted local LLM; a test that needs it skips where its weights cannot be had."""
    from mtrlib.llm.convert import converted_model

    with fetched("smollm2"):
        return converted_model()


@pytest.fixture(scope="session")
def llm_url(llm_folder: Path) -> Iterator[str]:
    """Address of one local server for all tests of the session that ask it."""
    from mtrlib.llm import local_server

    with local_server.serve() as found:
        yield found


@pytest.fixture
def same_in_every_process() -> Callable[[str], str]:
    """Runs code in two processes with different hash seeds; their output, which must be equal."""

    def run(code: str) -> str:
        outputs = {
            subprocess.run(
                [sys.executable, "-c", code],
                env={
                    **os.environ,
                    "PYTHONHASHSEED": seed,
                    "PYTHONPATH": str(ROOT),
                    "PYTHONUTF8": "1",
                },
                capture_output=True,
                check=True,
                encoding="utf-8",
            ).stdout
            for seed in ("1", "2")
        }
        assert len(outputs) == 1
        return outputs.pop()

    return run


@pytest.fixture
def qampari_folder(tmp_path: Path) -> Path:
    """300 chunks and 5 dev questions (with 12 for training) in QAMPARI's format, all made up."""
    folder = tmp_path / "qampari-mini"
    folder.mkdir()
    kinds = ("lake", "river", "castle", "bridge", "mill", "abbey", "island", "harbour", "mine")
    regions = ("Averland", "Brockshire", "Caldmoor", "Dunvale", "Eskmark")
    chunks, gold = [], {}
    for i in range(300):
        kind, region = kinds[i % len(kinds)], regions[(i // len(kinds)) % len(regions)]
        name = f"{kind.capitalize()} {chr(65 + i % 26)}{i}"
        text = f"{name} is a {kind} in the north of {region}; it was first surveyed in {1700 + i}."
        chunk = f"{9000 + i}__0"
        meta = {"title": name, "content": text, "chunk_id": chunk, "page_id": 9000 + i}
        chunks.append({"id": chunk, "contents": f"{name} {text}", "meta": meta})
        gold.setdefault((kind, region), []).append((name, chunk, text))
    lines = "".join(json.dumps(chunk) + "\n" for chunk in chunks)
    (folder / "wikipedia_chunks_0.jsonl").write_text(lines, encoding="utf-8")
    topics = sorted(gold)[:17]
    for split, own in (("dev", topics[:5]), ("train", topics[5:])):
        records = [_qampari_record(i, split, topic, gold[topic]) for i, topic in enumerate(own)]
        path = folder / f"{split}_data_gold.json"
        path.write_text(json.dumps(records), encoding="utf-8")
    return folder


def _qampari_record(
    number: int, split: str, topic: tuple[str, str], found: list[tuple[str, str, str]]
) -> dict[str, object]:
    kind, region = topic
    qid = f"{number}__wikidata_simple__{split}"
    answers, contexts = [], []
    for at, (name, chunk, text) in enumerate(found):
        pid = f"{qid}__{at}__0"
        proof = {"pid": pid, "proof_text": text, "found_in_url": ""}
        answers.append(
            {"aid": f"{qid}__{at}", "answer_text": name, "aliases": [name], "proof": [proof]}
        )
        contexts.append({"chunk_id": chunk, "pid": pid, "title": name, "text": text})
    question = f"Which {kind}s of {region} are there?"
    return {
        "qid": qid,
        "question_text": question,
        "answer_list": answers,
        "positive_ctxs": contexts,
        "ctxs": [],
    }
