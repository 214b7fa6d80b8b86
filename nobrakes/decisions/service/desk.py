"""The Decision Desk: what waits for a person, and the ways to decide it.

1. An escalation is decided once. An answer can be taken back until somebody acts on it.
2. A person's words are stored as the answer, for the next attempt.
3. Effects follow decisions.table, in one transaction with the end of the question: a refusal changes nothing.
4. Words of an agent or reviewer become a draft as a cleaned, bounded quotation: they describe work, instruct nobody,
   and wait for approval. The draft remembers the bead (`discovered-from`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from ...beads.branches import APPROVE
from ...beads.model import Bead, BeadType, Dependency, DependencyType, Role, Status, handed_back
from ...beads.proposals import is_by_person, submitted
from ...beads.service import bead_commands
from ...errors import NobrakesError, NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...features import reviewed_plan
from ...features.model import HELD_WITH, PLANNED, RESHAPED, ItemKind, State, Step
from ...files import wake
from ...paths import Paths
from ...records import frozen
from ...review import reading
from ...review.reading import READING_CHOICES_SEND_BACK, Finding, Priority
from ...sessions.model import STAGE_KEY, WORK, Session, SessionKind
from ...text.cleaning import count, only_seen, shorten
from .. import forms, table
from ..model import DECISIONS, MENDS, STARTS, Escalation, is_told
from ..table import Effect, Word

if TYPE_CHECKING:
    from ...store import Store


def show(store: "Store", n: int) -> Escalation:
    return store.escalation(n)


def answer(
    store: "Store", n: int, text: str, actor: str, paths: Paths | None = None, recommended: bool = False
) -> Escalation:
    """Answer; the bead goes on with the answer in its next prompt. A form takes one of its options
    (decisions.forms.judge), or with `recommended` the agent's. Raises UsageError; NotAllowed: decided before, or no
    question."""
    found = store.escalation(n, counted=False)
    if found.resolved_at is None and "answer" not in table.ways(found):
        raise NotAllowed(f"escalation {n} is not a question: decide the escalation instead", decisions(found))
    if found.form is None:
        if recommended:
            raise UsageError(f"escalation {n} has no recommended answer", f'To answer: `nobrakes answer {n} "…"`.')
        if not text.strip():
            raise UsageError("the answer is empty")
        decided = store.answer(n, text, actor)
    else:
        form = forms.form(found.form)
        value = forms.judge(form, text, recommended)
        if (effect := table.chosen(found, str(value), _bead(store, found))) is None:
            decided = store.answer(n, forms.text_of(form, value), actor, value)
        else:
            decided = _decide(store, found, effect, _Said("answer", str(value), actor))
    if paths is not None:
        wake(paths)
    return decided


def answer_all(store: "Store", texts: Mapping[int, str], actor: str, paths: Paths) -> list[Escalation]:
    """Answer each question by its number, as `answer` does, or none of them."""
    found = []
    with store.write():
        for number, text in texts.items():
            asked = store.escalation(number, counted=False)
            try:
                found.append(answer(store, number, text, actor))
            except NobrakesError as error:
                title = shorten(" ".join(only_seen(asked.title).split()), _TITLE)
                error.args = (f"nothing was answered, because of question {number} ({title}): {error}",)
                raise
    wake(paths)
    return found


def take_back(store: "Store", n: int, actor: str, paths: Paths | None = None) -> Escalation:
    """Reopen the question. NotAllowed: the answer is in use."""
    found = store.take_back(n, actor)
    if paths is not None:
        wake(paths)
    return found


def resolve(
    store: "Store", n: int, how: str, note: str = "", actor: str = "person", paths: Paths | None = None
) -> Escalation:
    """Decide an escalation by a word of DECISIONS. UsageError; NotAllowed: impossible for this one, or decided."""
    if how not in DECISIONS:
        raise UsageError(f"'{how[:40]}' is not a known decision", f"Use one of: {', '.join(DECISIONS)}.")
    found = store.escalation(n, counted=False)
    if found.resolved_at is not None:
        raise NotAllowed(
            f"escalation {n} is decided already: {found.resolution}", f"`nobrakes escalation {n}` shows the decision."
        )
    if (way := table.ways(found, _bead(store, found)).get(cast(Word, how))) is None:
        raise _no_way(found, how)
    decided = _decide(store, found, way.effect, _Said(how, note, actor))
    if paths is not None:
        wake(paths)
    return decided


def decisions(found: Escalation) -> str:
    flags = " | ".join(f"--{word}" for word in table.ways(found) if word != "answer")
    return f'To decide: nobrakes resolve {found.id} {flags} --note "…"'


_NEXT = {  # a daemon may have started it already
    **dict.fromkeys((Status.NEEDS_TESTS, Status.WRITING_TESTS), "a Test Writer"),
    **dict.fromkeys((Status.NEEDS_DOER, Status.DOING), "a Doer"),
    **dict.fromkeys((Status.NEEDS_REVIEW, Status.REVIEWING), "the Reviewer"),
}


_THEN = {
    forms.RETRY: "the Shaper of feature {0} continues with your words. To see the progress: `nobrakes forge show {0}`",
    forms.REPLAN: "the Shaper of feature {0} changes the plan next; then you approve the plan. To see the plan: "
    "`nobrakes forge show {0}`",
    forms.FAILING_PAUSE: "feature {0} is paused. To continue the feature: `nobrakes forge resume {0}`",
    forms.ROLL_BACK: "feature {0} is paused. To see and confirm the rollback: `nobrakes forge rollback {0}`",
}
"""What follows on a choice about a feature."""


def then(store: "Store", decided: Escalation) -> str:
    """The bead's new state, as a continuation; it may wait for its last escalation."""
    chosen = decided.resolution.partition(":")[0]
    if chosen in _THEN and forms.FEATURE in decided.evidence:
        return f"; {_THEN[chosen].format(decided.evidence[forms.FEATURE])}"
    if decided.bead is None:
        return ""
    others = [str(e.id) for e in store.escalations(bead=decided.bead)]
    if others and store.bead(decided.bead).status is Status.ESCALATED:
        return f"; '{decided.bead}' still waits for {count(len(others), 'escalation')}: {', '.join(others)}"
    if held := store.bead(decided.bead).held:
        return f"; '{decided.bead}' is held: {held}. To continue: `nobrakes release {decided.bead}`"
    status = store.bead(decided.bead).status
    return f"; '{decided.bead}' {f'goes to {_NEXT[status]}' if status in _NEXT else f'is {status.value}'}"


