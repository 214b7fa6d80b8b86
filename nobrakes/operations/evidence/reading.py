"""Reading evidence: the records of one bead, and main compared with all of them. From git alone.

Without a range everything is compared since the first recorded merge: the commits of main that came after its base.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...core.errors import NoEvidence, UsageError
from ...core.evidence.lost_changes import Lost, lost_changes
from ...core.evidence.record import Entry, Made, RecordKind
from ...core.evidence.verify import Note, Report, Repository, Wrong
from ...core.evidence.verify import verify as compare
from ...ports.git import Git


@dataclass(frozen=True, slots=True)
class Record:
    """One record, and the commit of the chain that keeps it. `problem`: why it cannot be trusted."""

    evidence: str
    record: dict[str, Any]
    problem: str


def records_of(git: Git, bead: str) -> list[Record]:
    """The records about a bead, oldest first; NoEvidence."""
    found = []
    for entry in git.evidence():
        if entry.bead == bead:
            problem = entry.problem()
            try:
                found.append(Record(entry.commit, entry.record, problem))
            except ValueError:
                found.append(Record(entry.commit, {}, problem))
    if not found:
        raise NoEvidence(f"there is no evidence of a merge of '{bead[:80]}'")
    return found[::-1]


def verify(git: Git, asked: str | None = None) -> Report:
    """Compare main with its evidence: all since the first record, or the commits of a range (`A..B`, `B`)."""
    entries = list(git.evidence())
    main = git.main()
    line = _line(git, main, entries)
    wanted: Sequence[Made] = line
    if asked is not None:
        start, tip = _ends(git, asked)
        wanted = git.line(tip or main, start)
        known = {made.commit for made in line}
        if any(made.commit not in known for made in wanted):
            line = git.line(main)
    report = compare(entries, line, wanted, Repository(git.made, partial(_content, git)))
    return _with_lost(report, lost_changes(line, git.moves))


def _with_lost(report: Report, lost: Sequence[Lost]) -> Report:
    """The report with the merges whose changes were taken back: unseen is a fault, and what was meant a note."""
    kept = {seen.commit: seen.evidence for seen in report.commits}
    asked = [one for one in lost if one.commit in kept or one.by.commit in kept]
    wrong = [Wrong(f"{one.told()}; {one.advice()}", one.commit, "", one.bead) for one in asked if one.is_unseen]
    notes = [Note(one.told(), one.commit, kept.get(one.commit, ""), one.bead) for one in asked if not one.is_unseen]
    return replace(report, wrong=(*report.wrong, *wrong), notes=(*report.notes, *notes))


def _content(git: Git, base: str, merged: str) -> str:
    """The digest of what came to main; empty: git does not have it, which is said elsewhere."""
    return git.content(base, merged) if git.has(base) and git.has(merged) else ""


def _line(git: Git, main: str, entries: Sequence[Entry]) -> tuple[Made, ...]:
    """Main since the first of its recorded merges, wherever in the chain that one's record is."""
    since = _first_base(git, entries)
    line = git.line(main, since)
    if since is None:
        return line
    known, start = {made.commit for made in line}, since
    for entry in entries:
        merged = entry.about.partition(": ")[2]
        if merged in known or entry.problem() or entry.record.get("kind") != RecordKind.MERGE:
            continue
        found, base = git.made(merged), git.made(str(entry.record["base"]["commit"]))
        # a merge that was taken off main is no part of it
        if found and base and git.contains(found.commit, main) and git.contains(base.commit, start):
            start = base.commit
    return line if start == since else git.line(main, start)


def _first_base(git: Git, entries: Sequence[Entry]) -> str | None:
    """Where main was before the first merge that has a record; None: nothing says it, and all of main is looked at."""
    if not entries or entries[-1].parents or entries[-1].problem():
        return None
    base = git.made(str(entries[-1].record["base"]["commit"]))
    return base.commit if base is not None else None


def _ends(git: Git, asked: str) -> tuple[str | None, str | None]:
    """The commits at the two ends of a range; None where it has no end."""
    start, dots, tip = asked.partition("..")
    if not dots:
        start, tip = "", asked
    if tip.startswith("."):
        raise UsageError("a range of three dots is of two branches", "Write A..B: what B has and A has not.")
    found = []
    for name in (start, tip):
        made = git.made(name) if name else None
        if name and made is None:
            raise UsageError(f"'{name[:80]}' is no commit of this repository", "Write a range as for `git log`: A..B.")
        found.append(made.commit if made else None)
    return found[0], found[1]
