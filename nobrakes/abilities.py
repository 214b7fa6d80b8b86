"""What the installed agent CLIs can do: written by `nobrakes doctor --agents`, read by the daemon.

1. .nobrakes/agents/abilities.json has an entry for each agent, valid for one program: path, size, time and, beside a
   script, the version of its package.
2. Without an entry the version decides: one of PROVEN is used fully; others without their optional features.
3. Finding a program's version starts it, so versions.json caches it under the same marks.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from .files import write_atomic
from .paths import Paths, which
from .records import frozen, plain

if TYPE_CHECKING:
    from .config.profiles import Profile

CHECKS = ("spawn", "stream", "commit", "deny", "resume", "kill")
"""In this order."""
PROVEN: Mapping[str, tuple[str, ...]] = {"claude": ("2.1.329",), "codex": ("0.169.0",), "gemini": ("0.61.0",)}
"""Versions that this release's tests run for real."""
INSTALL: Mapping[str, str] = {
    "claude": f"npm install -g @anthropic-ai/claude-code@{PROVEN['claude'][0]}",
    "codex": f"npm install -g @openai/codex@{PROVEN['codex'][0]}",
    "gemini": f"npm install -g @google/gemini-cli@{PROVEN['gemini'][0]}",
}
CODED = (*PROVEN, "acp", "script")
"""The agents with an adapter of their own."""


def proven(name: str) -> tuple[str, ...]:
    """The versions of an agent that this release's tests, or its profile's, ran for real."""
    found = _profile(name)
    return PROVEN.get(name, ()) if found is None else tuple(filter(None, (found.proof.version,)))


def reports_version(name: str) -> bool:
    return name in PROVEN or _profile(name) is not None


def is_tried(name: str) -> bool:
    """Whether an agent's abilities are known; `script` is a person's own command."""
    return name == "acp" or reports_version(name)


def how_to_install(name: str) -> str:
    found = _profile(name)
    return INSTALL.get(name, "") if found is None else found.install


def _profile(name: str) -> "Profile | None":
    if name in CODED:
        return None
    from .config.profiles import find  # most run coded agents alone

    return find(name)


TRY = "`nobrakes doctor --agents` tests the agent"
WITHOUT = "nobrakes does not continue the agent's sessions"


@frozen
class Seen:
    """What was seen of one agent. `can`: the checks by name; a missing one was not tried."""

    program: str
    stamp: str
    version: str
    known: bool  # whether it is a version that nobrakes was tested with
    can: Mapping[str, bool] = field(default_factory=dict)


def file_of(paths: Paths) -> str:
    return os.path.join(paths.agents, "abilities.json")


def recall(paths: Paths) -> dict[str, Seen]:
    try:
        with open(file_of(paths), encoding="utf-8") as file:
            return {name: Seen(**values) for name, values in json.load(file).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep(paths: Paths, seen: Mapping[str, Seen]) -> None:
    whole = {**recall(paths), **seen}
    _replace(file_of(paths), {name: plain(one) for name, one in sorted(whole.items())})


def _replace(path: str, values: Mapping[str, object]) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    write_atomic(path, json.dumps(values, indent=1).encode() + b"\n")


def program_of(executable: str, path: str | None = None) -> str | None:
    found = which(executable, path)
    return os.path.realpath(found) if found else None


def stamp(program: str, arguments: Sequence[str] = ()) -> str:
    """Changes with the installed version and with the arguments."""
    marks = [f"{word} {_mark(word)}" if os.path.isfile(word) else word for word in arguments]
    return " ".join([f"{_mark(program)}{_package(program)}", *marks])


def _mark(path: str) -> str:
    status = os.stat(path)
    return f"{status.st_size} {status.st_mtime_ns}"


def _package(program: str) -> str:
    """The version of the program's npm package: its script may stay the same."""
    folder = os.path.dirname(program)
    for _ in range(3):
        try:
            with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
                return f" {json.load(file).get('version')}"
        except (OSError, ValueError, AttributeError):
            folder = os.path.dirname(folder)
    return ""


def version_in(text: str) -> str:
    import re

    found = re.search(r"(?<!\d)\d++\.\d+[0-9A-Za-z.+-]*", text)
    return found[0].rstrip(".") if found else ""


def noted(paths: Paths, program: str, mark: str) -> str | None:
    of = _versions(paths).get(program)
    return of[1] if of and of[0] == mark else None


def note(paths: Paths, program: str, mark: str, version: str) -> None:
    _replace(_file_of_versions(paths), {**_versions(paths), program: [mark, version]})


def _file_of_versions(paths: Paths) -> str:
    return os.path.join(paths.agents, "versions.json")


def _versions(paths: Paths) -> dict[str, list[str]]:
    try:
        with open(_file_of_versions(paths), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: of for name, of in found.items() if isinstance(of, list) and len(of) == 2}


@frozen
class Standing:
    """How an agent may be used. `why`: the message; empty: it is used fully."""

    why: str = ""
    resumes: bool = True  # whether its sessions are gone on with
    basis: str = ""  # what stands for an agent that is used whole

    @property
    def said(self) -> str:
        return self.why if self.resumes else f"{self.why}; {WITHOUT}"


WHOLE = Standing()
Version = Callable[[str, str, str], str | None]
"""Agent, program and stamp → version; empty: it reports none; None: not asked yet."""


def standing(
    name: str, command: Sequence[str], seen: Mapping[str, Seen], version: Version, path: str | None = None
) -> Standing:
    """How an agent with this command may be used, by its tests and version."""
    program = program_of(command[0], path) if command and is_tried(name) else None
    if program is None:
        return WHOLE
    mark = stamp(program, command[1:])
    if (known := seen.get(name)) is not None and (known.program, known.stamp) == (program, mark):
        return _as_seen(name, known)
    if (present := version(name, program, mark)) is None:
        return WHOLE
    if present in proven(name):
        return Standing(basis=f"{present}, a version that nobrakes is tested with")
    if known is not None and known.version:
        return Standing(f"{name} was tested here at version {known.version}, not at its new one; {TRY}", resumes=False)
    return Standing(f"{_never_tried(name, present)}; {TRY}", resumes=False)


def _never_tried(name: str, version: str) -> str:
    if not (proved := proven(name)):
        return f"the {name} agent was never tested here"
    if not version:
        return f"{name} does not print its version"
    return f"{name} {version} was never tested here; nobrakes is tested with {', '.join(proved)}"


def _as_seen(name: str, known: Seen) -> Standing:
    called = f"{name} {known.version}".strip()
    failed = [check for check in CHECKS if known.can.get(check) is False]
    resumes = known.can.get("resume") is True
    if failed:
        return Standing(f"{called} failed its test: {', '.join(failed)}; {TRY} again", resumes)
    if not known.can.get("spawn"):
        return Standing(f"{called} could not be tested: the agent never called the scripted model", resumes=False)
    return Standing(basis=f"{known.version}, tried" if known.version else "tried")
