"""Any agent CLI that a profile describes (nobrakes.config.profiles): its launch, its output, and its end.

1. It has no guard: confinement bounds it. Where nothing confines, it starts only with its own permissions (parts for
   `bounded`), or if the person set `permissions` of the profile to "bypass".
2. Its settings and state lie in the run's own folder and in .nobrakes/agents/NAME/BEAD, not in the person's home; of
   the person's files it gets its login alone.
3. The role precedes the task, unless the profile hands it over as a file.
4. A line that no rule knows says nothing. An exit code alone is never success where the profile names an end. After
   exit 0 the sentence of an error counts only where it begins one of the last lines.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..beads.model import Outcome
from ..config.profiles import Line, Part, Profile
from ..config.sections import ProfileSettings
from ..errors import ConfigError
from ..records import frozen
from . import adapter, output
from .adapter import LineKind, TranscriptLine

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

_TEXT = 4000
_LAST = 5
_SHOWN = {"error": "limit", "session": "note", "end": "note"}
_WORD = re.compile(r"\{([a-z_]+)\}")
PERMITTED = "{permitted}"
"""Repeated for each command that its own permissions allow."""

_BEGIN = """
umask 077
mkdir -p -- "$1/home" || exit 1
shift
[ -z "$NOBRAKES_SANDBOX" ] || exit 0 # in a sandbox copies of the login are there
while [ "$#" -gt 1 ]; do
    if [ -e "$1" ]; then mkdir -p -- "$(dirname -- "$2")" && ln -sfn -- "$1" "$2" || exit 1; fi
    shift 2
