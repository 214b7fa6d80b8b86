"""Coding tools of a chat agent: a relay session in the confirmed project, begun at once and followed later.

1. The guard is asked before anything is begun, and once more inside the transaction that begins it: a folder that is
   changed for another one in between begins nothing.
2. A tool goes on with its session as long as project, folder, persona and model are the same; else its agent is made
   anew.
3. Answers are small: a chat agent needs the words and the number.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from ...abilities import program_of
from ...agents.registry import adapter
from ...config.settings import load
from ...core.beads.escalations import Escalation, EscalationType
from ...core.errors import NoAgent, NobrakesError, NoProject, NoSuchSession, NotAllowed
from ...core.projects import guard
from ...core.sessions.relay import CHAT, DIRECTORY, PERSONA, files_of, is_relay
from ...core.sessions.session import Session, State
from ...core.text.cleaning import clean
from ...host.locks import holder
from ...paths import FOLDER, Paths
from ...ports.store import Store
from ...store.agent.permits import KEY as ASK_FIRST
from ...store.opening import open_store
from ...store.user.projects import ChatRun
from .. import desk, relay
from ..control import PAUSED, YES
from ..waking import wake
from .confirming import require_chat, require_confirmed
from .projects import complete, database
from .workspace import opened

TOOLS = ("claude", "codex", "gemini", "acp")
_NO_DAEMON = "no daemon works there"


@dataclass(frozen=True, slots=True)
class Begun:
    """A tool works: `run` is the project and the session's number. `goes_on`: in the session of before.

    `folder` has progress.json and output.json, where they are kept.
    """

    run: str
    session: int
    project: str
    goes_on: bool
    note: str
    folder: str = ""


@contextmanager
def project_store(folder: str) -> Iterator[tuple[Store, Paths]]:
    """The database of the project in this folder. NotAllowed: nobrakes is not set up there."""
    paths = Paths(os.path.join(folder, FOLDER))
    if not os.path.exists(paths.config):
        raise NotAllowed(f"{folder} is no git repository with nobrakes in it", "`git init` and a commit there first.")
    store = open_store(paths.database)
    try:
        yield store, paths
    finally:
        store.close()


def begin(chat: str, directory: str, wanted: relay.Wanted) -> Begun:
    """Let the wanted agent work on the prompt in the chat's project. NoProject, NoAgent, UsageError, NotAllowed.

    One that plans first, or keeps files, is a new session.
    """
    chat = require_chat(chat)
    workspace = opened()
    with closing(database()) as known:
        guarded = require_confirmed(known, workspace, chat, directory)
        project, folder, path = guarded
        if not workspace.is_repository(project):
            raise NotAllowed(f"{folder} is no git repository", f"`git init` there, then set_project with '{project}'.")
        complete(workspace, project)
        adapter(wanted.agent)
        with project_store(folder) as (store, paths):
            wanted = replace(wanted, chat=chat, directory=_below(folder, path))
            before = None if wanted.plans or wanted.files else _current(known.runs(chat), project, wanted, store)
            note = _require_program(paths, wanted.agent)
            ready = relay.prepared(paths, load(paths.config), wanted) if before is None else None
            with store.together():
                if ready is not None:
                    number = relay.begin(store, paths, ready, chat).id
                else:
                    assert before is not None, "else it is prepared"
                    number = before.session
                    relay.say(store, number, wanted.prompt, chat)
                if require_confirmed(known, workspace, chat, directory) != guarded:
                    raise NoProject(guard.REFUSED, "the project was changed meanwhile")
                _same_place(paths, folder)
            wake(paths)
            known.ran(ChatRun(chat, project, wanted.agent, number, wanted.model, True, 0.0))
            note = "; ".join(one for one in (note, see_to_a_daemon(store, paths)) if one)
    where = files_of(paths.folder, number) if wanted.files else ""
    return Begun(f"{project}/{number}", number, project, before is not None, note, where)


def _same_place(paths: Paths, folder: str) -> None:
    """NoProject unless the database lies in the project's own folder, by its real path."""
    if os.path.realpath(paths.database) != os.path.join(
        os.path.realpath(folder), FOLDER, os.path.basename(paths.database)
    ):
        raise NoProject(guard.REFUSED, f"{paths.folder} is a link")


