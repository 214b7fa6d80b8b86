"""A merge that a person approves first: they are shown tests and code, and decide (review.journal).

1. They are asked after everything passed, right before main moves. The review ends there, so nobody in the queue waits.
2. After approval the review begins again on the current main; it lands if its content is what was shown.
3. The approval used is in the journal before main moves, and in the evidence.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from ... import US
from ...agents.limits import READ
from ...agents.prompts import Read, review_text
from ...beads.branches import is_approval
from ...beads.model import Attempt, Bead, Outcome, Role, bead_owner
from ...beads.proposals import is_built, is_by_person
from ...beads.service.bead_commands import is_mend
from ...checks.policy import boundaries, inline_tests, runner_hooks
from ...checks.policy.boundaries import faults
from ...checks.policy.ownership import CONTRACT, OWN_FOLDER
from ...checks.policy.shadows import new_secrets, odd_name, programs
from ...checks.worker import steps
from ...checks.worker.steps import LARGEST_CONTRACT, boundary_at, clean
from ...config.settings import parse
from ...config.values import layout_of
from ...daemon.model import Board
from ...decisions.forms import as_values, form
from ...decisions.model import TEST_DIGEST, Escalation, EscalationType, NewEscalation, is_accepted
from ...errors import ConfigError, FileTooLarge, GitFailed
from ...events.kinds import Event, Kind
from ...files import for_git, write_atomic
from ...git.port import ABSENT, GITLINK, SYMLINK, Change, Message
from ...globs import matches
from ...host.port import Notice
from ...ports import Ports
from ...records import frozen
from ...requests.worker import epics
from ...requests.worker.epics import is_epic
from ...sessions.model import CLEAN, SessionKind
from ...sessions.model import State as Of
from .. import reading
from ..journal import Journal, given, needed
from ..machine import Fact
from ..queue import Entry
from ..reading import Next, Priority, Reading, Rules, Way, Whose, options
from ..service.landed import reading_rules
from . import chain as review_evidence
from .chain import AttemptEnd, Report, last_merge, questioned
from .merge_queue import ReviewContext

MAX_DIFF = 20_000
MAX_LINES = 50_000
"""Of a file whose difference is shown: git needs a quarter of a second for the worst of them, and longer ones more."""
PROTECTED_FILES_LARGEST = 1_000_000


# A branch that changes what decides whether work is good. A scaffolding bead may; any other bead's change is asked
# about, of a Test Writer's commits only what bends the runner, before a Doer starts. Accepted is the very head that was
# shown.
class ProtectedFiles:
    """Inspects the protected files of a branch."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def judged(self, bead: Bead, journal: Journal) -> tuple[str, ...] | AttemptEnd:
        """The protected files that the branch may change, or the question about them."""
        build = journal.build
        # what a Test Writer changed was judged as its work
        begin = journal.change.fork if bead.scaffolding else build.base
        config = self.ports.config()
        boundary = boundary_at(self.ports, build.base, Role.DOER)
        changes = self._with_hooks(begin, journal.change.head, boundary)
        bending, digest = (
            self._bending(bead, journal.change.fork, build.base, boundary) if begin != journal.change.fork else ([], "")
        )
        if is_by_person(self.ports.store.attempts(bead.id)):
            boundary = replace(boundary, tests=())  # else a test that decides would be nobody's to judge
        if boundaries.adds_modules(changes, boundary):
            boundary = replace(boundary, installed=self.ports.modules(programs(config.contract())))
        changed = [*bending, *boundaries.gate_changes(changes, boundary)]
        paths = tuple(change.path for change in changed)
        if not paths or bead.scaffolding or self.is_accepted(bead.id, journal.change.head):
            return paths
        shown = self.shown(journal.change.fork if bending else begin, journal.change.head, changed)
        evidence = {**shown, TEST_DIGEST: digest} if bending else shown
        return AttemptEnd(Outcome.CHECKS_CHANGED, _question(changed), journal.change.head, evidence)

    def tests_escalation(self, bead: Bead, fork: str, head: str) -> NewEscalation | None:
        """The question about proven tests that change the runner, before a Doer uses them."""
        boundary = boundary_at(self.ports, head, Role.DOER)
        bending, digest = ([], "") if bead.scaffolding else self._bending(bead, fork, head, boundary)
        if not bending:
            return None
        evidence = {**self.shown(fork, head, bending), TEST_DIGEST: digest}
        return NewEscalation(EscalationType.CHECKS_CHANGED, f"{bead.id}: checks changed", _question(bending), evidence)

    def _bending(self, bead: Bead, fork: str, head: str, boundary: boundaries.Boundary) -> tuple[list[Change], str]:
        found = [one for one in self._with_hooks(fork, head, boundary) if boundaries.bends_runner(one, boundary)]
        texts = ((_text(self.ports, head, one.path) or b"").decode("utf-8", "replace") for one in found)
        lines = (text.splitlines(keepends=True) or head for text in texts)
        contents = [[one.path, one.after, one.hooks, text] for one, text in zip(found, lines, strict=True)]
        digest = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
        asked = self.ports.store.escalations(open_only=False, bead=bead.id) if found else ()
        is_known = is_accepted(asked, EscalationType.CHECKS_CHANGED, digest, TEST_DIGEST)
        return ([] if is_known else found), digest

    def edits_tests(self, journal: Journal) -> bool:
        """Whether the change edits, removes or renames a test or fixture that was there, also within a file of code, or
        data that tests may run over."""
        fork, head = journal.change.fork, journal.change.head
        boundary = boundary_at(self.ports, fork, Role.DOER)
        changes = self.ports.git.changes(fork, head)
        return any(boundaries.edits_tests(one, boundary) or self._edits_inline(fork, head, one) for one in changes)

    def _edits_inline(self, fork: str, head: str, change: Change) -> bool:
        if change.before == ABSENT or not inline_tests.may_hold(change.path):
            return False
        try:
            texts = [self.ports.git.read(commit, change.path, PROTECTED_FILES_LARGEST) for commit in (fork, head)]
        except FileTooLarge:
            return True
        before, after = ((text or b"").decode("utf-8", "surrogateescape") for text in texts)
        return inline_tests.takes_away(change.path, before, after)

    def _with_hooks(self, begin: str, head: str, boundary: boundaries.Boundary) -> list[Change]:
        changes = list(self.ports.git.changes(begin, head))
        for place, change in enumerate(changes):
            if runner_hooks.may_hold(change.path):
                is_test = matches(change.path, boundary.tests)
                is_test = is_test and runner_hooks.is_loaded(change.path, self.ports.git.paths(head))
                changes[place] = replace(change, hooks=self._hooks(begin, head, change.path, is_test))
        return changes

    def _hooks(self, begin: str, head: str, path: str, is_test: bool) -> tuple[str, ...]:
        try:
            before, after = (self.ports.git.read(commit, path, PROTECTED_FILES_LARGEST) for commit in (begin, head))
        except FileTooLarge:
            return (runner_hooks.TOO_LARGE,) if is_test else ()
        old, new = (None if one is None else one.decode("utf-8", "surrogateescape") for one in (before, after))
        return runner_hooks.changed(path, old, new, is_test)

    def question_of_runner(self, journal: Journal, test: str) -> AttemptEnd:
        """The question about tests that pass although an altered test did not fail."""
        change = journal.change
        changed = self.ports.git.changes(change.fork, change.head)
        detail = (
            f"The checks passed. Then nobrakes altered {test} so that it has to fail. The test runner did not report "
            "this failure, or reported others too.\nOn main it reports this failure. Something in the branch may "
            "alter the runner, or a test is flaky. Read the diff. Accept exactly this commit, or send the work back."
        )
        evidence = {"test": test, **self.shown(change.fork, change.head, changed)}
        return AttemptEnd(Outcome.CHECKS_CHANGED, detail, change.head, evidence)

    def shown(self, begin: str, head: str, changed: Sequence[Change]) -> dict[str, Any]:
        text = difference(self.ports, begin, head, (change.path for change in changed))
        return {"head": head, "files": [_told(change) for change in changed[:50]], "difference": text}

    def is_accepted(self, bead: str, head: str) -> bool:
        asked = self.ports.store.escalations(open_only=False, bead=bead)
        return is_accepted(asked, EscalationType.CHECKS_CHANGED, head)


