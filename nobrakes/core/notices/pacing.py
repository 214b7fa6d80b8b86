"""When something is sent through a channel: tries, digests, reminders.

1. A try that failed is repeated after 30 s, 1 min, 2 min … at most an hour; after MOST_TRIES it is given up.
2. Within a window a channel gets at most `digest_after` single messages. When more are due they become one digest, and
   there is at most one digest a window: whatever happens, a channel gets at most `digest_after` + 2 messages a minute.
3. What nobody answers is told again after `renotify_seconds`, at most MOST_REMINDERS times.
"""

from enum import Enum

from .notice import OpenQuestion, Queue, Rules

FIRST_PAUSE = 30.0
LONGEST_PAUSE = 3600.0
MOST_TRIES = 8
WINDOW = 60.0
"""Seconds over which a channel's messages are counted."""
SAME_WITHIN = 600.0
"""A notice with the fingerprint of one that is so many seconds old is the same."""
MOST_REMINDERS = 3


def next_try(tries: int, now: float) -> float | None:
    """When it is tried again after so many tries that failed; None: never."""
    if tries >= MOST_TRIES:
        return None
    return now + min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** max(0, tries - 1))


class Step(Enum):
    """What a free channel does next."""

    NOTHING = "nothing"
    SEND = "send"
    DIGEST = "digest"


def step(queue: Queue, digest_after: int, now: float) -> tuple[Step, float | None]:
    """What a channel that sends nothing now does next, and when to ask again if that is nothing."""
    if queue.digests:
        return Step.SEND, None
    if not queue.due:
        return Step.NOTHING, queue.next_at
    if queue.due + queue.sent <= digest_after:
        return Step.SEND, None
    free_at = now if queue.digest_at is None or queue.digest_at > now else queue.digest_at + WINDOW
    return (Step.DIGEST, None) if free_at <= now else (Step.NOTHING, free_at)


def reminds_at(question: OpenQuestion, rules: Rules) -> float | None:
    """When people are told again of an open question; None: not any more."""
    if not rules.renotify_seconds or question.times > MOST_REMINDERS:
        return None
    return question.told_at + rules.renotify_seconds
