"""An agent as a profile describes one: it asks a model by Chat Completions, does what the model says, and prints lines.

`profiled_agent.py ADDRESS SESSION STATE run|again < TASK`: what it told the model is kept in STATE, by session.
"""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

TOOLS = [{"type": "function", "function": {"name": "sh", "parameters": {"type": "object"}}}]
PROFILE = """
title = "A profiled agent"
program = "profiled-agent"
credentials = ["PROFILED_KEY"]
instructions = ["PROFILED.md"]
output = "events"

[[launch]]
arguments = ["{address}", "{session}", "{state}"]
stdin = true

[[launch]]
when = ["fresh"]
arguments = ["run"]

[[launch]]
when = ["resumed"]
arguments = ["again"]

[[lines]]
kind = "session"
text = "session"
when = { kind = "begin" }

[[lines]]
kind = "text"
text = "text"
when = { kind = "text" }

[[lines]]
kind = "tool"
name = "name"
command = "command"
when = { kind = "tool" }

[[lines]]
kind = "end"
when = { kind = "end" }

[trial]
variables = { PROFILED_KEY = "dummy" }
shell = ["sh", { command = "{command}" }]
"""


def say(kind: str, **more: str) -> None:
    print(json.dumps({"kind": kind, **more}), flush=True)


def ask(address: str, messages: list[Any]) -> dict[str, Any]:
    body = json.dumps({"model": "m", "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(f"{address}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        found: dict[str, Any] = json.load(answer)["choices"][0]["message"]
    return found


def main(address: str, session: str, state: str, how: str) -> None:
    kept = Path(state, session)
    messages = json.loads(kept.read_text()) if how == "again" else []
    messages.append({"role": "user", "content": sys.stdin.read()})
    say("begin", session=session)
    while True:
        message = ask(address, messages)
        messages.append(message)
        if message.get("content"):
            say("text", text=message["content"])
        for call in message.get("tool_calls", ()):
            command = json.loads(call["function"]["arguments"])["command"]
            say("tool", name="sh", command=command)
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
        kept.write_text(json.dumps(messages))
        if not message.get("tool_calls"):
            break
    say("end")


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print("7.1.0")
    else:
        main(*sys.argv[1:])
