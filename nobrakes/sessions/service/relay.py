"""Relay and other sessions, for people: an agent works in a private clone, and hands back a branch.

1. The session is stored in the repository if nobrakes is set up there, else in the person's own place, so that only the
   branch remains there.
2. A summary has what is known: last words, commits, files, apparent tests among the commands, cost, time.
3. The next prompt continues the session, and answers an open "what next?".
"""

import os
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ...agents.adapter import LineKind
from ...agents.known import adapter
from ...beads.model import CLOSED, Bead, last_clone, person_owner
from ...beads.service import bead_commands, taking
from ...beads.service.taking import Repository
from ...daemon.service import control
from ...daemon.service.control import memory_of_agents
from ...decisions.model import Escalation
from ...decisions.service import desk
from ...errors import DaemonRunning, NobrakesError, NoSandbox, NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...files import wake
from ...git import persons
from ...git.workspaces.make import RelayClones
from ...paths import Paths
from ...records import frozen
from ...review.journal import LABEL
from ...review.service.merges import DiffView, Found, view_of
from ...text.cleaning import clean, one_line
from ...walking import commits_since
from .. import model as sessions_model
from . import viewing

if TYPE_CHECKING:
    from ...app import App
    from ...config.settings import Config
    from ...store import Store


# Whatever is said waits in the store and wakes the daemon.
MAX_TITLE = 100
KINDS = (sessions_model.SessionKind.PLANNING.value, sessions_model.SessionKind.CHAT.value)


@frozen
class SessionView:
    """A session with its messages. `questions`: its open ones; `work`: of one that works."""

    session: sessions_model.Session
    messages: tuple[sessions_model.Message, ...]
    turns: tuple[sessions_model.Turn, ...]
    questions: tuple[Escalation, ...]
    work: "Summary | None"


def conversations_start(
    store: "Store", paths: Paths, config: "Config", text: str, *, kind: str, agent: str, title: str, actor: str
) -> sessions_model.Session:
    """Begin a session with its first message; empty `agent`: the Shaper's. Raises UsageError, NoAgent."""
    if kind not in KINDS:
        raise UsageError(f"there is no session of kind '{kind[:40]}'", f"Use one of: {', '.join(KINDS)}.")
    name = agent or config.agents.shaper[0]
    provider = adapter(name).provider
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    spec = (name, provider, config.agents.model_of(name, "shaper"))
    words = (title or first)[:MAX_TITLE]
    made = store.begin_session(sessions_model.SessionKind(kind), person_owner(actor), words, spec, text, actor)
    wake(paths)
    return made


def conversations_say(store: "Store", paths: Paths, number: int, text: str, actor: str) -> sessions_model.Message:
    """Add a message for the next turn. Raises NoSuchSession, NotAllowed for an ended one."""
    _own(store, number)
    if store.session(number).kind in sessions_model.REVIEWERS:
        raise UsageError(
            f"session {number} is a reviewer, and you cannot send it messages",
            "Write to the session that made the plan, or decide about the findings: `nobrakes escalations`.",
        )
    said = store.say(number, text, actor)
    wake(paths)
    return said


def stop(store: "Store", paths: Paths, number: int, actor: str) -> sessions_model.Session:
    """Stop the present turn; the session then waits for messages."""
    _own(store, number)
    found = store.stop_session(number, actor)
    wake(paths)
    return found


def end(store: "Store", paths: Paths, number: int, actor: str) -> sessions_model.Session:
    """End the session, its questions and its turn."""
    _own(store, number)
    found = store.end_session(number, actor)
    wake(paths)
    return found


def _own(store: "Store", number: int) -> None:
    found = store.session(number)
    if found.kind is sessions_model.SessionKind.ATTEMPT:
        raise UsageError(
            f"session {number} belongs to the agents on {found.owner.partition(':')[2]}, and ends with that bead",
            "`nobrakes stop NAME` stops an agent that is working.",
        )


def view(store: "Store", paths: Paths, number: int) -> SessionView:
    """Raises NoSuchSession."""
    found = store.session(number)
    asked = tuple(one for one in store.escalations() if one.session == number)
    work = summary(store, paths, number) if sessions_model.is_relay(found) else None
    return SessionView(found, tuple(store.messages(number)), tuple(store.turns(number)), asked, work)


def listed(store: "Store", *, everything: bool) -> list[sessions_model.Session]:
    """Newest first; `everything`: also ended ones and those of attempts."""
    return store.sessions(going=False) if everything else store.sessions()[::-1]


def memory(store: "Store") -> dict[int, int]:
    held = memory_of_agents(run for run in store.runs() if run.turn)
    return {store.turn(turn).session: mb for (_, turn), mb in held.items()}


