"""Evidence, differences, the queue and quarantine, as people ask for them.

Reading evidence: the records of one bead, and main compared with all of them. From git alone.

Without a range everything is compared since the first recorded merge: the commits of main that came after its base.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from ...beads.model import FORK, Bead, Outcome, Role, Status
from ...beads.service.bead_page import Review, review_of
from ...checks.contract import CheckResult, Contract, overall
from ...config.settings import Config
from ...daemon.service import control
from ...errors import GitFailed, NoEvidence, NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...git.port import ChangedLines, Git, Made
from ...paths import Paths
from ...records import frozen
from ..evidence import Entry, How, RecordKind
from ..journal import Journal
from ..queue import LEDGER, SETTING, Flake, Line, Quarantined, as_text, lines
from ..verify import Lost, Note, Report, Repository, Rerun, Word, Wrong, lost_changes
from ..verify import verify as compare

if TYPE_CHECKING:
    from ...git.history import History
    from ...store import Store


@frozen
class Record:
    """A record and its commit. `problem`: why it cannot be trusted."""

    evidence: str
    record: dict[str, Any]
    problem: str


def records(git: Git, bead: str = "") -> Iterator[Record]:
    """Newest first: all, or a bead's."""
    for entry in git.evidence():
        if not bead or entry.bead == bead:
            problem = entry.problem()
            try:
                yield Record(entry.commit, entry.record, problem)
            except ValueError:
                yield Record(entry.commit, {}, problem)


def records_of(git: Git, bead: str) -> list[Record]:
    """Oldest first. Raises NoEvidence."""
    if not (found := list(records(git, bead))):
        raise NoEvidence(f"no record of a merge of '{bead[:80]}' exists")
    return found[::-1]


def verify(git: Git, asked: str | None = None) -> Report:
    """Compare main with its evidence: since the first record, or a range (`A..B`, `B`)."""
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
    kept = {seen.commit: seen.evidence for seen in report.commits}
    asked = [one for one in lost if one.commit in kept or one.by.commit in kept]
    wrong = [Wrong(f"{one.told()}; {one.advice()}", one.commit, "", one.bead) for one in asked if one.is_unseen]
    notes = [Note(one.told(), one.commit, kept.get(one.commit, ""), one.bead) for one in asked if not one.is_unseen]
    return replace(report, wrong=(*report.wrong, *wrong), notes=(*report.notes, *notes))


def _content(git: Git, base: str, merged: str) -> str:
    return git.content(base, merged) if git.has(base) and git.has(merged) else ""


def _line(git: Git, main: str, entries: Sequence[Entry]) -> tuple[Made, ...]:
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
        # a merge that was taken off main is not part of it
        if found and base and git.contains(found.commit, main) and git.contains(base.commit, start):
            start = base.commit
    return line if start == since else git.line(main, start)


def _first_base(git: Git, entries: Sequence[Entry]) -> str | None:
    """Main before its first recorded merge; None: unknown, so all of main counts, as where a chain was restarted."""
    if not entries or entries[-1].parents or entries[-1].problem() or entries[-1].record.get("anchor"):
        return None
    base = git.made(str(entries[-1].record["base"]["commit"]))
    return base.commit if base is not None else None


def _ends(git: Git, asked: str) -> tuple[str | None, str | None]:
    """The ends of a range; None: open."""
    start, dots, tip = asked.partition("..")
    if not dots:
        start, tip = "", asked
    if tip.startswith("."):
        raise UsageError("a range needs two dots, not three", "Write A..B: commits that B has and A does not have.")
    found = []
    for name in (start, tip):
        made = git.made(name) if name else None
        if name and made is None:
            raise UsageError(
                f"'{name[:80]}' is not a commit of this repository", "Write a range as for `git log`: A..B."
            )
        found.append(made.commit if made else None)
    return found[0], found[1]


Run = Callable[[str, Contract | None], tuple[Contract, list[CheckResult]]]

Proof = Mapping[str, Any]


