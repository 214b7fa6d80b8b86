"""One escalation with all that a person needs to decide it.

1. What git or the settings cannot tell is left out, and said where it belongs; the question and the choices are shown
   in any case.
2. What is about no bead (a session's question, a red main) asks nothing of a branch.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ...agents.limits import Amount
from ...beads.model import CLOSED, FORK, NO_AGENTS, Attempt, Bead, Outcome, Role, blocked_by
from ...beads.progress import approaches
from ...beads.proposals import is_by_person, submitted
from ...beads.work_status import OUTCOMES, main_of
from ...daemon.model import Limits
from ...daemon.service import control
from ...errors import NobrakesError, NoSuchBead
from ...git.port import Clash, Git, Hunk, Made
from ...paths import Paths
from ...records import frozen
from ...text.cleaning import count
from ..model import COMMANDS, FAILURES, STOPS_BEAD, UNKNOWN, WAIT_ESCALATIONS, Escalation, EscalationType
from ..table import CAUSES, ESCALATIONS
from .view import (
    WHOLE,
    AboutBead,
    Asked,
    BranchDifference,
    ConflictFile,
    ConflictHunk,
    ConflictView,
    DecisionView,
    FileDifference,
    LastWords,
    OtherSide,
    Section,
    Stakes,
    Tried,
    choices,
    excerpt,
    first_lines,
    flat,
    line,
    readable,
    short,
)

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...store import Store


# The branch that a person decides about: where its commits are by now, and what it changes.
#
# 1. What was handed in is looked for by its commit first, and where git has let go of that among what was archived.
# 2. Nothing is guessed: where nothing is left, that is said.

FILES, LINES, BYTES = 12, 40, 200_000
GONE = "git no longer has this branch's commits, and there is no archived copy."


@frozen
class Branch:
    """The work: its commit, its fork from main, and its archived ref, if any."""

    head: str
    base: str
    ref: str = ""


def branch(git: Git, found: Escalation, attempts: Sequence[Attempt]) -> Branch | None:
    """None: no commits, or lost ones. Raises GitFailed."""
    archived = git.archived(found.bead) if found.bead else []
    named = [found.evidence.get(key) for key in ("head", "commit")]
    before = [one for one in attempts if one.started_at <= found.created_at] or list(attempts)
    for head in [str(head) for head in (*named, *(one.head for one in reversed(before))) if head]:
        if git.has(head):
            ref = next((ref for ref, commit in archived if commit == head), "")
            return Branch(head, _base(git, head, attempts), ref)
    kept = [(ref, commit) for ref, commit in archived if not ref.endswith("-wip")]
    return Branch(kept[0][1], _base(git, kept[0][1], attempts), kept[0][0]) if kept else None


def _base(git: Git, head: str, attempts: Sequence[Attempt]) -> str:
    main = git.main()
    if any(head == one.head == one.data.get(FORK) for one in attempts):
        return head
    if git.contains(head, main):
        parents = made.parents if (made := git.made(head)) else ()
        return parents[0] if parents else head
    began = next((str(one.data[FORK]) for one in reversed(attempts) if one.data.get(FORK)), None)
    return git.fork(main, head, began) or head


def difference(git: Git, bead: str, found: Branch | None, is_whole: bool) -> BranchDifference:
    """The changed files with counts, and the beginning of the text."""
    if found is None:
        return BranchDifference(missing=GONE)
    command = f"nobrakes diff {bead}"
    try:
        patch = git.patch(found.base, found.head, 10**7 if is_whole else BYTES)
    except NobrakesError as error:
        return BranchDifference(found.base, found.head, found.ref, missing=line(error))
    listed = patch.files if is_whole else patch.files[:FILES]
    text = replace(excerpt(patch.text, WHOLE if is_whole else LINES, is_code=True), command=command)
    return BranchDifference(
        found.base,
        found.head,
        found.ref,
        tuple(FileDifference(line(one.path), one.how, one.added, one.removed) for one in listed),
        len(patch.files) - len(listed),
        sum(one.added or 0 for one in patch.files),
        sum(one.removed or 0 for one in patch.files),
        text,
    )


# A conflict with main: the lines of both sides, and whose change it is that the branch conflicts with.
#
# 1. It is rebuilt from git whenever somebody looks, from the main that it was seen on and the branch's own commit,
# wherever that is kept by now. Where one of them is gone, the files that were noted are shown, and why no more is.
# 2. The other side is what came to main since the branch left it and touches the same files: merges of beads by their
# trailer, anything else by its author.

CONFLICT_FILES, HUNKS, CONFLICT_LINES, OTHERS = 5, 3, 10, 5
SEARCHED = 200


def conflict(store: "Store", git: Git, found: Escalation, branch: Branch | None, is_whole: bool) -> ConflictView:
    where = main_of(str(found.evidence.get("epic") or ""))
    return replace(_seen(store, git, found, branch, is_whole, where), where=where)


def _seen(
    store: "Store", git: Git, found: Escalation, branch: Branch | None, is_whole: bool, where: str
) -> ConflictView:
    noted = tuple(line(path) for path in found.evidence.get("files") or () if isinstance(path, str))
    onto = str(found.evidence.get("main") or "")
    if branch is None or not onto or not git.has(onto):
        why = GONE if branch is None else f"git no longer has the version of {where} that conflicted."
        return ConflictView(onto, *_noted(noted, is_whole), missing=why)
    others = tuple(_conflict_others(store, git, onto, branch.base, noted))
    try:
        clashes = git.clashes(onto, branch.head, branch.base)
    except NobrakesError as error:
        return ConflictView(onto, *_noted(noted, is_whole), others, line(error))
    if not clashes:
        why = 'The branch merges as one change, but not commit by commit, as `merge = "rebase"` requires.'
        return ConflictView(onto, *_noted(noted, is_whole), others, why)
    files = tuple(_file(clash, is_whole, where) for clash in (clashes if is_whole else clashes[:CONFLICT_FILES]))
    if not others:
        others = tuple(_conflict_others(store, git, onto, branch.base, [clash.path for clash in clashes]))
    return ConflictView(onto, files, len(clashes) - len(files), others)


def _noted(paths: Sequence[str], is_whole: bool) -> tuple[tuple[ConflictFile, ...], int]:
    kept = paths if is_whole else paths[:CONFLICT_FILES]
    return tuple(ConflictFile(path, "in conflict") for path in kept), len(paths) - len(kept)


def _file(clash: Clash, is_whole: bool, where: str) -> ConflictFile:
    hunks = clash.hunks if is_whole else clash.hunks[:HUNKS]
    shown = tuple(_hunk(one, WHOLE if is_whole else CONFLICT_LINES) for one in hunks)
    return ConflictFile(line(clash.path), _how(clash, where), shown, len(clash.hunks) - len(hunks))


def _hunk(hunk: Hunk, most: int) -> ConflictHunk:
    return ConflictHunk(hunk.line, *(first_lines(list(side), most, is_code=True) for side in (hunk.main, hunk.branch)))


def _how(clash: Clash, where: str) -> str:
    if clash.in_main and clash.in_branch:
        return "both changed it" if clash.in_fork else "both added it"
    if clash.in_branch:
        return f"{where} removed or renamed the file, and the branch changed the file"
    return f"the branch removed or renamed the file, and {where} changed the file"


def _conflict_others(store: "Store", git: Git, onto: str, base: str, paths: Sequence[str]) -> Iterator[OtherSide]:
    wanted, shown = frozenset(paths), 0
    for made in git.line(onto, base)[:SEARCHED]:
        if not made.parents:
            continue
        touched = sorted(wanted & {change.path for change in git.changes(made.parents[0], made.commit)})
        if touched:
            yield _other(store, made, tuple(line(path) for path in touched))
            shown += 1
        if shown == OTHERS:
            return


def _other(store: "Store", made: Made, paths: tuple[str, ...]) -> OtherSide:
    bead = made.trailer("Bead")
    title, who = line(made.subject), line(made.author.rpartition(" <")[0] or made.author)
    if bead:
        try:
            title = line(store.bead(bead).title)
            doers = [f"{one.name} ({one.agent})" for one in store.attempts(bead) if one.role is Role.DOER]
            who = line(doers[-1]) if doers else who
        except NoSuchBead:  # of another database
            pass
    return OtherSide(line(bead), title, who, made.commit, made.at, paths)


# The evidence of an escalation as titled sections: a row of a table for each key that the code files, and any other.
#
# 1. What another part of the view shows (attempts, conflicts) is left out here, and what only the machine needs.
# 2. A key that nobody knows any more, of an older database, is shown under its own name with its value in words.

Lines = Callable[[Any], list[str]]
MAX_LISTED = 12
TAIL = 8
CODE = 40

HIDDEN = frozenset(("attempts", "contract", "content", "epic", "what_next"))
_CONFLICT_KEYS = frozenset(("files", "main", "head"))


def sections(found: Escalation, command: str, is_whole: bool = False) -> tuple[Section, ...]:
    """The evidence in words, in the table's order. `command` shows all; `is_whole`: nothing is cut."""
    hidden = HIDDEN | (_CONFLICT_KEYS if found.type is EscalationType.CONFLICT else frozenset())
    left = {str(key): value for key, value in found.evidence.items() if key not in hidden and not _is_empty(value)}
    made = []
    for key in [*(key for key in TABLE if key in left), *(key for key in left if key not in TABLE)]:
        title, in_words, most = TABLE.get(key, (key.replace("_", " "), _words, MAX_LISTED))
        title = _TITLES.get((found.type, key), title)
        if key == "main":
            title = title.replace("main", main_of(str(found.evidence.get("epic") or "")), 1)
        if lines := in_words(left[key]):
            text = excerpt(
                "\n".join(lines), WHOLE if is_whole else most, command, is_code=key in ("difference", "tests")
            )
            made.append(Section(line(title), text))
    return tuple(made)


