"""`POST /r/<repo>/do/<command>`: a command done once under its key, and where the person goes next.

1. Every form has a key (`request`): sending it again does nothing and answers the same (request_keys).
2. Dangerous commands are confirmed by typing a word, and without a sandbox, where agents share the account, by a new
   code from the terminal.
3. Events are signed with the person and the way: `ada (web)`.
"""

import base64
import json
import os
import secrets
import shlex
from collections.abc import Callable, Mapping
from inspect import getdoc
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from .. import command_table, errors
from ..command_table import AT_HOME, ATOMIC, NOTE, TEXT, WORD, CommandFunction, Parameter, parameters_of
from ..config.setup import changing
from ..errors import ChannelFailed, NobrakesError, UsageError
from ..events.kinds import MAX_NAME, MERGES, Actor, Surface, default_actor
from ..machine.web_state import OWN
from ..records import frozen, plain
from ..text.cleaning import count, one_line
from . import rendering
from .access import LOG, Site, local, site_of
from .rendering import Field, amount, flag, long_text, number, repository, rows, text, word

if TYPE_CHECKING:
    from ..app import App


# The rules are the operations'; here a form becomes their arguments, and what they gave back one line for people.
# `danger` is the word that a person types to confirm; where agents are in no sandbox it takes a code from the terminal
# too. A command that is in neither COMMANDS nor NOT_HERE fails a test.
Values = Mapping[str, Any]
Do = Callable[["App", Values, str], tuple[Any, str]]
"""(app, fields, actor) to (result, one line)."""


def is_of_a_merge(app: "App", values: Values) -> bool:
    """Whether the undone step is a merge, which moves main."""
    from ..review.service.undo import event_of

    found = event_of(app.store, values["seq"]) if "seq" in values else None
    return found is not None and found.kind in MERGES


Seq = Annotated[int | None, command_table.Field("The number of the event (default: the last step).", ("--seq",))]


def undo(app: "App", by: str, seq: Seq = None) -> tuple[Any, str]:
    """Undo the last step, or the step of one event. nobrakes reverts a merge by a commit that passes the checks."""
    from .. import app as app_module

    found = app_module.undo(app, by, seq, lambda line: LOG.debug("undo: %s", one_line(line)))
    return found, one_line(found.text)


@frozen
class Command:
    """`words` as in the CLI; `story`: what it does. `together`: one transaction of the store (request_keys).
    `danger` applies if `is_dangerous` of the fields (None: always)."""

    words: str
    do: Do
    story: str
    parameters: tuple[Parameter, ...]
    fields: tuple[Field, ...]
    together: bool = True
    danger: str = ""
    is_dangerous: Callable[["App", Values], bool] | None = None

    @property
    def entry(self) -> command_table.Entry:
        return command_table.entry(self.words)

    @property
    def slug(self) -> str:
        return self.words.replace(" ", "-")


Channel = Annotated[str, command_table.Field("The channel (default: all channels).", metavar="CHANNEL")]


def notify_test(app: "App", by: str, channel: Channel = "") -> tuple[Any, str]:
    """Send a test notice through every channel, or through one."""
    from ..notices import service as notices_service

    found = notices_service.try_out(app.config.notify, app.paths, channel or None, app.store.now())
    failed = [f"{one.channel}: {one_line(one.error)}" for one in found if one.error]
    if failed:
        raise ChannelFailed(f"{count(len(failed), 'channel')} rejected the test notice: {'; '.join(failed)}")
    return found, f"{count(len(found), 'channel')} accepted the test notice"


READS: Mapping[Any, Callable[[str, str], Any]] = {WORD: word, NOTE: text, TEXT: long_text}


def _field(one: Parameter) -> Field:
    """A required list is not empty on a page."""
    if one.field.keyed:
        return Field(one.name, READS[one.field.most], one.is_required(), is_list=True)
    if isinstance(one.type, GenericAlias):
        is_list = one.type == tuple[int, ...]
        return Field(one.name, number if is_list else rows, not one.field.options, is_list)
    if one.field.joined:
        return Field(one.name, READS[one.field.most], is_list=True)
    return Field(
        one.name, {int: number, float: amount, bool: flag}.get(one.type) or READS[one.field.most], one.is_required()
    )


