"""Beads JSONL, merged three-way: the rules of git's merge driver.

1. Records are matched by id and merged key by key. A key that one side changed gets that side's value.
2. Of two changed statuses a closed one wins, else the later; what closed a bead goes with it. Lists are sets, and no
   comment is dropped. Of two times the later counts, of two creations the earlier, of two priorities the more urgent.
3. A tombstone wins over a bead, unless the bead changed 30 days after it, as in Beads. A record that is missing on one
   side and changed on the other is kept.
4. Texts and other tools' values that both sides changed are conflicts.
5. What did not change keeps its line, byte by byte; other lines are kept like the members of a set.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import PlanError
from ..records import frozen
from .reader import CLOSED_WORDS, MARKERS, TOMBSTONE, marked, moment

Record = dict[str, Any]
TOMBSTONE_SECONDS = 30 * 86400.0 + 3600.0
"""How long a tombstone wins, with the hour that Beads allows for clocks that differ."""

_BY_LATER = frozenset(
    (
        *("issue_type", "assignee", "owner", "content_hash", "source_repo", "parent", "dependency_count"),
        *(
            "dependent_count",
            "comment_count",
            "deleted_by",
            "delete_reason",
            "original_type",
            "updated_by",
            "close_reason",
        ),
        *("closed_by_session", "status"),
    )
)
_CLOSING = ("closed_at", "close_reason", "closed_by_session")
_TIMES = frozenset(("defer_until", "last_activity", "ts"))
OWN = "x_nobrakes"


@frozen
class Conflict:
    """A key of a record that no rule decides, with both values."""

    id: str
    key: str
    ours: Any
    theirs: Any


@dataclass
class Lines:
    """A file's lines by key: a record's id, or a text that no id is. `numbers`: where each was; `twice`: ids that an
    earlier line had too (the last one counts)."""

    texts: dict[str, str] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    twice: list[str] = field(default_factory=list)


def lines_of(text: str, where: str) -> Lines:
    """PlanError names every line with a conflict marker."""
    found = Lines()
    if numbers := [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(MARKERS)]:
        raise marked(where, numbers)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        key = f"\n{line}"  # no id has a line break
        if isinstance(value, dict):
            if isinstance(value.get("id"), str):
                key = value["id"]
            elif isinstance(value.get("key"), str):
                key = f"\n{value.get('_type')} {value['key']}"
        if key in found.numbers:
            found.twice.append(f"{where}:{number}: {key.strip()[:80]} was already in line {found.numbers[key]}")
        found.texts[key], found.numbers[key] = line, number
        if isinstance(value, dict):
            found.records[key] = value
    return found


@frozen
class Merged:
    """`lines`: each key's text, or two where they conflict. `notes`: what was decided that a person may want to see."""

    lines: Mapping[str, tuple[str, ...]]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """With git's conflict markers around the two lines of a conflict."""
        return "".join(
            f"{one[0]}\n" if len(one) == 1 else f"<<<<<<< ours\n{one[0]}\n=======\n{one[1]}\n>>>>>>> theirs\n"
            for one in self.lines.values()
        )


def merge_texts(base: str, ours: str, theirs: str, where: str) -> Merged:
    """The merged file. What a person has to merge first is a conflict of both files as they are."""
    sides = {"base": base, "ours": ours, "theirs": theirs}
    try:
        return merge(*(lines_of(text, f"{side} {where}") for side, text in sides.items()))
    except PlanError as error:
        texts = ours.removesuffix("\n"), theirs.removesuffix("\n")
        return Merged({"": texts}, (Conflict(where, str(error), "", ""),))


