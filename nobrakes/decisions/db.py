"""Escalations in the store: asked once, decided once, and how questions are answered.

1. The fingerprint is unique among open ones: filing it again returns the open one, reported again if it stops its bead
   only now.
2. A stopping type stops its bead at once, or at the end of a running attempt.
3. `adds_to` extends an open one, so that nobody is asked twice. It becomes the question of the bead that it stops,
   unless it is another bead's.
4. The bead returns when its last stopping escalation is resolved, with its failures forgiven.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..agents.db import spending
from ..agents.limits import Cooldown
from ..beads.db import moves
from ..beads.db.moves import get_bead
from ..beads.lifecycle import Facts, Move, advance
from ..beads.model import CLOSED, Bead, Status, session_owner
from ..db import rows
from ..db.database import Database
from ..db.fast import PRIORITY_OF_FORM, UNFINISHED
from ..errors import NoSuchEscalation, NotAllowed
from ..events import db as events_db
from ..events.kinds import Kind
from ..sessions import db as sessions_db
from ..sessions.model import State
from .model import STARTS, STOPS_BEAD, Escalation, EscalationType, NewEscalation, answered_text, fingerprint

Execute = Callable[[str, tuple[str, ...]], Iterable[Any]]
TimePoint = str | tuple[str]


# How many beads wait behind each one: the order in which people should decide. The graph behind all of them together is
# read once: a step at a time, and from MANY moments on as a whole, since all of a table costs less than most of it row
# by row. Then each moment hands on the beads that it waits for, a bit for each. A moment is the end of a bead, or its
# start where it has children; else it ends as it starts.
MANY = 2000

_GIVEN = f"SELECT id, epic FROM beads WHERE id IN (SELECT value FROM json_each(?)) AND {UNFINISHED}"
_EPICS = f"{_GIVEN} AND type = 'epic'"
_NEXT = f"""SELECT needs, beads.id, epic, children, 0 FROM json_each(?) CROSS JOIN edges ON needs = value
AND edges.type = 'blocks' CROSS JOIN beads ON beads.id = bead AND {UNFINISHED}
UNION ALL SELECT epic, beads.id, epic, children, 1 FROM json_each(?) CROSS JOIN beads ON epic = value
AND {UNFINISHED}"""
_LIVE = f"(SELECT id, rowid AS row, epic, type, children FROM beads WHERE {UNFINISHED}) AS live"
_ROWS = f"SELECT id, row FROM {_LIVE} WHERE id IN (SELECT value FROM json_each(?))"
_BLOCKS = f"""SELECT json_group_array(beads.rowid), json_group_array(row) FROM {_LIVE}
CROSS JOIN edges ON bead = live.id AND edges.type = 'blocks' CROSS JOIN beads ON beads.id = needs"""
_FAMILIES = f"""SELECT row, coalesce(above.rowid, 0), live.children, live.type = 'epic' FROM {_LIVE}
LEFT JOIN beads AS above ON above.id = live.epic AND above.{UNFINISHED} WHERE live.epic IS NOT NULL OR live.children"""
_SIZE = "SELECT (SELECT coalesce(max(rowid), 0) FROM beads), EXISTS (SELECT 1 FROM beads WHERE epic IS NOT NULL)"
_GRAPH = ("beads", "edges")


class Steps(NamedTuple):
    """Numbered moments, and for each place in `first` a moment in `then` that needs it. `own`: the ends of the beads
    that are asked about; `ends`: so many numbers are of ends, the others up to `size` of starts."""

    first: list[int]
    then: list[int]
    own: list[int]
    ends: int
    size: int


def behind(execute: "Execute", beads: Collection[str]) -> dict[str, int]:
    """How many unfinished beads wait for the end of each of these, directly or not."""
    own = {row[0]: row[1] for row in execute(_GIVEN, (json.dumps(sorted(beads)),))}
    steps = _near(execute, own) or _all(execute, own)
    alike = Counter(_handed_on(steps)[: steps.ends])
    waiting = [-1] * len(own)  # a bead's own end does not wait for itself
    for mask, many in alike.items():
        for bit, digit in enumerate(reversed(f"{mask:b}")):
            if digit == "1":
                waiting[bit] += many
    counted = dict(zip(own, waiting, strict=True))
    return {bead: counted.get(bead, 0) for bead in beads}


def _near(execute: "Execute", own: dict[str, str | None]) -> Steps | None:
    """All steps behind these beads' ends, by bead with its epic; None: they are many."""
    steps: list[tuple[TimePoint, TimePoint]] = []
    known: dict[TimePoint, None] = dict.fromkeys(own)
    epics: dict[str, str | None] = {}
    asked: set[str | None] = {None}
    ends, starts = own, list[str]()
    while ends or starts:
        if len(known) > MANY:
            return None
        if unknown := {*ends.values()} - asked:
            asked |= unknown
            epics |= {row[0]: row[1] for row in execute(_EPICS, (json.dumps([*unknown]),))}
        found = execute(_NEXT, (json.dumps([*ends]), json.dumps(starts)))
        above = [(bead, epic) for bead, epic in ends.items() if epic in epics]
        ends, starts = {}, []
        for bead, epic in above:
            steps.append((bead, epic))
            if epic not in known:
                known[epic], ends[epic] = None, epics[epic]
        for needed, bead, epic, children, is_child in found:
            moment = (bead,) if children else bead
            steps.append(((needed,) if is_child else needed, moment))
            if children and moment not in known:
                known[moment] = None
                steps.append((moment, bead))
                starts.append(bead)
            if bead not in known:
                known[bead], ends[bead] = None, epic
    in_order = sorted(known, key=lambda moment: isinstance(moment, tuple))
    place = {moment: number for number, moment in enumerate(in_order)}
    first, then = [place[one] for one, _ in steps], [place[one] for _, one in steps]
    return Steps(first, then, [place[bead] for bead in own], sum(isinstance(one, str) for one in known), len(place))


