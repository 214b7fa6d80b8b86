"""What a command hands back, and how it is shown: text for people, one JSON envelope for programs.

1. A command returns an Output; `emit` prints it. Nothing else writes to stdout, except commands that stream.
2. The envelope is {"ok": true, "command", "data"} or {"ok": false, "command", "error"}; error.code is the exit code.
"""

import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from .. import errors, paths
from ..command_table import AT_HOME, Field, Parameter, typed_anywhere
from ..errors import NobrakesError, NotAllowed, UsageError
from ..events.kinds import Actor, Surface, default_actor, given
from ..records import plain as plain
from ..text.cleaning import count, cut, lines, one_line, visible, width
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..app import App
    from ..decisions.service.view import Excerpt
    from ..request_keys import Answer


PIPE_CLOSED = 141  # as a shell reports a program that SIGPIPE ended


class Interrupted(NobrakesError):
    """Ctrl-C."""

    code = 130


class Output(NamedTuple):
    """A command's result. `data` becomes JSON (see `plain`) on request; `text` is for people."""

    data: Any
    text: Callable[[Screen], str]
    error: NobrakesError | None = None  # why, for all that it has to show, the exit code is not 0
    beside: Mapping[str, Any] | None = None  # stands beside the data in the envelope, such as how many more there are


def said(data: Any, text: str) -> Output:
    return Output(data, lambda screen: text)


