"""A small server of the chat API on this machine, whose answers a test decides."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from mtrlib.llm.endpoints import Endpoint

Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]


class Server(ThreadingHTTPServer):
    """Answers JSON as a function of path and body; keeps what was sent."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.sent: list[tuple[str, dict[str, Any]]] = []

    @property
    def endpoint(self) -> Endpoint:
        url = f"http://127.0.0.1:{self.server_address[1]}/v1"
        return Endpoint("lab", model="served", model_alias="m", base_url=url)


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.sent.append((self.path, body))
        status, answer = self.server.answer(self.path, body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """Serve until the block ends."""
    with Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def completion(text: str, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "c-1",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 2, "total_tokens": 42},
    }
