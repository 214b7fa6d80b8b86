"""A pull request as people and programs see it: what is kept inside for us is not in it.

`page` is where it is to be seen: what the code host says, if that is an address of the web. store/fast/reads.py makes
the same JSON without these classes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .pull import PullRequest, PullState

WEB = ("https://", "http://")


@dataclass(frozen=True, slots=True)
class RequestLine:
    """A request in a list of beads. `state`: of docs/reference; `says`: what it waits for."""

    number: int  # 0: the code host numbers none
    state: str
    page: str
    says: str


@dataclass(frozen=True, slots=True)
class RequestView:
    """The newest request of a bead. `checks`: name, state and url; `remarks`: by, text, path and line, untrusted."""

    bead: str
    number: int
    state: PullState
    title: str
    url: str  # as the code host says it
    page: str  # the same where it is an address of the web
    says: str  # what it waits for
    branch: str
    onto: str  # the bead on whose request it stacks; empty: on none
    into: str  # the branch that people merge it into, where that is not the remote's main; else empty
    head: str
    base: str
    merged_as: str
    checks: tuple[Mapping[str, Any], ...]
    remarks: tuple[Mapping[str, Any], ...]
    approved_by: tuple[str, ...]
    opened_at: float
    looked_at: float

    @property
    def name(self) -> str:
        """As people call it."""
        return f"#{self.number}" if self.number else self.branch


def page_of(url: str) -> str:
    """The address, where a browser may go there; else nothing."""
    return url if url.startswith(WEB) else ""


def view(pull: PullRequest) -> RequestView:
    """The request as it is shown."""
    return RequestView(
        pull.bead,
        pull.number,
        pull.state,
        pull.title,
        pull.url,
        page_of(pull.url),
        pull.says,
        pull.branch,
        pull.onto,
        pull.into,
        pull.head,
        pull.base,
        pull.merged_as,
        tuple(pull.checks),
        tuple(pull.remarks),
        pull.approved_by,
        pull.opened_at,
        pull.looked_at,
    )
