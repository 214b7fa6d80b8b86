"""Plan files: read into values, and those into the nodes of a plan. docs/reference/plan.md says it for people.

1. An unknown key is an error, and every problem of the file is told at once, each with its place in it.
2. What a node does not say is not a wish: applied again, it leaves that field of the bead as it is.
3. `key` names a node inside its file only; the bead then gets an id of its own.
"""

import json
import os
import re
import sys
from codecs import getincrementaldecoder
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cache, partial
from glob import glob
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from typing_extensions import TypedDict

from ..beads import model
from ..beads.model import CONTENT, MAX_TITLE, Bead, BeadType, DependencyType, Status, is_bead_id, new_bead, parse_type
from ..errors import BadBead, PlanError
from ..records import frozen
from ..snapshot import reader as interop
from ..snapshot.reader import CLOSED_WORDS, HELD_WORDS, OPEN_WORDS, moment
from ..text.cleaning import clean, minutes_of

# What the values of a plan file mean. One of another kind than the words that people write is handed on as it is, for
# whoever judges kinds.
MAX_TEXT = 1_000_000
MAX_KEY = 100

StatusWord = Literal["draft", "live", "done", "cancelled"]


def id_of(value: Any) -> Any:
    if isinstance(value, str) and not is_bead_id(value):
        raise ValueError("is not an id: use 1 to 64 letters, digits, '-', '_' or '.', beginning with a letter or digit")
    return value


def type_of(value: Any) -> Any:
    """Accepts aliases."""
    if isinstance(value, str):
        try:
            return parse_type(value)
        except BadBead as error:
            raise ValueError(error.whole) from None
    return value