done
"""


def at(value: Any, path: str) -> Any:
    """The value at `a.b.0`; None: there is none."""
    for name in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _text(value: Any, path: str) -> str:
    found = at(value, path) if path else None
    if found is None or isinstance(found, str):
        return found or ""
    return json.dumps(found, ensure_ascii=False)


def found_in(lines: Iterable[Line], event: Mapping[str, Any]) -> Iterator[tuple[Line, Mapping[str, Any]]]:
    """The rules that an event matches, each with what its paths lead into."""
    for line in lines:
        items = at(event, line.each) if line.each else [None]
        for item in items if isinstance(items, list) else ():
            whole = {**event, "item": item} if line.each else event
            if all(at(whole, path) == value for path, value in line.when.items()):
                yield line, whole


def _tokens(line: Line, whole: Mapping[str, Any]) -> dict[str, int]:
    counts = {ours: at(whole, path) for ours, path in line.tokens.items()}
    return {ours: n for ours, n in counts.items() if type(n) is int and n >= 0}


@dataclass(slots=True)
class Read(output.Read):
    """What the events of one process came to."""

    text: str = ""  # the words since the last tool call
    failure: str = ""  # an error that no word followed
    said_or_did: bool = False
    has_finished: bool = False  # the last deciding event was its end

    profile: ClassVar[Profile]

    @classmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        kinds = {line.kind for line, _ in found_in(cls.profile.lines, event)}
        if "end" in kinds:
            return True
        return False if kinds & {"text", "thinking", "tool", "result"} else None

    def unguarded(self, self_test: str) -> bool:
        return False

    def take(self, event: Mapping[str, Any]) -> None:
        if (is_last := self.is_last(event)) is not None:
            self.has_finished = is_last
        for line, whole in found_in(self.profile.lines, event):
            text = _text(whole, line.text)
            if line.kind == "session":
                self.session = text[:200] or self.session
            elif line.kind == "error":
                self.failure = text or "the agent reported an error without a message"
            elif line.kind == "usage":
                used = _tokens(line, whole)
                self.tokens = {key: self.tokens.get(key, 0) + used.get(key, 0) for key in {*self.tokens, *used}}
            elif line.kind == "cost" and isinstance(spent := at(whole, line.text), int | float):
                self.cost = (self.cost or 0.0) + float(spent)
            elif line.kind in ("text", "thinking", "tool", "result"):
                self.worked, self.failure = True, ""
                self.said_or_did |= line.kind == "tool" or (line.kind == "text" and bool(text.strip()))
                joined = f"{self.text}\n{text}" if self.text else text
                self.text = "" if line.kind == "tool" else joined if line.kind == "text" else self.text


class ByProfile(output.EventCli[Read]):
    """The CLI of a profile."""

    def __init__(self, name: str, profile: Profile) -> None:
        self.name = self.provider = name
        self.profile = profile
        self.sessions = profile.resumes
        self.credentials = profile.credentials
        ends = [dict(line.when) for line in profile.lines if line.kind == "end" and line.when]
        self.has_end = bool(ends)
        self.reads = type("Read", (Read,), {"profile": profile, "last": _pattern(ends)})
        pairs = [(re.escape(text), Outcome(cause)) for cause, texts in profile.says.items() for text in texts]
        self.wording = output.worded(*pairs)
        self.last_words = output.worded(*((rf"(?m)^\s*{text}", outcome) for text, outcome in pairs))
        words = repr([(part.arguments, part.environment, part.json, part.text) for part in profile.launch])
        self.role_apart = "{role}" in words

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        """None: it names neither a key nor a file."""
        files = tuple(_at_home(path, env) for path in self.profile.login)
        if not self.credentials and not files:
            return None
        return adapter.Login(self.credentials, files, self.profile.login_command or f"export {self.credentials[0]}=…")

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        """Raises ConfigError."""
        own = a.settings.profiles.get(self.name, ProfileSettings())
        if a.permitted is not None and not self.profile.is_bounded:
            raise ConfigError(
                f"nothing confines the agent {self.name}: no sandbox and no wall work here, and it has no permissions "
                "of its own that nobrakes can set",
                f'Install bubblewrap, or set agents.profiles.{self.name}.permissions = "bypass".',
            )
        if own.model.startswith("-"):
            raise ConfigError(f"agents.profiles.{self.name}.model begins with '-'", "Name a model.")
        parts = self._parts(a, own)
        home = os.path.join(a.folder, self.name)
        kept = os.path.join(a.env["NOBRAKES_HOME"], "agents", self.name, a.bead)
        task = os.path.join(home, "task.md")
        whole = a.prompt if self.role_apart else f"{a.system_prompt}\n\n{a.prompt}"
        is_long = len(whole.encode(errors="replace")) > adapter.MAX_ARGUMENT
        words = {
            "prompt": f"Your task is in the file {task}. Read the whole file, and do it." if is_long else whole,
            "task": task,
            "role": os.path.join(home, "role.md"),
            "workspace": a.workspace,
            "home": home,
            "state": kept,
            "session": a.session,
            "model": own.model,
            "address": own.base_url,
            "server": adapter.mcp_server(a).argv[0],
        }
        filled = Filled(words, [" ".join(one) for one in a.permitted or ()])
        argv = [own.executable or self.profile.program, *(word for part in parts for word in filled(part.arguments))]
        named = {key: filled(value) for part in parts for key, value in part.environment.items()}
        logins = [(_at_home(path, a.env), filled(place)) for path, place in self.profile.login.items()]
        begin = ("/bin/sh", "-c", _BEGIN, "begin", kept, *(word for pair in logins for word in pair))
        is_chosen = any("{session}" in word for part in parts for word in part.arguments)
        return adapter.Launch(
            tuple(argv),
            {**adapter.allowed(a, self.credentials), **adapter.identity(a), **adapter.UNATTENDED, **named},
            task if any(part.stdin for part in parts) else None,
            a.session if a.resume or is_chosen else None,
            self._files(a, parts, filled, whole),
            (begin,),
            writes=(kept,),
            login=tuple(logins),
            hosts=(own.base_url,) if own.base_url else self.profile.hosts,
            reports_usage=any(line.kind == "usage" for line in self.profile.lines),
        )

    def _parts(self, a: adapter.Assignment, own: ProfileSettings) -> list[Part]:
        facts = {"resumed" if a.resume else "fresh", "free" if a.permitted is None else "bounded"}
        facts |= {"address" if own.base_url else "provider", "model" if own.model else ""}
        return [part for part in self.profile.launch if facts.issuperset(part.when)]

    def _files(self, a: adapter.Assignment, parts: list[Part], filled: "Filled", task: str) -> dict[str, bytes]:
        merged: dict[str, Any] = {}
        for part in parts:
            for path, table in part.json.items():
                merged[path] = _merged(merged.get(path, {}), filled(table))
        files = {path: json.dumps(table, indent=1) for path, table in merged.items()}
        files |= {path: filled(text) for part in parts for path, text in part.text.items()}
        files |= {"task.md": task, **({"role.md": a.system_prompt} if self.role_apart else {})}
        return {f"{self.name}/{path}": text.encode(errors="replace") for path, text in files.items()}

    def parse(self, raw: bytes) -> dict[str, Any] | None:
        if self.profile.output == "events":
            return output.parse(raw)
        text = raw.decode(errors="replace").rstrip("\r")
        return {"line": text} if text.strip() else None

    def transcript(self, event: Mapping[str, Any]) -> Iterable[TranscriptLine]:
        for line, whole in found_in(self.profile.lines, event):
            text, id_ = _text(whole, line.text), _text(whole, line.id)
            if line.kind == "tool":
                name, command = _text(whole, line.name) or "tool", _text(whole, line.command)
                yield output.called(name, command or text, {"tool": "execute" if command else name, "id": id_})
            elif line.kind == "result":
                data: dict[str, Any] = {"id": id_, "failed": at(whole, line.failed) not in (None, False, "", 0)}
                yield output.lined(LineKind.RESULT, text or "(done)", data if line.failed else {"id": id_})
            elif line.kind == "usage":
                used = _tokens(line, whole)
                yield output.lined(LineKind.USAGE, ", ".join(f"{n} {key}" for key, n in used.items()), used)
            else:
                shown = f"{line.kind} {text}" if line.kind in ("session", "end") else text
                yield output.lined(LineKind(_SHOWN.get(line.kind, line.kind)), shown, limit=_TEXT)

    def used(self, raw: bytes) -> adapter.Use | None:
        event = self.parse(raw) if self.profile.output == "events" else None
        for line, whole in found_in(self.profile.lines, event or {}):
            if line.kind == "usage" and (total := sum(_tokens(line, whole).values())):
                return adapter.Use(_text(whole, line.id) or "usage", total, total)
        return None

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        return True

    def outcome(self, end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
        """Judge by its error, its end, and the exit code."""
        if (signal := adapter.killed(end.code)) is not None and not (read.has_finished and not read.failure):
            return Outcome.KILLED, signal
        if read.failure:
            text = f"{read.failure}\n{end.errors}".strip()
            return output.by_wording(self.wording, text) or Outcome.CRASHED, text
        if end.code is None and not read.has_finished:
            return Outcome.LOST, adapter.UNSEEN
        if end.code not in (0, None):
            return self._failed(end, read)
        if not read.worked:
            return output.not_started(self.profile.title, end)
        if self.has_end and not read.has_finished:
            return output.cut_off(end, "and no end")
        last = "\n".join(read.text.strip().splitlines()[-_LAST:])
        if adapter.read_marker(read.text) is None and (own := output.first(self.last_words, last)) is not None:
            return own, last
        if not read.said_or_did:
            return Outcome.EMPTY_OUTPUT, "the agent ended without an error, but its model did nothing"
        return output.ended_well(read.text)

    def _failed(self, end: adapter.AgentEnd, read: Read) -> tuple[Outcome, str]:
        said = read.text.splitlines() if self.profile.output == "text" else read.printed
        text = "\n".join([*end.errors.strip().splitlines()[-_LAST:], *said[-_LAST:]])
        known = output.first(self.wording, text)
        if not read.has_begun:
            return output.not_started(self.profile.title, end, known)
        found, detail = output.cut_off(end, "and no end")
        return known or output.by_wording((), text) or found, detail if end.errors.strip() else f"{detail}{text}"


def _pattern(ends: list[dict[str, Any]]) -> re.Pattern[bytes]:
    """Matches the line of an end, whole or torn."""
    pairs = [list(when.items())[-1] for when in ends]
    words = (rf'"{re.escape(path.split(".")[-1])}":\s*{re.escape(json.dumps(value))}' for path, value in pairs)
    return re.compile("|".join(words).encode() or rb"(?!)")


def _at_home(path: str, env: Mapping[str, str]) -> str:
    return os.path.join(env.get("HOME", "/"), path.removeprefix("~/"))


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    both = (key for key in above if isinstance(above[key], dict) and isinstance(below.get(key), dict))
    return {**below, **above, **{key: _merged(below[key], above[key]) for key in both}}


@frozen
class Filled:
    """Values of a profile with their words filled in; an unknown word in braces is the CLI's own."""

    words: Mapping[str, str]
    permitted: Iterable[str] = ()

    def __call__(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self(one): self(of) for key, of in value.items() for one in self._repeated(key)}
        if isinstance(value, list | tuple):
            return [self(one) for of in value for one in self._repeated(of)]
        return _WORD.sub(lambda found: self.words.get(found[1], found[0]), value) if isinstance(value, str) else value

    def _repeated(self, value: Any) -> list[Any]:
        if not isinstance(value, str) or PERMITTED not in value:
            return [value]
        return [value.replace(PERMITTED, one) for one in self.permitted]
