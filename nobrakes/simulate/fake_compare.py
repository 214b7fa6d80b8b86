"""What differs between two trees of the fake git, for people."""

from difflib import unified_diff

from ..ports import Comparison, FileDiff
from .objects import differing
from .project import Tree


def compare(before: Tree, after: Tree, most: int) -> Comparison:
    """The files that differ, and at most `most` characters of the patch."""
    files, patch = [], ""
    for path in sorted(differing(before, after)):
        one, other = before.get(path), after.get(path)
        lines = list(unified_diff(_lines(one), _lines(other), f"a/{path}", f"b/{path}"))
        body = lines[2:]
        added = sum(line.startswith("+") for line in body)
        removed = sum(line.startswith("-") for line in body)
        status = "A" if one is None else "D" if other is None else "M"
        files.append(FileDiff(path, status, added, removed))
        patch += f"diff --git a/{path} b/{path}\n{''.join(lines)}"
    is_cut = len(patch) > most > 0
    shown = patch[: patch.rfind("\n", 0, most) + 1] if is_cut else patch
    return Comparison(tuple(files), shown if most else "", is_cut)


def _lines(text: str | None) -> list[str]:
    return (text or "").splitlines(keepends=True)
