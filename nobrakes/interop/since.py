"""What changed since the snapshot, as lines: beads, escalations, ended attempts, settings; the last of each counts.

1. A bead's line is its record in the snapshot's own format; the other lines have a `_type` of ours.
2. A mark (interop.marks) says up to which event nothing is missing.
3. A torn line is left out and told; whatever it was to say is written again, since its mark is missing.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.beads.attempt import Attempt
from ..core.beads.bead import Status
from ..core.beads.escalations import Escalation, EscalationType
from ..core.beads.forms import as_values, form
from ..core.errors import UsageError
from ..ports.store import Changes
from . import ended
from .beads import dump
from .marks import BEGIN, mark
from .reader import records

ESCALATION = "nobrakes_escalation"
SETTINGS = "nobrakes_settings"

_FIELDS = ("title", "detail", "target", "hypothesis", "resolution")
_MOMENTS = ("answered_at", "resolved_at", "read_at")


@dataclass
class Since:
    """What the lines say. `records`: bead -> its last record; `settings` None: no line tells of them."""

    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    escalations: dict[int, Escalation] = field(default_factory=dict)
    attempts: dict[int, Attempt] = field(default_factory=dict)
    settings: dict[str, str] | None = None
    notes: list[str] = field(default_factory=list)


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


def lines(changes: Changes) -> str:
    """The changes as lines, with their mark at the end."""
    out = [dump(changes.beads)]
    out += [_line(_escalation(one)) for one in changes.escalations]
    if changes.settings is not None:
        out.append(_line({"_type": SETTINGS, "settings": dict(sorted(changes.settings.items()))}))
    out += [_line(ended.record(one)) for one in changes.attempts]
    out.append(mark(changes.upto))
    return "".join(out)


def read(text: str, where: str) -> Since:
    """What the lines say; a line that cannot be read is told in `notes`."""
    found = Since()
    of_beads: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            kind = value.get("_type")
            if kind == ESCALATION:
                one = _read_escalation(value)
                found.escalations[one.id] = one
            elif kind == ended.ATTEMPT:
                attempt = ended.read(value)
                found.attempts[attempt.id] = attempt
            elif kind == SETTINGS:
                found.settings = {str(key): str(text) for key, text in value["settings"].items()}
            elif not line.startswith(BEGIN):
                of_beads.append(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UsageError):
            found.notes.append(f"{where}:{number}: the line is torn or damaged: left out")
    twice: list[str] = []
    found.records = {id_: raw for id_, (_, raw) in records("\n".join(of_beads), where, twice).items()}
    return found


def _escalation(one: Escalation) -> dict[str, Any]:
    made = {
        "_type": ESCALATION,
        "id": one.id,
        "type": one.type.value,
        "bead": one.bead,
        **{name: getattr(one, name) for name in _FIELDS},
        "evidence": dict(one.evidence),
        "created_at": one.created_at,
        "answer": one.answer,
        "form": dict(one.form or {}),
        "value": one.value,
        **{name: getattr(one, name) for name in _MOMENTS},
        "return_to": one.return_to.value if one.return_to else None,
    }
    return {name: value for name, value in made.items() if value is not None}


def _read_escalation(value: Mapping[str, Any]) -> Escalation:
    texts: dict[str, Any] = {name: str(value.get(name) or "") for name in _FIELDS}
    moments: dict[str, Any] = {name: value.get(name) for name in _MOMENTS}
    if "form" not in value:  # a line of a version that did not know who had read an answer: it is taken as read
        moments["read_at"] = moments["answered_at"]
    return Escalation(
        id=int(value["id"]),
        type=EscalationType(value["type"]),
        bead=value.get("bead"),
        evidence=dict(value.get("evidence") or {}),
        created_at=float(value.get("created_at") or 0.0),
        answer=value.get("answer"),
        form=as_values(form(value["form"])) if value.get("form") else None,
        value=value.get("value"),
        return_to=Status(value["return_to"]) if value.get("return_to") else None,
        **texts,
        **moments,
    )
