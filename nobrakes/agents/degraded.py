"""An agent of which less is asked than its adapter can: its sessions are not gone on with.

For a version that failed to go on with one, or that nobody tried. No session of it is ever noted, so none is resumed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..core.transcript import Line
from .adapter import Adapter, AgentEnd, Assignment, Launch, Login, Use, Verdict
from .settings import Settings


class WithoutSessions:
    """The adapter, without its sessions."""

    sessions = False

    def __init__(self, whole: Adapter) -> None:
        self.whole = whole
        self.name = whole.name
        self.provider = whole.provider
        self.credentials = whole.credentials
        self.steering = whole.steering

    def login(self, env: Mapping[str, str], settings: Settings) -> Login | None:
        """The same login."""
        return self.whole.login(env, settings)

    def launch(self, a: Assignment) -> Launch:
        """The same command."""
        return self.whole.launch(a)

    def lines(self, raw: bytes) -> tuple[Line, ...]:
        """The same lines."""
        return self.whole.lines(raw)

    def used(self, raw: bytes) -> Use | None:
        """The same."""
        return self.whole.used(raw)

    def verdict(self, end: AgentEnd) -> Verdict:
        """The same verdict, and nothing to go on with."""
        return replace(self.whole.verdict(end), session=None)

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        """The same."""
        return self.whole.has_begun(lines)

    def finished(self, tail: bytes) -> bool:
        """The same."""
        return self.whole.finished(tail)

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        """The same."""
        return self.whole.refuses(head, self_test)

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        """The same."""
        return self.whole.guarded(head, self_test)

    def session(self, lines: Iterable[bytes]) -> str | None:
        """None that could be gone on with."""
        return None
