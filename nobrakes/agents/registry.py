"""The agents that nobrakes knows, by the name that the config uses."""

import os
from collections.abc import Mapping

from ..core.errors import NoAgent
from .adapter import Adapter
from .claude import Claude
from .script import Script

ADAPTERS: Mapping[str, Adapter] = {
    agent.name: agent for agent in (Claude(root=hasattr(os, "geteuid") and os.geteuid() == 0), Script())
}


def adapter(name: str) -> Adapter:
    """The adapter of this name; NoAgent for any other."""
    try:
        return ADAPTERS[name]
    except KeyError:
        known = ", ".join(sorted(ADAPTERS))
        raise NoAgent(
            f"nobrakes knows no agent called '{name[:40]}'",
            f"Set agents.doer and agents.test_writer in .nobrakes/config.toml to one of: {known}.",
        ) from None
