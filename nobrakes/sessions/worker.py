"""Starting the agent of a session's turn: its checkout, prompt, environment and process.

1. The turn opens before anything is touched; steps can be repeated after a crash, and start the agent once.
2. All turns use one folder, by which agent CLIs find a session; its content is main's tree, checked out again, so an
   agent's changes go with the next turn.
3. Its role is the Shaper's, for the guard: it reads, asks and proposes, and changes nothing. A relay session has its
   own lasting clone (relays).
"""

import hashlib
import json
import os
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ..agents import limits as agents_limits
from ..agents import prompts
from ..agents.adapter import PREFIX, Assignment, LineKind, Verdict
from ..agents.limits import Breaker, State
from ..agents.worker import process
from ..agents.worker.end import START_FAULTS, cool, total
from ..agents.worker.launch import DIARY, METER, NAMED, WINDOW, head_of, hear_turn
from ..agents.worker.process import STEP, How, how_it_ended, lines, unsure
from ..beads.branches import is_approval
from ..beads.model import TABLE, Outcome, Retry, Role, Run, RunKind, Status, retry_after, session_owner
from ..daemon.model import Board, Limits
from ..decisions.model import EscalationType, NewEscalation
from ..errors import ConfigError, NobrakesError, NoMain, NoSandbox, NoSuchSession
from ..events.kinds import Kind, session_actor
from ..features.model import ROUND, STAGE_KEY, Feature
from ..files import TRACKED, private_folder, write_atomic, write_private
from ..git import persons
from ..git.port import Argv, HandedBack, relay_branch
from ..git.workspaces import salvage
from ..host.confine import OWN, Confinement
from ..host.port import Notice
from ..ports import Ports
from ..records import frozen
from ..review import reading
from ..sandbox.closure import Laid
from ..text.cleaning import clean, only_seen, shorten
from ..walking import commits_since
from . import prompts as sessions_prompts
from .model import (
    BEAD,
    BRANCH,
    CHAT,
    CLEAN,
    DIRECTORY,
    FILES,
    HEAD,
    IN_PLACE,
    MAX_CLAIMS,
    PLAN_OF,
    REPOSITORY,
    REVIEWERS,
    START,
    WORK,
    Fact,
    Message,
    Session,
    SessionKind,
    Talk,
    claim_of,
    files_of,
    is_relay,
    name_of,
    only_plans,
)
from .model import STAGE_KEY as SESSIONS_STAGE
from .model import State as SessionsState

if TYPE_CHECKING:
    from ..git.workspaces.make import RelayClones

# Turns of relay sessions. The agent may change everything in its clone and nothing else. What a turn came to is written
# into the turn before it is closed, so that a summary needs no model. The clone stays as long as the session; then all
# of it is kept as branches. A session in place works on the checkout itself: its git folder is the clone's, laid over
# the checkout's in the sandbox, and without a sandbox nothing starts. What lies there is kept before each turn.
# progress.json and output.json lie beside a relay session's clone, in `.nobrakes/relays/N.files`, whole or not there.
# nobrakes writes them, and reads them never. They go with the clone.
PROGRESS, OUTPUT = "progress.json", "output.json"
LOOK_SECONDS = 2.0
MAX_BYTES = 1024


