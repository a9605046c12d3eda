"""One endpoint: which model answers where, how it is asked, and how its key is found."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from mtrlib.errors import EndpointError, InputError


@dataclass(frozen=True)
class Endpoint:
    """One model at one address.

    Attributes
    ----------
    alias : name in the file; part of every key, so a server may move without loss.
    model : name that the server knows; ``model_env`` names a variable that overrides it.
    model_alias : name in keys, files and tables; by default the model's, without folders.
    base_url : ends in ``/v1`` as a rule; ``base_url_env`` names a variable that overrides it.
        Both empty = what the openai client takes by itself.
    local : the address is that of the library's own server, where one runs.
    key_env : environment variable with the API key; "" = the server asks for none.
    dialect : one of ``DIALECTS``; "" = found out by probing.
    concurrency : calls under way at once.
    timeout_s : seconds until a call is given up.
    max_attempts : calls for one request at most, the first included.
    temperature : None = not sent, so the server's own.
    max_tokens : limit of one reply.
    price : name in the table of prices; "" = looked up by the model's name.
    owner : family of the model, for the warning that a judge also wrote the data.
    """

    alias: str
    model: str = ""
    model_alias: str = ""
    model_env: str = ""
    base_url: str = field(default="", repr=False)
    base_url_env: str = ""
    local: bool = False
    key_env: str = ""
    dialect: str = ""
    concurrency: int = 4
    timeout_s: float = 120.0
    max_attempts: int = 3
    temperature: float | None = 0.0
    max_tokens: int | None = 512
    price: str = ""
    owner: str = ""

    @property
    def sampling(self) -> dict[str, Any]:
        """The sampling fields of a chat request, only those that are set."""
        chosen = {"temperature": self.temperature, "max_tokens": self.max_tokens}
        return {name: value for name, value in chosen.items() if value is not None}

    def describe(self) -> dict[str, Any]:
        """What a manifest says about the endpoint: no address, no key."""
        shown = ("alias", "model_alias", "dialect", "temperature", "max_tokens", "owner")
        return {name: getattr(self, name) for name in shown}

    def address(self) -> str:
        """The base URL now, "" for the openai client's own default.

        Raises
        ------
        EndpointError
            The library's own server is meant, and none is running.
        """
        url = os.environ.get(self.base_url_env, "") if self.base_url_env else ""
        url = url or self.base_url
        if url or not self.local:
            return url
        from mtrlib.llm import local_server

        found = local_server.address()
        if not found:
            raise EndpointError(
                f"{self.alias}: no local server is running. Mend: start it with `make llm`, or "
                f"set {self.base_url_env or 'base_url'} to one that runs."
            )
        return found

    def api_key(self) -> str:
        """The key from the environment; a stand-in where the server needs none.

        Raises
        ------
        InputError
            The variable is not set and the server is on another machine.
        """
        found = os.environ.get(self.key_env, "") if self.key_env else ""
        if not found and self.key_env and not is_loopback(self.address()):
            raise InputError(
                f"{self.alias}: no API key. Mend: set the environment variable {self.key_env}."
            )
        # never empty: the client would then send OPENAI_API_KEY to whatever server this is
        return found or "none"


def is_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