def difference(ports: Ports, base: str, head: str, paths: Iterable[str]) -> str:
    """What a person is shown of the difference in these files. Git compares them, and stops once there is enough."""
    texts: list[str] = []
    hidden: list[str] = []
    room = MAX_DIFF
    for path in dict.fromkeys(paths):
        if room < 0:
            break
        why = f"{path}: not shown, because it is binary or too large\n"
        contents = [_text(ports, commit, path) for commit in (base, head)]
        is_text = all(one is not None and one.count(b"\n") <= MAX_LINES for one in contents)
        texts += [path] * is_text
        hidden += [] if is_text else [why]
        room -= len(why)  # and no difference is shorter
    text, is_cut = ports.git.difference(base, head, texts, MAX_DIFF) if texts else ("", False)
    for why in hidden:
        is_cut = is_cut or len(text) + len(why) > MAX_DIFF
        text += "" if is_cut else why
    return clean(ports, f"{text}… and more: look at the commit\n" if is_cut or room < 0 else text)


def _text(ports: Ports, commit: str, path: str) -> bytes | None:
    """None: the file is binary or too large."""
    try:
        content = ports.git.read(commit, path, PROTECTED_FILES_LARGEST) or b""
    except FileTooLarge:
        return None
    return None if b"\0" in content else content


