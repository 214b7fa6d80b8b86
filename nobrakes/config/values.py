"""What a value of config.toml must be, and the table [git]. pydantic is imported where it judges a file that is new."""

import contextlib
import json
import os
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar, dataclass_transform

from ..beads.branches import PATTERN, is_branch_name, pattern_mistake

if TYPE_CHECKING:
    from ..checks.test_paths import Layout


class Section:
    """A table of config.toml, made by @section. Shares the methods that dataclass would generate for each."""

    __pydantic_config__ = {"extra": "forbid", "allow_inf_nan": False}  # noqa: RUF012 - pydantic reads it

    def __init__(self, **values: Any) -> None:
        own = {}
        for field in fields(self):  # type: ignore[arg-type]
            if field.name in values:
                own[field.name] = values.pop(field.name)
            elif field.default is not MISSING:
                own[field.name] = field.default
            elif field.default_factory is not MISSING:
                own[field.name] = field.default_factory()
            else:
                raise TypeError(f"{type(self).__name__} needs '{field.name}'")
        if values:
            raise TypeError(f"{type(self).__name__} has no '{next(iter(values))}'")
        vars(self).update(own)

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot change")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"{type(self).__name__}.{name} cannot change")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


S = TypeVar("S", bound=Section)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def section(kind: type[S]) -> type[S]:
    """A frozen dataclass with keyword values. dataclass would compile so much that Python's start-up doubles."""
    return dataclass(kw_only=True, init=False, eq=False, repr=False)(kind)


class Rule:
    """Constraints in pydantic's terms: `ge`, `gt`, `le`, `min_length`, `pattern`."""

    def __init__(self, **words: float | str) -> None:
        self.words = words

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return {**handler(source), **self.words}


class Judged:
    """A function that checks and may convert a value; ValueError says what is wrong."""

    def __init__(self, judge: Callable[[Any], Any]) -> None:
        self.judge = judge

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self.judge, handler(source))


class OneOrMore:
    """Accepts a single name for a list."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(_as_list, handler(source))


def _as_list(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _branch(name: str) -> str:
    if not is_branch_name(name):
        raise ValueError("is not a valid branch name")
    return name


BRANCH = Judged(_branch)


def _bead_id(name: str) -> str:
    from ..beads.model import is_bead_id

    if not is_bead_id(name):
        raise ValueError("is not a valid bead id: use 1 to 64 letters, digits, '-', '_' or '.'")
    return name


BEAD_ID = Judged(_bead_id)


def _branch_pattern(pattern: str) -> str:
    if wrong := pattern_mistake(pattern):
        raise ValueError(wrong)
    return pattern


BRANCH_PATTERN = Judged(_branch_pattern)


def _export_path(path: str) -> str:
    from ..events.words import path_mistake

    if wrong := path_mistake(path):
        raise ValueError(wrong)
    return path


EXPORT_PATH = Judged(_export_path)


def _whole(paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if not path.startswith(("/", "~/")) or not path.strip("/~. ") or "\0" in path:
            raise ValueError("a path must begin with / or ~/ and name something below it")
    return paths


FULL_PATHS = Judged(_whole)
FULL_PATH = Judged(lambda path: path and _whole((path,))[0])


def _inside(path: str) -> str:
    import posixpath

    if path.startswith(("/", "~")) or ".." in path.split("/") or not path.isprintable() or ".git" in path.split("/"):
        raise ValueError("must be inside the checkout: a relative path without '..' or .git")
    return "" if path in ("", ".") else posixpath.normpath(path)


INSIDE = Judged(_inside)


def _tools(tools: dict[str, str]) -> dict[str, str]:
    import re

    from ..checks.contract import mistake

    for tool, wanted in tools.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,59}", tool):
            raise ValueError(f"'{tool[:60]}' is not the name of a tool: write its command, such as python3")
        if wrong := mistake(wanted):
            raise ValueError(f"{tool}: {wrong}")
    return tools


TOOLS = Judged(_tools)


def _hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    import re

    found = []
    for host in hosts:
        name, colon, port = host.partition(":")
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,253}", name) or (colon and not re.fullmatch(r"[1-9][0-9]{0,4}", port)):
            raise ValueError("write a host name, perhaps with a port: 'pypi.example:443', without https:// and '*'")
        found.append(f"{name.lower()}:{port or 443}")
    return tuple(found)


HOSTS = Judged(_hosts)


def _web_addresses(urls: tuple[str, ...]) -> tuple[str, ...]:
    import re

    for url in urls:
        if not re.fullmatch(r"https?://(?:[A-Za-z0-9._-]{1,253}|\[[0-9a-fA-F:]{2,45}\])(?::[1-9][0-9]{0,4})?/?", url):
            raise ValueError("write https:// and a host name with an optional port, such as 'https://api.example.org'")
    return urls


WEB_ADDRESSES = Judged(_web_addresses)


@section
class GitSettings(Section):
    """How beads appear in git. `filters`: those run; `clear_text`: those whose clear text agents and checks see."""

    branch_pattern: Annotated[str, BRANCH_PATTERN] = PATTERN
    filters: Annotated[tuple[str, ...], OneOrMore()] = ()
    clear_text: Annotated[tuple[str, ...], OneOrMore()] = ()
    sign: Literal["auto", "always", "never"] = "auto"
    committer: str = ""


# Which files of a commit are tests, where no setting says it.
class Trees(Protocol):
    """The commits' files (git.port.Git)."""

    def paths(self, commit: str) -> frozenset[str]: ...

    def read(self, commit: str, path: str, most: int | None = ...) -> bytes | None:
        """Raises FileTooLarge."""

    def link(self, commit: str, path: str) -> str | None:
        """A symbolic link's target as written; None: not a link."""

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """(paths that git's settings and hooks name, folders that count with all in them)."""


