"""Reading plan files: bytes into plain values. What the values mean is operations.plan.nodes.

1. The text is data: a safe loader, at most 50 MB (of records: a line), no aliases (a small file could stand for an
   endless one), and nesting is bounded before anything recurses into it.
2. A key that is there twice is an error: the reader cannot know which one was meant.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from ...core.errors import PlanError

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
