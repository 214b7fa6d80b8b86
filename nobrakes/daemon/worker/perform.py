"""Does what the deciders asked for: one method for each action."""

import contextlib
import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ...agents.adapter import Verdict
from ...agents.limits import CAP_REPORTED
from ...agents.worker.end import close, cool, offered
from ...agents.worker.exit import AgentEndings
from ...agents.worker.launch import Launcher
from ...agents.worker.process import StartProbe
from ...agents.worker.watch import WorkWatch
from ...beads.model import Attempt, Outcome, Role, Run, RunKind, Status, bead_owner, session_owner
from ...beads.progress import approaches
from ...checks.policy.boundaries import barred, fault
from ...checks.worker import validation
from ...checks.worker.validation import Validation
from ...decisions.model import EscalationType, NewEscalation
from ...errors import ConfigError, NobrakesError, NotAllowed, Tampered
from ...events.kinds import Event, Kind
from ...host.confine import REFUSED
from ...machine.worker import MachineShare, MemoryWatch
from ...notices.worker import retire
from ...ports import Ports
from ...requests.worker.landing_branch import ensure_objects, git_of
from ...review.worker.asked import NewContract
from ...review.worker.driver import Reviews
from ...review.worker.verdicts import Watchman
from ...sessions.model import Talk
from ...sessions.worker import NO_PLACE, TurnEndings, TurnLauncher, folder_of, run_of
from .. import model

MAX_REFUSED = 32_000


