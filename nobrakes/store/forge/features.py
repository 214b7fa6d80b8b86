"""Features and the versions of their plans. Each function is one transaction with its event."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...core.beads.events import Kind
from ...core.errors import NoSuchFeature, NotAllowed
from ...core.forge.feature import PLANNED, Criterion, Feature, PlanVersion, Stage, State, Step, advance
from .. import events, rows
from ..beads import edits, moves
from ..conditions import FEATURE_GOES_ON
from ..database import Database, Row
from . import kept

_FEATURE = """SELECT features.*, bead_text.title, bead_text.description
FROM features JOIN bead_text ON bead_text.id = features.id"""
_OF = ("features", "bead_text *")
"""What features are read from: of their beads' texts none that changes as a bead is closed."""
_GOING = f"""SELECT features.*, bead_text.title, bead_text.description
FROM features INDEXED BY features_going JOIN bead_text ON bead_text.id = features.id
WHERE {FEATURE_GOES_ON} ORDER BY features.id"""
OF_SESSION = f"{_FEATURE} WHERE features.session = ?"
REVIEW_OF_SESSION = "SELECT feature, domain FROM plan_reviews WHERE session = ?"
_LAST = "SELECT * FROM plan_versions WHERE feature = ? ORDER BY number DESC LIMIT 1"
_FIELDS = frozenset(
    {
        *("criteria", "files", "notes", "base", "replannings", "session", "plan", "round", "clean", "turn_at"),
        *("archived", "data"),
    }
)
_AS_JSON = frozenset({"criteria", "files", "data"})
_OF_EPIC = frozenset({"title", "description"})
_SAID = _OF_EPIC | {"criteria", "files", "notes", "archived"}
"""Fields that a person sets; the event names them. The rest is the machine's bookkeeping, and no event of its own."""


def _feature(row: Row) -> Feature:
    values = dict(row)
    values["criteria"] = tuple(Criterion(**one) for one in json.loads(values["criteria"]))
    values["files"] = tuple(json.loads(values["files"]))
    values["data"] = json.loads(values["data"])
    values["archived"] = bool(values["archived"])
    return Feature(**values | {"stage": Stage(values["stage"]), "state": State(values["state"])})


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(values)
    if "criteria" in found:
        found["criteria"] = [asdict(one) for one in found["criteria"]]
    return {name: rows.as_json(value) if name in _AS_JSON else value for name, value in found.items()}


def begin(db: Database, new: Feature) -> Feature:
    """Keep a new feature; its epic has its title and description from now on."""
    now = db.now()
    with db.write():
        refuse_second(db, new)
        told = {"title": new.title[:200], "base": new.base, "criteria": len(new.criteria), "files": list(new.files)}
        values = {name: getattr(new, name) for name in ("id", *sorted(_FIELDS), "stage", "state", "actor")}
        moves.set_texts(db, new.id, {name: getattr(new, name) for name in _OF_EPIC})
        db.insert("features", _columns(values | {"turn_at": now, "created_at": now, "updated_at": now}))
        events.append(db, now, Kind.FEATURE_BEGAN, new.id, new.actor, told)
        made = feature(db, new.id)
        kept.keep(db, made)
        return made


def refuse_second(db: Database, one: Feature) -> None:
    """NotAllowed where another feature has the repository's turn, and this one would have it too."""
    if not one.has_turn:
        return
    for other in features(db):
        if other.id != one.id and other.has_turn:
            raise NotAllowed(
                f"feature {other.id} ({other.title[:60]}) is in {other.stage.value}: "
                "one feature of a repository is planned at a time",
                f"`nobrakes forge pause {other.id}` gives its turn up, and loses nothing.",
            )


def feature(db: Database, id_: str) -> Feature:
    """One feature."""
    row = db.maybe(f"{_FEATURE} WHERE features.id = ?", (id_,))
    if row is None:
        raise NoSuchFeature(f"there is no feature '{id_[:64]}'")
    return _feature(row)


def features(db: Database, going: bool = True) -> list[Feature]:
    """Those that go on, and those that are being rolled back; or all."""
    return [_feature(row) for row in db.all(_GOING if going else f"{_FEATURE} ORDER BY features.id", (), _OF)]


def of_session(db: Database, session: int) -> tuple[Feature, str] | None:
    """The feature that the session serves, and as what."""
    row = db.maybe(OF_SESSION, (session,))
    if row is not None:
        return _feature(row), ""
    found = db.maybe(REVIEW_OF_SESSION, (session,))
    return None if found is None else (feature(db, found["feature"]), found["domain"])


