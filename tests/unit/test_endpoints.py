"""Endpoints from YAML: fields, addresses and keys from the environment, nothing private shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from mtrlib.errors import EndpointError, InputError
from mtrlib.llm import local_server
from mtrlib.llm.endpoint_registry import endpoint, endpoints, parse_endpoints
from mtrlib.llm.endpoints import Endpoint, is_loopback

SECRET = "sk-do-not-show"


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    names = "MTR_ENDPOINTS MTR_SMOLLM2_URL OPENAI_BASE_URL OPENAI_API_KEY MTR_LLM_MODEL"
    for name in names.split():
        monkeypatch.delenv(name, raising=False)


def test_the_built_in_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(endpoints()) == {"smollm2", "openai", "qwen3-30b"}
    smollm2 = endpoint("smollm2")
    assert smollm2.dialect == "system_one" and smollm2.price == "local"
    with pytest.raises(InputError, match="set MTR_LLM_MODEL"):
        endpoint("openai")
    monkeypatch.setenv("MTR_LLM_MODEL", "some-model")
    chosen = endpoint("openai")
    assert (chosen.model, chosen.model_alias) == ("some-model", "some-model")
    assert chosen.address() == ""  # the openai client's own
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1234/v1")
    assert chosen.address() == "http://127.0.0.1:1234/v1"


def test_the_local_server_is_found_by_variable_or_by_its_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = endpoint("smollm2")
    monkeypatch.setattr(local_server, "address", lambda: None)
    with pytest.raises(EndpointError, match=r"make llm.*MTR_SMOLLM2_URL"):
        chosen.address()
    monkeypatch.setattr(local_server, "address", lambda: "http://127.0.0.1:1/v1")
    assert chosen.address() == "http://127.0.0.1:1/v1"
    monkeypatch.setenv("MTR_SMOLLM2_URL", "http://127.0.0.1:2/v1")
    assert chosen.address() == "http://127.0.0.1:2/v1" and chosen.api_key() == "none"


def test_the_users_own_file_hides_built_in_aliases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("smollm2:\n  model: mine\n  base_url: http://host/v1\nb:\n  model: c\n", "utf-8")
    monkeypatch.setenv("MTR_ENDPOINTS", str(own))
    assert set(endpoints()) == {"smollm2", "openai", "qwen3-30b", "b"}
    assert endpoint("smollm2").model_alias == "mine"
    with pytest.raises(InputError, match=r"own\.yaml: endpoint 'x' is unknown; known: smollm2"):
        endpoint("x")
    monkeypatch.setenv("MTR_ENDPOINTS", str(tmp_path / "absent.yaml"))
    with pytest.raises(InputError, match=r"absent\.yaml.*check MTR_ENDPOINTS"):
        endpoints()


@pytest.mark.parametrize(
    ("model", "alias"),
    [
        ("org/model-7b", "org/model-7b"),
        ("/srv/models/model-7b/", "model-7b"),
        ("./model-7b", "model-7b"),
        ("C:\\models\\model-7b", "model-7b"),
    ],
)
def test_no_path_becomes_a_model_alias(
    model: str, alias: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(f"a:\n  model: '{model}'\n", "utf-8")
    monkeypatch.setenv("MTR_ENDPOINTS", str(own))
    assert endpoint("a").model_alias == alias


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (f"api_key: {SECRET}", "unknown field 'api_key'"),
        (f"key_env: {SECRET}", "key_env is no name of an environment variable"),
        ("temperature: hot", "temperature cannot be used"),
        ("temperature: -1", "temperature cannot be used"),
        ("max_tokens: true", "max_tokens cannot be used"),
        ("concurrency: 0", "concurrency cannot be used"),
        ("max_attempts: 1.5", "max_attempts cannot be used"),
        ("model: 7", "model cannot be used"),
        ("local: 1", "local cannot be used"),
        ("dialect: smoke signals", "unknown dialect"),
    ],
)
def test_what_cannot_be_used_is_refused_without_showing_the_value(entry: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"f.yaml: a: {problem}") as caught:
        parse_endpoints(f"a:\n  {entry}\n", "f.yaml")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ["../a:\n  model: b\n", "12:\n  model: b\n", "a:\n", "a: b\n"])
def test_aliases_become_file_names_and_entries_have_fields(text: str) -> None:
    with pytest.raises(InputError, match=r"f\.yaml: .*Mend"):
        parse_endpoints(text, "f.yaml")


def test_a_missing_key_is_named_where_the_server_is_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    far = Endpoint("far", "m", base_url="https://user:pass@llm.invalid/v1", key_env="FAR_KEY")
    with pytest.raises(InputError, match="variable FAR_KEY") as caught:
        far.api_key()
    assert "pass" not in str(caught.value) and "llm.invalid" not in repr(far)
    monkeypatch.setenv("FAR_KEY", "k")
    assert far.api_key() == "k"
    near = Endpoint("near", "m", base_url="http://localhost:1/v1", key_env="NEAR_KEY")
    assert near.api_key() == "none"
    assert Endpoint("open", "m", base_url="https://llm.invalid").api_key() == "none"
    with pytest.raises(InputError, match="OTHER_KEY"):  # the client's default is elsewhere
        Endpoint("default", "m", key_env="OTHER_KEY").api_key()


def test_the_description_is_fit_for_a_manifest() -> None:
    url = "http://127.0.0.1:8000/v1"
    far = Endpoint("far", "served", "alias-7b", base_url=url, temperature=None, owner="family")
    assert far.describe() == {
        "alias": "far",
        "model_alias": "alias-7b",
        "dialect": "",
        "temperature": None,
        "max_tokens": 512,
        "owner": "family",
    }
    assert far.sampling == {"max_tokens": 512}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80/v1", True),
        ("http://127.0.0.1.evil.invalid/v1", False),
        ("https://localhost.invalid", False),
        ("http://10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
