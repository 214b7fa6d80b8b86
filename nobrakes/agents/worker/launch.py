"""Starting agents: the workspace, the prompt, the environment, and the child.

1. The attempt opens before anything is touched; each step can be repeated after a crash.
2. A kept branch is continued, even if its clone was archived; else work starts afresh and the old work is archived.
3. A Doer starts from the proven tests, moved to the current main if they apply. The attempt's data has that commit
   (`start`) and its commit of main (`fork`), as main may be rewritten later.
4. The previous attempt's session is continued if agents.limits allows it and nobody else holds it.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Sequence, Set
from dataclasses import replace

from ... import US, abilities
from ...abilities import Standing
from ...beads.branches import branch_of
from ...beads.model import FORK, NO_AGENTS, Attempt, Bead, Outcome, Role, Run, RunKind
from ...checks.worker.steps import setup_argv
from ...config.settings import Config
from ...daemon.model import Board, Limits, Terminate
from ...errors import NobrakesError
from ...events.kinds import Event, Kind
from ...git.port import Candidate, Message, Workspace
from ...host import versions
from ...host.confine import OWN, Confinement
from ...host.port import Command, Notice
from ...host.runs import recording
from ...parking import owner_of, parked
from ...paths import Paths
from ...ports import Ports
from ...requests.worker.landing_branch import git_of
from ...sessions.model import Talk
from ..adapter import Adapter, Assignment, Launch, without_sessions
from ..limits import BEGUN, RESUMES, goes_on
from ..prompts import TOLD, Briefing, brief, digest, instructions
from . import process
from .process import SELF_TEST, STEP


class Adapters:
    """Adapters by name, degraded by what is known of their CLI."""

    def __init__(
        self, whole: Callable[[str], Adapter], paths: Paths, config: Callable[[], Config], path: str | None
    ) -> None:
        self.whole = whole
        self.paths = paths
        self.config = config
        self.path = path
        self.versions = versions.Versions(paths, path, writes=True)

    def __call__(self, name: str) -> Adapter:
        adapter = self.whole(name)
        return adapter if not abilities.is_tried(name) or self._condition(name).resumes else without_sessions(adapter)

    def degraded(self) -> list[str]:
        """Of the agents in the settings, what each can do less."""
        return [said for name in self.config().agents.agent_choice().names() if (said := self._condition(name).said)]

    def trouble(self, name: str) -> str:
        command, asks = self.config().agents.command(name), abilities.reports_version(name)
        return versions.trouble(command[0], self.path or os.defpath, self.paths.root, asks) if command else ""

    def _condition(self, name: str) -> Standing:
        command = self.config().agents.command(name)
        return abilities.standing(name, command, abilities.recall(self.paths), self.versions, self.path)


class NewTroubles:
    """Of the troubles that stand, those that did not stand when it was asked last."""

    def __init__(self, troubles: Callable[[], list[str]]) -> None:
        self._troubles = troubles
        self._before: list[str] = []

    def __call__(self) -> list[str]:
        before, self._before = self._before, self._troubles()
        return [one for one in self._before if one not in before]


def tell(ports: Ports) -> None:
    for why in ports.degraded():
        ports.notifier.tell(Notice(why, urgent=True))
        ports.store.record(Event(Kind.DEGRADED, data={"why": why}))


WINDOW = "window"
"""In an attempt's data: its model's context in tokens, if known in advance."""
METER = "tells"
"""In an attempt's data: whether its output may report usage."""
DIARY = "diary"
"""In an attempt's data: folder and glob of its CLI's session files."""


def tests_pin(bead: str) -> str:
    return f"tests/{bead}"


