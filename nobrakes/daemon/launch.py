"""Starting agents: the workspace, the prompt, the environment, and the child.

1. The attempt is open before anything is touched; each step may be done again after a crash.
2. A kept branch is worked on further; else work starts afresh, and what was there is archived first.
3. A Doer starts from the proven tests, carried over to the present main where they apply.
"""

import hashlib
import os
import sys
import uuid
from collections.abc import Sequence

from ..agents.adapter import Assignment
from ..core.attempt import Attempt, Run, RunKind
from ..core.bead import Bead, Role, branch_of
from ..core.board import Limits
from ..core.outcomes import Outcome
from ..ports import Candidate, Command, Message, Step, Workspace
from ..roles import prompts
from .doors import Doors
from .validation import setup_argv

STEP = "agent"


def tests_pin(bead: str) -> str:
    """The ref (below refs/nobrakes/) that keeps a bead's proven tests."""
    return f"tests/{bead}"


class Launcher:
    """Turns an open attempt into a running agent."""

    def __init__(self, doors: Doors) -> None:
        self.doors = doors

    def start(self, attempt: Attempt, limits: Limits) -> None:
        """Start the attempt's agent. Doing it again after a crash starts it once."""
        doors = self.doors
        config = doors.config()
        bead = doors.store.bead(attempt.bead)
        start, workspace = self._workspace(bead, attempt)
        run_id = f"{attempt.id}-agent"
        folder = os.path.join(doors.places.runs, run_id)
        prompt = self._prompt(bead, attempt)
        adapter = doors.adapter(attempt.agent)
        launch = adapter.launch(
            Assignment(
                role=attempt.role,
                bead=bead.id,
                worker=attempt.name,
                attempt=attempt.number,
                prompt=prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=workspace.path,
                folder=folder,
                session=str(uuid.UUID(hashlib.md5(attempt.token.encode()).hexdigest())),
                resume=False,
                env=self._environment(bead, attempt, workspace, folder, adapter.credentials),
                settings=config.agents,
                system_prompt=prompts.system_prompt(attempt.role, os.path.join(doors.places.folder, "roles")),
                guard=doors.guard,
                max_seconds=limits.agent_seconds,
            )
        )
        now = doors.store.now()
        doors.store.journal(attempt.id, {**attempt.data, "phase": "agent", "start": start, "session": launch.session})
        doors.store.plan_run(
            Run(
                run_id,
                attempt.id,
                RunKind.AGENT,
                now,
                hard_deadline=now + limits.agent_seconds,
                idle_seconds=limits.idle_seconds,
                active_at=now,
            )
        )
        prologue = workspace.prologue
        if prologue and not workspace.is_kept:
            prologue += setup_argv(workspace.path, config.setup)
        born = doors.processes.start(
            run_id,
            Command(
                folder=folder,
                cwd=workspace.path,
                env=launch.env,
                steps=(Step(STEP, launch.argv, stdin=launch.stdin),),
                prologue=prologue,
                files={"prompt.md": prompt.encode()},
            ),
        )
        doors.store.update_run(run_id, pid=born.pid, born=born.mark)

    def _workspace(self, bead: Bead, attempt: Attempt) -> tuple[str, Workspace]:
        """Where to work, and the commit that this role's changes are measured from."""
        git = self.doors.git
        if attempt.data.get("start"):  # a crash cut the start off
            start = str(attempt.data["start"])
        elif git.has_workspace(bead.id) and bead.branch_kept:
            start = self._earlier_start(bead, attempt)
        else:
            if git.has_workspace(bead.id):
                git.retire(bead, attempt.fence - 1)  # its holder's, so that no archive of ours takes its place
            start = self._fresh_start(bead, attempt)
        return start, git.workspace(bead, start, attempt.name)

    def _earlier_start(self, bead: Bead, attempt: Attempt) -> str:
        """On a kept branch: the proven tests for a Doer, else where the earlier attempts of the role started."""
        for earlier in reversed(self.doors.store.attempts(bead.id)):
            if earlier.id == attempt.id or not earlier.head:
                continue
            if earlier.role is attempt.role and earlier.data.get("start"):
                return str(earlier.data["start"])
            if earlier.role is Role.TEST_WRITER and earlier.outcome is Outcome.COMPLETED:
                return earlier.head
        starts = [a.data["start"] for a in self.doors.store.attempts(bead.id) if a.data.get("start")]
        return str(starts[-1]) if starts else (attempt.base or self.doors.git.main())

    def _fresh_start(self, bead: Bead, attempt: Attempt) -> str:
        """The commit that fresh work starts from: main, or for a Doer the proven tests carried over to main."""
        git = self.doors.git
        main = attempt.base or git.main()
        proof = proven_tests(self.doors, bead.id) if attempt.role is Role.DOER else None
        if proof is None or proof.head is None:
            return main
        if git.contains(main, proof.head):
            return proof.head
        message = Message(
            f"Tests for {bead.title}",
            "",
            "nobrakes <nobrakes@nobrakes.invalid>",
            proof.ended_at or proof.started_at,
            (("Bead", bead.id),),
        )
        moved = git.squash(main, proof.head, message)
        if not isinstance(moved, Candidate):
            return proof.head
        git.pin(tests_pin(bead.id), moved.commit)
        return moved.commit

    def _prompt(self, bead: Bead, attempt: Attempt) -> str:
        store = self.doors.store
        answers = [
            (e.title, e.answer) for e in reversed(store.escalations(open_only=False)) if e.bead == bead.id and e.answer
        ]
        earlier = [a for a in store.attempts(bead.id) if a.id != attempt.id]
        config = self.doors.config()
        nonce = hashlib.sha256(attempt.token.encode()).hexdigest()[:12]
        return prompts.compile_prompt(attempt.role, bead, config, earlier, answers, nonce=nonce, main=config.main)

    def _environment(
        self, bead: Bead, attempt: Attempt, workspace: Workspace, folder: str, credentials: Sequence[str]
    ) -> dict[str, str]:
        doors = self.doors
        named = (*credentials, *doors.config().agents.environment)
        boundary = doors.config().boundary()
        path = os.path.join(doors.places.folder, "bin") + os.pathsep + doors.environment.get("PATH", os.defpath)
        return {
            **doors.environment,
            **{name: doors.credentials[name] for name in named if name in doors.credentials},
            "PATH": path,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "NOBRAKES_HOME": doors.places.folder,
            "NOBRAKES_TOKEN": attempt.token,
            "NOBRAKES_BEAD": bead.id,
            "NOBRAKES_BRANCH": branch_of(bead),
            "NOBRAKES_ROLE": attempt.role.value,
            "NOBRAKES_ATTEMPT": str(attempt.number),
            "NOBRAKES_NAME": attempt.name,
            "NOBRAKES_PROMPT": os.path.join(folder, "prompt.md"),
            "NOBRAKES_HANDOFF": os.path.join(folder, "handoff.md"),
            "NOBRAKES_WORKSPACE": workspace.path,
            "NOBRAKES_TESTS": "\n".join(boundary.tests),
            "NOBRAKES_GATES": "\n".join(boundary.gates),
            "NOBRAKES_SCAFFOLDING": "1" if bead.scaffolding else "",
            "NOBRAKES_PYTHON": sys.executable,
        }


def proven_tests(doors: Doors, bead: str) -> Attempt | None:
    """The attempt whose tests were proven red, if the bead's latest Test Writer got that far."""
    for attempt in reversed(doors.store.attempts(bead)):
        if attempt.role is Role.TEST_WRITER and attempt.outcome is not None:
            return attempt if attempt.outcome is Outcome.COMPLETED else None
    return None


def agent_for(doors: Doors, role: Role) -> str:
    """The agent that the config names for the role."""
    agents = doors.config().agents
    return agents.test_writer if role is Role.TEST_WRITER else agents.doer
