"""What the ends of all CLIs have in common: HTTP statuses, wordings, markers, and processes that did not start."""

import re
from collections.abc import Mapping

from ..core.beads.outcomes import TABLE, Outcome, Session
from ..core.transcript import marker_outcome, read_marker
from .adapter import AgentEnd

RESUMABLE = frozenset(outcome for outcome, row in TABLE.items() if row.session is Session.RESUME)
"""After these the session is whole and worth its context; after any other a fresh one does better."""

_BY_STATUS: Mapping[int, Outcome] = {
    401: Outcome.AUTH,
    402: Outcome.BILLING,
    403: Outcome.AUTH,
    404: Outcome.MODEL_UNAVAILABLE,
    429: Outcome.RATE_LIMITED,
}

Wording = tuple[tuple[re.Pattern[str], Outcome], ...]


def by_status(status: object) -> Outcome | None:
    """The class of an HTTP status; None where it says too little."""
    if not isinstance(status, int):
        return None
    return Outcome.PROVIDER_DOWN if status >= 500 else _BY_STATUS.get(status)


def by_status_and(status: object, wording: Outcome | None) -> Outcome | None:
    """The class of an HTTP status, with what the words say where it says too little: a 400 may be anything."""
    if status in (400, 422):
        return wording or Outcome.INVALID_REQUEST
    return by_status(status) or wording


def worded(*pairs: tuple[str, Outcome]) -> Wording:
    """Patterns and what they mean, the first that is found counts."""
    return tuple((re.compile(pattern, re.I), outcome) for pattern, outcome in pairs)


def by_wording(wording: Wording, text: str) -> Outcome | None:
    """The class of the first pattern that is found in the text."""
    return next((outcome for pattern, outcome in wording if pattern.search(text)), None)


def ended_well(text: str) -> tuple[Outcome, str]:
    """What an end without fault means: it is completed, unless a marker in the last words says otherwise."""
    marked = marker_outcome(read_marker(text))
    if marked is not None and marked is not Outcome.COMPLETED:
        return marked, f"its marker says so: {text}"
    return Outcome.COMPLETED, text


def not_started(name: str, end: AgentEnd, known: Outcome | None = None) -> tuple[Outcome, str]:
    """What it means that a CLI ended without having begun a session. `known`: what its words were known to mean."""
    errors = end.errors.strip()
    if end.code == 127:
        return Outcome.MISSING_EXECUTABLE, f"{name} was not found: {errors}"
    if end.code == 126:
        return Outcome.BAD_CONFIGURATION, f"{name} may not be executed: {errors}"
    if end.code == 0:
        return Outcome.BAD_CONFIGURATION, f"it exited with 0 and said nothing that can be read: {errors}"
    return known or Outcome.BAD_CONFIGURATION, f"it did not start: {errors}"
