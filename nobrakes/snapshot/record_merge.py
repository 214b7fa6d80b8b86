"""Beads JSONL, merged three-way: the rules of git's merge driver and of `sync beads`.

1. Records are matched by id and merged key by key. A key that one side changed gets that side's value.
2. Of two changed statuses a closed one wins, else the later; what closed a bead goes with it. Lists are sets, and no
   comment is dropped. Of two times the later counts, of two creations the earlier, of two priorities the more urgent.
3. A tombstone wins over a bead, unless the bead changed 30 days after it, as in Beads. A record that is missing on one
   side and changed on the other is kept.
4. Texts and other tools' values that both sides changed are conflicts.
5. What did not change keeps its line, byte by byte; other lines are kept like the members of a set.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..errors import PlanError
from ..records import frozen
from .reader import CLOSED_WORDS, MARKERS, TOMBSTONE, decoded, marked, moment, repeated

Record = dict[str, Any]
TOMBSTONE_SECONDS = 30 * 86400.0 + 3600.0  # as long as in Beads, with an hour for clocks that differ
_LATER_WORDS = """status issue_type assignee owner parent content_hash source_repo dependency_count dependent_count
comment_count close_reason closed_by_session deleted_by delete_reason original_type updated_by"""
_BY_LATER = frozenset(_LATER_WORDS.split())
OWN = "x_nobrakes"
_NOTHING: tuple[Any, ...] = (None, "", [], {})
_CLOSING = ("status", "closed_at", "close_reason", "closed_by_session", f"{OWN}.status", f"{OWN}.merged_commit")
Change = tuple[str, str, Any, Any]  # a record's id, a key, and both values


@dataclass
class Lines:
    """A file's lines by key: a record's id, or a text that is not an id. `twice`: told of each key in two lines."""

    texts: dict[str, str] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)


def lines_of(text: str, where: str) -> Lines:
    """PlanError names every line with a conflict marker."""
    found = Lines()
    if numbers := [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(MARKERS)]:
        raise marked(where, numbers)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        value = None
        with suppress(ValueError, RecursionError):
            value = decoded(line)
        record = value if isinstance(value, dict) else {}
        is_named = isinstance(record.get("key"), str)
        key = f"\n{record.get('_type')} {record['key']}" if is_named else f"\n{line}"  # no id has a line break
        key = record["id"] if isinstance(record.get("id"), str) else key
        if key in found.texts:
            found.twice.append(repeated(number, key.strip()[:80]))
        found.texts[key] = line
        if record:
            found.records[key] = record
    return found


@frozen
class Merged:
    """`lines`: each key's text, or two where they conflict."""

    lines: Mapping[str, tuple[str, ...]]
    conflicts: tuple[Change, ...]

    def text(self) -> str:
        """With git's conflict markers around the two lines of a conflict."""
        marked = "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n"
        return "".join((marked if len(one) == 2 else "{}\n").format(*one) for one in self.lines.values())


def merge_texts(base: str, ours: str, theirs: str, where: str) -> Merged:
    """The merged file. What a person has to merge first is a conflict of both files as they are."""
    try:
        return merge(
            lines_of(base, f"base {where}"), lines_of(ours, f"our {where}"), lines_of(theirs, f"their {where}")
        )
    except PlanError as error:
        return Merged({"": (ours.removesuffix("\n"), theirs.removesuffix("\n"))}, ((where, str(error), "", ""),))


def merge(base: Lines, ours: Lines, theirs: Lines) -> Merged:
    """Every line of both sides that neither removed: by id if both are, else new ones of theirs at their places."""
    found: dict[str, tuple[str, ...]] = {}
    conflicts: list[Change] = []
    keys = spliced(list(ours.texts), list(theirs.texts))
    for key in sorted(keys) if all(list(one.texts) == sorted(one.texts) for one in (ours, theirs)) else keys:
        texts = [one.texts[key] for one in (ours, theirs) if key in one.texts]
        sides = [one.records[key] for one in (ours, theirs) if key in one.records]
        before = base.records.get(key, {})
        is_kept = key not in base.texts or (bool(sides) and not same(before, sides[0]))
        if is_kept if len(texts) == 1 else texts[0] == texts[1] or len(sides) < 2:
            found[key] = (texts[0],)
        elif len(texts) == 2:
            mine, other, open_ = merge_record(before, *sides)
            conflicts += open_
            made = [mine, other] if open_ else [mine]
            known = [*zip(sides, texts, strict=True)]
            found[key] = tuple(next((text for record, text in known if record == one), line(one)) for one in made)
    return Merged(found, tuple(conflicts))


def line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def spliced(first: list[str], second: Iterable[str]) -> list[str]:
    """The first list, with each member that only the second has behind the one that it follows there."""
    known, behind, last = set(first), dict[str, list[str]](), ""
    for name in second:
        if name in known:
            last = name
        else:
            behind.setdefault(last, []).append(name)
    return [*behind.get("", ()), *(one for name in first for one in (name, *behind.get(name, ())))]


def merge_record(base: Record, ours: Record, theirs: Record) -> tuple[Record, Record, list[Change]]:
    """One bead of both sides, key by key; with conflicts, once with each side's value of their keys."""
    buried = [one for one in (ours, theirs) if one.get("status") == TOMBSTONE]
    if buried:
        wins = max(buried, key=lambda one: (seconds(one.get("deleted_at")), line(one)))
        alive = next((one for one in (ours, theirs) if one.get("status") != TOMBSTONE), {})
        if 0 < seconds(wins.get("deleted_at")) < seconds(alive.get("updated_at")) - TOMBSTONE_SECONDS:
            wins = alive
        return wins, wins, []
    made = _Merging(base, ours, theirs)
    return *made.record(base, ours, theirs), made.conflicts


