"""A repository in the middle of a night: agents at work with words and progress, questions, reviews, what is done.

Made through the store's own operations, so that no agent has to run.
"""

import json
import os
import subprocess
from pathlib import Path

from nobrakes.app import App, open_app
from nobrakes.beads.model import Attempt, Outcome, Role
from nobrakes.beads.service import bead_commands
from nobrakes.cli import main
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.events.kinds import Event, Kind

TITLES = (
    "Parse the header of a packet",
    "Reject packets that are too short",
    "Cache what the resolver answered",
    "Say which option was unknown",
    "Write the index in one transaction",
    "Retry a refused connection twice",
    "Document the wire format",
    "Round money half to even",
    "Rename the flag --fast",
    "Fold white space in names",
)


def repository(folder: Path) -> Path:
    """An empty repository with nobrakes in it."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert main.run(["init", "--build", "true", "--json"]) == 0
    finally:
        os.chdir(before)
    return folder


class Scene:
    """What goes on in the repository at `folder`; close it, or use it as a context."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.app: App = open_app(str(folder))
        self.store = self.app.store

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_: object) -> None:
        self.app.close()

    def bead(self, id: str, title: str, needs: tuple[str, ...] = (), **more: object) -> str:
        """A live bead."""
        return bead_commands.add(self.store, title, id=id, needs=needs, draft=False, needs_tests=False, **more).id  # type: ignore[arg-type]

    def works(self, bead: str, name: str, says: tuple[str, ...] = (), step: int = 0, of: int = 0) -> Attempt:
        """An agent on it, with what it said last and what it claims."""
        attempt = self.store.open_attempt(bead, Role.DOER, "script", [name], 3600.0, None)
        assert attempt is not None
        run = Path(self.app.paths.runs, f"{attempt.id}-agent")
        run.mkdir(parents=True)
        (run / "agent.out").write_text("".join(f"{line}\n" for line in says))
        if step:
            data = {"text": says[-1], "data": {"step": step, "of": of}}
            self.store.record(Event(Kind.PROGRESSED, bead, attempt.id, attempt.name, data))
        return attempt

    def ends(self, attempt: Attempt, outcome: Outcome = Outcome.FAILED) -> None:
        """The attempt ends."""
        self.store.close_attempt(attempt, Kind.DOER_STOPPED, outcome, detail="it could not be built", counts=True)

    def asks(self, title: str, bead: str | None = None, form: forms.Form | None = None, detail: str = "") -> int:
        """A question; its number."""
        values = None if form is None else forms.as_values(form)
        new = NewEscalation(EscalationType.QUESTION, title, detail, form=values)
        return self.store.escalate(new, bead, None, "Ada").id

    def escalates(self, type_: EscalationType, title: str, bead: str | None = None, **more: object) -> int:
        """Something else that waits for a person; its number."""
        return self.store.escalate(NewEscalation(type_, title, **more), bead, None, "nobrakes").id  # type: ignore[arg-type]


def night(folder: Path) -> None:
    """The repository at `folder`, full of what a night has."""
    with Scene(folder) as scene:
        for number, title in enumerate(TITLES * 3, 1):
            scene.bead(f"nb-{number}", title if number <= len(TITLES) else f"{title}, part {number // 10 + 1}")
        for number in range(31, 41):
            scene.bead(f"nb-{number}", f"Then {TITLES[number % 10].lower()}", needs=(f"nb-{number - 20}",))
        words = ("Reading src/packet.py", "$ pytest -q tests/test_packet.py", "12 passed, now the short ones")
        scene.works("nb-1", "Ada", words, 2, 4)
        scene.works("nb-2", "Bowie", ("Two callers still pass the old shape, updating both.",))
        scene.works("nb-3", "Cleo", ("$ cargo test --quiet", "1 failed, 11 passed in 2.10s"), 3, 3)
        for bead in ("nb-20", "nb-21", "nb-22", "nb-23"):
            bead_commands.done(scene.store, bead, "by hand", "you")
        bead_commands.cancel(scene.store, "nb-24", "not any more", "you")
        bead_commands.hold(scene.store, "nb-25", "after the release", "you")
        which = forms.made(
            "radio",
            ["UTC: everywhere, one rule; costs a migration of the old rows", "local: as it is now", "both: by a flag"],
            ["UTC"],
            priority=1,
            context="Rows before May have no zone. Both readings are in use.",
        )
        scene.asks("Which time zone do the timestamps have?", "nb-11", which, "The old reader guesses it.")
        scene.asks("May the flag --fast be renamed without an alias?", "nb-9", forms.made("yes_no", (), ["yes"]))
        scene.escalates(
            EscalationType.REPEATED_FAILURE,
            "Three attempts failed: Fold white space in names",
            "nb-10",
            hypothesis="the last three attempts all end with 'No such file: names.txt'",
            evidence={"attempts": [json.dumps({"attempt": 1, "outcome": "failed"})]},
        )