def title_of(value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip()
        if not value.isprintable():
            raise ValueError("has line breaks or control characters; a title is one line")
    return value


def lines_of(value: Any) -> Any:
    """Texts, or a text with one on each line."""
    if isinstance(value, str):
        return [line.strip().removeprefix("- ").strip() for line in value.splitlines() if line.strip(" -\t")]
    return value


def parse_time(value: Any) -> Any:
    """Seconds since 1970, from a time in YAML or words."""
    if isinstance(value, str):
        try:
            return moment(value)
        except (ValueError, OverflowError):
            raise ValueError("is not a time: use ISO 8601, like '2030-01-31T09:00:00Z'") from None
    if hasattr(value, "isoformat"):  # YAML reads dates by itself
        return moment(value.isoformat())
    return value


def status_of(value: Any) -> Any:
    """A StatusWord from trackers' words; None: no statement."""
    if isinstance(value, str):
        if (word := value.strip().lower()) in CLOSED_WORDS:
            return "done"
        return None if word in OPEN_WORDS or word in HELD_WORDS else word
    return value


# pydantic names every problem at once, each with its place.
Id = Annotated[str, BeforeValidator(id_of)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Texts = tuple[Text, ...]
_typed_dict: Any = TypedDict  # made of fields that are written down once, in Node
AT_ONCE = 1000


class _Node(BaseModel):
    """One entry of `beads`, without the fields of ADDED."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    id: Id | None = None
    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY)] | None = None
    title: Annotated[str, BeforeValidator(title_of), Field(min_length=1, max_length=MAX_TITLE)] | None = None
    type: Annotated[BeadType, BeforeValidator(type_of)] | None = None
    description: Text | None = None
    acceptance: Annotated[Texts, BeforeValidator(lines_of)] | None = None
    priority: Annotated[int, Field(ge=0, le=4, strict=True)] | None = None
    labels: Texts | None = None
    epic: str | None = None
    estimate: Annotated[int, Field(gt=0, lt=1_000_000, strict=True), BeforeValidator(minutes_of)] | None = None
    needs_tests: Annotated[bool, Field(strict=True)] | None = None
    scaffolding: Annotated[bool, Field(strict=True)] | None = None
    touches: Texts | None = None
    notes: Text | None = None
    metadata: dict[str, Any] | None = None
    needs: Texts | None = None
    related: Texts | None = None
    discovered_from: Texts | None = None
    status: Annotated[StatusWord | None, BeforeValidator(status_of)] = None
    hold: Annotated[str, Field(max_length=2000)] | None = None
    defer_until: Annotated[float, BeforeValidator(parse_time)] | None = None


_PLAN_KINDS: Mapping[type, Any] = {
    str: Text,
    tuple: Texts,
    Mapping: dict[str, Any],
    **{kind: Annotated[kind, Field(strict=True)] for kind in (bool, int, float)},
}
_MORE: Any = {name: (_PLAN_KINDS[model.kind_of(name)] | None, None) for name in model.ADDED if name in CONTENT}
Node = create_model("Node", __base__=_Node, **_MORE)


class File(BaseModel):
    """A plan file. Its beads are validated separately: a hundred thousand models at once take 160 MB."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Annotated[bool, Field(strict=True)] = False
    beads: tuple[Any, ...]


def _place(parts: tuple[Any, ...]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _problems(error: ValidationError, *within: str | int) -> list[str]:
    found = []
    for problem in error.errors():
        what = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            what = "is not a known key of a plan"
        elif problem["type"] == "missing":
            what = "is missing"
        found.append(f"{_place((*within, *problem['loc']))}: {what}")
    return found


def models_judged(value: dict[str, Any]) -> tuple[bool, list[dict[str, Any]]] | list[str]:
    """(whether the plan is live, each bead's values by key), or every problem."""
    live, beads, of_file = False, value.get("beads"), []
    try:
        file = File.model_validate({**value, "beads": ()} if isinstance(beads, list) else value)
        live, beads = file.live, beads if isinstance(beads, list) else file.beads
    except ValidationError as error:
        of_file = _problems(error)
    problems = [one for one in of_file if one.startswith("live:")]
    found: list[dict[str, Any]] = []
    beads = beads if isinstance(beads, list | tuple) else ()
    for first in range(0, len(beads), AT_ONCE):
        found += _judged_part(beads[first : first + AT_ONCE], first, problems)
    problems += of_file
    return list(dict.fromkeys(problems)) if problems else (live, found)


def _judged_part(beads: Sequence[Any], first: int, problems: list[str]) -> list[dict[str, Any]]:
    try:
        return _said().validate_python(list(beads))
    except ValidationError:
        pass  # one by one every problem gets its place
    found = []
    for place, one in enumerate(beads, first):
        try:
            node = Node.model_validate(one)
        except ValidationError as error:
            problems += _problems(error, "beads", place)
        else:
            found.append({name: getattr(node, name) for name in node.model_fields_set})
    return found


@cache
def _said() -> TypeAdapter[list[dict[str, Any]]]:
    """Validates nodes as dicts: models take twice as long."""
    hints = get_type_hints(Node, include_extras=True)
    said: Any = _typed_dict("said", {name: hints[name] for name in Node.model_fields}, total=False)
    said.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(list[said])


MAX_PROBLEMS = 100


class PlanNode(NamedTuple):
    """A bead as a plan wants it. `place`: its number in the file, or words for it. `fields`: named ones. `needs`,
    `related`, …: ids or keys; None: unsaid."""

    place: int | str
    id: str | None
    key: str | None = None
    fields: Mapping[str, Any] = MappingProxyType({})
    needs: tuple[str, ...] | None = None
    related: tuple[str, ...] | None = None
    discovered_from: tuple[str, ...] | None = None
    status: StatusWord | None = None
    hold: str | None = None
    defer_until: float | None = None
    bead: Bead | None = None  # what a record of another tool comes in as, with what it says that happened

    @property
    def where(self) -> str:
        return f"beads[{self.place}]" if isinstance(self.place, int) else self.place

    @property
    def lists(self) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, tuple[str, ...] | None]:
        return self[4:7]

    @property
    def name(self) -> str:
        return str(self.id or self.key or self.where)


@frozen
class Plan:
    """The wanted graph. `problems`: what a tolerant reader could not use. `same`: beads that are as the file says, with
    their status; their nodes say nothing."""

    nodes: deque[PlanNode]
    live: bool = False
    source: str = "plan"
    problems: tuple[str, ...] = ()
    same: Mapping[str, Status] = field(default_factory=dict)

    def taken(self) -> Iterator[PlanNode]:
        """The nodes, which go: those of a large plan take as much as what is written of them."""
        while self.nodes:
            yield self.nodes.popleft()


_PLAN_NODE: Callable[[tuple[Any, ...]], PlanNode] = partial(tuple.__new__, PlanNode)
_MAY_BE_NULL = frozenset(name for name in CONTENT if model.FIRST[name] is None)


def refused(source: str, problems: list[str]) -> PlanError:
    shown = problems[:MAX_PROBLEMS]
    if len(problems) > MAX_PROBLEMS:
        shown.append(f"… and {len(problems) - MAX_PROBLEMS} more")
    return PlanError("\n".join(f"{source}: {text}" for text in shown))


def _node(place: int, found: dict[str, Any], raw: Any, shared: dict[Any, Any]) -> PlanNode:
    """`shared` has the first of equal values: most beads name others, and have the labels of others."""
    take, share = found.pop, shared.setdefault
    id_, key, needs, status = take("id", None), take("key", None), take("needs", None), take("status", None)
    related, discovered_from = take("related", None), take("discovered_from", None)
    hold, defer_until = take("hold", None), take("defer_until", None)
    if hold is None and defer_until is None and "status" in raw:
        word = str(raw["status"]).strip().lower()
        hold = word if word in HELD_WORDS else None
    fields = {**found}  # as small as what is left
    if not all(found.values()) and None in found.values():
        fields = {name: value for name, value in found.items() if value is not None or name in _MAY_BE_NULL}
    if labels := fields.get("labels"):
        fields["labels"] = shared.get(labels) or share(labels, tuple(dict.fromkeys(labels)))
    needs = needs and tuple([share(name, name) for name in needs])
    lists = needs, related, discovered_from
    return _PLAN_NODE((place, share(id_, id_), key, fields, *lists, status, hold, defer_until, None))


def plan_of(value: Any, source: str) -> Plan:
    """The plan in a file's values: a mapping with `beads`, or a list of beads. PlanError names all problems."""
    if isinstance(value, list):
        value = {"beads": value}
    if not isinstance(value, dict):
        raise PlanError(f"{source}: not a plan: a mapping with 'beads' is expected")
    judged = models_judged(value)
    if isinstance(judged, list):
        raise refused(source, judged)
    live, beads = judged
    shared = dict[Any, Any]()
    nodes = [_node(place, found, value["beads"][place], shared) for place, found in enumerate(beads)]
    return _named_once(nodes, live, source, {})


# A plan of ours in JSON, which may be large: read and judged in parts, so that neither its text nor its values are in
# memory as a whole.
PART_BYTES = 1 << 19
_BLANK = " \t\r\n"
_HEAD = re.compile(r'-(\{-(?:"live"-:-(true|false)-,-)?"beads"-:-)?\[-'.replace("-", f"[{_BLANK}]*"))
_NEXT = re.compile(r"-(?:,-(?=\{)|\])-".replace("-", f"[{_BLANK}]*"))


def plan_of_json(
    path: str, data: bytes, same: Callable[[list[Any]], Mapping[str, Status]] | None = None
) -> Plan | None:
    """The plan in the text of a JSON file with our own keys. None: another format, or a problem: read all of it, which
    finds its place. PlanError: a name is there twice. `same`: which of some values are as beads are stored."""
    if path.lower().endswith((".yaml", ".yml", ".md", ".markdown", ".mdown")):
        return None
    nodes, shared, alike = list[PlanNode](), dict[Any, Any](), dict[str, Status]()
    live = False
    if len(data) < PART_BYTES or b'"key"' in data:  # a key may be called as a stored bead is
        same = None
    try:
        for beads, is_live in _read_parts(data):
            live = is_live
            known = same(beads) if same is not None else {}
            told = [one for one in beads if not _is_one_of(known, one)] if known else beads
            judged = zip(_said().validate_python(told), told, strict=True)
            for place, one in enumerate(beads, len(nodes)):
                if known and _is_one_of(known, one):
                    nodes.append(PlanNode(place, one["id"]))
                else:
                    nodes.append(_node(place, *next(judged), shared))
            alike |= known
    except (ValueError, RecursionError, PlanError):
        return None
    return _named_once(nodes, live, shown(path), alike)


def _is_one_of(known: Mapping[str, Status], raw: Any) -> bool:
    return type(id_ := raw.get("id")) is str and id_ in known


def _read_parts(data: bytes) -> Iterator[tuple[list[Any], bool]]:
    """Some beads at a time, and whether the plan is live. Raises ValueError, RecursionError, PlanError."""
    decode = getincrementaldecoder("utf-8-sig")().decode
    json_decoder = json.JSONDecoder(object_pairs_hook=_once)
    text, at, read, size = decode(data[:PART_BYTES]), 0, PART_BYTES, PART_BYTES
    if (head := _HEAD.match(text)) is None or not text.startswith("{", head.end()):
        raise ValueError("another format")
    at, is_last, is_new = head.end(), False, True
    while not is_last:
        if is_new and (following := _after_last(text, at)) is not None:
            with suppress(ValueError):  # it may follow inside of a bead
                yield json_decoder.decode(f"[{text[at : following.start()]}]"), head[2] == "true"
                at, size = following.end(), PART_BYTES
        is_new = False
        try:
            one, end = json_decoder.raw_decode(text, at)
            if (following := _NEXT.match(text, end)) is None:
                raise ValueError("no other bead follows")
        except ValueError:
            if read >= len(data):
                raise
            text, at, is_new = text[at:] + decode(data[read : read + size], read + size >= len(data)), 0, True
            read, size = read + size, 2 * size  # a bead may be longer than a part
            continue
        yield [one], head[2] == "true"
        at, size, is_last = following.end(), PART_BYTES, "]" in following[0]
    if (text[at:] + decode(data[read:], True)).strip(_BLANK) != ("}" if head[1] else ""):
        raise ValueError("something follows")


def _after_last(text: str, at: int) -> re.Match[str] | None:
    """What is between the last two beads of the text, or between two values inside of one."""
    end = len(text)
    while (end := text.rfind("}", at, end)) >= 0:
        if (following := _NEXT.match(text, end + 1)) is not None and "," in following[0]:
            return following
    return None


def _named_once(nodes: Sequence[PlanNode], live: bool, source: str, same: Mapping[str, Status]) -> Plan:
    """PlanError: a name is there twice."""
    if problems := _names(nodes):
        raise refused(source, problems)
    return Plan(deque(nodes), live, source, same=same)


def _names(nodes: Sequence[PlanNode]) -> list[str]:
    ids = [node.id for node in nodes if node.id is not None]
    if len({*ids}) == len(ids) and all(node.key is None for node in nodes):
        return []  # as most large plans
    problems = []
    seen: dict[str, str] = {}
    for node in nodes:
        for name in (node.id,) if node.key in (None, node.id) else (node.id, node.key):
            if name is None:
                continue
            if name in seen:
                problems.append(f"{node.where}: '{name}' is used twice, first at {seen[name]}")
            else:
                seen[name] = node.where
    return problems


# What a line of Markdown is.
HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:(?<![ \t])[ \t]+#+)?")
UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
RULE = re.compile(r"([-*_])(?:[ \t]*\1){2,}[ \t]*")
BULLET = re.compile(r"([-*+]|\d{1,9}[.)])(?:([ \t]+|(?=\[[ xX]?\][ \t]))(.*)|()())")
BOX = re.compile(r"\[([ xX~/>-]?)\](?:\*?[ \t]+(.*)|[ \t]*)")
FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
CLOSING_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*")
LABEL = re.compile(
    r"[*_]{0,3}(?:acceptance(?: criteria| scenarios?| tests?)?|criteria|done when|definition of done)[*_]{0,3}"
    r"(?:[ \t]*:[*_]{0,3}(?:[ \t]+(.*\S))?)?[ \t]*",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_STARS = re.compile(r"(?<![^\s(\"'])(\*{1,3})(?=[\w\0`\"'(\[])([^*]*[^\s*/\\.])\1(?=[\s.,:;!?)\"']*(?:\s|$))")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_SPAN = re.compile(r"(`[^`]+`|``.+?``)")


def front(lines: Sequence[str]) -> int:
    """The number of lines of front matter."""
    if lines and lines[0].rstrip() == "---":
        for place, line in enumerate(lines[1:], 2):
            if line.rstrip() in ("---", "..."):
                return place
    return 0


def box_in(body: str) -> bool:
    bullet = BULLET.fullmatch(body)
    box = BOX.match(bullet[3] or "") if bullet else None
    return box is not None and box[1] not in ("x", "X")


def has_box(text: str) -> bool:
    return any(box_in(line.strip()) for line in text.split("\n"))


def dedented(lines: Sequence[str]) -> str:
    from textwrap import dedent

    return dedent("\n".join(line.expandtabs(4) if line[:1] in " \t" else line for line in lines)).strip("\n").rstrip()


def plain_title(text: str) -> str:
    """A printable title without Markdown's links and star emphasis; code stays."""
    spans = iter(_SPAN.findall(text))
    bare = _STARS.sub(r"\2", _LINK.sub(r"\1", _SPAN.sub("\0", text.replace("\0", " "))))
    return in_one_line(re.sub("\0", lambda _: next(spans), bare))


def in_one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def normal(title: str) -> str:
    """A title for comparison: letters and digits in one case. Ids derive from it, so it must not change."""
    plain = in_one_line(_MARKUP.sub("", _LINK.sub(r"\1", title)))
    return " ".join(re.findall(r"\w+", plain.casefold())) or plain.casefold()


# Nodes made from texts that are not plan files: cleaned, bounded, and judged as a plan file's are.
KEY = r"(?:(?:after|needs|requires)[ \t]*:|(?:depends on|blocked by|waits for)\b[ \t]*:?)"


def tidy(text: str) -> str:
    """Unifies line ends and removes invisible characters."""
    return clean(text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode())


def made_plan(nodes: list[dict[str, Any]], lines: list[str], source: str, told: list[str]) -> Plan:
    if not nodes:
        return Plan(deque(), False, source, tuple(told))
    plan = plan_of({"beads": nodes}, source)
    return replace(
        plan,
        nodes=deque(node._replace(place=where) for node, where in zip(plan.nodes, lines, strict=True)),
        problems=tuple(told),
    )


def bounded(
    title: str, description: str, where: str, told: list[str], plain: Callable[[str], str] = plain_title
) -> dict[str, Any]:
    """Title and description within a bead's limits; a long title or a link is kept in the description too."""
    full = plain(title)
    if plain is plain_title and _LINK.search(_SPAN.sub("", title)):
        description = f"{title.strip()}\n\n{description}".strip()
    if len(full) > MAX_TITLE:
        description = f"{full}\n\n{description}".strip()
        told.append(f"{where}: the title is longer than {MAX_TITLE} characters; the description has the full title")
        full = full[: MAX_TITLE - 1].rstrip() + "…"
    if len(description) > MAX_TEXT:
        told.append(f"{where}: the text was cut to {MAX_TEXT} characters")
        description = description[: MAX_TEXT - 1] + "…"
    return {"title": full or where, **({"description": description} if description else {})}


# A plan file is data: a safe loader, at most 50 MB (of records: a line), no aliases (a small file could stand for an
# endless one), and nesting is bounded before anything recurses into it. A key that is there twice is an error.
MAX_BYTES = 50 * 1024 * 1024
MAX_DEPTH = 64
STDIN = "-"
_BEGINS_A_PLAN = re.compile(r'\{\s*"beads"\s*:')


def read_bytes(path: str) -> bytes:
    """ "-" means stdin. PlanError: unreadable, or too large."""
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PlanError(f"{shown(path)} cannot be read: {error.strerror or error}", "Name a plan file.") from None
    if len(data) > MAX_BYTES:
        raise PlanError(
            f"{shown(path)} is larger than {MAX_BYTES >> 20} MB",
            "Split the plan into several files, or use a file of records (.jsonl), which may have any size.",
        )
    return data


def text_of(path: str, data: bytes) -> str:
    """PlanError if not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(f"{shown(path)} is not UTF-8: {error}") from None


IN_FOLDERS = (
    *("tasks.md", "specs/*/tasks.md", ".kiro/specs/*/tasks.md", "*/tasks.md"),
    *("tasks.json", "tasks/tasks.json", ".taskmaster/tasks/tasks.json", ".beads/issues.jsonl", "issues.jsonl"),
)
"""The files of spec-kit, Kiro, task-master and Beads in their folders."""


def file_in(path: str) -> str:
    """The one file of tasks in a folder; the path itself: a file, or a folder of Backlog.md. Raises PlanError."""
    found = sorted({one for each in IN_FOLDERS for one in glob(each, root_dir=path)})
    if len(found) > 1:
        raise PlanError(f"{shown(path)} contains several task files: {', '.join(found)}", "Name one of these files.")
    return os.path.join(path, found[0]) if found else path


def read_folder(path: str) -> dict[str, str] | None:
    """The tasks of Backlog.md in a folder, name -> text; None: a file. Raises PlanError."""
    if not os.path.isdir(path):
        return None
    base = next((one for one in (os.path.join(path, "backlog"), path) if os.path.isdir(os.path.join(one, "tasks"))), "")
    inner = [os.path.join(base, name) for name in ("tasks", "completed", "drafts")] if base else [path]
    found = [os.path.join(each, one) for each in inner for one in sorted(glob("*.[mM][dD]", root_dir=each))]
    return {os.path.relpath(one, inner[0]).removeprefix("../"): text_of(one, read_bytes(one)) for one in found}


def lines(path: str) -> Iterator[str]:
    """At most MAX_BYTES characters each; PlanError as for the full text."""
    number = 0
    try:
        with open(path, encoding="utf-8-sig", newline="\n") as file:
            while line := file.readline(MAX_BYTES + 1):
                number += 1
                if len(line) > MAX_BYTES:
                    raise PlanError(f"{shown(path)}:{number}: the line is larger than {MAX_BYTES >> 20} MB")
                yield line
    except OSError as error:
        raise PlanError(f"{shown(path)} cannot be read: {error.strerror or error}", "Name a plan file.") from None
    except UnicodeDecodeError as error:
        raise PlanError(f"{shown(path)} is not UTF-8: {error}") from None


def shown(path: str) -> str:
    return "standard input" if path == STDIN else os.path.basename(path)


def looks_like_records(path: str, text: str) -> bool:
    """Whether the text is JSONL, by name or its first two lines."""
    if path.endswith(".jsonl"):
        return True
    begin = len(text) - len(text.lstrip())
    if not text.startswith("{", begin) or _BEGINS_A_PLAN.match(text, begin):
        return False
    first = text[begin:].split("\n", 1)[0]
    try:
        found = json.loads(first)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and "id" in found and "beads" not in found


def load(path: str, text: str) -> Any:
    """Parse YAML or JSON; PlanError with line and column."""
    if path.endswith(".json") or (not path.endswith((".yaml", ".yml")) and text.lstrip().startswith(("{", "["))):
        return _json(path, text)
    return _yaml(path, text)


_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*"?)|,(?=\s*[}\]])')


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise PlanError(f"the key '{twice}' appears twice in one object")
    return made


def _json(path: str, text: str) -> Any:
    try:
        try:
            return json.loads(text, object_pairs_hook=_once)
        except json.JSONDecodeError:  # models and people end lists with a comma
            return json.loads(_LAST_COMMA.sub(r"\1", text), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise PlanError(f"{shown(path)}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except PlanError as error:
        raise PlanError(f"{shown(path)}: {error}") from None
    except RecursionError:
        raise PlanError(f"{shown(path)}: the content is nested too deeply") from None


def _yaml(path: str, text: str) -> Any:
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_depth(path, text, safe)
        loader = safe(text)
        try:
            if (document := loader.get_single_node()) is None:
                return None
            _refuse(path, document)
            return loader.construct_document(document)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        where = error.problem_mark
        place = f":{where.line + 1}:{where.column + 1}" if where else ""
        raise PlanError(f"{shown(path)}{place}: not YAML: {error.problem or error.context}") from None
    except yaml.reader.ReaderError as error:
        at = text[: error.position]
        place = f":{at.count(chr(10)) + 1}:{len(at) - at.rfind(chr(10))}"
        raise PlanError(f"{shown(path)}{place}: not YAML: it contains a character that YAML forbids") from None
    except yaml.YAMLError as error:
        raise PlanError(f"{shown(path)}: not YAML: {error}") from None
    except RecursionError:
        raise PlanError(f"{shown(path)}: the content is nested too deeply") from None
    except (ValueError, OverflowError) as error:  # a date that is none, a number that is too long
        raise PlanError(f"{shown(path)}: nobrakes cannot read a value: {error}") from None


def _refuse_depth(path: str, text: str, loader: Any) -> None:
    """PlanError for an alias, and for deep nesting, which could crash the C parser."""
    import yaml

    depth = 0
    event: Any
    for event in yaml.parse(text, Loader=loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise PlanError(f"{shown(path)}:{event.start_mark.line + 1}: the content is nested too deeply")
        if isinstance(event, yaml.AliasEvent):
            raise PlanError(f"{_at(path, event)}: aliases (*name) are not supported", "Write the value out instead.")


def _at(path: str, found: Any) -> str:
    return f"{shown(path)}:{found.start_mark.line + 1}:{found.start_mark.column + 1}"


def _refuse(path: str, document: Any) -> None:
    """PlanError for a duplicate key."""
    import yaml

    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                twice = next(key for key in keys if keys.count(key) > 1)
                raise PlanError(f"{_at(path, node)}: the key '{twice}' appears twice in one mapping")
            waiting += [part for pair in node.value for part in pair]


_CLOSED: dict[Status, StatusWord] = {Status.DONE: "done", Status.CANCELLED: "cancelled"}
_KEYS = (*CONTENT, "held", "defer_until", "created_at", "updated_at", "closed_at", "close_reason", "merged_commit")


def plan_of_records(text: str, source: str) -> Plan:
    """The plan of JSONL records; open ones become drafts. PlanError for conflict markers."""
    return _plan(interop.parse(text, source), source)


def plan_of_file(path: str) -> Plan:
    """As plan_of_records, line by line for any size. Raises PlanError."""
    return _plan(interop.parse_lines(partial(lines, path), shown(path)), shown(path))


def _plan(found: interop.Imported, source: str) -> Plan:
    """One object for each bead, so that a million fit into memory."""
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for dependency in found.dependencies:
        edges[dependency.bead, dependency.type].append(dependency.needs)
    beads, lines, problems = deque(found.beads), found.lines, found.problems
    del found

    def nodes() -> Iterator[PlanNode]:
        while beads:
            bead = beads.popleft()
            yield file_node(bead, f"line {lines[bead.id]}", edges)

    return Plan(deque(nodes()), False, source, problems)


class _Content(Mapping[str, Any]):
    """The content fields by name; a dict would take twice the bead's memory."""

    __slots__ = ("_bead",)

    def __init__(self, bead: Bead) -> None:
        self._bead = bead

    def __getitem__(self, name: str) -> Any:
        if name not in CONTENT:
            raise KeyError(name)
        return getattr(self._bead, name)

    def __iter__(self) -> Iterator[str]:
        return iter(CONTENT)

    def __len__(self) -> int:
        return len(CONTENT)


def file_node(bead: Bead, where: str, edges: dict[tuple[str, DependencyType], list[str]]) -> PlanNode:
    """A bead of a file; its dependencies are taken out of `edges`."""

    def needs(kind: DependencyType) -> tuple[str, ...]:
        return tuple(sorted(edges.pop((bead.id, kind), ())))

    told = {name: getattr(bead, name) for name in _KEYS}
    if not bead.metadata:
        del told["metadata"]  # one empty one is enough for all
    comes_in = new_bead(bead.id, told)
    return PlanNode(
        where,
        bead.id,
        None,
        _Content(comes_in),
        needs(DependencyType.BLOCKS),
        needs(DependencyType.RELATED),
        needs(DependencyType.DISCOVERED_FROM),
        _CLOSED.get(bead.status),
        bead.held,
        bead.defer_until,
        comes_in,
    )
