"""Beads JSONL, out: the snapshot `.nobrakes/beads.jsonl`, one record a line, sorted by id.

1. The same graph gives the same bytes, also after reading them back.
2. Beads' own fields keep their meaning; other fields are under `x_nobrakes`.
3. What is being worked on is written as waiting: attempts are in the database, work in refs/nobrakes/.
4. Other tools' keys (kept in metadata by `snapshot.reader`) are written unchanged.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from ..beads.branches import PATTERN, named
from ..beads.lifecycle import returns_to
from ..beads.model import ADDED, Attempt, Bead, BeadRow, BeadType, DependencyType, Role, Status, differing, parse_type
from ..beads.progress import KEPT
from ..decisions.model import Escalation
from ..events.kinds import Changes, mark
from ..paths import process_environment
from ..records import as_values

Record = dict[str, Any]
MANY = 4096

TYPE_WORDS: Mapping[BeadType, str] = {
    BeadType.FIX: "bug",
    BeadType.DOCS: "task",
    BeadType.TEST: "task",
    BeadType.REFACTOR: "task",
    BeadType.REPAIR: "bug",
}
"""Types for which Beads has another word, or none."""

STATUS_WORDS: Mapping[Status, str] = {
    Status.DRAFT: "deferred",
    Status.OPEN: "open",
    Status.NEEDS_TESTS: "open",
    Status.WRITING_TESTS: "in_progress",
    Status.NEEDS_DOER: "open",
    Status.DOING: "in_progress",
    Status.NEEDS_REVIEW: "in_progress",
    Status.REVIEWING: "in_progress",
    Status.LANDED: "in_progress",
    Status.DONE: "closed",
    Status.ESCALATED: "blocked",
    Status.CANCELLED: "closed",
}
"""Drafts are written as deferred, so that other tools leave them."""


def status_word(bead: Bead) -> str:
    word = STATUS_WORDS[bead.status]
    return "deferred" if word == "open" and bead.held is not None else word


def written(moment: float) -> str:
    """ISO 8601 in UTC, with microseconds if any."""
    second, rest = divmod(round(moment * 1e6), 1_000_000)
    return f"{_second(second)}.{rest:06}Z" if rest else f"{_second(second)}Z"


@lru_cache(256)  # beads that came in together have the same second
def _second(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat().removesuffix("+00:00")


def resting(bead: Bead) -> Status:
    """A rebuilt database's status: no one works, nothing is escalated."""
    if bead.status is Status.ESCALATED:
        return bead.return_to or returns_to(bead.status)
    return returns_to(bead.status)


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _is_stored(value: Any) -> bool:
    """Whether an import stored it; anything else is the metadata's own."""
    return bool(value) and isinstance(value, Mapping) and isinstance(value.get("dependencies", []), list)


_PARENT = DependencyType.PARENT_CHILD.value
_TYPE = '","type":"'
_TYPE_NAMES = {type_: TYPE_WORDS.get(type_, type_.value) for type_ in BeadType}
_INEXACT = frozenset(type_ for type_, word in _TYPE_NAMES.items() if parse_type(word) is not type_)


def _encoder() -> Callable[[Any], str]:
    make = getattr(json.encoder, "c_make_encoder", None)
    plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    if make is None:
        return plain.encode
    chunks = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(chunks(value, 0))


_encode = _encoder()
_quoted = json.encoder.encode_basestring
_PARTS = (
    *("status", "held", "priority", "type", "assignee", "closed_at", "close_reason", "defer_until", "return_to"),
    *("needs_tests", "scaffolding", "touches", "failures", "merged_commit"),
)
_get_parts = attrgetter(*_PARTS)


@lru_cache(1024)  # beads that came in together are alike in all of this, and whole graphs are written
def _parts(*values: Any) -> tuple[str, str, str, str]:
    """The written parts of _PARTS: beside the texts, after the times, and two of our own, before the acceptance and the
    branch. Empty and default values are left out."""
    bead = Bead("", "", **dict(zip(_PARTS, values, strict=True)))
    state: Record = {"status": status_word(bead), "priority": bead.priority, "issue_type": _TYPE_NAMES[bead.type]}
    if bead.assignee:
        state["assignee"] = bead.assignee
    ended: Record = {}
    if bead.closed_at is not None:
        ended["closed_at"] = written(bead.closed_at)
    if bead.close_reason:
        ended["close_reason"] = bead.close_reason
    if bead.defer_until is not None:
        ended["defer_until"] = written(bead.defer_until)
    own: Record = {"status": resting(bead).value}
    if bead.type in _INEXACT:
        own["type"] = bead.type.value
    return _inner(state), _inner(ended), _inner(own)[1:], _own(bead, _BEFORE)


