"""How the work of a bead gets to people: by the settings of its feature, and the repository's where those say nothing.

1. A feature is an epic. What it says holds for everything below it; of several epics around a bead the nearest one that
   says something about a setting is heard. The name of a branch is one request's, and holds for that very epic.
2. What has begun on an epic's branch ends there (`is_begun`): what is in it is on nobody else's base.
3. The branch that people merge to may be a feature's own (`base`): its work begins on it, and is proven on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..beads.bead import Bead, BeadType
from ..beads.branches import branch_of


@dataclass(frozen=True, slots=True)
class Said:
    """What the settings of one feature say; None: what is said above it."""

    unit: str | None = None
    branch: str | None = None
    push: bool | None = None
    base: str | None = None
    land: str | None = None


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say of the whole repository, and of each feature by its epic. `main`: the remote's branch that
    people merge to where nothing else is said.
    """

    by_request: bool
    unit: str
    push: bool = True
    features: Mapping[str, Said] = field(default_factory=dict)
    main: str = ""

    @property
    def elsewhere(self) -> tuple[str, ...]:
        """The epics whose work is for another branch than main."""
        return tuple(epic for epic in self.features if base_of((epic,), self))


@dataclass(frozen=True, slots=True)
class Delivery:
    """How one bead's work gets to people.

    `epic`: on whose branch it lands, empty: on main; `branch`: that of its request at the code host; `push`: whether it
    is pushed without a person's word; `base`: the branch that people merge it to, empty: the remote's main; `direct`:
    nobody merges it, it is pushed to that branch when it is proven.
    """

    epic: str
    branch: str
    push: bool = True
    base: str = ""
    direct: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """By which branch a bead is begun, reviewed and proven: that of its `epic`, or what the open request of the bead
    `below` brings; else `base`, a branch that people merge to, and main where that is empty. `direct`: what is proven
    is pushed there.
    """

    base: str = ""
    epic: str = ""
    below: str = ""
    direct: bool = False


def delivery(bead: Bead, above: Sequence[str], rules: Rules, is_begun: bool = False) -> Delivery:
    """How the bead's work goes; `above` are the epics that it lies in, the nearest first."""
    is_epic = bead.type is BeadType.EPIC
    around = (bead.id, *above) if is_epic else tuple(above)
    said = [rules.features[one] for one in around if one in rules.features]
    push = next((one.push for one in said if one.push is not None), rules.push)
    own = rules.features.get(bead.id) if is_epic else None
    lands = next((one.land for one in said if one.land is not None), "")
    direct = rules.by_request and not is_begun and lands == "remote"
    together = rules.by_request and not direct and (unit_of(around, rules) == "epic" or is_begun)
    epic = bead.epic or "" if together and not is_epic else ""
    return Delivery(epic, (own and own.branch) or request_branch(bead), push, base_of(around, rules), direct)


def unit_of(around: Sequence[str], rules: Rules) -> str:
    """What one request brings of the beads in these epics, the nearest of them first."""
    said = (rules.features[one].unit for one in around if one in rules.features)
    return next((unit for unit in said if unit is not None), rules.unit)


def base_of(around: Sequence[str], rules: Rules) -> str:
    """The branch that people merge the work in these epics to, the nearest of them first; empty: the remote's main."""
    said = (rules.features[one].base for one in around if one in rules.features)
    base = next((base for base in said if base is not None), rules.main) if rules.by_request else rules.main
    return "" if base == rules.main else base


def request_branch(bead: Bead) -> str:
    """The branch of its pull request where nobody chose another one: an epic's has a name of its own."""
    return of_epic(bead.id) if bead.type is BeadType.EPIC else branch_of(bead)


def of_epic(epic: str) -> str:
    """The branch of an epic's request where nobody chose another one."""
    return f"feature/{epic}"