MAX_BEADS = 100
MAX_LINES = 2000
_TESTS = re.compile(
    r"\b(pytest|unittest|tox|nox|go test|cargo test|npm (?:run )?test|yarn test|pnpm test|jest|vitest|mocha|rspec|"
    r"phpunit|ctest|make (?:test|check)|mvn\b.{0,200}?\btest|gradlew?\b.{0,200}?\btest|bats|dotnet test)\b"
)


@frozen
class Wanted:
    """A relay session to begin. Empty `repository`: the store's. `chat`: the chat agent's session; `persona`: its
    agent's. `plans`: changes need an approved plan. `files`: progress and output also go to files. `in_place`: the
    checkout to work in; empty: a clone. `directory`: the agent's folder below the top."""

    prompt: str
    agent: str = ""
    model: str = ""
    repository: str = ""
    chat: str = ""
    persona: str = ""
    plans: bool = False
    files: bool = False
    in_place: str = ""
    directory: str = ""
    title: str = ""


@frozen
class Summary:
    """A relay session's result so far. `files`: (A, M, D or T; path), `tests`: commands that looked like tests.
    `seconds` at work; empty `branch`: no commit. `claim`: its agent's, `commits`: the facts. `kept`: in place the
    folder with the checkout's earlier content."""

    session: sessions_model.Session
    repository: str
    last_words: str
    branch: str
    commits: tuple[tuple[str, str], ...]
    files: tuple[tuple[str, str], ...]
    tests: tuple[str, ...]
    turns: int
    seconds: float
    stage: str
    claim: sessions_model.Claim | None
    kept: str

    @property
    def trouble(self) -> str:
        return (
            self.session.detail
            if self.session.state in (sessions_model.State.READY, sessions_model.State.STUCK)
            else ""
        )


@frozen
class Seen:
    """The daemon of a session: `started`: a new process. `beads`: ready ones (at most MAX_BEADS), for which none was
    started."""

    started: int | None = None
    beads: int = 0


@frozen
class Ready:
    """`spec`: agent, provider and model, `text`: the first message."""

    title: str
    spec: tuple[str, str, str]
    text: str
    data: dict[str, Any]


def start(store: "Store", paths: Paths, config: "Config", wanted: Wanted, actor: str) -> sessions_model.Session:
    """Raises UsageError, NoAgent, NoMain."""
    root = os.path.realpath(wanted.repository or paths.root)
    if wanted.in_place:
        if wanted.plans:
            why = "--plan and --in-place cannot be combined: the agent could change files in your checkout"
            raise UsageError(why, "Leave out one. Without --in-place, the session plans in its own clone.")
        _require_complete(root, wanted.in_place)
        persons.refuse(root)
        _free(store, paths, root)
    made = begin(store, paths, prepared(paths, config, wanted), actor)
    if wanted.in_place:
        try:
            persons.take(persons.Claim(wanted.repository or paths.root, paths.folder, made.id))
        except NotAllowed:
            store.end_session(made.id, actor)  # another one was quicker
            raise
    wake(paths)
    return made


def checkout(app: "App", where: str) -> str:
    """The checkout around the folder. NoSandbox if an agent could reach its git folder."""
    trouble = 'sandbox.mode is "none"' if app.config.sandbox.mode == "none" else app.sandbox_trouble()
    if trouble:
        why = f"--in-place needs the sandbox (bubblewrap): {one_line(trouble)}"
        raise NoSandbox(why, "Without --in-place a session works in its own clone.")
    folder = os.path.realpath(os.path.expanduser(where))
    while folder != os.path.dirname(folder) and not os.path.lexists(os.path.join(folder, ".git")):
        folder = os.path.dirname(folder)
    return folder


def _require_complete(root: str, checkout: str) -> None:
    """UsageError unless the checkout is the repository's own, with its git folder."""
    if os.path.realpath(checkout) != root or not os.path.isdir(os.path.join(root, ".git")):
        why = f"--in-place does not work in {checkout}: it is a linked worktree, a submodule or a bare repository"
        raise UsageError(why, "Name the repository's own checkout, or leave out --in-place.")


def _free(store: "Store", paths: Paths, root: str) -> None:
    there = persons.who(root)
    if there is None:
        return
    if there.folder == paths.folder:
        going = {one.id for one in store.sessions()} | {
            store.turn(run.turn).session for run in store.runs() if run.turn
        }
        if there.session not in going:
            persons.release(there)
            return
    raise persons.taken(there)


