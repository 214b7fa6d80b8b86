"""Beads JSONL, out: the snapshot `.nobrakes/beads.jsonl`, one record a line, sorted by id.

1. The same graph gives the same bytes. Reading what was written and writing it again gives the same bytes.
2. Beads' own fields mean what they mean there; what Beads has no field for is under `x_nobrakes`.
3. What is being worked on is written as waiting for it: attempts live in the database, work in refs/nobrakes/.
4. Keys of other tools that came in (`interop.reader` keeps them in metadata) go out unchanged.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from ..core.beads.bead import Bead, BeadType, Dependency, DependencyType, Status, parse_type
from ..core.beads.branches import PATTERN, named
from ..core.beads.imported import KEPT
from ..core.beads.lifecycle import returns_to
from .reader import Imported, parse, parse_lines
from .words import TYPE_WORDS, status_word, written

__all__ = ["Imported", "dump", "line", "parse", "parse_lines", "record"]

Record = dict[str, Any]


def resting(bead: Bead) -> Status:
    """The status that a rebuilt database gives the bead: nobody works on it, nothing is escalated."""
    if bead.status is Status.ESCALATED:
        return bead.return_to or returns_to(bead.status)
    return returns_to(bead.status)


def _own(bead: Bead) -> Record:
    """What Beads has no field for; defaults are left out."""
    own: Record = {"status": resting(bead).value}
    if bead.type in _INEXACT:
        own["type"] = bead.type.value
    lines = bead.acceptance
    if lines and (len(lines) > 1 or any(line.splitlines() != [line] or line != line.strip() for line in lines)):
        own["acceptance"] = list(lines)
    if not bead.needs_tests:
        own["needs_tests"] = False
    if bead.scaffolding:
        own["scaffolding"] = True
    if bead.touches:
        own["touches"] = list(bead.touches)
    if bead.held is not None:
        own["held"] = bead.held
    if bead.failures:
        own["failures"] = bead.failures
    if bead.merged_commit:
        own["merged_commit"] = bead.merged_commit
    if bead.branch and bead.branch != named(bead, PATTERN):
        own["branch"] = bead.branch
    if bead.branch_kept:
        own["branch_kept"] = True
    if bead.proposed:
        own["proposed"] = _sorted(bead.proposed)
    return own


def _sorted(value: Any) -> Any:
    """JSON values with the keys of every object in order: a store may give them in another."""
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list | tuple) else value


def _is_kept(value: Any) -> bool:
    """Whether it is what an import kept; anything else under that key is the metadata's own."""
    return bool(value) and isinstance(value, Mapping) and isinstance(value.get("dependencies", []), list)


def record(bead: Bead, dependencies: Iterable[Dependency]) -> Record:
    """One bead with what it depends on, in Beads' format. Keys are in a fixed order."""
    metadata = _sorted(bead.metadata) if bead.metadata else {}
    kept: Mapping[str, Any] = metadata.pop(KEPT) if _is_kept(metadata.get(KEPT)) else {}
    edges = {(needs, _EDGE_WORDS[type_]) for _, needs, type_ in dependencies}
    if bead.epic:
        edges.add((bead.epic, DependencyType.PARENT_CHILD.value))
    written_edges = [{"issue_id": bead.id, "depends_on_id": needs, "type": type_} for needs, type_ in sorted(edges)]
    made: Record = {"id": bead.id, "title": bead.title}
    # what is empty is left out; by hand, since whole plans are written after they came in
    if bead.description:
        made["description"] = bead.description
    if acceptance := "\n".join(bead.acceptance):
        made["acceptance_criteria"] = acceptance
    if bead.notes:
        made["notes"] = bead.notes
    made |= {"status": status_word(bead), "priority": bead.priority, "issue_type": _WORDS[bead.type]}
    if bead.assignee:
        made["assignee"] = bead.assignee
    if bead.estimate is not None:
        made["estimated_minutes"] = bead.estimate
    if bead.labels:
        made["labels"] = list(bead.labels)
    if written_edges or kept.get("dependencies"):
        made["dependencies"] = written_edges + list(kept.get("dependencies", ()))
    made |= {"created_at": written(bead.created_at), "updated_at": written(bead.updated_at)}
    if bead.closed_at is not None:
        made["closed_at"] = written(bead.closed_at)
    if bead.close_reason:
        made["close_reason"] = bead.close_reason
    if bead.defer_until is not None:
        made["defer_until"] = written(bead.defer_until)
    if metadata:
        made["metadata"] = metadata
    for key in sorted(kept):
        made.setdefault(key, kept[key])
    made["x_nobrakes"] = _own(bead)
    return made


_EDGE_WORDS = {type_: type_.value for type_ in DependencyType}
_WORDS = {type_: TYPE_WORDS.get(type_, type_.value) for type_ in BeadType}
_INEXACT = frozenset(type_ for type_, word in _WORDS.items() if parse_type(word) is not type_)
"""The types that Beads' word does not tell."""


def _encoder() -> Callable[[Any], str]:
    """Compact JSON; in CPython by an encoder that is made once, which takes two thirds of the time."""
    make = getattr(json.encoder, "c_make_encoder", None)
    plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    if make is None:
        return plain.encode
    chunks = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", False, False, True)
    return lambda value: "".join(chunks(value, 0))


_encode = _encoder()


def line(bead: Bead, dependencies: Iterable[Dependency]) -> str:
    """One bead's line, without its end; it begins with the id."""
    return _encode(record(bead, dependencies))


def dump(beads: Iterable[Bead], dependencies: Iterable[Dependency]) -> str:
    """These beads, each with what it waits for, one record a line, sorted by id."""
    of: dict[str, list[Dependency]] = {}
    for dependency in dependencies:
        of.setdefault(dependency[0], []).append(dependency)
    lines = [line(bead, of.get(bead.id, ())) for bead in sorted(beads, key=attrgetter("id"))]
    return "\n".join([*lines, ""])


assert set(TYPE_WORDS) < set(BeadType)
