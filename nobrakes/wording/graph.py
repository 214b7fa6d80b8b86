"""The graph in words, the same on every surface: what a change would do, what is not drawn, what goes in a circle.

What is given is said in one sentence each; ids and titles are data, on one line.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from ..core.beads.bead import Dependency, DependencyType
from ..core.graph.what_if import Change, Consequences
from .text import age, count, cut, one_line

NAMED = 8
"""So many beads of a list are named; all are counted."""
TITLE = 60


def work(minutes: int) -> str:
    """An amount of work: 45 min, 2 h 30; days have 24 hours here, as the chain has no nights."""
    return age(minutes * 60) if minutes < 48 * 60 else f"{minutes // 60} h"


def asked(bead: str, title: str, change: Change, hours: float) -> str:
    """The question, as the beginning of a sentence."""
    named = f"{bead} ({cut(one_line(title), TITLE)})"
    if change is Change.DELAYED:
        return f"If {named} begins {work(round(hours * 60))} later"
    return f"If {named} is {'answered' if change is Change.ANSWERED else 'done'}"


def answered(change: Change, then: Consequences, titles: Mapping[str, str], is_live: bool) -> list[str]:
    """What the change brings about, a sentence each, what matters most first."""
    if not is_live:
        return ["Nothing changes: it is closed already.", *_around(then)]
    out = []
    if then.completed:
        out.append(f"{count(len(then.completed), 'epic')} complete: {_names(then.completed, titles)}.")
    if change is not Change.DELAYED:
        ready = f"{_become(len(then.ready))} ready: {_names(then.ready, titles)}."
        out.append(ready if then.ready else "No other bead becomes ready by it.")
    out.append(_end(change, then))
    if then.later:
        named = [f"{one.bead} by {work(one.minutes)}" for one in then.later[:NAMED]]
        out.append(f"{count(len(then.later), 'bead')} can begin later: {_listed(named, len(then.later))}.")
    out += [_slack(then), *_around(then)]
    if then.unestimated:
        usual = count(then.usual, "minute")
        out.append(f"{count(then.unestimated, 'bead')} without an estimate: each counts as {usual}.")
    return out


def _become(number: int) -> str:
    return f"{count(number, 'bead')} {'becomes' if number == 1 else 'become'}"


def _end(change: Change, then: Consequences) -> str:
    moved = then.end_after - then.end_before
    if not moved:
        return f"The end stays where it is: the longest chain of work is {work(then.end_before)}."
    way = f"{work(abs(moved))} {'later' if moved > 0 else 'sooner'}"
    return (
        f"The end moves: the longest chain of work goes from {work(then.end_before)} to {work(then.end_after)}, {way}."
    )


def _slack(then: Consequences) -> str:
    if not then.slack:
        return "It is on the critical path: every hour that it waits moves the end by an hour."
    return f"It may wait {work(then.slack)} before the end moves."


def _around(then: Consequences) -> list[str]:
    frees, needs = len(then.frees), len(then.needs)
    waits = "Nothing waits" if not frees else f"{count(frees, 'bead')} {'waits' if frees == 1 else 'wait'}"
    return [f"{waits} for it, and it waits for {count(needs, 'bead') if needs else 'nothing'}, at any depth."]


def _names(beads: Iterable[str], titles: Mapping[str, str]) -> str:
    some = list(beads)
    return _listed(
        [f"{one} ({cut(titles[one], TITLE)})" if titles.get(one) else one for one in some[:NAMED]], len(some)
    )


def _listed(named: Iterable[str], of: int) -> str:
    shown = list(islice(named, NAMED))
    more = f" and {of - len(shown)} more" if of > len(shown) else ""
    return ", ".join(shown) + more


def too_many(beads: int, most: int) -> str:
    """Why epics are shown, and how single beads are."""
    return (
        f"{beads} beads are too many to draw one by one, so these are the epics. Choose an epic, search, or leave "
        f"closed beads out, until at most {most} are left."
    )


def circle(members: Iterable[str], cut_: Dependency, stuck: int) -> str:
    """Beads that wait for each other, and what to take away."""
    shown = list(members)
    verb = "waits for" if cut_.type is DependencyType.BLOCKS else "is a child of"
    return (
        f"{_listed(shown, len(shown))} wait for each other in a circle, and {count(stuck, 'bead')} can never start. "
        f"Take away that {cut_.bead} {verb} {cut_.needs}."
    )