class RunFiles:
    """Writes progress files of sessions that want them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._polled_at = -LOOK_SECONDS
        self._written: dict[int, str] = {}

    def look(self, board: Board) -> bool:
        if abs(board.now - self._polled_at) >= LOOK_SECONDS:
            self._polled_at = board.now
            for work in (board.work_of(run) for run in board.all_runs):
                if isinstance(work, Talk) and work.session.data.get(FILES):
                    with suppress(NobrakesError, OSError):
                        self._progress(work, True)
        return False

    def ended(self, talk: Talk, said: str, branch: str) -> None:
        if not talk.session.data.get(FILES):
            return
        with suppress(NobrakesError, OSError):
            self._progress(talk, False)
            told: dict[str, Any] = {"session": talk.session.id, "turn": talk.turn.number, "branch": branch}
            text = clean(said)[:MAX_BYTES]
            while text and len(json.dumps({**told, "text": text}).encode()) > MAX_BYTES:
                text = shorten(text, len(text) * 3 // 4) if len(text) > 20 else ""
            self._write(talk.session, OUTPUT, json.dumps({**told, "text": text}))

    def _progress(self, talk: Talk, works: bool) -> None:
        session = talk.session
        clone = os.path.join(self.ports.paths.relays, str(session.id))
        commits = commits_since(clone, session.created_at)
        said = self.ports.store.latest_events((Kind.PROGRESSED,), None, MAX_CLAIMS)
        claim = claim_of(said, session, commits)
        told = {
            "session": session.id,
            "turn": talk.turn.number,
            "stage": session.data.get(SESSIONS_STAGE, WORK),
            "works": works,
            "commits": commits,
            "step": claim.step if claim else None,
            "of": claim.of if claim else None,
            "text": claim.text if claim else "",
            "doubt": claim.doubt if claim else "",
        }
        text = json.dumps(told)
        if self._written.get(session.id) != text:
            self._write(session, PROGRESS, text)
            self._written[session.id] = text

    def _write(self, session: Session, name: str, text: str) -> None:
        folder = files_of(self.ports.paths.folder, session.id)
        private_folder(folder)
        write_atomic(os.path.join(folder, name), f"{text}\n".encode())


_WAITS = (SessionsState.IDLE, SessionsState.ASKING)
MAX_PLAN = 7000
LENT_AT = "/lent/objects"
"""In the sandbox of a session in place: the repository's objects, read-only."""
NO_SANDBOX = "a session in place needs the sandbox (bubblewrap), which keeps its agent out of the git folder"


