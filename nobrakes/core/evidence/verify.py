"""Whether main and its evidence agree: the chain is whole, each record says what git holds, each merge has its record.

1. A commit on main with the trailer `Bead:` owes a record; so it is from the first record on, and for each commit that
   says itself that evidence was kept (`Evidence:`). Whatever else is on main is listed, and is nobody's fault.
2. `Evidence:` names the end of the chain at the time: where the chain does not hold it any more, it was rewritten.
3. Only a pass is a pass. A merge that failed afterwards is right again when a record says that it was taken back.
4. What a person had to approve is what they approved (core.merge_approval).
5. A record that came after that of a later merge, or that was added later and says what is unknown, is a note and no
   fault: the chain is never written anew, so what a kill left stays as it is.
6. What later commits took back of a merge is added by whoever asks (core.evidence.lost_changes).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from .claims import Claims, Content, Look
from .record import Entry, Made, RecordKind

NONE = "none"
"""What `Evidence:` says on a commit that was made when there was no evidence yet."""


class Word(StrEnum):
    """What a commit on main is."""

    MERGED = "merged"  # a bead's, with its evidence
    TAKEN_BACK = "taken_back"  # the same, and a later record takes it back
    REVERT = "revert"  # takes a merge back, with its evidence
    OTHER_REVERT = "other_revert"  # says that it takes a bead back, without evidence
    EARLIER = "earlier"  # a bead's, from before evidence was kept
    OWN = "own"  # a person's own, or a snapshot of the plan
    MISSING = "missing"  # a bead's, and its evidence is not there


@dataclass(frozen=True, slots=True)
class Seen:
    """A commit on main, and the commit of its evidence."""

    commit: str
    word: Word
    subject: str
    author: str
    bead: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is wrong, for people; `commit` is on main, `evidence` in the chain."""

    text: str
    commit: str = ""
    evidence: str = ""
    bead: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that a reader should know, and that is no fault; `commit` is on main, `evidence` in the chain."""

    text: str
    commit: str = ""
    evidence: str = ""
    bead: str = ""


@dataclass(frozen=True, slots=True)
class Rerun:
    """Checks that were run again on a commit's tree; `outcome` is the worst of them."""

    commit: str
    bead: str
    contract: str
    outcome: str
    checks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What was found: the commits that were asked about, newest first; how long the chain is, and its end."""

    commits: tuple[Seen, ...]
    wrong: tuple[Wrong, ...]
    records: int
    tip: str
    reruns: tuple[Rerun, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass
class _Chain:
    """What the chain says, as far as later questions need it."""

    commits: set[str] = field(default_factory=set)
    merges: dict[str, tuple[str, str]] = field(default_factory=dict)  # commit on main -> bead, evidence
    reverts: dict[str, tuple[str, str]] = field(default_factory=dict)
    taken_back: set[str] = field(default_factory=set)  # the last commits of merges
    after: list[tuple[str, Wrong]] = field(default_factory=list)  # what failed only when it was on main
    about: set[str] = field(default_factory=set)
    first_base: str = ""
    order: list[Note] = field(default_factory=list)  # one for each record of a merge, newest first, without its text
    notes: list[Note] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Repository:
    """What git says. `look` finds a commit that is not on main; `content` is of two commits."""

    look: Look
    content: Content


def verify(entries: Iterable[Entry], line: Sequence[Made], asked: Sequence[Made], git: Repository) -> Report:
    """Compare the chain, newest first, with main's whole `line` and the commits of it that were `asked` about."""
    wrong: list[Wrong] = []
    here = {made.commit: made for made in line}
    range_ = {made.commit for made in asked}
    chain = _Chain()
    tip, last = "", None
    for entry in entries:
        tip, last = tip or entry.commit, entry
        _read(entry, chain, here, range_, git, wrong)
    if last is not None and last.parents:
        wrong.append(
            Wrong(f"the chain is broken: it goes on to {last.parents[0][:12]}, which is not here", "", last.commit)
        )
    wrong += [one for commit, one in chain.after if commit not in chain.taken_back]
    owing = _owing(line, chain)
    commits = tuple(_seen(made, chain, owing, wrong) for made in asked)
    notes = tuple(note for note in (*_out_of_order(line, chain.order), *chain.notes) if note.commit in range_)
    return Report(commits, tuple(wrong), len(chain.commits), tip, notes=notes)


def _owing(line: Sequence[Made], chain: _Chain) -> set[str]:
    """The commits from the first recorded merge on, wherever in the chain its record is, and all since the base of the
    first record; the whole line where that base is not on it, none without a record.
    """
    if not chain.first_base:
        return set()
    places = {made.commit: number for number, made in enumerate(line)}
    recorded = (places[commit] + 1 for commit in chain.merges if commit in places)
    return {made.commit for made in line[: max(places.get(chain.first_base, len(line)), *recorded, 0)]}


