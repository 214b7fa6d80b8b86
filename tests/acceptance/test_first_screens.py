"""Twelve situations as a person meets them: the first screen says what happened, why, and what to type, and that works.

The screens of each, in a terminal of 80x24, stand in docs/first-screens.md. NOBRAKES_SCREENS=write writes them anew.
"""

import os
import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.errors import Hindered
from tests.support.screens import COLUMNS, ROWS, Screen, masked, seen
from tests.support.scripted import Scripted, until

PAGE = Path(__file__).parents[2] / "docs" / "first-screens.md"
WRITES = os.environ.get("NOBRAKES_SCREENS") == "write"  # now: a test has no variable of this name
CHECK = 'command = "sh tests/run.sh"'
COUNTS = re.compile(r"\d+ (?:done|ready|needs|working|review|blocked|escalated|draft|cancelled)\b")


class Person(Scripted):
    """A project whose main is tried, and a person at a terminal in it."""

    tries_main = True

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, doers=1)
        self.home = folder / "home"
        self.bin = folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        self.recorded: list[str] = []

    def env(self) -> dict[str, str]:
        gone = ("ANTHROPIC_", "CLAUDE_")
        found = {key: value for key, value in super().env().items() if not key.startswith(gone)}
        if not hasattr(self, "home"):
            return found
        return {**found, "HOME": str(self.home), "PATH": f"{self.bin}:{found['PATH']}"}

    def types(self, command: str, expect: tuple[int, ...] = (0,)) -> Screen:
        """What a person sees who types this."""
        argv = [
            found if (found := str(self.bin / word)) and Path(found).exists() else word for word in shlex.split(command)
        ]
        argv[0] = str(Path(sys.executable).parent / "nobrakes") if argv[0] == "nobrakes" else argv[0]
        screen = seen(argv, self.folder, self.env())
        assert screen.code in expect, f"{command} ended with {screen.code}:\n{screen.text}"
        return screen

    def looks(self, command: str, *said: str, expect: int = 0) -> list[str]:
        """The first screen of this command: it is recorded, says all this, and what it says to type comes back."""
        screen = self.types(command, (expect,))
        begins = [number for number, line in enumerate(screen.lines) if COUNTS.match(line)]
        if command == "nobrakes run" and begins:
            screen = Screen(screen.code, screen.lines[begins[-1] :])
        wide = [line for line in screen.lines if len(line) > COLUMNS]
        assert wide == [], f"{command} is wider than the terminal: {wide}"
        assert len(screen.lines) < ROWS, f"it is longer than the terminal:\n{screen.text}"
        words = " ".join(screen.text.split())
        assert [part for part in said if part not in words] == [], screen.text
        self.recorded += [f"$ {command}", *screen.lines, ""]
        return screen.commands()

    def fixes(self, *commands: str, by_hand: str = "") -> None:
        """Type these, which end a state; they are recorded without what they print, after what is done by hand."""
        self.recorded += [f"# {by_hand}"] if by_hand else []
        for command in commands:
            self.types(command)
            self.recorded += [f"$ {command}", "…"]
        self.recorded.append("")

    def keeps(self, title: str) -> None:
        """Compare with what the page has under this title, or write it there."""
        names = {str(self.folder): "REPOSITORY", str(self.home): "HOME", str(self.bin): "BIN", sys.executable: "PYTHON"}
        names |= {
            one["name"]: "NAME" for bead in self.ask("list", "--all") for one in self.show(bead["id"])["attempts"]
        }
        found = masked("\n".join(self.recorded).rstrip(), names)
        page = PAGE.read_text()
        section = re.compile(rf"(## {re.escape(title)}\n.*?```text\n)(.*?)(\n```\n)", re.S)
        old = section.search(page)
        assert old, f"{PAGE} has no section {title!r}"
        if WRITES:
            PAGE.write_text(page[: old.start()] + old[1] + found + old[3] + page[old.end() :])
        else:
            assert found == old[2], "NOBRAKES_SCREENS=write records it again"


@pytest.fixture
def person() -> Iterator[Person]:
    """In a folder whose name is as long each time, since lines are folded where its name stands in them."""
    folder = Path(tempfile.mkdtemp(prefix="screens-", dir="/tmp"))
    yield Person(folder)
    shutil.rmtree(folder, ignore_errors=True)


def test_paused(person: Person) -> None:
    person.add("one")
    person.nobrakes("pause")
    commands = person.looks("nobrakes status", "paused: no new work starts", "paused it")
    assert commands == person.looks("nobrakes run", "nothing was started", "paused it", expect=Hindered.code)
    assert commands == ["nobrakes resume"]
    person.fixes(commands[0])
    person.looks("nobrakes run", "1 done")
    person.keeps("Paused")


