"""What a page may ask to be done: the words of the command, its fields, and the operation that the CLI calls too.

1. The rules are the operations'; here a form becomes their arguments, and what they gave back one line for people.
2. `danger`: the word that a person types to confirm it. Where agents are in no sandbox it takes a code from the
   terminal too (nobrakes.web.commanding).
3. A command that is in neither COMMANDS nor NOT_HERE fails a test, as does one whose fields the CLI does not have.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..wording.text import count, cut, one_line
from . import forging, planning
from .fields import Field, flag, given, long_text, number, rows, text, word

if TYPE_CHECKING:
    from ..app import App

Values = Mapping[str, Any]
Do = Callable[["App", Values, str], tuple[Any, str]]
"""(the app, the fields, who acts) to (what it came to, one line that says so)."""


@dataclass(frozen=True, slots=True)
class Command:
    """`words` as the CLI has them. `together`: it is one transaction of the store (operations.public.requests).

    `danger` holds where `is_dangerous` says so of the fields.
    """

    words: str
    do: Do
    fields: tuple[Field, ...] = ()
    together: bool = True
    danger: str = ""
    is_dangerous: Callable[["App", Values], bool] = lambda app, values: True


BEAD = Field("bead", word, True)
REASON = Field("reason", text)
NUMBER = Field("number", number, True)
ONE_BEAD = (
    Field("type", word),
    Field("description", long_text),
    Field("acceptance", rows),
    Field("priority", number),
    Field("labels", rows),
    Field("epic", word),
    Field("estimate", number),
    Field("needs_tests", flag),
    Field("touches", rows),
    Field("notes", long_text),
)
_CONTENT = tuple(field.name for field in ONE_BEAD)


def _content(values: Values, *more: str) -> dict[str, Any]:
    from ..core.beads.bead import parse_type

    found = {name: values[name] for name in (*_CONTENT, *more) if name in values}
    if found.get("type"):
        found["type"] = parse_type(found["type"])
    else:
        found.pop("type", None)
    if found.get("epic") == "":
        found["epic"] = None
    return found


def _add(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import beads

    content = {name: value for name, value in _content(values).items() if value not in ("", None)}
    if values.get("scaffolding"):
        content |= {"scaffolding": True, "needs_tests": content.get("needs_tests", False)}
    bead = beads.add(
        app.store,
        values["title"],
        needs=values.get("needs", ()),
        draft=bool(values.get("draft")),
        actor=actor,
        paths=app.paths,
        **given(values, "id"),
        **content,
    )
    return bead, f"{bead.id} {one_line(bead.title)} ({bead.status.value.replace('_', ' ')})"


def _edit(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..core.errors import UsageError
    from ..operations import beads

    fields = _content(values, "title")
    if not fields:
        raise UsageError("nothing to change was given")
    bead = beads.edit(app.store, values["bead"], fields, actor, app.paths)
    return bead, f"{bead.id} {one_line(bead.title)}: changed"


def _decided(name: str, said: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..operations import beads

        reason = {} if name == "release" else {"reason": values.get("reason", "")}
        bead = getattr(beads, name)(app.store, values["bead"], actor=actor, paths=app.paths, **reason)
        return bead, f"{bead.id} {said}"

    return do


def _retry(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import retrying

    found = retrying.retry(app.store, values["bead"], actor, values.get("note", ""), bool(values.get("all")), app.paths)
    return found, f"{found.bead.id} is {found.bead.status.value.replace('_', ' ')} again"


def _defer(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import beads
    from ..wording.times import moment, spoken

    until = values["until"]
    when = None if until == "now" else moment(until, app.store.now())
    bead = beads.defer(app.store, values["bead"], when, actor, app.paths)
    return bead, f"{bead.id} is deferred until {spoken(when)}" if when else f"{bead.id} may be worked on now"


def _dependency(name: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..core.beads.bead import Dependency, DependencyType
        from ..core.errors import UsageError
        from ..operations import beads

        kind, bead, needs = values.get("type") or "blocks", values["bead"], values["needs"]
        try:
            dependency = Dependency(bead, needs, DependencyType(kind))
        except ValueError:
            allowed = ", ".join(one.value for one in DependencyType)
            raise UsageError(
                f"'{one_line(kind)[:40]}' is not a type of dependency", f"Use one of: {allowed}."
            ) from None
        app.store.bead(bead), app.store.bead(needs)
        if name == "depend":
            beads.depend(app.store, bead, needs, dependency.type, actor, app.paths)
            return dependency, f"{bead} waits for {needs}"
        there = beads.undepend(app.store, bead, needs, dependency.type, actor, app.paths)
        return dependency, f"{bead} {'does not wait' if there else 'did not wait'} for {needs}"

    return do


def _answer(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import desk

    n = values["number"]
    if values.get("take_back"):
        return desk.take_back(app.store, n, actor, app.paths), f"question {n} is open again"
    words = ", ".join(values.get("text", ()))
    if values.get("why"):
        words = f"{words}: {values['why']}"
    found = desk.answer(app.store, n, words, actor, app.paths, bool(values.get("recommended")))
    return found, f"question {n} is answered: {cut(one_line(found.answer or found.resolution), 200)}"


def _resolve(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import desk

    found = desk.resolve(app.store, values["number"], values["how"], values.get("note", ""), actor, app.paths)
    return found, f"escalation {found.id} is decided: {values['how']}"


def _quarantine(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import flakes

    check, test = values["check"], values.get("test", "")
    what = one_line(f"{test} of {check}" if test else f"the check {check}")
    if values.get("lift"):
        return flakes.lift(app.store, check, test, actor, app.paths), f"{what} has to pass again"
    left = flakes.quarantine(app.store, app.config, check, test, values.get("reason", ""), actor, app.paths)
    return left, f"{what} may fail"


def _pause(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import control

    control.pause(app.store, app.paths, actor)
    return {"paused": True}, "paused: nothing new is started, what runs goes on"


def _resume(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import control

    control.resume(app.store, app.paths, actor)
    return {"paused": False}, "new work is started again"


def _stop(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import control

    agent = values.get("agent", "")
    if not agent:
        control.stop(app.store, app.paths, actor)
        return {"stopping": True}, "the agents are being stopped, their work is kept; resume goes on"
    found = control.stop_one(app.store, app.paths, agent, values.get("hold") or None, actor)
    then = "is held" if values.get("hold") else "goes on"
    return found, f"{one_line(found.name)} is being stopped, its work is kept; {found.bead} {then}"


def _set(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import control

    changed = control.set_limits(app.store, planning.pairs(values["limits"]), actor, app.paths)
    told = ", ".join(f"{name} = {value}" for name, value in changed.items())
    return {"changed": changed}, f"changed while it runs: {told}" if told else "every limit is as in config.toml"


def _providers(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..core.errors import UsageError
    from ..operations import cooldowns

    provider, bead = values.get("open", ""), values.get("reset", "")
    lifted, kept = values.get("lift", ""), values.get("keep", "")
    if sum(map(bool, (provider, bead, lifted, kept))) != 1:
        raise UsageError("say which provider to open, whose breaker to reset, or which cap to lift or to keep")
    if lifted or kept:
        cap = (lifted or kept).removeprefix("caps.")
        changed = cooldowns.lift(app.store, app.paths, app.config, cap, bool(lifted), actor)
        name = f"caps.{one_line(changed.name)}"
        more = "lifted until its period ends: agents may cost more than you allowed"
        return changed, f"{name} is {more}" if lifted else f"{name} holds again"
    if provider:
        was = cooldowns.end_cooldown(app.store, app.paths, provider, actor)
        return {"provider": provider, "was_closed": was}, f"agents start at {one_line(provider)} again"
    found = cooldowns.reset(app.store, app.paths, bead, actor)
    return {"bead": bead, "reset": found}, "agents may try again" if found else "no breaker of it was open"


def _say(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import conversations

    n = values["number"]
    return conversations.say(app.store, app.paths, n, values["text"], actor), f"said to session {n}"


def _start_session(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..operations import conversations

    more = {"kind": "planning", **given(values, "kind", "agent", "title")}
    made = conversations.start(app.store, app.paths, app.config, values["text"], actor=actor, **more)
    return made, f"session {made.id} began with {made.agent}"


def _session(name: str, said: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..operations import conversations

        n = values["number"]
        return getattr(conversations, name)(app.store, app.paths, n, actor), f"session {n} {said}"

    return do


def _daemon(name: str) -> Do:
    def do(app: "App", values: Values, actor: str) -> tuple[Any, str]:
        from ..operations import daemons

        if name == "stop":
            pid, left = daemons.stop(app.paths, app.store, 60.0)
            return {"pid": pid, "left": left}, f"the daemon has ended (it was process {pid}) {left}".strip()
        pid = getattr(daemons, name)(app.paths, app.store, 60.0)
        return {"pid": pid}, f"the daemon works (process {pid})"

    return do


def _notify_test(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    from ..core.errors import ChannelFailed
    from ..operations import notices

    found = notices.try_out(app.config.notify, app.paths, values.get("channel") or None, app.store.now())
    failed = [f"{one.channel}: {one_line(one.error)}" for one in found if one.error]
    if failed:
        raise ChannelFailed(f"{count(len(failed), 'channel')} did not take the test notice: {'; '.join(failed)}")
    return found, f"{count(len(found), 'channel')} took it"


COMMANDS: tuple[Command, ...] = (
    Command(
        "add",
        _add,
        (
            Field("title", text, True),
            *ONE_BEAD,
            Field("needs", rows),
            Field("id", word),
            Field("draft", flag),
            Field("scaffolding", flag),
        ),
    ),
    Command("edit", _edit, (BEAD, Field("title", text), *ONE_BEAD)),
    Command("depend", _dependency("depend"), (BEAD, Field("needs", word, True), Field("type", word))),
    Command("undepend", _dependency("undepend"), (BEAD, Field("needs", word, True), Field("type", word))),
    Command(
        "plan apply",
        planning.apply,
        (Field("plan", long_text, True), Field("dry_run", flag), Field("live", flag), Field("cut", flag)),
    ),
    Command("propose", planning.propose, (Field("plan", long_text, True),)),
    Command(
        "commit-strategy",
        planning.commit_strategy,
        (Field("revision", word), Field("only", rows), Field("without", rows), Field("drop", rows)),
        together=False,
    ),
    *(Command(words, do, fields) for words, do, fields in forging.ROWS),
    Command("forge rollback", forging.rollback, (forging.FEATURE,), danger="roll back"),
    Command(
        "session start",
        _start_session,
        (Field("text", long_text, True), Field("kind", word), Field("agent", word), Field("title", text)),
        together=False,
    ),
    Command("session say", _say, (NUMBER, Field("text", long_text, True)), together=False),
    Command("session stop", _session("stop", "is asked to stop"), (NUMBER,), together=False),
    Command("session end", _session("end", "is ended"), (NUMBER,), together=False),
    Command(
        "answer",
        _answer,
        (
            NUMBER,
            Field("text", text, is_list=True),
            Field("why", text),
            Field("recommended", flag),
            Field("take_back", flag),
        ),
    ),
    Command("resolve", _resolve, (NUMBER, Field("how", word, True), Field("note", text))),
    Command("quarantine", _quarantine, (Field("check", word, True), Field("test", text), REASON, Field("lift", flag))),
    Command("hold", _decided("hold", "is held"), (BEAD, REASON)),
    Command("release", _decided("release", "is released"), (BEAD,)),
    Command("retry", _retry, (BEAD, Field("note", text), Field("all", flag))),
    Command("defer", _defer, (BEAD, Field("until", word, True))),
    Command("cancel", _decided("cancel", "is cancelled"), (BEAD, REASON)),
    Command("done", _decided("done", "is done"), (BEAD, REASON)),
    Command("reopen", _decided("reopen", "is open again"), (BEAD, REASON)),
    Command(
        "undo",
        planning.undo,
        (Field("seq", number),),
        together=False,
        danger="take back",
        is_dangerous=planning.is_of_a_merge,
    ),
    Command("daemon start", _daemon("start"), together=False),
    Command("daemon stop", _daemon("stop"), together=False, danger="stop"),
    Command("daemon restart", _daemon("restart"), together=False),
    Command("notify test", _notify_test, (Field("channel", word),), together=False),
    Command("pause", _pause),
    Command("resume", _resume),
    Command(
        "stop",
        _stop,
        (Field("agent", word), Field("hold", text)),
        danger="stop",
        is_dangerous=lambda app, values: not values.get("agent"),
    ),
    Command("set", _set, (Field("limits", rows, True),)),
    Command(
        "providers", _providers, (Field("open", word), Field("reset", word), Field("lift", word), Field("keep", word))
    ),
)
NOT_HERE: Mapping[str, str] = {
    "init": "It writes what a shell runs later: nobrakes init in the repository.",
    **dict.fromkeys(("config set", "config unset"), "What a shell runs is edited at a terminal: nobrakes config."),
    **dict.fromkeys(("shape", "reshape"), "It talks in a terminal. A session plans with you in a page."),
    **dict.fromkeys(("pr open", "pr sync"), "Your word, or a look before it is due: nobrakes pr in a terminal."),
    "take": "It makes a worktree where you work: nobrakes take BEAD in a terminal.",
    "hand-in": "It reads a folder or a branch of yours: nobrakes hand-in BEAD in a terminal.",
    "run": "It works in the foreground of a terminal: nobrakes run. A page starts the daemon.",
    "daemon run": "The daemon itself; a page starts it with `daemon start`.",
    **dict.fromkeys(("daemon install", "daemon uninstall", "daemon watch"), "In a terminal: it is about your timers."),
    "notify secret": "A secret is typed at the terminal and never sent: nobrakes notify secret NAME.",
    "archive": "What it lets go of is gone: nobrakes archive --expire in a terminal.",
    "machine": "Limits above one repository: nobrakes machine set agents=3.",
    "project new": "It makes a folder in your workspace: nobrakes project new NAME.",
    "project use": "It is a chat session's own choice: nobrakes project use NAME, or the chat's tool.",
    **dict.fromkeys(("project run", "project schedule", "project continue"), "At the terminal that shows it whole."),
    "project archive": "The list above one repository: nobrakes project archive NAME.",
    "relay": "It begins in a folder that you name: nobrakes relay PATH PROMPT. What it asks is on the Desk.",
    "mcp client": "A token is shown once, at the terminal alone: nobrakes mcp client add NAME.",
    "repositories": "The list above one repository: nobrakes repositories forget PATH.",
}
"""Commands that change something and that no page asks for, because …"""
BY_WORDS: Mapping[str, Command] = {command.words: command for command in COMMANDS}


def named(address: str) -> Command | None:
    """The command of `/do/<address>`: its words with dashes between them."""
    return next((one for one in COMMANDS if one.words.replace(" ", "-") == address), None)