CONFIRMED: Mapping[str, Mapping[str, Any]] = {
    "stop": {"danger": "stop", "is_dangerous": lambda app, values: values.get("agent") is None},
    "daemon stop": {"danger": "stop"},
    "forge rollback": {"danger": "roll back"},
    "undo": {"danger": "take back", "is_dangerous": is_of_a_merge},
}
"""Commands that a page confirms by a typed word."""


def _command(words: str, command: CommandFunction, together: bool) -> Command:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        joined = {one.name: ", ".join(values.get(one.name, ())) for one in given if one.field.joined}
        found, told = command(app, actor, **{**values, **joined})
        return found, told.partition("\n")[0]

    given = parameters_of(command)
    fields = tuple(map(_field, given))
    return Command(words, do, getdoc(command) or "", given, fields, together, **CONFIRMED.get(words, {}))


COMMANDS: tuple[Command, ...] = (
    *(_command(one.words, made, one.changes == ATOMIC) for one in command_table.COMMANDS if (made := one.command())),
    _command("undo", undo, together=False),
    _command("notify test", notify_test, together=False),
)
"""The commands of every surface, and two that differ on the command line: `undo` names steps in more ways there, and
`notify test` shows every channel with its error."""
BY_WORDS = {one.words: one for one in COMMANDS}
NOT_HERE: Mapping[str, str] = {
    "init": "`init` writes commands that a shell runs later. Type `nobrakes init` in the repository.",
    "demo": "`demo` makes a new repository. Type `nobrakes demo` in a terminal.",
    **dict.fromkeys(("shape", "reshape"), "This command needs a terminal. On a page, plan in a session."),
    "take": "`take` creates a worktree in your folder. Type `nobrakes take BEAD` in a terminal.",
    "hand-in": "`hand-in` reads your folder or branch. Type `nobrakes hand-in BEAD` in a terminal.",
    "run": "`nobrakes run` occupies a terminal. On a page, start the daemon instead.",
    "daemon run": "`daemon run` is the daemon itself. On a page, use `daemon start`.",
    "takeover": "Take the work of another machine over only in a terminal: the database is rebuilt.",
    **dict.fromkeys(("daemon install", "daemon uninstall", "daemon watch"), "Change timers only in a terminal."),
    "notify secret": "Type secrets only in a terminal: `nobrakes notify secret NAME`.",
    "archive": "`archive` deletes archived work permanently. Type `nobrakes archive` in a terminal.",
    "machine": "`machine` sets limits for pages. In a terminal: `nobrakes machine set session_roots=~/code agents=3`.",
    "project use": "Each chat session chooses its project: `nobrakes project use NAME`, or the chat's tool.",
    "relay": "In a terminal, `nobrakes relay PATH PROMPT` starts a session. The Desk shows its questions.",
    "mcp client": "Only a terminal shows a new token, once: `nobrakes mcp client add NAME`.",
    **dict.fromkeys(("agent-profile add", "agent-profile test"), "Name programs only in a terminal."),
    "sync beads": "It reads and writes files in your folder. Type `nobrakes sync beads` in a terminal.",
    "repositories": "To remove a repository from the list, type `nobrakes repositories forget PATH`.",
}
"""Commands without a page, and why."""


def named(address: str) -> Command | None:
    """The command of `/do/<address>`: its words with dashes."""
    return next((one for one in COMMANDS if one.slug == address), None)


def command_of(request: Request) -> Command:
    """The command of the address. Raises UsageError."""
    address = request.path_params["command"]
    if (command := named(address)) is None:
        why = NOT_HERE.get(address) or NOT_HERE.get(address.replace("-", " "), "")
        raise UsageError(f"pages cannot run the command '{address[:40]}'", why)
    goes_anywhere = command.words in AT_HOME or command.words.split()[0] in command_table.ANYWHERE
    if request.path_params["repo"] == OWN and not goes_anywhere:
        raise UsageError(f"'{command.words}' works only in a repository, not in your own sessions")
    return command


