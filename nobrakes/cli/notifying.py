"""`nobrakes notify …`: the channels tried out and looked at, and the secrets that they need."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from ..core.errors import ChannelFailed, NotAllowed
from ..core.public.values import plain
from ..wording.text import age, count, cut, one_line, pad
from .output import Output, said
from .repository import looked_at, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..core.notices.notice import Delivery
    from ..operations.notices import ChannelView, NotifyView

LISTED = 12
"""Deliveries below the channels."""


def test(
    channel: Annotated[str | None, Argument(metavar="CHANNEL", help="One channel alone; nothing: each.")] = None,
) -> Output:
    """Send a test notice through each channel now, and say what came of it.

    Ends with an error when a channel did not take it.

    Example: nobrakes notify test phone
    """
    from ..operations import notices

    with opened() as app:
        found = notices.try_out(app.config.notify, app.paths, channel, app.store.now())
    failed = [one.channel for one in found if one.error]

    def text(screen: Screen) -> str:
        rows = [f"{one.channel}: {one_line(one.error) if one.error else 'took it'}" for one in found]
        return "\n".join(screen.paint(row, "red") if one.error else row for one, row in zip(found, rows, strict=True))

    data = {"channels": [{"channel": one.channel, "sent": not one.error, "error": one.error} for one in found]}
    wrong = ChannelFailed(f"{count(len(failed), 'channel')} did not take the test notice: {', '.join(failed)}")
    return Output(data, text, wrong if failed else None)


def show() -> Output:
    """The channels: what waits and until when, what was sent last, and what failed."""
    from ..operations import notices

    with looked_at() as app:
        found = notices.view(app.store, app.config.notify)
    return Output(plain(found), lambda screen: "\n".join(_page(found, screen)))


def _page(found: "NotifyView", screen: Screen) -> list[str]:
    if not found.channels:
        return ["no channel is set: write a table [notify.channels.NAME] into .nobrakes/config.toml"]
    lines = [line for channel in found.channels for line in _channel(channel, found.now, screen)]
    if found.deliveries:
        lines += ["", screen.paint("deliveries, newest first", "bold")]
        lines += [cut(_row(one, found.now), screen.width) for one in found.deliveries[:LISTED]]
    return lines


def _channel(one: "ChannelView", now: float, screen: Screen) -> list[str]:
    takes = "everything" if "*" in one.kinds else ", ".join(one.kinds)
    least = "" if one.severity == "info" else f", from {one.severity} on"
    lines = [f"{screen.paint(one.name, 'bold')} ({one.type}): {takes}{least}"]
    if one.trouble:
        lines.append(screen.paint(f"  cannot work: {one_line(one.trouble)}", "red"))
    if one.waiting:
        when = f", the first one for {age(one.next_at - now)}" if one.next_at is not None and one.next_at > now else ""
        lines.append(f"  {count(one.waiting, 'message')} waiting{when}")
    if one.last is not None:
        error = f": {one_line(one.last.error)}" if one.last.error else ""
        lines.append(f"  last: {one.last.state.value} {age(now - (one.last.ended_at or now))} ago{error}")
    return lines


def _row(one: "Delivery", now: float) -> str:
    when = f"in {age(one.due_at - now)}" if one.ended_at is None and one.due_at > now else "now"
    if one.ended_at is not None:
        when = f"{age(now - one.ended_at)} ago"
    tries = f", {one.tries} tries" if one.tries > 1 else ""
    error = f" ({one_line(one.error)})" if one.error and one.state.value != "sent" else ""
    return f"{pad(one.channel, 12)} {pad(one.state.value, 9)} {pad(when, 10)} {one_line(one.notice.text)}{tries}{error}"


def secret(
    name: Annotated[str, Argument(metavar="NAME", help="What `secret` of a channel says.")],
) -> Output:
    """Take an address or a token in, from stdin or typed unseen, and keep it in a file of your own.

    The file lies in your folder of settings, outside of every repository, and nobody else may read it.

    Example: nobrakes notify secret phone
    """
    from ..operations import notices

    path = notices.keep_secret(name, _asked(name))
    return said({"name": name, "path": path}, f"the secret {one_line(name)} is kept in {path}")


def _asked(name: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.read(100_000)
    from getpass import getpass

    try:
        return getpass(f"the secret {one_line(name)}: ")
    except EOFError:
        raise NotAllowed("no secret was given", "Type it, or give it on stdin.") from None
