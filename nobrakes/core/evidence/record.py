"""Evidence of a merge: what its record says, and how it is written down.

1. A record is JSON values, bounded, with a version; its text is canonical: the same values are the same bytes.
2. The whole commit that keeps a record (text, trailers, date, people) follows from it: `Entry.problem` compares.
3. A record is about one commit that came to main: the merge of a bead, or the commit that takes one back.
4. A validation was run for this (`ran`), is the recorded run of the same tree, checks and environment (`recorded`), or
   is the run of what it came to main with, which `stands_for` it: for a branch its candidate's, in a batch that of the
   batch's tip. Anything else is `unknown`, and nobody believes it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..beads.attempt import UNSURE

VERSION = 1
EXCERPT = 1_000
"""Characters of a check's output that a record keeps."""
MOST = 200_000
"""Characters of a record; a longer one goes without excerpts."""
ATTEMPTS = 100
"""So many attempts of a bead are told, the latest."""
PERSON = "nobrakes <nobrakes@nobrakes.invalid>"

Value = Mapping[str, Any]


class RecordKind(StrEnum):
    """What came to main."""

    MERGE = "merge"
    REVERT = "revert"


class How(StrEnum):
    """Why a validation is taken for done."""

    RAN = "ran"
    RECORDED = "recorded"
    STANDS_FOR = "stands_for"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Made:
    """A commit as it stands in the repository; `trailers` in their order. `at`: when; 0: it was not asked."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    author: str
    trailers: tuple[tuple[str, str], ...] = ()
    at: float = field(default=0.0, compare=False)

    def trailer(self, key: str) -> str:
        """The last one with this key: what others wrote into the same text stands before ours. Empty: none."""
        return next((value for name, value in reversed(self.trailers) if name.lower() == key.lower()), "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A commit of the chain, as it was found. `whole`: its content is what its id says.

    `people` are its author and committer with their moments, as stored.
    """

    commit: str
    parents: tuple[str, ...]
    message: str
    people: tuple[str, str] = ("", "")
    whole: bool = True

    @property
    def record(self) -> dict[str, Any]:
        """The record; ValueError where there is none that this version reads."""
        _, _, rest = self.message.partition("\n\n")
        try:
            found = json.loads(rest.rpartition("\n\n")[0])
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        if not isinstance(found, dict) or found.get("version") != VERSION:
            raise ValueError("it is of another version")
        return found

    @property
    def about(self) -> str:
        """What the record is about, as its last trailer has it: no two records have the same."""
        return self.message.rstrip("\n").rpartition("\n")[2]

    @property
    def bead(self) -> str:
        """The bead that the record is about, as the trailer has it."""
        rows = self.message.rpartition("\n\n")[2].split("\n")
        return next((row.partition(": ")[2] for row in rows if row.startswith(("Bead: ", "Reverts-Bead: "))), "")

    def problem(self) -> str:
        """Why this is not what nobrakes wrote; empty: it is."""
        if not self.whole:
            return "its content is not what its id says"
        try:
            record = self.record
            expected, moment = message(record), f"{PERSON} {date(record)}"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return f"it holds no record that can be read: {error}"
        if expected != self.message:
            return "its text is not what its record gives"
        return "" if self.people == (moment, moment) else "its date and people are not what its record gives"


def canonical(record: Value) -> str:
    """The record as text, a line for each of its fields: deeper indents cost ten times as much to write."""
    rows = (f"{_plain(key)}: {_plain(record[key])}" for key in sorted(record))
    return ("{\n" + ",\n".join(rows) + "\n}").encode("utf-8", "replace").decode()


_plain = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False).encode


def about(record: Value) -> str:
    """What the record is about, as its last trailer says it."""
    return f"Merged: {record['merged']['commit']}"


def message(record: Value) -> str:
    """The text of the commit that keeps the record."""
    bead, commit = str(record["bead"]["id"]), str(record["merged"]["commit"])
    if record["kind"] == RecordKind.MERGE:
        subject, trailer = f"{bead} was merged as {commit[:12]}", f"Bead: {bead}"
    else:
        subject, trailer = f"{bead} was taken back by {commit[:12]}", f"Reverts-Bead: {bead}"
    return f"{subject}\n\n{canonical(record)}\n\n{trailer}\n{about(record)}\n"


def date(record: Value) -> str:
    """The moment of that commit, as git stores it."""
    return f"{max(0, int(record['at']))} +0000"


def excerpt(text: str) -> str:
    """The last whole lines of an output, as many as fit; what is secret has been taken out before."""
    clean = text.encode("utf-8", "replace").decode().strip()
    if len(clean) <= EXCERPT:
        return clean
    return clean[-EXCERPT:].partition("\n")[2] or clean[-EXCERPT:]


def place(commit: str, tree: str) -> dict[str, str]:
    """A commit with its tree."""
    return {"commit": commit, "tree": tree}


def run_of(proof: Value, tree: str, key: str, bead: str | None) -> dict[str, Any]:
    """A run, from what was saved of it. `bead`: whose review it was; None: a person's command."""
    checks = [_check(row) for row in proof.get("checks", ())]
    return {
        "bead": bead,
        "tree": tree,
        "contract": key,
        "at": _rounded(proof.get("at")),
        "seconds": _rounded(sum(check["seconds"] for check in checks)),
        "outcome": _worst(check["outcome"] for check in checks),
        "checks": checks,
    }


def _check(row: Value) -> dict[str, Any]:
    names = ("name", "code", "outcome", "reason", "counts", "excerpt")
    return {**{name: row.get(name) for name in names}, "seconds": _rounded(row.get("seconds")) or 0.0}


def _worst(outcomes: Iterable[str]) -> str:
    found = set(outcomes)
    return next((one for one in ("broken", "not-run", "fail") if one in found), "pass" if found else "not-run")


def counts_of(run: Value | None) -> dict[str, int] | None:
    """The tests that a run counted, added up; None where nothing was counted."""
    counted = [check["counts"] for check in (run or {}).get("checks", ()) if check.get("counts")]
    names = ("passed", "failed", "skipped")
    return {name: sum(counts[name] for counts in counted) for name in names} if counted else None


def attempt_row(attempt: Any, ended_at: float | None) -> dict[str, Any]:
    """One attempt that led to the merge, without what agents said."""
    return {
        "number": attempt.number,
        "role": attempt.role.value,
        "name": attempt.name,
        "agent": attempt.agent,
        "model": attempt.model,
        "provider": attempt.provider,
        "session": attempt.provider_session,
        "outcome": None if attempt.outcome is None else attempt.outcome.value,
        "rounds": attempt.data.get("rounds"),
        **({"unsure": True} if attempt.data.get(UNSURE) else {}),
        "tokens": attempt.tokens,
        "cost_usd": _rounded(attempt.cost_usd),
        "started_at": _rounded(attempt.started_at),
        "seconds": None if ended_at is None else _rounded(ended_at - attempt.started_at),
    }


def _rounded(number: Any) -> float | None:
    return None if number is None else round(float(number), 3)


def bounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record, without excerpts where it would be too long with them."""
    if len(canonical(record)) <= MOST:
        return dict(record)
    runs = {
        name: {**run, "checks": [{**check, "excerpt": ""} for check in run["checks"]]}
        for name, run in record["runs"].items()
    }
    return {**record, "runs": runs}


def taken_back_by(line: Sequence[Made], bead: str) -> str | None:
    """The newest commit of the line that takes the bead back; None: there is none."""
    found = (made for made in line if made.trailer("Reverts-Bead") == bead and not made.trailer("Bead"))
    return next((made.commit for made in found), None)
