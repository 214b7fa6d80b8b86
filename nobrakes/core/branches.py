"""The name of a bead's branch. Imports nothing: agents ask for it all night."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .bead import Bead


def branch_of(bead: "Bead") -> str:
    """The branch that the bead is worked on: `<type>/bead-<id>`, whatever its title."""
    return f"{bead.type}/bead-{bead.id}"