class Launcher:
    """Turns an open attempt into a running agent."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.confinement = Confinement(ports, travels=True)

    def start(self, attempt: Attempt, limits: Limits) -> None:
        """Start the attempt's agent; repeatable after a crash."""
        ports = self.ports
        config = ports.config()
        bead = ports.store.bead(attempt.bead)
        start, fork, workspace = self._workspace(bead, attempt)
        minutes = limits.caps.attempt.minutes
        seconds = limits.agent_seconds if minutes is None else min(limits.agent_seconds, minutes * 60)
        run_id = f"{attempt.id}-agent"
        folder = os.path.join(ports.paths.runs, run_id)
        last = self._held_session(bead, attempt, start, workspace)
        settings = config.within(ports.git, start, attempt.role)
        briefing = self._briefing(settings, bead, attempt, last)
        tell(ports)  # a CLI may be another one than when the daemon began
        adapter = ports.adapter(attempt.agent)
        launch = adapter.launch(
            Assignment(
                role=attempt.role,
                bead=bead.id,
                worker=attempt.name,
                attempt=attempt.number,
                prompt=briefing.prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=workspace.path,
                folder=os.path.join(folder, OWN),
                session=(last and last.provider_session)
                or str(uuid.UUID(hashlib.md5(attempt.token.encode()).hexdigest(), version=4)),
                resume=last is not None,
                env=self._environment(settings, bead, attempt, workspace, folder, adapter.credentials),
                settings=config.agents.seated(attempt.agent, attempt.role.value, limits.caps.attempt.usd),
                system_prompt=briefing.system,
                guard=ports.guard,
                permitted=process.permitted(self.confinement, config, attempt.agent),
            )
        )
        now = ports.store.now()
        session = launch.session if last is None else None
        if session is not None and not ports.store.hold_session(session, attempt.id, fresh=True):
            raise NobrakesError(f"another attempt is using the session {session}", "The next attempt starts a new one.")
        data = {
            **attempt.data,
            "phase": "agent",
            "start": start,
            FORK: fork,
            TOLD: digest(bead),
            BEGUN: False,
            RESUMES: last.number if last else None,
            WINDOW: launch.context_tokens,
            DIARY: launch.diary,
            **({METER: True} if launch.reports_usage else {}),
        }
        if not ports.store.journal(attempt.id, data, briefing.answers):
            self.start(attempt, limits)  # an answer was taken back since the prompt was made with it
            return
        deadline, idle = now + seconds, limits.idle_seconds
        run = Run(run_id, attempt.id, RunKind.AGENT, now, hard_deadline=deadline, idle_seconds=idle, active_at=now)
        ports.store.plan_run(run)
        born = ports.processes.start(run_id, self._command(launch, run_id, folder, workspace, briefing.prompt))
        ports.store.update_run(run_id, pid=born.pid, born=born.mark)

    def _held_session(self, bead: Bead, attempt: Attempt, start: str, workspace: Workspace) -> Attempt | None:
        """The attempt whose session this one resumes and now holds."""
        if not (bead.branch_kept and workspace.is_kept):  # the sessions of a clone that was archived went with it
            return None
        last = goes_on(attempt, self.ports.store.attempts(bead.id), start)
        session = last and last.provider_session
        return last if session and self.ports.store.hold_session(session, attempt.id) else None

    def _command(self, launch: Launch, run_id: str, folder: str, workspace: Workspace, prompt: str) -> Command:
        """The workspace's steps, the set-up in a new one, and the agent, confined. A narrowed kept clone becomes whole
        again, unless the set-up narrows it."""
        confined = self.confinement.agent(run_id, workspace.path, folder, launch, made=workspace)
        prologue, setup = workspace.prologue, self.ports.config().setup
        if workspace.is_kept and not self.confinement.is_remote():  # what it set up before stayed on its node
            again = setup if "sparse-checkout" in setup else ""
            setup = f"git sparse-checkout disable || :\n{again}" if workspace.is_narrow else ""
        if prologue:
            prologue += tuple(recording.capped(confined.wrap(argv)) for argv in setup_argv(workspace.path, setup))
        return process.command(launch, confined, folder, workspace.path, prompt, prologue)

    def _workspace(self, bead: Bead, attempt: Attempt) -> tuple[str, str | None, Workspace]:
        """The commit that the role's changes are measured from, main's commit under it, and the workspace."""
        git = git_of(self.ports, bead)
        left = None if git.has_workspace(bead.id) else self._archived(bead, attempt)
        if left is not None:
            head, files = left
            start = str(attempt.data.get("start") or self._earlier_start(bead, attempt))
            return start, self._earlier_fork(bead), git.workspace(bead, head, attempt.name, files)
        if attempt.data.get("start"):  # a crash cut the start off
            start, fork = str(attempt.data["start"]), attempt.data.get(FORK)
        elif git.has_workspace(bead.id) and bead.branch_kept:
            start, fork = self._earlier_start(bead, attempt), self._earlier_fork(bead)
        else:
            if git.has_workspace(bead.id):
                git.retire(bead, attempt.fence - 1)  # its holder's, so that no archive of ours takes its place
            start, fork = self._fresh_start(bead, attempt)
        git.pin(f"start/{bead.id}", start)  # a person may take it off main while it is worked on
        return start, fork, git.workspace(bead, start, attempt.name)

    def _archived(self, bead: Bead, attempt: Attempt) -> tuple[str, str] | None:
        """A kept branch and the commit of its files, after its clone was archived (an undone cancel)."""
        if not bead.branch_kept:
            return None
        git = git_of(self.ports, bead)
        fences = [a.fence for a in self.ports.store.attempts(bead.id) if a.id != attempt.id and a.role not in NO_AGENTS]
        # what was archived before the last agent began is older than what it was given
        found = [(*_archive_name(ref), commit) for ref, commit in git.archived(bead.id)]
        newest = max((fence for fence, _, _ in found if fences and fence >= max(fences)), default=None)
        kept = {kind: commit for fence, kind, commit in reversed(found) if fence == newest}
        files = kept.get("wip") or kept.get("branch")
        head = kept.get("branch") or (git.fork(git.main(), files, self._earlier_fork(bead)) if files else None)
        return (head, files) if head and files else None

    def _earlier_start(self, bead: Bead, attempt: Attempt) -> str:
        """On a kept branch: the proven tests for a Doer, else the start of the role's earlier attempts."""
        for earlier in reversed(self.ports.store.attempts(bead.id)):
            if earlier.id == attempt.id or not earlier.head:
                continue
            if earlier.role is attempt.role and earlier.data.get("start"):
                return str(earlier.data["start"])
            if earlier.role is Role.TEST_WRITER and earlier.outcome is Outcome.COMPLETED:
                return earlier.head
        past = (a for a in self.ports.store.attempts(bead.id) if a.role not in NO_AGENTS)
        starts = [a.data["start"] for a in past if a.data.get("start")]
        return str(starts[-1]) if starts else (attempt.base or git_of(self.ports, bead).main())

    def _earlier_fork(self, bead: Bead) -> str | None:
        agents = (one for one in reversed(self.ports.store.attempts(bead.id)) if one.role not in NO_AGENTS)
        return next((one.data.get(FORK) for one in agents if one.data.get("start")), None)

    def _fresh_start(self, bead: Bead, attempt: Attempt) -> tuple[str, str | None]:
        """Main, or for a Doer the proven tests on it; and the commit of main below."""
        git = git_of(self.ports, bead)
        main = attempt.base or git.main()
        proof = proven_tests(self.ports, bead.id) if attempt.role is Role.DOER else None
        if proof is None or proof.head is None:
            return main, main
        began = git.fork(main, proof.head, proof.data.get(FORK))
        if began == main:
            return proof.head, main
        us, when = US, proof.ended_at or proof.started_at
        message = Message(f"Tests for {bead.title}", "", us, when, (("Bead", bead.id),))
        moved = git.squash(main, proof.head, message, began)
        if not isinstance(moved, Candidate):
            return proof.head, began
        git.pin(tests_pin(bead.id), moved.commit)
        return moved.commit, main

    def _briefing(self, config: Config, bead: Bead, attempt: Attempt, last: Attempt | None) -> Briefing:
        ports = self.ports
        nonce = hashlib.sha256(attempt.token.encode()).hexdigest()[:12]
        main = git_of(ports, bead).main()
        own = instructions(lambda path: ports.git.read(main, path), bead.touches)
        return brief(ports.store, ports.paths, config, config.main, bead, attempt.role, nonce, attempt.id, last, own)

    def _environment(
        self, config: Config, bead: Bead, attempt: Attempt, workspace: Workspace, folder: str, names: Sequence[str]
    ) -> dict[str, str]:
        keys = ("name", "command", "directory", "timeout")
        return {
            **process.environment(self.ports, config, names, attempt.token, folder),
            "NOBRAKES_BEAD": bead.id,
            "NOBRAKES_BRANCH": branch_of(bead),
            "NOBRAKES_ROLE": attempt.role.value,
            "NOBRAKES_ATTEMPT": str(attempt.number),
            "NOBRAKES_NAME": attempt.name,
            "NOBRAKES_WORKSPACE": workspace.path,
            "NOBRAKES_CHECKS": json.dumps([{key: getattr(check, key) for key in keys} for check in config.contract()]),
            "NOBRAKES_SCAFFOLDING": "1" if bead.scaffolding else "",
        }