class _Merging:
    """One record being merged. `is_ours_later`: which side changed last; `closing`: the side whose status counts."""

    def __init__(self, base: Record, ours: Record, theirs: Record) -> None:
        self.id = str(ours.get("id"))
        self.conflicts: list[Change] = []
        times = [(seconds(one.get("updated_at")), line(one)) for one in (ours, theirs)]
        self.is_ours_later = times[0] > times[1]  # of two that are equally old both orders give the same one
        self.closing = self._closing(base, ours, theirs)
        self.has_own = OWN in ours and OWN in theirs

    def record(self, base: Record, ours: Record, theirs: Record, path: str = "") -> tuple[Record, Record]:
        first: Record = {}
        second: Record = {}
        for key in spliced(list(ours), list(theirs)):
            old, mine, other = base.get(key), ours.get(key), theirs.get(key)
            pair = ours, ours
            if self.closing is not None and f"{path}{key}" in _CLOSING:
                pair = (ours, ours) if self.closing else (theirs, theirs)
            elif mine == old or (same(mine, old) and not same(other, old)):
                pair = theirs, theirs
            elif not (same(mine, other) or same(other, old)):
                values = self._decided(key, path, old, mine, other)
                pair = {key: values[0]}, {key: values[1]}
            for made, one in zip((first, second), pair, strict=True):
                if key in one and (one[key] is not None or one is ours or one is theirs):
                    made[key] = one[key]
        return first, second

    def _closing(self, base: Record, ours: Record, theirs: Record) -> bool | None:
        """Whose status counts, with all that belongs to it; None: both have the same."""
        old, mine, other = (_status(one) for one in (base, ours, theirs))
        if mine == other:
            return None
        if old in (mine, other):
            return other == old
        closed = [one[0] in CLOSED_WORDS for one in (mine, other)]
        return self.is_ours_later if closed[0] == closed[1] else closed[0]

    def _decided(self, key: str, path: str, old: Any, mine: Any, other: Any) -> tuple[Any, Any]:
        chosen: Any
        kinds = [value for value in (mine, other) if value is not None]
        if all(isinstance(value, dict) for value in kinds):
            return self.record(old if isinstance(old, dict) else {}, mine or {}, other or {}, f"{path}{key}.")
        if all(isinstance(value, list) for value in kinds):
            chosen = merge_set(key, *(value if isinstance(value, list) else [] for value in (old, mine, other)))
        elif key == "acceptance_criteria" and self.has_own:
            split = (str(value or "").split("\n") for value in (old, mine, other))
            chosen = "\n".join(part for part in merge_set(key, *split) if part)
        elif key == "priority" and all(type(value) is int for value in (mine, other)):
            chosen = min(mine, other)
        elif (key.endswith("_at") or key in ("defer_until", "last_activity")) and any(map(seconds, kinds)):
            later = seconds(mine) >= seconds(other)
            chosen = mine if later is not (key == "created_at") else other
            chosen = chosen if seconds(chosen) else mine or other
        elif key in _BY_LATER or path.startswith(f"{OWN}."):
            chosen = mine if self.is_ours_later else other
        else:
            self.conflicts.append((self.id, f"{path}{key}", mine, other))
            return mine, other
        return chosen, chosen


def _status(one: Record) -> tuple[str, str]:
    own = one.get(OWN)
    return str(one.get("status") or "open"), str(own.get("status") or "") if isinstance(own, dict) else ""


def seconds(value: Any) -> float:
    """0: no time."""
    with suppress(ValueError, OverflowError):
        return moment(value)
    return 0.0


def same(first: Any, second: Any) -> bool:
    """Whether the values say the same: nothing and an empty value do, and so do two spellings of a moment."""
    if first == second:
        return isinstance(first, bool) is isinstance(second, bool)
    if first in _NOTHING and second in _NOTHING:
        return True
    if isinstance(first, str) and isinstance(second, str) and first[:4].isdigit() and second[:4].isdigit():
        return bool(seconds(first)) and seconds(first) == seconds(second)
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return all(same(*pair) for pair in zip(first, second, strict=True))
    is_record = isinstance(first, dict) and isinstance(second, dict)
    return is_record and all(same(first.get(key), second.get(key)) for key in {**first, **second})


def merge_set(key: str, old: list[Any], mine: list[Any], other: list[Any]) -> list[Any]:
    """The members that neither side removed; a comment stays."""

    def name(value: Any) -> str:
        if not isinstance(value, dict) or key not in ("dependencies", "comments"):
            return json.dumps(value, sort_keys=True)
        if key == "dependencies":
            return line([value.get("depends_on_id"), value.get("type") or "blocks"])
        return line([value.get("author"), value.get("text"), seconds(value.get("created_at"))])

    before, first, second = ({name(value): value for value in values} for values in (old, mine, other))
    found = []
    for one in spliced(list(first), list(second)):
        if one in first and one in second:
            changed = [each[one] for each in (first, second) if not same(each[one], before.get(one))]
            found.append(max(changed or [first[one]], key=lambda value: (len(line(value)), line(value))))
        elif one not in before or key == "comments":
            found.append(first.get(one, second.get(one)))
    return found