def test_no_login(person: Person) -> None:
    claude = person.bin / "claude"
    claude.write_text('#!/bin/sh\n[ "$1" = /login ] && mkdir -p ~/.claude && echo "{}" >~/.claude/.credentials.json\n')
    claude.chmod(0o755)
    person.configure('doer = "script"', 'doer = "claude"')
    person.add("one")
    commands = person.looks("nobrakes status", "you are not logged in to claude", "ANTHROPIC_API_KEY")
    assert (
        commands
        == person.looks("nobrakes run", "you are not logged in to claude", expect=Hindered.code)
        == ["claude /login"]
    )
    person.fixes(commands[0])
    person.looks("nobrakes status", "1 ready")
    person.keeps("No login")


def test_missing_runner(person: Person) -> None:
    person.configure(CHECK, 'command = "nosuchrunner tests"')
    person.add("one")
    said = "the check 'test' cannot run: `nosuchrunner` is not on PATH"
    commands = person.looks("nobrakes status", said, "install the program", ".nobrakes/config.toml")
    assert commands == ["nobrakes init --trial", "nobrakes run"]
    assert person.looks("nobrakes run", said, "Install the program", expect=Hindered.code) == commands[:1]
    runner = person.bin / "nosuchrunner"
    runner.write_text("#!/bin/sh\nexec sh tests/run.sh\n")
    runner.chmod(0o755)
    person.fixes(*commands, by_hand="install nosuchrunner")
    assert person.status("one") == "done"
    person.keeps("Missing runner")


def red(person: Person) -> None:
    (person.folder / "tests" / "test_begin.sh").write_text("test -e mended\n")
    person.git("commit", "-qam", "A test that fails")


def test_red_main(person: Person) -> None:
    red(person)
    person.add("one")
    commands = person.looks("nobrakes run", "main is red", "test_begin.sh", expect=40)
    assert commands == person.looks("nobrakes status", "main is red", "test_begin.sh")
    assert "main is red" in person.nobrakes("doctor", expect=1).stdout
    assert commands[0] == "nobrakes escalation 1" and commands[-1] == "nobrakes run"
    person.fixes(*commands[:-1])
    [mend] = [bead["id"] for bead in person.ask("list") if bead["title"] == "Fix main"]
    person.does(mend, "touch mended && commit Mend")
    person.fixes(commands[-1])
    assert person.status("one") == "done" and person.open() == []
    person.keeps("Red main")


def test_conflict(person: Person) -> None:
    person.nobrakes("set", "doers=2")
    for bead in ("one", "two"):
        wait = 'touch "$BOOK/on-$NOBRAKES_BEAD"; until [ -e "$BOOK/go" ]; do sleep 0.05; done'
        person.does(bead, f'mkdir -p src; echo "by {bead}" >src/shared; commit "{bead}"; {wait}')
    person.plan([{"id": one, "title": "A bead", "needs_tests": False} for one in ("one", "two")])
    with person.running() as run:
        until(lambda: all(person.flag(f"on-{bead}").exists() for bead in ("one", "two")))
        person.flag("go").touch()
        run.communicate(timeout=60)
    [asked] = person.open()
    commands = person.looks("nobrakes status", "conflict on", "src/shared")
    assert commands == person.looks("nobrakes run", "conflict on", "src/shared", expect=40)
    assert commands == ["nobrakes escalation 1"]
    decides(person, commands[0], "both added it", "nobrakes resolve 1 --retry")
    person.does(asked["bead"], "work")
    person.fixes("nobrakes run")
    assert person.status(asked["bead"]) == "done"
    person.recorded = [re.sub(rf"\b{asked['bead']}\b", "BEAD", line) for line in person.recorded]
    person.keeps("Conflict")


def decides(person: Person, command: str, said: str, decision: str, words: str = "It is fixed") -> None:
    """Look at the escalation, then type what it says, with a note where a person gives one."""
    page = person.types(command)
    person.recorded += [f"$ {command}", "…"]
    assert said in page.text
    typed = [line.split("  # ")[0].strip() for line in page.lines]
    [found] = dict.fromkeys(line for line in typed if line.startswith(decision))
    person.fixes(found.replace("…", words))