def merge(base: Lines, ours: Lines, theirs: Lines) -> Merged:
    """Every line of both sides that neither removed."""
    found: dict[str, tuple[str, ...]] = {}
    conflicts: list[Conflict] = []
    notes: list[str] = []
    for key in _in_order(ours, theirs):
        ours_text, theirs_text, base_text = ours.texts.get(key), theirs.texts.get(key), base.texts.get(key)
        if ours_text is None or theirs_text is None:
            there = ours_text or theirs_text or ""
            before, now = base.records.get(key), (theirs if ours_text is None else ours).records.get(key)
            if base_text is None or (now is not None and before is not None and not _same_record(before, now)):
                found[key] = (there,)
                if base_text is not None:
                    notes.append(f"{key.strip()[:80]}: removed on one side, changed on the other, and therefore kept")
            continue
        mine, other, old = ours.records.get(key), theirs.records.get(key), base.records.get(key)
        is_buried = mine and other and TOMBSTONE in (mine.get("status"), other.get("status"))
        if (
            mine is None
            or other is None
            or _same_record(mine, other)
            or (base_text in (ours_text, theirs_text) and not is_buried)
        ):
            found[key] = (theirs_text if ours_text == base_text else ours_text,)
            continue
        one = merge_record(old or {}, mine, other)
        conflicts += one.conflicts
        made = [one.ours] if not one.conflicts else [one.ours, one.theirs]
        known = ((mine, ours_text), (other, theirs_text))
        found[key] = tuple(next((text for record, text in known if record == value), line(value)) for value in made)
    return Merged(found, tuple(conflicts), tuple(notes))


def line(record: Any) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def _in_order(ours: Lines, theirs: Lines) -> list[str]:
    """By id if both are; else ours, each new one of theirs behind the one that it follows there."""
    if all(list(one.texts) == sorted(one.texts) for one in (ours, theirs)):
        return sorted({**ours.texts, **theirs.texts})
    return spliced(list(ours.texts), list(theirs.texts))


def spliced(first: list[str], second: Iterable[str]) -> list[str]:
    """The first list, with each member that only the second has behind the one that it follows there."""
    known, behind, last = set(first), dict[str, list[str]](), ""
    for name in second:
        if name in known:
            last = name
        else:
            behind.setdefault(last, []).append(name)
    return [*behind.get("", ()), *(one for name in first for one in (name, *behind.get(name, ())))]


@dataclass
class MergedRecord:
    """The merged record; where there are conflicts, once with each side's value of their keys."""

    ours: Record
    theirs: Record
    conflicts: list[Conflict]


def merge_record(base: Record, ours: Record, theirs: Record) -> MergedRecord:
    """One bead of both sides, key by key."""
    buried = [one for one in (ours, theirs) if one.get("status") == TOMBSTONE]
    if len(buried) == 2:
        wins = max(buried, key=lambda one: (_time(one.get("deleted_at")), line(one)))
        return MergedRecord(wins, wins, [])
    if buried:
        alive = theirs if buried[0] is ours else ours
        ended = _time(buried[0].get("deleted_at"))
        wins = alive if 0 < ended < _time(alive.get("updated_at")) - TOMBSTONE_SECONDS else buried[0]
        return MergedRecord(wins, wins, [])
    made = _Merging(ours, theirs)
    first, second = made.record(base, ours, theirs)
    return MergedRecord(first, second, made.conflicts)


