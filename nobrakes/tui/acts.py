"""What a person does from the board: the same operations as the commands, and in the same words.

Each takes the app, in the thread that reads, and returns the sentence that the person is told; errors pass.
"""

from typing import TYPE_CHECKING

from ..core.errors import NotAllowed
from ..wording.text import one_line

if TYPE_CHECKING:
    from ..app import App


def refuse_agents() -> None:
    """NotAllowed inside a run: what changes something is for people."""
    from ..app import is_agent

    if is_agent():
        raise NotAllowed(
            "an agent may not decide from the board",
            "Say what you need with `nobrakes agent escalate`, or ask with `nobrakes agent ask`.",
        )


def pause(app: "App", actor: str) -> str:
    """Start nothing new."""
    from ..operations import control

    refuse_agents()
    control.pause(app.store, app.paths, actor)
    return "paused: nothing new is started; p goes on"


def resume(app: "App", actor: str) -> str:
    """Go on."""
    from ..operations import control

    refuse_agents()
    control.resume(app.store, app.paths, actor)
    return "new work is started again"


def hold(app: "App", actor: str, bead: str, reason: str) -> str:
    """Keep the bead from being worked on."""
    from ..operations import beads

    refuse_agents()
    beads.hold(app.store, bead, reason, actor, app.paths)
    return f"{bead} is held"


def release(app: "App", actor: str, bead: str) -> str:
    """Let a held bead go on."""
    from ..operations import beads

    refuse_agents()
    beads.release(app.store, bead, actor, app.paths)
    return f"{bead} is released"


def stop(app: "App", actor: str, name: str) -> str:
    """Have one agent stopped."""
    from ..operations import control

    refuse_agents()
    stopped = control.stop_one(app.store, app.paths, name, None, actor)
    return f"{one_line(stopped.name)} is being stopped, its work is kept; {stopped.bead} goes on"


def answer(app: "App", actor: str, number: int, text: str) -> str:
    """Answer a question."""
    from ..operations import desk

    refuse_agents()
    decided = desk.answer(app.store, number, text, actor, app.paths)
    return f"escalation {number} is answered{desk.then(app.store, decided)}"


def resolve(app: "App", actor: str, number: int, how: str, note: str) -> str:
    """Decide an escalation."""
    from ..operations import desk

    refuse_agents()
    decided = desk.resolve(app.store, number, how, note, actor, app.paths)
    return f"escalation {number} is resolved: {how}{desk.then(app.store, decided)}"