def _is_empty(value: object) -> bool:
    return value is None or value == "" or (isinstance(value, list | tuple | dict) and not value)


def results(value: Any) -> list[str]:
    """Failed checks with the end of their output; others are counted."""
    rows = [row for row in _list(value) if isinstance(row, Mapping)]
    bad = [row for row in rows if row.get("outcome") != "pass"]
    out = []
    for row in bad:
        why = row.get("reason") or ""
        out.append(line(f"{row.get('name')}: {row.get('outcome')}{': ' if why else ''}{why}"))
        failing = [line(one) for one in _list(row.get("failing"))]
        out += [f"  failed: {one}" for one in failing[:5]]
        out += [f"  and {len(failing) - 5} more" for _ in failing[5:6]]
        tail = excerpt(str(row.get("tail") or "").strip(), TAIL, is_end=True)
        out += [f"  | … {count(tail.more, 'line')} before" for _ in (1,) if tail.more]
        out += [f"  | {one}" for one in tail.lines]
    passed = len(rows) - len(bad)
    return [*out, *([f"{passed} passed"] if passed else [])]


def _list(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    return () if value is None else (value,)


def _commit(value: Any) -> list[str]:
    return [short(readable(str(value)))]


def _commits(value: Any) -> list[str]:
    return [", ".join(short(readable(str(one))) for one in _list(value))]


def _lines(value: Any) -> list[str]:
    return [flat(one) for one in _list(value)]


def _code(value: Any) -> list[str]:
    return str(value).rstrip("\n").split("\n")


def _words(value: Any, indent: str = "") -> list[str]:
    if isinstance(value, Mapping):
        out = []
        for key, one in value.items():
            name = line(str(key).replace("_", " "))
            if isinstance(one, Mapping | list | tuple) and one:
                out += [f"{indent}{name}:", *_words(one, indent + "  ")]
            elif not _is_empty(one):
                first, *rest = _words(one) or [""]
                out += [f"{indent}{name}: {first}", *(f"{indent}  {more}" for more in rest)]
        return out
    if isinstance(value, list | tuple):
        out = []
        for one in value:
            first, *rest = _words(one) or [""]
            out += [f"{indent}- {first}", *(f"{indent}  {more}" for more in rest)]
        return out
    if isinstance(value, bool):
        return [indent + ("yes" if value else "no")]
    if isinstance(value, str):
        return [indent + one for one in readable(value).strip("\n").split("\n")]
    return [indent + line(value)]


TABLE: Mapping[str, tuple[str, Lines, int]] = {
    "severity": ("how much it matters", _lines, MAX_LISTED),
    "test": ("the test that nobrakes changed so that it should fail", _lines, MAX_LISTED),
    "reverted": ("the merge was reverted", lambda value: ["yes" if value else "no, it is still on main"], MAX_LISTED),
    "results": ("check results", results, 2 * MAX_LISTED),
    "red_proof": ("check results with the new tests", results, 2 * MAX_LISTED),
    "base": ("check results without the new tests", results, 2 * MAX_LISTED),
    "establishes": ("the checks and test files after the merge", _lines, 2 * MAX_LISTED),
    "why": ("why your approval is needed", _lines, MAX_LISTED),
    "test_files": ("the test files that the branch changes", _lines, MAX_LISTED),
    "tests": ("the change of the tests", _code, CODE),
    "files": ("the files that this escalation is about", _lines, MAX_LISTED),
    "difference": ("the change that needs your decision", _code, CODE),
    "head": ("the commit that is reviewed", _commit, MAX_LISTED),
    "commit": ("the commit that this escalation is about", _commit, MAX_LISTED),
    "main": ("main when nobrakes asked", _commit, MAX_LISTED),
    "green": ("the last commit of main that passed its checks", _commit, MAX_LISTED),
    "culprit": ("the first commit of main that failed its checks", _commit, MAX_LISTED),
    "revert": ("the commit that reverted the merge", _commit, MAX_LISTED),
    "searched": ("the commits that nobrakes searched", _commits, MAX_LISTED),
}

_TITLES: Mapping[tuple[EscalationType, str], str] = {
    (EscalationType.CHECKS_CHANGED, "files"): "the changed files that decide whether work passes",
    (EscalationType.UNUSUAL_CONTENT, "files"): "the unusual names or content, one line for each file",
    (EscalationType.MERGE_REVIEW, "files"): "the other files that the branch changes",
    (EscalationType.MERGE_REVIEW, "difference"): "the change of the code",
    (EscalationType.MERGE_REVIEW, "commit"): "the commit that passed its checks and would be merged",
    (EscalationType.MERGE_REVIEW, "main"): "the commit of main on which the work passed",
    (EscalationType.CODE_REVIEW, "commit"): "the commit that passed its checks and was reviewed",
    (EscalationType.CODE_REVIEW, "main"): "the commit of main on which the work passed",
    (EscalationType.MAIN_RED, "results"): "check results on main",
}

# What was tried on the bead before a person was asked, and what the last agent said.
SHOWN = 5
_DETAIL, _LEFT, _LAST = 6, 4, 8


def tried(found: Escalation, attempts: Sequence[Attempt], is_whole: bool) -> tuple[tuple[Tried, ...], int]:
    """The attempts before the question, and the number of omitted ones."""
    by_number = {attempt.number: attempt for attempt in attempts}
    rows = found.evidence.get("attempts")
    if not isinstance(rows, list | tuple):
        rows = approaches(one for one in attempts if one.outcome and (one.ended_at or 0.0) <= found.created_at)
    rows = [row for row in rows if isinstance(row, Mapping)]
    kept = rows if is_whole else rows[-SHOWN:]
    made = tuple(_tried(row, by_number.get(row.get("attempt", 0)), is_whole) for row in kept)
    return made, len(rows) - len(kept)


def _tried(row: Mapping[str, Any], attempt: Attempt | None, is_whole: bool) -> Tried:
    outcome = str(row.get("outcome") or "works")
    command = _words_of(attempt) if attempt else ""
    detail, left = (WHOLE, WHOLE) if is_whole else (_DETAIL, _LEFT)
    number = row.get("attempt")
    return Tried(
        number=number if isinstance(number, int) else 0,
        role=line(row.get("role") or ""),
        name=line(row.get("name") or ""),
        agent=line(row.get("agent") or ""),
        outcome=outcome,
        means=OUTCOMES[Outcome(outcome)] if outcome in set(Outcome) else "",
        detail=excerpt(str(row.get("detail") or ""), detail, command),
        summary=excerpt(str(row.get("summary") or ""), left, command),
        blockers=excerpt(str(row.get("blockers") or ""), left, command),
        learnings=excerpt(str(row.get("learnings") or ""), left, command),
        minutes=(attempt.ended_at - attempt.started_at) / 60 if attempt and attempt.ended_at else 0.0,
        cost_usd=attempt.cost_usd if attempt else 0.0,
        tokens=attempt.tokens if attempt else 0,
    )


def last_words(store: "Store", paths: Paths, found: Escalation, attempts: Sequence[Attempt]) -> LastWords | None:
    """The last lines of the agent that led here; None: none."""
    agents = [one for one in attempts if one.role not in NO_AGENTS and one.started_at <= found.created_at]
    chosen = [one for one in agents if one.id == found.attempt] or agents
    if not chosen:
        return None
    from ...sessions.service import viewing  # it loads the agents' adapters

    one = chosen[-1]
    said = tuple(viewing.transcript(store, viewing.attempt_output(paths, one), follow=False, last=_LAST))
    command = _words_of(one)
    return LastWords(one.number, line(one.name), said, command) if said else None


def _words_of(attempt: Attempt) -> str:
    return f"nobrakes history {attempt.bead} --transcript --attempt {attempt.number}"


HAPPENED, CRITERIA, DESCRIPTION, WAITING = 14, 8, 4, 20
_WITHOUT_BRANCH = frozenset((EscalationType.DOER_SUGGESTION, *WAIT_ESCALATIONS))


def decision(
    store: "Store",
    paths: "Paths",
    git: "Callable[[], Git]",
    config: "Callable[[], Config]",
    n: int,
    is_whole: bool = False,
) -> DecisionView:
    """Escalation `n`. NoSuchEscalation. `is_whole`: nothing is cut. `git`, `config` are only called for a bead."""
    found = store.escalation(n)
    whole = f"nobrakes escalation {n} --all"
    about = None if found.bead is None else store.bead(found.bead)
    attempts = [] if about is None else store.attempts(about.id)
    shown, earlier = tried(found, attempts, is_whole)
    difference, clash, ref = _branch_evidence(store, git, found, attempts, is_whole)
    stakes = _stakes(store, config, about, attempts, ref)
    return DecisionView(
        **_own(found),
        cause=CAUSES[found.type],
        means=ESCALATIONS[found.type],
        happened=excerpt(found.detail, WHOLE if is_whole else HAPPENED, whole),
        about=None if about is None else _about(about, stakes, is_whole),
        choices=choices(found, stakes),
        mend=mend(found) if found.resolved_at is None else (),
        tried=shown,
        earlier=earlier,
        last=last_words(store, paths, found, attempts),
        sections=sections(found, whole, is_whole),
        difference=difference,
        conflict=clash,
        others=_others(store, found),
    )


def listed(store: "Store", all: bool = False) -> list[Asked]:
    """Open escalations, the most urgent first, with their beads' titles and causes."""
    found = store.escalations(open_only=not all)
    ids = {one.bead for one in found if one.bead}
    titles = {bead.id: bead.title for bead in store.beads(ids=ids)} if ids else {}
    return [Asked(**_own(one), cause=CAUSES[one.type], subject=titles.get(one.bead or "", "")) for one in found]


def groups(store: "Store", found: Iterable[Escalation]) -> list[list[Escalation]]:
    """Open questions of one turn of a session together, in their order; each other escalation by itself."""
    made: dict[tuple[int, int], list[Escalation]] = {}
    begun: dict[int, list[float]] = {}
    for one in found:
        key = -one.id, 0
        if one.session is not None and one.type is EscalationType.QUESTION and one.resolved_at is None:
            if one.session not in begun:
                begun[one.session] = [turn.started_at for turn in store.turns(one.session)]
            key = one.session, bisect(begun[one.session], one.created_at)
        made.setdefault(key, []).append(one)
    return list(made.values())


def _own(found: Escalation) -> dict[str, Any]:
    own = {one.name: getattr(found, one.name) for one in fields(Escalation)}
    return own if found.hypothesis or found.type not in FAILURES else {**own, "hypothesis": UNKNOWN}


def _about(bead: Bead, stakes: Stakes, is_whole: bool) -> AboutBead:
    command = f"nobrakes show {bead.id}"
    criteria, description = (WHOLE, WHOLE) if is_whole else (CRITERIA, DESCRIPTION)
    return AboutBead(
        bead.id,
        bead.title,
        bead.status,
        first_lines(bead.acceptance, criteria, command),
        excerpt(bead.description, description, command),
        bead.failures,
        stakes.waiting[:WAITING],
    )


def _stakes(
    store: "Store", config: "Callable[[], Config]", bead: Bead | None, attempts: Sequence[Attempt], ref: str
) -> Stakes:
    if bead is None:
        return Stakes()
    minutes = sum((one.ended_at or one.started_at) - one.started_at for one in attempts) / 60
    spent = Amount(sum(one.cost_usd for one in attempts), sum(one.tokens for one in attempts), minutes)
    done = submitted(attempts) if is_by_person(attempts) else None
    return Stakes(bead, _limits(store, config), spent, _waiting(store, bead), ref, done.name if done else "")


def _limits(store: "Store", config: "Callable[[], Config]") -> Limits | None:
    try:
        return control.limits(store, config())
    except NobrakesError:
        return None


def _waiting(store: "Store", bead: Bead) -> tuple[str, ...]:
    ids = blocked_by(bead.id, store.dependencies(bead.id))
    return tuple(one.id for one in store.beads(ids=ids) if one.status not in CLOSED) if ids else ()


def _branch_evidence(
    store: "Store", git: "Callable[[], Git]", found: Escalation, attempts: Sequence[Attempt], is_whole: bool
) -> tuple[BranchDifference | None, ConflictView | None, str]:
    if found.bead is None or found.type in _WITHOUT_BRANCH:
        return None, None, ""
    is_conflict = found.type is EscalationType.CONFLICT
    if not is_conflict and not any(one.head for one in attempts) and not found.evidence.get("head"):
        return None, None, ""
    try:
        repository = git()
        where = branch(repository, found, attempts)
        clash = conflict(store, repository, found, where, is_whole) if is_conflict else None
        ref = where.ref if where else ""
        return difference(repository, found.bead, where, is_whole), clash, ref
    except NobrakesError as error:
        return BranchDifference(missing=str(error)), ConflictView(missing=str(error)) if is_conflict else None, ""


def _others(store: "Store", found: Escalation) -> tuple[int, ...]:
    if found.bead is None or found.resolved_at is not None:
        return ()
    return tuple(one.id for one in store.escalations(bead=found.bead) if one.id != found.id and one.type in STOPS_BEAD)


def mend(found: Escalation) -> tuple[str, ...]:
    """What to do first if deciding alone does not help."""
    bead = found.bead or ""
    by_type = {
        EscalationType.BROKEN_CHECKS: (
            "Fix the check that this escalation names ([[checks]] in .nobrakes/config.toml), or install what it needs.",
        ),
        EscalationType.BROKEN_ENVIRONMENT: ("Fix the named problem. `nobrakes doctor` lists other problems.",),
        EscalationType.CAP_REACHED: (
            "Raise the named cap in .nobrakes/config.toml; otherwise nobrakes asks you again immediately.",
        ),
        EscalationType.CHECKOUT_BEHIND: (
            "Do in the checkout what this escalation says. Then the merge continues and this escalation closes.",
        ),
        EscalationType.FILTER_NOT_ALLOWED: (
            *(f"Allow the filter: `{command}`" for command in found.evidence.get(COMMANDS, ())),
            "Then start nobrakes again: the bead continues and this escalation closes.",
        ),
        EscalationType.NOBRAKES_FAILED: (
            "Inspect the problem named above: an unusual file in the bead's workspace, or a bug in nobrakes.",
        ),
        EscalationType.MERGE_HELD_UP: (
            "Fix the problem that this escalation names. Then the merge continues and this escalation closes.",
            "`nobrakes run` tries the merge again.",
        ),
        EscalationType.WEAK_TESTS: (f'Say exactly what the tests must prove: nobrakes edit {bead} --accept "…"',),
    }
    if found.type is EscalationType.MAIN_RED and found.bead is None:
        return (
            "Commit a fix on main, or let an agent fix it:",
            'nobrakes add "Fix main" --type repair --no-tests',
            "Once main is green, this escalation closes and merges continue.",
        )
    return by_type.get(found.type, ())
