"""Ended attempts as lines: who worked, how it ended, what was left for the next one, and what a review found.

1. Words of agents and tools are without secrets, and bounded: a line is written for good.
2. The token is left out; of `data` is kept a review's journal, without its results where these are long, and the
   commits that an agent's work began on.
"""

import json
from collections.abc import Mapping
from typing import Any

from ..core.beads.attempt import Attempt, AttemptLog
from ..core.beads.bead import Role
from ..core.beads.outcomes import Outcome
from ..core.text.redaction import Redactor, secret_values
from ..environ import process_environment

ATTEMPT = "nobrakes_attempt"
BEGIN = f'{{"_type":"{ATTEMPT}",'
"""So a line of an attempt begins."""
MOST = 8000
"""Characters of one text, and of a review's journal."""

_PLAIN = (
    "id",
    "bead",
    "number",
    "name",
    "fence",
    "started_at",
    "agent",
    "base",
    "head",
    "ended_at",
    "provider",
    "model",
)
_COSTS = ("cost_usd", "tokens")
_BEGAN = ("start", "fork")
"""Of an agent's data: the commits that its work began on."""
_LONG = ("results", "before", "carried")


def record(one: Attempt) -> dict[str, Any]:
    """The attempt as a record; what is empty is left out."""
    values = secret_values(process_environment().items())

    def clean(text: str) -> str:
        return Redactor(values).feed(text)[:MOST] if text else ""

    made = {name: getattr(one, name) for name in (*_PLAIN, *_COSTS)}
    made |= {"role": one.role.value, "outcome": one.outcome.value if one.outcome else None}
    made |= {"detail": clean(one.detail), "summary": clean(one.log.summary), "blockers": clean(one.log.blockers)}
    made |= {"learnings": clean(one.log.learnings), "dropped": not one.log.keep_branch}
    if one.role is Role.REVIEWER:
        made["review"] = _review(one.data, values)
    else:
        made["began"] = {name: str(one.data[name])[:64] for name in _BEGAN if one.data.get(name)}
    return {
        "_type": ATTEMPT,
        **{name: value for name, value in made.items() if value not in (None, "", 0, 0.0, False, {})},
    }


def _review(data: Mapping[str, Any], values: frozenset[str]) -> dict[str, Any]:
    for kept in (data, {name: value for name, value in data.items() if name not in _LONG}):
        text = Redactor(values).feed(json.dumps(kept, ensure_ascii=False))
        if len(text) <= MOST:
            try:
                found: dict[str, Any] = json.loads(text)
            except ValueError:  # a secret was half of an escape
                continue
            return found
    return {}


def read(value: Mapping[str, Any]) -> Attempt:
    """The attempt of a record; KeyError, ValueError, TypeError: it is none."""
    plain: dict[str, Any] = {name: value[name] for name in _PLAIN if name in value}
    summary, blockers, learnings = (str(value.get(name) or "")[:MOST] for name in ("summary", "blockers", "learnings"))
    return Attempt(
        **{
            **plain,
            "id": int(value.get("id") or 0),
            "number": int(value["number"]),
            "fence": int(value.get("fence") or 0),
        },
        role=Role(value["role"]),
        token="",
        outcome=Outcome(value["outcome"]),
        detail=str(value.get("detail") or "")[:MOST],
        log=AttemptLog(summary, blockers, learnings, not value.get("dropped")),
        data=dict(value.get("review") or value.get("began") or {}),
        cost_usd=float(value.get("cost_usd") or 0.0),
        tokens=int(value.get("tokens") or 0),
    )


def of_evidence(bead: str, row: Mapping[str, Any]) -> Attempt | None:
    """The attempt as a record of evidence tells of it, which is no number of the store's; None: it had not ended."""
    if not row.get("outcome") or row.get("seconds") is None:
        return None
    return read({**row, "bead": bead, "ended_at": float(row["started_at"]) + float(row["seconds"])})
