"""Texts on a narrow screen: nothing is cut off, and no line is longer than the screen."""

from types import SimpleNamespace
from typing import Any

from nobrakes.agents.limits import Cost
from nobrakes.beads.model import Attempt, AttemptLog, Bead, Role
from nobrakes.cli import beads, review
from nobrakes.cli.screen import Screen
from nobrakes.decisions.model import Escalation, EscalationType

LONG = "one two three four five six seven eight nine ten " * 4 + "end"
SCREEN = Screen(60)


def shown(text: str) -> list[str]:
    lines = text.splitlines()
    assert max(map(len, lines)) <= SCREEN.width, lines
    return lines


def test_a_history_on_a_narrow_screen_has_all_of_its_words() -> None:
    attempt = Attempt(1, "nb-1", 1, Role.DOER, "Ada", 1, "t", 100.0, log=AttemptLog(summary=f"  {LONG}\n\n{'x' * 130}"))
    asked = Escalation(1, EscalationType.QUESTION, "nb-1", LONG, "", created_at=1.0)
    bead = Bead("nb-1", LONG)
    found: Any = SimpleNamespace(
        bead=bead, events=(), attempts=(attempt,), reviews=(), escalations=(asked,), commit="", archived=(), cost=Cost()
    )
    lines = shown(beads._history(found, SCREEN))
    assert " ".join(" ".join(lines).split()).count(LONG) == 3
    assert "      one two" in "\n".join(lines) and "".join("".join(lines).split()).count("x" * 130) == 1


def test_the_evidence_of_a_merge_on_a_narrow_screen_has_all_of_its_words() -> None:
    run = {"bead": "nb-1", "outcome": "pass", "checks": [
        {"name": "test", "outcome": "pass", "code": 0, "seconds": 1.5, "counts": None, "excerpt": LONG}
    ]}  # fmt: skip
    tree = {"commit": "a" * 40, "tree": "b" * 40}
    record = {
        "bead": {"id": "nb-1", "title": LONG, "type": "feature"}, "kind": "merge", "at": 1.0, "merged": tree,
        "steps": [{"step": "validate", "of": "branch", "run": "1", "how": "recorded"}], "runs": {"1": run},
        "contracts": {"c": {"environment": "e", "setup": LONG, "checks": [{"name": "test", "command": LONG}]}},
    }  # fmt: skip
    found: Any = SimpleNamespace(record=record, problem="", evidence="c" * 40)
    lines = shown(review._shown(found, SCREEN))
    assert " ".join(" ".join(lines).split()).count(LONG) == 4
