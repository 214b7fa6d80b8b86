"""A scripted Messages API on the loopback, and a command that runs against it in a network of its own.

1. `http://127.0.0.1:<port>/s/<name>` answers with the script called <name>: its steps in order, then its last one
   for ever. Requests without tools (titles, probes) get "ok" and use up no step.
2. A step is {"text": …, "tools": [[name, input], …]} or an HTTP error {"status": …, "type": …, "message": …}.
3. Run as a program with a spec (JSON: scripts, argv, env, cwd, stdin, stdout, stderr, log, seconds, own_network) it
   serves, runs argv with `{port}` in env filled in, and exits with the command's code. `log` gets each main request.
"""

import json
import socket
import struct
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = dict[str, Any]


class Scripts:
    """What is answered next, by name."""

    def __init__(self, scripts: dict[str, list[Step]]) -> None:
        self.scripts = {name: list(steps) for name, steps in scripts.items()}
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def next(self, name: str, body: dict[str, Any]) -> Step:
        if not body.get("tools"):
            return {"text": "ok"}
        with self.lock:
            self.requests.append({"script": name, "body": body})
            steps = self.scripts[name]
            return steps.pop(0) if len(steps) > 1 else steps[0]


def message(step: Step, model: str) -> dict[str, Any]:
    """A step as a Messages API message."""
    content: list[dict[str, Any]] = [{"type": "text", "text": step["text"]}] if step.get("text") else []
    for tool, given in step.get("tools", []):
        content.append({"type": "tool_use", "id": f"toolu_{uuid.uuid4().hex[:20]}", "name": tool, "input": given})
    return {
        "id": f"msg_{uuid.uuid4().hex[:20]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if step.get("tools") else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }


def events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message as the events of a stream."""
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


class _Handler(BaseHTTPRequestHandler):
    scripts: Scripts

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, _, name, *rest = self.path.partition("?")[0].split("/")
        if rest != ["v1", "messages"]:
            self._send(404, "application/json", b"{}")
            return
        step = self.scripts.next(name, body)
        if "status" in step:
            error = {"type": "error", "error": {"type": step["type"], "message": step["message"]}}
            self._send(step["status"], "application/json", json.dumps(error).encode())
            return
        whole = message(step, body["model"])
        if body.get("stream"):
            parts = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events(whole))
            self._send(200, "text/event-stream", "".join(parts).encode())
        else:
            self._send(200, "application/json", json.dumps(whole).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(scripts: Scripts) -> ThreadingHTTPServer:
    """Serve on a free port of the loopback, in a thread; `server_port` tells which."""
    handler = type("Handler", (_Handler,), {"scripts": scripts})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _loopback_up() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        up_and_running = 0x1 | 0x40
        fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))  # SIOCSIFFLAGS


def main(path: str) -> int:
    """Serve and run what the spec says."""
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    if spec["own_network"]:
        _loopback_up()
    scripts = Scripts(spec["scripts"])
    port = serve(scripts).server_port
    env = {key: value.replace("{port}", str(port)) for key, value in spec["env"].items()}
    with open(spec["stdin"], "rb") as stdin, open(spec["stdout"], "wb") as out, open(spec["stderr"], "wb") as err:
        code = subprocess.run(
            spec["argv"], env=env, cwd=spec["cwd"], stdin=stdin, stdout=out, stderr=err, timeout=spec["seconds"]
        ).returncode
    with open(spec["log"], "w", encoding="utf-8") as file:
        json.dump(scripts.requests, file)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