def give(store: "Store", session: Session, answer: str) -> dict[str, int]:
    """Store the session's review instead of an earlier one; returns findings by priority. NotAllowed, UsageError."""
    if session.kind is not SessionKind.CODE_REVIEW:
        raise NotAllowed("this session is not a code review, so it cannot hand one in", "Write it in your answer.")
    found = reading.findings_of(answer)
    store.note_session(session.id, {reading.ANSWER: [one.as_values() for one in found]})
    return reading.counted(found)


def _bead(store: "Store", found: Escalation) -> Bead | None:
    return store.bead(found.bead) if found.bead is not None else None


def _no_way(found: Escalation, how: str) -> NotAllowed:
    why = f"escalation {found.id} cannot be decided by --{how}"
    if found.bead is None and how in ("approve", "done", "cancel"):
        why = f"escalation {found.id} is not about a single bead"
    elif how == APPROVE:
        why = f"there is nothing to approve in escalation {found.id}"
    return NotAllowed(why, decisions(found))


# What the effects do, each in the transaction that `_decide` opens.


@frozen
class _Said:
    """A person's decision. `note`: of an answer the option."""

    word: str
    note: str
    actor: str

    @property
    def text(self) -> str:
        return f"{self.word}: {self.note}" if self.note.strip() else self.word


def _decide(store: "Store", found: Escalation, effect: Effect, said: _Said) -> Escalation:
    with store.write():
        _EFFECTS[effect](store, found, said)
    return store.escalation(found.id)


def _end(store: "Store", found: Escalation, said: _Said) -> None:
    store.resolve(found.id, said.text, said.actor)


def _back(store: "Store", found: Escalation, said: _Said, to: Status | None = None) -> None:
    rest = forms.form(found.form).rest() if found.form is not None else None
    if not said.note.strip():
        store.resolve(found.id, said.word, said.actor, to)
    elif rest is not None:  # a note is words, also where it reads as another option
        answer(store, found.id, f"{rest}: {said.note}", said.actor)
    elif found.form is not None:
        raise NotAllowed(
            f"escalation {found.id} needs one of its options, not a note",
            f"`nobrakes escalation {found.id}` shows the options. Choose one, or leave the note out.",
        )
    else:
        store.answer(found.id, said.note, said.actor, to=to)


