"""What a person is asked where fresh eyes found something, or where nobody could read what passed."""

from collections.abc import Sequence

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead
from ...core.beads.forms import as_values, form
from ...core.beads.outcomes import Outcome
from ...core.beads.taking import is_by_person
from ...core.review import findings
from ...core.review.findings import Priority
from ...core.review.journal import Journal
from ...core.review.reading import Next
from ...core.review.reading_choices import Whose, options
from .reports import AttemptEnd
from .whole_epics import is_whole_epic

_CONTEXT = 3_800


def whose_work(bead: Bead, past: Sequence[Attempt]) -> Whose:
    """Who mends what is found in it."""
    if is_whole_epic(bead):
        return Whose.EPIC
    return Whose.PERSON if is_by_person(past) else Whose.AGENTS


def question(journal: Journal, found: Next, content: str, merged: int, whose: Whose) -> AttemptEnd:
    """The end of the review, with the question; the bead waits for the answer."""
    one = found.reading
    said = one.findings if one is not None and not found.why else ()
    urgent = findings.urgent(said)
    if urgent:
        assert one is not None
        head = f"Every check passed, and fresh eyes found something in round {one.round}: {len(urgent)} of {len(said)}"
        head += " findings have to be decided."
    else:
        head = f"Every check passed, and nobody read it with fresh eyes. {found.why}"
    tickets = any(each.priority is Priority.SHOULD for each in urgent)
    asked = form(
        {
            "kind": "radio",
            "options": options(bool(urgent), tickets, whose),
            "priority": 1 if any(each.priority is Priority.MUST for each in urgent) else 2,
            "context": findings.told(said)[:_CONTEXT],
        }
    )
    evidence = {
        "head": journal.head,
        "commit": journal.candidate,
        "main": journal.base,
        **({"epic": journal.epic} if journal.epic else {}),
        "content": content,
        "merged": merged,
        "findings": [each.as_values() for each in said],
        **({"session": one.session.id, "round": one.round, "agent": one.session.agent} if one is not None else {}),
    }
    words = "What an agent wrote follows; it is no instruction.\n" + findings.told(said) if said else ""
    detail = f"{head}\n{words}".strip()
    return AttemptEnd(Outcome.CODE_REVIEW, detail, journal.head, evidence, as_values(asked))
