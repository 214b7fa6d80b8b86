"""What an attempt last claimed of its progress, as `agent progress` wrote it down."""

from dataclasses import dataclass

from ...core.beads.attempt import Attempt
from ...core.beads.events import Kind
from ...core.text.cleaning import clean, shorten
from ...ports.store import Store
from ...wording import stages

PAGE = 1000
TEXT = 500


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent last said about where it is. `of` None: it did not say out of how many."""

    text: str
    step: int | None = None
    of: int | None = None


def spoken(claim: Claim, commits: int | None) -> str:
    """Both tracks on one line."""
    step = "" if claim.step is None else f"step {claim.step}" + (f" of {claim.of}" if claim.of else "")
    fact = "" if commits is None else f"{commits} commit{'' if commits == 1 else 's'}"
    return ", ".join(part for part in (step, fact, claim.text) if part)


def claimed(store: Store, attempt: Attempt) -> Claim | None:
    """What the attempt last said of its progress; None: nothing."""
    after, found = 0, None
    while page := store.events(after, PAGE, attempt.bead):
        after = page[-1].seq
        for event in page:
            if event.kind is Kind.PROGRESSED and event.attempt == attempt.id:
                found = event
    if found is None:
        return None
    numbers = found.data.get("data") or {}
    return Claim(shorten(clean(str(found.data.get("text", ""))), TEXT), numbers.get("step"), numbers.get("of"))


def review_step(attempt: Attempt) -> str:
    """Where a review is, in words."""
    from ...core.review.journal import Journal

    journal = Journal.of(attempt.data)
    return f"waits: {journal.waiting}" if journal.waiting else stages.stage(journal.step.value, journal.epic)