class AgentStarts:
    """Starts agents of beads and sessions while the machine has places."""

    def __init__(self, ports: Ports, share: MachineShare, endings: TurnEndings, new_contract: NewContract) -> None:
        self.ports = ports
        self.share, self.endings, self.new_contract = share, endings, new_contract
        self.launcher, self.turns, self.probe = Launcher(ports), TurnLauncher(ports), StartProbe(ports)

    def start_agent(self, action: model.StartAgent, board: model.Board) -> bool:
        """Open an attempt and start its agent; whether the board changed."""
        ports = self.ports
        config = ports.config()
        adapter = ports.adapter(action.agent)
        if (held := self.probe.holds(action.agent, adapter.provider, board)) is not None:
            return held
        self.launcher.confinement.nothing()
        if not config.checks:
            self.new_contract.hand_out(ports.store.bead(action.bead))
        if not self.share.take(bead_owner(action.bead)):
            return False
        with self.share.starting(bead_owner(action.bead)) as place:
            attempt = ports.store.open_attempt(
                action.bead,
                action.role,
                action.agent,
                config.worker_names(),
                board.limits.lease_seconds,
                git_of(ports, ports.store.bead(action.bead)).main(),
                adapter.provider,
                config.agents.model_of(action.agent, action.role.value),
                config.git.branch_pattern,
            )
            if attempt is None:
                return False
            place.is_used = self._launch(attempt, board)
        return True

    def _launch(self, attempt: Attempt, board: model.Board) -> bool:
        run = _run_of_agent(attempt, board)
        try:
            if self._is_barred(attempt, run, board):
                return False
            self.launcher.start(attempt, board.limits)
            return True
        except NobrakesError as error:
            outcome = Outcome.BAD_CONFIGURATION if isinstance(error, ConfigError) else Outcome.WORKSPACE_FAILED
            self._end_start(run)
            cool(self.ports, attempt, Verdict(outcome, error.whole))
            close(self.ports, board.limits, attempt, outcome, error.whole)
            self.ports.store.end_run(run.id)
            return False
        except Exception:  # an unexpected error (daemon.worker.recovery)
            self._end_start(run)
            self.ports.store.end_run(run.id)
            raise

    def _is_barred(self, attempt: Attempt, run: Run, board: model.Board) -> bool:
        store = self.ports.store
        bead = store.bead(attempt.bead)
        asked = store.escalations(open_only=False, bead=bead.id) if bead.touches else ()
        if not bead.touches or any(one.type is EscalationType.FILTER_NOT_ALLOWED for one in asked):
            return False
        main = git_of(self.ports, bead).main()
        changes = self.ports.git.barred_at(main, bead.touches)
        if (why := fault((), changes)) is not None:
            evidence = {"base": main, "touches": bead.touches, **barred(changes)}
            self._end_start(run)  # a start that a crash cut off may have come far
            close(self.ports, board.limits, attempt, *why, evidence=evidence)
            store.end_run(run.id)
        return why is not None

    def launch_again(self, attempt: Attempt, board: model.Board) -> None:
        """Continue a start after a crash; the bead goes back if its place is gone."""
        run = _run_of_agent(attempt, board)
        if self.share.take_again(run):
            with self.share.starting(run.id) as place:
                place.is_used = self._launch(attempt, board)
            return
        self._end_start(run)
        close(self.ports, board.limits, attempt, Outcome.INTERRUPTED, NO_PLACE)
        self.ports.store.end_run(run.id)

    def start_turn(self, action: model.StartTurn, board: model.Board) -> bool:
        """Open a session's turn and start its agent; whether the board changed."""
        session = self.ports.store.session(action.session)
        if (held := self.probe.holds(session.agent, session.provider, board)) is not None:
            return held
        self.turns.confinement.nothing()
        if not self.share.take(session_owner(action.session)):
            return False
        with self.share.starting(session_owner(action.session)) as place:
            if (opened := self.ports.store.open_turn(action.session)) is None:
                return False
            place.is_used = self._launch_turn(Talk(self.ports.store.session(action.session), opened[0]), board)
        return True

    def resume_turn(self, action: model.ResumeTurn, board: model.Board) -> bool:
        """Restart a turn's agent, or end the turn without a place."""
        talk = next(one for one in board.talks if one.turn.id == action.turn)
        run = _run_of_turn(talk, board)
        if self.share.take_again(run):
            with self.share.starting(run.id) as place:
                place.is_used = self._launch_turn(talk, board)
            return True
        self._end_start(run)
        self.endings.had_no_place(talk, board.limits)
        self.ports.store.end_run(run.id)
        return True

    def _launch_turn(self, talk: Talk, board: model.Board) -> bool:
        run = _run_of_turn(talk, board)
        try:
            self.turns.start(talk, board.limits)
            return True
        except NobrakesError as error:
            self._end_start(run)
            self.endings.failed_to_start(talk, error, board.limits)
            self.ports.store.end_run(run.id)
            return False
        except Exception:  # an unexpected error (daemon.worker.recovery)
            self._end_start(run)
            self.ports.store.end_run(run.id)
            raise

    def _end_start(self, run: Run) -> None:
        """The process may have started before the error, so end it and its channel."""
        self.ports.in_place()
        self.ports.processes.kill(run)
        self.ports.channel.end(run.id)