def move(db: Database, id_: str, step: Step, actor: str, why: str, values: Mapping[str, Any]) -> Feature:
    """Let the step move it; what goes on is in lists again."""
    now = db.now()
    with db.write():
        before = feature(db, id_)
        stage, state = advance(before, step)
        after = dict(values) | {"stage": stage, "state": state}
        if step in (Step.RESUMED, Step.BEGUN_ANEW) or stage is not before.stage:
            after.setdefault("turn_at", now)
        if before.archived and state is State.ACTIVE:
            after["archived"] = False
        if step is Step.CHECKPOINT or (stage in PLANNED and before.stage not in PLANNED):
            after["replannings"] = before.replannings + 1
        _set(db, before, after, now)
        moved = feature(db, id_)
        if moved.has_turn and not before.has_turn:
            refuse_second(db, moved)
        told = {"step": step.value, "stage": stage.value, "state": state.value, "before": before.stage.value}
        told["was"] = before.state.value
        events.append(db, now, Kind.FEATURE_MOVED, id_, actor, told | {"reason": why[:500]})
        return moved


def change(db: Database, id_: str, values: Mapping[str, Any], actor: str) -> Feature:
    """Set fields that no step moves; title and description are set of its epic."""
    now = db.now()
    with db.write():
        before = feature(db, id_)
        texts = {name: value for name, value in values.items() if name in _OF_EPIC}
        if texts:
            edits.change(db, id_, texts, actor)
        _set(db, before, {name: value for name, value in values.items() if name not in _OF_EPIC}, now)
        said = sorted(name for name in values if name in _SAID and values[name] != getattr(before, name))
        if said:
            events.append(db, now, Kind.FEATURE_CHANGED, id_, actor, {"parts": said})
        return feature(db, id_)


def note(db: Database, id_: str, values: Mapping[str, Any], actor: str) -> Feature:
    """Set values of its data as it is now; None takes one away."""
    with db.write():
        data = {**feature(db, id_).data, **values}
        kept_values = {name: value for name, value in data.items() if value is not None}
        return change(db, id_, {"data": kept_values}, actor)


def _set(db: Database, before: Feature, values: Mapping[str, Any], now: float) -> None:
    unknown = set(values) - _FIELDS - {"stage", "state"}
    assert not unknown, f"a feature has no {', '.join(sorted(unknown))}"
    columns = _columns(values) | {"updated_at": now}
    names = ", ".join(f"{name} = ?" for name in columns)
    db.run(f"UPDATE features SET {names} WHERE id = ?", (*columns.values(), before.id))
    kept.keep(db, feature(db, before.id))


def keep_plan(db: Database, id_: str, beads: Sequence[Mapping[str, Any]], why: str, actor: str) -> PlanVersion:
    """Keep the plan's next version, unless it is as the last one."""
    now, text = db.now(), rows.as_json([dict(one) for one in beads])
    with db.write():
        before = feature(db, id_)
        last = db.maybe(_LAST, (id_,))
        if last is not None and last["beads"] == text:
            return _version(last)
        number = before.plan + 1
        made = {"feature": id_, "number": number, "at": now, "actor": actor, "why": why[:500], "beads": text}
        db.insert("plan_versions", made)
        _set(db, before, {"plan": number}, now)
        told = {"version": number, "beads": len(beads), "reason": why[:500]}
        events.append(db, now, Kind.PLAN_KEPT, id_, actor, told)
        return _version(db.one(_LAST, (id_,)))


def _version(row: Row) -> PlanVersion:
    return PlanVersion(**dict(row) | {"beads": tuple(json.loads(row["beads"]))})


def version(db: Database, id_: str, number: int | None = None) -> PlanVersion | None:
    """This version of its plan, or the last one; None: there is none."""
    this = "SELECT * FROM plan_versions WHERE feature = ? AND number = ?"
    row = db.maybe(_LAST, (id_,)) if number is None else db.maybe(this, (id_, number))
    return None if row is None else _version(row)


def versions(db: Database, id_: str) -> list[PlanVersion]:
    """All versions of its plan, oldest first."""
    found = db.all("SELECT * FROM plan_versions WHERE feature = ? ORDER BY number", (id_,))
    return [_version(row) for row in found]
