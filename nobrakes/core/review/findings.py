"""What a reviewer of a change may say: findings in a bounded form, judged before anything of it is kept.

1. `findings_of` takes JSON text and gives findings, or says what is wrong with it in a UsageError. Of what is wrong
   nothing is kept.
2. The words are an agent's: cleaned, without secrets, bounded. They are shown and quoted, and steer nothing but whether
   the work is looked at again.
3. The same finding said twice is one.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..errors import UsageError
from ..forge.categories import CATEGORIES as OF_PLANS
from ..text.cleaning import only_seen, redacted, shorten

CATEGORIES = ("correctness", "edge_cases", "errors", "tests", *OF_PLANS)
MOST, TEXT, PATH, ANSWER = 30, 1_000, 300, 64_000
"""Findings of one review; characters of a finding's text, of its path, and of the whole answer."""
FORM = 'It is {"findings": [{"category": …, "priority": "P1", "path": …, "line": 1, "text": …}]}; [] where all is well.'


class Priority(StrEnum):
    """How much a finding matters."""

    MUST = "P1"  # must be mended
    SHOULD = "P2"  # is mended, justified, or becomes a bead of its own
    MAY = "P3"  # shown, and nothing waits for it


URGENT = (Priority.MUST, Priority.SHOULD)
_FIELDS = frozenset({"category", "priority", "path", "line", "text"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a reviewer found. `path` and `line` as it said them; empty and 0: it named no place."""

    category: str
    priority: Priority
    text: str
    path: str = ""
    line: int = 0

    @property
    def is_urgent(self) -> bool:
        """Whether the work does not go on before it is decided."""
        return self.priority in URGENT

    @property
    def place(self) -> str:
        """Where it is, in words; empty: it named none."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    def as_values(self) -> dict[str, Any]:
        """JSON values."""
        values = {"category": self.category, "priority": self.priority.value, "text": self.text}
        return {**values, "path": self.path, "line": self.line}


def findings_of(answer: str) -> list[Finding]:
    """The findings of an answer, the most urgent first. UsageError: it is none, and why."""
    if len(answer) > ANSWER:
        raise UsageError(f"the review has {len(answer)} characters, and {ANSWER} are the most", FORM)
    try:
        values = json.loads(answer)
    except (ValueError, RecursionError):
        raise UsageError("the review is no JSON", FORM) from None
    if not isinstance(values, dict) or set(values) != {"findings"} or not isinstance(values["findings"], list):
        raise UsageError("the review is no object with `findings` alone", FORM)
    if len(values["findings"]) > MOST:
        raise UsageError(f"the review has more than {MOST} findings", "Leave out those that matter least.")
    found = dict.fromkeys(_finding(one, number) for number, one in enumerate(values["findings"], 1))
    return sorted(found, key=lambda one: one.priority)


def _finding(values: Any, number: int) -> Finding:
    if not isinstance(values, dict) or not values.keys() <= _FIELDS:
        raise _wrong(number, "is no object with these fields alone")
    if values.get("category") not in CATEGORIES:
        raise _wrong(number, f"has no category of these: {', '.join(CATEGORIES)}")
    if values.get("priority") not in [one.value for one in Priority]:
        raise _wrong(number, "has no priority of P1, P2 and P3")
    line = values.get("line") or 0
    if type(line) is not int or not 0 <= line < 10**7:
        raise _wrong(number, "has a line that is no number")
    texts = values.get("text"), values.get("path") or ""
    if not all(isinstance(one, str) for one in texts):
        raise _wrong(number, "has no text, or a path that is none")
    text, path = _bounded(str(texts[0]), TEXT), " ".join(_bounded(str(texts[1]), PATH).split())
    if not text.strip():
        raise _wrong(number, "has no text, or a path that is none")
    return Finding(values["category"], Priority(values["priority"]), text, path, line)


def _bounded(text: str, most: int) -> str:
    return shorten(redacted(only_seen(text)).strip(), most)


def _wrong(number: int, what: str) -> UsageError:
    return UsageError(f"finding {number} of the review {what}", FORM)


def kept(values: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """The findings that were kept as these values."""
    return tuple(Finding(**{**one, "priority": Priority(one["priority"])}) for one in values)


def urgent(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that have to be decided."""
    return tuple(one for one in findings if one.is_urgent)


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    """How many there are of each priority."""
    return {one.value: sum(found.priority is one for found in findings) for one in Priority}


def told(findings: Iterable[Finding]) -> str:
    """The findings as text, one after the other."""
    return "\n".join(f"- {one.priority.value} {one.category}{_at(one)}: {one.text}" for one in findings)


def _at(one: Finding) -> str:
    return f" at {one.place}" if one.path else ""
