"""A local chat endpoint for tests of language-model libraries, with scripted models."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def last_action(observation: str) -> str:
    """Return a reply with the last legal action of an observation."""
    indices = re.findall(r"^\[(\d+)\]", observation, re.MULTILINE)
    return f"The last one looks best: [{indices[-1]}]"


class Model(BaseHTTPRequestHandler):
    """A streaming chat endpoint: "last" plays the last legal action, "silent" names none."""

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = request["messages"][-1]["content"]
        if not isinstance(content, str):
            content = "".join(part["text"] for part in content)
        text = last_action(content) if request["model"] == "last" else "I do not know."
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        shared = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        for delta, reason in (({"role": "assistant", "content": text}, None), ({}, "stop")):
            choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
            self.wfile.write(b"data: %s\n\n" % json.dumps({**shared, "choices": choices}).encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def serve(handler: type[BaseHTTPRequestHandler] = Model) -> Iterator[str]:
    """Serve the models, or answer with another handler, and yield the base address for clients."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
