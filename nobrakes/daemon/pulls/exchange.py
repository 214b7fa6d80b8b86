"""One exchange with a code host about one request: pushed, found or opened, looked at. It runs beside the loop.

1. Whatever it does it may do again: a request that is there is found by its mark, a branch that is pushed stays.
2. A request is opened only after none was found. When opening fails it is looked for, and tried once more.
3. It touches git's refs at the remote, the host, and nothing else: what came of it is written down by the loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...core.errors import HostRefused, HostUnavailable
from ...core.pulls.life import failed, running
from ...core.pulls.pull import PullState, Seen, Told
from ...ports.codehosts import PullPorts, Wanted
from ...ports.git import Land, Landing

MOST_LOGS = 5


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted. `ours`: the commits that we pushed to the branch, `head` among them; `now`: those of them that
    were pushed since the last request was merged. `number` 0: not known.

    `text`: the digest of `wanted`; `has_text`: the digest of what the host has, as far as it is known.
    """

    head: str
    ours: frozenset[str]
    now: frozenset[str]
    wanted: Wanted
    text: str
    has_text: str = ""
    number: int = 0
    was: int = 0  # that of one which people closed


def exchange(order: Order, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    """Bring the request to what is wanted, as far as that goes, and say how it is."""
    return _asked(ports, lambda: _exchanged(order, ports, catch_up))


def look(number: int, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    """How the request is, without a change; where it is merged, with the base as it is now."""

    def looked() -> Seen:
        told = ports.host.look(number)
        heard = catch_up() if told.state is PullState.MERGED else Land(Landing.MOVED)
        return Seen(told, trouble="" if heard.landing is Landing.MOVED else heard.reason, wait=heard.wait)

    return _asked(ports, looked)


def _asked(ports: PullPorts, ask: Callable[[], Seen]) -> Seen:
    """What came of it, trouble of the host included."""
    try:
        ports.host.ready()
        return ask()
    except HostUnavailable as error:
        return Seen(trouble=str(error), wait=error.wait, needs_person=error.needs_person, paced=error.paced)
    except HostRefused as error:
        return Seen(trouble=str(error), needs_person=True)


def _exchanged(order: Order, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    host = ports.host
    told = host.look(order.number) if order.number else _found(order, ports)
    if told is not None and told.state is PullState.CLOSED:
        return Seen(told)
    if not host.tells or (told is not None and (told.conflicts or told.state is PullState.MERGED)):
        heard = catch_up()
        if heard.landing is not Landing.MOVED:
            return Seen(told if host.tells else None, trouble=heard.reason, wait=heard.wait)
    if told is not None and told.state is PullState.MERGED:
        return Seen(told)
    if told is None or told.head != order.head:
        pushed = ports.publish(order.wanted.branch, order.head, order.ours)
        if pushed.landing is Landing.BLOCKED:
            return Seen(told, trouble=pushed.reason, wait=pushed.wait, needs_person=not pushed.patience)
        if pushed.landing is Landing.LOST and (told is None or told.head in order.ours):
            return Seen(None, trouble=pushed.reason, needs_person=True)
        if pushed.landing is Landing.MOVED and told is not None:
            told = replace(told, head=order.head, conflicts=False)
    if told is None:
        told = _opened(order, ports)
        return Seen(_merges_itself(order, ports, replace(told, head=told.head or order.head)), text=order.text)
    if told.base not in ("", order.wanted.base):  # after the push: nothing unproven is ever for the new base
        host.retarget(told.number, order.wanted.base)
        told = replace(told, base=order.wanted.base, conflicts=False)
    if not order.number:  # who opened it did not hear of it, and may not have given it its labels
        _dress(ports, told, order.wanted)
    has = told.title, told.body.rstrip()
    is_new = order.has_text != order.text and told.head == order.head
    if host.tells and is_new and has != (order.wanted.title, order.wanted.body.rstrip()):
        host.rewrite(told.number, order.wanted)
    return _looked(order, ports, _merges_itself(order, ports, told))


def _merges_itself(order: Order, ports: PullPorts, told: Told) -> Told:
    """The request, which the host merges by itself where that is wanted. That it does not holds nothing up."""
    if told.auto_merge or not order.wanted.auto_merge or told.head != order.head:
        return told
    try:
        ports.host.auto_merge(told.number, order.head)
    except HostRefused:
        return told
    return replace(told, auto_merge=True)


def _looked(order: Order, ports: PullPorts, told: Told) -> Seen:
    """The request with its checks and reviews."""
    host = ports.host
    checks = host.checks(order.head) if told.head == order.head else ()
    red = () if running(checks) else failed(checks)[:MOST_LOGS]  # nobody is told of them before the others have ended
    logs = [(check.name, host.log(check)) for check in red]
    return Seen(told, checks, logs, host.remarks(told.number), text=order.text)


def _found(order: Order, ports: PullPorts) -> Told | None:
    """The request that goes on: open at a commit that we pushed, or merged at one that was pushed for it; what was
    merged before is another one, though it has the same mark.
    """
    if order.was and (told := ports.host.look(order.was)).state is not PullState.CLOSED:
        return told  # people opened it again, whatever they pushed to it and wrote about it
    commits = {PullState.MERGED: order.now, PullState.CLOSED: frozenset[str]()}
    for told in ports.host.find(order.wanted.branch, order.wanted.mark):
        if told.head in commits.get(told.state, order.ours):
            return ports.host.look(told.number)
    return None


def _opened(order: Order, ports: PullPorts) -> Told:
    """Open it; where that fails, look for it, and try once more."""
    host = ports.host
    try:
        told = host.open(order.wanted)
    except (HostUnavailable, HostRefused) as error:
        if isinstance(error, HostUnavailable) and error.needs_person:
            raise
        found = _found(order, ports)
        told = found if found is not None else host.open(order.wanted)
    _dress(ports, told, order.wanted)
    return told


def _dress(ports: PullPorts, told: Told, wanted: Wanted) -> None:
    """Labels and reviewers are no reason to hold a request up that is there."""
    if told.number:
        try:
            ports.host.dress(told.number, wanted)
        except HostRefused:
            return
