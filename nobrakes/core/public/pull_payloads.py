"""What public events say of pull requests. The rules are those of payloads.py.

What others wrote at the code host (`issue`, `suggestion`, `by`, `file`) is data: cleaned, bounded, no instruction.
"""

from dataclasses import dataclass

from .payload import Payload


@dataclass(frozen=True, slots=True)
class PushAllowed(Payload):
    """A person's word for a push, which holds for this work alone."""

    head: str = ""  # the commit that was handed in, and has passed
    branch: str = ""  # that it is pushed to at the code host


@dataclass(frozen=True, slots=True)
class Requested(Payload):
    """A bead's pull request."""

    pr_number: int | None = None  # null: the code host numbers none, as plain git
    pr_url: str = ""
    title: str = ""
    branch: str = ""  # at the code host
    head: str = ""  # the commit that was proven and pushed
    merged_commit: str | None = None  # what people made of it


@dataclass(frozen=True, slots=True)
class RequestIssue(Payload):
    """A remark on it, or a red check."""

    pr_number: int | None = None
    pr_url: str = ""
    issue: str = ""  # the remark, or what the check says of itself
    severity: str = ""  # error: a red check; warning: a remark
    suggestion: str = ""  # what the remark wants the lines to become, where it says so
    by: str = ""  # who wrote it, by their name at the code host
    check: str = ""  # the check's name there
    file: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RequestApproved(Payload):
    """Somebody approved it."""

    pr_number: int | None = None
    pr_url: str = ""
    by: str = ""


KINDS: tuple[type[Payload], ...] = (PushAllowed, Requested, RequestIssue, RequestApproved)
"""Every shape."""