def _archive_name(ref: str) -> tuple[int, str]:
    """Fence and kind of an archive's name: `<fence>-branch`, `<fence>-wip`, perhaps with an id."""
    fence, _, kind = ref.rpartition("/")[2].partition("-")
    return (int(fence) if fence.isdigit() else -1), kind.partition("-")[0]


def proven_tests(ports: Ports, bead: str) -> Attempt | None:
    """The bead's latest Test Writer if its tests were proven red."""
    for attempt in reversed(ports.store.attempts(bead)):
        if attempt.role is Role.TEST_WRITER and attempt.outcome is not None:
            return attempt if attempt.outcome is Outcome.COMPLETED else None
    return None


LOOK_SECONDS = 0.5
NAMED = "named"
"""In a turn's data: the CLI's session id, if nobrakes chose it."""
HEAD = 256_000
"""Bytes of output read for it; an agent's first act comes far earlier."""


def note_session(ports: Ports, attempt: Attempt, head: bytes) -> Attempt:
    """The attempt, with its session if the output names it."""
    if attempt.data.get(BEGUN):
        return attempt
    found = ports.adapter(attempt.agent).session(head.split(b"\n")[:-1])
    expected = attempt.provider_session
    if found is None or (expected is not None and expected != found):
        return attempt
    if expected is None and not ports.store.hold_session(found, attempt.id, fresh=True):
        return attempt
    noted = replace(attempt, data={**attempt.data, BEGUN: True}, provider_session=found)
    ports.store.journal(attempt.id, noted.data)
    return noted


