"""What notebook 02 saved: numbers that add up, nothing lost, nothing copied."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from mtrlib import paths
from mtrlib.data.authored.wording import CopyCheck
from mtrlib.data.corpus import wikipedia_passages
from mtrlib.errors import FetchError
from mtrlib.llm.recorded import read_recorded
from mtrlib.reporting import results
from mtrlib.reporting.pipeline_run import SYNTHETIC


def table(name: str) -> pd.DataFrame:
    return results.load(name, paths.results())[0]


def test_every_stage_hands_on_what_it_passed():
    stages = table("t02_funnel").set_index("stage")
    assert (stages["entered"] == stages["passed"] + stages["rejected"]).all()
    assert stages.loc["faithful", "passed"] == stages.loc["out", "entered"] > 0
    reasons = table("t02_reasons").groupby("stage")["n"].sum()
    assert reasons.to_dict() == stages.loc[stages["rejected"] > 0, "rejected"].to_dict()


def test_our_clusters_lose_no_passage():
    found = table("t02_clusters").set_index("clustering")
    ours = found[found.index.str.startswith("ours")]
    assert (ours["lost"] == 0).all()
    assert (ours["size_max"] <= 16).all()
    assert found["documents"].nunique() == 1


def test_the_synthesised_set_is_audited_beside_a_written_one():
    scores = table("t02_audit")
    assert set(scores["set"]) == {SYNTHETIC, "mtr-mini"}
    assert scores["value"].dropna().between(1, 5).all()


def test_curation_counts_add_up():
    stages = table("t02_curation")
    assert (stages["n_in"] - stages["removed"] == stages["n_out"]).all()


def test_recorded_replies_say_who_made_them_and_copy_nothing():
    try:
        check = CopyCheck(wikipedia_passages())
    except FetchError as error:
        pytest.skip(f"the corpus cannot be fetched here: {error}")
    folder = paths.root() / "data" / "recorded"
    headers = read_recorded(folder).headers
    assert set(headers) == {"smollm2_audit", "smollm2_pipeline", "smollm2_rvr"}
    for header in headers.values():
        assert header["model_alias"] == "SmolLM2-135M-Instruct"
        assert header["date"]
    for path in folder.glob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            record = json.loads(line)
            assert "messages" not in line
            assert not list(check.problems(record["key"], record.get("text", "")))
