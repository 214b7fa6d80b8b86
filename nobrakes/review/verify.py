"""Whether main and its evidence agree: the chain is whole, each record matches git, each merge has its record.

1. From the first record on, a commit on main with the trailer `Bead:` needs a record, and always one with `Evidence:`.
   Other commits are listed as nobody's fault.
2. `Evidence:` names the chain's end at the time: if the chain lacks it, it was rewritten.
3. Only a pass is a pass. A merge that failed later is right again if a record says that it was taken back.
4. Approval must be for what landed (review.journal).
5. A record added late or out of order is a note, no fault: the chain is never rewritten, so traces of a kill stay.
6. The caller adds what later commits reverted.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from ..beads.model import Bead, BeadType
from ..git.port import Made
from ..records import frozen
from ..text.cleaning import first_of
from .evidence import Claims, Content, Entry, Look, RecordKind

OnMain = Mapping[str, Made]
NONE = "none"
"""`Evidence:` of a commit made before there was any."""


class Word(StrEnum):
    """The kind of a commit on main."""

    MERGED = "merged"  # a bead's, with its evidence
    TAKEN_BACK = "taken_back"  # the same, and a later record takes it back
    REVERT = "revert"  # reverts a merge, with its evidence
    OTHER_REVERT = "other_revert"  # says that it takes a bead back, without evidence
    EARLIER = "earlier"  # a bead merged before evidence was recorded
    OWN = "own"  # a person's own, or a snapshot of the plan
    MISSING = "missing"  # a bead's, and its evidence is not there


@frozen
class Seen:
    """A commit on main, and the commit of its evidence."""

    commit: str
    word: Word
    subject: str
    author: str
    bead: str = ""
    evidence: str = ""


@frozen
class Wrong:
    """A fault, for people; `commit` is on main, `evidence` in the chain."""

    text: str
    commit: str = ""
    evidence: str = ""
    bead: str = ""


@frozen
class Note:
    """A hint without fault; `commit` is on main, `evidence` in the chain."""

    text: str
    commit: str = ""
    evidence: str = ""
    bead: str = ""


@frozen
class Rerun:
    """Checks repeated on a commit's tree; `outcome` is the worst."""

    commit: str
    bead: str
    contract: str
    outcome: str
    checks: tuple[Mapping[str, Any], ...]


@frozen
class Report:
    """The commits asked about, newest first; the chain's length and end."""

    commits: tuple[Seen, ...]
    wrong: tuple[Wrong, ...]
    records: int
    tip: str
    reruns: tuple[Rerun, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass
class _Chain:
    """The chain, as far as later questions need it."""

    commits: set[str] = field(default_factory=set)
    merges: dict[str, tuple[str, str]] = field(default_factory=dict)  # commit on main -> bead, evidence
    reverts: dict[str, tuple[str, str]] = field(default_factory=dict)
    taken_back: set[str] = field(default_factory=set)  # the last commits of merges
    after: list[tuple[str, Wrong]] = field(default_factory=list)  # what failed only when it was on main
    about: set[str] = field(default_factory=set)
    first_base: str = ""
    order: list[Note] = field(default_factory=list)  # one for each record of a merge, newest first, without its text
    notes: list[Note] = field(default_factory=list)


@frozen
class Repository:
    """Git's answers. `look` finds a commit off main; `content` compares two commits."""

    look: Look
    content: Content


def verify(entries: Iterable[Entry], line: Sequence[Made], asked: Sequence[Made], git: Repository) -> Report:
    """Compare the chain, newest first, with main's `line` and the commits `asked` about."""
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
            Wrong(f"the chain of records is broken: the record {last.parents[0][:12]} is missing", "", last.commit)
        )
    wrong += [one for commit, one in chain.after if commit not in chain.taken_back]
    owing = _owing(line, chain)
    commits = tuple(_seen(made, chain, owing, wrong) for made in asked)
    notes = tuple(note for note in (*_out_of_order(line, chain.order), *chain.notes) if note.commit in range_)
    return Report(commits, tuple(wrong), len(chain.commits), tip, notes=notes)


def _owing(line: Sequence[Made], chain: _Chain) -> set[str]:
    """The commits that owe a record: from the first recorded merge on, and all since the first record's base. The full
    line if that base is not on it, none without a record."""
    if not chain.first_base:
        return set()
    places = {made.commit: number for number, made in enumerate(line)}
    recorded = (places[commit] + 1 for commit in chain.merges if commit in places)
    return {made.commit for made in line[: max(places.get(chain.first_base, len(line)), *recorded, 0)]}