class Performer:
    """Performs the daemon's actions; each may repeat after a crash."""

    def __init__(
        self,
        ports: Ports,
        trouble: Callable[[str, bool], None],
        refused: dict[int, Tampered],
        work: WorkWatch,
        watchman: Watchman,
    ) -> None:
        """`trouble` reports unreadable limits, `watchman` a red main. `refused`: why work is not fetched."""
        self.ports = ports
        self.validation = Validation(ports)
        self.share, self.memory = MachineShare(ports, trouble), MemoryWatch(ports)
        self.turn_endings = TurnEndings(ports)
        self.review = Reviews(ports, self.validation, watchman)
        self.starts = AgentStarts(ports, self.share, self.turn_endings, self.review.main.new_contract)
        asks = self.review.main.gates.tests_escalation
        self.endings = AgentEndings(ports, self.validation, asks, watchman, work, refused)
        self._renewed = -math.inf
        self._methods: dict[type, Callable[[Any, model.Board], bool]] = {
            model.StartAgent: self.starts.start_agent,
            model.StartTurn: self.starts.start_turn,
            model.ResumeTurn: self.starts.resume_turn,
            model.StartReview: self._start_review,
            model.AskPerson: self._ask_person,
            model.TellCap: self._tell_cap,
            model.Resume: self._resume,
            model.CompleteEpic: self._complete_epic,
            model.LandEpic: self._land_epic,
            model.GoOnUnapproved: self._go_on_unapproved,
            model.Terminate: self._terminate,
            model.Kill: self._kill,
            model.Sample: self._sample,
            model.RenewLeases: self._renew,
        }

    def perform(self, action: model.Action, board: model.Board) -> bool:
        """Whether the board changed."""
        return self._methods[type(action)](action, board)

    def seen(self, board: model.Board) -> model.Board:
        return self.memory.seen(self.review.bases.seen(board))

    def wake_at(self, board: model.Board) -> list[float | None]:
        return [self.share.wake_at(board), self.memory.wake_at(board), *self.review.wake_at()]

    def ended(self, run: Run, board: model.Board) -> None:
        """Handle a dead run."""
        if run.kind is RunKind.AGENT:
            self.ports.channel.end(run.id)
        ports = self.ports
        if hosts := ports.processes.output(os.path.join(ports.paths.runs, run.id, REFUSED), MAX_REFUSED).split():
            bead = ports.store.bead_of_attempt(run.attempt) if run.attempt else None
            data = {"run": run.id, "hosts": hosts}
            ports.store.record(Event(Kind.HOSTS_REFUSED, bead, run.attempt or None, data=data))
        if run.turn:
            talk = next((one for one in board.talks if one.turn.id == run.turn), None)
            if talk is not None:
                self.turn_endings.ended(talk, run, board.limits)
            self.ports.store.end_run(run.id)
            return
        attempt = board.attempt(run.attempt)
        if attempt is None:
            self._stray(run)
        elif run.kind is RunKind.AGENT:
            self.endings.agent(attempt, run, board.limits)
        elif run.kind is RunKind.RED_PROOF:
            self.endings.proof(attempt, run, board.limits)
        elif run.kind is RunKind.CHEAT:
            self.endings.strength.ended(attempt, run, board.limits)
        elif (following := self.review.ended(attempt, run, board)) is not None:
            if not board.stopping:
                self.review.advance(following, board)
            return  # the run's row went with its end
        if attempt is not None and self.ports.store.attempt(attempt.id).outcome is not None:
            self.ports.store.end_run(run.id)

    def _stray(self, run: Run) -> None:
        ports = self.ports
        bead = ports.store.bead(ports.store.attempt(run.attempt).bead)
        if run.kind is RunKind.AGENT:
            with contextlib.suppress(Tampered):  # it stays where it is, and is put aside when its place is needed
                ports.git.archive(bead, bead.fence)
        else:
            self.validation.scratch.drop(run.id)
        if bead.status in (Status.DONE, Status.CANCELLED):
            retire(ports, bead)
        ports.store.end_run(run.id)

    def _ask_person(self, action: model.AskPerson, board: model.Board) -> bool:
        store = self.ports.store
        tried = {"attempts": approaches(store.attempts(action.bead))}
        new = NewEscalation(action.type, action.title, action.detail, tried)
        store.escalate(offered(store, store.bead(action.bead), new), action.bead, None, "nobrakes")
        return True

    def _tell_cap(self, action: model.TellCap, board: model.Board) -> bool:
        store, one = self.ports.store, action.reached
        with store.write():
            store.set_setting(f"{CAP_REPORTED}{one.name}", one.period)
            data = {"cap": one.name, "spent": one.spent, "limit": one.limit, "until": one.until}
            store.record(Event(Kind.CAP_REACHED, data=data))
        return True

    def _start_review(self, action: model.StartReview, board: model.Board) -> bool:
        attempt = self.ports.store.open_attempt(
            action.bead, Role.REVIEWER, "nobrakes", (), board.limits.lease_seconds, None
        )
        if attempt is None:
            return False
        self.review.advance(attempt, board)
        return True

    def _resume(self, action: model.Resume, board: model.Board) -> bool:
        attempt = board.attempt(action.attempt)
        assert attempt is not None, "its action is of this board"
        if (run := board.runs.get(attempt.id)) is not None and run.kind is not RunKind.AGENT:
            if run.kind is RunKind.VALIDATION:
                self.review.restart(attempt)
            elif run.kind is RunKind.CHEAT:
                self.endings.strength.go_on(attempt, board.limits)
            else:
                self.endings.start_proof(attempt)
        elif attempt.role is Role.REVIEWER:
            if board.stopping:
                return self.review.stop(attempt, board)
            return self.review.advance(attempt, board)
        elif attempt.data.get("phase") == validation.PHASE:
            self.endings.strength.go_on(attempt, board.limits)
        elif attempt.data.get("phase") == "proof":
            self.endings.start_proof(attempt)
        else:
            self.starts.launch_again(attempt, board)
        return True

    def _complete_epic(self, action: model.CompleteEpic, board: model.Board) -> bool:
        from ...features.worker.forge import complete, holds_back

        if holds_back(self.ports, action.epic):
            return False
        try:
            with self.ports.store.write():
                self.ports.store.record(Event(Kind.EPIC_COMPLETED, action.epic))
                complete(self.ports.store, action.epic)
        except NotAllowed:
            return False  # a person closed it meanwhile
        return True

    def _land_epic(self, action: model.LandEpic, board: model.Board) -> bool:
        from ...features.worker.forge import holds_back

        if holds_back(self.ports, action.epic) or not ensure_objects(self.ports, action.epic):
            return False
        with contextlib.suppress(NotAllowed):  # a person closed it meanwhile
            self.ports.store.record(Event(Kind.EPIC_LANDED, action.epic))
            return True
        return False

    def _go_on_unapproved(self, action: model.GoOnUnapproved, board: model.Board) -> bool:
        with contextlib.suppress(NotAllowed):  # a person decided it meanwhile
            self.ports.store.resolve(action.escalation, action.why, "nobrakes", Status.NEEDS_REVIEW)
        return True

    def _terminate(self, action: model.Terminate, board: model.Board) -> bool:
        run = _run(board, action.run)
        self.ports.store.update_run(run.id, stopping=action.why, term_at=board.now)
        self.ports.processes.terminate(replace(run, stopping=action.why, term_at=board.now))
        return True

    def _kill(self, action: model.Kill, board: model.Board) -> bool:
        self.ports.processes.kill(_run(board, action.run))
        return True

    def _sample(self, action: model.Sample, board: model.Board) -> bool:
        run = _run(board, action.run)
        paths = self.ports.paths
        work = board.work_of(run)
        assert work is not None, "an agent without work is stopped before this"
        if isinstance(work, Talk):
            workspace = folder_of(self.ports, work.session)
        else:
            workspace = os.path.join(paths.workspaces, work.bead)
        seen = self.ports.processes.activity(run, os.path.join(paths.runs, run.id), workspace)
        fields = {"activity": seen, "active_at": board.now} if seen != run.activity else {}
        self.ports.store.update_run(run.id, sampled_at=board.now, **fields)
        return False

    def finish_relays(self, board: model.Board) -> bool:
        """Archive and remove clones of ended relay sessions, and record the others' progress."""
        self.turn_endings.relays.files.look(board)
        self.turn_endings.relays.settle()
        return False

    def measure_again(self) -> None:
        """The clock jumped: check leases next turn, and restart reviewers' waits."""
        self._renewed = -math.inf
        self.review.measure_again()

    def _renew(self, action: model.RenewLeases, board: model.Board) -> bool:
        lease = board.limits.lease_seconds
        # the store renews those of which a third is gone: a quarter is left of each, however the turns fall
        if not self._renewed <= board.now < self._renewed + lease / 12:
            self.ports.store.renew(action.attempts, lease)
            self._renewed = board.now
        return False


def _run_of_agent(attempt: Attempt, board: model.Board) -> Run:
    return board.runs.get(attempt.id) or Run(f"{attempt.id}-agent", attempt.id, RunKind.AGENT, attempt.started_at)


def _run_of_turn(talk: Talk, board: model.Board) -> Run:
    known = board.turn_runs.get(talk.turn.id)
    return known or Run(run_of(talk.turn.id), 0, RunKind.AGENT, talk.started_at, turn=talk.turn.id)


def _run(board: model.Board, run_id: str) -> Run:
    return next(run for run in board.all_runs if run.id == run_id)
