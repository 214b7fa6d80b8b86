"""No sandbox: an agent may do whatever the human's account may do, but for what its own CLI denies. Said loudly."""

from collections.abc import Iterable
from typing import Protocol


class Agents(Protocol):
    """The settings of agents, as far as they are told here."""

    def bypasses(self, agent: str) -> bool:
        """Whether nothing of its own restrains the agent."""
        ...


def describe(names: Iterable[str], agents: Agents) -> str:
    """The warning that run, daemon and doctor show once, about these agents."""
    free = [name for name in names if agents.bypasses(name)]
    held = [name for name in names if not agents.bypasses(name)]
    text = "agents run without a sandbox: they can read and write everything that your account can, also outside of "
    text += "their workspace."
    if held:
        text += (
            f" Only their own permissions restrain {', '.join(held)}: the contract's commands, git and edits in the "
            "workspace are allowed, the rest is denied. What the checks start may do anything."
        )
    if free:
        text += f" Nothing at all restrains {', '.join(free)}."
    return (
        f"{text} The Reviewer still checks whatever they hand in; for the rest, use an account, a container "
        "or a virtual machine of their own."
    )