def _below(folder: str, path: str) -> str:
    """The folder that is meant, below the project's; empty: that itself. `path` is resolved."""
    below = os.path.relpath(path, os.path.realpath(folder))
    return "" if below == "." else below


def _require_program(paths: Paths, agent: str) -> str:
    """NoAgent where nobody could start the agent's program; what to say where a daemon works that may find it."""
    command = load(paths.config).agents.command(agent)
    if not command or program_of(command[0], os.environ.get("PATH")) is not None:
        return ""
    why = f"{agent} is not installed: there is no program {clean(command[0])}"
    if holder(paths.lock) is None:
        raise NoAgent(why, f"Install it, or set agents.{agent} in {paths.config}.")
    return f"{why} for this server; the daemon that works there may find it"


def _current(runs: list[ChatRun], project: str, wanted: relay.Wanted, store: Store) -> ChatRun | None:
    """The session that the tool goes on with; None: its agent is made anew."""
    for run in runs:
        if (run.project, run.tool, run.is_current) != (project, wanted.agent, True):
            continue
        try:
            session = store.session(run.session)
        except NoSuchSession:  # its database was lost
            return None
        same = run.model == wanted.model and str(session.data.get(PERSONA) or "") == wanted.persona
        same = same and str(session.data.get(DIRECTORY) or "") == wanted.directory
        return run if same and is_of(session, run.chat) and session.state is not State.ENDED else None
    return None


def see_to_a_daemon(store: Store, paths: Paths) -> str:
    """A daemon runs the session; what the chat agent has to know otherwise."""
    try:
        if relay.see_to_a_daemon(store, paths).beads:
            return f"{_NO_DAEMON}, and starting one would start beads, too: a person types `nobrakes daemon start`"
    except NobrakesError as error:  # what was begun is begun, and is not to be begun again
        return f"{_NO_DAEMON}: {clean(str(error))}"
    return "work is paused there: a person resumes it with `nobrakes resume`" if store.setting(PAUSED) == YES else ""


def is_of(session: Session, chat: str) -> bool:
    """Whether the chat began it: a database that was lost may have given its number to another one."""
    return is_relay(session) and session.data.get(CHAT) == chat


def name_of(run: ChatRun) -> str:
    """What a chat agent calls the run."""
    return f"{run.project}/{run.session}"


def is_answered_by_chat(asked: Escalation) -> bool:
    """Whether who began the session may answer it: a question of its agent, and nothing that is a person's yes."""
    return asked.type is EscalationType.QUESTION and asked.bead is None and not asked.evidence.get(ASK_FIRST)


def confirmed_folder(chat: str) -> tuple[str, str]:
    """(the confirmed project, its folder). NoProject."""
    with closing(database()) as known:
        return require_confirmed(known, opened(), require_chat(chat))[:2]


def answer(chat: str, number: int, text: str) -> str:
    """Answer a question of a session that this chat began; what to say. NotAllowed: it is a person's. UsageError."""
    _, folder = confirmed_folder(chat)
    with project_store(folder) as (store, paths):
        found = desk.show(store, number)
        is_own = found.session is not None and is_of(store.session(found.session), chat)
        if not is_own or not is_answered_by_chat(found):
            raise persons(folder, f"escalation {number} is a person's to decide", f"nobrakes escalation {number}")
        desk.answer(store, number, text, chat, paths)
        see_to_a_daemon(store, paths)
    return f"answered; session {found.session} goes on"


def persons(folder: str, why: str, command: str) -> NotAllowed:
    """Why a chat agent may not do it, with where a person can. It is not told the address of the pages."""
    return NotAllowed(why, f"A person types in {folder}: {command}; `nobrakes web` serves the Desk.")