def prepared(paths: Paths, config: "Config", wanted: Wanted) -> Ready:
    """The session's input, by git, outside any transaction. Raises UsageError, NoAgent, NoMain."""
    if not wanted.prompt.strip():
        raise UsageError("the prompt is empty", "Say what the agent has to do.")
    name = wanted.agent or config.agents.doer[0]
    spec = (name, adapter(name).provider, wanted.model or config.agents.model_of(name, "doer"))
    with closing(_clones(paths, wanted.repository)) as clones:
        begun = clones.start()
    first = next(line.strip() for line in wanted.prompt.splitlines() if line.strip())
    data: dict[str, Any] = {
        sessions_model.START: begun,
        sessions_model.REPOSITORY: wanted.repository,
        sessions_model.CHAT: wanted.chat,
        sessions_model.PERSONA: wanted.persona,
    }
    if wanted.plans:
        data[sessions_model.STAGE_KEY] = sessions_model.PLAN
    if wanted.files:
        data[sessions_model.FILES] = True
    if wanted.directory:
        data[sessions_model.DIRECTORY] = wanted.directory
    if wanted.in_place:
        data[sessions_model.IN_PLACE] = "yes"
    text = f"{wanted.persona.strip()}\n\n{wanted.prompt}" if wanted.persona.strip() else wanted.prompt
    return Ready(clean(wanted.title or first)[:MAX_TITLE], spec, text, data)


def begin(store: "Store", paths: Paths, ready: Ready, actor: str) -> sessions_model.Session:
    """Begin it in a transaction, whose caller wakes the daemon. Numbers of remaining clones are skipped."""
    with store.write():
        folder = paths.relays
        store.count_on(0, {}, sessions=last_clone(os.listdir(folder) if os.path.isdir(folder) else ()))
        made = (ready.title, ready.spec, ready.text)
        return store.begin_session(sessions_model.SessionKind.RELAY, person_owner(actor), *made, actor, ready.data)


def _clones(paths: Paths, repository: str) -> RelayClones:
    return RelayClones(repository or paths.root, paths.relays)


def found(store: "Store", number: int) -> sessions_model.Session:
    """Raises NoSuchSession, UsageError."""
    one = store.session(number)
    if one.kind is not sessions_model.SessionKind.RELAY:
        why = f"session {number} is not a relay session: it is {one.kind.value}"
        raise UsageError(why, "`nobrakes sessions` lists the sessions.")
    return one


def go_on(store: "Store", paths: Paths, number: int, prompt: str, actor: str) -> sessions_model.Message | None:
    """Continue the session; None: it answered "what next?". Raises NotAllowed."""
    said = say(store, number, prompt, actor)
    wake(paths)
    return said


def say(store: "Store", number: int, prompt: str, actor: str) -> sessions_model.Message | None:
    """As `go_on`, inside a transaction; the caller wakes the daemon."""
    one = found(store, number)
    if not prompt.strip():
        raise UsageError("the prompt is empty", "Say what the agent has to do next.")
    if one.state is sessions_model.State.ENDED:
        raise NotAllowed(f"session {number} has ended", "Start a new session: `nobrakes session start --works TEXT`.")
    asked = next((e for e in store.escalations() if e.session == number and _says_on(e)), None)
    if asked is not None:
        desk.answer(store, asked.id, prompt, actor)
        return None
    return store.say(number, prompt, actor)


def _says_on(asked: "Escalation") -> bool:
    return bool(asked.evidence.get("what_next")) or sessions_model.PLAN_OF in asked.evidence


def see_to_a_daemon(store: "Store", paths: Paths) -> Seen:
    """Ensure a daemon for sessions, unless it would start beads. Raises DaemonNotRunning."""
    if control.running(paths) is not None:
        return Seen()
    beads = len(store.ready(MAX_BEADS))
    if beads:
        return Seen(beads=beads)
    try:
        return Seen(control.start(paths, store))
    except DaemonRunning:  # another one was quicker
        return Seen()


def summary(store: "Store", paths: Paths, number: int) -> Summary:
    """Raises NoSuchSession, UsageError."""
    one = found(store, number)
    turns = store.turns(number)
    words = [message.text for message in store.messages(number) if not message.author]
    handed = [turn.data for turn in turns if turn.data.get(sessions_model.HEAD)]
    branches = [str(data[sessions_model.BRANCH]) for data in handed if data.get(sessions_model.BRANCH)]
    start, head = str(one.data[sessions_model.START]), str(handed[-1][sessions_model.HEAD]) if handed else ""
    repository = str(one.data.get(sessions_model.REPOSITORY) or paths.root)
    commits, files = [], []
    if head and os.path.isdir(repository):
        with closing(_clones(paths, repository)) as clones:
            commits, files = clones.commits(start, head), clones.files(start, head)
    now = store.now()
    stage = sessions_model.PLAN if sessions_model.only_plans(one) else sessions_model.WORK
    return Summary(
        one,
        repository,
        words[-1] if words else "",
        branches[-1] if branches else "",
        tuple(commits),
        tuple(files),
        tuple(_tests(store, paths, number)),
        len(turns),
        sum((turn.ended_at or now) - turn.started_at for turn in turns),
        stage,
        None if stage == sessions_model.PLAN else _claim(store, paths, one, len(commits)),
        persons.kept(repository) if one.data.get(sessions_model.IN_PLACE) else "",
    )


