"""A CLI that looks like Gemini CLI to nobrakes, and does what the scripted agent's book says: sessions, limits, resuming.

Its first argument is the scripted agent; a line `<bead> new|resumed` a turn goes into the book's `sessions`. A play that
prints LIMIT SECONDS meets a usage limit that says when it ends.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

AGENT, ARGV = sys.argv[1], sys.argv[2:]


def say(**event: Any) -> None:
    print(json.dumps(event), flush=True)


def main() -> int:
    if ARGV == ["--version"]:
        print("0.61.0")
        return 0
    resume = "--resume" in ARGV
    session = ARGV[ARGV.index("--resume" if resume else "--session-id") + 1]
    say(type="init", session_id=session, model="scripted")
    settings = json.loads((Path(os.environ["GEMINI_CLI_HOME"]) / ".gemini" / "settings.json").read_text())
    for one in settings["hooks"]["SessionStart"]:
        for hook in one["hooks"]:
            call = json.dumps({"hook_event_name": "SessionStart", "cwd": os.getcwd()})
            subprocess.run(hook["command"], shell=True, input=call, text=True, capture_output=True)
    with (Path(AGENT).parent / "book" / "sessions").open("a") as file:
        file.write(f"{os.environ['NOBRAKES_BEAD']} {'resumed' if resume else 'new'}\n")
    say(type="message", role="assistant", content="I begin.\n", delta=True)
    done = subprocess.run(["sh", AGENT], stdout=subprocess.PIPE, text=True)
    if "LIMIT" in done.stdout:
        seconds = done.stdout.split("LIMIT")[1].split()[0]
        text = f"429 RESOURCE_EXHAUSTED: You exceeded your current quota. Please retry in {seconds}s"
        say(type="result", status="error", error={"type": "api", "message": text})
        return 1
    say(type="message", role="assistant", content=done.stdout or "Done.\n\nNOBRAKES: COMPLETED\n", delta=True)
    say(type="result", status="success", stats={"total_tokens": 1})
    return 0


if __name__ == "__main__":
    sys.exit(main())