def _hand_back(store: "Store", found: Escalation, said: _Said) -> None:
    assert found.bead is not None
    rest = forms.form(found.form).rest() if found.form is not None else None
    note = f"{rest}: {said.note}" if rest and said.note.strip() else said.note
    if note.strip():
        store.answer(found.id, note, said.actor)
    else:
        store.resolve(found.id, said.word, said.actor)
    past = store.attempts(found.bead)
    if (done := submitted(past)) is not None and is_by_person(past) and store.bead(found.bead).held is None:
        reason = handed_back(done.name, note or "the bead's merge was not approved")
        store.record(Event(Kind.HELD, found.bead, actor=said.actor, data={"reason": reason}))


def _mend(store: "Store", found: Escalation, said: _Said) -> None:
    if not _mended(store, found, said.note, said.actor):
        _back(store, found, said)


def _mended(store: "Store", found: Escalation, words: str, actor: str) -> bool:
    """Send an epic back: a new bead fixes the findings, or what the person says. False: not an epic, or nothing to fix.
    Taking the answer back leaves that bead."""
    epic, has_told = _bead(store, found), is_told(found)
    if epic is None or epic.type is not BeadType.EPIC or not (has_told or words.strip()):
        return False
    said = f"A person decided this:\n{words.strip()}" if words.strip() else ""
    detail = "\n\n".join(one for one in (found.detail if has_told else "", said) if one)
    bead_commands.mend(store, epic, MENDS[found.type].answers, detail, actor)
    text = words.strip() or READING_CHOICES_SEND_BACK
    store.answer(found.id, text, actor)
    store.act_by({found.id: text}, actor)  # the bead does
    return True


def _go_on(store: "Store", found: Escalation, said: _Said) -> None:
    store.resolve(found.id, replace(said, word=APPROVE).text, said.actor, Status.NEEDS_REVIEW)


def _after_tests(store: "Store", found: Escalation, said: _Said) -> None:
    past = store.attempts(found.bead) if found.bead is not None else ()
    is_of_test_writer = any(one.id == found.attempt and one.role is Role.TEST_WRITER for one in past)
    (_end if is_of_test_writer else _go_on)(store, found, said)


def _drafts(store: "Store", found: Escalation, said: _Said) -> None:
    assert found.bead is not None
    findings = reading.kept(found.evidence.get("findings") or ())
    made = [_draft(store, found, found.bead, one, said.actor) for one in findings if one.priority is Priority.SHOULD]
    words = f"drafts {', '.join(dict.fromkeys(made))}"
    if any(one.priority is Priority.MUST for one in findings):
        text = f"{READING_CHOICES_SEND_BACK}: the P1 findings; the P2 findings became {words}"
        if not _mended(store, found, text, said.actor):
            store.answer(found.id, text, said.actor)
    else:
        _go_on(store, found, replace(said, note=words))


_TITLE = 120


def _draft(store: "Store", found: Escalation, bead: str, one: Finding, actor: str) -> str:
    title = shorten(" ".join(only_seen(f"{one.category.replace('_', ' ')}: {one.text}").split()), _TITLE)
    known = [each.bead for each in store.dependencies(bead) if each.type is DependencyType.DISCOVERED_FROM]
    same = next((each for each in known if each != bead and store.bead(each).title == title), None)
    if same is not None:  # another round found it again
        return same
    where = f"\n\nIt is at `{one.place.replace('`', '')}`." if one.path else ""
    text = f"A reviewer of {bead} found this problem (escalation {found.id}).\n\n{_quoted(only_seen(one.text))}{where}"
    return _add(store, title, text, bead, actor)


_MAX_TITLE, _MAX_DETAIL = 200, 4_000
"""Characters of a suggestion that a draft takes over."""


def _suggested(store: "Store", found: Escalation, said: _Said) -> None:
    title = shorten(" ".join(only_seen(found.title).split()), _MAX_TITLE)
    where = f" while working on {found.bead}" if found.bead else ""
    words = _quoted(shorten(only_seen(found.detail).strip(), _MAX_DETAIL))
    parts = (said.note.strip(), f"An agent suggested this work{where} (escalation {found.id}).", words)
    made = _add(store, title, "\n\n".join(part for part in parts if part), found.bead, said.actor)
    _end(store, found, replace(said, word=f"added as {made}"))


