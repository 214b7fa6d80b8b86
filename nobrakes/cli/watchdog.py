"""The watchdog from the command line: put in place, taken away, and one look of it."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.public.values import plain
from ..environ import process_environment
from ..wording.text import one_line
from ..wording.times import spoken
from .output import Output, said
from .repository import UserPlace, opened_or_home

if TYPE_CHECKING:
    from ..app import App
    from ..operations.watchdog_units import Plan

Yes = Annotated[bool, Option("--yes", help="Do it. Without it, nothing is changed: it is only shown.")]


def install(yes: Yes = False, user: UserPlace = False) -> Output:
    """Have a daemon that died started again, also after the machine was restarted: by a timer of systemd, without root.

    Shown first: without --yes nothing is written. The timer looks once a minute. A daemon that you stopped or paused
    is never started; while the network or the provider does not answer it waits 1, 2, 4, 8 … 30 minutes.

    Example: nobrakes daemon install --yes
    """
    from ..operations import watchdog_units as units

    with opened_or_home(user) as app:
        wanted = _plan(app, user)
        data = {**plain(wanted), "done": yes}
        if yes:
            units.install(wanted)
    if yes:
        done = [f"the watchdog looks once a minute ({wanted.name}.timer); written are:", *map(one_line, wanted.files)]
        return said(data, "\n".join([*done, *_notes(wanted)]))
    out = ["nothing is written yet; with --yes these files are:"]
    for path, text in wanted.files.items():
        out += ["", f"{one_line(path)}", *(f"    {line}" for line in text.splitlines())]
    out += ["", "and then:", *(f"    systemctl --user {' '.join(words)}" for words in wanted.commands), ""]
    return said(data, "\n".join([*out, *_notes(wanted), "`nobrakes daemon install --yes` does it"]))


def uninstall(yes: Yes = False, user: UserPlace = False) -> Output:
    """Take the watchdog of this repository away again. A daemon that works goes on.

    Shown first: without --yes nothing is changed.
    """
    from ..operations import watchdog_units as units

    with opened_or_home(user) as app:
        wanted = _plan(app, user)
        gone = units.uninstall(wanted) if yes else ()
        is_there = units.installed(wanted)
    data = {"name": wanted.name, "files": list(wanted.files), "done": yes, "installed": is_there}
    if yes:
        return said(data, "\n".join(["the watchdog looks no more; gone are:", *map(one_line, gone)]))
    if not is_there:
        return said(data, "no watchdog is installed for this repository")
    what = ["nothing is changed yet; with --yes its timer is stopped, and these files go:"]
    return said(data, "\n".join([*what, *map(one_line, wanted.files), "`nobrakes daemon uninstall --yes` does it"]))


def watch(user: UserPlace = False) -> Output:
    """One look of the watchdog: a daemon that is wanted and gone is started, if the network and a provider answer.

    A timer or cron calls it (`nobrakes daemon install`). It says what it found, and ends.
    """
    from ..app import hindrances
    from ..operations import watchdog

    with opened_or_home(user) as app:

        def require() -> None:
            if not user:
                hindrances(app).require(app.store.now())

        found = watchdog.look(app.store, app.paths, app.config, process_environment(), require)
    out = [found.said, *(f"  {one_line(what)}" for what in found.down)]
    out += [f"  the next look that asks is after {spoken(found.until)}"] if found.until else []
    return said(plain(found), "\n".join(out))


def _plan(app: "App", user: bool) -> "Plan":
    from ..operations import watchdog, watchdog_units

    return watchdog_units.plan(app.paths.root, process_environment(), watchdog.keys(app.config), user)


def _notes(wanted: "Plan") -> list[str]:
    out = []
    if wanted.not_written:
        names = ", ".join(wanted.not_written)
        out += [
            f"not written down, since it is secret: {names}",
            "  a daemon that the timer starts has it only from a file of yours in ~/.config/environment.d",
        ]
    if not wanted.lingers:
        out += [
            "your account's timers run only while you are logged in, since lingering is off",
            "  `loginctl enable-linger` lets them run from the start of the machine on, and after you have logged out:",
            "  all services of your account then go on without you; `loginctl disable-linger` ends that",
        ]
    return out
