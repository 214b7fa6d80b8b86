"""A pull request as it is kept, and what a code host says of one.

1. The code host decides what becomes of a request; what is kept here is how it was seen last.
2. A row is written before anything is asked of the host (`OPENING`), so a crash in between is known.
3. `heard` names the remarks that a Doer was told of, `told` what became an event: nothing is told twice.
4. What others wrote is kept cleaned and bounded, and shown; it steers nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

ASKED = "pulls_asked_at"
"""The setting: when a person asked to look at all requests at once."""


def push_approval(bead: str) -> str:
    """The setting: the work of the bead, by its head, that a person said may be pushed."""
    return f"push_approval {bead}"


def own_base(bead: str) -> str:
    """The setting: the branch beside main that the bead takes merges back from, or was pushed to without a request."""
    return f"own_base {bead}"


class PullState(StrEnum):
    """Where a request is."""

    OPENING = "opening"  # it is being opened, and nobody knows yet whether it is there
    OPEN = "open"
    CLOSED = "closed"  # unmerged
    MERGED = "merged"


WAITING = frozenset({PullState.OPENING, PullState.OPEN})
"""Those that count against `review.max_open`."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """The newest request of a bead. `number` 0: the host told none, or not yet.

    `head` is the commit that we pushed, `base` what it was validated on, `tree` its tree, `contract` the key of the
    checks that it passed, `branch` its branch at the host, `onto` the bead on whose request it stacks; empty: on none.
    """

    bead: str
    state: PullState = PullState.OPENING
    number: int = 0
    url: str = ""
    title: str = ""
    branch: str = ""
    head: str = ""
    base: str = ""
    contract: str = ""
    merged_as: str = ""
    text: str = ""  # a digest of the text that the host has
    heard: tuple[str, ...] = ()
    checks: tuple[Mapping[str, str], ...] = ()  # name, state and url of each, as they were seen last
    remarks: tuple[Mapping[str, Any], ...] = ()  # the latest of people who may write: by, text, path, line
    approved_by: tuple[str, ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()  # what was asked for, and on which commit (core.pulls.disputes)
    told: tuple[str, ...] = ()  # what became an event (core.pulls.happened)
    says: str = ""  # what it waits for, in words
    opened_at: float = 0.0
    looked_at: float = 0.0
    onto: str = ""
    had: str = ""  # the last commit of ours that the host was seen to have
    was: int = 0  # the number of the one before it, which people closed and may have opened again
    into: str = ""  # the branch that people merge it into, or what it stacks on; empty: the remote's main

    @property
    def waits(self) -> bool:
        """Whether it counts against `review.max_open`."""
        return self.state in WAITING

    @property
    def name(self) -> str:
        """As people call it."""
        return f"#{self.number}" if self.number else self.branch


class CheckState(StrEnum):
    """What a check of the host came to."""

    PASSED = "passed"
    FAILED = "failed"
    RUNNING = "running"


@dataclass(frozen=True, slots=True)
class HostCheck:
    """One check that the host ran on a commit. `key`: by what its log is asked for; `says`: its own summary."""

    name: str
    state: CheckState
    url: str = ""
    key: str = ""
    says: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a person with write access wrote in a review, or their approval. `path` empty: about the whole."""

    key: str
    by: str
    text: str
    path: str = ""
    line: int = 0
    approves: bool = False  # it asks for nothing
    thread: str = ""  # the key of the remark that it answers; empty: it answers none


@dataclass(frozen=True, slots=True)
class Told:
    """What the host says of a request just now. `base`: the branch that it is to be merged into; empty: not known;
    `auto_merge`: whether the host merges it by itself, once all is there that it asks for.
    """

    number: int
    url: str
    state: PullState
    head: str = ""
    merged_as: str = ""
    conflicts: bool = False
    title: str = ""
    body: str = ""
    base: str = ""
    auto_merge: bool = False


@dataclass(frozen=True, slots=True)
class Seen:
    """What one exchange with the host came to.

    `told` None: there is no request yet. `trouble`: why the exchange could not be brought to its end; `wait`: seconds
    before the next one; `needs_person`: the trouble does not pass by itself; `paced`: we asked too often ourselves.
    `text`: the digest of the host's text.
    """

    told: Told | None = None
    checks: Sequence[HostCheck] = ()
    logs: Sequence[tuple[str, str]] = ()  # name of a failed check -> its log
    remarks: Sequence[Remark] = ()
    trouble: str = ""
    wait: float = 0.0
    needs_person: bool = False
    paced: bool = False
    text: str = ""
