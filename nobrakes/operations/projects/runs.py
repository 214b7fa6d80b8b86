"""The runs of a chat agent's coding tools, as it follows them: small answers, facts beside claims, and the way to main.

1. An answer about one run is at most MOST_BYTES long: a chat agent needs the words and the number.
2. What merges, or lets an agent spend, is a person's yes. The chat agent is told what that person types, and where.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace

from ...config.settings import load
from ...core.beads import deciding
from ...core.beads.bead import Bead
from ...core.beads.escalations import Escalation
from ...core.errors import NobrakesError, NoProject, NoSuchSession, NotAllowed, UsageError
from ...core.projects import guard
from ...core.public.values import plain
from ...core.sessions.relay import BEAD
from ...core.text.cleaning import clean, shorten
from ...git.opening import open_git
from ...lightjson import visible
from ...paths import Paths
from ...ports.store import Store
from ...store.agent.permits import KEY as ASK_FIRST
from ...store.user.projects import ChatRun
from .. import relay, relay_landing, taking
from ..relay_landing import Landing
from . import coding
from .coding import is_answered_by_chat, is_of, name_of, project_store
from .confirming import require_chat, require_confirmed
from .projects import database
from .workspace import Workspace, opened

LOST = "lost"
SHORT = 700
"""Characters of an agent's words in an answer."""
MOST_BYTES = 1024
"""Of an answer about one run, as JSON."""
MOST_RUNS = 20


@dataclass(frozen=True, slots=True)
class RunView:
    """How far a session of a chat is. `state` is LOST where it cannot be looked at; `trouble` says why.

    `last_words` are the agent's, and so are `step` and `of`; branch, commits and files are facts, and `doubt` says
    where the two do not go together. `stage`: it plans, or works. `question` waits for an answer, or for a person's yes
    where `decide` is what that person types. `bead` is what its work was handed in by.
    """

    run: str
    tool: str
    state: str
    stage: str = ""
    branch: str = ""
    commits: int = 0
    files: int = 0
    step: int | None = None
    of: int | None = None
    doubt: str = ""
    last_words: str = ""
    question: int | None = None
    asks: str = ""
    decide: str = ""
    bead: str = ""
    bead_status: str = ""
    seconds: float = 0.0
    cost_usd: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class RunOutput:
    """What a chat agent needs of a run: its session and the agent's last words, at most MOST_BYTES as JSON."""

    run: str
    session: int
    state: str
    text: str


def look(chat: str) -> list[RunView]:
    """The sessions that this chat began, newest first."""
    workspace = opened()
    with closing(database()) as known:
        runs = known.runs(require_chat(chat))
    return [_looked_at(workspace, run) for run in runs[:MOST_RUNS]]


def _looked_at(workspace: Workspace, run: ChatRun) -> RunView:
    """One of them; what is broken in its project is said, and keeps nobody from the others."""
    try:
        if not workspace.has(run.project):
            raise NoProject(f"the folder of project '{run.project}' is not there", "")
        with project_store(workspace.folder(run.project)) as (store, paths):
            return _view(store, paths, run)
    except NobrakesError as error:
        trouble = shorten(clean(str(error)), SHORT)
        return RunView(name_of(run), run.tool, LOST, trouble=trouble)


def _view(store: Store, paths: Paths, run: ChatRun) -> RunView:
    if not is_of(store.session(run.session), run.chat):
        raise NoSuchSession(f"session {run.session} is another one now")
    done = relay.summary(store, paths, run.session)
    known = store.beads(ids=[str(done.session.data[BEAD])]) if done.session.data.get(BEAD) else []
    bead = known[0] if known else None
    asked = _asked(store, run.session, bead)
    made = RunView(
        name_of(run),
        run.tool,
        done.session.state.value,
        stage=done.stage,
        branch=done.branch,
        commits=len(done.commits),
        files=len(done.files),
        step=done.claim.step if done.claim else None,
        of=done.claim.of if done.claim else None,
        doubt=done.claim.doubt if done.claim else "",
        last_words=shorten(clean(done.last_words), SHORT),
        question=asked.id if asked else None,
        asks=shorten(clean(asked.title), 100) if asked else "",
        decide=_decided_by(asked) if asked and not is_answered_by_chat(asked) else "",
        bead=bead.id if bead else "",
        bead_status=bead.status.value if bead else "",
        seconds=round(done.seconds, 1),
        cost_usd=done.session.cost_usd,
        trouble=shorten(clean(bead.held), 200) if bead and bead.held else "",
    )
    return replace(made, last_words=_fits(made.last_words, lambda text: replace(made, last_words=text)))


