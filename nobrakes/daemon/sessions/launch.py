"""Starting the agent of a session's turn: its checkout, its prompt, its environment, its process.

1. The turn is open before anything is touched; each step may be done again after a crash, and starts the agent once.
2. Its folder is the same for all turns, since agent CLIs find a session by the folder; what lies there is main's tree,
   checked out anew. What an agent writes there goes with the next turn.
3. Its role is the Shaper's, for the guard, whoever it serves: it reads, asks and proposes; the guard refuses to change
   anything. A relay session works in a clone of its own instead, which stays (relays).
"""

import hashlib
import os
import uuid

from ...agents.adapter import Assignment
from ...core.beads.attempt import Run, RunKind
from ...core.beads.bead import Role
from ...core.board import Limits
from ...core.errors import NoMain
from ...core.review.reading import CANDIDATE
from ...core.sessions.relay import DIRECTORY, is_relay, only_plans
from ...core.sessions.session import REVIEWERS, Session, Talk, name_of
from ...ports.git import Argv
from .. import agent_starts
from ..attempts.guard_watch import NAMED
from ..attempts.launch import DIARY, TELLS, WINDOW
from ..confine import OWN, Confinement
from ..ports import Ports
from .briefing import brief
from .relays import Relays


def run_of(turn: int) -> str:
    """The id of a turn's run."""
    return f"s{turn}-agent"


def folder_of(ports: Ports, session: Session) -> str:
    """Where the session's agent works."""
    if is_relay(session):
        return Relays(ports).workspace(session)
    return os.path.join(ports.paths.scratch, name_of(session.id))


class TurnLauncher:
    """Turns an open turn into a running agent."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.confinement = Confinement(ports)
        self.relays = Relays(ports)

    def start(self, talk: Talk, limits: Limits) -> None:
        """Start the turn's agent. Doing it again after a crash starts it once."""
        ports, session, turn = self.ports, talk.session, talk.turn
        config = ports.config()
        run_id = run_of(turn.id)
        folder, workspace = os.path.join(ports.paths.runs, run_id), folder_of(ports, session)
        is_own = is_relay(session)
        role = Role.DOER if is_own and not only_plans(session) else Role.SHAPER
        model = session.model if is_own or session.kind in REVIEWERS else ""
        told = brief(ports, talk)
        adapter = ports.adapter(session.agent)
        named = str(uuid.UUID(hashlib.md5(turn.token.encode()).hexdigest()))
        launch = adapter.launch(
            Assignment(
                role=role,
                bead=name_of(session.id),
                worker=f"Session {session.id}",
                attempt=turn.number,
                prompt=told.prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=workspace,
                folder=os.path.join(folder, OWN),
                session=session.provider_session if turn.resumes and session.provider_session else named,
                resume=turn.resumes,
                env={
                    **agent_starts.environment(ports, config, adapter.credentials, turn.token, folder),
                    "NOBRAKES_ROLE": role.value,
                    "NOBRAKES_BEAD": name_of(session.id),
                    "NOBRAKES_SESSION": str(session.id),
                    "NOBRAKES_ATTEMPT": str(turn.number),
                    "NOBRAKES_NAME": f"Session {session.id}",
                    "NOBRAKES_WORKSPACE": workspace,
                    **(self.relays.environment(session) if is_own else {}),
                },
                settings=config.agents.seated(session.agent, role.value, told.usd(limits.caps.attempt.usd), model),
                system_prompt=told.system,
                guard=ports.guard,
                permitted=agent_starts.permitted(self.confinement, config, session.agent),
            )
        )
        if session.data.get(DIRECTORY):
            launch = agent_starts.in_directory(launch, str(session.data[DIRECTORY]))
        known = {NAMED: launch.session, WINDOW: launch.context_tokens, DIARY: launch.diary, TELLS: launch.tells}
        ports.store.note_turn(turn.id, {**known, **told.notes})
        now = ports.store.now()
        least = [limits.agent_seconds / 60, limits.caps.attempt.minutes, told.minutes]
        deadline = now + 60 * min(minutes for minutes in least if minutes is not None)
        idle = limits.idle_seconds
        run = Run(run_id, 0, RunKind.AGENT, now, hard_deadline=deadline, idle_seconds=idle, active_at=now, turn=turn.id)
        ports.store.plan_run(run)
        lent = self.relays.lent(session) if is_own else ()
        laid = self.relays.laid(session) if is_own else None
        confined = self.confinement.agent(run_id, workspace, folder, launch, lent, laid)
        prologue = self.relays.making(talk) if is_own else self._checkout(session, workspace)
        command = agent_starts.command(launch, confined, folder, workspace, told.prompt, prologue)
        born = ports.processes.start(run_id, command)
        ports.store.update_run(run_id, pid=born.pid, born=born.mark)

    def _checkout(self, session: Session, workspace: str) -> tuple[Argv, ...]:
        git = self.ports.git
        try:
            return git.scratch(session.data.get(CANDIDATE) or git.main(), workspace)
        except NoMain:  # a repository without a commit has nothing to read yet
            return (("mkdir", "-p", "--", workspace),)
