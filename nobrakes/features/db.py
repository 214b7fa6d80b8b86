"""Features and the versions of their plans. Each function is one transaction with its event."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..beads.db import moves
from ..beads.model import Bead, BeadType
from ..db import rows
from ..db.database import Database, Row
from ..db.fast import FEATURE_GOES_ON
from ..errors import NobrakesError, NoSuchFeature, NotAllowed
from ..events import db as events_db
from ..events.kinds import Kind
from ..sessions import db as sessions_db
from . import model
from .model import Feature, Finding, Item, ItemState, PlanReview, PlanVersion, ReviewState, Stage, State, Step

if TYPE_CHECKING:
    from ..store import Store

# A feature's facts lie in the epic's metadata, so that they come back wherever its bead comes back: what a person said
# and where the feature stands. A plan that was under review goes back to planning. Metadata that are not facts of a
# feature make none, nor do those of a bead that is not an epic. Where another feature has the turn, what comes back is
# paused.
KEY = model.FACTS
_TEXTS = ("notes", "base", "actor")
_MAX_NUMBER = 2**53
_OTHERS = "SELECT stage, state FROM features WHERE id <> ?"


def keep(db: Database, one: Feature) -> None:
    """Write the facts to the epic if they differ, in the caller's transaction."""
    row = db.one("SELECT metadata FROM bead_text WHERE id = ?", (one.id,))
    metadata: dict[str, Any] = json.loads(row["metadata"])
    facts = {name: getattr(one, name) for name in (*_TEXTS, "replannings", "archived", "created_at")}
    facts |= {"criteria": [asdict(each) for each in one.criteria], "files": list(one.files)}
    facts |= {"stage": one.stage.value, "state": one.state.value}
    if metadata.get(KEY) != facts:
        moves.set_texts(db, one.id, {"metadata": rows.as_json(metadata | {KEY: facts})})


def bring_back(db: Database, beads: Iterable[Bead], now: float) -> int:
    """Restore these beads' features from their facts; returns how many. In the caller's transaction."""
    count = 0
    known = [(bead, facts) for bead in beads if (facts := _facts(bead)) is not None]
    for bead, facts in sorted(known, key=lambda one: _has_turn(one[1])):  # who gives the turn up goes before who has it
        here = db.maybe("SELECT plan FROM features WHERE id = ?", (bead.id,))
        if facts["stage"] == Stage.REVIEW.value and (here is None or not here["plan"]):
            facts["stage"] = Stage.PLANNING.value
        if _has_turn(facts) and any(_has_turn(one) for one in db.all(_OTHERS, (bead.id,))):
            facts["state"] = State.PAUSED.value
            told = bead.metadata[KEY] | {"state": State.PAUSED.value}
            moves.set_texts(db, bead.id, {"metadata": rows.as_json({**bead.metadata, KEY: told})})
        facts |= {"turn_at": now, "updated_at": now}
        if here is None:
            db.insert("features", facts | {"id": bead.id, "plan": 0, "round": 0, "clean": 0, "data": "{}"})
        else:
            sets = ", ".join(f'"{name}" = :{name}' for name in facts)
            db.run(f"UPDATE features SET {sets} WHERE id = :id", {**facts, "id": bead.id})
        count += 1
    return count