def _question(changed: Sequence[Change]) -> str:
    told = "\n".join(map(_told, changed[:20]))
    return (
        "The branch changes files that decide whether work passes, that can alter the test runner, or that tests "
        f"compare with:\n{told}\nAccept the change for exactly this commit, or send the work back."
    )


def _told(change: Change) -> str:
    hides = (f"hides {', '.join(change.hidden)}",) if change.hidden else ()
    what = ", ".join((*change.sections, *change.hooks, *hides))
    return f"{change.path}: {what}" if what else change.path


class Approvals:
    """People's decisions about merges."""

    def __init__(self, ports: Ports, gates: ProtectedFiles) -> None:
        self.ports = ports
        self.gates = gates
        self._contents: dict[tuple[str, str], str] = {}

    def is_missing(self, board: Board, entry: Entry) -> bool:
        return bool(needed(board, entry.bead)) and not self._given(entry.bead, entry.journal)

    def kept(self, board: Board, entry: Entry) -> Mapping[str, Any]:
        why = needed(board, entry.bead)
        return {"why": why, **self._given(entry.bead, entry.journal)} if why else {}

    def question(self, board: Board, bead: Bead, journal: Journal) -> AttemptEnd:
        """The question to a person."""
        ports, base, candidate = self.ports, journal.build.base, journal.build.candidate
        changes = ports.git.changes(base, candidate)
        tests = ports.config().boundary_at(ports.git, base, Role.TEST_WRITER, candidate).tests
        of_tests = [change for change in changes if matches(change.path, tests)]
        shown = self.gates.shown(base, candidate, [change for change in changes if change not in of_tests])
        evidence = {
            "head": journal.change.head,
            "commit": candidate,
            "main": base,
            **review_evidence.epic_of(ports),
            "content": self.content(base, candidate),
            "why": needed(board, bead.id),
            "test_files": [change.path for change in of_tests[:50]],
            "tests": self.gates.shown(base, candidate, of_tests)["difference"],
            "files": shown["files"],
            "difference": shown["difference"],
        }
        onto = review_evidence.main_of(ports)
        detail = (
            f"Every check passed on the merge result, based on {onto} at {base[:12]}. nobrakes asks you because "
            f"{evidence['why']}.\nRead the tests and the code. Accept the merge, or send the work back with a note. "
            f"Only this bead waits for your answer. If {onto} moves, your approval counts as long as the diff "
            f"stays the same. `nobrakes diff {bead.id}` shows the whole diff."
        )
        return AttemptEnd(Outcome.MERGE_REVIEW, detail, journal.change.head, evidence)

    def _given(self, bead: str, journal: Journal) -> Mapping[str, Any]:
        """Who approved this content, when and in which words; empty: none."""
        store = self.ports.store
        merged = last_merge(store, bead)
        content = self.content(journal.build.base, journal.build.candidate)
        found = given(store.escalations(open_only=False, bead=bead), content, self._said_since(merged, bead), merged)
        if found is None:
            return {}
        yes, event = found
        return {
            "escalation": yes.id,
            "by": clean(self.ports, event.actor)[:200],
            "at": yes.resolved_at,
            "words": clean(self.ports, yes.resolution)[:1000],
            "content": content,
            "head": str(yes.evidence.get("head", "")),
        }

    def content(self, base: str, candidate: str) -> str:
        """Cached: commits do not change and are inspected in many turns."""
        found = self._contents.get((base, candidate))
        if found is None:
            if len(self._contents) >= _MAX_CONTENTS:
                self._contents.clear()
            found = self._contents[base, candidate] = self.ports.git.content(base, candidate)
        return found

    def _said_since(self, merged: int, bead: str) -> Iterator[Event]:
        before = None
        while page := self.ports.store.latest_events((Kind.RESOLVED,), before, _PAGE, bead):
            for event in page:
                if event.seq <= merged:
                    return
                yield event
            before = page[-1].seq


