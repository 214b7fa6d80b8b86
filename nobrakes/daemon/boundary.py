"""What a role may change of the tree that its work began from: by the settings, by git, and by what agents look for."""

from dataclasses import replace

from ..agents.registry import steering
from ..core.beads.bead import Role
from ..core.policy.boundaries import Boundary
from .ports import Ports


def boundary_at(ports: Ports, base: str, role: Role, head: str = "") -> Boundary:
    """The boundary of a role whose work began from the commit `base`, and is `head`."""
    return with_agents(ports.config().boundary_at(ports.git, base, role, head))


def with_agents(boundary: Boundary) -> Boundary:
    """The boundary with the instructions and settings of the agents that nobrakes starts."""
    return replace(boundary, steering=tuple(dict.fromkeys((*boundary.steering, *steering()))))