def layout_of(trees: Trees, commit: str) -> "Layout":
    """Which files of the commit are tests, by paths and texts."""
    from ..checks.test_paths import layout, unclear

    paths = trees.paths(commit)
    texts = ((path, text_of(trees, commit, path)) for path in unclear(paths))
    return layout(paths, frozenset((path, text) for path, text in texts if text))


def text_of(trees: Trees, commit: str, path: str) -> str:
    """Empty for missing or oversized files."""
    from ..checks.test_paths import LARGEST
    from ..errors import FileTooLarge

    try:
        return (trees.read(commit, path, LARGEST) or b"").decode("utf-8", "replace")
    except FileTooLarge:
        return ""


# What was worked out from a file, kept beside it: `config.toml` has `config.checked`. It counts for the very text and
# the rules that made it. Losing it, or not being able to write it, costs time and nothing else.
def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _beside(path: str) -> str:
    return f"{os.path.splitext(path)[0]}.checked"


def recall_last(path: str, judge: str) -> Any:
    return _kept(path, judge, None)


def recall(path: str, text: str, judge: str) -> Any:
    """The JSON values of `judge` for this text."""
    if (values := _kept(path, judge, text)) is not None:
        # what was touched and is the same is not new (paths.Paths.config_is_new)
        with contextlib.suppress(OSError):
            if os.stat(path).st_ctime_ns > os.stat(_beside(path)).st_mtime_ns:
                os.utime(_beside(path))
    return values


def _kept(path: str, judge: str, text: str | None) -> Any:
    try:
        with open(_beside(path), encoding="utf-8") as file:
            kept = json.load(file)
        return kept["values"] if kept["judge"] == judge and text in (None, kept["text"]) else None
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not whole
        return None


def keep(path: str, text: str, judge: str, values: Any) -> None:
    temporary = f"{_beside(path)}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", opener=_private) as file:
            json.dump({"judge": judge, "text": text, "values": values}, file)
        os.replace(temporary, _beside(path))
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
