"""The model's server, on 127.0.0.1 alone, in a thread. Three dialects, one script.

1. `http://127.0.0.1:<port>/s/<name>` answers with the script called <name>: its steps in order, then its last one
   for ever. Requests without tools (titles, probes) get "ok" and use up no step. What follows in the path chooses the
   dialect: Anthropic's Messages, OpenAI's Responses, Gemini's generateContent.
2. A step is {"text": …, "tools": [[name, input], …]} or an HTTP error {"status": …, "type": …, "message": …}. One with
   {"until": mark} is said again and again, and not any more once the mark is in a request; with {"then": step} as well
   it is said for ever, and `then` whenever the last message holds the mark. TURN in it is the number of messages so
   far, since Gemini CLI ends a run in which the same call comes again and again.
3. For Gemini a tool's name that begins with "*" is that of the first declared tool that ends so.
"""

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from . import anthropic, gemini, openai

Step = dict[str, Any]


class Scripts:
    """What is answered next, by name."""

    def __init__(self, scripts: dict[str, list[Step]]) -> None:
        self.scripts = {name: list(steps) for name, steps in scripts.items()}
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()

    def next(self, name: str, body: dict[str, Any]) -> Step:
        """The step that answers this request."""
        if not body.get("tools"):
            return {"text": "ok"}
        with self.lock:
            steps = self.scripts[name]
            if "then" in steps[0]:
                said = body.get("messages") or body.get("input") or body.get("contents") or [None]
                if steps[0]["until"] in json.dumps(said[-1]):
                    return cast(Step, steps[0]["then"])
                return cast(Step, json.loads(json.dumps(steps[0]).replace("TURN", str(len(said)))))
            self.requests.append({"script": name, "body": body})
            if "until" in steps[0] and steps[0]["until"] not in json.dumps(body):
                return steps[0]
            if "until" in steps[0]:
                del steps[0]
            return steps.pop(0) if len(steps) > 1 else steps[0]


class _Handler(BaseHTTPRequestHandler):
    scripts: Scripts

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on stderr."""

    def do_POST(self) -> None:
        """Answer with the next step, in the dialect of the path."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, _, name, *rest = self.path.partition("?")[0].split("/")
        path = "/".join(rest)
        if path != "v1/messages" and path != "v1/responses" and not path.endswith("enerateContent"):
            self._send(404, "application/json", b"{}")
            return
        step = self.scripts.next(name, body)
        if "status" in step:
            kind = {"type": step["type"], "message": step["message"]}
            if path.endswith("enerateContent"):
                kind = {"code": step["status"], "status": step["type"], "message": step["message"]}
            elif path == "v1/responses":
                kind["code"] = step["type"]
            error = {"type": "error", "error": kind}
            self._send(step["status"], "application/json", json.dumps(error).encode())
        elif path == "v1/responses":
            self._stream(openai.events(step, body["model"]))
        elif path.endswith("enerateContent"):
            answer = gemini.answer(step, body)
            self._stream([answer] if ":stream" in path else answer)
        else:
            whole = anthropic.message(step, body["model"])
            self._stream(anthropic.events(whole) if body.get("stream") else whole)

    def _stream(self, what: dict[str, Any] | Iterable[dict[str, Any]]) -> None:
        if isinstance(what, dict):
            self._send(200, "application/json", json.dumps(what).encode())
            return
        parts = ((f"event: {e['type']}\n" if "type" in e else "") + f"data: {json.dumps(e)}\n\n" for e in what)
        self._send(200, "text/event-stream", "".join(parts).encode())

    def _send(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def serve(scripts: Scripts, port: int = 0) -> ThreadingHTTPServer:
    """Serve on a free port of the loopback (or this one), in a thread; `server_port` tells which."""
    handler = type("Handler", (_Handler,), {"scripts": scripts})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