class Relays:
    """The clones of this store's relay sessions."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.files = RunFiles(ports)
        self._told: set[int] = set()

    def _root(self, session: Session) -> str:
        return str(session.data.get(REPOSITORY) or self.ports.paths.root)

    @contextmanager
    def _clones(self, session: Session) -> "Iterator[RelayClones]":
        from ..git.workspaces.make import RelayClones

        clones = RelayClones(self._root(session), self.ports.paths.relays, self.ports.config().sizes())
        with closing(clones):
            yield clones

    def workspace(self, session: Session) -> str:
        if session.data.get(IN_PLACE):
            return self._root(session)
        return os.path.join(self.ports.paths.relays, str(session.id))

    def making(self, talk: Talk) -> tuple[Argv, ...]:
        """The commands that make a missing clone. In place they save the checkout's content."""
        session, start = talk.session, str(talk.session.data[START])
        with self._clones(session) as clones:
            made = clones.making(session.id, start, session_actor(session.id))
            if not session.data.get(IN_PLACE):
                return made
            if clones.start() != (self._last(session.id) or start):
                raise ConfigError(
                    f"somebody worked in {clones.root}: its checkout differs from what session {session.id} left",
                    f"Check out {relay_branch(session.id)}, or end the session: `nobrakes session end {session.id}`",
                )
            os.makedirs(clones.folder, mode=0o700, exist_ok=True)
            write_private(clones.alternates(session.id), f"{LENT_AT}\n".encode())
        sizes = self.ports.config().sizes()
        words = (session.id, talk.turn.number, talk.turn.token[:8])
        at = os.path.join(persons.kept(self._root(session)), "-".join(map(str, words)))
        numbers = map(str, (sizes.file, sizes.new, sizes.paths, sizes.depth))
        return (sys.executable, "-P", "-m", salvage.__name__, self._root(session), at, *numbers), *made

    def laid(self, session: Session) -> Laid | None:
        """What lies over the checkout in the sandbox; None: a clone. Raises NotAllowed, NoSandbox."""
        if not session.data.get(IN_PLACE):
            return None
        root = self._root(session)
        persons.take(persons.Claim(root, self.ports.paths.folder, session.id))
        if self.ports.config().sandbox.mode == "none" or self.ports.sandbox_trouble():
            raise NoSandbox(NO_SANDBOX, "Without --in-place a session works in its own clone and needs no sandbox.")
        clone, git = os.path.join(self.ports.paths.relays, str(session.id)), os.path.join(root, ".git")
        ours = os.path.join(root, ".nobrakes")
        tracked = [os.path.join(ours, name) for name in sorted(TRACKED)]
        with self._clones(session) as clones:
            objects, alternates = clones.place.objects, clones.alternates(session.id)
        return Laid(
            covered=(ours,) if os.path.isdir(ours) else (),
            over=((os.path.join(clone, ".git"), git),),
            read=(
                *((path, path) for path in tracked if os.path.exists(path)),
                (objects, LENT_AT),
                (alternates, os.path.join(git, "objects", "info", "alternates")),
                *((os.path.join(clone, ".git", name), os.path.join(git, name)) for name in ("config", "hooks")),
            ),
        )

    def lent(self, session: Session) -> tuple[str, ...]:
        """Another repository's object folders that the clone borrows from."""
        if not session.data.get(REPOSITORY):
            return ()
        with self._clones(session) as clones:
            lent = clones.place.lent()
        inside = os.path.join(self._root(session), "") if session.data.get(IN_PLACE) else "\0"
        return tuple(path for path in lent if not path.startswith(inside))

    def environment(self, session: Session) -> dict[str, str]:
        """No file of the project is closed to it."""
        return {"NOBRAKES_BRANCH": relay_branch(session.id), "NOBRAKES_TESTS": "", "NOBRAKES_GATES": ""}

    def ended(self, talk: Talk, said: str, asks: bool) -> None:
        """Handle the turn's work; `asks`: ask a person how to continue."""
        if only_plans(talk.session):
            self.files.ended(talk, said, "")
            self._drop(talk)
            if asks and said:
                self._ask_about_plan(talk, said)
                return
            handed = HandedBack("", "")
        else:
            handed = self.hand_back(talk)
            self.files.ended(talk, said, handed.branch)
        if asks:
            self.ask_what_next(talk, said, handed)

    def _drop(self, talk: Talk) -> None:
        ports, session = self.ports, talk.session
        try:
            with self._clones(session) as clones:
                branch = clones.clear(session.id, talk.turn.number, str(session.data[START]))
        except NobrakesError as error:
            text = f"nobrakes could not remove the clone of session {session.id}, which only plans: {error}"
            ports.notifier.tell(Notice(text, urgent=True))
            return
        if branch:
            text = f"session {session.id} had only to plan but changed files; the changes are on the branch {branch}"
            ports.notifier.tell(Notice(text, urgent=True))

    def _ask_about_plan(self, talk: Talk, said: str) -> None:
        store, session = self.ports.store, talk.session
        title = f"Plan of session {session.id}: {session.title}"[:200]
        asked = (e.id for e in store.escalations() if e.session == session.id and PLAN_OF in e.evidence)
        new = NewEscalation(
            EscalationType.PLAN_REVIEW,
            title,
            said[-MAX_PLAN:],
            {PLAN_OF: session.id},
            adds_to=next(asked, 0),
            session=session.id,
        )
        store.escalate(new, None, None, "nobrakes")

    def hand_back(self, talk: Talk) -> HandedBack:
        """Fetch the turn's commits and record them in the open turn."""
        ports, session, turn = self.ports, talk.session, talk.turn
        data = ports.store.turn(turn.id).data
        if HEAD in data:  # a crash came between this and the end
            return HandedBack(str(data[HEAD]), str(data[BRANCH]))
        with self._clones(session) as clones:
            try:
                start, last = str(session.data[START]), self._last(session.id)
                handed = clones.hand_back(session.id, turn.number, start, last, bool(session.data.get(IN_PLACE)))
            except NobrakesError as error:
                text = f"nobrakes could not fetch the work of session {session.id}: {error}"
                ports.notifier.tell(Notice(text, urgent=True))
                return HandedBack("", "")
        ports.store.note_turn(turn.id, {HEAD: handed.head, BRANCH: handed.branch})
        return handed

    def _last(self, session: int) -> str:
        heads = [str(one.data[HEAD]) for one in self.ports.store.turns(session) if one.data.get(HEAD)]
        return heads[-1] if heads else ""

    def ask_what_next(self, talk: Talk, said: str, handed: HandedBack) -> None:
        """Ask for the next prompt, unless a chat agent waits."""
        session = talk.session
        asked = any(one.session == session.id for one in self.ports.store.escalations())
        if session.data.get(CHAT) or asked or self.ports.store.session(session.id).waiting:
            return
        where = f"\n\nThe session's commits are on the branch {handed.branch}." if handed.branch else ""
        new = NewEscalation(
            EscalationType.QUESTION,
            f"What next? Session {session.id}: {session.title}"[:200],
            (said[-4000:] or "The agent wrote nothing.") + where,
            {"what_next": session.id},
            session=session.id,
        )
        self.ports.store.escalate(new, None, None, "nobrakes")

    def settle(self) -> None:
        """Archive and remove ended sessions' clones, and release their checkouts."""
        self._release_claims()
        folder = self.ports.paths.relays
        if not os.path.isdir(folder):
            return
        left = {int(name) for name in os.listdir(folder) if name.isascii() and name.isdigit()} - self._told
        if left:  # nobody is asked where nothing can be removed: this is looked at in each quiet turn
            going = self.ports.store.sessions()
            self._end_merged(going)
            left -= {session.id for session in going}
        if left:
            left -= self._at_work()
        for number in sorted(left):
            self._remove(number)

    def _end_merged(self, going: Sequence[Session]) -> None:
        store = self.ports.store
        handed = [one for one in going if one.data.get(BEAD) and one.state in _WAITS]
        if not handed:
            return
        beads = store.beads(ids=sorted({str(one.data[BEAD]) for one in handed}))
        merged = {one.id for one in beads if one.status is Status.DONE and one.merged_commit}
        for session in handed:
            bead = str(session.data[BEAD])
            if bead not in merged or session.waiting:
                continue
            with suppress(NobrakesError), self._clones(session) as clones:  # a branch that cannot be moved stays
                for data in (turn.data for turn in store.turns(session.id) if turn.data.get(BRANCH)):
                    if str(data[BRANCH]).startswith(relay_branch(session.id)):  # another one is a person's own
                        clones.put_away(bead, str(data[BRANCH]), str(data[HEAD]))
            store.end_session(session.id, "nobrakes")

    def _release_claims(self) -> None:
        claims = list(persons.list_claims(self.ports.paths.folder))
        if not claims:
            return
        going = {session.id for session in self.ports.store.sessions()} | self._at_work()
        for claim in claims:
            if claim.session not in going:
                persons.release(claim)

    def _at_work(self) -> set[int]:
        store = self.ports.store
        return {store.turn(run.turn).session for run in store.runs() if run.turn}

    def _remove(self, number: int) -> None:
        ports = self.ports
        try:
            session, turns = ports.store.session(number), ports.store.turns(number)
            if not is_relay(session):  # a database that was lost gave the number to another one
                raise NoSuchSession(f"session {number} is now a different session, and has no clone")
            with self._clones(session) as clones:
                start, last = str(session.data[START]), self._last(number)
                branch = clones.remove(number, len(turns), start, last, bool(session.data.get(IN_PLACE)))
        except NobrakesError as error:
            self._told.add(number)
            text = f"nobrakes could not archive the clone of session {number}, so the clone stays: {error}"
            ports.notifier.tell(Notice(text, urgent=True))
            return
        if branch:
            ports.notifier.tell(Notice(f"the uncommitted changes of session {number} are on the branch {branch}"))


