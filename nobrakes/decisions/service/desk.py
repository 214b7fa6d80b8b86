"""The Decision Desk: what waits for a person, and the ways to decide it.

1. An escalation is decided once; the second time is refused. An answer is taken back until somebody acts by it.
2. What a person writes is kept as the escalation's answer, so that the next attempt can be told.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ...agents.prompts import mending
from ...beads.branches import APPROVE
from ...beads.model import Bead, BeadType, Dependency, DependencyType, Role, Status
from ...beads.proposals import handed_back, is_by_person, submitted
from ...beads.service import beads
from ...errors import NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...features import asking
from ...features.model import ItemKind, State, Step
from ...features.service import resting
from ...host.watching import wake
from ...paths import Paths
from ...review import reading
from ...review.reading import ANSWER, GO_ON, READ_AGAIN, READING_CHOICES_SEND_BACK, TICKETS, Finding, Priority
from ...sessions.model import STAGE, WORK, Session, SessionKind
from ...text.cleaning import only_seen, shorten
from .. import forms
from .. import model as decisions_model
from ..model import ANSWERED, HOWS, OF_A_HEAD, OF_TESTS, STARTS, Escalation, EscalationType, How

if TYPE_CHECKING:
    from ...store import Store


# What fresh eyes say of work, and what a person decides on it: it goes on, is read again, or each P2 becomes a draft.
#
# 1. It is one transaction with the end of the question. Sending the work back is an answer, and nothing more; of an
# epic it is a bead of that epic as well, which nobody takes back by taking the answer back.
# 2. A draft has the reviewer's words quoted: they describe work, and are nobody's instructions. It waits for approval
# as any other does.

_TITLE = 120


def give(store: "Store", session: Session, answer: str) -> dict[str, int]:
    """Keep the review that the session gives, in the place of an earlier one; how many findings of each priority.

    NotAllowed: it reads no work. UsageError: it is no review, and nothing of it is kept.
    """
    if session.kind is not SessionKind.CODE_REVIEW:
        raise NotAllowed("this session reads no work, so it gives no review", "Say it in your last message.")
    found = reading.findings_of(answer)
    store.note_session(session.id, {ANSWER: [one.as_values() for one in found]})
    return reading.counted(found)


def follow_reading(store: "Store", found: Escalation, label: str, actor: str) -> bool:
    """Do what the chosen option means, and end the question; False: it is an answer, and nothing more."""
    if found.bead is None:
        return False
    if label not in (GO_ON, READ_AGAIN, TICKETS):
        return mended_in_epic(store, found, label, actor)
    with store.write():
        if label == READ_AGAIN:
            store.resolve(found.id, label, actor, Status.NEEDS_REVIEW)
        elif label == GO_ON:
            store.resolve(found.id, f"{APPROVE}: {label}", actor, Status.NEEDS_REVIEW)
        else:
            _tickets(store, found, found.bead, actor)
    return True


def _tickets(store: "Store", found: Escalation, bead: str, actor: str) -> None:
    said = reading.kept(found.evidence.get("findings") or ())
    made = [_draft(store, found, bead, one, actor) for one in said if one.priority is Priority.SHOULD]
    words = f"drafts {', '.join(dict.fromkeys(made))}"
    if any(one.priority is Priority.MUST for one in said):
        text = f"{READING_CHOICES_SEND_BACK}: what is P1; what is P2 became {words}"
        if not mended_in_epic(store, found, text, actor):
            store.answer(found.id, text, actor)
    else:
        store.resolve(found.id, f"{APPROVE}: {words}", actor, Status.NEEDS_REVIEW)


def mended_in_epic(store: "Store", found: Escalation, words: str, actor: str) -> bool:
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
    with store.write():
        mending.mend(
            store, epic, what, "\n\n".join(one for one in (found.detail if is_told else "", said) if one), actor
        )
        answer = words.strip() or READING_CHOICES_SEND_BACK
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


def _draft(store: "Store", found: Escalation, bead: str, one: Finding, actor: str) -> str:
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


# What an option of nobrakes' own does once a person chose it, beside being the answer: rest, a new plan, a way back.
#
# 1. Only questions that nobrakes asked have such options: their evidence says so (forms.MARK,
# features.asking.FEATURE), or their type.
# 2. It is one transaction with the end of the question. A refusal leaves the question open, and nothing is changed.


def follow_choice(store: "Store", found: Escalation, label: object, actor: str) -> bool:
    """Do what the chosen option means, and end the question; False: it is an answer, and nothing more."""
    if found.type is EscalationType.CODE_REVIEW:
        return follow_reading(store, found, str(label), actor)
    act = _ACTS[_asked(found)].get(str(label))
    if act is None or found.bead is None:
        return False
    with store.write():
        reason = act(store, found, actor)
        store.resolve(found.id, str(label), actor)
        if store.bead(found.bead).held != reason:
            store.record(Event(Kind.HELD, found.bead, actor=actor, data={"reason": reason}))
    return True


Act = Callable[["Store", Escalation, str], str]
"""Does it; why the bead is held then."""


def _asked(found: Escalation) -> str:
    if forms.is_blocker(found.evidence):
        return forms.MARK
    return asking.FEATURE if found.evidence.get(asking.FEATURE) else ""


def _rest(store: "Store", found: Escalation, actor: str) -> str:
    return f"{actor} lets it rest, asked by question {found.id}"


def _pause(store: "Store", found: Escalation, actor: str) -> str:
    feature = store.feature(str(found.evidence[asking.FEATURE]))
    if feature.state is not State.PAUSED:
        store.move_feature(feature.id, Step.PAUSED, actor, f"chosen at escalation {found.id}")
        resting.hold(store, feature.id, actor)
    return asking.PAUSED.format(feature=feature.id)


def _replan(store: "Store", found: Escalation, actor: str) -> str:
    feature = resting.checkpoint(store, str(found.evidence[asking.FEATURE]), actor)
    text = f"{found.title}: a person wants the plan changed because of it"
    store.collect(feature.id, ItemKind.ESCALATION, text, actor, bead=found.bead, nth=found.id)
    return asking.RESHAPED.format(feature=feature.id)


_ACTS: Mapping[str, Mapping[str, Act]] = {
    "": {},
    forms.MARK: {forms.PAUSE: _rest},
    asking.FEATURE: {asking.FAILING_PAUSE: _pause, asking.REPLAN: _replan, asking.ROLL_BACK: _pause},
}
"""By what nobrakes asked, and by the label of the option."""


# A suggestion of an agent becomes a draft, for a person's approval like any other.
#
# 1. The agent's words are quoted, cleaned and bounded: they describe work, and are nobody's instructions.
# 2. The draft remembers where it comes from: a dependency `discovered-from` on the bead of whoever suggested it.
# 3. The draft and the end of the suggestion are one transaction: it is added once.

TITLE, DETAIL = 200, 4_000
"""Characters of a suggestion that a draft takes over."""


def add(store: "Store", found: Escalation, note: str, actor: str) -> Bead:
    """The draft that the open suggestion became; the suggestion is resolved. NotAllowed: it is none."""
    if found.type is not EscalationType.DOER_SUGGESTION:
        raise NotAllowed(
            f"escalation {found.id} suggests no work to add", f"`nobrakes escalation {found.id}` shows what it is."
        )
    title = shorten(" ".join(only_seen(found.title).split()), TITLE)
    with store.write():
        epic = store.bead(found.bead).epic if found.bead is not None else None
        made = beads.add(
            store,
            title,
            BeadType.TASK,
            description(found, note),
            epic=epic,
            draft=True,
            actor=actor,
        )
        if found.bead is not None:
            store.add_dependency(Dependency(made.id, found.bead, DependencyType.DISCOVERED_FROM), actor)
        store.resolve(found.id, f"added as {made.id}" + (f": {note}" if note.strip() else ""), actor)
    return made


def description(found: Escalation, note: str) -> str:
    """What the draft says: the person's note, then the agent's words as a quotation."""
    where = f" while it worked on {found.bead}" if found.bead else ""
    words = shorten(only_seen(found.detail).strip(), DETAIL)
    quoted = "\n".join(f"> {line}" for line in words.splitlines())
    parts = (note.strip(), f"An agent suggested this{where} (escalation {found.id}).", quoted)
    return "\n\n".join(part for part in parts if part)


__all__ = ["ANSWERED", "HOWS", "How", "answer", "decisions", "escalations", "resolve", "show", "take_back", "then"]

WAYS = tuple(how for how in HOWS if how != "answer")
"""The words of `nobrakes resolve`."""
_ENDS = {"cancel": Kind.CANCELLED, "done": Kind.DONE_BY_HAND}


def escalations(store: "Store", all: bool = False) -> list[Escalation]:
    """What is open: the urgent first, then by how many beads wait behind it. With `all`, what was decided too."""
    return store.escalations(open_only=not all)


def show(store: "Store", n: int) -> Escalation:
    """One escalation; NoSuchEscalation."""
    return store.escalation(n)


def answer(
    store: "Store", n: int, text: str, actor: str, paths: Paths | None = None, recommended: bool = False
) -> Escalation:
    """Answer; the bead goes on, and the answer is in its next prompt.

    A question with a form takes one of its options (decisions.forms.judge), or with `recommended` the one that the
    agent recommends. UsageError: it is none. NotAllowed: it was decided before, or is no question.
    """
    found = store.escalation(n)
    if found.type not in ANSWERED and found.form is None and found.resolved_at is None:
        raise NotAllowed(f"escalation {n} is no question: it is decided, not answered", decisions(found))
    if found.form is None:
        if recommended:
            raise UsageError(f"escalation {n} recommends nothing", f'Answer it: `nobrakes answer {n} "…"`.')
        if not text.strip():
            raise UsageError("the answer is empty")
        decided = store.answer(n, text, actor)
    else:
        form = forms.form(found.form)
        value = forms.judge(form, text, recommended)
        if found.resolved_at is None and follow_choice(store, found, value, actor):
            decided = store.escalation(n)
        else:
            decided = store.answer(n, forms.text_of(form, value), actor, value)
    if paths is not None:
        wake(paths)
    return decided


def take_back(store: "Store", n: int, actor: str, paths: Paths | None = None) -> Escalation:
    """Take an answer back that nobody has read: the question is open again. NotAllowed: somebody acts by it."""
    found = store.take_back(n, actor)
    if paths is not None:
        wake(paths)
    return found


def decisions(found: Escalation) -> str:
    """What to type to decide what is no question."""
    flags = " | ".join(f"--{how}" for how in decisions_model.ways(found) if how != "answer")
    return f'Decide it: nobrakes resolve {found.id} {flags} --note "…"'


def resolve(
    store: "Store", n: int, how: How | str, note: str = "", actor: str = "person", paths: Paths | None = None
) -> Escalation:
    """Decide an escalation. NotAllowed: it was decided before, or there is no bead to cancel or finish.

    approve: the agent's plan is followed, with the note, or what the branch changes is accepted, and the review of
    that very commit goes on, or a Doer starts with these tests; of these alone.
    retry: the bead goes back with a clean count of failures, and the note
    is in its next prompt. cancel, done: so is the bead. dismiss: nothing is to be done about
    it; a bead that was stopped by it goes on. add: what an agent suggests becomes a draft (decisions.service.desk).
    """
    if how not in WAYS:
        raise UsageError(f"'{how[:40]}' is no way to decide an escalation", f"Use one of: {', '.join(WAYS)}.")
    found = store.escalation(n)
    if found.resolved_at is not None:
        raise NotAllowed(
            f"escalation {n} is decided already: {found.resolution}", f"`nobrakes escalation {n}` shows it."
        )
    if how not in decisions_model.ways(found):
        raise _no_way(found, how)
    rest = forms.form(found.form).rest() if how == "retry" and found.form is not None else None
    if how == "add":
        add(store, found, note, actor)
    elif how in _ENDS:
        with store.write():
            store.record(Event(_ENDS[how], found.bead, actor=actor, data={"reason": note, "escalation": n}))
            if store.escalation(n).resolved_at is None:
                store.resolve(n, _words(how, note), actor)
    elif how == APPROVE and found.session is not None:
        with store.write():
            store.note_session(found.session, {STAGE: WORK})
            store.resolve(n, _words(how, note), actor)
    elif how == APPROVE and found.type in OF_A_HEAD:
        store.resolve(n, _words(how, note), actor, None if _is_of_test_writer(store, found) else Status.NEEDS_REVIEW)
    elif how == "retry" and found.bead is None and STARTS in found.evidence:
        with store.write():
            store.end_cooldown(str(found.evidence[STARTS]), actor)
            if store.escalation(n).resolved_at is None:
                store.resolve(n, _words(how, note), actor)
    elif how == "retry" and mended_in_epic(store, found, note, actor):
        pass
    elif how == "retry" and found.type in (EscalationType.MERGE_REVIEW, EscalationType.CODE_REVIEW):
        _send_back(store, found, f"{rest}: {note}" if rest and note.strip() else note, actor)
    elif how == "retry" and note.strip() and rest is not None:
        answer(store, n, f"{rest}: {note}", actor)  # a note is words, also where it reads as another option
    elif how == "retry" and note.strip() and found.form is not None:
        raise NotAllowed(
            f"escalation {n} asks for an option, and a note is none",
            f"Answer it: `nobrakes escalation {n}` shows what to type. Or leave the note out.",
        )
    elif how == "retry" and found.evidence.get(OF_TESTS):
        if note.strip():
            store.answer(n, note, actor, to=Status.NEEDS_TESTS)
        else:
            store.resolve(n, "retry", actor, Status.NEEDS_TESTS)
    elif how == "retry" and note.strip():
        store.answer(n, note, actor)
    else:
        store.resolve(n, _words(how, note), actor)
    if paths is not None:
        wake(paths)
    return store.escalation(n)


def _is_of_test_writer(store: "Store", found: Escalation) -> bool:
    """Whether it was asked when a Test Writer ended: then a Doer is next, and no review."""
    past = store.attempts(found.bead) if found.bead is not None and found.evidence.get(OF_TESTS) else ()
    return any(one.id == found.attempt and one.role is Role.TEST_WRITER for one in past)


def _send_back(store: "Store", found: Escalation, note: str, actor: str) -> None:
    """Work whose merge was not approved: a Doer is told the note, or the person whose work it is."""
    assert found.bead is not None
    with store.write():
        if note.strip():
            store.answer(found.id, note, actor)
        else:
            store.resolve(found.id, "retry", actor)
        past = store.attempts(found.bead)
        done = submitted(past)
        if done is not None and is_by_person(past) and store.bead(found.bead).held is None:
            reason = handed_back(done.name, note or "its merge was not approved")
            store.record(Event(Kind.HELD, found.bead, actor=actor, data={"reason": reason}))


def _no_way(found: Escalation, how: str) -> NotAllowed:
    """Why this escalation is not decided so, and how it is."""
    why = f"escalation {found.id} is not decided by --{how}"
    if how in decisions_model.OF_BEADS and found.bead is None:
        why = f"escalation {found.id} is about no single bead"
    elif how == APPROVE:
        why = f"escalation {found.id} is no plan, no change of the checks and no merge to approve"
    return NotAllowed(why, decisions(found))


def _words(how: str, note: str) -> str:
    return f"{how}: {note}" if note.strip() else how


def then(store: "Store", decided: Escalation) -> str:
    """What became of the bead, to go on a sentence with: one that several escalations stop waits for the last."""
    if decided.bead is None:
        return ""
    others = [str(e.id) for e in store.escalations(bead=decided.bead)]
    if others and store.bead(decided.bead).status is Status.ESCALATED:
        return f"; {decided.bead} still waits for {', '.join(others)}"
    return f"; {decided.bead} is {store.bead(decided.bead).status.value}"
