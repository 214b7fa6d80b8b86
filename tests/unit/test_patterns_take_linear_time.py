"""No text of an agent or a person makes a pattern of the package slow: a daemon that searches for an hour lands nothing.

Each pattern is tried on long texts made from its own parts: the first ones repeated, and one of them repeated after
those before it. A pattern that tries again at each place what it tried at the last one takes seconds for them.
"""

import ast
import importlib
import pathlib
import pkgutil
import re
import signal
import types
from collections.abc import Iterator

import pytest

import nobrakes
from nobrakes.decisions import causes

LENGTH = 20_000
SHORT = {"nobrakes.agents.output.FORMS": 120, "nobrakes.decisions.causes._ASSERTION": causes.MAX_LINE}
"""Patterns whose texts are cut, to how many characters."""
SECONDS = 0.25
"""CPU time for one text: linear patterns take less than a hundredth of it, quadratic ones several times as much."""
TOP = pathlib.Path(nobrakes.__path__[0]).parent
HOW = frozenset({"match", "fullmatch", "search", "sub", "findall", "finditer", "split"})
ASKED = frozenset(f"re.{one}" for one in HOW)
PLAIN = ("a ", "a\n", "a: ", *"\n \ta([{\"'`/*#-1.,<|")


def patterns() -> dict[str, re.Pattern]:
    """Each compiled pattern of text in the package, by the first place that holds it."""
    found: dict[re.Pattern, str] = {}
    for info in pkgutil.walk_packages(nobrakes.__path__, "nobrakes."):
        if not info.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(info.name)).items():
                for pattern in _within(value):
                    found.setdefault(pattern, f"{info.name}.{name}")
    for path, node in nodes():
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ASKED and isinstance(node.args[0], ast.Constant):
            flags = [getattr(re, one) for one in re.findall(r"\bre\.([A-Z]+)\b", ast.unparse(node))]
            found.setdefault(
                re.compile(node.args[0].value, sum(flags)),
                f"{module_of(path)}.{ast.unparse(node.func)[3:]} {node.lineno}",
            )
    names = [f"{where}[{number}]" for number, where in enumerate(found.values())]
    return dict(zip(names, found, strict=True))


def _within(value: object, deep: int = 4) -> Iterator[re.Pattern]:
    if isinstance(value, re.Pattern):
        yield value
    elif deep and isinstance(value, dict | types.MappingProxyType):
        for one in (*value.keys(), *value.values()):
            yield from _within(one, deep - 1)
    elif deep and isinstance(value, tuple | list | frozenset):
        for one in value:
            yield from _within(one, deep - 1)


def texts(pattern: re.Pattern, length: int) -> Iterator[str]:
    """Long texts that begin to match everywhere and end in nothing that completes a match."""
    parts = [*PLAIN]
    written, flags = pattern.pattern, pattern.flags
    if isinstance(written, bytes):
        written = written.decode("latin-1")
    for items in _sequences(re._parser.parse(written, flags)):  # type: ignore[attr-defined]
        for end in range(1, len(items) + 1):
            before = "".join(map(_sample, items[: end - 1]))
            last = _sample(items[end - 1])
            parts += [before + last, before + last + " ", before + last + "\n"]
            for body in _repeated(items[end - 1]):
                yield before + body * (length // len(body)) + "\0"
                yield (before + body) * (length // len(before + body)) + "\0"
    for part in dict.fromkeys(parts):
        if part:
            yield part * (length // len(part)) + "\0"


def _sequences(parsed: object) -> Iterator[list]:
    items = list(parsed)  # type: ignore[call-overload]
    yield items
    for kind, value in items:
        for inner in _inner(str(kind), value):
            yield from _sequences(inner)


def _inner(kind: str, value: object) -> list:
    if kind == "BRANCH":
        return list(value[1])  # type: ignore[index]
    if kind in ("SUBPATTERN", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "ASSERT", "ASSERT_NOT"):
        return [value[-1]]  # type: ignore[index]
    return [value] if kind == "ATOMIC_GROUP" else []


def _repeated(item: tuple) -> Iterator[str]:
    kind, value = str(item[0]), item[1]
    if kind.endswith("REPEAT"):
        body = "".join(map(_sample, value[2]))
        yield from (one for one in (body, body + " ", " ", "\n") if one)


def _sample(item: tuple) -> str:
    """A short text that the item of a parsed pattern matches."""
    kind, value = str(item[0]), item[1]
    if kind == "LITERAL":
        return chr(value)
    if kind in ("NOT_LITERAL", "ANY"):
        return "a" if value != ord("a") else "b"
    if kind == "IN":
        return _of_set(value)
    if kind.endswith("REPEAT"):
        return "".join(map(_sample, value[2])) * max(1, value[0])
    if kind == "BRANCH":
        return "".join(map(_sample, value[1][0]))
    return "".join("".join(map(_sample, one)) for one in _inner(kind, value)) if not kind.startswith("ASSERT") else ""


def _of_set(options: list) -> str:
    names = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " ", "CATEGORY_WORD": "a", "CATEGORY_NOT_SPACE": "a"}
    if str(options[0][0]) == "NEGATE":
        forbidden = "".join(_of_set([one]) for one in options[1:])
        return next(one for one in "a 1-.\n!z" if one not in forbidden)
    kind, value = str(options[0][0]), options[0][1]
    if kind == "RANGE":
        return chr(value[0])
    return chr(value) if kind == "LITERAL" else names.get(str(value), "!")


class TooSlowError(BaseException):
    """Not caught by what searches."""


def _stop(*_: object) -> None:
    raise TooSlowError


def used() -> dict[tuple[str, str], set[str]]:
    """How the package asks each pattern: match, search and so on, by (module, name); "": a name that others may use."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, node in nodes():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = module_of(path) if node.value.id.startswith("_") else ""
            found.setdefault((owner, node.value.id), set()).add(node.attr)
    return found


def nodes() -> Iterator[tuple[pathlib.Path, ast.AST]]:
    for path in (TOP / "nobrakes").rglob("*.py"):
        yield from ((path, node) for node in ast.walk(ast.parse(path.read_text("utf-8"))))


def module_of(path: pathlib.Path) -> str:
    return ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__")


PATTERNS = {where: one for where, one in patterns().items() if "git.objects._ENTRIES" not in where}
"""All but those that read trees which git has checked."""
USED = used()


@pytest.mark.slow
@pytest.mark.parametrize("where", PATTERNS)
def test_no_text_makes_a_pattern_slow(where: str) -> None:
    pattern = PATTERNS[where]
    module, _, name = where.rpartition("[")[0].rpartition(".")
    inline = {name.partition(" ")[0]} if " " in name else set[str]()
    asked = (inline or USED.get((module if name.startswith("_") else "", name), set())) & HOW
    is_anchored = asked and asked <= {"match", "fullmatch"}
    before = signal.signal(signal.SIGVTALRM, _stop)
    text = ""
    try:
        for text in texts(pattern, SHORT.get(f"{module}.{name}", LENGTH)):
            asked_of = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            if is_anchored:
                for one in asked:
                    getattr(pattern, one)(asked_of)
            else:
                sum(1 for _ in pattern.finditer(asked_of))
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TooSlowError:
        pytest.fail(f"{pattern.pattern!r} takes over {SECONDS} s for {text[:60]!r}... ({len(text)} characters)")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