_PAGE = 100
_MAX_CONTENTS = 100

SEARCHED = 50_000_000


# Files of more than 4 MB, and what comes after 50 MB of others, are not searched for secrets; of the latter is asked.
class SuspiciousContent:
    """Inspects what a branch would bring to main."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def question(self, bead: Bead, journal: Journal) -> AttemptEnd | None:
        """The question to a person; None: the review may go on."""
        change = journal.change
        asked = self.ports.store.escalations(open_only=False, bead=bead.id)
        if is_accepted(asked, EscalationType.UNUSUAL_CONTENT, change.head):
            return None
        found = self._reasons(journal)
        if not found:
            return None
        detail = (
            "The branch has content that people rarely want to publish:\n" + "\n".join(found[:20]) + "\n"
            "Accept the content for exactly this commit, or send the work back."
        )
        return AttemptEnd(Outcome.UNUSUAL_CONTENT, detail, change.head, {"head": change.head, "files": found[:50]})

    def _reasons(self, journal: Journal) -> list[str]:
        found = list(self.ports.git.laid_open(journal.change.fork, journal.change.head))
        left = SEARCHED
        for change in self.ports.git.changes(journal.change.fork, journal.change.head):
            if change.after == ABSENT:
                continue
            why = self._new_name(journal.change.fork, change)
            if why is None and change.after not in (SYMLINK, GITLINK):
                after = self._text(journal.change.head, change)
                left -= len(after)
                if left < 0:
                    return [*found, f"the branch adds over {SEARCHED // 1_000_000} MB; the rest was not searched"]
                before = self._text(journal.change.fork, change) if after and change.before != ABSENT else ""
                why = new_secrets(change.path, before, after)
            if why is not None:
                found.append(why)
        return found

    def _new_name(self, fork: str, change: Change) -> str | None:
        """Why its name is suspicious; None: it is not, or main has it or its folder already."""
        why = odd_name(change.path) if change.before == ABSENT else None
        if why is None:
            return None
        begins = [at for at, character in enumerate(change.path) if character == "/"]
        for at in reversed(begins):
            if any(path.startswith(change.path[: at + 1]) for path in self.ports.git.paths(fork)):
                return why if odd_name(change.path[at + 1 :]) is not None else None
        return why

    def _text(self, commit: str, change: Change) -> str:
        try:
            content = self.ports.git.read(commit, change.path, READ)
        except FileTooLarge:
            return ""
        return "" if content is None else content.decode("utf-8", "replace")


PLAIN = "100644"


@frozen
class Brought:
    """A branch's new contract: why it is invalid, or its digest and the shown text."""

    faults: tuple[str, ...] = ()
    digest: str = ""
    told: tuple[str, ...] = ()