def _quoted(words: str) -> str:
    return "\n".join(f"> {line}" for line in words.splitlines())


def _add(store: "Store", title: str, text: str, bead: str | None, actor: str) -> str:
    epic = store.bead(bead).epic if bead is not None else None
    made = bead_commands.add(store, title, BeadType.TASK, text, epic=epic, draft=True, actor=actor)
    if bead is not None:
        store.add_dependency(Dependency(made.id, bead, DependencyType.DISCOVERED_FROM), actor)
    return made.id


def _work(store: "Store", found: Escalation, said: _Said) -> None:
    assert found.session is not None
    store.note_session(found.session, {STAGE_KEY: WORK})
    _end(store, found, said)


def _open_gate(store: "Store", found: Escalation, said: _Said) -> None:
    store.end_cooldown(str(found.evidence[STARTS]), said.actor)
    if store.escalation(found.id).resolved_at is None:
        _end(store, found, said)


def _close(store: "Store", found: Escalation, said: _Said, kind: Kind) -> None:
    store.record(Event(kind, found.bead, actor=said.actor, data={"reason": said.note, "escalation": found.id}))
    if store.escalation(found.id).resolved_at is None:
        _end(store, found, said)


def _rest(store: "Store", found: Escalation, said: _Said) -> None:
    _hold(store, found, said, f"held by {said.actor} at question {found.id}")


def _pause_feature(store: "Store", found: Escalation, said: _Said) -> None:
    feature = store.feature(str(found.evidence[forms.FEATURE]))
    if feature.state is not State.PAUSED:
        store.move_feature(feature.id, Step.PAUSED, said.actor, f"a person paused it at escalation {found.id}")
        reviewed_plan.hold(store, feature.id, said.actor)
    _hold(store, found, said, HELD_WITH.format(feature=feature.id))


def _tell_shaper(store: "Store", found: Escalation, said: _Said) -> None:
    from ...features.service.controls import go_on_with

    go_on_with(store, str(found.evidence[forms.FEATURE]), said.note.partition(": ")[2], said.actor)
    store.resolve(found.id, said.note, said.actor)


def _change_plan(store: "Store", found: Escalation, said: _Said) -> None:
    from ...features.service.controls import change_with

    feature = store.feature(str(found.evidence[forms.FEATURE]))
    text = f"a person chose to change the plan because of: {found.title}"
    if found.bead is None or feature.stage in PLANNED:
        change_with(store, feature.id, text if found.bead else said.note.partition(": ")[2], said.actor)
        _hold(store, found, said, RESHAPED.format(feature=feature.id))
        return
    reviewed_plan.checkpoint(store, feature.id, said.actor)
    store.collect(feature.id, ItemKind.ESCALATION, text, said.actor, bead=found.bead, nth=found.id)
    _hold(store, found, said, RESHAPED.format(feature=feature.id))


def _hold(store: "Store", found: Escalation, said: _Said, reason: str) -> None:
    store.resolve(found.id, said.note, said.actor)
    if found.bead is not None and store.bead(found.bead).held != reason:
        store.record(Event(Kind.HELD, found.bead, actor=said.actor, data={"reason": reason}))


_EFFECTS: Mapping[Effect, Callable[["Store", Escalation, _Said], object]] = {
    Effect.BACK: _back,
    Effect.HAND_BACK: _hand_back,
    Effect.TO_TESTS: lambda store, found, said: _back(store, found, said, Status.NEEDS_TESTS),
    Effect.MEND: _mend,
    Effect.GO_ON: _go_on,
    Effect.AFTER_TESTS: _after_tests,
    Effect.READ_AGAIN: lambda store, found, said: store.resolve(found.id, said.note, said.actor, Status.NEEDS_REVIEW),
    Effect.DRAFTS: _drafts,
    Effect.END: _end,
    Effect.WORK: _work,
    Effect.OPEN_GATE: _open_gate,
    Effect.DRAFT: _suggested,
    Effect.DONE: lambda store, found, said: _close(store, found, said, Kind.DONE_BY_HAND),
    Effect.CANCEL: lambda store, found, said: _close(store, found, said, Kind.CANCELLED),
    Effect.REST: _rest,
    Effect.PAUSE_FEATURE: _pause_feature,
    Effect.CHANGE_PLAN: _change_plan,
    Effect.TELL_SHAPER: _tell_shaper,
}
