"""What a yes to commit-strategy did, in words that the terminal and the pages share."""

from collections.abc import Sequence

from .text import count


def told(beads: int, changes: int, features: Sequence[str]) -> list[str]:
    """How many beads went live, how many changes came into force, and the features that are built from now on."""
    found = [f"{count(beads, 'bead')} went live"] if beads else []
    found += [f"{count(changes, 'change')} of beads came into force"] if changes else []
    found += [f"feature {name} is built now" for name in features]
    return found