_BEFORE = ("needs_tests", "scaffolding", "touches", "held", "failures", "merged_commit")
OURS = (*_BEFORE, "branch_kept", *ADDED)
"""Generic fields without a Beads field; the first come before the branch."""


def _own(bead: Bead, names: Iterable[str]) -> str:
    return _inner({name: _sorted(value) for name, value in differing(bead, names).items()})


def _inner(of: Mapping[str, Any]) -> str:
    return f",{_encode(of)[1:-1]}" if of else ""


class _Frame(NamedTuple):
    """A bead's parts besides texts and dependencies. `kept`: other tools'; `own`, `own_rest`: around the acceptance."""

    state: str
    epic: str | None
    after: str
    kept: Mapping[str, Any]
    own: str
    own_rest: str


def _frame_of(bead: Bead) -> _Frame:
    state, ended, own, own_rest = _parts(*_get_parts(bead))
    metadata = _sorted(bead.metadata) if bead.metadata else {}
    kept = metadata.pop(KEPT) if metadata and _is_stored(metadata.get(KEPT)) else _NOTHING
    if metadata:
        ended += f',"metadata":{_encode(metadata)}'
    if bead.branch and bead.branch != named(bead, PATTERN):
        own_rest += f',"branch":{_quoted(bead.branch)}'
    own_rest += _own(bead, ("branch_kept", "proposed", *ADDED))
    return _Frame(state, bead.epic, ended, kept, own, own_rest)


_NOTHING: Mapping[str, Any] = {}


def _line(bead: BeadRow, frame: _Frame) -> bytes:  # put together by hand: whole graphs are written
    id_, title, description, acceptance, notes, labels, estimate, created_at, updated_at, edges, _ = bead
    state, epic, after, kept, own, own_rest = frame
    text = f'{{"id":"{id_}","title":{_quoted(title)}'
    if description:
        text += f',"description":{_quoted(description)}'
    if acceptance and (shown := "\n".join(acceptance)):
        text += f',"acceptance_criteria":{_quoted(shown)}'
    if notes:
        text += f',"notes":{_quoted(notes)}'
    text += state
    if estimate is not None:
        text += f',"estimated_minutes":{estimate}'
    if labels != "[]":
        text += f',"labels":{labels}'
    if edges or epic or kept:
        text += _dependencies(id_, edges, epic, kept.get("dependencies", ()))
    created = written(created_at)
    updated = created if updated_at == created_at else written(updated_at)
    text += f',"created_at":"{created}","updated_at":"{updated}"{after}'
    if kept:
        there = json.loads(text + "}")
        text += _inner({key: kept[key] for key in sorted(kept) if key not in there and key != "x_nobrakes"})
    lines = f',"acceptance":{_encode(list(acceptance))}' if acceptance and not _is_one_line(acceptance) else ""
    return f'{text},"x_nobrakes":{{{own}{lines}{own_rest}}}}}'.encode()


def _dependencies(id_: str, edges: Sequence[str], epic: str | None, theirs: Sequence[Any]) -> str:
    every = {*edges, f"{epic} {_PARENT}"} if epic else edges
    found = [*map(_encode, theirs)]
    if every:
        # an id needs no quoting, and none of its characters comes before a space: sorted as by (id, type)
        begin = f'{{"issue_id":"{id_}","depends_on_id":"'
        own = f'"}},{begin}'.join(sorted(every)).replace(" ", _TYPE)
        found.insert(0, f'{begin}{own}"}}')
    return f',"dependencies":[{",".join(found)}]' if found else ""


def _is_one_line(acceptance: Sequence[str]) -> bool:
    """Whether the lines survive being joined to one text."""
    return (
        len(acceptance) == 1
        and acceptance[0].splitlines() == [acceptance[0]]
        and acceptance[0] == acceptance[0].strip()
    )


