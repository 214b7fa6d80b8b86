"""Sessions and relays from the command line, and looking on: events as they happen, and what an agent says."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from .. import paths
from ..beads.service.bead_commands import known
from ..command_table import Field
from ..errors import NotARepository, UsageError
from ..sessions.model import BEAD, PLAN, Session
from ..text.cleaning import count, cut, lasted, lines, one_line, pad
from . import views
from .outcome import Output, UserPlace, actor, dumps, looked_at, opened_or_home, said, text_or_stdin, write
from .screen import Screen, screen_of
from .views import POLL_SECONDS

if TYPE_CHECKING:
    from ..agents.adapter import TranscriptLine
    from ..app import App
    from ..sessions.service.relay import SessionView, Summary


Number = Annotated[int, Field("The session's number.", metavar="N", least=1)]


def show(number: Number, user: UserPlace = False) -> Output:
    """Show one session with all its messages."""
    from ..sessions.service import relay as relays

    with opened_or_home(user, is_reading=True) as app:
        found = relays.view(app.store, app.paths, number)
    return Output(found, lambda screen: "\n".join(_page(found, screen)))


def _page(found: "SessionView", screen: Screen) -> list[str]:
    session = found.session
    if found.work is not None:
        page = _relaying_page(found.work, screen)
    else:
        page = [screen.paint(f"session {session.id}: {one_line(session.title)}", "bold")]
        spent = f", {session.cost_usd:.2f} $, {session.tokens} tokens" if session.tokens or session.cost_usd else ""
        turns = count(len(found.turns), "turn")
        page.append(f"{session.kind.value} with {session.agent}, {session.state.value}, {turns}{spent}")
        if session.detail and session.state.value in ("ready", "stuck"):
            page.append(f"the last turn: {cut(one_line(session.detail), 300)}")
    for one in found.messages:
        waits = "" if one.turn is not None else "  (the agent reads this message in the next turn)"
        page += ["", screen.paint(f"{one.author or session.agent}:{waits}", "bold")]
        page += [f"  {line}" for line in lines(one.text)]
    for question in found.questions:
        page += ["", f"the agent asks, escalation {question.id}: {one_line(question.title)}"]
        page.append(f"  `nobrakes answer {question.id} TEXT`")
    return page


def sessions(
    everything: Annotated[bool, Field("Include ended sessions and sessions of attempts.", ("--all",))] = False,
    user: UserPlace = False,
) -> Output:
    """List the open sessions with agents, newest first."""
    from ..sessions.service import relay as relays

    with opened_or_home(user, is_reading=True) as app:
        found = relays.listed(app.store, everything=everything)
        held = relays.memory(app.store)
    return Output(found, lambda screen: "\n".join(_rows(found, held)) or "no session is open")


def _rows(found: "list[Session]", held: Mapping[int, int]) -> list[str]:
    return [
        f"{one.id:>5}  {pad(one.state.value, 8)} {pad(one.kind.value, 9)} {pad(one.agent, 8)} "
        f"{cut(one_line(one.title or one.owner), 60)}{f'  {held[one.id]} MB' if one.id in held else ''}"
        for one in found
    ]


def relay(
    words: Annotated[
        list[str] | None, Field("A repository or nothing, then the task ('-' reads stdin).", metavar="[REPO] PROMPT")
    ] = None,
    agent: Annotated[str, Field("The agent (default: the first of agents.doer).", ("--agent",))] = "",
    model: Annotated[str, Field("The agent's model (default: as in the settings).", ("--model",))] = "",
    in_place: Annotated[bool, Field("Work in your checkout instead of a private clone.", ("--in-place",))] = False,
    session: Annotated[
        int | None, Field("Continue this session; without a prompt, show the result.", ("--session",), least=1)
    ] = None,
    plan: Annotated[bool, Field("Plan first, and start the work after you approve the plan.", ("--plan",))] = False,
    files: Annotated[bool, Field("Write progress.json and output.json, and print their folder.", ("--files",))] = False,
    hands_in: Annotated[bool, Field("With --session: hand its branch to the Reviewer.", ("--hand-in",))] = False,
    user: UserPlace = False,
) -> Output:
    """Start a session that works, as `nobrakes session start --works` does, in any repository: let an agent work in a
    private clone while you are away. You get a branch; no checkout changes.

    When it stops, the Decision Desk asks you what comes next. Your answer, or `nobrakes session say N TEXT`, continues
    the same session. With --plan it asks you to approve a plan first. `nobrakes session hand-in N` gives its branch to
    the Reviewer.

    If nobrakes is set up in the repository, the session belongs to that repository: look at it with `relay --session N
    FOLDER`. Otherwise it is your own (`--user`, as for `nobrakes sessions`).

    With --in-place it works on the files of your checkout, one session for each checkout, and only in the sandbox.
    nobrakes saves the checkout's HEAD, index and files before each turn, outside the repository. Merges that would move
    this checkout wait until the session ends. Its commits are on the branch relay/N, which stays checked out."""
    from ..sessions import commands

    if plan and in_place:
        raise UsageError("`--plan` needs a private clone", "Leave out `--plan` or `--in-place`.")
    if session is not None:
        if in_place:
            raise UsageError(
                "--in-place is only for a new session", "If omitted, the session continues where it began."
            )
        if plan or files:
            raise UsageError("--plan and --files are only for a new session", "Leave out these options, or --session.")
        return _hand_in(session, words or [], user) if hands_in else _go_on(session, words or [], user)
    if hands_in:
        raise UsageError("--hand-in is for a session that worked", "`nobrakes session hand-in N`")
    where, prompt = _asked(words or [])
    with _place(where, user) as (app, repository):
        from ..sessions.service import relay as operations

        checkout = operations.checkout(app, where) if in_place else ""
        asked = text_or_stdin(prompt, "prompt")
        wanted = operations.Wanted(asked, agent, model, repository, plans=plan, files=files, in_place=checkout)
        made, text = commands.begin(app, actor(), wanted)
    return said(made, text)


def _asked(words: list[str]) -> tuple[str, str]:
    if len(words) == 1:
        return ".", words[0]
    if len(words) == 2:
        return words[0], words[1]
    example = 'For example: nobrakes relay ~/code/shop "Fix the failing test of the basket"'
    raise UsageError("relay accepts one prompt, with at most one folder before it", example)


def _trouble(folder: str) -> str:
    if not os.path.lexists(folder):
        return "does not exist"
    if not os.path.isdir(folder):
        return "is not a folder"
    return "is not in a git repository" if os.access(folder, os.R_OK | os.X_OK) else "cannot be read by your account"


@contextmanager
def _place(where: str, user: bool) -> "Iterator[tuple[App, str]]":
    """(the session's app, the repository if another). Raises NotARepository."""
    folder = os.path.realpath(os.path.expanduser(where))
    root = paths.repository_root(folder) if os.path.isdir(folder) else None
    if root is None:
        raise NotARepository(f"{one_line(where)} {_trouble(folder)}", "Name the folder of a repository.")
    is_own = user or paths.find(folder) is None
    with opened_or_home(is_own, folder=folder) as app:
        yield app, root if is_own else ""


def _go_on(number: int, words: list[str], user: bool) -> Output:
    from ..sessions import commands
    from ..sessions.service import relay as operations

    where, prompts = (words[0], words[1:]) if words and (len(words) == 2 or _is_folder(words[0])) else ("", words)
    if len(prompts) > 1:
        raise UsageError("--session accepts one prompt, and one folder before it", "Put the prompt into quotes.")
    with _keeper(where, user, is_reading=not prompts) as app:
        if not prompts:
            found = operations.summary(app.store, app.paths, number)
            return Output(found, lambda screen: "\n".join(_relaying_page(found, screen)))
        operations.found(app.store, number)
        message, text = commands.say(app, actor(), number, text_or_stdin(prompts[0], "prompt"))
    return said(message, text)


def _hand_in(number: int, words: list[str], user: bool) -> Output:
    from ..sessions import commands

    if len(words) > 1 or (words and not _is_folder(words[0])):
        raise UsageError("--hand-in accepts no prompt, only a folder", "Leave the prompt out.")
    with _keeper(words[0] if words else "", user, is_reading=False) as app:
        landed, text = commands.hand_in(app, actor(), number)
    return said(landed, text)


def _is_folder(word: str) -> bool:
    """Beside --session a bare name may be a prompt, so a folder needs a separator."""
    return (os.sep in word or word in (".", "..", "~")) and os.path.isdir(os.path.expanduser(word))


@contextmanager
def _keeper(where: str, user: bool, is_reading: bool) -> "Iterator[App]":
    """The session's app: of the folder's repository (empty: here), or the person's place. Raises NotARepository."""
    folder = os.path.realpath(os.path.expanduser(where)) if where else None
    if folder and not os.path.isdir(folder):
        raise NotARepository(f"{one_line(where)} is not a folder", "With --session, put the folder before the prompt.")
    with opened_or_home(user or paths.find(folder) is None, is_reading, folder) as app:
        yield app


def _relaying_page(found: "Summary", screen: Screen) -> list[str]:
    one = found.session
    out = [screen.paint(f"session {one.id}: {one_line(one.title)}", "bold")]
    spent = f", {one.cost_usd:.2f} $, {one.tokens} tokens" if one.tokens or one.cost_usd else ""
    out.append(f"{one.state.value}, {count(found.turns, 'turn')}, {lasted(found.seconds)} at work{spent}")
    out.append(f"of {one_line(found.repository)}")
    out += [f"the last turn: {cut(one_line(found.trouble), 300)}"] if found.trouble else []
    if found.stage == PLAN:
        out.append("the agent is planning, and changes nothing before you approve the plan (`nobrakes escalations`)")
    if found.claim is not None:
        step = f"step {found.claim.step} of {found.claim.of or '?'}, " if found.claim.step is not None else ""
        doubt = f" ({found.claim.doubt})" if found.claim.doubt else ""
        out.append(f"the agent reports: {step}{one_line(found.claim.text)}{doubt}")
    bead = str(one.data.get(BEAD) or "")
    out += [f"handed in as bead {bead}: `nobrakes show {bead}`"] if bead else []
    out.append(f"branch {one_line(found.branch)}" if found.branch else "nothing is committed yet")
    out += [f"  {commit[:12]} {one_line(subject)}" for commit, subject in found.commits]
    out += [f"  {what} {one_line(path)}" for what, path in found.files]
    out += [f"tests: {one_line(command)}" for command in found.tests]
    if found.kept:
        out += [
            "the agent works in your checkout; before each turn nobrakes saves your files to",
            f"  {one_line(found.kept)}",
            "  each folder has HEAD, the index, ignored files, and a repository with the rest in branch `before`:",
            "  git fetch FOLDER/repository.git before:before-session  restores all other files as your branch",
        ]
    out += ["the agent's last message:", *(f"  {line}" for line in lines(found.last_words))] if found.last_words else []
    return out


AsJson = Annotated[bool, Field("Print JSON lines.", ("--json",))]
PAGE = 1000
SIGNS = {
    "text": " ",
    "tool_call": ">",
    "result": "<",
    "thinking": "~",
    "limit": "!",
    "note": "#",
    "usage": "$",
    "cost": "$",
}


def events(
    follow: Annotated[bool, Field("Follow new events until Ctrl-C.", ("--follow", "-f"))] = False,
    after: Annotated[int, Field("Only events after this number.", ("--after",), least=0)] = 0,
    bead: Annotated[str | None, Field("Only events of this bead.", ("--bead",))] = None,
    public: Annotated[bool, Field("Print public events as JSON; see events-public.md.", ("--public",))] = False,
    export: Annotated[
        str | None, Field("Append to FILE the public events that FILE lacks.", ("--export",), metavar="FILE")
    ] = None,
    as_json: AsJson = False,
) -> Output:
    """List everything that happened, in order, each event with the number that `undo` takes. With --json it prints one
    object a line: ts, event, task_id, agent, metadata. Programs should read --public, whose names and payloads are
    stable. With the setting `events.export` the daemon writes them to a file."""
    from ..events import words
    from .daemon import Titles

    shown = 0
    with looked_at() as app:
        if bead is not None:
            known(app.store, bead)
        if export is not None:
            if public or after or bead is not None:
                raise UsageError("--export cannot be combined with --public, --after or --bead", "Leave them out.")
            return views.export(app, export, follow)
        if public:
            return views.show(app.store, after, bead, follow)
        titles, width = Titles(app.store), screen_of(sys.stdout).width
        days = words.Days(app.store.now())
        while True:
            found = app.store.events(after, PAGE, bead)
            for event in found:
                if as_json:
                    write(dumps(words.as_json(event, titles.name(event.attempt))))
                else:
                    heading = days.heading(event.at)
                    write((heading + "\n" if heading else "") + f"{event.seq:>6}  {titles.line(event, width - 8)}")
                after = event.seq
            shown += len(found)
            if len(found) < PAGE:
                if not follow:
                    break
                time.sleep(POLL_SECONDS)
    return Output({"shown": shown, "last": after}, lambda screen: "" if shown else "no events yet")


def watch(
    agent: Annotated[str, Field("An agent's name, its bead, or `session~N`.", metavar="NAME|BEAD")],
    as_json: AsJson = False,
    user: UserPlace = False,
) -> Output:
    """Follow an agent at work, from its last lines on, until its attempt ends. Ctrl-C does not stop the agent."""
    from ..sessions.service import viewing

    screen = screen_of(sys.stdout)
    with opened_or_home(user, is_reading=True) as app:
        session = viewing.find_session(app.store, app.paths, agent)
        if not as_json:
            of = f"turn {session.number}" if session.turn else f"on {session.bead}, attempt {session.number}"
            write(f"{one_line(session.name)} ({session.role}) {of}")
        for line in viewing.transcript(app.store, session, follow=True, last=100):
            write(dumps(line) if as_json else _line(line, screen))
        ended = viewing.outcome(app.store, session)
    return Output({"attempt": session.attempt, "outcome": ended}, lambda screen: f"ended: {ended or 'not yet'}")


def _line(line: "TranscriptLine", screen: Screen) -> str:
    sign = SIGNS.get(line.kind.value, " ")
    style = {"thinking": "dim", "tool_call": "cyan", "limit": "red", "result": "dim"}.get(line.kind.value, "")
    return screen.paint(cut(f"{sign} {one_line(line.text)}", max(40, screen.width - 1)), style)


def log(bead: str, attempt: int | None, last: int) -> Output:
    """An agent's output on a bead, attempt by attempt."""
    from ..sessions.service.viewing import transcripts

    with looked_at() as app:
        known(app.store, bead)
        found = transcripts(app.store, app.paths, bead, attempt, last)

    def text(screen: Screen) -> str:
        out = []
        for one, spoken in ((each.attempt, each.lines) for each in found):
            end = one.outcome.value if one.outcome else "works"
            out.append(screen.paint(f"attempt {one.number}: {one.role.value} {one_line(one.name)}: {end}", "bold"))
            out += [_line(line, screen) for line in spoken] or ["  the agent printed nothing"]
        return "\n".join(out) or "no agent has worked on this bead yet"

    return Output(found, text)