def _all(execute: "Execute", own: Collection[str]) -> Steps:
    """All steps of unfinished beads. The end of a bead is its row's number, and 0 that of no bead."""
    row = {found[0]: found[1] for found in execute(_ROWS, (json.dumps([*own]),))}
    [(last, is_nested)] = execute(_SIZE, ())
    [(needed, waiting)] = execute(_BLOCKS, ())
    families = [*execute(_FAMILIES, ())] if is_nested else []
    starts = {found[0]: last + 1 + found[0] for found in families if found[2]}
    epics = {found[0] for found in families if found[3]}
    first, then = json.loads(needed), json.loads(waiting)
    if starts:
        then = [starts.get(bead, bead) for bead in then]
    for bead, above, children, _ in families:
        steps = [(starts[bead], bead)] if children else []
        steps += [(starts[above], starts.get(bead, bead))] if above in starts else []
        steps += [(bead, above)] if above in epics else []
        first += [one for one, _ in steps]
        then += [one for _, one in steps]
    return Steps(first, then, [row[bead] for bead in own], last + 1, 2 * last + 2)


def _handed_on(steps: Steps) -> list[int]:
    """The beads that each moment waits for, a bit for each."""
    waits, first, then = [0] * steps.size, steps.first, steps.then
    for bit, moment in enumerate(steps.own):
        waits[moment] = 1 << bit
    # most graphs were made in an order in which their beads may happen
    if _pass_on(first, then, waits) and _pass_on(first, then, waits):
        _pass_on_in_order(steps, waits)
        while _pass_on(first, then, waits):  # again for circles: they were damaged, no command makes one
            pass
    return waits


def _pass_on(first: list[int], then: list[int], waits: list[int]) -> bool:
    """Whether a moment waits for more beads than before."""
    is_new = False
    for moment, later in zip(first, then, strict=True):
        if (mask := waits[moment]) & ~waits[later]:
            waits[later] |= mask
            is_new = True
    return is_new


def _pass_on_in_order(steps: Steps, waits: list[int]) -> None:
    """In an order in which the moments may happen, without those in a circle or behind one."""
    after: list[list[int]] = [[] for _ in range(steps.size)]
    missing = [0] * steps.size
    for moment, later in zip(steps.first, steps.then, strict=True):
        after[moment].append(later)
        missing[later] += 1
    order = [moment for moment in range(steps.size) if not missing[moment]]
    for moment in order:  # it grows meanwhile
        for later in after[moment]:
            waits[later] |= waits[moment]
            missing[later] -= 1
            if not missing[later]:
                order.append(later)