# The recorded commands, or today's, in a fresh checkout, closed off as every check is. With the recorded ones the
# counts of tests are compared too: as many passes as then, and no more skipped.
def rerun(git: Git, report: Report, run: Run, today: bool, tell: Callable[[str], None]) -> Report:
    """Run the checks again on each merged commit, oldest first."""
    records = {entry.commit: entry.record for entry in git.evidence() if entry.problem() == ""}
    done: dict[tuple[str, str], tuple[Contract, list[CheckResult]]] = {}
    reruns: list[Rerun] = []
    wrong = list(report.wrong)
    for seen in reversed(report.commits):
        if seen.word not in (Word.MERGED, Word.TAKEN_BACK) or seen.evidence not in records:
            continue
        record = records[seen.evidence]

        def note(text: str, commit: str = seen.commit, evidence: str = seen.evidence, bead: str = seen.bead) -> None:
            wrong.append(Wrong(text, commit, evidence, bead))

        proof = _proof(record, seen.commit)
        contract = None if today else _contract(record, proof)
        if contract is None and not today:
            note("nobrakes cannot run the checks again: the record lacks their commands, or a secret was removed")
            continue
        tell(f"running the checks again on {seen.commit[:12]}, {seen.bead}")
        key = (git.tree(seen.commit), "" if contract is None else contract.key)
        if key not in done:
            done[key] = run(seen.commit, contract)
        ran, results = done[key]
        reruns.append(Rerun(seen.commit, seen.bead, ran.key, overall(results).value, tuple(map(_row, results))))
        recorded = () if today or proof.get("how") == How.STANDS_FOR else record["runs"][proof["run"]]["checks"]
        for text in _differences(results, recorded):
            note(f"when run again, {text}")
    return replace(report, wrong=tuple(wrong), reruns=tuple(reruns))


def _proof(record: Mapping[str, Any], commit: str) -> Proof:
    for one in record["commits"]:
        if one["commit"] == commit and "proof" in one:
            inner: Proof = one["proof"]
            return inner
    candidate: Proof = record["steps"][2]
    return candidate


def _contract(record: Mapping[str, Any], proof: Proof) -> Contract | None:
    """The recorded checks; None: incomplete."""
    from ...text.redaction import BLACK

    kept = record["contracts"].get(proof.get("contract"))
    if proof.get("run") not in record["runs"] or kept is None or BLACK in json.dumps(kept):
        return None
    return Contract.parse(json.dumps(kept))


def _row(result: CheckResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "code": result.code,
        "seconds": round(result.seconds, 3),
        "counts": result.counts,
    }


def _differences(results: Sequence[CheckResult], recorded: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    before = {str(check["name"]): check.get("counts") for check in recorded}
    for one in results:
        if one.outcome.value != "pass":
            yield f"the check {one.name} does not pass: {one.outcome.value}, {one.reason}"
            continue
        old, new = before.get(one.name), one.counts
        if old and (new is None or new.passed != old["passed"] or new.skipped != old["skipped"]):
            now = "no counts" if new is None else f"{new.passed} passed, {new.skipped} skipped"
            yield f"the check {one.name} differs: now {now}; then {old['passed']} passed, {old['skipped']} skipped"
    if not results:
        yield "no check is configured"


Source = Literal["merge", "branch", "handed_in", "archive"]
MAX_PATCH_BYTES = 4_000_000


@frozen
class FileDiff:
    """One differing file. `status`: added, removed, changed, or renamed (from `before`). Invalid UTF-8 in its path is
    replaced. Lines are 0 for a binary file."""

    path: str
    status: str
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    before: str = ""


# A merged bead shows its merge. Any other shows its branch as it is committed now: in its clone, which is read as bytes
# that may lie; else what was handed in, or archived; a merge that was taken back comes last.
@frozen
class DiffView:
    """The difference between the commits `base` and `head`. `patch`: git's text, cut at a line after `MAX_PATCH_BYTES`
    (`is_cut`); empty if not requested. `ref` holds an archived or handed-in head. All of it is untrusted."""

    bead: str
    source: Source
    base: str
    head: str
    files: tuple[FileDiff, ...]
    patch: str = ""
    is_cut: bool = False
    ref: str | None = None

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)


@frozen
class Found:
    """Two commits to compare."""

    source: Source
    base: str
    head: str
    ref: str | None = None


def diff(store: "Store", git: Git, bead: str, most: int = MAX_PATCH_BYTES) -> DiffView:
    """The bead's changes; `most`: bytes of the patch, 0: none. NoSuchBead; NotAllowed: no work; Tampered, TooLarge."""
    found = _found(store, git, store.bead(bead))
    if found is None:
        raise NotAllowed(
            f"bead {bead} has no work to show yet: it has no branch and no merge",
            f"`nobrakes show {bead}` shows the bead.",
        )
    return view_of(git, bead, found, most)


def view_of(git: "Git | History", bead: str, found: Found, most: int = MAX_PATCH_BYTES) -> DiffView:
    """An empty `bead`: a session's."""
    patch = git.patch(found.base, found.head, most)
    files = tuple(map(_file, patch.files))
    return DiffView(bead, found.source, found.base, found.head, files, patch.text, patch.is_cut and most > 0, found.ref)


def _file(file: ChangedLines) -> FileDiff:
    path, before = (
        name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in (file.path, file.before)
    )
    is_binary = file.added is None or file.removed is None
    return FileDiff(path, file.how, file.added or 0, file.removed or 0, is_binary, before)


