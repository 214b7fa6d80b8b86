"""A project whose agent does, bead by bead and turn by turn, what a test tells it; and what tests wait with.

The agent reads `<book>/<bead>.<turn>`, else `<book>/<bead>`, as a piece of shell; where neither is there it does good
work. It leaves a line `<pid> <role>` a turn in `<book>/<bead>.turns`, and its prompt in `<book>/<bead>.prompt.<turn>`.
"""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tests.support.project import Project
from tests.support.warm import NOBRAKES

Found = TypeVar("Found")

AGENT = """#!/bin/sh
BOOK=@BOOK@
commit() { git add -A && git commit -q -m "$@"; }
work() { mkdir -p src && echo "made for $NOBRAKES_BEAD" >"src/$NOBRAKES_BEAD" && commit "Work on $NOBRAKES_BEAD" --allow-empty; }
echo "$$ $NOBRAKES_ROLE" >>"$BOOK/$NOBRAKES_BEAD.turns"
turn=$(($(wc -l <"$BOOK/$NOBRAKES_BEAD.turns")))
cp "$NOBRAKES_PROMPT" "$BOOK/$NOBRAKES_BEAD.prompt.$turn"
for play in "$BOOK/$NOBRAKES_BEAD.$turn" "$BOOK/$NOBRAKES_BEAD"; do
    if [ -e "$play" ]; then . "$play"; exit; fi
done
work
"""


def until(condition: Callable[[], Found], seconds: float = 60.0, what: Callable[[], object] = lambda: "") -> Found:
    """What `condition` gives once it is true; AssertionError when it never is."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"it did not happen in time: {what()}"
        time.sleep(0.02)
    return found


def lives(pid: int) -> bool:
    """Whether the process lives; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Scripted(Project):
    """A project with a book of what its agent does."""

    def __init__(self, folder: Path, *, doers: int = 3, limits: str = "", more: str = "") -> None:
        self.book = folder / "book"
        self.book.mkdir(parents=True)
        agent = folder / "agent.sh"
        agent.write_text(AGENT.replace("@BOOK@", f"'{self.book}'"))
        super().__init__(folder / "repository", ["sh", str(agent)], doers=doers, more=more)
        if limits:
            self.configure("grace_seconds = 1", limits if "grace_seconds" in limits else f"grace_seconds = 1\n{limits}")

    def configure(self, old: str, new: str) -> None:
        """Replace a part of config.toml."""
        text = self.config.read_text()
        assert old in text
        self.config.write_text(text.replace(old, new))

    def does(self, bead: str, play: str, turn: int | None = None) -> None:
        """What the agent does on the bead, in this turn or in all that have no play of their own."""
        (self.book / (bead if turn is None else f"{bead}.{turn}")).write_text(play)

    def add(self, *ids: str, **fields: Any) -> None:
        """Live beads without tests."""
        self.plan([{"id": one, "title": f"Bead {one}", "needs_tests": False, **fields} for one in ids])

    def turns(self, bead: str) -> list[int]:
        """The pid of the agent in each turn, so far."""
        path = self.book / f"{bead}.turns"
        return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []

    def prompt(self, bead: str, turn: int) -> str:
        """The prompt of a turn."""
        return (self.book / f"{bead}.prompt.{turn}").read_text()

    def flag(self, name: str) -> Path:
        """A file by which tests and plays tell each other something: `touch "$BOOK/name"`."""
        return self.book / name

    def start(self, *arguments: str, **how: Any) -> "subprocess.Popen[str]":
        """Start a command and do not wait for it."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **how}
        return subprocess.Popen([NOBRAKES, *self.asked(*arguments)], cwd=self.folder, env=self.env(), text=True, **how)

    @contextmanager
    def running(self, *arguments: str) -> "Iterator[subprocess.Popen[str]]":
        """`nobrakes run` beside the test; it is killed at the end, and so is what it leaves."""
        process = self.start("run", *arguments)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
            self.kill_orphans()

    def error(self, *arguments: str, code: int) -> dict[str, Any]:
        """The error that a command ends with, after its text for people was seen to be sound."""
        person = self.nobrakes(*arguments, expect=code)
        program = self.nobrakes(*arguments, "--json", expect=code)
        return sound(person, program, code)

    def show(self, bead: str) -> dict[str, Any]:
        """What `nobrakes show` knows of a bead."""
        shown: dict[str, Any] = self.ask("show", bead)
        return shown

    def waits(self) -> list[str]:
        """Why reviews wait to be merged, as their journals say."""
        import sqlite3
        from contextlib import closing

        path = self.folder / ".nobrakes" / "nobrakes.db"
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
            rows = store.execute("select data from attempts where role = 'reviewer' and ended_at is null").fetchall()
        return [said for (data,) in rows if (said := json.loads(data or "{}").get("waiting"))]

    def status(self, bead: str) -> str:
        return str(self.show(bead)["status"])

    def outcomes(self, bead: str, role: str = "doer") -> list[str | None]:
        """How the role's attempts at a bead ended, oldest first."""
        return [a["outcome"] for a in self.show(bead)["attempts"] if a["role"] == role]

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The events of a kind."""
        lines = self.nobrakes("events", "--json").stdout.splitlines()
        return [event for event in map(json.loads, lines) if event["event"] == kind]

    def open(self) -> list[dict[str, Any]]:
        """The open escalations."""
        found: list[dict[str, Any]] = self.ask("escalations")
        return found


DESTRUCTIVE = ("rm -r", "reset --hard", "clean -f", "--force", "branch -D", "checkout -f", "delete")


def sound(
    person: "subprocess.CompletedProcess[str]", program: "subprocess.CompletedProcess[str]", code: int
) -> dict[str, Any]:
    """The error in the envelope. AssertionError: it is no clear line and hint, or the hint would destroy something.

    What a `run` said before it ended may stand before the error.
    """
    assert (person.returncode, program.returncode) == (code, code)
    assert "Traceback" not in person.stdout + person.stderr + program.stdout + program.stderr
    assert "run" in person.args or (person.stdout == "" and program.stderr == "")
    lines = person.stderr.splitlines()
    assert lines and lines[0].startswith("error: ") and "\x1b" not in person.stderr
    envelope = json.loads(program.stdout)
    assert envelope["ok"] is False and len(program.stdout.splitlines()) == 1
    error: dict[str, Any] = envelope["error"]
    assert error["code"] == code and error["hint"], error
    assert not any(word in person.stderr + program.stdout for word in DESTRUCTIVE)
    return error
