"""Reading plan files: bytes into plain values. What the values mean is plans.nodes.

1. The text is data: a safe loader, at most 50 MB (of records: a line), no aliases (a small file could stand for an
   endless one), and nesting is bounded before anything recurses into it.
2. A key that is there twice is an error: the reader cannot know which one was meant.
"""

import json
import os
import re
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ..beads.model import CONTENT, Bead, DependencyType, Status, new_bead
from ..errors import PlanError
from ..snapshot import beads_jsonl as interop
from .nodes import Plan, PlanNode, StatusWord

MAX_BYTES = 50 * 1024 * 1024
MAX_DEPTH = 64
STDIN = "-"
_BEGINS_A_PLAN = re.compile(r'\{\s*"beads"\s*:')
"""It is not read twice to know it, where all of it is one line."""


def read_bytes(path: str) -> bytes:
    """The file's bytes, or those of standard input for "-"; PlanError when it cannot be read or is too large."""
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
            "Split it into several plans, or name a file of records (.jsonl): that may be of any size.",
        )
    return data


def read_text(path: str) -> str:
    """The file as text; PlanError when it is not UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(f"{shown(path)} is not UTF-8: {error}") from None


def lines(path: str) -> Iterator[str]:
    """The file line by line, each of at most MAX_BYTES characters; PlanError as for the whole text."""
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
    """The path for messages."""
    return "standard input" if path == STDIN else os.path.basename(path)


def looks_like_records(path: str, text: str) -> bool:
    """Whether the text is JSONL: by its name, or since its first two lines are each an object of their own."""
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
    """The values in a YAML or JSON text; PlanError with line and column."""
    if path.endswith(".json") or (not path.endswith((".yaml", ".yml")) and text.lstrip().startswith(("{", "["))):
        return _json(path, text)
    return _yaml(path, text)


def _json(path: str, text: str) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise PlanError(f"{shown(path)}: the key '{twice}' is there twice in one object")
        return made

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise PlanError(f"{shown(path)}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise PlanError(f"{shown(path)}: it is nested too deeply") from None


def _yaml(path: str, text: str) -> Any:
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_depth(path, text, safe)
        loader = safe(text)
        try:
            document = loader.get_single_node()
            if document is None:
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
        raise PlanError(f"{shown(path)}{place}: not YAML: a character that may not be in it") from None
    except yaml.YAMLError as error:
        raise PlanError(f"{shown(path)}: not YAML: {error}") from None
    except RecursionError:
        raise PlanError(f"{shown(path)}: it is nested too deeply") from None
    except (ValueError, OverflowError) as error:  # a date that is none, a number that is too long
        raise PlanError(f"{shown(path)}: a value cannot be read: {error}") from None


def _refuse_depth(path: str, text: str, loader: Any) -> None:
    """PlanError where the text nests deeper than any plan does; the C parser would crash on an evil one."""
    import yaml

    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                line = event.start_mark.line + 1 if event.start_mark else "?"
                raise PlanError(f"{shown(path)}:{line}: it is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _refuse(path: str, document: Any) -> None:
    """PlanError where a node stands for another one (an alias), or a mapping has a key twice."""
    import yaml

    seen: set[int] = set()
    waiting = [document]
    while waiting:
        node = waiting.pop()
        place = f"{shown(path)}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        if id(node) in seen:
            raise PlanError(f"{place}: this value is used again by an alias (*name)", "Write the values out.")
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if len(set(keys)) < len(keys):
                twice = next(key for key in keys if keys.count(key) > 1)
                raise PlanError(f"{place}: the key '{twice}' is there twice in one mapping")
            waiting += [part for pair in node.value for part in pair]


# Beads records as a plan: what another tool, or a snapshot of ours, says the graph is.

_CLOSED: dict[Status, StatusWord] = {Status.DONE: "done", Status.CANCELLED: "cancelled"}
_TOLD = (*CONTENT, "held", "defer_until", "created_at", "updated_at", "closed_at", "close_reason", "merged_commit")
"""The fields of a bead that come in."""


def plan_of_records(text: str, source: str) -> Plan:
    """The plan that the records stand for. Open ones become drafts like any other; PlanError for conflict markers."""
    return _plan(interop.parse(text, source), source)


def plan_of_file(path: str) -> Plan:
    """The same of a file, which is read line by line: it may be of any size. PlanError."""
    return _plan(interop.parse_lines(partial(lines, path), shown(path)), shown(path))


def _plan(found: interop.Imported, source: str) -> Plan:
    """One object for each bead, and nothing kept beside it: a million of them shall fit into memory."""
    edges: defaultdict[tuple[str, DependencyType], list[str]] = defaultdict(list)
    for dependency in found.dependencies:
        edges[dependency.bead, dependency.type].append(dependency.needs)
    beads, lines, problems = deque(found.beads), found.lines, found.problems
    del found

    def nodes() -> Iterator[PlanNode]:
        while beads:
            bead = beads.popleft()
            yield _node(bead, f"line {lines[bead.id]}", edges)

    return Plan(tuple(nodes()), False, source, problems)


class _Content(Mapping[str, Any]):
    """The content fields of a bead, by name: a dict of them would take twice as much as the bead."""

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


def _node(bead: Bead, where: str, edges: dict[tuple[str, DependencyType], list[str]]) -> PlanNode:
    def needs(kind: DependencyType) -> tuple[str, ...]:
        return tuple(sorted(edges.pop((bead.id, kind), ())))

    told = {name: getattr(bead, name) for name in _TOLD}
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