# A session that plans a feature has the persona of its stage, one that reviews a plan or reads work the reviewer's, any
# other the Shaper's. What the turn notes of itself (`notes`) says where its feature was when it began.
CUT_OFF = "cut_off"


@frozen
class TurnBrief:
    """`system` extends the agent's instructions, then `prompt`; `minutes` None: the default; `most_usd` None: an
    attempt's cap."""

    system: str
    prompt: str
    minutes: float | None = None
    most_usd: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)

    def usd(self, cap: float | None) -> float | None:
        return min((one for one in (self.most_usd, cap) if one is not None), default=None)


def brief(ports: Ports, talk: Talk) -> TurnBrief:
    """Raises ConfigError for a bad persona or instructions."""
    if talk.session.kind is SessionKind.REVIEW:
        return _reviewer(ports, talk)
    if talk.session.kind is SessionKind.CODE_REVIEW:
        return _code_reviewer(ports, talk)
    found = ports.store.feature_of_session(talk.session.id)
    if found is not None and not found[1]:
        return _shaper(ports, talk, found[0])
    store, turn = ports.store, talk.turn
    told = store.turn_messages(turn.id)
    given = {one.id for one in told}
    earlier = [one for one in store.messages(talk.session.id) if one.id not in given and one.turn is not None]
    own = is_relay(talk.session)
    protocol = (
        sessions_prompts.PLANNING
        if only_plans(talk.session)
        else sessions_prompts.WORKING
        if own
        else sessions_prompts.PROTOCOL
    )
    is_new = not turn.resumes or any(_approves(ports, one) for one in told)
    prompt = sessions_prompts.turn_prompt(
        told, earlier, _cut_off(talk), _nonce(talk), resumes=turn.resumes, protocol=protocol if is_new else ""
    )
    role = "relay" if own else Role.SHAPER.value
    return TurnBrief(only_seen(prompts.role_text(role, ports.paths.folder)), prompt)