def parameters(words: str) -> Mapping[str, Parameter]:
    """What a form of this command may ask for."""
    return {one.name: one for one in BY_WORDS[words].parameters}


_PAGES = (
    ("desk", "Open the Desk", ("escalations",)),
    ("desk/{}", "Decide", ("escalation", "answer", "resolve")),
    ("features", "Begin a feature", ("shape", "reshape")),
    ("features", "Open Features", ("forge list", "forge new")),
    ("features/{}", "Open the feature", ("forge show", "forge sign-off", "forge answer", "forge resume", "forge edit")),
    ("plan", "Open the Plan", ("approve", "commit-strategy", "propose", "plan apply")),
    ("sessions/{}", "Open the session", ("session show", "session say")),
    ("requests", "Open the pull requests", ("pr list", "pr show")),
    ("board", "Open the Board", ("board", "list", "ready")),
    ("bead/{}", "Open the bead", ("show", "history", "preview show")),
    ("breaker", "Open the Breaker box", ("stop",)),
    ("health", "Check everything", ("doctor",)),
    ("evidence", "Open Evidence", ("verify",)),
    ("machine", "Open Machine", ("machine",)),
    ("settings", "Open Settings", ("config",)),
    ("settings?q={}", "Change it", ("config set", "config unset", "config get")),
    ("live", "Watch", ("watch",)),
    ("", "Open Now", ("status",)),
)
PAGES: Mapping[str, tuple[str, str]] = {words: (path, name) for path, name, many in _PAGES for words in many}
"""Commands that a page shows, or does better than the command's form; `{}`: the first argument."""
_NAMES = {
    "daemon start": "Start the daemon",
    "providers": "Try the provider now, or lift the cap",
    "quarantine": "End the quarantine",
    "defer": "Change the time",
}
_AS_PAGE = {"nobrakes run": "nobrakes daemon start"}


class Link(NamedTuple):
    """`path` follows `/r/<repo>/`. `button`: the command's address, if one press does it."""

    path: str
    name: str
    button: str = ""


def link(line: str) -> Link | None:
    """The page that does what this command line does; None: only a terminal does."""
    try:
        first, *given = [one for one in shlex.split(_AS_PAGE.get(line, line)) if one != "--user"]
    except ValueError:
        return None
    words = next((two for two in (" ".join(given[:2]), *given[:1]) if two in PAGES or two in BY_WORDS), "")
    rest = given[len(words.split()) :]
    if first != "nobrakes" or not words or (words in ("config", "doctor", "machine", "verify") and rest):
        return None
    if words in ("config set", "config unset") and not (rest and changing.is_on_page(rest[0])):
        return None
    path, name = PAGES.get(words, ("", ""))
    if name and not (rest and words in BY_WORDS and "{}" not in path):
        return Link(path.format(*(quote(one, safe="") for one in rest)), name) if rest or "{}" not in path else None
    command = BY_WORDS[words]
    values = {rest[0]: rest[1]} if words == "providers" and len(rest) == 2 else _values(command, rest)
    name = _NAMES.get(words) or command.entry.help.rstrip(".").partition(";")[0].partition(":")[0]
    if values is None:
        return None
    is_simple = not (values or command.danger or any(one.is_required() for one in command.parameters))
    return Link(f"do/{command.slug}?{urlencode(values)}", name, command.slug if is_simple else "")


def _values(command: Command, given: list[str]) -> dict[str, str] | None:
    """The form's values of the words of a command line; None: it means something else there."""
    found: dict[str, str] = {}
    options = {word: one for one in command.parameters for word in one.field.options}
    free = [one for one in command.parameters if not one.field.options and not one.field.choices]
    left = iter(given)
    for typed in left:
        one = options.get(typed) or (free.pop(0) if free and not typed.startswith("-") else None)
        if one is None or (one.type is str and one.field.most == TEXT):  # a file
            return None
        value = "1" if one.type is bool else typed if not one.field.options else next(left, "")
        if not value:
            return None
        found |= {} if value == "…" else {one.name: value}
    return found


MARK = " (web)"
Given = list[tuple[str, str]]


