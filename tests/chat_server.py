"""A server on loopback that speaks OpenAI's chat API, as well or as badly as a test wants.

Each request is answered by what `reply` makes of the prompt: a text, or a `Reply` that says how it
misbehaves. All requests are kept, with their headers.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


@dataclass(frozen=True)
class Reply:
    """What one request gets."""

    text: str | None = "ZZ"
    status: int = 200
    seconds: float = 0.0
    """Before the answer."""
    usage: dict[str, Any] | None = field(default_factory=lambda: dict(USAGE))
    finish: str = "stop"
    drops: bool = False
    """The connection is closed without a word."""
    error: str = "it broke"
    code: str | None = None
    """Of an error."""
    headers: dict[str, str] = field(default_factory=dict)
    choices: bool = True


@dataclass
class Server:
    """A running server and what it was asked."""

    url: str
    requests: list[dict[str, Any]]
    headers: list[dict[str, str]]

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]


@contextmanager
def chat_server(reply: Callable[[str], Reply | str]) -> Iterator[Server]:
    """A server whose answer to a prompt (the last message) is what `reply` says."""
    requests: list[dict[str, Any]] = []
    headers: list[dict[str, str]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                requests.append(asked)
                headers.append({name.lower(): value for name, value in self.headers.items()})
                said = reply(asked["messages"][-1]["content"])
            made = said if isinstance(said, Reply) else Reply(said)
            time.sleep(made.seconds)
            if made.drops:
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
                return
            self.answer(made, asked["model"])

        def answer(self, made: Reply, model: str) -> None:
            if made.status != 200:
                body: dict[str, Any] = {
                    "error": {"message": made.error, "type": "server_error", "code": made.code}
                }
            else:
                message = {"role": "assistant", "content": made.text}
                choice = {"index": 0, "message": message, "finish_reason": made.finish, "logprobs": None}
                body = {
                    "id": "c1",
                    "object": "chat.completion",
                    "created": 1,
                    "model": model,
                    "choices": [choice] if made.choices else [],
                }
                if made.usage is not None:
                    body["usage"] = made.usage
            data = json.dumps(body).encode()
            self.send_response(made.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Server(f"http://127.0.0.1:{server.server_address[1]}/v1", requests, headers)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
