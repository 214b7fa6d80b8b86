"""The Decision Desk: what waits for a person, and the ways to decide it.

1. An escalation is decided once; the second time is refused. An answer is taken back until somebody acts by it.
2. What a person writes is kept as the escalation's answer, so that the next attempt can be told.
"""

from ..core.beads import deciding, forms
from ..core.beads.approval import APPROVE
from ..core.beads.bead import Role, Status
from ..core.beads.deciding import ANSWERED, HOWS, OF_A_HEAD, How
from ..core.beads.escalations import OF_TESTS, STARTS, Escalation, EscalationType
from ..core.beads.events import Event, Kind
from ..core.beads.taking import handed_back, is_by_person, submitted
from ..core.errors import NotAllowed, UsageError
from ..core.sessions.relay import STAGE, WORK
from ..paths import Paths
from ..ports import Store
from . import readings, suggestions
from .chosen import follow
from .waking import wake

__all__ = ["ANSWERED", "HOWS", "How", "answer", "decisions", "escalations", "resolve", "show", "take_back", "then"]

WAYS = tuple(how for how in HOWS if how != "answer")
"""The words of `nobrakes resolve`."""
_ENDS = {"cancel": Kind.CANCELLED, "done": Kind.DONE_BY_HAND}


def escalations(store: Store, all: bool = False) -> list[Escalation]:
    """What is open: the urgent first, then by how many beads wait behind it. With `all`, what was decided too."""
    return store.escalations(open_only=not all)


def show(store: Store, n: int) -> Escalation:
    """One escalation; NoSuchEscalation."""
    return store.escalation(n)


def answer(
    store: Store, n: int, text: str, actor: str, paths: Paths | None = None, recommended: bool = False
) -> Escalation:
    """Answer; the bead goes on, and the answer is in its next prompt.

    A question with a form takes one of its options (core.beads.forms.judge), or with `recommended` the one that the
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
        if found.resolved_at is None and follow(store, found, value, actor):
            decided = store.escalation(n)
        else:
            decided = store.answer(n, forms.text_of(form, value), actor, value)
    if paths is not None:
        wake(paths)
    return decided


def take_back(store: Store, n: int, actor: str, paths: Paths | None = None) -> Escalation:
    """Take an answer back that nobody has read: the question is open again. NotAllowed: somebody acts by it."""
    found = store.take_back(n, actor)
    if paths is not None:
        wake(paths)
    return found


def decisions(found: Escalation) -> str:
    """What to type to decide what is no question."""
    flags = " | ".join(f"--{how}" for how in deciding.ways(found) if how != "answer")
    return f'Decide it: nobrakes resolve {found.id} {flags} --note "…"'


def resolve(
    store: Store, n: int, how: How | str, note: str = "", actor: str = "person", paths: Paths | None = None
) -> Escalation:
    """Decide an escalation. NotAllowed: it was decided before, or there is no bead to cancel or finish.

    approve: the agent's plan is followed, with the note, or what the branch changes is accepted, and the review of
    that very commit goes on, or a Doer starts with these tests; of these alone.
    retry: the bead goes back with a clean count of failures, and the note
    is in its next prompt. cancel, done: so is the bead. dismiss: nothing is to be done about
    it; a bead that was stopped by it goes on. add: what an agent suggests becomes a draft (operations.suggestions).
    """
    if how not in WAYS:
        raise UsageError(f"'{how[:40]}' is no way to decide an escalation", f"Use one of: {', '.join(WAYS)}.")
    found = store.escalation(n)
    if found.resolved_at is not None:
        raise NotAllowed(
            f"escalation {n} is decided already: {found.resolution}", f"`nobrakes escalation {n}` shows it."
        )
    if how not in deciding.ways(found):
        raise _no_way(found, how)
    rest = forms.form(found.form).rest() if how == "retry" and found.form is not None else None
    if how == "add":
        suggestions.add(store, found, note, actor)
    elif how in _ENDS:
        with store.together():
            store.record(Event(_ENDS[how], found.bead, actor=actor, data={"reason": note, "escalation": n}))
            if store.escalation(n).resolved_at is None:
                store.resolve(n, _words(how, note), actor)
    elif how == APPROVE and found.session is not None:
        with store.together():
            store.note_session(found.session, {STAGE: WORK})
            store.resolve(n, _words(how, note), actor)
    elif how == APPROVE and found.type in OF_A_HEAD:
        store.resolve(n, _words(how, note), actor, None if _is_of_test_writer(store, found) else Status.NEEDS_REVIEW)
    elif how == "retry" and found.bead is None and STARTS in found.evidence:
        with store.together():
            store.end_cooldown(str(found.evidence[STARTS]), actor)
            if store.escalation(n).resolved_at is None:
                store.resolve(n, _words(how, note), actor)
    elif how == "retry" and readings.mended_in_epic(store, found, note, actor):
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


def _is_of_test_writer(store: Store, found: Escalation) -> bool:
    """Whether it was asked when a Test Writer ended: then a Doer is next, and no review."""
    past = store.attempts(found.bead) if found.bead is not None and found.evidence.get(OF_TESTS) else ()
    return any(one.id == found.attempt and one.role is Role.TEST_WRITER for one in past)


def _send_back(store: Store, found: Escalation, note: str, actor: str) -> None:
    """Work whose merge was not approved: a Doer is told the note, or the person whose work it is."""
    assert found.bead is not None
    with store.together():
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
    if how in deciding.OF_BEADS and found.bead is None:
        why = f"escalation {found.id} is about no single bead"
    elif how == APPROVE:
        why = f"escalation {found.id} is no plan, no change of the checks and no merge to approve"
    return NotAllowed(why, decisions(found))


def _words(how: str, note: str) -> str:
    return f"{how}: {note}" if note.strip() else how


def then(store: Store, decided: Escalation) -> str:
    """What became of the bead, to go on a sentence with: one that several escalations stop waits for the last."""
    if decided.bead is None:
        return ""
    others = [str(e.id) for e in store.escalations(bead=decided.bead)]
    if others and store.bead(decided.bead).status is Status.ESCALATED:
        return f"; {decided.bead} still waits for {', '.join(others)}"
    return f"; {decided.bead} is {store.bead(decided.bead).status.value}"