def hear_turn(ports: Ports, talk: Talk, head: bytes) -> bool:
    """Record a turn's session; whether it has begun just now."""
    found = ports.adapter(talk.agent).session(head.split(b"\n")[:-1])
    if found is None or talk.turn.data.get(BEGUN):
        return False
    named = talk.session.provider_session if talk.turn.resumes else talk.turn.data.get(NAMED)
    return (named is None or named == found) and ports.store.hear_session(talk.turn.id, found)


def head_of(ports: Ports, run: Run) -> bytes:
    return ports.processes.head(os.path.join(ports.paths.runs, run.id, f"{STEP}.out"), HEAD)


class GuardWatch:
    """Watches the beginnings of agents."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._known: set[str] = set()
        self._waiting: set[str] = set()

    def plan(self, board: Board) -> list[Terminate]:
        """The runs to stop."""
        actions = []
        self._waiting = set()
        for run in board.all_runs:
            if run.id in self._known or run.kind is not RunKind.AGENT or run.pid is None or run.term_at is not None:
                continue
            if (work := board.work_of(run)) is None:
                continue
            with parked(self.ports, owner_of(work)):
                if self._refuses(run, work):
                    actions.append(Terminate(run.id, Outcome.GUARD_FAILED))
        return actions

    def _refuses(self, run: Run, work: Attempt | Talk) -> bool:
        processes = self.ports.processes
        adapter = self.ports.adapter(work.agent)
        folder = os.path.join(self.ports.paths.runs, run.id)
        self_test = processes.output(os.path.join(folder, SELF_TEST), 100)  # first: it is there before what follows it
        head = head_of(self.ports, run)
        if adapter.refuses(head, self_test) is not None:
            return True
        told = adapter.session(head.split(b"\n")[:-1]) is not None
        if isinstance(work, Talk):
            hear_turn(self.ports, work, head)
        else:
            note_session(self.ports, work, head)
        is_known = adapter.guarded(head, self_test) and (told or not adapter.sessions)
        (self._known if is_known else self._waiting).add(run.id)
        return False

    def keep(self, runs: Set[str]) -> None:
        self._known &= runs
        self._waiting &= runs

    def wake_at(self, now: float) -> list[float]:
        return [now + LOOK_SECONDS] if self._waiting else []
