"""What pages are made of: templates, pieces that come again, patches, repositories, the frame, fields of forms."""

import base64
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ..beads.model import ADDED
from ..beads.progress import added_texts
from ..command_table import NOTE, TEXT
from ..daemon.service.status import first_lines
from ..decisions import blockers
from ..errors import NobrakesError, UsageError
from ..machine import registry
from ..machine.web_state import OWN, long_word, short, words
from ..paths import FOLDER, Paths
from ..projects.service.projects_folder import project_at
from ..records import frozen, plain
from ..text import cleaning
from ..text.cleaning import lines as cleaned

if TYPE_CHECKING:
    from jinja2 import Environment
    from pygments.lexer import Lexer

    from ..app import App
    from ..daemon.service.now import BarView, NowView
    from ..doctor.health import Step


# Text from agents is a value in a template and nothing else; nothing is marked as safe. What people read is cleaned as
# on a terminal (text.cleaning). `part` renders one piece of a page alone, by the macro that made it first: what comes
# through the socket later is the same markup.
HERE = os.path.dirname(os.path.abspath(__file__))
STATIC = os.path.join(HERE, "static")


@cache
def version() -> str:
    """Changes with any static file, so that none is ever outdated."""
    found = hashlib.sha256()
    for name in sorted(os.listdir(STATIC)):
        with open(os.path.join(STATIC, name), "rb") as file:
            found.update(name.encode() + b"\0" + file.read())
    return found.hexdigest()[:12]


@cache
def environment() -> "Environment":
    """The templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from .commands import link, parameters  # commands need this module

    made = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "line": lambda value: cleaning.one_line(str(value)),
        "paragraphs": lambda value: "\n".join(cleaning.lines(str(value))),
        "cut": lambda value, columns: cleaning.cut(cleaning.one_line(str(value)), columns),
        "age": cleaning.age,
        "count": cleaning.count,
        "cost": lambda value: cleaning.cost_text(plain(value)),
        "when": cleaning.spoken,
        "clock": cleaning.clock,
        "day": _day,
        "iso": _iso,
        "words": lambda value: str(value).replace("_", " "),
        "first_up": lambda value: value[:1].upper() + value[1:],
        "in_words": lambda value: re.sub(r"--([a-z][a-z-]*)", r"“\1”", value),
    }
    made.globals |= {"told": blockers.told, "first_lines": first_lines, "added": lambda bead: added_texts(bead, ADDED)}
    made.globals |= {"parameters": parameters, "link": link}
    made.globals |= {"static": f"/static/{version()}", "new_key": lambda: f"web-{secrets.token_hex(12)}"}
    return made


def _day(when: float, now: float) -> str:
    days = (datetime.fromtimestamp(now).date() - datetime.fromtimestamp(when).date()).days
    return {0: "Today", 1: "Yesterday"}.get(days) or cleaning.date(when)


def _iso(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def render(
    request: Request, template: str, *, status: int = 200, topics: Sequence[str] = (), **values: Any
) -> Response:
    """A page. `topics`: what it subscribes to (nobrakes.web.live)."""

    around = frame(request, topics)
    made = environment().get_template(template).render(frame=around, **values)
    answer = HTMLResponse(made, status)
    if around.said:
        forget_said(request, answer)
    return answer


def part(template: str, macro: str, *values: Any, **named: Any) -> str:
    """A macro of the template, called with these values."""
    module = environment().get_template(template).module
    return str(getattr(module, macro)(*values, **named))


def error_page(status: int, message: str, hint: str, request: Request | None = None, alike: Sequence[str] = ()) -> str:
    """Asks no repository for anything. `request`: of somebody who is logged in, for the navigation. `alike`: the paths
    of repositories that may have been meant."""
    page, around, rest = environment().get_template("error.html"), Frame(), ""
    if request is not None and (found := re.fullmatch(r"/r/([^/]+)/(.*)", request.url.path)):
        rest = found[2]
        with suppress(NobrakesError):
            folder(found[1])
            there = tuple(way for way in WAYS if way.path not in ("requests", "sprints"))
            around = Frame(found[1], None, there, is_in=True, here=request.url.path)
    first = rest.partition("/")[0]
    back = next((way for way in around.ways if way.path == ("board" if first == "bead" else first)), WAYS[0])
    named = [(word, path) for path, word in words(registry.paths()).items() if path in alike]
    values = {"status": status, "message": message, "hint": hint, "back": back, "alike": named, "rest": rest}
    return page.render(frame=around, **values)


# A patch as rows of a table. git's text is read line by line; what belongs to no patch is passed over, and nothing of
# it becomes markup. A file that no lexer of Pygments knows, or that is long, has no colours.
MAX_LINES = 3000
MAX_COLOURED = 1200
MAX_LINE = 2000
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
Piece = tuple[str, str]


@frozen
class Row:
    """One line. `kind`: same, added, removed, or hunk (its text is the place); numbers before and after."""

    kind: str
    pieces: tuple[Piece, ...]
    before: int | None = None
    after: int | None = None


@dataclass(slots=True)
class PatchFile:
    """One file's rows; `note` if there is nothing to show."""

    path: str
    rows: list[Row] = field(default_factory=list)
    note: str = ""

    def pairs(self) -> Iterator[tuple[Row | None, Row | None]]:
        """Rows in two columns: removed ones beside their replacements."""
        gone: list[Row] = []
        came: list[Row] = []
        for row in [*self.rows, None]:
            if row is not None and row.kind == "removed" and not came:
                gone.append(row)
            elif row is not None and row.kind == "added":
                came.append(row)
            else:
                for place in range(max(len(gone), len(came))):
                    yield gone[place] if place < len(gone) else None, came[place] if place < len(came) else None
                gone, came = ([row] if row is not None and row.kind == "removed" else []), []
                if row is not None and row.kind != "removed":
                    yield row, row


