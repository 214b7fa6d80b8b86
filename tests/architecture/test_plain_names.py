"""Names say what a thing is or does in words that a stranger would search for.

`PARTS` are words that no name of nobrakes holds, `WHOLE` those that no name is; each beside what to say instead. What
still has one is in `names_to_replace.txt`, which only becomes shorter.
"""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "nobrakes"
LEFT = Path(__file__).parent / "names_to_replace.txt"
MAX_SUBJECT = 72
FIRST_CHECKED = "5865f5dc34d25dc7e69b8531b87edf98abb921b7"
"""Subjects are looked at of the commits after this one."""
NO_SUBJECT = re.compile(r"(What|Who|Where|Whoever|Nobody)\b")

PARTS = {
    "train": "merge queue",
    "haunted": "with leftover processes",
    "intake": "fetch",
    "take_in": "fetch",
    "heard": "a noun of what is stored",
    "onto": "a noun of what it is put on",
    "looked": "inspected, polled",
    "dress": "set_labels_and_reviewers",
    "tells": "supports, reports",
    "courier": "notification sender",
    "news": "event consumer, updates",
    "doorkeeper": "agent channel server",
    "door": "agent channel",
    "doors": "agent channels",
    "hindrance": "blocker",
    "hindrances": "blockers",
    "whole": "detail, full, complete",
    "decoy": "mutation probe",
    "shadow": "module shadowing",
    "shadows": "module shadowing",
    "doubt": "invalidate",
    "together": "transaction, combined",
    "moment": "timestamp, read_transaction",
    "moments": "timestamps",
    "settle": "finish, drain, resolve",
    "settled": "finished, resolved",
    "settles": "finishes, resolves",
    "happening": "what it holds",
    "not_asked_any_more": "withdrawn_approvals",
    "let_turns_go": "release",
    "canary": "main check",
    "fresh_eyes": "code review",
    "seat": "agent spec",
    "seats": "agent specs",
    "ground": "fixture",
    "scene": "fixture",
    "sheet": "layout",
    "patience": "timeout",
    "most": "max",
    "longest": "max",
    "abilities": "capabilities",
    "brought_back": "restored",
    "bring_back": "restore",
    "put_back": "database rollback",
    "went_back": "database rollback",
    "anew": "again",
    "whoever": "(leave it out)",
    "at_once": "immediately",
    "excused": "exempt",
    "told": "notified, reported",
    "untold": "not notified",
    "kept": "stored, retained",
    "remark": "review comment",
    "remarks": "review comments",
    "beside": "background",
    "aside": "background, moved away",
    "speaker": "agent identity",
    "speakers": "agent identities",
    "taker": "claimer",
    "arrivals": "inbox",
    "diary": "run journal",
    "diaries": "run journals",
    "living": "liveness",
    "lives": "generation",
    "standing": "condition",
    "stands": "is_current",
    "alike": "snapshot",
    "usual": "default",
    "unusual": "suspicious",
}
"""Words of a name between underscores or capitals; one with underscores is a row of words."""
WHOLE = {
    **dict.fromkeys(("had", "was", "into", "says", "points", "look", "seen"), "a noun of what is stored"),
    **dict.fromkeys(("way", "ways"), "choice, navigation item, transport"),
    **dict.fromkeys(("place", "places"), "user directory, path"),
    **dict.fromkeys(("went", "came", "took", "ran", "born"), "a noun of what it holds"),
    "stage": "screen",
    "words": "text, an identity",
    "levels": "critical-path rank",
    "frontier": "ready bead",
    "judging": "what its class is called",
    "queueing": "what its class is called",
    "keep_whole": "ensure_objects",
}
"""Names too common to forbid as a part of others: of attributes, methods, classes and modules; not of parameters."""


def parts(name: str) -> list[str]:
    return [part.lower() for word in name.split("_") for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", word)]


def why_not(name: str, is_offered: bool) -> str:
    """What to say instead of a word in the name; empty if there is none."""
    row = f"_{'_'.join(parts(name))}_"
    if row.startswith("_of_"):
        return "for_…, …_key, or the noun that it returns"
    found = next((instead for word, instead in PARTS.items() if f"_{word}_" in row), "")
    return found or (WHOLE.get(row.strip("_"), "") if is_offered else "")


def names(module: Path) -> Iterator[tuple[str, bool]]:
    """Each name that a module gives, and whether it is more than a parameter's."""
    yield from ((part, True) for part in module.relative_to(ROOT).with_suffix("").parts)
    yield from _given(ast.parse(module.read_text(encoding="utf-8")), is_in_function=False)


def _given(node: ast.AST, is_in_function: bool) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child.name, True
        elif isinstance(child, ast.arg):
            yield child.arg, False
        elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            yield child.attr, True
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store) and not is_in_function:
            yield child.id, True
        yield from _given(child, is_in_function or is_function)


def left() -> list[str]:
    return [line for line in LEFT.read_text().splitlines() if line and not line.startswith("#")]


def test_names_are_plain() -> None:
    found = {
        name: instead
        for module in sorted(PACKAGE.rglob("*.py"))
        for name, is_offered in names(module)
        if (instead := why_not(name, is_offered))
    }
    new = {name: f"say {instead!r}, or what it is there" for name, instead in found.items() if name not in left()}
    assert new == {}
    gone = [name for name in left() if name not in found]
    assert gone == [], f"these are gone: remove their lines from {LEFT.name}"
    assert left() == sorted(set(left()))


@pytest.mark.parametrize(
    ("name", "is_offered", "is_plain"),
    [
        ("MergeTrain", True, False),
        ("_of_bead", True, False),
        ("branch_of_bead", True, True),
        ("PATIENCE_SECONDS", True, False),
        ("read_anew", True, False),
        ("was", True, False),
        ("was", False, True),
        ("was_merged", True, True),
        ("constrain", True, True),
        ("almost", True, True),
    ],
)
def test_a_private_word_in_a_name_is_found(name: str, is_offered: bool, is_plain: bool) -> None:
    assert (why_not(name, is_offered) == "") is is_plain


def wrong(subject: str) -> bool:
    """Whether it is one word, too long, or names its subject by a clause."""
    return " " not in subject or len(subject) > MAX_SUBJECT or NO_SUBJECT.match(subject) is not None


def test_subjects_of_commits_name_the_thing() -> None:
    """Of a shallow clone those that it has."""
    git = ("git", "-C", str(ROOT))
    known = subprocess.run([*git, "cat-file", "-e", FIRST_CHECKED], capture_output=True, check=False).returncode == 0
    if not known and not (ROOT / ".git").exists():
        return  # an unpacked archive has no commits
    since = f"{FIRST_CHECKED}..HEAD" if known else "HEAD"
    log = subprocess.run([*git, "log", "--format=%s", "--no-merges", since], capture_output=True, text=True, check=True)
    assert [subject for subject in log.stdout.splitlines() if wrong(subject)] == []


@pytest.mark.parametrize(
    ("subject", "is_wrong"),
    [
        ("What is asked of a remote in vain is asked again", True),
        ("Nobody is blamed", True),
        (f"Add {'x' * 69}", True),
        ("x", True),
        ("Retry failed remote queries", False),
        ("Whoosh away", False),
    ],
)
def test_a_subject_that_names_nothing_is_found(subject: str, is_wrong: bool) -> None:
    assert wrong(subject) is is_wrong
