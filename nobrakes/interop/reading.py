"""One Beads record being read: each field by its own rule, and what it could not take over as a problem."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.beads import lifecycle
from ..core.beads.bead import MAX_TITLE, Bead, BeadType, Status, parse_type
from ..core.beads.branches import MOST, is_branch_name
from ..core.beads.proposals import sound
from ..core.errors import BadBead
from .words import CLOSED_WORDS, OPEN_WORDS, SET_ASIDE_WORDS, moment

COMPUTED = frozenset({"_type", "dependency_count", "dependent_count", "comment_count", "parent", "content_hash"})
UNDERSTOOD = frozenset(
    [
        "id",
        "title",
        "description",
        "acceptance_criteria",
        "notes",
        "status",
        "priority",
        "issue_type",
        "assignee",
        "estimated_minutes",
        "labels",
        "dependencies",
        "created_at",
        "updated_at",
        "closed_at",
        "close_reason",
        "defer_until",
        "metadata",
        "x_nobrakes",
    ]
)
"""The keys that a field of a bead stands for."""


def one_line(text: str) -> str:
    """The text with every run of spaces, line breaks and control characters as one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


class Reading:
    """One record being read; collects its problems."""

    def __init__(self, raw: dict[str, Any], line: int, problems: list[str]) -> None:
        self.raw = raw
        self.line = line
        self.problems = problems
        own = raw.get("x_nobrakes")
        self.own: dict[str, Any] = own if isinstance(own, dict) else {}
        self.kept = {k: v for k, v in raw.items() if k not in UNDERSTOOD and k not in COMPUTED and v is not None}

    def problem(self, text: str) -> None:
        """Remember what could not be taken over."""
        self.problems.append(f"line {self.line}: {self.raw.get('id', '?')}: {text}")

    def text(self, key: str) -> str:
        """A field that is a text."""
        value = self.raw.get(key)
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        self.problem(f"{key} is not a text: left out")
        return ""

    def texts(self, source: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """A field that is a list of texts."""
        value = source.get(key)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.problem(f"{key} is not a list of texts: left out")
        return ()

    def time(self, key: str) -> float | None:
        """A field that is a time, in seconds since 1970."""
        value = self.raw.get(key)
        if value in (None, ""):
            return None
        try:
            return moment(value)
        except (ValueError, OverflowError):
            self.problem(f"{key} is not a time: left out")
            return None

    def title(self) -> str:
        """The title as one printable line of at most 500 characters."""
        title = self.text("title")
        clean = one_line(title)
        if len(clean) > MAX_TITLE or any(not c.isprintable() for c in title):
            self.problem("its title was made one printable line of at most 500 characters")
            return clean[:MAX_TITLE].rstrip()
        return title

    def priority(self) -> int:
        """0 to 4."""
        value = self.raw.get("priority", 2)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 4:
            return value
        self.problem(f"priority {value!r:.40} is not 0 to 4: 2 is taken")
        return 2

    def estimate(self) -> int | None:
        """Minutes above 0."""
        value = self.raw.get("estimated_minutes")
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        self.problem(f"estimated_minutes {value!r:.40} is no number above 0: left out")
        return None

    def type(self) -> BeadType:
        """The type; an unknown one becomes a held task."""
        word = self.own.get("type") or self.raw.get("issue_type") or "task"
        try:
            return parse_type(str(word))
        except BadBead:
            self.problem(f"type '{str(word)[:40]}' is not known: it becomes a task, and comes in held")
            self.kept["issue_type_was"] = word
            return BeadType.TASK

    def count(self, key: str) -> int:
        """A number of ours, 0 or more."""
        value = self.own.get(key, 0)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0

    def metadata(self) -> dict[str, Any]:
        """The record's own metadata as a mapping."""
        value = self.raw.get("metadata")
        if isinstance(value, str):
            try:
                value = json.loads(value) if value else {}
            except ValueError:
                value = {"text": value}
        if value is not None and not isinstance(value, dict):
            value = {"value": value}
        return value or {}

    def acceptance(self) -> tuple[str, ...]:
        """The acceptance criteria, one a line."""
        if "acceptance" in self.own:
            return self.texts(self.own, "acceptance")
        return tuple(line.strip() for line in self.text("acceptance_criteria").splitlines() if line.strip())

    def status(self, bead: Bead) -> Bead:
        """The bead with its status, and held where somebody had set it aside."""
        word = str(self.own.get("status", ""))
        if word in Status.__members__.values():
            return lifecycle.told(bead, Status(word))
        word = str(self.raw.get("status") or "open")
        if word in CLOSED_WORDS:
            return lifecycle.closed(bead, Status.DONE, bead.closed_at)
        bead = lifecycle.live(bead)
        if "issue_type_was" in self.kept:
            return replace(bead, held=f"type {self.kept['issue_type_was']}"[:80])
        if word in SET_ASIDE_WORDS and bead.defer_until is None and bead.held is None:
            return replace(bead, held=word)
        if word not in OPEN_WORDS and word not in SET_ASIDE_WORDS:
            self.problem(f"status '{word[:40]}' is not known: it comes in held")
            return replace(bead, held=word)
        return bead

    def bead(self) -> Bead:
        """The whole bead, without its epic and its metadata."""
        own = self.own
        held = own.get("held")
        commit = own.get("merged_commit")
        branch = own.get("branch", "")
        is_sound = isinstance(branch, str) and len(branch) <= 2 * MOST and is_branch_name(branch)
        bead = Bead(
            id=self.raw["id"],
            title=self.title(),
            type=self.type(),
            description=self.text("description"),
            acceptance=self.acceptance(),
            priority=self.priority(),
            labels=tuple(dict.fromkeys(self.texts(self.raw, "labels"))),
            estimate=self.estimate(),
            needs_tests=own.get("needs_tests") is not False,
            scaffolding=own.get("scaffolding") is True,
            touches=self.texts(own, "touches"),
            notes=self.text("notes"),
            held=held if isinstance(held, str) else None,
            defer_until=self.time("defer_until"),
            created_at=self.time("created_at") or 0.0,
            updated_at=self.time("updated_at") or 0.0,
            closed_at=self.time("closed_at"),
            close_reason=self.text("close_reason"),
            failures=self.count("failures"),
            merged_commit=commit if isinstance(commit, str) else None,
            branch_kept=own.get("branch_kept") is True,
            branch=branch if is_sound else "",
            proposed=sound(own.get("proposed")),
        )
        return self.status(bead)
