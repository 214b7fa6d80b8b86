"""Any command as an agent: the demo, the examples, and "bring your own".

1. `{prompt}` (path of the prompt's file) and `{workspace}` are replaced as whole words; no shell is involved.
2. Exit 0 is success unless a marker in the output says otherwise; 126 and 127 are machine faults; a signal is `killed`.
   Only a marker or `nobrakes agent done` gives up: any other code is `failed`.
3. With an unknown exit code and no marker the attempt is `lost`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ..beads.model import Outcome
from ..errors import ConfigError
from ..text.cleaning import clean, shorten
from . import adapter

if TYPE_CHECKING:
    from ..config.sections import AgentSettings

_LINE = 2000


class Script:
    """The command of `agents.script` in the config."""

    name = "script"
    provider = "script"  # itself: its gate is closed where it does not start
    sessions = False
    credentials: tuple[str, ...] = ()

    def login(self, env: Mapping[str, str], settings: "AgentSettings") -> adapter.Login | None:
        return None

    def launch(self, a: adapter.Assignment) -> adapter.Launch:
        """The command with its words filled in; ConfigError where none is set."""
        command = a.settings.script.command
        if not command:
            raise ConfigError(
                "the agent is 'script', but its command is not set",
                'Set agents.script.command in .nobrakes/config.toml, for example ["./agent.sh", "{prompt}"].',
            )
        words = {"{prompt}": a.prompt_file, "{workspace}": a.workspace}
        return adapter.Launch(tuple(words.get(word, word) for word in command), {**a.env, **adapter.identity(a)})

    def lines(self, raw: bytes) -> tuple[adapter.TranscriptLine, ...]:
        text = clean(raw.decode(errors="replace")).strip("\n")
        return (adapter.TranscriptLine(adapter.LineKind.TEXT, shorten(text, _LINE)),) if text.strip() else ()

    def used(self, raw: bytes) -> adapter.Use | None:
        return None

    def verdict(self, end: adapter.AgentEnd) -> adapter.Verdict:
        """Judge by marker and exit code (rule 2)."""
        if (signal := adapter.killed(end.code)) is not None:
            return adapter.Verdict(Outcome.KILLED, signal)
        if end.code == 127:
            return adapter.Verdict(Outcome.MISSING_EXECUTABLE, _said(end, "the command was not found"))
        if end.code == 126:
            return adapter.Verdict(Outcome.BAD_CONFIGURATION, _said(end, "the command is not executable"))
        marked = adapter.marker_outcome(adapter.read_marker(_text(end.lines)))
        if marked is not None and (marked is not Outcome.COMPLETED or end.code is None):
            return adapter.Verdict(marked, "the script's end marker reports this outcome")
        if end.code is None:
            return adapter.Verdict(Outcome.LOST, adapter.UNSEEN)
        if end.code == 0:
            return adapter.Verdict(Outcome.COMPLETED, "exit code 0")
        return adapter.Verdict(Outcome.FAILED, _said(end, f"exit code {end.code}"))

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        return True

    def finished(self, tail: bytes) -> bool:
        return adapter.marker_outcome(adapter.read_marker(_text(tail.split(b"\n")))) is not None

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        return None

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        return True

    def session(self, lines: Iterable[bytes]) -> str | None:
        return None


def _text(lines: Iterable[bytes]) -> str:
    return "\n".join(line.decode(errors="replace").rstrip("\r\n") for line in lines)


def _said(end: adapter.AgentEnd, what: str) -> str:
    errors = shorten(clean(end.errors).strip(), _LINE)
    return f"{what}: {errors}" if errors else what
