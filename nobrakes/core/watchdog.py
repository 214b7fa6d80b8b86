"""Whether a daemon that is not there is started again: what the watchdog decides, from facts, without a model.

1. Only a daemon that a person wants is started: one that was begun in the background, and that nobody stopped or paused
   since. A process that was killed, a machine that went down and a session that ended are nobody's stop.
2. The network and a provider have to answer. One of the two that does not counts as down: the next look that asks them
   comes after 1, 2, 4, 8, 16 and then every 30 minutes. A start that fails waits in the same way.
3. While a daemon works, or is not wanted, nobody is asked anything, and what was waited for is forgotten.
"""

from dataclasses import dataclass

WANTED = "daemon_wanted"
"""The setting that says since when a person wants a daemon in the background, until they stop it."""
MINUTE = 60.0
MOST_MINUTES = 30.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """How often in a row something was down, and until when nobody is asked again."""

    failures: int = 0
    until: float = 0.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known without asking anybody outside. `works`: the pid of a daemon; None: there is none."""

    works: int | None = None
    wanted: bool = False
    paused: bool = False


def at_rest(facts: Facts) -> str:
    """Why there is nothing to do here, in words; empty: a daemon is missed."""
    if facts.works is not None:
        return f"a daemon works (process {facts.works})"
    if not facts.wanted:
        return "no daemon is wanted: nobody started one in the background, or a person stopped it"
    if facts.paused:
        return "no daemon is started: a person paused the work"
    return ""


def minutes(failures: int) -> float:
    """How long to wait after so many failures in a row: 1, 2, 4, 8, 16, 30, 30 …"""
    return float(min(MOST_MINUTES, 2 ** max(0, min(failures, 10) - 1)))


def still_waits(waiting: Waiting, now: float) -> bool:
    """Whether it is too early to ask. A clock that was set back lets nobody wait longer than the longest wait."""
    return now < waiting.until <= now + MOST_MINUTES * MINUTE


def after_failure(waiting: Waiting, now: float) -> Waiting:
    """What is waited for now that something was down once more."""
    failures = waiting.failures + 1
    return Waiting(failures, now + minutes(failures) * MINUTE)
