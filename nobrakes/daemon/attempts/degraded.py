"""The agents as they may be used on this machine: whole, or without their sessions (abilities, agents.degraded)."""

import os
from collections.abc import Callable

from ... import abilities
from ...abilities import Standing
from ...agents.adapter import Adapter
from ...agents.degraded import WithoutSessions
from ...config.settings import Config
from ...core.beads.events import Event, Kind
from ...host import versions
from ...paths import Paths
from ...ports.people import Notice
from ..ports import Ports


class Adapters:
    """Gives the adapter of a name, by what was written down of its CLI."""

    def __init__(
        self, whole: Callable[[str], Adapter], paths: Paths, config: Callable[[], Config], path: str | None
    ) -> None:
        self.whole = whole
        self.paths = paths
        self.config = config
        self.path = path
        self.versions = versions.Versions(paths, path, writes=True)
        self._said: dict[str, str] = {}

    def __call__(self, name: str) -> Adapter:
        """The adapter; NoAgent for an unknown name."""
        adapter = self.whole(name)
        if name not in abilities.TRIED or self._standing(name).resumes:
            return adapter
        return WithoutSessions(adapter)

    def degraded(self) -> list[str]:
        """What is to be said of the agents that are named in the settings, and was not said before."""
        said, found = self._said, {}
        for name in self.config().agents.agent_choice().names():
            text = self._standing(name).said
            if text:
                found[name] = text
        self._said = found
        return [text for name, text in found.items() if said.get(name) != text]

    def trouble(self, name: str) -> str:
        """Why the CLI of this agent does not work, where it may be asked; empty: it does, or nobody knows."""
        command = self.config().agents.command(name) if name in abilities.PROVEN else ()
        return versions.trouble(command[0], self.path or os.defpath, self.paths.root) if command else ""

    def _standing(self, name: str) -> Standing:
        command = self.config().agents.command(name)
        return abilities.standing(name, command, abilities.recall(self.paths), self.versions, self.path)


def tell(ports: Ports) -> None:
    """Say of which agents less is asked than they should be able to do: once, and again when it changes."""
    for why in ports.degraded():
        ports.notifier.tell(Notice(why, urgent=True))
        ports.store.record(Event(Kind.DEGRADED, data={"why": why}))