def _approves(ports: Ports, message: Message) -> bool:
    asked = ports.store.escalation(message.answers) if message.answers else None
    return asked is not None and PLAN_OF in asked.evidence and is_approval(asked.resolution)


def _nonce(talk: Talk) -> str:
    return hashlib.sha256(talk.turn.token.encode()).hexdigest()[:12]


def _cut_off(talk: Talk) -> str:
    return str(talk.session.data.get(CUT_OFF, ""))


def _reviewer(ports: Ports, talk: Talk) -> TurnBrief:
    from ..features.prompts import PLAN_REVIEWER, reviewer_prompt  # few repositories plan features

    told = ports.store.turn_messages(talk.turn.id)
    prompt = reviewer_prompt(told, _cut_off(talk), resumes=talk.turn.resumes)
    text = prompts.role_text(PLAN_REVIEWER, ports.paths.folder)
    return TurnBrief(only_seen(text), prompt, ports.config().forge.review_minutes)


def _code_reviewer(ports: Ports, talk: Talk) -> TurnBrief:
    session, rules = talk.session, ports.config().review.reading_rules()
    prompt = prompts.prompt(ports.store.turn_messages(talk.turn.id), _cut_off(talk), resumes=talk.turn.resumes)
    text = prompts.role_text(prompts.ROLE, ports.paths.folder)
    known = reading.session_readings(ports.store.code_reviews(str(session.data[reading.BEAD])))
    since = session.data.get(reading.SINCE)
    spent = reading.cost([one for one in known if one.session.data.get(reading.SINCE) == since])
    return TurnBrief(only_seen(text), prompt, rules.minutes, max(0.01, rules.usd - spent))


def _shaper(ports: Ports, talk: Talk, feature: Feature) -> TurnBrief:
    from ..features.prompts import Given, persona_of, shaper_turn

    settings, told = ports.config().forge, ports.store.turn_messages(talk.turn.id)
    given = Given(told, _cut_off(talk), _nonce(talk), talk.turn.resumes)
    prompt = shaper_turn(ports.store, ports.git, settings, feature, given)
    notes = {STAGE_KEY: feature.stage.value, ROUND: feature.round}
    persona = persona_of(feature, ports.paths.folder)
    return TurnBrief(persona, prompt, settings.turn_minutes, notes=notes)


def run_of(turn: int) -> str:
    return f"s{turn}-agent"


