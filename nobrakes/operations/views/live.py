"""Agents as a viewer sees them: who is at work, what each says, and older lines on demand.

1. A line has a number, its place in the whole transcript: a viewer that was away goes on without loss or double.
2. Filtered are the lines that tell how the work goes: what the agent says, tests and findings, errors and notes.
3. Context is what the CLI last said of its tokens, against what its model holds; None where it said nothing.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ...agents.registry import adapter
from ...core.beads.attempt import Attempt
from ...core.beads.bead import Role
from ...core.beads.progress import doubt
from ...core.errors import UsageError
from ...core.text.cleaning import shorten
from ...core.transcript import Line, LineKind
from ...git.workspaces.inside import commits_since
from ...paths import Paths
from ...sessions.reader import follow
from .. import sessions
from .board import Worker, workers
from .progress import Claim, claimed

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.store import Store

LAST = 100
MOST_AT_ONCE = 20
MOST_TEXT = 2000
TELLING: frozenset[LineKind] = frozenset({LineKind.TEXT, LineKind.NOTE, LineKind.LIMIT, LineKind.COST})
_SIGNS = ("test", "pytest", "error", "fail", "Traceback", "commit", "ok ", "passed")


@dataclass(frozen=True, slots=True)
class Numbered:
    """One line with its place. `is_telling`: it is shown filtered too."""

    number: int
    kind: str
    text: str
    is_telling: bool


@dataclass(frozen=True, slots=True)
class Watched:
    """One agent with its last lines. `commits` are the fact, `claim` what it says; `doubt` speaks against that."""

    worker: Worker
    lines: tuple[Numbered, ...]
    total: int
    claim: Claim | None
    commits: int | None
    doubt: str
    context: float | None
    tokens: int
    cost_usd: float
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttemptPage:
    """One attempt's whole transcript, a page of it. `watched` while it is at work; `first` numbers its first line."""

    attempt: Attempt
    title: str
    lines: tuple[Numbered, ...]
    first: int
    total: int
    watched: Watched | None


def numbered(found: Iterable[Line], begin: int = 0) -> list[Numbered]:
    """Lines with their places."""
    return [
        Numbered(begin + place, line.kind.value, shorten(line.text, MOST_TEXT), is_telling(line))
        for place, line in enumerate(found)
    ]


def is_telling(line: Line) -> bool:
    """Whether it says how the work goes."""
    if line.kind in TELLING:
        return True
    return line.kind in (LineKind.RESULT, LineKind.TOOL_CALL) and any(sign in line.text for sign in _SIGNS)


def everything(paths: Paths, attempt: Attempt) -> list[Line]:
    """Every readable line of an attempt."""
    session = sessions.of(paths, attempt)
    read = adapter(session.agent).lines
    is_over = attempt.outcome is not None
    earlier = [raw for _, raw in follow(f"{session.path}.1", 0, True)] if os.path.exists(f"{session.path}.1") else []
    raws = [*earlier, *(raw for _, raw in follow(session.path, 0, is_over))]
    return [line for raw in raws for line in read(raw)]


def live(store: "Store", paths: Paths, config: "Config") -> tuple[Watched, ...]:
    """The agents at work, at most twenty of them, oldest first."""
    found = [one for one in workers(store) if one.role is not Role.REVIEWER][:MOST_AT_ONCE]
    return tuple(watched(store, paths, config, one) for one in found)


def watched(store: "Store", paths: Paths, config: "Config", worker: Worker, last: int = LAST) -> Watched:
    """One agent at work with its last lines."""
    attempt = store.attempt(worker.attempt)
    lines = everything(paths, attempt)
    claim = claimed(store, attempt)
    clone = os.path.join(paths.workspaces, worker.bead)
    commits = commits_since(clone, worker.started_at) if os.path.isdir(clone) else None
    used = context_of(lines)
    holds = getattr(getattr(config.agents, worker.agent, None), "context_tokens", 0) or 0
    return Watched(
        worker,
        tuple(numbered(lines[-last:], max(0, len(lines) - last))),
        len(lines),
        claim,
        commits,
        doubt(claim.step, commits) if claim is not None else "",
        min(1.0, used / holds) if used and holds else None,
        max(attempt.tokens, used),
        attempt.cost_usd,
        touched(lines),
    )


def context_of(lines: Sequence[Line]) -> int:
    """The tokens in the agent's context, as its CLI said last; 0: it did not."""
    for line in reversed(lines):
        if line.kind is LineKind.USAGE:
            data: Mapping[str, object] = line.data
            for name in ("context", "tokens", "input_tokens"):
                value = data.get(name)
                if isinstance(value, int):
                    return value
    return 0


def touched(lines: Sequence[Line]) -> tuple[str, ...]:
    """The files that its tool calls named, the latest last, at most thirty."""
    found: dict[str, None] = {}
    for line in lines:
        if line.kind is LineKind.TOOL_CALL:
            for name in ("file_path", "path", "file"):
                value = line.data.get(name) if isinstance(line.data, Mapping) else None
                if isinstance(value, str) and value:
                    found.pop(value, None)
                    found[value] = None
    return tuple(islice(reversed(found), 30))


def attempt_page(store: "Store", paths: Paths, config: "Config", number: int, before: int | None) -> AttemptPage:
    """A page of one attempt's transcript: the lines before the one with this number, None: the last ones. Stale…"""
    attempt = store.attempt(number)
    if attempt.role is Role.REVIEWER:
        raise UsageError(f"attempt {number} is a review", f"The page of bead {attempt.bead} shows its checks.")
    lines = everything(paths, attempt)
    end = len(lines) if before is None else max(0, min(before, len(lines)))
    begin = max(0, end - LAST * 5)
    at_work = [one for one in workers(store) if one.attempt == number]
    return AttemptPage(
        attempt,
        store.bead(attempt.bead).title,
        tuple(numbered(lines[begin:end], begin)),
        begin,
        len(lines),
        watched(store, paths, config, at_work[0], 0) if at_work else None,
    )