def test_question(person: Person) -> None:
    person.does(
        "one", "nobrakes agent ask 'Which colour?' --wait 0; nobrakes agent done blocked --blockers 'Colour?'", 1
    )
    person.add("one")
    commands = person.looks("nobrakes run", "question on one: Which colour?", expect=40)
    assert commands == person.looks("nobrakes status", "question on one: Which colour?") == ["nobrakes escalation 1"]
    decides(person, commands[0], "Which colour?", "nobrakes answer 1", "Blue")
    person.fixes("nobrakes run")
    assert "Blue" in person.prompt("one", 2)
    person.keeps("Question")


def test_suggestion(person: Person) -> None:
    person.does("one", "nobrakes agent escalate 'Tidy the cellar' --detail 'it is full'; work")
    person.add("one")
    commands = person.looks("nobrakes run", "1 done", "suggestion on one: Tidy the cellar")
    assert commands == person.looks("nobrakes status", "Tidy the cellar") == ["nobrakes escalation 1"]
    decides(person, commands[0], "it is full", "nobrakes resolve 1 --dismiss")
    person.looks("nobrakes status", "1 done")
    person.keeps("Suggestion")


def test_three_failures(person: Person) -> None:
    person.does("one", "nobrakes agent done failed --summary 'the ladder' --learnings 'it is short'")
    person.add("one")
    commands = person.looks("nobrakes run", "repeated failure on one", expect=40)
    assert commands == person.looks("nobrakes status", "repeated failure on one") == ["nobrakes escalation 1"]
    decides(person, commands[0], "the ladder", "nobrakes resolve 1 --retry")
    person.does("one", "work")
    person.fixes("nobrakes run")
    assert "It is fixed" in person.prompt("one", 4) and person.status("one") == "done"
    person.keeps("Three failures")


def test_broken_checks(person: Person) -> None:
    person.configure(CHECK, 'command = "nosuchrunner tests; exit $?"')
    person.add("one")
    commands = person.looks("nobrakes run", "nosuchrunner", expect=40)
    assert commands == person.looks("nobrakes status", "nosuchrunner")
    assert commands == ["nobrakes escalation 1", "nobrakes init --trial", "nobrakes run"]
    runner = person.bin / "nosuchrunner"
    runner.write_text("#!/bin/sh\nexec sh tests/run.sh\n")
    runner.chmod(0o755)
    person.fixes(*commands, by_hand="install nosuchrunner")
    assert person.status("one") == "done" and person.open() == []
    person.keeps("Broken checks")


def test_frozen_queue(person: Person) -> None:
    person.configure("[limits]", "[review]\nmain_check_hours = 0.0003\n[limits]")
    person.configure(CHECK, f'command = "[ ! -e {person.book}/broken ] && sh tests/run.sh"')
    person.add("one")
    person.nobrakes("daemon", "start")
    try:
        until(lambda: person.status("one") == "done", 90)
        person.flag("broken").touch()
        until(person.open, 90)
    finally:
        person.nobrakes("daemon", "stop")
    person.add("two")
    commands = person.looks("nobrakes status", "frozen: main is red", "merges wait until main passes")
    assert commands[0] == "nobrakes escalation 1" and commands[-1] == "nobrakes run"
    assert "frozen" in person.nobrakes("doctor", expect=1).stdout
    person.flag("broken").unlink()
    person.fixes(*commands, by_hand="end the cause outside of the repository")
    assert person.status("two") == "done" and person.ask("status")["frozen"] is None
    person.keeps("Frozen queue")


def test_dead_daemon(person: Person) -> None:
    person.add("one")
    person.nobrakes("hold", "one", "--reason", "not yet")
    person.nobrakes("daemon", "start")
    pid = int(person.ask("daemon", "status")["pid"])
    os.kill(pid, signal.SIGKILL)
    until(lambda: not person.ask("daemon", "status")["running"])
    commands = person.looks("nobrakes status", f"the daemon (process {pid}) crashed")
    assert commands[:2] == ["nobrakes daemon start", "nobrakes daemon stop"]
    person.fixes(commands[0])
    assert "crashed" not in person.types("nobrakes status").text
    person.fixes(commands[1])
    person.looks("nobrakes status", "running nothing")
    person.keeps("Dead daemon")


def test_cancelled_blocker(person: Person) -> None:
    person.add("one")
    person.add("two", needs=["one"])
    person.nobrakes("cancel", "one")
    commands = person.looks("nobrakes status", "'two' cannot start", "depends on 'one', which is cancelled")
    assert commands == person.looks("nobrakes run", "'two' cannot start", expect=40)
    assert commands == ["nobrakes undepend two one", "nobrakes reopen one"]
    person.fixes(*commands, "nobrakes run")
    assert person.status("one") == person.status("two") == "done"
    person.keeps("Cancelled blocker")
