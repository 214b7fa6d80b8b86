"""Agent profiles: an agent CLI described by a TOML file. nobrakes.agents.profile starts and reads the CLI by it.

1. A name is a coded agent's first, then a shipped profile's (config/agents), then one of the person's settings.
2. A repository's profile is read only when a person adds it: its bytes are copied into the person's settings, so a
   later change in the repository changes nothing. Agents and checks see shipped profiles alone.
3. Sentences are plain text and paths are names and numbers: no pattern of a profile can take long.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Annotated, Any, Literal

from ..abilities import CODED
from ..beads.model import Outcome
from ..errors import ConfigError, NotAllowed, PlaceUnusable, UsageError
from ..files import write_atomic
from ..paths import resource
from ..text import toml
from . import user
from .settings import validated
from .values import Judged, Rule, Section, section

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MAX_BYTES = 64_000

Fact = Literal["fresh", "resumed", "bounded", "free", "model", "address", "provider"]
Ending = Annotated[str, Judged(lambda name: Outcome(name).value)]
Kind = Literal["text", "thinking", "tool", "result", "usage", "cost", "session", "error", "end"]
Token = Literal["input_tokens", "output_tokens", "cache_read_input_tokens"]
Text = Annotated[str, Rule(min_length=1)]


@section
class Part(Section):
    """What a launch gets if all facts of `when` hold. Files are written into the run's own folder."""

    when: tuple[Fact, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    json: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by file; of several parts merged
    text: Mapping[str, str] = field(default_factory=dict)
    stdin: bool = False  # the task is its input


@section
class Line(Section):
    """What an event of the output means. Values are paths into it (`a.b.0`); `each`: a list; each member is `item`."""

    kind: Kind
    when: Mapping[str, str | bool | int] = field(default_factory=dict)
    each: str = ""
    text: str = ""
    name: str = ""
    command: str = ""
    id: str = ""
    failed: str = ""
    tokens: Mapping[Token, str] = field(default_factory=dict)


@section
class Proof(Section):
    """The last run of the conformance suite. `why`: why it never ran, as seen (command and error)."""

    version: str = ""
    date: str = ""
    by: Literal["ci", "hand", ""] = ""
    checks: Mapping[str, bool] = field(default_factory=dict)
    why: str = ""

    def told(self) -> str:
        if not self.version:
            return "not tried"
        return f"tested with {self.version}" + (" by every release" if self.by == "ci" else f" on {self.date}")


@section
class Trial(Section):
    """How the suite's scripted model speaks to it. `shell`, `write`: [tool, input], or text of the model."""

    path: str = "/v1"
    model: str = "scripted"
    variables: Mapping[str, str] = field(default_factory=dict)
    shell: tuple[str, Any] | str = ""
    write: tuple[str, Any] | str = ""
    done: tuple[str, Any] | str = ""  # what its last words need beside them
    is_plain: bool = False  # its requests name no tools


@section
class Profile(Section):
    """An agent CLI."""

    title: Text
    program: Text
    install: str = ""
    credentials: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    login: Mapping[str, str] = field(default_factory=dict)  # the person's file, and where the run has it
    login_command: str = ""
    instructions: tuple[str, ...] = ()
    output: Literal["text", "events"] = "text"
    lines: tuple[Line, ...] = ()
    says: Mapping[Ending, tuple[Text, ...]] = field(default_factory=dict)
    launch: tuple[Part, ...] = ()
    proof: Proof = Proof()
    trial: Trial | None = None

    __hash__ = object.__hash__  # it is read once, and its tables have no hash

    @property
    def is_bounded(self) -> bool:
        """Whether its own permissions can restrain it."""
        return any("bounded" in part.when for part in self.launch)

    @property
    def resumes(self) -> bool:
        return any("resumed" in part.when for part in self.launch)


def parse(text: str, where: str) -> Profile:
    """ConfigError names the file, the key and the allowed values."""
    try:
        return validated(Profile, toml.loads(text), "is not a key of a profile")
    except ConfigError as error:
        wrong = [f"{where}: {line}" for line in str(error).splitlines()]
    except ValueError as error:
        wrong = [f"{where} is not valid TOML: {error}"]
    raise ConfigError("\n".join(wrong), "The page `Agent profiles` of the documentation describes the keys.")


def read(path: str) -> str:
    """The text of a profile's file. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            found = file.read(MAX_BYTES + 1)
        if len(found) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES:,} bytes")
        return found.decode()
    except (OSError, ValueError) as error:
        raise ConfigError(f"the profile {path} cannot be read: {error}", "Name a TOML file.") from None


@cache
def shipped() -> Mapping[str, str]:
    """By name the file."""
    return dict(_files(resource("config/agents")))


def trials() -> dict[str, Trial]:
    """Of the CLIs with an adapter of their own."""
    return {name: Trial(**_tuples(one)) for name, one in toml.loads(read(resource("config/trials.toml"))).items()}


def own() -> dict[str, str]:
    """The person's, by name the file; empty for agents and checks. A name that a shipped profile has is that one's."""
    try:
        folder = own_folder()
        found = dict(_files(folder)) if user.require_safe(folder) else {}
        return {name: path for name, path in found.items() if name not in shipped()}
    except (NotAllowed, PlaceUnusable):
        return {}


def own_folder() -> str:
    """Raises NotAllowed, PlaceUnusable."""
    return os.path.join(user.user_place().settings, "agents")


def _files(folder: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(os.listdir(folder)):
        name, end = os.path.splitext(entry)
        if end == ".toml" and NAME.fullmatch(name) and name not in CODED:
            yield name, os.path.join(folder, entry)


def files() -> dict[str, str]:
    """By name the file, of all agents that have a profile."""
    return {**shipped(), **own()}


def find(name: str) -> Profile | None:
    """Raises ConfigError, PlaceUnusable for a person's profile that cannot be used."""
    if (path := shipped().get(name)) is not None:
        return _shipped(path)  # without a look at the person's folder
    if not NAME.fullmatch(name) or (path := own().get(name)) is None:
        return None
    user.require_own(path)
    found = os.stat(path)
    return _own(path, found.st_mtime_ns, found.st_size)


@cache
def _shipped(path: str) -> Profile:
    """Tests judge it with pydantic; here its values are taken as they are."""
    values = toml.loads(read(path))
    values["says"] = _tuples(values.get("says", {}))
    nested: dict[str, Any] = {"launch": Part, "lines": Line, "proof": Proof, "trial": Trial}
    for key, kind in nested.items():
        if isinstance(value := values.get(key), list):
            values[key] = [kind(**_tuples(one)) for one in value]
        elif value is not None:
            values[key] = kind(**_tuples(value))
    return Profile(**_tuples(values))


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}


@cache
def _own(path: str, changed: int, size: int) -> Profile:
    return parse(read(path), path)


def add(path: str) -> tuple[str, Profile]:
    """Copy a profile into the person's settings: its name, and what it says. Raises ConfigError, UsageError,
    NotAllowed, PlaceUnusable."""
    name, text = os.path.basename(path).removesuffix(".toml"), read(path)
    if not NAME.fullmatch(name):
        raise UsageError(f"'{name[:60]}' cannot be an agent's name", "Use lowercase letters, digits and '-'.")
    if name in CODED or name in shipped():
        raise UsageError(f"nobrakes already has an agent '{name}'", "Give the file another name.")
    found, folder = parse(text, path), own_folder()
    user.make(os.path.dirname(folder))
    user.make(folder)
    write_atomic(os.path.join(folder, f"{name}.toml"), text.encode())
    return name, found