def waits_behind(db: Database, beads: Collection[str]) -> dict[str, int]:
    """As `behind`, read at one moment."""
    if not (wanted := sorted(beads)):
        return {}
    return dict(db.moment(lambda: db.computed(_NEXT, wanted, lambda: behind(db.plain, wanted).items(), _GRAPH)))


_MAX_DETAIL = 8000


def escalate(db: Database, new: NewEscalation, bead_id: str | None, attempt: int | None, actor: str) -> Escalation:
    """File an escalation, or return the same open one. Stopping types stop the bead, or its attempt's end does."""
    now = db.now()
    with db.write():
        if bead_id is not None:
            moves.require(db, (bead_id,))
        already = None if new.adds_to else _same(db, new, bead_id)
        filed = already or file(db, new, bead_id, attempt, actor, now)
        if bead_id is not None and new.type in STOPS_BEAD:
            bead = get_bead(db, bead_id)
            move = advance(bead, Kind.ESCALATED)
            if move.status is Status.ESCALATED:
                remember(db, bead_id, move)
            if move.status is not bead.status:
                moves.move(db, bead_id, moves.columns(move), now)
                if already is not None:
                    _tell(db, already, actor, now)
        return escalation(db, filed.id)


def file(db: Database, new: NewEscalation, bead: str | None, attempt: int | None, actor: str, now: float) -> Escalation:
    """File it in the caller's transaction, or return the open one that is the same or is added to."""
    if (earlier := _added_to(db, new, bead)) is not None:
        return _add(db, earlier, new, bead, actor, now)
    if (same := _same(db, new, bead)) is not None:
        return same
    one = Escalation(0, new.type, bead, new.title, new.detail, attempt=attempt, evidence=new.evidence, created_at=now)
    values = rows.escalation_values(replace(one, hypothesis=new.hypothesis, session=new.session, form=new.form))
    number = db.insert("escalations", values | {"id": None, "fingerprint": _fingerprint(new, bead)})
    if new.session is not None:
        sessions_db.questioned(db, new.session)
    filed = rows.escalation(db.one("SELECT * FROM escalations WHERE id = ?", (number,)))
    _tell(db, filed, actor, now)
    return filed


def _added_to(db: Database, new: NewEscalation, bead: str | None) -> Escalation | None:
    sql = "SELECT * FROM escalations WHERE id = ? AND resolved_at IS NULL"
    row = db.maybe(sql, (new.adds_to,)) if new.adds_to else None
    found = None if row is None else rows.escalation(row)
    own = None if found is None or bead is None or found.bead == bead else _same(db, new, bead)
    is_free = found is not None and own is None and (bead is None or found.bead in (None, bead))
    return found if is_free else None


def _add(db: Database, earlier: Escalation, new: NewEscalation, bead: str | None, actor: str, now: float) -> Escalation:
    """Record the addition. A bead's question keeps its text, and is reported again on a change."""
    words = earlier.title if earlier.bead is not None and bead is None else new.title
    before = "" if earlier.title == new.title else f"\n\nBefore: {earlier.title}\n{earlier.detail}"
    whose = earlier.bead or bead
    values = {
        "bead": whose,
        "title": words,
        "detail": (new.detail + before)[:_MAX_DETAIL],
        "attempt": earlier.attempt,
        "evidence": rows.as_json({**earlier.evidence, **new.evidence}),
        "hypothesis": new.hypothesis or earlier.hypothesis,
        "fingerprint": fingerprint(new.type, whose, words),
    }
    columns = ", ".join(f"{column} = ?" for column in values)
    db.run(f"UPDATE escalations SET {columns} WHERE id = ?", (*values.values(), earlier.id))
    added = rows.escalation(db.one("SELECT * FROM escalations WHERE id = ?", (earlier.id,)))
    if (added.bead, added.title) != (earlier.bead, earlier.title):
        _tell(db, added, actor, now)
    return added


