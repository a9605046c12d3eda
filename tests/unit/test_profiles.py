"""Profiles refuse what they do not know, and name runs so that they never mix."""

from __future__ import annotations

import dataclasses
import os

import pytest

from mtrlib import paths, profiles
from mtrlib.errors import InputError


def test_resolved_profile_is_frozen_and_complete():
    profile = profiles.load("default")
    assert profile.tag == "default"
    assert profile.overrides == {}
    assert set(profile.table().index) == {f.name for f in dataclasses.fields(profile)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        profile.K = 5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "overrides", "message"),
    [
        ("standard", {}, "Known profiles: smoke, default, paper"),
        ("default", {"TOP_K": 5}, "'TOP_K' is not a setting. Known settings: .*K"),
        ("default", {"K": "5"}, "K='5' is str, but must be int"),
        ("default", {"K": True}, "K=True is bool, but must be int"),
        ("default", {"K": 5.0}, "K=5.0 is float, but must be int"),
        ("default", {"VIEWS": "last_turn"}, "VIEWS='last_turn' must be a list of text"),
        ("default", {"K": 0}, "K=0 must lie between 1 and DEPTH=100"),
        ("default", {"K": 101}, "K=101 must lie between"),
        ("default", {"CONFIDENCE": 1}, "CONFIDENCE=1.0 must lie between 0 and 1"),
    ],
)
def test_bad_settings_stop_before_work(name: str, overrides: dict, message: str):
    with pytest.raises(InputError, match=message):
        profiles.load(name, **overrides)


def test_overridden_runs_have_folders_of_their_own():
    profile = profiles.load("smoke", K=10, VIEWS=["rewrite"])
    assert profile.tag == "smoke+K=10+VIEWS=rewrite"
    assert profile.VIEWS == ("rewrite",)
    with_path = profiles.load("default", BENCHMARKS=["/a/b"])
    other = profiles.load("default", BENCHMARKS=["/a_b"])
    assert "/" not in with_path.tag
    assert with_path.tag != other.tag


def test_hubs_are_off_unless_paper(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(__import__("sys").modules, "huggingface_hub.constants", raising=False)
    profiles.load("paper")
    assert os.environ["HF_HUB_OFFLINE"] == "0"
    profiles.load("default")
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_hub_client_imported_in_the_other_mode_stops(monkeypatch: pytest.MonkeyPatch):
    class Constants:
        HF_HUB_OFFLINE = False

    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub.constants", Constants)
    with pytest.raises(InputError, match="restart the kernel"):
        profiles.load("default")


def test_cache_that_cannot_be_written_names_the_mend(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MTR_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot be written. Mend: set MTR_CACHE"):
        paths.cache("embeddings")


def test_root_elsewhere_names_the_mend(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MTR_ROOT", str(tmp_path))
    with pytest.raises(InputError, match=r"no data/registry.json here. Mend: set MTR_ROOT"):
        paths.root()
