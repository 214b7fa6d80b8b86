"""Rolling a feature back: what of it is on main is taken off again by one candidate, the newest merge first.

1. A person asked for it, and said yes to what it does. Its open beads are given up in the same moment.
2. What is on main is taken back whole or not at all: one commit, handed in in the name of who asked, by a bead of its
   own, and reviewed as any work is.
3. What is in the way is a person's to decide, and meanwhile nothing is done. Later work on the same files is in the
   way, and so are checks that do not pass without the feature.
4. The bead was done in another way (by hand), or given up: the rollback is over, or off, whatever was asked.
5. What a person has in hand, or handed in, is not built over.
"""

from ..beads.bead import WAITING_FOR_AGENT, Status
from ..beads.forms import as_values, made
from ..beads.taking import is_handed_back
from .actions import About, Ask, DropRollback, FinishRollback, ForgeAction, TakeBack
from .board import Rolling, Standing

AGAIN, LEAVE = "try again", "leave it on main"
HELD = "it takes feature {feature} back, and waits for nobrakes to hand that in"
"""Why the bead of a rollback is held until its candidate is built."""
GIVEN_UP = "its feature {feature} is rolled back"


def plan(one: Standing) -> list[ForgeAction]:
    """What the rollback of the feature needs now."""
    rolling, id_ = one.rolling, one.feature.id
    if rolling is None:
        return []
    if rolling.status is Status.DONE:
        return [FinishRollback(id_)]
    if rolling.status is Status.CANCELLED:
        return [DropRollback(id_, f"its bead {rolling.bead} was cancelled")]
    if About.ROLLBACK in one.asked:
        return []
    if rolling.status in WAITING_FOR_AGENT and is_handed_back(rolling.held):
        title = f"Feature {id_} ({one.feature.title}) was not rolled back: the commit that does it was not merged"
        return [asking(id_, rolling.bead, title, str(rolling.held))]
    return [TakeBack(id_)] if _waits(one, rolling) else []


def _waits(one: Standing, rolling: Rolling) -> bool:
    """Whether its candidate is to be built: it was not yet, or main went on and it does not fit any more."""
    if rolling.held not in (None, HELD.format(feature=one.feature.id)):
        return False  # a person has it
    return rolling.status in WAITING_FOR_AGENT or (rolling.status is Status.ESCALATED and rolling.conflicts)


def asking(feature: str, bead: str, title: str, detail: str) -> Ask:
    """What a person is asked where it cannot be done as it is."""
    form = made(
        "radio",
        (
            f"{AGAIN}: the commit is made anew on main as it is then",
            f"{LEAVE}: what was merged stays on main, and what was given up can be reopened",
        ),
        [AGAIN],
        priority=1,
    )
    more = (
        f"Nothing of it was taken off main. To do it yourself: `nobrakes take {bead}`, then `nobrakes hand-in {bead}`."
    )
    return Ask(feature, About.ROLLBACK, title[:480], f"{detail}\n{more}", as_values(form), holds=False)


def unfinished(feature: str, bead: str, title: str, detail: str) -> Ask:
    """What a person is told where its bead is done, and what that came to cannot be found out. It is tried again by
    itself, and the question is settled by that.
    """
    more = f"Bead {bead} is done; which merges of feature {feature} it took off main is not known yet."
    return Ask(feature, About.ROLLBACK, title[:480], f"{detail}\n{more}", holds=False)