# A contract that a scaffolding bead brings: approved are bytes, the whole file by its digest. Until main has it, it
# holds for this bead's review alone. It lands by itself: nobody's candidate stands under it or on it. Afterwards the
# person's file follows main's; what they edited meanwhile stays, and they are told.
class NewContract:
    """Inspects contracts in branches."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    # --- the question ----------------------------------------------------------------------------

    def brought(self, bead: Bead, journal: Journal) -> Brought | None:
        """None: the contract is unchanged."""
        git = self.ports.git
        if not bead.scaffolding:
            return None
        work = journal.change
        change = next((one for one in git.changes(work.fork, work.head) if one.path == CONTRACT), None)
        if change is None:
            return None
        if change.after != PLAIN:
            return Brought((f"{CONTRACT} has to be a plain file",))
        try:
            text = steps.text(git, journal.change.head)
            before = steps.config(git, journal.change.fork)
            after = parse(text or "", CONTRACT)
        except ConfigError as error:
            return Brought(tuple(str(error).splitlines()))
        paths = git.paths(journal.change.head)
        globs = before.boundaries.tests or layout_of(git, journal.change.head).tests
        will_be = after.boundaries.tests or layout_of(git, journal.change.head).tests
        was, becomes = asdict(before), asdict(after)
        wrong = faults(was, becomes, paths, globs, will_be)
        told = boundaries.tell(was, becomes, sorted(paths), will_be)
        if not wrong and clean(self.ports, "\n".join(told)) != "\n".join(told):
            wrong = [f"{CONTRACT} seems to contain a secret, which is not allowed"]
        return Brought(tuple(wrong), hashlib.sha256((text or "").encode()).hexdigest(), tuple(told))

    def is_accepted(self, bead: Bead, brought: Brought) -> bool:
        asked = self.ports.store.escalations(open_only=False, bead=bead.id)
        return is_accepted(asked, EscalationType.CHECKS_CHANGED, brought.digest, "contract")

    def question(self, journal: Journal, brought: Brought) -> AttemptEnd:
        """The question to a person, with the shown text."""
        change = journal.change
        is_first = not steps.config(self.ports.git, change.fork).checks
        detail = (
            f"The branch {'establishes' if is_first else 'changes'} the contract ({CONTRACT}): the checks that decide "
            "whether work passes.\n"
            "If you approve the contract, nobrakes validates this bead with it, and all work once it is on main. Your "
            "approval covers exactly this version; nobrakes asks again about any other version. Or send the work back."
        )
        evidence = {
            "contract": brought.digest,
            "commit": change.head,
            "establishes": list(brought.told),
            "difference": difference(self.ports, change.fork, change.head, [CONTRACT]),
        }
        return AttemptEnd(Outcome.CHECKS_CHANGED, detail, change.head, evidence)

    # --- one truth -------------------------------------------------------------------------------

    def hand_out(self, bead: Bead) -> None:
        """A scaffolding bead without checks gets the person's settings on main, to add checks to."""
        ports = self.ports
        if not bead.scaffolding or ports.git.read(ports.git.main(), CONTRACT) is not None:
            return
        own = for_git(ports.paths.folder)
        files: dict[str, bytes | None] = {f"{OWN_FOLDER}/{name}": content for name, content in own.items()}
        if CONTRACT not in files:
            return
        try:
            ports.git.commit_files(files, Message("Settings of nobrakes", "", US, ports.store.now()))
        except GitFailed as error:
            # a commit of named paths starts from HEAD: it takes nothing back where the checkout is behind
            typed = "git add .nobrakes && git commit -m 'Add the settings of nobrakes' .nobrakes"
            text = f"main has no {CONTRACT} yet, and nobrakes could not commit it: {error}. Type on main: {typed}"
            ports.notifier.tell(Notice(text, bead.id, urgent=True))
            return
        ports.notifier.tell(Notice(f"nobrakes committed {CONTRACT} on main; {bead.id} can add its checks", bead.id))

    def take_over(self, bead: str, journal: Journal) -> None:
        """The contract landed: align the person's file, or report the difference."""
        build = journal.build
        ports, git = self.ports, self.ports.git
        path = ports.paths.config
        wanted = git.read(build.candidate, CONTRACT, LARGEST_CONTRACT)
        present = _read(path)
        if wanted is None or present == wanted:
            return
        is_as_before = present == git.read(build.base, CONTRACT, LARGEST_CONTRACT)
        if is_as_before and (path == ports.paths.kept_config or git.elsewhere() is None):
            write_atomic(path, wanted, 0o644)
            return
        what = "belongs to another branch" if is_as_before else "has your edits"
        text = (
            f"{bead} brought a contract to main, but {path} {what} and stays in use. To use main's version, "
            f"copy it from `git show {build.candidate[:12]}:{CONTRACT}`."
        )
        ports.notifier.tell(Notice(text, bead, urgent=True))


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(LARGEST_CONTRACT)
    except OSError:
        return None