def _same(db: Database, new: NewEscalation, bead: str | None) -> Escalation | None:
    mark = _fingerprint(new, bead)
    row = db.maybe("SELECT * FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL", (mark,))
    return None if row is None else rows.escalation(row)


def _form(new: NewEscalation) -> str:
    return "" if new.form is None else rows.as_json(dict(new.form))


def _fingerprint(new: NewEscalation, bead: str | None) -> str:
    about = session_owner(new.session) if bead is None and new.session is not None else bead
    return fingerprint(new.type, about, new.title, _form(new))


def _tell(db: Database, filed: Escalation, actor: str, now: float) -> None:
    kind = Kind.ESCALATED if filed.type in STOPS_BEAD else Kind.SUGGESTED
    told: dict[str, Any] = {"escalation": filed.id, "type": filed.type.value, "title": filed.title}
    if filed.session is not None:
        told["session"] = filed.session
    if filed.form:
        told["form"] = filed.form
    events_db.append(db, now, kind, filed.bead, actor, told, filed.attempt)


def remember(db: Database, bead: str, move: Move) -> None:
    moves.remember(db, bead, moves.columns(move)["return_to"])


def escalation(db: Database, number: int, counted: bool = True) -> Escalation:
    """`counted`: with the number of waiting beads, which reads the graph. Raises NoSuchEscalation."""
    with db.read():
        if (row := db.maybe("SELECT * FROM escalations WHERE id = ?", (number,))) is None:
            raise NoSuchEscalation(f"there is no escalation {number}")
        is_counted = counted and row["bead"] and row["resolved_at"] is None
        waits = waits_behind(db, (row["bead"],) if is_counted else ())
        return rows.escalation(row, waits.get(row["bead"], 0))


def listed(db: Database, open_only: bool = True, bead: str | None = None) -> list[Escalation]:
    """Open ones first: urgent, then by waiting beads; then resolved ones, newest first."""
    return db.moment(lambda: _listed(db, open_only, bead))


def _listed(db: Database, open_only: bool, bead: str | None) -> list[Escalation]:
    whose, value = ("1", ()) if bead is None else ("bead = ?", (bead,))
    if bead is not None and open_only and not moves.may_be_asked(db, bead):
        return []
    is_open = " AND resolved_at IS NULL" if open_only else ""
    asked = f"SELECT *, {PRIORITY_OF_FORM} AS priority FROM escalations WHERE {whose}{is_open} ORDER BY id"
    found = db.all(asked, value)
    waits = waits_behind(db, {row["bead"] for row in found if row["bead"] and row["resolved_at"] is None})
    open_ = [
        (row["priority"], rows.escalation(row, waits.get(row["bead"], 0)))
        for row in found
        if row["resolved_at"] is None
    ]
    waiting = [one for _, one in sorted(open_, key=lambda one: (one[0], -one[1].behind, one[1].id))]
    if open_only:
        return waiting
    return waiting + [rows.escalation(row) for row in reversed(found) if row["resolved_at"] is not None]


def as_filed(db: Database) -> list[Escalation]:
    """By number, without counting waiting beads, which reads the graph."""
    return [rows.escalation(row) for row in db.all("SELECT * FROM escalations ORDER BY id")]


