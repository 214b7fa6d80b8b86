"""What main carries of beads, and which of it no event of the store names.

1. Merged is what main carries and the store does not know. What the store knows, and a person opened again or took
   back, stays as it is.
2. A merge is ours when its bead is known and it says where our chain of evidence ended (`Evidence:`), or that there was
   none yet (`none`) after the bead was made. Whatever else has a trailer `Bead:` is of another chain, or a person's.
3. The newest word of main about a bead counts: a later `Reverts-Bead:` takes back what came before it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..beads.bead import Bead, BeadType
from .record import Made
from .verify import NONE

NAMED = 20
"""So many beads are named in one text; more are counted."""
COMPARED = "compared"
"""The setting: main's commit up to which store and main agree."""
WENT_BACK = "went_back"
"""The setting: facts were brought back into a database that was older than them, and no daemon has counted on yet."""
SLACK = 2.0
"""So many seconds a commit may be older than its bead: git keeps whole seconds."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A bead's merge as main carries it. `commits` oldest first: several where each commit was kept.

    `stands`: nothing newer on main speaks of the bead.
    """

    bead: str
    anchor: str
    commits: tuple[Made, ...]
    stands: bool

    @property
    def tip(self) -> Made:
        """The last of its commits: what the merge is known by."""
        return self.commits[-1]

    @property
    def base(self) -> str:
        """Main before it; empty for a commit without a parent."""
        return next(iter(self.commits[0].parents), "")


def merges(line: Sequence[Made], apart: Collection[str] = ()) -> list[Merge]:
    """The merges on main's line (newest first), oldest first; a commit of `apart` ends a merge of its own."""
    found: list[Merge] = []
    spoken: set[str] = set()
    above: Made | None = None
    for made in line:
        bead, anchor = made.trailer("Bead"), made.trailer("Evidence")
        if not bead:
            spoken |= _taken_back(made)
        elif (
            above is not None
            and (bead, anchor) == (above.trailer("Bead"), above.trailer("Evidence"))
            and made.commit not in apart
        ):
            last = found[-1]
            found[-1] = Merge(bead, anchor, (made, *last.commits), last.stands)
        else:
            found.append(Merge(bead, anchor, (made,), bead not in spoken))
            spoken |= {bead, *_taken_back(made)}
        above = made
    return found[::-1]


def _taken_back(made: Made) -> set[str]:
    return {value for key, value in made.trailers if key.lower() == "reverts-bead"}


def fallen_off(done: Mapping[str, str], off: Collection[str], merged: Collection[str]) -> str:
    """What a person is told of done beads whose merge main does not carry any more; empty: there is none.

    `done`: bead -> its merge; `off`: the commits that main does not contain; `merged`: the beads that it names all the
    same (a rebase).
    """
    gone = [(bead, commit) for bead, commit in done.items() if commit in off and bead not in merged]
    if not gone:
        return ""
    named = ", ".join(f"{bead} ({commit[:12]})" for bead, commit in gone[:NAMED])
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    return (
        f"main was rewritten and does not carry these done beads any more: {named}{more}. Bring one back with "
        "`git cherry-pick COMMIT` on main, or have it done again with `nobrakes reopen BEAD`"
    )


def is_ours(merge: Merge, bead: Bead | None, chain: Collection[str], recorded: Collection[str]) -> bool:
    """Whether the merge is this repository's own. `chain`: the commits of the evidence; `recorded`: what they name."""
    if bead is None or bead.type is BeadType.EPIC:
        return False
    if merge.tip.commit in recorded or merge.anchor in chain:
        return True
    return merge.anchor == NONE and is_younger(merge, bead)


def is_younger(merge: Merge, bead: Bead) -> bool:
    """Whether the merge was made after its bead."""
    return merge.tip.at + SLACK >= bead.created_at