def dumps(value: Any) -> str:
    """One line of JSON with only visible characters."""
    import json

    return visible(json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def envelope(command: str, data: Any, beside: Mapping[str, Any] | None = None) -> str:
    return dumps({"ok": True, "command": command, "data": data, **(beside or {})})


def error_envelope(command: str, error: BaseException, code: int, hint: str, data: Any = None) -> str:
    """The envelope of a failed command; `data` is what it shows anyway."""
    # a special case of an error is named by the error that is documented
    documented = (c.__name__ for c in type(error).__mro__ if c.__module__ == "nobrakes.errors")
    name = type(error).__name__ if isinstance(error, Interrupted) else next(documented, type(error).__name__)
    found: dict[str, Any] = {"code": code, "name": name, "message": str(error), "hint": hint}
    if details := getattr(error, "details", None):
        found["details"] = details
    more = {} if data is None else {"data": data}
    return dumps({"ok": False, "command": command, **more, "error": found})


def write(text: str) -> None:
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # no error at Python's exit
        raise SystemExit(PIPE_CLOSED) from None


SUBJECT: "ContextVar[str]" = ContextVar("SUBJECT", default="")
"""The repository that the command is about: empty for the current folder's, HOME, or the root of another one."""
HOME = "--user"


def for_place(text: str, place: str) -> str:
    """The text, with commands that work on the place when they are typed in the current folder."""
    import re  # rarely needed here

    if place == HOME:
        words = "|".join(sorted(AT_HOME, reverse=True))
        return re.sub(rf"\bnobrakes ({words})\b(?![-\w])(?! [^`\n#;]*--user)", r"nobrakes \1 --user", text)
    return typed_anywhere(text, place) if place else text


def emit(output: Output, command: str, as_json: bool) -> int:
    """Show the result; returns the exit code."""
    error = output.error
    if not as_json:
        if text := for_place(output.text(screen_of(sys.stdout)), SUBJECT.get()):
            write(text)
    elif error is None:
        write(envelope(command, output.data, output.beside))
    else:
        write(error_envelope(command, error, error.code, for_place(error.hint, SUBJECT.get()), output.data))
    return 0 if error is None else error.code


WIDEST = 100
"""Maximal width of prose."""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def folded(line: str, columns: int) -> list[str]:
    """Pieces of at most so many columns; one for an empty line."""
    pieces = [""]
    used = 0
    for character in line:
        wide = width(character)
        if used + wide > columns:
            pieces.append("")
            used = 0
        pieces[-1] += character
        used += wide
    return pieces


class TextLayout:
    """Lays out texts for a screen; `is_whole`: nothing is left out."""

    def __init__(self, screen: Screen, is_whole: bool) -> None:
        self.screen = screen
        self.width = min(screen.width, WIDEST)
        self.is_whole = is_whole

    def head_line(self, text: str) -> str:
        return self.screen.paint(cut(text, self.width), "bold")

    def wrapped(self, text: str, indent: str, more: int = 0) -> list[str]:
        after = indent + " " * more
        return wrap(text, self.width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False) or []

    def lines(self, text: str, indent: str) -> list[str]:
        return [piece for line in lines(text.rstrip()) for piece in self.wrapped(line, indent) or [""]]

    def each(self, texts: "Iterable[str]", indent: str) -> list[str]:
        return [line for text in texts for line in self.wrapped(one_line(text), indent)]

    def text(self, excerpt: "Excerpt", indent: str) -> list[str]:
        """Lines of prose: each is wrapped."""
        blank = " " * len(indent)
        out: list[str] = []
        for line in excerpt.lines:
            out += wrap(line, self.width, initial_indent=indent, subsequent_indent=blank) or [""]
        return out + self.rest(excerpt, blank)

    def code(self, excerpt: "Excerpt", indent: str, sign: str) -> list[str]:
        out = [self.screen.paint(cut(f"{indent}{sign} {line}", self.width), _STYLES[sign]) for line in excerpt.lines]
        return (out or [f"{indent}(nothing)"]) + self.rest(excerpt, indent)

    def painted(self, excerpt: "Excerpt", indent: str) -> list[str]:
        """Wraps output or a difference completely."""
        out: list[str] = []
        for line in excerpt.lines:
            style = _STYLES.get(line[:1], "")
            out += [self.screen.paint(f"{indent}{piece}", style) for piece in folded(line, self.width - len(indent))]
        return [*out, *self.rest(excerpt, indent)]

    def coloured(self, line: str, indent: str) -> str:
        return self.screen.paint(cut(f"{indent}{line}", self.width), _STYLES.get(line[:1], ""))

    @staticmethod
    def rest(excerpt: "Excerpt", indent: str) -> list[str]:
        """The number of omitted lines, and the command that shows them."""
        if not excerpt.more:
            return []
        shows = f": {excerpt.command}" if excerpt.command else ""
        return [f"{indent}… {count(excerpt.more, 'line')} more{shows}"]


SECONDS = 3.0


@contextmanager
def report_progress(what: str) -> Iterator[None]:
    """Report progress on a terminal until it ends; programs get nothing."""
    if not sys.stderr.isatty() or "--json" in sys.argv:
        yield
        return
    over, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(SECONDS):
            sys.stderr.write(f"{what}: {time.monotonic() - began:.0f} s\n")
            sys.stderr.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()


# `--as NAME` and `--request KEY` stand before or after the command's words; said twice, they have to say the same.
# Without --as it is NOBRAKES_ACTOR, or the person at the keyboard. Inside a run nobody acts under another name.
ACT_AS = Parameter(
    "act_as", str, Field("The name to record (default: NOBRAKES_ACTOR or USER).", ("--as",), metavar="NAME"), None
)
REQUEST_KEY = Parameter(
    "request_key",
    str,
    Field("Run only once: repeated with the same KEY, print the first result.", ("--request",), metavar="KEY"),
    None,
)
AsJson = Annotated[bool, Field("Print only the result, as JSON.", ("--json",))]
AS_JSON = Parameter("as_json", bool, Field("Print JSON instead of text.", ("--json",)), False)


class Asked(NamedTuple):
    """Options around a command's own words."""

    name: str | None = None
    request: str | None = None


BEFORE: ContextVar[Asked | None] = ContextVar("BEFORE", default=None)
KEPT: ContextVar[bool] = ContextVar("KEPT", default=False)
"""Whether the result is stored under its key, and so has to be complete."""
_ACTOR: ContextVar[Actor | None] = ContextVar("_ACTOR", default=None)


def asked(after: Asked) -> Asked:
    """The effective options, before or after the words. Raises UsageError."""
    before = BEFORE.get() or Asked()
    for option, first, second in (("--as", before.name, after.name), ("--request", before.request, after.request)):
        if first is not None and second is not None and first != second:
            raise UsageError(f"{option} occurs twice, with different values", f"Use {option} once.")
    return Asked(
        before.name if after.name is None else after.name, before.request if after.request is None else after.request
    )


def choose(name: str | None) -> Actor:
    """Set the actor; NotAllowed for an agent."""
    from ..app import is_agent

    if name is not None and is_agent():
        raise NotAllowed("an agent cannot use `--as`", "Leave it out.")
    chosen = name if name is not None or is_agent() else os.environ.get("NOBRAKES_ACTOR") or None
    at_keyboard = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    found = default_actor(at_keyboard, Surface.CLI) if chosen is None else given(chosen, Surface.CLI)
    _ACTOR.set(found)
    return found


def present() -> Actor:
    return _ACTOR.get() or choose(None)


BeadId = Annotated[str, Field("The bead's id.", metavar="BEAD")]
FeatureId = Annotated[str, Field("The feature's id.", metavar="FEATURE")]


@contextmanager
def looked_at(folder: str | None = None) -> Iterator["App"]:
    """For reading commands: a wrong config.toml is only reported."""
    with opened(True, folder) as app:
        if app.paths.config_is_new():
            assert app.config, "reading the settings reports mistakes"
        yield app


MAIN_IS_SHOWN: "ContextVar[bool]" = ContextVar("MAIN_IS_SHOWN", default=False)
"""The command's own text says how main is."""


def _note_main(app: "App") -> None:
    """Tell if main's newest commit is red, or a person's that did not pass after others did."""
    store, branch = app.store, app.config.main
    with suppress(NobrakesError):  # also a database without tables, which only the doctor may say
        if not store.main_moved(app.paths.root, branch):
            return
        from ..daemon.service.status import main_text, main_tip

        found = main_tip(store, app.git, branch)
        if found.state == "red" or (found.state == "not proven" and found.subject and found.proven):
            sys.stderr.write(f"note: {branch} is {main_text(found, store.now())}: `nobrakes status`\n")


@contextmanager
def opened(is_reading: bool = False, folder: str | None = None) -> Iterator["App"]:
    """The repository around the folder, by default the current one. Raises NotInitialised, ConfigError, StoreBroken."""
    from ..app import is_agent, open_app

    if (held := _SHARED.get()) is not None and folder is None:
        yield held
        return
    app = open_app(folder, is_reading)
    try:
        yield app
        if is_reading and "store" in app.__dict__ and not (MAIN_IS_SHOWN.get() or "--json" in sys.argv or is_agent()):
            _note_main(app)
        if app.is_copy:
            folder = os.path.relpath(app.paths.folder)
            sys.stderr.write(f"note: {folder} cannot be written, so the output may be slightly out of date\n")
    finally:
        app.close()


UserPlace = Annotated[bool, Field("Use your own sessions and daemon, which belong to no repository.", ("--user",))]


def _elsewhere(folder: str) -> str:
    there, here = (getattr(paths.find(one), "root", "") for one in (folder, None))
    return "" if there == here else there or os.path.realpath(folder)


@contextmanager
def opened_or_home(user: bool, is_reading: bool = False, folder: str | None = None) -> Iterator["App"]:
    """The repository around the folder, or with `user` the person's own place, created on writing. Hints keep it."""
    SUBJECT.set(HOME if user else _elsewhere(folder) if folder else "")
    if not user:
        with looked_at(folder) if is_reading else opened(folder=folder) as app:
            yield app
        return
    from ..app import App
    from ..machine import registry

    found = registry.home_paths() if is_reading else registry.made()
    if found is None:
        raise UsageError("you have no session of your own yet", "Type `nobrakes session start --user TEXT`.")
    with App(found, is_reading, is_home=True) as app:
        yield app


_SHARED: "ContextVar[App | None]" = ContextVar("_SHARED", default=None)


@contextmanager
def shared() -> Iterator["App"]:
    """Open the repository once for all calls inside."""
    with opened() as app:
        before = _SHARED.set(app)
        try:
            yield app
        finally:
            _SHARED.reset(before)


def actor() -> str:
    """The recorded author of changes."""
    return present().name


def confirm(question: str) -> bool:
    """Ask the person at the terminal."""
    from typer import Abort, confirm

    try:
        return confirm(question)
    except Abort:
        raise KeyboardInterrupt from None


def text_or_stdin(text: str, what: str) -> str:
    """`text`, or stdin for '-'. Raises UsageError if empty."""
    found = sys.stdin.read() if text == "-" else text
    if not found.strip():
        raise UsageError(f"the {what} is empty", f"Type the {what} as an argument, or '-' to read it from stdin.")
    return found


def once(
    words: str, key: str, is_atomic: bool, actor: "Actor", arguments: Mapping[str, Any], function: Callable[[], Output]
) -> Output:
    """Call the command once for the key; later show its stored result."""
    from .. import request_keys
    from ..files import wake

    with shared() as app:
        wanted = request_keys.Once(key, request_keys.named(words, dict(arguments), _stdin(arguments)), actor, is_atomic)
        shown: list[Output] = []

        def do() -> "Answer":
            shown.append(function())
            return _answer(shown[0])

        answer, again = request_keys.once(app.store, app.paths, wanted, do)
        if not again:
            wake(app.paths)  # a daemon that was woken before the end of the transaction saw nothing yet
            return shown[0]
    sys.stderr.write("note: the --request key was used before, so the first result is shown\n")
    return _shown(answer)


def _stdin(arguments: Mapping[str, Any]) -> str:
    """Read the input before taking the lock."""
    if "-" not in arguments.values():
        return ""
    text = sys.stdin.read()
    sys.stdin = io.StringIO(text)
    return text


def _answer(output: Output) -> "Answer":
    from ..request_keys import Answer

    error = output.error
    text = output.text(Screen(WIDTH))
    named = None if error is None else (type(error).__name__, str(error), error.hint)
    return Answer(0 if error is None else error.code, dumps(output.data), text, named)


WIDTH = 120


def _shown(answer: "Answer") -> Output:
    import json

    error = None
    if answer.error is not None:
        name, message, hint = answer.error
        error = getattr(errors, name, errors.NobrakesError)(message, hint)
        error.code = answer.code
    return Output(json.loads(answer.data), lambda screen: answer.text, error)
