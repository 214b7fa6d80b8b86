"""The Decision Desk: what waits for a person, the most urgent first."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.hindrances import Kind
from ..core.public.values import plain
from ..wording.text import cut, one_line
from .hindered import lines
from .output import Output, said
from .repository import UserPlace, actor, opened_or_home

if TYPE_CHECKING:
    from ..app import App
    from ..operations.hindrances.look import Hindrances

Number = Annotated[int, Argument(metavar="N", help="The escalation's number.")]


def escalations(
    all: Annotated[bool, Option("--all", help="The resolved ones too.")] = False,
    user: UserPlace = False,
) -> Output:
    """What waits for a decision: the urgent first, then that for which most beads wait."""
    from ..operations.decisions import page
    from ..operations.hindrances.look import NOTHING
    from .decision_page import listed

    with opened_or_home(user, is_reading=True) as app:
        found = page.listed(app.store, all=all)
        now = app.store.now()
        stands = NOTHING if found or user else _others(app)
    return Output(plain(found), lambda screen: "\n".join([listed(found, now, screen), *lines(stands, now, screen)]))


def _others(app: "App") -> "Hindrances":
    """What waits for a person though nothing has to be decided."""
    from ..app import hindrances
    from ..operations.hindrances.look import Hindrances

    stands = hindrances(app)
    waits = [one for one in stands.found if one.until is None and one.kind not in (Kind.QUARANTINED, Kind.CONFIG)]
    kinds = {one.kind for one in waits}
    return Hindrances(tuple(waits), tuple((kind, number) for kind, number in stands.more if kind in kinds))


def escalation(
    number: Number,
    all: Annotated[bool, Option("--all", help="Everything, however long it is.")] = False,
    user: UserPlace = False,
) -> Output:
    """One escalation: what happened, what you can do and what each costs, what was tried, and what it is about."""
    from ..operations.decisions import page
    from .decision_page import shown

    with opened_or_home(user, is_reading=True) as app:
        found = page.decision(app.store, app.paths, lambda: app.git, lambda: app.config, number, is_whole=all)
        now = app.store.now()
    return Output(plain(found), lambda screen: shown(found, now, screen, all))


def answer(
    number: Number,
    text: Annotated[
        str | None, Argument(help="The answer: an option's number or label, or a text; '-' reads it from stdin.")
    ] = None,
    recommended: Annotated[bool, Option("--recommended", help="What the agent recommends.")] = False,
    take_back: Annotated[bool, Option("--take-back", help="Take the answer back that no agent has read.")] = False,
    user: UserPlace = False,
) -> Output:
    """Answer a question. Its bead goes on, and the answer is in the next prompt.

    Of several options that may be chosen, give the numbers or labels with a comma between them.

    Example: nobrakes answer 4 "Use UTC everywhere"
    """
    from ..operations import desk

    if (text is not None) + recommended + take_back != 1:
        raise UsageError(
            f"say how to answer escalation {number}, in one way",
            f"Give the answer, --recommended or --take-back; `nobrakes escalation {number}` shows the question.",
        )
    with opened_or_home(user) as app:
        if take_back:
            found = desk.take_back(app.store, number, actor=actor(), paths=app.paths)
            done = "is open again: its answer was taken back"
        else:
            words = sys.stdin.read() if text == "-" else text or ""
            found = desk.answer(app.store, number, words, actor(), app.paths, recommended)
            taken = cut(one_line(found.answer or found.resolution), 200)
            done = f"is answered: {taken}" if found.form else "is answered"
        then = desk.then(app.store, found)
    return said(plain(found), f"escalation {number} {done}{then}")


def resolve(
    number: Number,
    approve: Annotated[
        bool, Option("--approve", help="The agent's plan, or the change of the checks, is good.")
    ] = False,
    add: Annotated[bool, Option("--add", help="Make a draft of what the agent suggests.")] = False,
    retry: Annotated[bool, Option("--retry", help="Let an agent try again, with a clean count.")] = False,
    cancel: Annotated[bool, Option("--cancel", help="Give the bead up.")] = False,
    done: Annotated[bool, Option("--done", help="The bead was done by hand.")] = False,
    dismiss: Annotated[bool, Option("--dismiss", help="Nothing is to be done about it.")] = False,
    note: Annotated[str, Option("--note", "-m", help="Why; the next attempt reads it.")] = "",
    user: UserPlace = False,
) -> Output:
    """Decide an escalation, in one way.

    Example: nobrakes resolve 4 --retry --note "The fixture was wrong, it is mended"
    """
    from ..operations import desk

    given = {"approve": approve, "add": add, "retry": retry, "cancel": cancel, "done": done, "dismiss": dismiss}
    chosen = [word for word, wanted in given.items() if wanted]
    if len(chosen) != 1:
        raise UsageError(
            "say how to resolve it, in one way", "Use one of --approve, --add, --retry, --cancel, --done, --dismiss."
        )
    with opened_or_home(user) as app:
        found = desk.resolve(app.store, number, chosen[0], note=note, actor=actor(), paths=app.paths)
        then = desk.then(app.store, found)
    if add:
        then = f": {found.resolution.partition(':')[0]}, a draft; `nobrakes commit-strategy` makes drafts live"
        return said(plain(found), f"escalation {number} is resolved{then}")
    return said(plain(found), f"escalation {number} is resolved: {chosen[0]}{then}")