def dump(beads: Iterable[BeadRow]) -> bytes:
    """These beads with dependencies, one record a line by id: id first, keys in a fixed order, no empty values."""
    frames: dict[int, tuple[Bead, _Frame]] = {}  # by who it is, which stays here as long, so that no other one is it

    def lines() -> Iterator[bytes]:
        for bead in beads:
            like = bead.like
            if (known := frames.get(id(like))) is None:
                if len(frames) >= MANY:
                    frames.clear()
                known = frames[id(like)] = like, _frame_of(like)
            yield _line(bead, known[1])

    try:
        return b"\n".join([*sorted(lines()), b""])  # after an id comes what is before each of its signs
    finally:  # what reads them has a transaction, which is not left open by a line that cannot be made
        if isinstance(beads, Generator):
            beads.close()


assert set(TYPE_WORDS) < set(BeadType)

# Ended attempts as lines. Words of agents and tools are without secrets, and bounded: a line is written for good. The
# token is left out; of `data` stay a review's journal and the commits that an agent's work began on.
ATTEMPT = "nobrakes_attempt"
BEGIN = f'{{"_type":"{ATTEMPT}",'
MAX_TEXT = 8000

_OTHERWISE = frozenset(("role", "token", "outcome", "detail", "log", "data", "session", "provider_session"))
ATTEMPT_KEYS = tuple(name for name in Attempt.__dataclass_fields__ if name not in _OTHERWISE)
_BEGAN = ("start", "fork")
_LONG = ("results", "before", "carried")


def record(one: Attempt) -> dict[str, Any]:
    """The attempt without empty values."""
    from ..text.redaction import redact, secret_values  # its patterns cost, and most changes are of other things

    values = secret_values(process_environment().items())

    def clean(text: str) -> str:
        return redact(text, values)[:MAX_TEXT] if text else ""

    made = {name: getattr(one, name) for name in ATTEMPT_KEYS}
    made |= {"role": one.role.value, "outcome": one.outcome.value if one.outcome else None}
    made |= {"detail": clean(one.detail), "summary": clean(one.log.summary), "blockers": clean(one.log.blockers)}
    made |= {"learnings": clean(one.log.learnings), "dropped": not one.log.keep_branch}
    if one.role is Role.REVIEWER:
        made["review"] = _review(one.data, lambda text: redact(text, values))
    else:
        made["began"] = {name: str(one.data[name])[:64] for name in _BEGAN if one.data.get(name)}
    return {
        "_type": ATTEMPT,
        **{name: value for name, value in made.items() if value not in (None, "", 0, 0.0, False, {})},
    }


def _review(data: Mapping[str, Any], cleaned: Callable[[str], str]) -> dict[str, Any]:
    for kept in (data, {name: value for name, value in data.items() if name not in _LONG}):
        text = cleaned(json.dumps(kept, ensure_ascii=False))
        if len(text) <= MAX_TEXT:
            try:
                found: dict[str, Any] = json.loads(text)
            except ValueError:  # a secret was half of an escape
                continue
            return found
    return {}


# What changed since the snapshot, as lines; the last of each thing counts, and a mark (events.kinds) says up to
# which event nothing is missing.
ESCALATION = "nobrakes_escalation"
SETTINGS = "nobrakes_settings"

TEXTS = ("title", "detail", "target", "hypothesis", "resolution")
TIMESTAMPS = ("answered_at", "resolved_at", "read_at")


def _since_line(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def lines(changes: Changes) -> bytes:
    """The changes as lines, with their mark at the end."""
    out = [dump(changes.beads)]
    out += [_since_line(_escalation(one)) for one in changes.escalations]
    if changes.settings is not None:
        out.append(_since_line({"_type": SETTINGS, "settings": dict(sorted(changes.settings.items()))}))
    out += [_since_line(record(one)) for one in changes.attempts]
    out.append(mark(changes.upto).encode())
    return b"".join(out)


def _escalation(one: Escalation) -> dict[str, Any]:
    own = {name: value for name, value in as_values(one).items() if name not in ("attempt", "session", "behind")}
    made = {"_type": ESCALATION, **own, "evidence": dict(one.evidence), "form": dict(one.form or {})}
    return {name: value for name, value in made.items() if value is not None}
