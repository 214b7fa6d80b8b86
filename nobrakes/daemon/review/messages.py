"""The words and people of the commits that the Reviewer makes. Same attempt, same message, same object id."""

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead, Role
from ...core.beads.outcomes import Outcome
from ...core.beads.taking_back import of_attempts
from ...ports import Message
from ...wording.stages import main_of as named
from ..ports import Ports

BY_HAND = "Handed-In-By"
"""The trailer that names the person whose work it is."""
US = "nobrakes <nobrakes@nobrakes.invalid>"


def main_of(ports: Ports) -> str:
    """What work lands on here, as people are told: main, another branch of the remote, or the branch of an epic."""
    where = ports.where
    return where.base if where.base and not where.epic else named(where.epic)


def epic_of(ports: Ports) -> dict[str, str]:
    """In the evidence of what people are asked: the epic on whose branch the work would land; empty: on main."""
    return {"epic": ports.where.epic} if ports.where.epic else {}


def _person(name: str) -> str:
    word = "".join(c if c.isalnum() else "-" for c in name.lower())
    return f"{name} (nobrakes) <{word}@nobrakes.invalid>"


def for_merge(ports: Ports, bead: Bead, attempt: Attempt) -> Message:
    """The commit that brings a bead to main: its title, its description, who did what, where the evidence ended."""
    trailers = [("Bead", bead.id)]
    if attempt.data.get("anchor"):
        trailers.append(("Evidence", attempt.data["anchor"]))
    author = US
    for past in ports.store.attempts(bead.id):
        if past.outcome is not Outcome.COMPLETED:
            continue
        if past.role is Role.TEST_WRITER:
            trailers = [t for t in trailers if t[0] != "Test-Writer"] + [("Test-Writer", f"{past.name} ({past.agent})")]
        if past.role is Role.DOER:
            trailers = [t for t in trailers if t[0] != "Doer"] + [("Doer", f"{past.name} ({past.agent})")]
            trailers = [t for t in trailers if t[0] != BY_HAND]
            author = _person(past.name)
        if past.role is Role.PERSON:
            trailers = [t for t in trailers if t[0] != BY_HAND] + [(BY_HAND, past.name)]
            made = ports.git.made(str(past.head))
            author = made.author if made is not None else _person(past.name)
    taken = dict.fromkeys(merge.bead for merge in of_attempts(ports.store.attempts(bead.id)))
    trailers += [("Reverts-Bead", name) for name in taken]
    return Message(bead.title, bead.description, author, attempt.started_at, tuple(trailers))


def for_revert(ports: Ports, bead: Bead, attempt: Attempt) -> Message:
    """The commit that takes a merge back."""
    body = "main did not pass its checks after this was merged."
    return Message(f"Revert: {bead.title}", body, US, attempt.started_at, (("Reverts-Bead", bead.id),))