@frozen
class Patch:
    """The files, and the number of omitted lines."""

    files: tuple[PatchFile, ...]
    left: int = 0


def read(text: str, most: int = MAX_LINES) -> Patch:
    """Git's uncoloured patch."""
    files: list[PatchFile] = []
    before = after = shown = left = 0
    inside = False
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            # the name after the change; `+++` says it better where there is one
            files.append(PatchFile(_safe(line.removeprefix("diff --git ").rpartition(" b/")[2] or line)))
            inside = False
        elif not files:
            continue
        elif hunk := _HUNK.match(line):
            before, after, inside = int(hunk[1]), int(hunk[2]), True
            files[-1].rows.append(Row("hunk", (("", _safe(line)),)))
        elif not inside:
            _head(files[-1], line)
        elif line[:1] in (" ", "+", "-"):
            shown += 1
            if shown > most:
                left += 1
                continue
            row, before, after = _row(line, before, after)
            files[-1].rows.append(row)
    for file in files:
        _colour(file)
    return Patch(tuple(files), left)


def _head(file: PatchFile, line: str) -> None:
    if line.startswith("+++ b/"):
        file.path = _safe(line[6:].rstrip("\t"))
    elif line.startswith(("Binary files ", "GIT binary patch")):
        file.note = f"{file.note}, no text" if file.note else "no text"
    elif line.startswith(("rename from ", "old mode ", "new mode ", "deleted file ", "new file ")):
        file.note = f"{file.note}, {_safe(line)}" if file.note else _safe(line)


def _row(line: str, before: int, after: int) -> tuple[Row, int, int]:
    pieces = (("", _safe(line[1:])),)
    if line[0] == "+":
        return Row("added", pieces, None, after), before, after + 1
    if line[0] == "-":
        return Row("removed", pieces, before, None), before + 1, after
    return Row("same", pieces, before, after), before + 1, after + 1


def _safe(text: str) -> str:
    return " ".join(cleaned(text.rstrip("\r")))[:MAX_LINE]


def _colour(file: PatchFile) -> None:
    lexer = _lexer(file.path.rpartition("/")[2])
    if lexer is None or len(file.rows) > MAX_COLOURED:
        return
    file.rows = [
        row if row.kind == "hunk" else Row(row.kind, _tokens(lexer, row.pieces[0][1]), row.before, row.after)
        for row in file.rows
    ]


