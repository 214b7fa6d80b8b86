"""Commands on the nodes, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..command_table import Field
from ..errors import UsageError
from ..text.cleaning import count, one_line
from .service import Fleet, Node

if TYPE_CHECKING:
    from ..app import App

Name = Annotated[str, Field("The node's name, as `nobrakes fleet` shows it.", metavar="NODE")]


def show(app: "App", by: str) -> tuple[Fleet, str]:
    """Show the nodes on which agents and checks run: their places, their runs, and lost runs."""
    _require(app)
    found = app.nodes.look()
    lines = [f"{'NODE':20} {'PLACES':>6} {'TAKEN':>6}  STATE", *map(_line, found.nodes)]
    lines += [f"{run:30} runs on {one.name}" for one in found.nodes for run in one.runs]
    lines += [f"{loss.run:30} was lost: {one_line(loss.why)}" for loss in found.losses[-5:]]
    if found.trouble:
        lines.insert(0, f"the nodes cannot be reached: {one_line(found.trouble)}")
    return found, "\n".join(lines)


def drain(app: "App", by: str, node: Name) -> tuple[Fleet, str]:
    """Start no new run on a node. Runs that are already there continue."""
    _require(app)
    app.nodes.drain(node, True)
    found = app.nodes.look()
    left = sum(len(one.runs) for one in found.nodes if one.name == node)
    return found, f"no new run starts on {node}; {count(left, 'run')} still there"


def resume(app: "App", by: str, node: Name) -> tuple[Fleet, str]:
    """Start runs on a drained node again."""
    _require(app)
    app.nodes.drain(node, False)
    return app.nodes.look(), f"runs start on {node} again"


def _line(node: Node) -> str:
    state = f"gets no work: {one_line(node.why)}" if node.why else "drained" if node.is_drained else "ready"
    return f"{one_line(node.name):20} {node.places:6} {node.taken:6}  {state}"


def _require(app: "App") -> None:
    if not app.nodes.is_used:
        raise UsageError(
            "this repository uses no nodes: agents and checks run on this machine",
            'Set fleet.engine = "dask" in .nobrakes/config.toml, and name the scheduler.',
        )