_CONTEXT = 3_800


def whose_work(bead: Bead, past: Sequence[Attempt]) -> Whose:
    if is_epic(bead):
        return Whose.EPIC
    return Whose.PERSON if is_by_person(past) else Whose.AGENTS


def question(journal: Journal, found: Next, rules: Rules, content: str, merged: int, whose: Whose) -> AttemptEnd:
    """The end of the review, with the question; the bead waits for the answer."""
    change = journal.change
    one = found.reading
    said = one.findings if one is not None and not found.why else ()
    stopping = rules.stopping(said)
    if stopping:
        assert one is not None
        head = f"Every check passed. Findings in round {one.round} of the code review that need your decision: "
        head += f"{len(stopping)} of {len(said)}."
    else:
        head = f"Every check passed, and no agent reviewed the code. {found.why}"
    tickets = any(each.priority is Priority.SHOULD for each in stopping)
    asked = form(
        {
            "kind": "radio",
            "options": options(bool(stopping), tickets, whose),
            "priority": min((each.priority.number for each in stopping), default=2),
            "context": reading.told(said)[:_CONTEXT],
        }
    )
    evidence = {
        "head": change.head,
        "commit": journal.build.candidate,
        "main": journal.build.base,
        **({"epic": change.epic} if change.epic else {}),
        "content": content,
        "merged": merged,
        "findings": [each.as_values() for each in said],
        **({"session": one.session.id, "round": one.round, "agent": one.session.agent} if one is not None else {}),
    }
    words = "An agent wrote the following; it is not an instruction.\n" + reading.told(said) if said else ""
    return AttemptEnd(Outcome.CODE_REVIEW, f"{head}\n{words}".strip(), change.head, evidence, as_values(asked))


BY = "nobrakes"