@cache
def _lexer(name: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _tokens(lexer: "Lexer", text: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for token, value in lexer.get_tokens(text):
        colour = _class(token)
        if found and found[-1][0] == colour:
            found[-1] = colour, found[-1][1] + value
        else:
            found.append((colour, value))
    return tuple(found) if "".join(value for _, value in found) == text else (("", text),)


_COLOURS = (("Comment", "c"), ("Keyword", "k"), ("String", "s"), ("Number", "n"), ("Name.Function", "f"),
            ("Name.Class", "f"), ("Name.Tag", "k"), ("Name.Builtin", "b"), ("Operator.Word", "k"))  # fmt: skip


@cache
def _class(token: Any) -> str:
    name = str(token).removeprefix("Token.")
    return next((colour for part, colour in _COLOURS if part in name), "")


# `/r/<word>/…`: the word is the folder's name, with a few letters of its path where two are called the same. A
# repository is opened in the thread that answers, and closed before the answer goes out: a connection is never shared.
class NoSuchRepository(NobrakesError):
    """No repository of this person has this word."""

    code = 11
    hint = "Type `nobrakes init` in the repository. The first page lists all repositories that use nobrakes."

    def __init__(self, message: str, hint: str = "", alike: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.alike = alike


def folder(word: str) -> str:
    """Raises NoSuchRepository."""
    paths = registry.paths()
    known = words(paths)
    for path in paths:
        if word in (known[path], long_word(path)):
            return path
    alike = _alike(word, paths)
    said = f"{len(alike)} of your repositories are" if len(alike) > 1 else "none of your repositories is"
    raise NoSuchRepository(f"{said} called '{word[:60]}'", "Which repository do you mean?" if alike else "", alike)


def _alike(word: str, paths: Sequence[str], but: str = "") -> list[str]:
    """The paths of this short word that still use nobrakes."""
    asked = word.partition("~")[0]
    return [path for path in paths if short(path) == asked and path != but and os.path.exists(f"{path}/{FOLDER}")]


def repository(word: str, makes_own: bool = False) -> "App":
    """Opens nothing yet. `makes_own`: creates the person's own place. Raises NoSuchRepository."""
    from ..app import App

    if word == OWN:
        own = registry.made() if makes_own else registry.home_paths()
        if own is None:
            raise NoSuchRepository("you have no sessions of your own yet", "Start a session on the page Sessions.")
        return App(own, is_reading=True, is_home=True)
    path = folder(word)
    paths = Paths(os.path.join(path, FOLDER))
    if not os.path.exists(paths.config):
        raise NoSuchRepository(
            f"{path} no longer uses nobrakes",
            f"`nobrakes repositories forget {path}` removes the repository from the list.",
            _alike(word, registry.paths(), but=path),
        )
    return App(paths, is_reading=True)


@contextmanager
def opened(request: Request) -> Iterator["App"]:
    """The request's repository; rendering inside adds its bar."""
    word = request.path_params["repo"]
    with repository(word) as app:
        request.state.app, request.state.word = app, word
        try:
            yield app
        finally:
            request.state.app = None


BOOT = secrets.token_hex(6)
"""Identifies this process: pages of an earlier one reload."""


@frozen
class Way:
    """A navigation entry; `path` follows `/r/<repo>/`. `is_first`: also on phones. `begins`: a group of entries."""

    name: str
    path: str
    icon: str
    is_first: bool = False
    begins: bool = False


WAYS = (
    Way("Now", "", "now", True),
    Way("Desk", "desk", "desk", True),
    Way("Board", "board", "board", True),
    Way("Graph", "graph", "graph", True),
    Way("Live", "live", "live", True),
    Way("Plan", "plan", "plan", begins=True),
    Way("Features", "features", "features"),
    Way("Sprints", "sprints", "sprints"),
    Way("Sessions", "sessions", "sessions"),
    Way("Merges", "merges", "merges", begins=True),
    Way("Requests", "requests", "requested"),
    Way("Evidence", "evidence", "evidence"),
    Way("Cost", "cost", "cost"),
    Way("Breaker box", "breaker", "breaker", begins=True),
    Way("Health", "health", "health"),
    Way("Machine", "machine", "machine"),
    Way("Set-up", "set-up", "setup"),
    Way("Settings", "settings", "settings"),
    Way("Commands", "do", "find"),
)


@frozen
class Frame:
    """`repo`: the repository's word, empty above them; `way`: the shown page. `here`: its address, `said`: the last
    result."""

    repo: str = ""
    bar: "BarView | None" = None
    ways: tuple[Way, ...] = ()
    way: str | None = None
    topics: str = ""
    boot: str = BOOT
    is_in: bool = False
    here: str = "/"
    said: str = ""

    @property
    def is_own(self) -> bool:
        return self.repo == OWN

    def to(self, path: str = "") -> str:
        return f"/r/{self.repo}/{path}"


def frame(request: Request, topics: Sequence[str] = ()) -> Frame:
    """The frame of an answer."""
    is_in = bool(request.scope.get("nobrakes.session"))
    app = getattr(request.state, "app", None)
    query = request.url.query
    here = request.url.path + (f"?{query}" if query else "")
    said = said_in(request) if is_in else ""
    if app is None:
        return Frame(is_in=is_in, topics=" ".join(topics), here=here, said=said)
    from ..daemon.service.now import bar

    rest = request.url.path.removeprefix(f"/r/{request.state.word}/")
    ways = available(request, app.config.review.by_request)
    there = [way.path for way in ways if rest == way.path or (way.path and rest.startswith(way.path + "/"))]
    return Frame(
        request.state.word,
        bar(app.store, app.paths, app.config, app.misconfigured),
        ways,
        there[0] if there else None,
        " ".join(topics),
        is_in=is_in,
        here=here,
        said=said,
    )


def said_in(request: Request) -> str:
    word = request.cookies.get(f"{request.app.state.site.cookie}_said", "")
    try:
        return base64.urlsafe_b64decode(word.encode("ascii"))[:400].decode()
    except ValueError:
        return ""


def forget_said(request: Request, answer: Response) -> None:
    site = request.app.state.site
    answer.delete_cookie(f"{site.cookie}_said", path="/", secure=site.is_secure, httponly=True, samesite="strict")


def available(request: Request, has_requests: bool) -> tuple[Way, ...]:
    """Existing pages; requests only if work lands by them, sprints only of projects."""
    paths = request.app.state.paths
    found = (way for way in WAYS if f"/r/{{repo}}/{way.path}" in paths)
    if request.state.app.is_home:
        return tuple(replace(way, is_first=True) for way in found if way.path in ("desk", "sessions"))
    there = {"requests": has_requests, "sprints": bool(project_at(request.state.app.paths.root))}
    return tuple(way for way in found if there.get(way.path, True))


Parts = Callable[["App", Frame], dict[str, str]]
_KEY = re.compile(r'name="request" value="[^"]*"')


def without_keys(html: str) -> str:
    """Without random parts, so that equal pieces compare equal."""
    return _KEY.sub("", html)


def frame_of(app: "App", word: str) -> Frame:
    from ..daemon.service.now import bar

    return Frame(word, bar(app.store, app.paths, app.config, app.misconfigured), is_in=True, here=f"/r/{word}/")


def _bar(app: "App", frame: Frame) -> dict[str, str]:
    pieces = {"bar-state": "bar.html", "desk-badge": "badge.html"}
    return {id: environment().get_template(name).render(frame=frame).strip() for id, name in pieces.items()}


def _now(app: "App", frame: Frame) -> dict[str, str]:
    view, steps = now_view(app)
    macros = ("first", "counts", "needs", "broken", "working", "merged", "news")
    pieces = {f"now-{name}": part("now_parts.html", name, frame, view).strip() for name in macros}
    return {"now-begins": part("now_parts.html", "begins", frame, view, steps).strip(), **pieces}


def now_view(app: "App", is_visiting: bool = False) -> "tuple[NowView, tuple[Step, ...]]":
    """With the steps of set-up, as long as there is no work."""
    from ..daemon.service import now as views
    from ..doctor.health import set_up

    view = views.now(app.store, app.git, app.paths, app.config, app.misconfigured, is_visiting)
    is_empty = not (any(view.counts.values()) or view.needs or view.sessions or app.store.has_features())
    return view, set_up(app.store, app.paths, app.config, app.misconfigured) if is_empty else ()


def _board(app: "App", frame: Frame) -> dict[str, str]:
    from ..beads.service import board

    view = board.columns(app.store, "")
    there = {f"column-{it.name}": part("board_parts.html", "column", frame, view, it).strip() for it in view.columns}
    absent = {f"column-{name}": part("board_parts.html", "absent", name).strip() for name in board.HEADINGS}
    return absent | there


PARTS: Mapping[str, Parts] = {"bar": _bar, "now": _now, "board": _board}
"""Other topics only announce a change; the page then reloads."""

# A field that is not in a command's list is refused, so that a typing error in a page is seen. Texts are bounded here;
# what they mean is the operations' to judge.
NOT_FIELDS = frozenset(("request", "then", "typed", "code", "sparse"))
"""Common fields of every form. `sparse`: an empty field is none."""


@frozen
class Field:
    """One field. `read` parses it; `is_list`: it may repeat."""

    name: str
    read: Callable[[str, str], Any]
    is_required: bool = False
    is_list: bool = False


def text(name: str, value: str) -> str:
    if len(value) > NOTE:
        raise UsageError(f"{name}: at most {NOTE} characters are allowed, not {len(value)}")
    return value.replace("\r\n", "\n")


def long_text(name: str, value: str) -> str:
    if len(value) > TEXT:
        raise UsageError(f"{name}: at most {TEXT} characters are allowed, not {len(value)}")
    return value.replace("\r\n", "\n")


def word(name: str, value: str) -> str:
    found = value.strip()
    if len(found) > 200:
        raise UsageError(f"{name}: at most 200 characters")
    return found


def rows(name: str, value: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in long_text(name, value).split("\n") if line.strip())


def number(name: str, value: str) -> int:
    found = value.strip()
    if not (found.isascii() and found.isdigit() and len(found) < 19):
        raise UsageError(f"{name}: '{found[:40]}' is not a number")
    return int(found)


def amount(name: str, value: str) -> float:
    found = value.strip()
    if not re.fullmatch(r"[0-9]{1,15}(\.[0-9]{1,9})?", found):
        raise UsageError(f"{name}: '{found[:40]}' is not a number")
    return float(found)


def flag(name: str, value: str) -> bool:
    """An unticked box is not sent."""
    found = value.strip().lower()
    if found in ("", "0", "no", "off", "false"):
        return False
    if found in ("1", "yes", "on", "true"):
        return True
    raise UsageError(f"{name}: '{found[:40]}' is neither yes nor no")


def _keyed(known: Mapping[str, Field], given: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """`NAME.KEY` of a list or of rows as NAME with `KEY=VALUE`; several values of a key have commas between them."""
    keys: dict[tuple[str, str], list[str]] = {}
    for name, value in given:
        head, dot, key = name.partition(".")
        if dot and head in known and (known[head].is_list or known[head].read is rows):
            keys.setdefault((head, key), []).append(value)
        else:
            yield name, value
    for (head, key), found in keys.items():
        yield head, f"{key}={', '.join(one for one in found if one.strip())}"


def values(fields: Sequence[Field], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The given values by name. Raises UsageError."""
    known = {field.name: field for field in fields}
    found: dict[str, Any] = {}
    is_sparse = ("sparse", "1") in given
    for name, value in _keyed(known, given):
        if name in NOT_FIELDS or (is_sparse and not value.strip() and name in known):
            continue
        if name not in known:
            raise UsageError(f"unknown field '{name[:40]}'", f"Known fields: {', '.join(sorted(known))}.")
        field = known[name]
        if field.is_list:
            parts = value.replace(",", " ").split() if field.read is number else [value] if value.strip() else []
            if parts:
                found[name] = (*found.get(name, ()), *(field.read(name, one) for one in parts))
        elif name in found and field.read is rows:
            found[name] += rows(name, value)
        elif name in found:
            raise UsageError(f"{name} is given twice")
        else:
            found[name] = field.read(name, value)
    missing = [field.name for field in fields if field.is_required and found.get(field.name) in (None, "", ())]
    if missing:
        raise UsageError(f"{', '.join(missing)}: enter a value")
    return found