def _out_of_order(line: Sequence[Made], order: Sequence[Note]) -> list[Note]:
    places = {made.commit: number for number, made in enumerate(line)}
    found: list[Note] = []
    latest: Note | None = None
    for note in reversed([note for note in order if note.commit in places]):
        if latest is None or places[note.commit] < places[latest.commit]:
            latest = note
        else:
            text = f"the merge's record was added later than that of {latest.commit[:12]}, a later merge"
            found.append(replace(note, text=text))
    return found


def _seen(made: Made, chain: _Chain, owing: set[str], wrong: list[Wrong]) -> Seen:
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
        text = f"records were rewritten or removed: the last record at this commit, {anchor[:12]}, is missing"
        wrong.append(Wrong(text, made.commit, "", bead))
    known = chain.merges.get(made.commit)
    if known is None:
        if anchor or made.commit in owing:
            wrong.append(
                Wrong("the commit says that it is a bead's merge, but no record of it exists", made.commit, "", bead)
            )
            return seen(Word.MISSING, bead)
        return seen(Word.EARLIER, bead)
    if known[0] != bead:
        wrong.append(Wrong(f"the record of this commit names another bead, {known[0]}", made.commit, known[1], bead))
    return seen(Word.TAKEN_BACK if made.commit in chain.taken_back else Word.MERGED, *known)


def _read(entry: Entry, chain: _Chain, here: OnMain, asked: set[str], git: Repository, wrong: list[Wrong]) -> None:
    def note(text: str, commit: str = "", bead: str = "") -> None:
        wrong.append(Wrong(text, commit, entry.commit, bead))

    chain.commits.add(entry.commit)
    if len(entry.parents) > 1:
        note("the chain of records branches: this record has more than one predecessor")
    if problem := entry.problem():
        note(f"the record was changed: {problem}", entry.about.partition(": ")[2], entry.bead)
        return
    try:
        _compare(entry, Claims(entry.record), chain, here, asked, git, wrong)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        note(f"the record is incomplete: {error}", entry.about.partition(": ")[2], entry.bead)


def _compare(
    entry: Entry, facts: Claims, chain: _Chain, here: OnMain, asked: set[str], git: Repository, wrong: list[Wrong]
) -> None:
    def note(text: str) -> None:
        wrong.append(Wrong(text, facts.merged, entry.commit, facts.bead))

    tip = facts.merged
    if entry.about in chain.about:
        note("this commit has two records")
    chain.about.add(entry.about)
    if facts.elsewhere and tip not in here:  # checked while it exists; an epic's branch may be gone
        there = {commit: made for commit, _ in facts.commits if (made := git.look(commit)) is not None}
        if tip in there:
            _judge(entry, facts, chain, there, git, wrong)
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
            text = f"the merge's record was added later: {facts.added_later}; unknown: {unknown}"
            chain.notes.append(Note(text, tip, entry.commit, facts.bead))
    if tip not in here:
        if tip not in chain.taken_back:
            note(f"the record says that {tip[:12]} is on main, but it is not")
    elif tip in asked:
        _judge(entry, facts, chain, here, git, wrong)


def _judge(entry: Entry, facts: Claims, chain: _Chain, here: OnMain, git: Repository, wrong: list[Wrong]) -> None:
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


ROLLED_BACK = "went_back"
"""The setting: facts were restored into an older database, before a daemon went on."""
SLACK = 2.0
"""Seconds that a commit may be older than its bead: git stores full seconds."""


# A merge is ours when its bead is known and it names where our chain of evidence ended (`Evidence:`), or `none` after
# the bead was made. What the store knows, and a person opened again, stays as it is. The newest word of main counts: a
# later `Reverts-Bead:` takes back what came before it.
@frozen
class Merge:
    """A bead's merge on main: `commits`, oldest first. `stands`: nothing newer on main mentions the bead."""

    bead: str
    anchor: str
    commits: tuple[Made, ...]
    stands: bool

    @property
    def tip(self) -> Made:
        return self.commits[-1]

    @property
    def base(self) -> str:
        return next(iter(self.commits[0].parents), "")


def merges(line: Sequence[Made], apart: Collection[str] = ()) -> list[Merge]:
    """The merges on main's line (newest first), oldest first; a commit in `apart` ends its own merge."""
    found: list[Merge] = []
    spoken: set[str] = set()
    above: Made | None = None
    for made in line:
        bead, anchor = made.trailer("Bead"), made.trailer("Evidence")
        if not bead:
            spoken |= _taken_back(made)
        elif (
            above is not None
            and (bead, anchor) == (above.trailer("Bead"), above.trailer("Evidence"))
            and made.commit not in apart
        ):
            last = found[-1]
            found[-1] = Merge(bead, anchor, (made, *last.commits), last.stands)
        else:
            found.append(Merge(bead, anchor, (made,), bead not in spoken))
            spoken |= {bead, *_taken_back(made)}
        above = made
    return found[::-1]


