"""Commands of the Breaker Box, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated, Any

from ..command_table import NOTE, TEXT, Field
from ..errors import UsageError
from ..records import plain
from ..text.cleaning import one_line, spoken
from .service import control

if TYPE_CHECKING:
    from ..app import App
    from ..decisions.service.all_blockers import Blockers
    from .service.control import Lifted

Switched = tuple[dict[str, bool], str]


def pause(app: "App", by: str) -> Switched:
    """Pause: no new work starts. Running agents continue; their work is reviewed after `nobrakes resume`."""
    control.pause(app.store, app.paths, by)
    return {"paused": True}, "paused: no new work starts; `nobrakes resume` continues"


def resume(app: "App", by: str) -> Switched:
    """Resume work after `nobrakes pause` or `nobrakes stop`."""
    control.resume(app.store, app.paths, by)
    return {"paused": False}, "resumed: new work starts again"


Agent = Annotated[str | None, Field("One agent's name, or its bead (default: all).", metavar="NAME|BEAD")]
Hold = Annotated[str | None, Field("Also hold the agent's bead, with this reason.", ("--hold",), most=NOTE)]


def stop(app: "App", by: str, agent: Agent = None, hold: Hold = None) -> tuple[dict[str, Any], str]:
    """Stop all agents, or one. Their work is saved, and no failure is counted. If you stop all agents, their beads are
    ready again after `nobrakes resume`. If you stop one, the next attempt on its bead starts, unless you add --hold."""
    if agent is None:
        if hold is not None:
            hint = "Name the agent or its bead: nobrakes stop Ada --hold why"
            raise UsageError("--hold needs the name of one agent or its bead", hint)
        control.stop(app.store, app.paths, by)
        return {"stopping": True}, "stopping all agents and saving their work; `nobrakes resume` continues the work"
    found = control.stop_one(app.store, app.paths, agent, hold, by)
    is_held = hold is not None
    data = {"stopping": True, "bead": found.bead, "name": found.name, "number": found.number, "held": is_held}
    then = f"{found.bead} is held" if is_held else f"{found.bead} continues"
    return data, f"stopping agent {one_line(found.name)} and saving its work; bead {then}"


Limits = Annotated[tuple[str, ...], Field("A limit and its new value.", metavar="LIMIT=VALUE", most=TEXT)]


def set_limits(app: "App", by: str, limits: Limits = ()) -> tuple[dict[str, Any], str]:
    """Change limits of the running daemon, until the next change. Without arguments it shows them. The word `default`
    restores the value of .nobrakes/config.toml."""
    changed = control.set_limits(app.store, dict(map(_pair, limits)), by, app.paths)
    values = {**plain(app.config.limits), **changed}
    told = ", ".join(f"{name} = {value}" for name, value in changed.items())
    first = f"limits changed until you change them again: {told}" if told else "all limits are as in config.toml:"
    rest = [f"  {name} = {value}" for name, value in values.items()]
    return {"limits": values, "changed": sorted(changed)}, "\n".join([first, *rest])


def _pair(word: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in word.partition("="))
    if not (equals and name and value):
        raise UsageError(f"'{one_line(word)[:40]}' is not LIMIT=VALUE", "For example: nobrakes set doers=8")
    return name, value


Wait = Annotated[float, Field("Seconds to wait for the daemon.", ("--wait",), least=0)]


def start(app: "App", by: str, wait: Wait = control.STARTING_SECONDS) -> tuple[dict[str, Any], str]:
    """Run agents in the background. Hindered where none could start."""
    found = _require(app)
    pid = control.start(app.paths, app.store, wait)
    return {"pid": pid, "log": app.paths.daemon_log, "hindrances": found}, f"the daemon is running (process {pid})"


def _require(app: "App") -> "Blockers":
    """The blockers of a start, or none if a daemon runs. Raises Hindered as `nobrakes run`."""
    from ..app import blockers
    from ..decisions.service.all_blockers import NOTHING

    found = NOTHING if app.is_home or control.running(app.paths) else blockers(app)
    found.require(app.store.now())
    return found


def stop_daemon(app: "App", by: str, wait: Wait = 60.0) -> tuple[dict[str, Any], str]:
    """Stop the daemon cleanly: it stops its agents and saves their work."""
    pid, left = control.stop_daemon(app.paths, app.store, wait)
    return {"pid": pid, "left": left}, f"the daemon has stopped (it was process {pid}){left and f'; {left}'}"


def restart(app: "App", by: str, wait: Wait = 60.0) -> tuple[dict[str, int], str]:
    """Restart the daemon; its agents keep working. If no daemon is running, start one after the checks of `nobrakes
    daemon start`."""
    _require(app)
    pid = control.restart(app.paths, app.store, wait)
    return {"pid": pid}, f"the daemon is running (process {pid})"


Provider = Annotated[str, Field("End this provider's cooldown early.", ("--open",))]
Bead = Annotated[str, Field("Let agents try this bead again.", ("--reset",))]
Lift = Annotated[str, Field("Ignore this cap until its period ends.", ("--lift",))]
Keep = Annotated[str, Field("Apply this cap again.", ("--keep",))]


def providers(
    app: "App", by: str, open: Provider = "", reset: Bead = "", lift: Lift = "", keep: Keep = ""
) -> tuple["Lifted | dict[str, Any]", str]:
    """Open a provider, reset a bead's breaker, or lift or keep a cap."""
    if sum(map(bool, (open, reset, lift, keep))) != 1:
        raise UsageError("name one thing: a provider to open, a bead to reset, or a cap to lift or keep")
    if open:
        was_closed = control.end_cooldown(app.store, app.paths, open, by)
        words = "agents use the provider {} again; if the provider refuses a request, a new cooldown begins"
        told = (words if was_closed else "the provider {} had no cooldown").format(one_line(open))
        return {"provider": open, "was_closed": was_closed}, told
    if reset:
        found = control.reset(app.store, app.paths, reset, by)
        return {"bead": reset, "reset": found}, "agents may try the bead again" if found else "the bead was not stopped"
    cap = control.lift(app.store, app.paths, app.config, (lift or keep).removeprefix("caps."), bool(lift), by)
    name = f"caps.{one_line(cap.name)}"
    if keep:
        return cap, f"{name} applies again: {cap.limit:.6g}"
    until = "this run ends" if cap.until is None else spoken(cap.until)
    may, unit = ("more agents may start", " an hour") if name == "caps.calls_per_hour" else ("agents may cost more", "")
    warning = f"{may} than the {cap.limit:.6g}{unit} that you allowed ({cap.spent:.6g} so far)"
    return cap, f"{name} is lifted until {until}: {warning}\n`nobrakes providers keep {cap.name}` applies the cap again"
