"""Pull requests, as people ask for them: what there is, one of them, and a look at all of them now."""

from typing import TYPE_CHECKING

from ..core.beads.bead import Bead
from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed
from ..core.pulls.pull import ASKED, push_approval
from ..core.pulls.shown import RequestView, view
from ..core.review.journal import Journal, Step
from ..roles.delivery import delivery_of
from .waking import wake

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..core.beads.attempt import Attempt
    from ..paths import Paths
    from ..ports.store import Store


def listed(store: "Store", everything: bool = False) -> list[RequestView]:
    """Those that wait, or with `everything` the newest of each bead; oldest first."""
    return [view(one) for one in store.pulls(waiting=not everything)]


def one(store: "Store", bead: str) -> RequestView:
    """The bead's; NoSuchBead, NotAllowed: it has none."""
    store.bead(bead)
    found = store.pull(bead)
    if found is None and _unopened(store, _review(store, bead)) is not None:
        why = f"{bead} has passed and has no pull request yet"
        raise NotAllowed(why, f"`nobrakes status` says what it waits for; if for your word: `nobrakes pr open {bead}`.")
    if found is None:
        raise NotAllowed(f"{bead} has no pull request", "`nobrakes pr list --all` shows those that there are.")
    return view(found)


def unsaid(store: "Store", config: "Config") -> list[Bead]:
    """The beads whose work has passed, and is pushed when a person says so."""
    reviews = store.reviewing() if config.review.by_request else []
    found = ((store.bead(one.bead), one) for one in reviews)
    return [bead for bead, one in found if _waits_for_word(store, config, bead, _unopened(store, one))]


def _waits_for_word(store: "Store", config: "Config", bead: Bead, head: str | None) -> bool:
    """Whether what has passed is not pushed before a person says so, and nobody did of this head."""
    asks = not delivery_of(store, config, bead).push
    return asks and head is not None and store.setting(push_approval(bead.id)) != head


def _unopened(store: "Store", review: "Attempt | None") -> str | None:
    """The head of the work under review that has passed and is in no open request; None: there is none."""
    found = store.pull(review.bead) if review is not None else None
    if review is None or (found is not None and found.waits):
        return None
    journal = Journal.of(review.data)
    return journal.head if journal.step is Step.PULL_REQUEST else None


def _review(store: "Store", bead: str) -> "Attempt | None":
    """The bead's open review."""
    return next((one for one in store.reviewing() if one.bead == bead), None)


def address(store: "Store", bead: str) -> str:
    """Where the bead's request is to be seen; NotAllowed: no host tells."""
    found = one(store, bead)
    if not found.page:
        raise NotAllowed(f"the request of {bead} has no page: it is the branch {found.branch}", "Look for it there.")
    return found.page


def may_open(store: "Store", config: "Config", paths: "Paths | None", bead: str, actor: str) -> bool:
    """Let the work of the bead be pushed that waits for a person's word; False: none does, and nothing was written."""
    review = _review(store, bead)
    head = _unopened(store, review)
    if review is None or head is None or not _waits_for_word(store, config, store.bead(bead), head):
        return False
    said = {"head": head, "branch": delivery_of(store, config, store.bead(bead)).branch}
    with store.together():
        store.record(Event(Kind.PUSH_ALLOWED, bead, review.id, actor, said))
        store.set_setting(push_approval(bead), head)
        store.set_setting(ASKED, repr(store.now()))
    if paths is not None:
        wake(paths)
    return True


def sync(store: "Store", config: "Config", paths: "Paths") -> int:
    """Have all requests that wait looked at now; how many these are. NotAllowed: work does not land by them."""
    if not config.review.by_request:
        why = f'work lands in another way: review.land = "{config.review.land}"'
        raise NotAllowed(why, "`nobrakes config set review.land pull_request` has each bead become a pull request.")
    store.set_setting(ASKED, repr(store.now()))
    wake(paths)
    return len(store.pulls())
