"""A bead's status is chosen by beads.lifecycle alone, a review's step by review.machine."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "nobrakes"
CHOOSERS = {"beads/lifecycle.py", "beads/model.py", "review/machine.py", "review/journal.py"}
MADE_UP = {"beads/readiness.py"}
"""What is only imagined."""
FIELDS = {"status", "return_to", "step"}
TELLS = {"Reason"}
"""What names a status without giving it to a bead."""


NAMED = re.compile(r"\b(Status|Step|first_status|returns_to)\b|SET status")
"""What a choice is made of: a text without any of these makes none."""


def chosen(text: str) -> list[int]:
    """The lines that give a bead a status or a review a step of their own choice: a constant, or one worked out."""
    found = []
    for node in ast.walk(ast.parse(text)) if NAMED.search(text) else ():
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in TELLS:
            values = [one.value for one in node.keywords if one.arg in FIELDS]
            if getattr(node.func, "id", "") == "Journal" and any(_chooses(one) for one in node.args):
                found.append(node.lineno)
        elif isinstance(node, ast.Dict):
            values = [
                value
                for key, value in zip(node.keys, node.values, strict=True)
                if isinstance(key, ast.Constant) and key.value in FIELDS
            ]
        elif isinstance(node, ast.Assign):
            named = {getattr(one, "attr", getattr(one, "id", "")) for one in node.targets}
            values = [node.value] if named & FIELDS else []
        elif isinstance(node, ast.Constant) and "SET status" in str(node.value):
            found.append(node.lineno)
        found += [value.lineno for value in values if _chooses(value)]
    return found


def _chooses(value: ast.expr) -> bool:
    for node in ast.walk(value):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("Status", "Step"):
            return True
        if isinstance(node, ast.Name) and node.id in ("first_status", "returns_to"):
            return True
    return False


def test_no_other_module_chooses_a_status_or_a_step() -> None:
    paths = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in CHOOSERS | MADE_UP:
            paths += [f"{name}:{line}" for line in chosen(path.read_text(encoding="utf-8"))]
    assert paths == [], "ask beads.lifecycle where the bead is then, review.machine how the review goes on"


@pytest.mark.parametrize(
    "text",
    [
        "replace(bead, status=Status.DONE)",
        "moving.move(db, id, {'status': Status.ESCALATED.value, 'return_to': back})",
        "bead = Bead('b', 'B', status=Status.OPEN if epic else first_status(bead))",
        "status = returns_to(bead.status)",
        "replace(journal, step=Step.REBASE, tip='')",
        "Journal(Step.SWAP)",
        "db.run(\"UPDATE beads SET status = 'done'\")",
    ],
)
def test_a_choice_is_seen(text: str) -> None:
    assert chosen(text) == [1]


@pytest.mark.parametrize(
    "text", ["replace(bead, status=move.status)", "Bead(status=Status(row['status']))", "store.beads([Status.DONE])"]
)
def test_what_was_decided_or_read_is_no_choice(text: str) -> None:
    assert chosen(text) == []