def _facts(bead: Bead) -> dict[str, Any] | None:
    """The columns in the bead's metadata; None if there are none."""
    kept = bead.metadata.get(KEY)
    if bead.type is not BeadType.EPIC or not isinstance(kept, dict):
        return None
    try:
        criteria = [
            asdict(model.Criterion(str(one["text"]), str(one["how"]), bool(one["usual"]))) for one in kept["criteria"]
        ]
        replannings, created_at = int(kept["replannings"]), float(kept["created_at"])
        if not (0 <= replannings <= _MAX_NUMBER and 0.0 <= created_at <= _MAX_NUMBER):
            return None
        return {
            **{name: str(kept[name]) for name in _TEXTS},
            "criteria": rows.as_json(criteria),
            "files": rows.as_json([str(one) for one in kept["files"]]),
            "stage": Stage(kept["stage"]).value,
            "state": State(kept["state"]).value,
            "replannings": replannings,
            "archived": bool(kept["archived"]),
            "created_at": created_at,
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _has_turn(facts: Mapping[str, Any] | Row) -> bool:
    return Feature("", "", "", stage=Stage(facts["stage"]), state=State(facts["state"])).has_turn


_FEATURE = """SELECT features.*, bead_text.title, bead_text.description
FROM features JOIN bead_text ON bead_text.id = features.id"""
_SOURCES = ("features", "bead_text *")
"""Without the bead columns that change when a bead closes."""
_GOING = f"""SELECT features.*, bead_text.title, bead_text.description
FROM features INDEXED BY features_going JOIN bead_text ON bead_text.id = features.id
WHERE {FEATURE_GOES_ON} ORDER BY features.id"""
FEATURE_OF_SESSION = f"{_FEATURE} WHERE features.session = ?"
REVIEW_OF_SESSION = "SELECT feature, domain FROM plan_reviews WHERE session = ?"
_LAST = "SELECT * FROM plan_versions WHERE feature = ? ORDER BY number DESC LIMIT 1"
_FIELDS = frozenset(
    {
        *("criteria", "files", "notes", "base", "replannings", "session", "plan", "round", "clean", "turn_at"),
        *("archived", "data"),
    }
)
_AS_JSON = frozenset({"criteria", "files", "data"})
_EPIC_COLUMNS = frozenset({"title", "description"})
_SAID = _EPIC_COLUMNS | {"criteria", "files", "notes", "archived"}
"""Fields set by people, named in the event; changes of others are not an event."""


def _feature(row: Row) -> Feature:
    return rows.record(Feature, row, criteria=tuple(model.Criterion(**one) for one in json.loads(row["criteria"])))


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(values)
    if "criteria" in found:
        found["criteria"] = [asdict(one) for one in found["criteria"]]
    return {name: rows.as_json(value) if name in _AS_JSON else value for name, value in found.items()}


def begin(db: Database, new: Feature) -> Feature:
    """Store a new feature, whose epic exists. NotAllowed: another feature has the repository's turn."""
    now = db.now()
    with db.write():
        refuse_second(db, new)
        told = {"title": new.title[:200], "base": new.base, "criteria": len(new.criteria), "files": list(new.files)}
        values = {name: getattr(new, name) for name in ("id", *sorted(_FIELDS), "stage", "state", "actor")}
        moves.set_texts(db, new.id, {name: getattr(new, name) for name in _EPIC_COLUMNS})
        db.insert("features", _columns(values | {"turn_at": now, "created_at": now, "updated_at": now}))
        events_db.append(db, now, Kind.FEATURE_BEGAN, new.id, new.actor, told)
        made = get_feature(db, new.id)
        keep(db, made)
        return made


def refuse_second(db: Database, one: Feature) -> None:
    """NotAllowed if another feature has the repository's turn."""
    if not one.has_turn:
        return
    for other in features(db):
        if other.id != one.id and other.has_turn:
            raise NotAllowed(
                f"feature {other.id} ({other.title[:60]}) is in {other.stage.value}, "
                "and nobrakes plans one feature at a time in a repository",
                f"`nobrakes forge pause {other.id}` pauses that feature; no work is lost.",
            )


def get_feature(db: Database, id_: str) -> Feature:
    """Raises NoSuchFeature."""
    if (row := db.maybe(f"{_FEATURE} WHERE features.id = ?", (id_,))) is None:
        raise NoSuchFeature(f"there is no feature '{id_[:64]}'")
    return _feature(row)


def features(db: Database, going: bool = True) -> list[Feature]:
    """By id; `going`: without completed and rolled back ones, but with rollbacks in progress."""
    return [_feature(row) for row in db.all(_GOING if going else f"{_FEATURE} ORDER BY features.id", (), _SOURCES)]


def get_session_feature(db: Database, session: int) -> tuple[Feature, str] | None:
    """The feature that the session plans (with "") or reviews (with the domain), or None."""
    if (row := db.maybe(FEATURE_OF_SESSION, (session,))) is not None:
        return _feature(row), ""
    found = db.maybe(REVIEW_OF_SESSION, (session,))
    return None if found is None else (get_feature(db, found["feature"]), found["domain"])


def move(db: Database, id_: str, step: Step, actor: str, why: str = "", **values: Any) -> Feature:
    now = db.now()
    with db.write():
        before = get_feature(db, id_)
        stage, state = model.advance(before, step)
        after = values | {"stage": stage, "state": state}
        if step in (Step.RESUMED, Step.BEGUN_AGAIN) or stage is not before.stage:
            after.setdefault("turn_at", now)
        if before.archived and state is State.ACTIVE:
            after["archived"] = False
        if step is Step.CHECKPOINT or (stage in model.PLANNED and before.stage not in model.PLANNED):
            after["replannings"] = before.replannings + 1
        _set(db, before, after, now)
        moved = get_feature(db, id_)
        if moved.has_turn and not before.has_turn:
            refuse_second(db, moved)
        told = {"step": step.value, "stage": stage.value, "state": state.value, "before": before.stage.value}
        told["was"] = before.state.value
        events_db.append(db, now, Kind.FEATURE_MOVED, id_, actor, told | {"reason": why[:500]})
        return moved


def change(db: "Store", id_: str, values: Mapping[str, Any], actor: str) -> Feature:
    """Set fields that no step moves. Title and description are set on the epic."""
    now = db.now()
    with db.write():
        before = get_feature(db, id_)
        if texts := {name: value for name, value in values.items() if name in _EPIC_COLUMNS}:
            db.change(id_, texts, actor)
        _set(db, before, {name: value for name, value in values.items() if name not in _EPIC_COLUMNS}, now)
        said = sorted(name for name in values if name in _SAID and values[name] != getattr(before, name))
        if said:
            events_db.append(db, now, Kind.FEATURE_CHANGED, id_, actor, {"parts": said})
        return get_feature(db, id_)


def note(db: "Store", id_: str, values: Mapping[str, Any], actor: str) -> Feature:
    """Set values of its data (keys in features.model); None removes one."""
    with db.write():
        data = {**get_feature(db, id_).data, **values}
        return change(db, id_, {"data": {name: value for name, value in data.items() if value is not None}}, actor)


def _set(db: Database, before: Feature, values: Mapping[str, Any], now: float) -> None:
    unknown = set(values) - _FIELDS - {"stage", "state"}
    assert not unknown, f"a feature has no {', '.join(sorted(unknown))}"
    columns = _columns(values) | {"updated_at": now}
    names = ", ".join(f"{name} = ?" for name in columns)
    db.run(f"UPDATE features SET {names} WHERE id = ?", (*columns.values(), before.id))
    keep(db, get_feature(db, before.id))


def keep_plan(db: Database, id_: str, beads: Sequence[Mapping[str, Any]], why: str, actor: str) -> PlanVersion:
    now, text = db.now(), rows.as_json([dict(one) for one in beads])
    with db.write():
        before = get_feature(db, id_)
        if (last := db.maybe(_LAST, (id_,))) is not None and last["beads"] == text:
            return rows.record(PlanVersion, last)
        number = before.plan + 1
        made = {"feature": id_, "number": number, "at": now, "actor": actor, "why": why[:500], "beads": text}
        db.insert("plan_versions", made)
        _set(db, before, {"plan": number}, now)
        told = {"version": number, "beads": len(beads), "reason": why[:500]}
        events_db.append(db, now, Kind.PLAN_KEPT, id_, actor, told)
        return rows.record(PlanVersion, db.one(_LAST, (id_,)))


def version(db: Database, id_: str, number: int | None = None) -> PlanVersion | None:
    this = "SELECT * FROM plan_versions WHERE feature = ? AND number = ?"
    row = db.maybe(_LAST, (id_,)) if number is None else db.maybe(this, (id_, number))
    return None if row is None else rows.record(PlanVersion, row)


def versions(db: Database, id_: str) -> list[PlanVersion]:
    found = db.all("SELECT * FROM plan_versions WHERE feature = ? ORDER BY number", (id_,))
    return [rows.record(PlanVersion, row) for row in found]


DISMISSED = "dismiss"


def begin_review(db: Database, id_: str, round_: int, domain: str, session: int | None) -> PlanReview:
    """NotAllowed if this round has a reviewer of the domain already."""
    now = db.now()
    with db.write():
        one = get_feature(db, id_)
        if any(found.domain == domain for found in reviews(db, id_, round_)):
            raise NotAllowed(
                f"review round {round_} of feature {id_} already has a reviewer for {domain}",
                f"`nobrakes forge show {id_}` shows the reviews.",
            )
        values = {"feature": id_, "round": round_, "domain": domain, "plan": one.plan, "session": session}
        db.insert("plan_reviews", values | {"state": ReviewState.RUNNING.value, "started_at": now, "detail": ""})
        told = {"round": round_, "domain": domain, "version": one.plan, "session": session}
        events_db.append(db, now, Kind.PLAN_REVIEW_BEGAN, id_, "nobrakes", told)
        return next(found for found in reviews(db, id_, round_) if found.domain == domain)


def end(db: Database, id_: str, round_: int, domain: str, state: ReviewState, detail: str) -> bool:
    """False: it had ended before."""
    now = db.now()
    with db.write():
        ended = """UPDATE plan_reviews SET state = ?, ended_at = ?, detail = ?
        WHERE feature = ? AND round = ? AND domain = ? AND state = 'running'"""
        if not db.run(ended, (state.value, now, detail[:2000], id_, round_, domain)):
            return False
        found = db.one(
            "SELECT count(*) FROM findings WHERE feature = ? AND round = ? AND domain = ?", (id_, round_, domain)
        )[0]
        told = {"round": round_, "domain": domain, "state": state.value, "findings": found, "detail": detail[:500]}
        events_db.append(db, now, Kind.PLAN_REVIEW_ENDED, id_, "nobrakes", told)
        return True


def reviews(db: Database, id_: str, round_: int | None = None) -> list[PlanReview]:
    where, values = ("", (id_,)) if round_ is None else (" AND round = ?", (id_, round_))
    found = db.all(f"SELECT * FROM plan_reviews WHERE feature = ?{where} ORDER BY round, domain", values)
    return [rows.record(PlanReview, row) for row in found]


def add_finding(db: Database, new: Finding) -> Finding:
    """Store a finding, which gets its id here."""
    now = db.now()
    with db.write():
        made = db.insert("findings", {**rows.columns(new), "id": None})
        told = {"finding": made, "round": new.round, "domain": new.domain, "category": new.category}
        told |= {"priority": new.priority, "issue": new.issue[:500], "at_bead": new.bead}
        events_db.append(db, now, Kind.FINDING_MADE, new.feature, "nobrakes", told)
        return rows.record(Finding, db.one("SELECT * FROM findings WHERE id = ?", (made,)))


def ask_of(db: Database, finding: int, escalation: int) -> None:
    with db.write():
        db.run("UPDATE findings SET escalation = ? WHERE id = ?", (escalation, finding))


def resolve_finding(db: Database, finding: int, state: model.FindingState, answer: str, actor: str) -> bool:
    """False: it was decided before."""
    now = db.now()
    with db.write():
        if (row := db.maybe("SELECT * FROM findings WHERE id = ?", (finding,))) is None:
            raise NobrakesError(f"there is no finding {finding}", "`nobrakes forge show FEATURE` lists the findings.")
        decided = "UPDATE findings SET state = ?, answer = ? WHERE id = ? AND state = 'open'"
        if not db.run(decided, (state.value, answer[:8000], finding)):
            return False
        told = {"finding": finding, "state": state.value, "answer": answer[:500]}
        events_db.append(db, now, Kind.FINDING_SETTLED, row["feature"], actor, told)
        return True


def decided(db: Database, escalation: int, said: str, actor: str) -> None:
    """Decide the findings of a question that was answered. In the caller's transaction; UsageError without a reason."""
    sql = "SELECT * FROM findings WHERE escalation = ? AND state = 'open' ORDER BY id"
    for one in [rows.record(Finding, row) for row in db.all(sql, (escalation,))]:
        word, _, note = said.partition(":")
        words = f"{model.ACCEPT_RISK}: {note}" if word == DISMISSED else said
        state, answer = model.decision(one, words)
        resolve_finding(db, one.id, state, answer, actor)


def told(db: Database, escalation: int, said: str) -> str:
    """What the Shaper is told of the decision; empty: the question was about no finding."""
    if (row := db.maybe("SELECT * FROM findings WHERE escalation = ? ORDER BY id LIMIT 1", (escalation,))) is None:
        return ""
    about = f" of bead {row['bead']}" if row["bead"] else ""
    return (
        f"A review of the plan found{about}: {row['issue']}\nIts impact: {row['impact']}\nA person decided: {said}\n"
        "Change the plan by it where that is needed, then say that the plan is complete again."
    )


def close_questions(db: Database, id_: str, why: str) -> int:
    now = db.now()
    with db.write():
        asked = "SELECT escalation FROM findings WHERE feature = ? AND escalation IS NOT NULL"
        found = db.all(f"SELECT id, session FROM escalations WHERE id IN ({asked}) AND resolved_at IS NULL", (id_,))
        for row in found:
            db.run("UPDATE escalations SET resolved_at = ?, resolution = ? WHERE id = ?", (now, why[:2000], row["id"]))
        for session in sorted({row["session"] for row in found if row["session"] is not None}):
            sessions_db.settled(db, session)
        return len(found)


def reopen(db: Database, escalation: int) -> None:
    """Reopen the findings of an answer that was taken back. In the caller's transaction."""
    db.run("UPDATE findings SET state = 'open', answer = '' WHERE escalation = ?", (escalation,))


def findings(db: Database, id_: str, round_: int | None = None) -> list[Finding]:
    where, values = ("", (id_,)) if round_ is None else (" AND round = ?", (id_, round_))
    return [
        rows.record(Finding, row)
        for row in db.all(f"SELECT * FROM findings WHERE feature = ?{where} ORDER BY id", values)
    ]


def collect(
    db: Database,
    id_: str,
    kind: model.ItemKind,
    text: str,
    actor: str,
    *,
    file: str = "",
    line: int = 0,
    bead: str | None = None,
    blocks: bool = False,
    nth: int = 1,
) -> Item | None:
    """Collect an item for the next checkpoint; None: collected before. `nth`: of those with this text in the file."""
    now = db.now()
    words = " ".join(text.split())[:2000]
    place = f"{file}\0{words}" if file else f"{kind.value}\0{words}"
    place += f"\0{nth}" if nth > 1 else ""
    with db.write():
        get_feature(db, id_)
        if db.maybe("SELECT 1 FROM items WHERE feature = ? AND place = ?", (id_, place)) is not None:
            return None
        values: dict[str, Any] = {"feature": id_, "kind": kind.value, "text": words, "file": file, "line": line}
        values |= {"bead": bead, "blocks": blocks, "state": ItemState.WAITING.value, "at": now, "place": place}
        made = db.insert("items", values)
        told = {"item": made, "kind": kind.value, "text": words[:500], "file": file, "line": line, "at_bead": bead}
        events_db.append(db, now, Kind.ITEM_COLLECTED, id_, actor, told)
        return rows.record(Item, db.one("SELECT * FROM items WHERE id = ?", (made,)))


def items(db: Database, id_: str) -> list[Item]:
    return [rows.record(Item, row) for row in db.all("SELECT * FROM items WHERE feature = ? ORDER BY id", (id_,))]


def resolve_items(db: Database, chosen: Collection[int], state: ItemState, actor: str) -> int:
    """Set the state of the waiting ones; returns how many."""
    now, settled = db.now(), 0
    with db.write():
        for number in sorted(chosen):
            if (row := db.maybe("SELECT feature FROM items WHERE id = ? AND state = 'waiting'", (number,))) is None:
                continue
            db.run("UPDATE items SET state = ? WHERE id = ?", (state.value, number))
            events_db.append(db, now, Kind.ITEM_SETTLED, row["feature"], actor, {"item": number, "state": state.value})
            settled += 1
        return settled
