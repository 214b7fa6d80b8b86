"""docs/glossary.md has every word that the program shows, once."""

import re
from pathlib import Path

from nobrakes.beads.model import Role, Status
from nobrakes.beads.work_status import COLUMNS
from nobrakes.decisions.model import EscalationType

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "glossary.md").read_text()
ROWS = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", PAGE, re.MULTILINE)
WORDS = [word.strip("`") for word, _ in ROWS if word not in ("word", "---")]
ROLES = {
    Role.SHAPER: "Shaper",
    Role.TEST_WRITER: "Test Writer",
    Role.DOER: "Doer",
    Role.REVIEWER: "Reviewer",
    Role.PERSON: "hand in",
}
NAMED = (
    *("bead", "epic", "draft", "proposed change", "ready", "blocked", "held", "deferred"),
    *("assignment", "attempt", "session", "run", "role", "Assigner", "Shaper", "hand in"),
    *("escalation", "decision", "check", "contract", "validation", "red proof", "evidence", "protected file"),
    *("flake", "quarantine", "main's monitor", "queue", "frozen", "cooldown", "cap", "breaker", "channel"),
    *("workspace", "snapshot", "blocker"),
)


def test_no_word_stands_there_twice() -> None:
    folded = [word.lower() for word in WORDS]
    assert sorted(word for word in folded if folded.count(word) > 1) == []
    assert len(WORDS) == len(re.findall(r"^\| (?!word \||-)", PAGE.replace("|---|---|", ""), re.MULTILINE))


def test_every_status_column_type_of_escalation_and_role_has_its_row() -> None:
    shown = [*Status, *COLUMNS, *EscalationType, *(ROLES[role] for role in Role), *NAMED]
    assert [str(word) for word in shown if str(word) not in WORDS] == []
