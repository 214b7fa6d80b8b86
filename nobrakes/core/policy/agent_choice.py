"""Who may work in which role: agents in order of preference, for all beads or for those of one type."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..beads.bead import Role


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """Names of agents, the preferred one first; `by_type` overrides a role for one type of bead."""

    by_role: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {Role.TEST_WRITER.value: ("claude",), Role.DOER.value: ("claude",)}
    )
    by_type: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)

    def agents(self, role: Role, type_: str) -> tuple[str, ...]:
        """Who may take the role on a bead of this type."""
        return self.by_type.get(type_, {}).get(role.value) or self.by_role.get(role.value, ())

    def names(self) -> tuple[str, ...]:
        """Everybody, each once, in the order of first mention."""
        found = [name for agents in self.by_role.values() for name in agents]
        found += [name for roles in self.by_type.values() for agents in roles.values() for name in agents]
        return tuple(dict.fromkeys(found))
