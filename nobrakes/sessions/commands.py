"""Commands on sessions, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..command_table import NOTE, TEXT, Field
from ..errors import UsageError
from ..machine.registry import require_offered
from ..text.cleaning import count
from .model import Message, Session, files_of, is_relay
from .service import relay

if TYPE_CHECKING:
    from ..app import App

Number = Annotated[int, Field("The session's number.", metavar="N")]
First = Annotated[str, Field("The first message.", most=TEXT, reads_stdin=True)]
Said = Annotated[str, Field("The message.", most=TEXT, reads_stdin=True)]
Kind = Annotated[str, Field("The kind of session.", ("--kind",), one_of=("planning", "chat"))]
Agent = Annotated[str, Field("The agent (default: agents.shaper).", ("--agent",))]
Title = Annotated[str, Field("The session's title (default: the first line).", ("--title",), most=NOTE)]
Works = Annotated[bool, Field("The agent works in a private clone and leaves you a branch.", ("--works",))]
Model = Annotated[str, Field("With --works: the model (default: as in the settings).", ("--model",))]
Plan = Annotated[bool, Field("With --works: plan first; work starts after you approve the plan.", ("--plan",))]
InPlace = Annotated[bool, Field("With --works: use the checkout itself, not a clone.", ("--in-place",))]
InRepository = Annotated[
    str,
    Field(
        "With --user and --works: the path of a repository in one of your session_roots folders.",
        ("--repository",),
        "FOLDER",
        NOTE,
    ),
]
Found = tuple[dict[str, Session], str]


def start(
    app: "App",
    by: str,
    text: First,
    works: Works = False,
    kind: Kind = "planning",
    agent: Agent = "",
    title: Title = "",
    model: Model = "",
    plan: Plan = False,
    in_place: InPlace = False,
    repository: InRepository = "",
) -> Found:
    """Start a session: a conversation with an agent. The daemon runs it turn by turn, at the same time as beads.

    Without --works the agent reads the repository and changes nothing. With --works the agent works in a private clone:
    your checkout does not change, and `nobrakes session hand-in N` gives the branch to the Reviewer. `nobrakes session
    show N` shows the agent's answers, `nobrakes escalations` its questions.
    """
    if works and app.is_home and not repository:
        raise UsageError("--works needs a repository", 'Name a repository: `nobrakes relay FOLDER "TEXT"`.')
    if repository and not (works and app.is_home):
        raise UsageError("--repository works only with --user and --works", "Add --user and --works.")
    if works and kind not in ("", "planning"):
        raise UsageError("--kind cannot be combined with --works", "Leave out --kind, or --works.")
    if works:
        there = require_offered(repository) if repository else ""
        checkout = relay.checkout(app, there or app.paths.root) if in_place else ""
        return begin(app, by, relay.Wanted(text, agent, model, there, title=title, plans=plan, in_place=checkout))
    if model or plan or in_place:
        raise UsageError("--model, --plan and --in-place work only with --works", "Add --works.")
    more = {"kind": kind or "planning", "agent": agent, "title": title}
    made = relay.conversations_start(app.store, app.paths, app.config, text, actor=by, **more)
    told = f"session {made.id} started with {made.agent}: `nobrakes session show {made.id}` will show the answer"
    return {"session": made}, told + _daemon(app, made)


def begin(app: "App", by: str, wanted: relay.Wanted) -> Found:
    """Start a session that works."""
    made = relay.start(app.store, app.paths, app.config, wanted, by)
    place = "in the checkout itself; nobrakes saves its files first" if wanted.in_place else "in its own clone"
    lines = [
        f"session {made.id} works with {made.agent} {place}{_daemon(app, made)}",
        f"  `nobrakes watch session~{made.id}` follows the session, `nobrakes session stop {made.id}` stops its turn",
        f"  `nobrakes session show {made.id}` shows the session's result",
    ]
    if wanted.files:
        lines.append(f"  progress.json and output.json are in {files_of(app.paths.folder, made.id)}")
    return {"session": made}, "\n".join(lines)


def say(app: "App", by: str, number: Number, text: Said) -> tuple[dict[str, Message | None], str]:
    """Send a message to a session. An agent that is working reads the message in its next turn. The message also
    answers a working session that asks what to do next.
    """
    session = app.store.session(number)
    to = relay.go_on if is_relay(session) else relay.conversations_say
    return {"message": to(app.store, app.paths, number, text, by)}, f"sent to session {number}{_daemon(app, session)}"


def _daemon(app: "App", session: Session) -> str:
    """Ensure a daemon for a session that works, or one of the person's own place; returns the message. Who talks about
    a repository starts its daemon when they want beads, too."""
    if not (app.is_home or is_relay(session)):
        return ""
    seen = relay.see_to_a_daemon(app.store, app.paths)
    if seen.beads:
        beads = count(seen.beads, "bead")
        return f"\n  no daemon is running: `nobrakes daemon start` runs the session, and also {beads} that can start"
    return f"; nobrakes started a daemon (process {seen.started})" if seen.started else ""


def hand_in(app: "App", by: str, number: Number) -> tuple[relay.Landing, str]:
    """Hand a session's branch in for review. nobrakes runs the checks, and asks you before it merges the work."""
    from ..beads.service import taking

    landed = relay.hand_in(taking.repository(app.store, app.git, app.paths, app.config), number, by)
    started = _daemon(app, app.store.session(number))
    text = (
        f"handed in session {number} as bead {landed.bead}, commit {landed.head[:12]}{started}\n"
        f"  nobrakes runs the checks now; then `nobrakes escalations` asks you whether to merge"
    )
    return landed, text


def stop(app: "App", by: str, number: Number) -> Found:
    """Stop a session's current turn. The session keeps its memory and continues with your next message."""
    found = relay.stop(app.store, app.paths, number, by)
    words = "is stopping" if found.stop_asked else f"has no turn to stop: its state is {found.state.value}"
    return {"session": found}, f"session {number} {words}"


def end(app: "App", by: str, number: Number) -> Found:
    """End a session. You can still read it."""
    found = relay.end(app.store, app.paths, number, by)
    return {"session": found}, f"session {number} has ended"