def _asked(store: Store, session: int, bead: Bead | None) -> Escalation | None:
    """What waits for somebody: a question of the session, or one about the bead of its work."""
    return next((e for e in store.escalations() if e.session == session or (bead and e.bead == bead.id)), None)


def _decided_by(asked: Escalation) -> str:
    """What a person types to say yes to it; else what shows it."""
    if asked.evidence.get(ASK_FIRST):
        return f"nobrakes answer {asked.id} yes"
    how = "approve" if "approve" in deciding.ways(asked) else ""
    return f"nobrakes resolve {asked.id} --{how}" if how else f"nobrakes escalation {asked.id}"


def _fits(text: str, answer: Callable[[str], object]) -> str:
    """As much of the text as makes the answer with it at most MOST_BYTES long."""
    while text and len(dumped(answer(text)).encode()) > MOST_BYTES:
        text = shorten(text, len(text) * 3 // 4) if len(text) > 20 else ""
    return text


def dumped(value: object) -> str:
    """The JSON that a chat agent gets."""
    return visible(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")))


@contextmanager
def _own_run(chat: str, run: str) -> Iterator[tuple[Store, Paths, int]]:
    """The store that has the run, and its session. NoProject; UsageError: this chat began no such run."""
    chat = require_chat(chat)
    workspace = opened()
    with closing(database()) as known:
        found = next((one for one in known.runs(chat) if name_of(one) == run.strip()), None)
        if found is None:
            shown = shorten(clean(run), 60)
            raise UsageError(f"this session began no run '{shown}'", "`status` lists its runs.")
        guarded = require_confirmed(known, workspace, chat)
        if guarded[0] != found.project:
            raise NoProject(guard.REFUSED, f"run {name_of(found)} is of another project than the confirmed one")
    with project_store(workspace.folder(found.project)) as (store, paths):
        if not is_of(store.session(found.session), chat):
            raise NoSuchSession(f"session {found.session} is another one now")
        yield store, paths, found.session


def output(chat: str, run: str) -> RunOutput:
    """The last words of a run's agent. NoProject, UsageError, NoSuchSession."""
    with _own_run(chat, run) as (store, paths, number):
        done = relay.summary(store, paths, number)
        made = RunOutput(run.strip(), number, done.session.state.value, "")
        text = _fits(clean(done.last_words)[:MOST_BYTES], lambda text: replace(made, text=text))
        return replace(made, text=text)


def hand_in(chat: str, run: str) -> Landing:
    """Hand the work of a run in: it is tested, and a person is asked whether it merges.

    NoProject, UsageError, NoSuchSession, NotAllowed: nothing was handed in.
    """
    with _own_run(chat, run) as (store, paths, number):
        config = load(paths.config)
        if config.review.approve == "never":
            why = 'work would merge without a person\'s yes there: review.approve is "never"'
            raise NotAllowed(why, f"A person types in {paths.root}: nobrakes relay --session {number} --hand-in")
        with closing(open_git(paths, config)) as git:
            landed = relay_landing.hand_in(taking.repository(store, git, paths, config), number, require_chat(chat))
        coding.see_to_a_daemon(store, paths)
        return landed


def waiting(chat: str) -> list[str]:
    """What a person types for each run of the chat that waits for a person's yes."""
    return [one.decide for one in look(chat) if one.decide]
