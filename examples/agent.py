"""A scripted agent: plays what a scenario says for a bead, a role and the how-manieth time.

It is an agent like any other ("bring your own"): nobrakes starts it in the bead's private clone, tells it by
NOBRAKES_* variables who it is, and learns from it through git, `nobrakes agent …` and its exit code.

A scenario is a folder with scenario.toml and files to copy. For each bead, role and turn there is a list of
steps, played in order; the last turn is played again when there are more attempts than turns:

    [[rates.doer]]
    steps = ["copy rates/code", "commit Convert amounts", "done It converts."]

Where it says nothing about a bead's role, the files of beads/<id>/tests or beads/<id>/code are copied and committed.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(sys.argv[1]).resolve()
BEAD = os.environ["NOBRAKES_BEAD"]
ROLE = os.environ["NOBRAKES_ROLE"]
NOBRAKES = Path(os.environ["NOBRAKES_HOME"]) / "bin" / "nobrakes"


def turn() -> int:
    """How often this role has worked on this bead before, told by nobrakes."""
    earlier = json.loads(nobrakes("agent", "attempts", "--json"))["data"]
    return 1 + sum(one["role"] == ROLE for one in earlier)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, stdout=subprocess.DEVNULL)


def nobrakes(*arguments: str) -> str:
    return subprocess.run([NOBRAKES, *arguments], check=True, capture_output=True, text=True).stdout


def copy(source: str) -> None:
    """Lay the files of a scenario's folder over the work tree."""
    shutil.copytree(HERE / "beads" / source, ".", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    print(f"wrote the files of {source}")


def replace(text: str) -> None:
    """PATH|OLD|NEW: change a text that must be there."""
    path, old, new = text.split("|")
    before = Path(path).read_text()
    if old not in before:
        sys.exit(f"{path} does not hold {old!r}")
    Path(path).write_text(before.replace(old, new.replace("\\n", "\n")))
    print(f"changed {path}")


def commit(subject: str) -> None:
    git("add", "-A")
    git("commit", "-q", "-m", f"{subject}\n\nBead: {BEAD}")
    print(f"committed: {subject}")


def wait_for(text: str) -> None:
    """BEAD STATUS: go on when another bead has got there. An agent sees no other bead; who plays the example tells."""
    bead, status = text.split()
    told = Path(sys.argv[2]) / bead
    while not told.exists() or told.read_text() != status:
        time.sleep(0.05)


def expect(text: str) -> None:
    """The prompt must hold this text: a successor reads what its predecessor left."""
    if text not in Path(os.environ["NOBRAKES_PROMPT"]).read_text():
        sys.exit(f"the prompt does not tell: {text}")
    print(f"read in the prompt: {text}")


def play(step: str) -> None:
    verb, _, rest = step.partition(" ")
    if verb == "copy":
        copy(rest)
    elif verb == "replace":
        replace(rest)
    elif verb == "commit":
        commit(rest)
    elif verb == "wait-for":
        wait_for(rest)
    elif verb == "expect":
        expect(rest)
    elif verb in ("log", "escalate", "notify", "ask"):
        print(nobrakes("agent", verb, rest).strip())
    elif verb == "progress":
        nobrakes("agent", "progress", rest)
    elif verb == "done":
        nobrakes("agent", "done", "--summary", rest)
    elif verb == "give-up":
        summary, blockers, learnings = rest.split("|")
        outcome = ("--outcome", "gave_up_tests", "--summary", summary, "--blockers", blockers)
        nobrakes("agent", "done", *outcome, "--learnings", learnings)
    elif verb == "say":
        print(rest)
    elif verb == "exit":
        sys.exit(int(rest))
    else:
        sys.exit(f"the scenario has an unknown step: {step}")


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # who watches sees each line when it is said
    scenario = tomllib.loads((HERE / "scenario.toml").read_text())
    folder = "tests" if ROLE == "test_writer" else "code"
    usual = [f"copy {BEAD}/{folder}", f"commit {BEAD}: {folder}", f"done The {folder} of {BEAD} are written."]
    turns = scenario.get(BEAD, {}).get(ROLE) or [{"steps": usual}]
    for step in turns[min(turn(), len(turns)) - 1]["steps"]:
        play(step)


main()
