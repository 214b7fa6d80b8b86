"""Commands on sessions, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..command_table import NOTE, TEXT, Field
from ..machine import registry
from .model import Message, Session
from .service import relay

if TYPE_CHECKING:
    from ..app import App

Number = Annotated[int, Field("The session's number.", metavar="N")]
First = Annotated[str, Field("The first message; '-' reads stdin.", most=TEXT, reads_stdin=True)]
Said = Annotated[str, Field("The message; '-' reads stdin.", most=TEXT, reads_stdin=True)]
Kind = Annotated[str, Field("planning or chat.", ("--kind",))]
Agent = Annotated[str, Field("The agent (default: agents.shaper).", ("--agent",))]
Title = Annotated[str, Field("Its title (default: the first line).", ("--title",), most=NOTE)]
Found = tuple[dict[str, Session], str]


def start(app: "App", by: str, text: First, kind: Kind = "planning", agent: Agent = "", title: Title = "") -> Found:
    """Start a session: a conversation with an agent that reads the repository and changes nothing. The daemon runs it
    turn by turn, at the same time as beads. Its answers: `nobrakes session show N`; its questions: `nobrakes
    escalations`.
    """
    more = {"kind": kind or "planning", "agent": agent, "title": title}
    made = relay.conversations_start(app.store, app.paths, app.config, text, actor=by, **more)
    show = f"nobrakes session show {made.id}{' --user' if app.is_home else ''}"
    return {"session": made}, f"session {made.id} began with {made.agent}: `{show}` has its answer{_own_daemon(app)}"


def say(app: "App", by: str, number: Number, text: Said) -> tuple[dict[str, Message], str]:
    """Send a message to a session. An agent that is working reads it in its next turn."""
    message = relay.conversations_say(app.store, app.paths, number, text, by)
    return {"message": message}, f"said to session {number}{_own_daemon(app)}"


def _own_daemon(app: "App") -> str:
    """Ensure the person's own daemon; returns the message. A repository's daemon is for its person to start."""
    if not app.is_home:
        return ""
    pid, is_new = registry.daemon(app.paths, app.store)
    return f"; your own daemon was started (process {pid})" if is_new else ""


def stop(app: "App", by: str, number: Number) -> Found:
    """Stop the current turn of a session. The session remembers everything and continues with your next message."""
    found = relay.stop(app.store, app.paths, number, by)
    words = "is asked to stop" if found.stop_asked else f"does nothing now: it is {found.state.value}"
    return {"session": found}, f"session {number} {words}"


def end(app: "App", by: str, number: Number) -> Found:
    """End a session. You can still read it."""
    found = relay.end(app.store, app.paths, number, by)
    return {"session": found}, f"session {number} is ended"
