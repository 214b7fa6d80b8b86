"""Reviews of plans, what they found, and what is collected for checkpoints. Each is one transaction with its event."""

import json
from collections.abc import Collection
from typing import Any

from ...core.beads.events import Kind
from ...core.errors import NobrakesError, NotAllowed
from ...core.forge.feature import Finding, FindingState, Item, ItemKind, ItemState, PlanReview, ReviewState
from ...core.forge.rounds import ACCEPT_RISK, decision
from .. import events, rows
from ..database import Database, Row
from ..sessions import conversations
from .features import feature

DISMISSED = "dismiss"
"""How a person says that nothing is to be done about a question (core.beads.deciding)."""


def begin(db: Database, id_: str, round_: int, domain: str, session: int | None) -> PlanReview:
    """A reviewer begins to look at the plan's last version."""
    now = db.now()
    with db.write():
        one = feature(db, id_)
        if any(found.domain == domain for found in reviews(db, id_, round_)):
            raise NotAllowed(
                f"round {round_} of feature {id_} has its reviewer for {domain} already",
                f"`nobrakes forge show {id_}` shows the reviews.",
            )
        values = {"feature": id_, "round": round_, "domain": domain, "plan": one.plan, "session": session}
        state = ReviewState.RUNNING.value
        db.insert("plan_reviews", values | {"state": state, "started_at": now, "detail": ""})
        told = {"round": round_, "domain": domain, "version": one.plan, "session": session}
        events.append(db, now, Kind.PLAN_REVIEW_BEGAN, id_, "nobrakes", told)
        return next(found for found in reviews(db, id_, round_) if found.domain == domain)


def end(db: Database, id_: str, round_: int, domain: str, state: ReviewState, detail: str) -> bool:
    """The reviewer ended."""
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
        events.append(db, now, Kind.PLAN_REVIEW_ENDED, id_, "nobrakes", told)
        return True


def reviews(db: Database, id_: str, round_: int | None = None) -> list[PlanReview]:
    """Its reviews, by round and domain."""
    where, values = ("", (id_,)) if round_ is None else (" AND round = ?", (id_, round_))
    found = db.all(f"SELECT * FROM plan_reviews WHERE feature = ?{where} ORDER BY round, domain", values)
    return [PlanReview(**dict(row) | {"state": ReviewState(row["state"])}) for row in found]


def add_finding(db: Database, new: Finding) -> Finding:
    """Keep what a reviewer found."""
    now = db.now()
    with db.write():
        names = (
            "feature",
            "round",
            "domain",
            "category",
            "priority",
            "issue",
            "impact",
            "bead",
            "escalation",
            "answer",
        )
        values: dict[str, Any] = {name: getattr(new, name) for name in names}
        made = db.insert("findings", values | {"options": rows.as_json(list(new.options)), "state": new.state.value})
        told = {"finding": made, "round": new.round, "domain": new.domain, "category": new.category}
        told |= {"priority": new.priority, "issue": new.issue[:500], "at_bead": new.bead}
        events.append(db, now, Kind.FINDING_MADE, new.feature, "nobrakes", told)
        return _finding(db.one("SELECT * FROM findings WHERE id = ?", (made,)))


def ask_of(db: Database, finding: int, escalation: int) -> None:
    """Note the question that was asked about it."""
    with db.write():
        db.run("UPDATE findings SET escalation = ? WHERE id = ?", (escalation, finding))


def settle_finding(db: Database, finding: int, state: FindingState, answer: str, actor: str) -> bool:
    """Decide it."""
    now = db.now()
    with db.write():
        row = db.maybe("SELECT * FROM findings WHERE id = ?", (finding,))
        if row is None:
            raise NobrakesError(f"there is no finding {finding}", "`nobrakes forge show FEATURE` lists them.")
        decided = "UPDATE findings SET state = ?, answer = ? WHERE id = ? AND state = 'open'"
        if not db.run(decided, (state.value, answer[:8000], finding)):
            return False
        told = {"finding": finding, "state": state.value, "answer": answer[:500]}
        events.append(db, now, Kind.FINDING_SETTLED, row["feature"], actor, told)
        return True


def decided(db: Database, escalation: int, said: str, actor: str) -> None:
    """A question about findings was decided: so are they. In the caller's transaction; UsageError: no reason."""
    for one in _asked(db, escalation):
        word, _, note = said.partition(":")
        words = f"{ACCEPT_RISK}: {note}" if word == DISMISSED else said
        state, answer = decision(one, words)
        settle_finding(db, one.id, state, answer, actor)