def folder_of(ports: Ports, session: Session) -> str:
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
        """Start the turn's agent; repeatable after a crash."""
        ports, session, turn = self.ports, talk.session, talk.turn
        config = ports.config()
        run_id = run_of(turn.id)
        folder, workspace = os.path.join(ports.paths.runs, run_id), folder_of(ports, session)
        is_own = is_relay(session)
        role = Role.DOER if is_own and not only_plans(session) else Role.SHAPER
        model = session.model if is_own or session.kind in REVIEWERS else ""
        told = brief(ports, talk)
        adapter = ports.adapter(session.agent)
        named = str(uuid.UUID(hashlib.md5(turn.token.encode()).hexdigest(), version=4))
        launch = adapter.launch(
            Assignment(
                role=role,
                bead=name_of(session.id),
                worker=session_actor(session.id),
                attempt=turn.number,
                prompt=told.prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=workspace,
                folder=os.path.join(folder, OWN),
                session=session.provider_session if turn.resumes and session.provider_session else named,
                resume=turn.resumes,
                env={
                    **process.environment(ports, config, adapter.credentials, turn.token, folder),
                    "NOBRAKES_ROLE": role.value,
                    "NOBRAKES_BEAD": name_of(session.id),
                    "NOBRAKES_SESSION": str(session.id),
                    "NOBRAKES_ATTEMPT": str(turn.number),
                    "NOBRAKES_NAME": session_actor(session.id),
                    "NOBRAKES_WORKSPACE": workspace,
                    **(self.relays.environment(session) if is_own else {}),
                },
                settings=config.agents.seated(session.agent, role.value, told.usd(limits.caps.attempt.usd), model),
                system_prompt=told.system,
                guard=ports.guard,
                permitted=process.permitted(self.confinement, config, session.agent),
            )
        )
        if session.data.get(DIRECTORY):
            launch = process.in_directory(launch, str(session.data[DIRECTORY]))
        known = {NAMED: launch.session, WINDOW: launch.context_tokens, DIARY: launch.diary, METER: launch.reports_usage}
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
        command = process.command(launch, confined, folder, workspace, told.prompt, prologue)
        born = ports.processes.start(run_id, command)
        ports.store.update_run(run_id, pid=born.pid, born=born.mark)

    def _checkout(self, session: Session, workspace: str) -> tuple[Argv, ...]:
        git = self.ports.git
        try:
            return git.scratch(session.data.get(reading.CANDIDATE) or git.main(), workspace)
        except NoMain:  # a repository without a commit has nothing to read yet
            return (("mkdir", "-p", "--", workspace),)


# A turn that ends well is the agent's answer. One that was cut off is nobody's failure: it goes on when it may, and
# what it was told is told again only where its agent had not begun. What fails in the same way again opens the breaker
# of the session, and waits for a person; so does what no other turn can mend. Where the CLI has lost the session, or
# its context is full, the next turn begins a new one with what was said.
NO_PLACE = "its start was interrupted, and now other repositories use all places on this machine"
MACHINE_FAULTS = 5
MAX_SAID = 32_000

BEGINS_AGAIN = frozenset(
    {Outcome.SESSION_LOST, Outcome.CONTEXT_OVERFLOW, Outcome.GAVE_UP_CONTEXT, Outcome.INVALID_REQUEST}
)