def diff(store: "Store", paths: Paths, number: int) -> DiffView:
    """The changes of the session's branch. Raises NoSuchSession, UsageError; NotAllowed without a commit."""
    done = summary(store, paths, number)
    if not done.commits:
        raise NotAllowed(f"session {number} has committed nothing yet", "Try again when the session's turn has ended.")
    with closing(_clones(paths, done.repository)) as clones:
        start, head = str(done.session.data[sessions_model.START]), done.commits[-1][0]
        return view_of(clones.history, "", Found("branch", start, head))


def _claim(store: "Store", paths: Paths, one: sessions_model.Session, commits: int) -> sessions_model.Claim | None:
    """The latest claim, compared with handed-back commits or those in its clone."""
    if one.state is sessions_model.State.RUNNING:
        begun = commits_since(os.path.join(paths.relays, str(one.id)), one.created_at)
        commits = max(commits, begun or 0)
    return sessions_model.claim_of(
        store.latest_events((Kind.PROGRESSED,), limit=sessions_model.MAX_CLAIMS), one, commits
    )


def _tests(store: "Store", paths: Paths, number: int) -> list[str]:
    one = store.session(number)
    seen: dict[str, None] = {}
    for turn in store.turns(number):
        talk = viewing.turn_output(paths, one, turn)
        for line in viewing.transcript(store, talk, follow=False, last=MAX_LINES):
            if line.kind is LineKind.TOOL_CALL and _TESTS.search(line.text):
                seen[clean(line.text)[:200]] = None
    return list(seen)


# The work of a relay session comes to main by a bead of its own: the Reviewer runs the checks on it as it would be
# merged, shows tests and difference, and asks. What is handed in again takes the place of what waits there. Work that
# does not pass comes back: the bead is held, and says why.
@frozen
class Landing:
    """The handed-in bead, commit and branch."""

    session: int
    bead: str
    head: str
    branch: str


def hand_in(here: Repository, number: int, actor: str) -> Landing:
    """Hand the session's branch in. Raises NoSuchSession, NotAllowed, UsageError."""
    store = here.store
    one = found(store, number)
    done = summary(store, here.paths, number)
    if one.data.get(sessions_model.REPOSITORY):
        why = f"session {number} works on {done.repository}, where nobrakes is not set up"
        raise NotAllowed(why, f"Merge the session's branch yourself: {done.branch or 'no branch exists yet'}.")
    if one.state is sessions_model.State.RUNNING:
        raise NotAllowed(f"session {number} is working", "Hand the session in when its turn has ended.")
    if not done.branch or not done.commits:
        told = f"Ask the agent to commit: `nobrakes session say {number} TEXT`."
        raise NotAllowed(f"session {number} has nothing to hand in: it has committed nothing", told)
    bead = _bead(store, one, actor)
    try:
        handed = taking.hand_in(here, bead.id, actor, done.branch)
    except NobrakesError:
        if bead.status not in CLOSED and not store.attempts(bead.id):
            bead_commands.cancel(store, bead.id, "nobrakes could not hand in the session's work", actor)
        raise
    return Landing(number, bead.id, handed.head, handed.branch or done.branch)


def _bead(store: "Store", one: sessions_model.Session, actor: str) -> Bead:
    """The session's bead; a new one is held, so that no agent starts on it."""
    known = store.beads(ids=[str(one.data[sessions_model.BEAD])]) if one.data.get(sessions_model.BEAD) else []
    if known and known[0].status not in CLOSED:
        return known[0]
    with store.write():
        made = bead_commands.add(
            store,
            one.title,
            description=f"The work of session {one.id}.",
            labels=(LABEL,),
            needs_tests=False,
            draft=False,
            actor=actor,
        )
        reason = f"session {one.id} works on this bead, so no agent starts on it"
        store.record(Event(Kind.HELD, made.id, actor=actor, data={"reason": reason}))
        store.note_session(one.id, {sessions_model.BEAD: made.id})
    return store.bead(made.id)