def told(db: Database, escalation: int, said: str) -> str:
    """What the Shaper is told of the decision; empty: the question was about no finding."""
    row = db.maybe("SELECT * FROM findings WHERE escalation = ? ORDER BY id LIMIT 1", (escalation,))
    if row is None:
        return ""
    about = f" of bead {row['bead']}" if row["bead"] else ""
    return (
        f"A review of the plan found{about}: {row['issue']}\nIts impact: {row['impact']}\nA person decided: {said}\n"
        "Change the plan by it where that is needed, then say that the plan is whole again."
    )


def close_questions(db: Database, id_: str, why: str) -> int:
    """The questions about the feature's findings are over, and nobody is told; how many were open."""
    now = db.now()
    with db.write():
        asked = "SELECT escalation FROM findings WHERE feature = ? AND escalation IS NOT NULL"
        open_ = f"SELECT id, session FROM escalations WHERE id IN ({asked}) AND resolved_at IS NULL"
        found = db.all(open_, (id_,))
        for row in found:
            db.run("UPDATE escalations SET resolved_at = ?, resolution = ? WHERE id = ?", (now, why[:2000], row["id"]))
        for session in sorted({row["session"] for row in found if row["session"] is not None}):
            conversations.settled(db, session)
        return len(found)


def reopen(db: Database, escalation: int) -> None:
    """The answer was taken back: what it decided is open again. In the caller's transaction."""
    db.run("UPDATE findings SET state = 'open', answer = '' WHERE escalation = ?", (escalation,))


def _asked(db: Database, escalation: int) -> list[Finding]:
    sql = "SELECT * FROM findings WHERE escalation = ? AND state = 'open' ORDER BY id"
    return [_finding(row) for row in db.all(sql, (escalation,))]


def findings(db: Database, id_: str, round_: int | None = None) -> list[Finding]:
    """What was found, by id."""
    where, values = ("", (id_,)) if round_ is None else (" AND round = ?", (id_, round_))
    return [_finding(row) for row in db.all(f"SELECT * FROM findings WHERE feature = ?{where} ORDER BY id", values)]


def _finding(row: Row) -> Finding:
    read = {"options": tuple(json.loads(row["options"])), "state": FindingState(row["state"])}
    return Finding(**dict(row) | read)


def collect(
    db: Database,
    id_: str,
    kind: ItemKind,
    text: str,
    actor: str,
    *,
    file: str,
    line: int,
    bead: str | None,
    blocks: bool,
    nth: int = 1,
) -> Item | None:
    """Collect it, unless it was collected before: at the same place with the same words."""
    now = db.now()
    words = " ".join(text.split())[:2000]
    place = f"{file}\0{words}" if file else f"{kind.value}\0{words}"
    place += f"\0{nth}" if nth > 1 else ""
    with db.write():
        feature(db, id_)
        if db.maybe("SELECT 1 FROM items WHERE feature = ? AND place = ?", (id_, place)) is not None:
            return None
        values: dict[str, Any] = {"feature": id_, "kind": kind.value, "text": words, "file": file, "line": line}
        values |= {"bead": bead, "blocks": blocks, "state": ItemState.WAITING.value, "at": now, "place": place}
        made = db.insert("items", values)
        told = {"item": made, "kind": kind.value, "text": words[:500], "file": file, "line": line, "at_bead": bead}
        events.append(db, now, Kind.ITEM_COLLECTED, id_, actor, told)
        return _item(db.one("SELECT * FROM items WHERE id = ?", (made,)))


def items(db: Database, id_: str) -> list[Item]:
    """What was collected, by id."""
    return [_item(row) for row in db.all("SELECT * FROM items WHERE feature = ? ORDER BY id", (id_,))]


def _item(row: Row) -> Item:
    values = {name: value for name, value in dict(row).items() if name != "place"}
    read = {"kind": ItemKind(row["kind"]), "state": ItemState(row["state"]), "blocks": bool(row["blocks"])}
    return Item(**values | read)


def settle_items(db: Database, chosen: Collection[int], state: ItemState, actor: str) -> int:
    """Set the state of those that wait."""
    now, settled = db.now(), 0
    with db.write():
        for number in sorted(chosen):
            row = db.maybe("SELECT feature FROM items WHERE id = ? AND state = 'waiting'", (number,))
            if row is None:
                continue
            db.run("UPDATE items SET state = ? WHERE id = ?", (state.value, number))
            events.append(db, now, Kind.ITEM_SETTLED, row["feature"], actor, {"item": number, "state": state.value})
            settled += 1
        return settled