class TurnEndings:
    """Handles ended turns; repeatable after a crash."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.relays = Relays(ports)

    def ended(self, talk: Talk, run: Run, limits: Limits) -> None:
        """Record the turn's cost and outcome, with what the agent said, and close it."""
        ports, turn = self.ports, talk.turn
        begun = hear_turn(ports, talk, head_of(ports, run)) or bool(turn.data.get("begun"))
        ended = how_it_ended(ports, talk.agent, run)
        verdict = ended.verdict
        if verdict.unsure:
            verdict = replace(verdict, outcome=Outcome.COMPLETED, detail=unsure(verdict))
        if verdict.cost_usd is not None or verdict.tokens:
            ports.store.spend_turn(turn.id, verdict.cost_usd or 0.0, max(total(verdict.tokens), turn.tokens))
        cool(ports, talk, verdict)
        said = self._said(talk, run) if ended.how is How.ENDED else ""
        self._close(talk, verdict, begun, said, limits)

    def failed_to_start(self, talk: Talk, error: NobrakesError, limits: Limits) -> None:
        """Record why nothing started."""
        outcome = Outcome.BAD_CONFIGURATION if isinstance(error, ConfigError) else Outcome.WORKSPACE_FAILED
        verdict = Verdict(outcome, error.whole)
        cool(self.ports, talk, verdict)
        self._close(talk, verdict, False, "", limits)

    def had_no_place(self, talk: Talk, limits: Limits) -> None:
        self._close(talk, Verdict(Outcome.INTERRUPTED, NO_PLACE), False, "", limits)

    def _close(self, talk: Talk, verdict: Verdict, begun: bool, said: str, limits: Limits) -> None:
        ports, session, outcome = self.ports, talk.session, verdict.outcome
        before = ports.store.breakers(session_owner(session.id)).get(session.provider, Breaker())
        after = agents_limits.after(before, outcome, verdict.detail, progress=False, thresholds=limits.breaker)
        lost = outcome in BEGINS_AGAIN
        fact = self._fact(talk, outcome, after)
        if is_relay(session):
            self.relays.ended(talk, said, asks=fact is Fact.ENDED_WELL and session.ended_at is None)
        repeats = session.failures + 1
        waits = TABLE[outcome].backoff or self._is_alone(talk, outcome)
        waits |= TABLE[outcome].starts_cooldown and not session.provider
        closed = ports.store.close_turn(
            talk.turn.id,
            fact,
            outcome,
            verdict.detail,
            said=said,
            resends=fact is not Fact.ENDED_WELL and (lost or not begun),
            breaker=None if after == before else after,
            retry_at=ports.store.now() + retry_after(outcome, repeats) if waits else None,
            failed=TABLE[outcome].counts or TABLE[outcome].backoff or self._is_alone(talk, outcome),
            lost=lost,
        )
        if fact is Fact.GAVE_UP and closed.ended_at is None:
            text = f"session {session.id} has stopped: {outcome.value.replace('_', ' ')}: {verdict.detail[:300]}"
            ports.notifier.tell(Notice(text, urgent=True))

    def _fact(self, talk: Talk, outcome: Outcome, after: Breaker) -> Fact:
        session, row = talk.session, TABLE[outcome]
        if outcome in CLEAN:
            return Fact.ENDED_WELL
        if outcome is Outcome.INTERRUPTED and session.stop_asked:
            return Fact.STOPPED
        if row.needs_person or row.is_of_model or (row.counts and after.state is State.OPEN):
            return Fact.GAVE_UP
        most = START_FAULTS if row.retry is Retry.STARTS else MACHINE_FAULTS
        if (row.backoff or self._is_alone(talk, outcome)) and session.failures + 1 >= most:
            return Fact.GAVE_UP
        return Fact.CUT_OFF

    def _is_alone(self, talk: Talk, outcome: Outcome) -> bool:
        if not TABLE[outcome].is_of_start:
            return False
        gate = self.ports.store.gates().get(agents_limits.gate_key(talk, outcome))
        return gate is None or not gate.is_of_start

    def _said(self, talk: Talk, run: Run) -> str:
        ports = self.ports
        adapter = ports.adapter(talk.agent)
        path = os.path.join(ports.paths.runs, run.id, f"{STEP}.out")
        texts: list[str] = []
        for raw in reversed(lines(ports, path)):
            for line in reversed(adapter.lines(raw)):
                if line.kind is LineKind.TEXT and line.text.strip():
                    texts.insert(0, line.text)
                elif texts and line.kind in (LineKind.TOOL_CALL, LineKind.RESULT):
                    return _without_marker("\n".join(texts))
        return _without_marker("\n".join(texts))


def _without_marker(text: str) -> str:
    kept = [line for line in clean(text).split("\n") if not line.startswith(PREFIX)]
    return "\n".join(kept).strip()[-MAX_SAID:]
