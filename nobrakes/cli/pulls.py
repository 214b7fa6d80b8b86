"""Pull requests: which there are, one of them, its page, and a look at all of them now."""

from typing import Annotated

from typer import Argument, Option

from ..core.public.values import plain
from ..wording.text import age, one_line
from .beadtext import request_text
from .output import Output, said
from .repository import actor, looked_at, opened
from .screen import Screen, table

Bead = Annotated[str, Argument(metavar="BEAD", help="The bead.")]


def show_all(
    everything: Annotated[bool, Option("--all", help="Those that are merged or closed too.")] = False,
) -> Output:
    """The pull requests that wait for people, the oldest first.

    Example: nobrakes pr list --all
    """
    from ..operations import pulls as operations

    with looked_at() as app:
        found, unsaid = operations.listed(app.store, everything), operations.unsaid(app.store, app.config)
        now = app.store.now()
    words = [f"{bead.id} has passed and is not pushed before you say: nobrakes pr open {bead.id}" for bead in unsaid]

    def text(screen: Screen) -> str:
        rows = [
            (one.name, one.state, one.bead, one_line(one.title), age(now - one.opened_at), one.url) for one in found
        ]
        titles = ("REQUEST", "STATE", "BEAD", "TITLE", "OPENED", "ADDRESS")
        shown = table(titles, rows, screen) or ("" if words else "no pull request waits for people")
        return "\n".join(filter(None, [shown, *words]))

    return Output(plain(found), text)


def show(bead: Bead) -> Output:
    """A bead's pull request: where it is, what it waits for, and what was proven.

    Example: nobrakes pr show shop-3
    """
    from ..operations import pulls as operations

    with looked_at() as app:
        found = operations.one(app.store, bead)
        now = app.store.now()
    looked = f"looked at {age(now - found.looked_at)} ago" if found.looked_at else "nobody looked at it yet"
    lines = [
        f"{found.name}  {one_line(found.title)}  ({found.state.value})",
        one_line(found.url),
        *request_text(plain(found), ""),
        f"branch {found.branch} at {found.head[:12]}, proven on {found.base[:12]}; {looked}",
        f"for the branch {found.into}" if found.into else "",
        f"merged as {found.merged_as[:12]}" if found.merged_as else "",
        f"stacks on the pull request of {found.onto}, and is for its branch until that is merged" if found.onto else "",
    ]
    return said(plain(found), "\n".join(line for line in lines if line))


def view(bead: Bead) -> Output:
    """Show a bead's pull request in the browser; where it waits for your word, let it be pushed and opened.

    Example: nobrakes pr open shop-3
    """
    from ..host.browser import open_address
    from ..operations import pulls as operations
    from ..operations.daemons import running

    with opened() as app:
        app.store.bead(bead)
        if operations.may_open(app.store, app.config, app.paths, bead, actor()):
            when = "now" if running(app.paths) is not None else "by the next `nobrakes run`"
            return said({"bead": bead, "url": ""}, f"{bead} is pushed, and its pull request opened, {when}")
        address = operations.address(app.store, bead)
    open_address(address)
    return said({"bead": bead, "url": address}, one_line(address))


def sync() -> Output:
    """Look at all pull requests that wait now, and not when they are due.

    Example: nobrakes pr sync
    """
    from ..operations import pulls as operations
    from ..operations.daemons import running

    with opened() as app:
        count = operations.sync(app.store, app.config, app.paths)
        works = running(app.paths) is not None
    told = f"{count} pull request{'' if count == 1 else 's'} will be looked at"
    return said({"waiting": count}, f"{told} now" if works else f"{told} by the next `nobrakes run`")