def _out_of_order(line: Sequence[Made], order: Sequence[Note]) -> list[Note]:
    """The merges whose record came after the record of a later merge."""
    places = {made.commit: number for number, made in enumerate(line)}
    found: list[Note] = []
    latest: Note | None = None
    for note in reversed([note for note in order if note.commit in places]):
        if latest is None or places[note.commit] < places[latest.commit]:
            latest = note
        else:
            text = (
                f"its record was added later: it stands after that of {latest.commit[:12]}, which was merged after it"
            )
            found.append(replace(note, text=text))
    return found


def _seen(made: Made, chain: _Chain, owing: set[str], wrong: list[Wrong]) -> Seen:
    """The commit as it is listed; what is wrong with it is noted."""

    def seen(word: Word, bead: str = "", evidence: str = "") -> Seen:
        return Seen(made.commit, word, made.subject, made.author, bead, evidence)

    bead, anchor = made.trailer("Bead"), made.trailer("Evidence")
    if not bead:
        taken = made.trailer("Reverts-Bead")
        known = chain.reverts.get(made.commit)
        if known is not None:
            return seen(Word.REVERT, *known)
        return seen(Word.OTHER_REVERT, taken) if taken else seen(Word.OWN)
    if anchor not in ("", NONE) and anchor not in chain.commits:
        text = f"evidence was rewritten or removed: it ended at {anchor[:12]} when this was made, and that is gone"
        wrong.append(Wrong(text, made.commit, "", bead))
    known = chain.merges.get(made.commit)
    if known is None:
        if anchor or made.commit in owing:
            wrong.append(
                Wrong("it says that it is a bead's merge, and there is no evidence of it", made.commit, "", bead)
            )
            return seen(Word.MISSING, bead)
        return seen(Word.EARLIER, bead)
    if known[0] != bead:
        wrong.append(Wrong(f"its evidence is of another bead, {known[0]}", made.commit, known[1], bead))
    return seen(Word.TAKEN_BACK if made.commit in chain.taken_back else Word.MERGED, *known)


def _read(
    entry: Entry, chain: _Chain, here: Mapping[str, Made], asked: set[str], git: Repository, wrong: list[Wrong]
) -> None:
    """Take one commit of the chain in."""

    def note(text: str, commit: str = "", bead: str = "") -> None:
        wrong.append(Wrong(text, commit, entry.commit, bead))

    chain.commits.add(entry.commit)
    if len(entry.parents) > 1:
        note("the chain is not one line: this has more than one commit before it")
    problem = entry.problem()
    if problem:
        note(f"it was changed: {problem}", entry.about.partition(": ")[2], entry.bead)
        return
    try:
        _compare(entry, Claims(entry.record), chain, here, asked, git, wrong)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        note(f"the record lacks what belongs into it: {error}", entry.about.partition(": ")[2], entry.bead)


def _compare(
    entry: Entry,
    facts: Claims,
    chain: _Chain,
    here: Mapping[str, Made],
    asked: set[str],
    git: Repository,
    wrong: list[Wrong],
) -> None:
    """Take what a record claims in."""

    def note(text: str) -> None:
        wrong.append(Wrong(text, facts.merged, entry.commit, facts.bead))

    tip = facts.merged
    if entry.about in chain.about:
        note("there are two records of this commit")
    chain.about.add(entry.about)
    if facts.elsewhere and tip not in here:
        _landed_elsewhere(entry, facts, chain, git, wrong)
        return
    chain.taken_back.update(facts.takes_back)
    table = chain.merges if facts.kind is RecordKind.MERGE else chain.reverts
    for commit, _ in facts.commits:
        table[commit] = (facts.beads[commit], entry.commit)
    if facts.kind is RecordKind.MERGE:
        chain.first_base = facts.base[0]
        chain.order.append(Note("", tip, entry.commit, facts.bead))
        if facts.added_later:
            unknown = ", ".join(facts.unknown()) or "nothing"
            text = f"its record was added later: {facts.added_later}; unknown: {unknown}"
            chain.notes.append(Note(text, tip, entry.commit, facts.bead))
    if tip not in here:
        if tip not in chain.taken_back:
            note(f"what it says came to main as {tip[:12]} is not on main")
    elif tip in asked:
        _judge(entry, facts, chain, here, git, wrong)


def _landed_elsewhere(entry: Entry, facts: Claims, chain: _Chain, git: Repository, wrong: list[Wrong]) -> None:
    """What landed on another branch is checked as long as it is there; an epic's may be gone when people merged it."""
    there = {commit: made for commit, _ in facts.commits if (made := git.look(commit)) is not None}
    if facts.merged in there:
        _judge(entry, facts, chain, there, git, wrong)


def _judge(
    entry: Entry, facts: Claims, chain: _Chain, here: Mapping[str, Made], git: Repository, wrong: list[Wrong]
) -> None:
    """Compare a record with git's objects and its own runs."""

    def note(text: str) -> None:
        wrong.append(Wrong(text, facts.merged, entry.commit, facts.bead))

    for text in facts.contradictions(lambda commit: here.get(commit) or git.look(commit), here):
        note(text)
    if text := facts.not_approved(git.content):
        note(text)
    for is_after, text in facts.not_passed():
        if is_after:
            chain.after.append((facts.merged, Wrong(text, facts.merged, entry.commit, facts.bead)))
        else:
            note(text)
