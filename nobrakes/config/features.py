"""The tables [review.features.EPIC] of config.toml: how the work of one feature gets to people."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from .values import BeadId, Branch, Section, section

if TYPE_CHECKING:
    from ..core.pulls.delivery import Said


@section
class FeatureSettings(Section):
    """One feature, by the id of its epic. Unset: as the epics above it have it, and then the repository."""

    unit: Literal["bead", "epic"] | None = None
    branch: Annotated[str, Branch()] | None = None
    push: bool | None = None
    base: Annotated[str, Branch()] | None = None
    land: Literal["local", "remote", "pull_request"] | None = None

    def said(self) -> "Said":
        """The same as core reads it."""
        from ..core.pulls.delivery import Said

        return Said(self.unit, self.branch, self.push, self.base, self.land)


Features = Mapping[Annotated[str, BeadId()], FeatureSettings]
LONGEST = 200
"""Characters of a branch's name."""
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*")
"""What nobrakes can keep a ref of its own for."""


def mistakes(
    features: Features, land: str, unit: str, push: bool, base: str, base_setting: str, pattern: str
) -> Iterator[str]:
    """What does not fit together, each with its key below `review.features`.

    `base`: the branch that all work is for, and the setting that names it; `pattern`: how branches of beads are named.
    """
    from ..core.beads.branches import may_be_a_beads
    from ..core.pulls.delivery import of_epic

    taken = {base: base_setting}
    for epic, one in features.items():
        taken |= {one.base: f"review.features.{epic}.base"} if one.base not in (None, base) else {}
    for epic, one in features.items():
        if one.base is not None:
            yield from _wrong_base(f"{epic}.base: '{one.base[:80]}'", one.base, features, pattern)
        if one.land not in (None, land) and (land, one.land) != ("pull_request", "remote"):
            how = f"for all work: `nobrakes config set review.land {one.land}`"
            if (land, one.land) == ("remote", "pull_request"):
                how = f'{how}, with land = "remote" for the features that need no pull request'
            yield (
                f'{epic}.land: "{one.land}" is another way than review.land = "{land}", and that does not hold both: '
                f"take it out, or {how}"
            )
        if (land, one.land) == ("pull_request", "remote") and not (push if one.push is None else one.push):
            yield (
                f'{epic}.land: "remote" pushes at once what has passed, and push = false has nothing pushed before you '
                "say so: take one of the two out, or say push = true for it"
            )
        if land != "pull_request":
            yield (
                f'{epic}: is for pull requests, and review.land = "{land}": take the table out of config.toml, or '
                "`nobrakes config set review.land pull_request`"
            )
            continue
        if one.branch is None:
            continue
        key = f"{epic}.branch: '{one.branch[:80]}'"
        if (one.unit or unit) != "epic":
            yield f'{key} is for the one request of an epic: have {epic} say unit = "epic" too, or leave branch out'
        if len(one.branch) > LONGEST or one.branch.startswith("refs/"):
            yield f"{key} is no name for it: at most {LONGEST} characters, and not from refs/ on"
        if may_be_a_beads(one.branch, pattern):
            yield f'{key} is named like the branch of a bead (git.branch_pattern = "{pattern}"): choose another name'
        other = next((other for other in features if other != epic and one.branch == of_epic(other)), None)
        if other is not None:
            yield f"{key} is what the branch of {other} is called: choose another name"
        for name, whose in taken.items():
            if name == one.branch:
                yield f"{key} is {whose} already: choose another name"
            elif f"{name}/".startswith(f"{one.branch}/") or f"{one.branch}/".startswith(f"{name}/"):
                yield f"{key} and {name} ({whose}) cannot both be branches: one would be a folder of the other"
        taken.setdefault(one.branch, f"review.features.{epic}.branch")


def _wrong_base(key: str, base: str, features: Features, pattern: str) -> Iterator[str]:
    """Why no work can be for that branch."""
    from ..core.beads.branches import may_be_a_beads
    from ..core.pulls.delivery import of_epic

    if len(base) > LONGEST or not _PLAIN.fullmatch(base) or base.startswith("refs/"):
        yield f"{key} is no name for it: at most {LONGEST} letters, digits, '.', '_', '-' and '/', not from refs/ on"
    elif may_be_a_beads(base, pattern):
        yield f'{key} is named like the branch of a bead (git.branch_pattern = "{pattern}"): choose another branch'
    elif base.startswith(of_epic("")) or any(base == one.branch for one in features.values()):
        yield f"{key} is named like the branch of an epic's request, and nobrakes removes those: choose another branch"