class _Merging:
    """One record being merged. `later`: which side was changed last; `closing`: whose status counts."""

    def __init__(self, ours: Record, theirs: Record) -> None:
        self.id = str(ours.get("id"))
        self.conflicts: list[Conflict] = []
        # of two that are equally old both orders give the same one
        self.is_ours_later = (_time(ours.get("updated_at")), line(ours)) > (
            _time(theirs.get("updated_at")),
            line(theirs),
        )
        self.is_ours_closing: bool | None = None
        self.has_own = OWN in ours and OWN in theirs

    def record(self, base: Record, ours: Record, theirs: Record, path: str = "") -> tuple[Record, Record]:
        if not path:
            self.is_ours_closing = self._closing(base, ours, theirs)
        first: Record = {}
        second: Record = {}
        for key in spliced(list(ours), list(theirs)):
            old, mine, other = base.get(key), ours.get(key), theirs.get(key)
            if self.is_ours_closing is not None and ((not path and key in _CLOSING) or (path, key) in _WITH_STATUS):
                values = (mine, mine) if self.is_ours_closing else (other, other)
            elif mine == old or (same(mine, old) and not same(other, old)):
                values = other, other
            elif same(mine, other) or same(other, old):
                values = mine, mine
            else:
                values = self._decided(key, path, old, mine, other)
            for made, value in zip((first, second), values, strict=True):
                if value is not None or (key in ours and key in theirs and mine is None is other):
                    made[key] = value
        return first, second

    def _closing(self, base: Record, ours: Record, theirs: Record) -> bool | None:
        """Whose status counts, with all that belongs to it; None: both have the same."""
        old, mine, other = (_status(one) for one in (base, ours, theirs))
        if mine == other:
            return None
        if other == old:
            return True
        if mine == old:
            return False
        closed = [one[0] in CLOSED_WORDS for one in (mine, other)]
        return self.is_ours_later if closed[0] == closed[1] else closed[0]

    def _decided(self, key: str, path: str, old: Any, mine: Any, other: Any) -> tuple[Any, Any]:
        chosen: Any
        kinds = [value for value in (mine, other) if value is not None]
        if all(isinstance(value, dict) for value in kinds):
            before = old if isinstance(old, dict) else {}
            return self.record(before, mine or {}, other or {}, f"{path}{key}.")
        if all(isinstance(value, list) for value in kinds):
            chosen = _set(key, *(value if isinstance(value, list) else [] for value in (old, mine, other)))
        elif key == "acceptance_criteria" and self.has_own:
            split = (str(value or "").split("\n") for value in (old, mine, other))
            chosen = "\n".join(part for part in _set(key, *split) if part)
        elif key == "priority" and all(type(value) is int for value in (mine, other)):
            chosen = min(mine, other)
        elif (key.endswith("_at") or key in _TIMES) and any(_time(value) for value in kinds):
            later = _time(mine) >= _time(other)
            chosen = mine if later is not (key == "created_at") else other
            chosen = chosen if _time(chosen) else mine or other
        elif key in _BY_LATER or path.startswith(f"{OWN}."):
            chosen = mine if self.is_ours_later else other
        else:
            self.conflicts.append(Conflict(self.id, f"{path}{key}", mine, other))
            return mine, other
        return chosen, chosen


_WITH_STATUS = frozenset((("", "status"), (f"{OWN}.", "status"), (f"{OWN}.", "merged_commit")))


def _status(one: Record) -> tuple[str, str]:
    own = one.get(OWN)
    return str(one.get("status") or "open"), str(own.get("status") or "") if isinstance(own, dict) else ""


def _time(value: Any) -> float:
    """0: no time."""
    try:
        return moment(value)
    except (ValueError, OverflowError):
        return 0.0


_EMPTY: tuple[Any, ...] = (None, "", [], {})


def same(first: Any, second: Any) -> bool:
    """Whether the values say the same: nothing and an empty value do, and so do two spellings of a moment."""
    if first == second:
        return isinstance(first, bool) is isinstance(second, bool)
    if first in _EMPTY and second in _EMPTY:
        return True
    if isinstance(first, str) and isinstance(second, str) and first[:4].isdigit() and second[:4].isdigit():
        return bool(_time(first)) and _time(first) == _time(second)
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        return all(same(*pair) for pair in zip(first, second, strict=True))
    if isinstance(first, dict) and isinstance(second, dict):
        return _same_record(first, second)
    return False


def _same_record(first: Record, second: Record) -> bool:
    return all(same(first.get(key), second.get(key)) for key in {**first, **second})


def _member(key: str) -> Callable[[Any], str]:
    """Which members of two lists are the same one."""

    def name(value: Any) -> str:
        if not isinstance(value, dict):
            return line(value)
        if key == "dependencies":
            return line([value.get("depends_on_id"), value.get("type") or "blocks"])
        if key == "comments":
            return line([value.get("author"), value.get("text"), _time(value.get("created_at"))])
        return line(dict(sorted(value.items())))

    return name


def _set(key: str, old: list[Any], mine: list[Any], other: list[Any]) -> list[Any]:
    name = _member(key)
    before, first, second = ({name(value): value for value in values} for values in (old, mine, other))

    def members() -> Iterator[Any]:
        for one in spliced(list(first), list(second)):
            if one in first and one in second:
                yield second[one] if same(first[one], before.get(one)) else first[one]
            elif one not in before or key == "comments":
                yield first.get(one, second.get(one))

    return list(members())
