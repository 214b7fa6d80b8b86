"""Commands on the nodes, for the command line and for pages alike."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from .. import extras
from ..beads.work_status import ROLES
from ..command_table import Field
from ..errors import UsageError
from ..files import wake
from ..text.cleaning import age, count, one_line, pad, spoken, width
from .service import ANSWER_SECONDS, Fleet, FleetView, Loss, Node, NodeRun, is_own, line_of, run_of

if TYPE_CHECKING:
    from ..app import App

Name = Annotated[str, Field("The node's name, as `nobrakes fleet` shows it.", metavar="NODE")]
_LOSSES_SHOWN = 5


def show(app: "App", by: str) -> tuple[FleetView, str]:
    """Show the nodes on which agents and checks run: their places, free memory, what runs where, and lost runs."""
    _require(app)
    found = _view(app, app.nodes.look(ANSWER_SECONDS))
    return found, "\n".join(_lines(found, app.store.now()))


def drain(app: "App", by: str, node: Name) -> tuple[FleetView, str]:
    """Start no new run on a node. Runs that are already there continue."""
    _require(app)
    app.nodes.drain(node, True)
    wake(app.paths)
    found = _view(app, app.nodes.look())
    left = sum(one.node == node for one in found.runs)
    return found, f"no new run starts on {one_line(node)}; {count(left, 'run')} still there"


def resume(app: "App", by: str, node: Name) -> tuple[FleetView, str]:
    """Start runs on a drained node again."""
    _require(app)
    app.nodes.drain(node, False)
    wake(app.paths)
    return _view(app, app.nodes.look()), f"runs start on {one_line(node)} again"


def _view(app: "App", found: Fleet) -> FleetView:
    runs = [
        NodeRun(node.name, run, places, *(_work(app, run) if is_own(app.paths, run) else ("", "", "")))
        for node in found.nodes
        for run, places in node.runs.items()
    ]
    losses = [replace(one, bead=bead, role=role) for one in found.losses for bead, role, _ in [_work(app, one.run)]]
    return FleetView(app.config.fleet.scheduler, found.at, found.trouble, found.nodes, tuple(runs), tuple(losses))


def _work(app: "App", session: str) -> tuple[str, str, str]:
    """(bead, role, agent's name) of one of our runs; empty: unknown, as for the checks of main."""
    number = run_of(session).partition("-")[0]
    if not number.isdigit() or app.store.bead_of_attempt(int(number)) is None:
        return "", "", ""
    attempt = app.store.attempt(int(number))
    return attempt.bead, attempt.role.value, attempt.name


def _lines(found: FleetView, now: float) -> list[str]:
    about = line_of(Fleet(found.at, found.trouble, found.nodes, found.losses))
    out = [f"{one_line(found.scheduler)} cannot be asked: {one_line(found.trouble)}"] if found.trouble else []
    if not found.nodes:
        return out or [f'{one_line(found.scheduler)} has no node: start a worker with `--resources "place=4"`']
    if not found.trouble:
        out += [about.text().removesuffix(" (nobrakes fleet)")]
    head = ("NODE", "PLACES", "TAKEN", "CPU", "FREE MEMORY", "NOBRAKES", "PYTHON", "STATE")
    out += ["", *_table(head, list(map(_node_row, found.nodes)))]
    if found.runs:
        out += ["", *_table(("RUNS ON", "BEAD", "ROLE", "AGENT", "PLACES", "RUN"), list(map(_run_row, found.runs)))]
    if found.losses:
        rows = [_loss_row(one, now) for one in found.losses[-_LOSSES_SHOWN:]]
        out += ["", *_table(("LOST", "NODE", "BEAD", "ROLE", "WHY"), rows)]
    return out


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    cells = [head, *(tuple(map(one_line, row)) for row in rows)]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(pad, row, widths)).rstrip() for row in cells]


def _node_row(one: Node) -> tuple[str, ...]:
    state = f"gets no work: {one.why}" if one.why else "drained" if one.is_drained else "ready"
    versions = one.about.get("nobrakes", "-"), one.about.get("python", "-")
    cpu = "-" if one.cpu is None else f"{one.cpu:.0f} %"
    memory = "-" if one.free is None or one.memory is None else f"{one.free / 1e9:.1f} of {one.memory / 1e9:.1f} GB"
    return one.name, str(one.places), str(one.taken), cpu, memory, *versions, state


def _run_row(one: NodeRun) -> tuple[str, ...]:
    return one.node, one.bead or "-", ROLES.get(one.role, "-"), one.name or "-", str(one.places), one.run


def _loss_row(one: Loss, now: float) -> tuple[str, ...]:
    return f"{spoken(one.at)} ({age(now - one.at)} ago)", one.node, one.bead or "-", ROLES.get(one.role, "-"), one.why


def _require(app: "App") -> None:
    if not app.nodes.is_used:
        raise UsageError(
            "this repository uses no nodes: agents and checks run on this machine",
            'Set fleet.engine = "dask" in .nobrakes/config.toml, and name the scheduler.',
        )
    extras.need_of_engine(app.config.fleet.engine)
