"""What fresh eyes say of work, and what a person decides on it: it goes on, is read again, or each P2 becomes a draft.

1. It is one transaction with the end of the question. Sending the work back is an answer, and nothing more; of an epic
   it is a bead of that epic as well, which nobody takes back by taking the answer back.
2. A draft has the reviewer's words quoted: they describe work, and are nobody's instructions. It waits for approval as
   any other does.
"""

from ..core.beads.approval import APPROVE
from ..core.beads.bead import BeadType, Dependency, DependencyType, Status
from ..core.beads.escalations import Escalation, EscalationType
from ..core.errors import NotAllowed
from ..core.review import findings
from ..core.review.findings import Finding, Priority
from ..core.review.reading import ANSWER
from ..core.review.reading_choices import GO_ON, READ_AGAIN, SEND_BACK, TICKETS
from ..core.sessions.session import Session, SessionKind
from ..core.text.cleaning import only_seen, shorten
from ..ports import Store
from ..roles import mending
from . import beads

_TITLE = 120


def give(store: Store, session: Session, answer: str) -> dict[str, int]:
    """Keep the review that the session gives, in the place of an earlier one; how many findings of each priority.

    NotAllowed: it reads no work. UsageError: it is no review, and nothing of it is kept.
    """
    if session.kind is not SessionKind.CODE_REVIEW:
        raise NotAllowed("this session reads no work, so it gives no review", "Say it in your last message.")
    found = findings.findings_of(answer)
    store.note_session(session.id, {ANSWER: [one.as_values() for one in found]})
    return findings.counted(found)


def follow(store: Store, found: Escalation, label: str, actor: str) -> bool:
    """Do what the chosen option means, and end the question; False: it is an answer, and nothing more."""
    if found.bead is None:
        return False
    if label not in (GO_ON, READ_AGAIN, TICKETS):
        return mended_in_epic(store, found, label, actor)
    with store.together():
        if label == READ_AGAIN:
            store.resolve(found.id, label, actor, Status.NEEDS_REVIEW)
        elif label == GO_ON:
            store.resolve(found.id, f"{APPROVE}: {label}", actor, Status.NEEDS_REVIEW)
        else:
            _tickets(store, found, found.bead, actor)
    return True


def _tickets(store: Store, found: Escalation, bead: str, actor: str) -> None:
    said = findings.kept(found.evidence.get("findings") or ())
    made = [_draft(store, found, bead, one, actor) for one in said if one.priority is Priority.SHOULD]
    words = f"drafts {', '.join(dict.fromkeys(made))}"
    if any(one.priority is Priority.MUST for one in said):
        text = f"{SEND_BACK}: what is P1; what is P2 became {words}"
        if not mended_in_epic(store, found, text, actor):
            store.answer(found.id, text, actor)
    else:
        store.resolve(found.id, f"{APPROVE}: {words}", actor, Status.NEEDS_REVIEW)


def mended_in_epic(store: Store, found: Escalation, words: str, actor: str) -> bool:
    """Send an epic back that people merge as a whole: a bead of it mends what was found, or what the person says.

    False: it is about no epic, or its review begins again with nothing to mend; nothing was done then.
    """
    what = _MENDED.get(found.type)
    if what is None or found.bead is None or store.bead(found.bead).type is not BeadType.EPIC:
        return False
    epic, is_told = store.bead(found.bead), found.type in _TOLD and not _is_unread(found)
    if not is_told and not words.strip():
        return False
    said = f"A person decided:\n{words.strip()}" if words.strip() else ""
    with store.together():
        mending.mend(
            store, epic, what, "\n\n".join(one for one in (found.detail if is_told else "", said) if one), actor
        )
        answer = words.strip() or SEND_BACK
        store.answer(found.id, answer, actor)
        store.act_by({found.id: answer}, actor)  # the bead does
    return True


def _is_unread(found: Escalation) -> bool:
    """Whether it is about work that nobody read, so that there is nothing to mend."""
    return found.type is EscalationType.CODE_REVIEW and not found.evidence.get("findings")


_MENDED = {
    EscalationType.CODE_REVIEW: mending.OF_READERS,
    EscalationType.MERGE_REVIEW: "what a person wants of",
    EscalationType.ASKED_AGAIN: "what people wrote about the pull request of",
    EscalationType.PULL_CLOSED: "what a person wants of the pull request of",
}
"""What the bead answers, as its title says, by what was asked."""
_TOLD = (EscalationType.CODE_REVIEW, EscalationType.ASKED_AGAIN)
"""What was asked about has in it what is to be mended."""


def _draft(store: Store, found: Escalation, bead: str, one: Finding, actor: str) -> str:
    title = shorten(" ".join(only_seen(f"{one.category.replace('_', ' ')}: {one.text}").split()), _TITLE)
    known = [each.bead for each in store.dependencies(bead) if each.type is DependencyType.DISCOVERED_FROM]
    same = next((each for each in known if each != bead and store.bead(each).title == title), None)
    if same is not None:  # another round found it again
        return same
    quoted = "\n".join(f"> {line}" for line in only_seen(one.text).splitlines())
    where = f"\n\nIt is at `{one.place.replace('`', '')}`." if one.path else ""
    text = f"A reviewer of {bead} found this (escalation {found.id}).\n\n{quoted}{where}"
    epic = store.bead(bead).epic
    new = beads.add(store, title, BeadType.TASK, text, epic=epic, draft=True, actor=actor)
    store.add_dependency(Dependency(new.id, bead, DependencyType.DISCOVERED_FROM), actor)
    return new.id
