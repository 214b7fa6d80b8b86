"""The issues of one repository over plain values: the port `IssueTracker`, and what people do there.

`answers` is asked before each call, and again after what changes something: it may raise, so that a call does nothing,
or takes effect and is not heard of.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nobrakes.errors import HostRefused


class FakeIssues:
    """The port, and its state, which outlives every daemon."""

    def __init__(self, repository: str = "github.com/team/thing") -> None:
        self.repository = repository
        self.rows: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[str]] = {}
        self.answers: Callable[[str], None] = lambda call: None

    def ready(self) -> None:
        """HostUnavailable, as drawn."""
        self.answers("ready")

    def open_issues(self, label: str) -> Sequence[Mapping[str, Any]]:
        self.answers("open_issues")
        return [dict(one) for _, one in sorted(self.rows.items(), reverse=True) if self._is_listed(one, label)]

    def is_open(self, number: int) -> bool:
        self.answers("is_open")
        return number in self.rows and self.rows[number]["state"] == "open"

    def has_comment(self, number: int, mark: str) -> bool:
        self.answers("has_comment")
        self._row(number)
        if len(found := self.comments[number]) >= 1000 and not any(mark in one.splitlines() for one in found):
            raise HostRefused(f"issue #{number} has too many comments")
        return any(mark in one.splitlines() for one in found)

    def comment(self, number: int, text: str) -> None:
        self.answers("comment")
        self._row(number)
        self.comments[number].append(text)
        self.answers("commented")

    def close(self, number: int) -> None:
        self.answers("close")
        self._row(number)["state"] = "closed"
        self.answers("closed")

    # --- what people do --------------------------------------------------------------------------

    def issue(self, number: int, title: str, body: str = "", labels: tuple[str, ...] = ("nobrakes",)) -> None:
        """Open an issue, or change it."""
        named = [{"name": label} for label in labels]
        row = {"number": number, "title": title, "body": body, "state": "open", "labels": named, "milestone": None}
        self.rows[number] = {**row, "url": f"https://{self.repository}/issues/{number}"}
        self.comments.setdefault(number, [])

    def say(self, number: int, text: str) -> None:
        self.comments[number].append(text)

    def shut(self, number: int) -> None:
        self.rows[number]["state"] = "closed"

    def remove(self, number: int) -> None:
        del self.rows[number]

    def _is_listed(self, one: Mapping[str, Any], label: str) -> bool:
        return one["state"] == "open" and label in [each["name"] for each in one["labels"]]

    def _row(self, number: int) -> dict[str, Any]:
        if number not in self.rows:
            raise HostRefused(f"issue #{number} is gone")
        return self.rows[number]