def actor() -> Actor:
    """The server's person, through a page."""
    name = default_actor(
        os.environ.get("NOBRAKES_ACTOR") or os.environ.get("USER") or os.environ.get("LOGNAME") or "", Surface.WEB
    )
    return Actor(name.name[: MAX_NAME - len(MARK)] + MARK, Surface.WEB)


async def do(request: Request) -> Response:
    """Perform it, then answer a script with JSON, and a form with its next page."""
    command = command_of(request)
    form = await request.form(max_files=0, max_fields=200, max_part_size=TEXT)
    given = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    session = str(request.scope["nobrakes.session"])
    result, said, again, step = await run_in_threadpool(
        perform, site_of(request), request.path_params["repo"], command, given, session
    )
    then = str(dict(given).get("then", ""))
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(
            {"ok": True, "command": command.words, "said": said, "again": again, "undo": step, "data": result}
        )
    return _lead_on(request, local(then) if then else f"/r/{request.path_params['repo']}/", said)


def _lead_on(request: Request, then: str, said: str) -> Response:
    """Redirect with the result in a cookie, since an address could be forged."""
    answer = RedirectResponse(then, 303)
    words = base64.urlsafe_b64encode(said[:300].encode()).decode()
    site = site_of(request)
    answer.set_cookie(
        f"{site.cookie}_said", words, max_age=30, path="/", secure=site.is_secure, httponly=True, samesite="strict"
    )
    return answer


def perform(site: Site, word: str, command: Command, given: Given, session: str) -> tuple[Any, str, bool, int | None]:
    """(result as JSON values, one line for people, whether it ran before, its step that `undo` takes back)."""
    from .. import request_keys
    from ..daemon.service.now import last_seq
    from ..files import wake
    from ..review.service.undo import undoable

    values = rendering.values(command.fields, given)
    beside, step = dict(given), None
    key = beside.get("request") or f"web-{secrets.token_hex(12)}"
    who = actor()
    with repository(word, makes_own=True) as app:
        app.is_reading = False  # a command does not work with settings that are wrong
        wanted = request_keys.Once(key, request_keys.named(command.words, values), who, command.together)
        is_new = command.danger and app.store.request(key) is None
        if is_new and (command.is_dangerous is None or command.is_dangerous(app, values)):
            confirm(site, word, command, beside)

        def run() -> request_keys.Answer:
            data, said = command.do(app, values, who.name)
            return request_keys.Answer(0, json.dumps(plain(data)), said)

        before = last_seq(app.store)
        answer, again = request_keys.once(app.store, app.paths, wanted, run)
        if not again:
            wake(app.paths)  # a daemon that was woken before the end of the transaction saw nothing yet
            step = next((one.seq for one in undoable(app.store, after=before) if one.actor == who.name), None)
    LOG.info("command: %s by %s in session %s%s", command.words, who.name, session, ", done before" if again else "")
    if answer.error is not None:
        name, message, hint = answer.error
        raise _again(name, message, hint)
    return json.loads(answer.data), answer.text, again, step


def _again(name: str, message: str, hint: str) -> NobrakesError:
    kind = getattr(errors, name, NobrakesError)
    return kind(message, hint) if isinstance(kind, type) and issubclass(kind, NobrakesError) else NobrakesError(message)


def confirm(site: Site, word: str, command: Command, beside: dict[str, str]) -> None:
    """UsageError unless confirmed."""
    typed = " ".join(beside.get("typed", "").split()).lower()
    if typed != command.danger:
        raise UsageError(f"To confirm '{command.words}', type: {command.danger}", "Nothing was done.")
    with repository(word) as app:  # its settings may be wrong, and stopping still works
        if not takes_code(app):
            return
    hint = "Agents here run without a sandbox, with your rights. Type `nobrakes web --code` in a terminal for a code."
    if not site.state.use_code(beside.get("code", ""), confirms=True):
        site.is_flooded(f"a code to confirm '{command.words}' was wrong")
        raise UsageError(f"'{command.words}' needs a new code from the terminal", hint)


def takes_code(app: "App") -> bool:
    """Whether agents here have no sandbox, and so could be logged in as the person."""
    mode = app.config.sandbox.mode
    return mode == "none" or bool(app.misconfigured) or bool(app.sandbox_trouble())