def _taken_back(made: Made) -> set[str]:
    return {value for key, value in made.trailers if key.lower() == "reverts-bead"}


def is_ours(merge: Merge, bead: Bead | None, chain: Collection[str], recorded: Collection[str]) -> bool:
    """`chain`: evidence commits; `recorded`: commits that they name."""
    if bead is None or bead.type is BeadType.EPIC:
        return False
    if merge.tip.commit in recorded or merge.anchor in chain:
        return True
    return merge.anchor == NONE and is_younger(merge, bead)


def is_younger(merge: Merge, bead: Bead) -> bool:
    return merge.tip.at + SLACK >= bead.created_at


Move = tuple[str, str, str]

LOST_CHANGES_NAMED = 5


@frozen
class Lost:
    """The merge `commit` of a bead, whose changes in these paths `by` reverted. `is_unseen`: unintentionally."""

    bead: str
    commit: str
    by: Made
    paths: tuple[str, ...]
    is_unseen: bool

    def told(self) -> str:
        paths = first_of(self.paths, LOST_CHANGES_NAMED)
        who = self.by.author.partition(" <")[0]
        return (
            f"the changes of {self.bead} ({self.commit[:12]}) in {paths} were reverted by {self.by.commit[:12]} "
            f"({self.by.subject[:60]}, {who})"
        )

    def advice(self) -> str:
        return (
            f"`git revert {self.by.commit[:12]}` restores the changes, `nobrakes reopen {self.bead}` lets agents redo "
            f"the bead; a commit with the trailer `Reverts-Bead: {self.bead}` marks the revert as intended"
        )


@dataclass
class _Merge:
    bead: str
    anchor: str
    last: int  # where on the line its newest commit is
    commit: str
    moves: dict[str, tuple[str, str]] = field(default_factory=dict)
    lost: Lost | None = None


# A commit reverts a merge where nothing that it brought is there after it, and some of it is as before; the same
# bead's merge or `Reverts-Bead:` ends the question. It did so unseen where all that lies between was taken back with
# it, as a commit of an old index does; else it was meant, and is told as a note. What came back later was not lost.
def lost_changes(line: Sequence[Made], moves: Callable[[str], Sequence[Move]]) -> list[Lost]:
    """The merges on main's `line` (newest first) that later commits reverted. `moves`: a commit's changes."""
    now: dict[str, str] = {}
    merges: dict[str, _Merge] = {}
    touched: dict[str, set[str]] = {}  # path -> the beads whose merges changed it
    taken: dict[int, bool] = {}  # place on the line -> whether what it brought is gone
    for place in range(len(line) - 1, -1, -1):
        made, bead = line[place], line[place].trailer("Bead")
        changed = moves(made.commit)
        now.update((path, after) for path, _, after in changed)
        reverted = [value for key, value in made.trailers if key.lower() == "reverts-bead"]
        taken[place] = not changed
        if bead:
            merges[bead] = _joined(merges.get(bead), made, place, changed)
            for path, _, _ in changed:
                touched.setdefault(path, set()).add(bead)
        for name in reverted:
            merges.pop(name, None)
        if not bead and not reverted:
            near = {name for path, _, _ in changed for name in touched.get(path, ())} & merges.keys()
            gone = [merge for name in sorted(near) if not _is_there(merge := merges[name], now)]
            for merge in gone:
                back = [path for path, _, after in changed if merge.moves.get(path, ("",))[0] == after]
                if back:
                    merge.lost = Lost(merge.bead, merge.commit, made, tuple(sorted(back)), False)
                    taken[merge.last] = True
            for merge in gone:
                if merge.lost is not None and merge.lost.by is made and not made.subject.startswith('Revert "'):
                    merge.lost = replace(merge.lost, is_unseen=all(taken[one] for one in range(merge.last, place, -1)))
    return [merge.lost for merge in merges.values() if merge.lost is not None and not _is_there(merge, now)]


def _joined(known: _Merge | None, made: Made, place: int, changed: Sequence[Move]) -> _Merge:
    anchor = made.trailer("Evidence")
    if known is None or (known.anchor, known.last) != (anchor, place + 1):
        return _Merge(made.trailer("Bead"), anchor, place, made.commit, {p: (was, is_) for p, was, is_ in changed})
    known.last, known.commit = place, made.commit
    for path, was, is_ in changed:
        known.moves[path] = (known.moves.get(path, (was,))[0], is_)
    return known


def _is_there(merge: _Merge, now: dict[str, str]) -> bool:
    return any(now[path] == is_ != was for path, (was, is_) in merge.moves.items())