def _found(store: "Store", git: Git, bead: Bead) -> Found | None:
    places: tuple[Callable[[], Found | None], ...] = (
        lambda: _merge(store, git, bead, bead.merged_commit) if bead.status is Status.DONE else None,
        lambda: _branch(store, git, bead, "branch", git.tip(bead)),
        lambda: _kept(store, git, bead),
        lambda: _merge(
            store, git, bead, bead.merged_commit or next((merged for _, merged in _recorded(git, bead.id)), None)
        ),
    )
    return next((found for place in places if (found := place()) is not None), None)


def _branch(
    store: "Store", git: Git, bead: Bead, source: Source, head: str | None, ref: str | None = None
) -> Found | None:
    if head is None:
        return None
    began = (one for one in reversed(store.attempts(bead.id)) if one.role is not Role.REVIEWER and one.data.get(FORK))
    attempt = next(began, None)
    base = git.fork(git.main(), head, None if attempt is None else attempt.data[FORK])
    if base is None:
        raise GitFailed(f"the branch of {bead.id} has no history in common with main")
    return Found(source, base, head, ref)


def _kept(store: "Store", git: Git, bead: Bead) -> Found | None:
    """The last handed-in or archived work; a branch before uncommitted files."""
    mine = {name: head for name, head in git.kept().items() if name.startswith(f"incoming/{bead.id}/")}
    if (newest := max(mine, key=lambda name: _fence(name), default=None)) is not None:
        return _branch(store, git, bead, "handed_in", mine[newest], f"refs/nobrakes/{newest}")
    for wanted in ("-branch", "-incoming", "-head", "-wip"):
        for ref, head in git.archived(bead.id):
            if wanted in ref.rpartition("/")[2]:
                return _branch(store, git, bead, "archive", head, ref)
    return None


def _fence(name: str) -> int:
    number = name.rpartition("/")[2]
    return int(number) if number.isdigit() else -1


def _merge(store: "Store", git: Git, bead: Bead, commit: str | None) -> Found | None:
    """The merged change: by its review's journal, else its evidence, else main's trailers."""
    if commit is None or not git.has(commit):
        return None
    reviews = (one.data for one in reversed(store.attempts(bead.id)) if one.data.get("candidate") == commit)
    bases = [str(data["base"]) for data in reviews if data.get("base")]
    if not bases:
        bases = [base for base, merged in _recorded(git, bead.id) if merged == commit]
    return Found("merge", bases[0] if bases else _before(git, bead.id, commit), commit)


def _recorded(git: Git, bead: str) -> list[tuple[str, str]]:
    try:
        found = records_of(git, bead)
    except NoEvidence:
        return []
    merges = (one.record for one in reversed(found) if not one.problem and one.record["kind"] == RecordKind.MERGE)
    return [(str(record["base"]["commit"]), str(record["merged"]["commit"])) for record in merges]


def _before(git: Git, bead: str, commit: str) -> str:
    made = git.made(commit)
    while made is not None and made.parents and made.trailer("Bead") == bead:
        made = git.made(made.parents[0])
    return commit if made is None else made.commit


SURE = 3
PAST = 60
WAITING = 50


@frozen
class InQueue:
    """A queued bead. `step` is None before its review; `left`: estimated seconds."""

    bead: str
    title: str
    attempt: int | None
    step: str | None
    since: float | None
    waits: str
    left: float | None


@frozen
class Landed:
    """An ended review; `event` is what an undo of its merge names."""

    review: Review
    event: int | None
    can_undo: bool


# The time that is left is a median of the latest reviews that merged; before SURE of them nothing is said.
@frozen
class MergesView:
    """`typical`: median seconds of a merged review."""

    queue: tuple[InQueue, ...]
    waiting: int
    past: tuple[Landed, ...]
    typical: float | None
    frozen: str | None
    now: float