# Code review. A reviewer's begin and end are one transaction with their event: a crash finds the session
# again. While it reads, the review holds no place in the queue; what was read counts as long as the difference is the
# same. What is found in an epic that is merged as one is mended by a bead of it (beads.service.bead_commands).
class Readings:
    """The code reviews of open merge reviews."""

    def __init__(self, ports: Ports, approvals: Approvals) -> None:
        self.ports = ports
        self.approvals = approvals
        self.waits = reading.Waits()

    def rules(self, bead: str) -> Rules:
        return reading_rules(self.ports.store, self.ports.config(), bead)

    # --- in the queue ----------------------------------------------------------------------------

    def is_missing(self, entry: Entry) -> bool:
        if self.rules(entry.bead).way == reading.OFF:
            return False
        return self._next(entry.bead, entry.attempt, entry.journal).way not in (Way.PASS, Way.UNREAD)

    def kept(self, entry: Entry) -> Mapping[str, Any]:
        """The rounds of the code review, for the evidence of the merge; empty: there was none."""
        if self.rules(entry.bead).way == reading.OFF:
            return {}
        known, _, merged = self._all(entry.bead)
        found = reading.since(known, merged)
        yes = self._yes(entry.bead, entry.journal)
        if not found and yes is None:
            return {}
        said = {"by": yes.resolution[:500], "escalation": yes.id} if yes is not None else {}
        way = self._next(entry.bead, entry.attempt, entry.journal).way
        read = {"read": way is Way.PASS and yes is None, "cost_usd": round(reading.cost(found), 6)}
        return {**read, **said, "rounds": [one.as_values() for one in found]}

    # --- the step --------------------------------------------------------------------------------

    def turn(self, context: ReviewContext, journal: Journal) -> Report:
        """Start a reviewer, watch it, or report its result."""
        bead, attempt = context.bead, context.attempt
        if (more := epics.has_more(self.ports, bead, journal)) is not None:
            return more
        for one in self._all(bead.id)[0]:
            self._end_if_idle(context, one)
        found = self._next(bead.id, attempt.id, journal)
        if found.way is Way.BEGIN:
            self._begin(context, journal, found)
            found = self._next(bead.id, attempt.id, journal)
        if found.way is Way.WAIT and found.reading is not None:
            return self._waits(context, journal, found.reading)
        if found.way in (Way.PASS, Way.UNREAD):
            return Report(Fact.READ)
        rules = self.rules(bead.id)
        if found.way is Way.ASK:
            whose, merged = whose_work(bead, self.ports.store.attempts(bead.id)), last_merge(self.ports.store, bead.id)
            return questioned(question(journal, found, rules, self._content(journal), merged, whose))
        assert found.reading is not None, "what is sent back was found by somebody"
        self.ports.store.note_session(found.reading.session.id, {reading.SENT_BACK: attempt.id})
        return Report(Fact.SENT_BACK, ending=_sent_back(journal, found.reading, rules))

    def _waits(self, context: ReviewContext, journal: Journal, one: Reading) -> Report:
        session, board, rules = one.session, context.board, self.rules(context.bead.id)
        reason = f"code review: session {session.id}, round {one.round} of {rules.rounds}"
        is_ready = session.state is Of.READY and not board.paused
        since = self.waits.seen(one, board.now, board.paused)
        until = since + reading.timeout(rules.minutes) if is_ready else 0.0
        if (journal.merging.waiting, journal.merging.waiting_until) == (reason, until):
            return Report(Fact.NOT_YET)
        waits = {"waiting": reason, "waiting_until": until, "waiting_since": session.created_at}
        rest: dict[str, Any] = {"passing": False, "passing_since": 0.0, "behind": 0, "published": False}
        return Report(Fact.BLOCKED, {**waits, **rest})

    # --- sessions --------------------------------------------------------------------------------

    def _begin(self, context: ReviewContext, journal: Journal, found: Next) -> None:
        ports, bead = self.ports, context.bead
        rules = self.rules(bead.id)
        known, since, merged = self._all(bead.id)
        works = epics.works(ports, bead)
        agents = rules.agents or context.limits.agent_choice.agents(Role.DOER, bead.type.value)
        name = reading.reader(agents, {one.agent for one in works}, found.round, found.tries)
        spec = name, ports.adapter(name).provider, ports.config().agents.model_of(name, "reviewer")
        data = {
            reading.BEAD: bead.id,
            reading.ATTEMPT: context.attempt.id,
            reading.CONTENT: self._content(journal),
            reading.HEAD: journal.change.head,
            reading.BASE: journal.build.base,
            reading.CANDIDATE: journal.build.candidate,
            reading.ROUND: found.round,
            reading.TRY: found.tries,
            reading.SINCE: since,
            reading.MERGED: merged,
        }
        read = self._read(bead, journal, works, reading.since(known, merged))
        text = review_text(bead, read, found.round, rules.rounds)
        owner, title = bead_owner(bead.id), f"Review of {bead.id}, round {found.round}"[:100]
        told = {"round": found.round, "of": rules.rounds, "agent": name, "model": spec[2]}
        with ports.store.write():
            session = ports.store.begin_session(SessionKind.CODE_REVIEW, owner, title, spec, text, BY, data)
            told |= {"session": session.id, "head": journal.change.head}
            ports.store.record(Event(Kind.CODE_REVIEW_BEGAN, bead.id, context.attempt.id, data=told))

    def _read(self, bead: Bead, journal: Journal, works: list[Attempt], known: list[Reading]) -> Read:
        build = journal.build
        ports = self.ports
        within = epics.within(ports, bead)
        answers = [one for one in works if not within or is_mend(ports.store.bead(one.bead), bead.id)]
        passed = ports.store.validation(build.tree, build.contract) or {}
        changes = ports.git.changes(build.base, build.candidate)
        return Read(
            build.base,
            build.candidate,
            [change.path for change in changes],
            self.approvals.gates.shown(build.base, build.candidate, changes)["difference"],
            passed.get("results", ()),
            [one.as_values() for one in known if one.outcome == reading.DONE],
            answers[-1].log.summary if answers else "",
            [one.answer or one.resolution for one in self._asked(bead.id) if one.resolved_at is not None],
            within,
        )

    def _end_if_idle(self, context: ReviewContext, one: Reading) -> None:
        session = one.session
        if one.outcome:
            return
        halted = session.state is Of.IDLE and self.ports.store.turns(session.id)[-1].outcome not in CLEAN
        board = context.board
        waited = board.now - self.waits.seen(one, board.now, board.paused)
        if (ended := reading.ended(one, self.rules(context.bead.id).minutes, waited, halted)) is not None:
            self._end(one, context.attempt.id, *ended)

    def _end(self, one: Reading, attempt: int, outcome: str, why: str) -> None:
        store, session = self.ports.store, one.session
        bead = str(session.data[reading.BEAD])
        rows = [[f.priority.value, f.category, f.place, f.text] for f in one.findings]
        told = {**one.as_values(), "why": why[:500], "of": self.rules(bead).rounds, "findings": rows}
        del told["outcome"]
        told["state"] = outcome
        told |= {name.lower(): number for name, number in reading.counted(one.findings).items()}
        with store.write():
            store.note_session(session.id, {reading.OUTCOME: outcome, reading.WHY: why[:500]})
            if session.state is not Of.ENDED:
                store.end_session(session.id, BY)
            if outcome != reading.DROPPED:
                store.record(Event(Kind.CODE_REVIEW_ENDED, bead, attempt, data=told))
        if outcome == reading.FAILED and session.data.get(reading.TRY, 1) >= reading.TRIES:
            self.ports.notifier.tell(Notice(f"{bead}: no agent finished a code review: {why[:300]}", bead))

    def settle(self, reads: Collection[int]) -> None:
        """End sessions of ended reviews; `reads`: open reviews that are being read."""
        for session in self.ports.store.sessions():
            if session.kind is SessionKind.CODE_REVIEW and session.data.get(reading.ATTEMPT) not in reads:
                self._end(Reading.of(session), 0, reading.DROPPED, "the bead's review ended before the code review")

    # --- what is known ---------------------------------------------------------------------------

    def _next(self, bead: str, attempt: int, journal: Journal) -> Next:
        past = self.ports.store.attempts(bead)
        if is_built(past) or self._yes(bead, journal) is not None:
            return Next(Way.PASS)
        known, since, _ = self._all(bead)
        counted = [one for one in known if one.session.data.get(reading.SINCE) == since]
        return reading.following(self.rules(bead), counted, self._content(journal), attempt, not is_by_person(past))

    def _all(self, bead: str) -> tuple[list[Reading], str, int]:
        """The bead's reviews; since when rounds count; after which merge."""
        merged = last_merge(self.ports.store, bead)
        decided = sum(one.resolved_at is not None for one in self._asked(bead))
        return reading.session_readings(self.ports.store.code_reviews(bead)), f"{merged}.{decided}", merged

    def _asked(self, bead: str) -> list[Escalation]:
        found = self.ports.store.escalations(open_only=False, bead=bead)
        return [one for one in found if one.type is EscalationType.CODE_REVIEW]

    def _yes(self, bead: str, journal: Journal) -> Escalation | None:
        content, merged = self._content(journal), last_merge(self.ports.store, bead)
        said = [one for one in self._asked(bead) if one.resolved_at is not None and is_approval(one.resolution)]
        of_it = (one for one in said if (one.evidence.get("content"), one.evidence.get("merged")) == (content, merged))
        return next(of_it, None)

    def _content(self, journal: Journal) -> str:
        return self.approvals.content(journal.build.base, journal.build.candidate)


def _sent_back(journal: Journal, one: Reading, rules: Rules) -> AttemptEnd:
    stopping = rules.stopping(one.findings)
    share = max(120, 2_600 // max(1, len(stopping)))
    lines = [reading.told([found])[:share] for found in stopping]
    detail = (
        f"All checks passed. Then another agent reviewed the code, in round {one.round}. Fix the findings; where a "
        "finding is wrong, say why in the summary of your log.\n" + "\n".join(lines)
    )
    return AttemptEnd(Outcome.FINDINGS, detail, journal.change.head, {"session": one.session.id})