def resolve(db: Database, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
    """Resolve; after its last stopping escalation the bead goes back (failures 0)."""
    now = db.now()
    with db.write():
        settle(db, open_row(db, number), resolution, actor, to, now)
    return escalation(db, number)


_START_FAILURE = EscalationType.BROKEN_ENVIRONMENT.value


def started(db: Database, provider: str, resolution: str, actor: str) -> None:
    sql = "SELECT * FROM escalations WHERE resolved_at IS NULL AND bead IS NULL AND type = ?"
    for row in db.all(f"{sql} AND json_extract(evidence, ?) = ?", (_START_FAILURE, f"$.{STARTS}", provider)):
        settle(db, row, resolution, actor, None, db.now())


def start_cooldown(db: Database, gate: Cooldown) -> None:
    with db.write():
        spending.start_cooldown(db, gate)
        if not gate.is_asked:
            started(db, gate.provider, "it starts again", "nobrakes")


def end_cooldown(db: Database, provider: str, actor: str) -> bool:
    """Also withdraws the question about an agent that does not start."""
    with db.write():
        if opened := spending.end_cooldown(db, provider, actor):
            started(db, provider, "nobrakes tries again", actor)
        return opened


def open_row(db: Database, number: int) -> Any:
    """Raises NotAllowed for a decided one."""
    if (row := db.maybe("SELECT * FROM escalations WHERE id = ?", (number,))) is None:
        raise NoSuchEscalation(f"there is no escalation {number}")
    if row["resolved_at"] is not None:
        what = f"answered already: {row['answer'][:200]}" if row["answer"] is not None else "resolved already"
        raise NotAllowed(f"escalation {number} was {what}")
    return row


def settle(db: Database, row: Any, resolution: str, actor: str, to: Status | None, now: float) -> None:
    """Record the decision in the caller's transaction, and send its bead back."""
    from ..features import db as findings  # lists of questions need no feature

    number = row["id"]
    db.run("UPDATE escalations SET resolved_at = ?, resolution = ? WHERE id = ?", (now, resolution, number))
    data: dict[str, Any] = {"escalation": number, "resolution": resolution}
    bead: Bead | None = get_bead(db, row["bead"]) if row["bead"] is not None else None
    if bead is not None and bead.status is Status.ESCALATED and row["type"] in STOPS_BEAD:
        if moves.has_stopping(db, bead.id, but=number):
            move = advance(bead, Kind.RESOLVED, Facts(to, is_asked=True))
            moves.move(db, bead.id, {"failures": 0, **moves.columns(move)}, now)
        else:
            changes = moves.moved(db, bead, Kind.RESOLVED, {"to": to}, now)
            data["to"] = changes["status"]
            moves.apply(db, bead, changes, now)
            spending.reset_breakers(db, bead.id, actor)  # whoever sends it back wants it tried
    if row["session"] is not None:
        said = row["answer"] if row["answer"] is not None else resolution
        findings.decided(db, number, said, actor)
        told = findings.told(db, number, said) or answered_text(row["title"], said)
        sessions_db.answered(db, row["session"], number, told, actor)
    events_db.append(db, now, Kind.RESOLVED, row["bead"], actor, data, row["attempt"])


# How questions are answered: exactly once, taken back until somebody acts by the answer, and since then no more.
#
# 1. Who is given an answer acts by it (`read_at`, an event): an attempt when what it begins with is journaled, an agent
# when it reads it. An answer that was taken back was never read, and whoever was to begin with it does not.
# 2. A question that is open again stops its bead as it did, and asks again. The bead's failures stay forgiven.
# 3. Answers that were given before a version knew who read them count as read.


def answer(db: Database, number: int, text: str, actor: str, value: Any = None, to: Status | None = None) -> Escalation:
    """Answer and resolve once, else NotAllowed. The bead goes to `to`, else `return_to`. `value`: of the form."""
    now = db.now()
    with db.write():
        open_row(db, number)
        kept = None if value is None else rows.as_json(value)
        db.run(
            "UPDATE escalations SET answer = ?, value = ?, answered_at = ?, read_at = NULL WHERE id = ?",
            (text, kept, now, number),
        )
        row = open_row(db, number)
        told = {"escalation": number, "answer": text}
        events_db.append(db, now, Kind.ANSWERED, row["bead"], actor, told, row["attempt"])
        settle(db, row, "answered", actor, to, now)
    return escalation(db, number)


_ANSWERED = "SELECT bead, read_at FROM escalations WHERE id = ? AND answer = ? AND resolved_at IS NOT NULL"


def act_by(db: Database, answers: Mapping[int, str], actor: str, attempt: int | None = None) -> bool:
    """Record that these answers (by question number) are now used. False: one is outdated, and nothing is written."""
    now = db.now()
    with db.write():
        standing = [(db.maybe(_ANSWERED, (number, given)), number) for number, given in answers.items()]
        if any(row is None for row, _ in standing):
            return False
        for row, number in standing:
            if row is not None and row["read_at"] is None:
                db.run("UPDATE escalations SET read_at = ? WHERE id = ?", (now, number))
                events_db.append(db, now, Kind.ANSWER_READ, row["bead"], actor, {"escalation": number}, attempt)
    return True


def take_back(db: Database, number: int, actor: str) -> Escalation:
    """Reopen an answered question, which stops its bead as before. NotAllowed: it was read, or is past."""
    from ..features import db as findings  # lists of questions need no feature

    now = db.now()
    with db.write():
        if (row := db.maybe("SELECT * FROM escalations WHERE id = ?", (number,))) is None:
            raise NoSuchEscalation(f"there is no escalation {number}")
        _refuse_what_is_past(db, row)
        db.run(
            "UPDATE escalations SET answer = NULL, value = NULL, answered_at = NULL, resolved_at = NULL, "
            "resolution = '' WHERE id = ?",
            (number,),
        )
        data = {"escalation": number, "answer": row["answer"]}
        events_db.append(db, now, Kind.ANSWER_TAKEN_BACK, row["bead"], actor, data)
        findings.reopen(db, number)
        if row["session"] is not None and not sessions_db.take_back(db, row["session"], number):
            raise _is_read(db, row)
        if row["type"] in STOPS_BEAD:
            _stop_again(db, row, actor, now)
    return escalation(db, number)


def _refuse_what_is_past(db: Database, row: Any) -> None:
    number = row["id"]
    if row["resolved_at"] is None:
        raise NotAllowed(f"escalation {number} has no answer to withdraw", "Answer the open question.")
    if row["answer"] is None:
        why = "you decided the escalation or its bead without an answer"
        raise NotAllowed(f"escalation {number} has no answer to withdraw: {why}")
    if row["read_at"] is not None:
        raise _is_read(db, row)
    if row["session"] is not None and sessions_db.get_session(db, row["session"]).state is State.ENDED:
        raise NotAllowed(
            f"the answer to escalation {number} cannot be withdrawn: session {row['session']}, which asked, has ended",
            f"`nobrakes session show {row['session']}` shows the session's messages.",
        )
    same = db.maybe("SELECT id FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL", (row["fingerprint"],))
    if same is not None:
        raise NotAllowed(f"the agent asked the same question again: escalation {same[0]}", "Answer the newer question.")
    if row["bead"] is None:
        return
    bead = get_bead(db, row["bead"])
    if bead.status in CLOSED or bead.status is Status.REVIEWING:
        raise NotAllowed(
            f"the answer to escalation {number} cannot be withdrawn: bead {bead.id} is {bead.status.value}",
            f"`nobrakes history {bead.id}` shows what happened after the answer.",
        )
    moves.refuse_while_it_lands(db, bead.id, bead.status)


def _is_read(db: Database, row: Any) -> NotAllowed:
    """Since when who acts by the answer."""
    last = "SELECT actor FROM events WHERE kind = ? AND bead IS ? AND json_extract(data, '$.escalation') = ?"
    found = db.maybe(f"{last} ORDER BY seq DESC LIMIT 1", (Kind.ANSWER_READ.value, row["bead"], row["id"]))
    since = datetime.fromtimestamp(row["read_at"], UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return NotAllowed(
        f"too late: {found[0] if found else 'an agent'} read the answer to escalation {row['id']} at {since}",
        f"Add the change to the bead's notes: `nobrakes edit {row['bead']} --notes …`." if row["bead"] else "",
    )


def _stop_again(db: Database, row: Any, actor: str, now: float) -> None:
    if row["bead"] is not None:
        bead = get_bead(db, row["bead"])
        move = advance(bead, Kind.ESCALATED)
        if move.status is not bead.status:
            moves.move(db, bead.id, moves.columns(move), now)
        if move.status is Status.ESCALATED:
            remember(db, bead.id, move)
    told = {"escalation": row["id"], "type": row["type"], "title": row["title"]}
    if row["session"] is not None:
        told["session"] = row["session"]
    if row["form"]:
        told["form"] = json.loads(row["form"])
    events_db.append(db, now, Kind.ESCALATED, row["bead"], actor, told)