def merges(store: "Store", frozen: str | None) -> MergesView:
    """The queue, and the latest reviews, newest first."""
    now = store.now()
    attempts = store.reviews(PAST)
    beads = {bead.id: bead for bead in store.beads(ids=[one.bead for one in attempts])} if attempts else {}
    past = [review_of(one, beads[one.bead]) for one in attempts if one.outcome is not None]
    took = [one.ended_at - one.started_at for one in past if one.outcome is Outcome.COMPLETED and one.ended_at]
    took.sort()  # a median without `statistics`, whose module loads ten others
    typical = (took[(len(took) - 1) // 2] + took[len(took) // 2]) / 2 if len(took) >= SURE else None
    merges = store.latest_events((Kind.MERGED,), None, 2 * PAST)
    merged = {(event.bead or "", event.attempt): event.seq for event in merges}
    landed = tuple(_landed(one, merged, beads[one.bead].status is Status.DONE) for one in past)
    return MergesView(*_queue(store, typical, now), landed, typical, frozen, now)


def _queue(store: "Store", typical: float | None, now: float) -> tuple[tuple[InQueue, ...], int]:
    reviewing = store.reviewing()
    waiting = store.column("review", WAITING)
    at_work = {one.bead: one for one in reviewing}
    titles = {node.id: node.title for node in waiting}
    missing = [bead for bead in at_work if bead not in titles]
    titles |= {bead.id: bead.title for bead in store.beads(ids=missing)} if missing else {}
    found = []
    for attempt in reviewing:
        journal = Journal.of(attempt.data)
        found.append(
            InQueue(
                attempt.bead,
                titles[attempt.bead],
                attempt.id,
                journal.step.value,
                attempt.started_at,
                journal.merging.waiting,
                None if typical is None else max(0.0, typical - (now - attempt.started_at)),
            )
        )
    behind = [InQueue(node.id, node.title, None, None, None, "", None) for node in waiting if node.id not in at_work]
    return (*found, *behind), max(store.counts()["review"], len(found) + len(behind))


def _landed(review: Review, merged: dict[tuple[str, int | None], int], is_done: bool) -> Landed:
    event = merged.get((review.bead, review.attempt)) if review.outcome is Outcome.COMPLETED else None
    return Landed(review, event, event is not None and is_done and review.commit is not None)


MAX_NAME = 300


def flakes(store: "Store", check: str = "") -> "list[Line]":
    found = [Flake.of(event) for event in store.latest_events([Kind.FLAKED], limit=LEDGER)]
    return lines([flake for flake in found if check in ("", flake.check)])


# Only a person quarantines, with a reason, as a setting of the store. A change wakes the daemon: a review whose
# contract is another one now begins again.
def quarantine(
    store: "Store", config: "Config", check: str, test: str, reason: str, actor: str, paths: "Paths | None" = None
) -> "tuple[Quarantined, ...]":
    """Quarantine a test, or with an empty `test` the check; returns all. Raises UsageError, NotAllowed."""
    names = [one.name for one in config.checks]
    if check not in names:
        known = ", ".join(names) or "none"
        raise UsageError(f"unknown check '{check[:40]}'", f"Configured checks: {known}.")
    if not reason.strip():
        raise UsageError("a quarantine needs a reason", 'Say why, so that others understand the reason: --reason "…"')
    if len(test) > MAX_NAME or not test.isprintable() or len(reason) > MAX_NAME:
        raise UsageError(
            f"a test's name or a reason is longer than {MAX_NAME} characters", "Copy the name from the test output."
        )
    before = control.quarantined(store)
    if any(one.pair == (check, test) for one in before):
        raise NotAllowed(f"{_what(check, test)} is already quarantined", "`nobrakes quarantine` lists all.")
    made = Quarantined(check, test, reason.strip(), actor, store.now())
    return _keep(store, (*before, made), made, Kind.QUARANTINED, actor, paths)


def restore(store: "Store", check: str, test: str, actor: str, reason: str = "") -> "tuple[Quarantined, ...]":
    """Quarantine again what was lifted. Raises NotAllowed."""
    before = control.quarantined(store)
    if any(one.pair == (check, test) for one in before):
        raise NotAllowed(f"{_what(check, test)} is already quarantined", "`nobrakes quarantine` lists all.")
    made = Quarantined(check, test, reason, actor, store.now())
    return _keep(store, (*before, made), made, Kind.QUARANTINED, actor, None)


def lift(store: "Store", check: str, test: str, actor: str, paths: "Paths | None" = None) -> "tuple[Quarantined, ...]":
    """Lift it; returns what remains. Raises NotAllowed."""
    before = control.quarantined(store)
    gone = next((one for one in before if one.pair == (check, test)), None)
    if gone is None:
        raise NotAllowed(f"{_what(check, test)} is not quarantined", "`nobrakes quarantine` lists all.")
    return _keep(store, [one for one in before if one is not gone], gone, Kind.QUARANTINE_LIFTED, actor, paths)


def _what(check: str, test: str) -> str:
    return f"'{test[:80]}' of {check[:40]}" if test else f"the check {check[:40]}"


def _keep(
    store: "Store",
    entries: "list[Quarantined] | tuple[Quarantined, ...]",
    changed: "Quarantined",
    kind: Kind,
    actor: str,
    paths: "Paths | None",
) -> "tuple[Quarantined, ...]":
    from ...files import wake

    with store.write():
        store.set_setting(SETTING, as_text(entries))
        data = {"check": changed.check, "test": changed.test, "reason": changed.reason}
        store.record(Event(kind, actor=actor, data=data))
    if paths is not None:
        wake(paths)
    return tuple(entries)
