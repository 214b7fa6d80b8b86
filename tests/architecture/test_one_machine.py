"""A bead's status is chosen by beads.lifecycle alone, a review's step by review.machine."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "nobrakes"
CHOOSERS = {"beads/lifecycle.py"}
FIELDS = {"status", "return_to", "step"}
NAMING = {"Reason"}
"""What names a status without giving it to a bead."""
MACHINES = ("beads/lifecycle.py", "beads/model.py", "review/machine.py", "review/journal.py")
KINDS = {"Status", "Step"}
PARTS = {"first_status", "returns_to"}
"""Functions of MACHINES that know nothing of what happened: who calls one chooses."""
ANSWERS = {"added", "changed", "given_up", "live_status", "retyped"}
"""Functions of MACHINES that say where a bead is after something happened."""
NAMED = re.compile(rf"\b({'|'.join(KINDS | PARTS)})\b|SET status")
"""What a choice is made of: a text without any of these makes none."""


def chosen(text: str) -> list[int]:
    """The lines that give a bead a status or a review a step of their own choice: a constant, or one worked out."""
    found = []
    for node in ast.walk(ast.parse(text)) if NAMED.search(text) else ():
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in NAMING:
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
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in KINDS:
            return True
        if isinstance(node, ast.Name) and node.id in PARTS:
            return True
    return False


def test_no_other_module_chooses_a_status_or_a_step() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if lines := chosen(path.read_text(encoding="utf-8")):
            found[path.relative_to(PACKAGE).as_posix()] = lines
    paths = [f"{name}:{line}" for name, lines in found.items() for line in lines if name not in CHOOSERS]
    assert paths == [], "ask beads.lifecycle where the bead is then, review.machine how the review goes on"
    assert found.keys() == CHOOSERS, "a module that chooses no more is taken off the list"


def test_what_a_choice_is_made_of_is_what_the_machines_offer() -> None:
    kinds, functions = set(), set()
    for name in MACHINES:
        for node in ast.parse((PACKAGE / name).read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                kinds |= {node.name} & KINDS
            elif isinstance(node, ast.FunctionDef) and ast.unparse(node.returns or node.args) in KINDS:
                functions |= set() if node.name.startswith("_") else {node.name}
    assert (kinds, functions) == (KINDS, PARTS | ANSWERS)


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
