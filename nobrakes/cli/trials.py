"""What `doctor --agents` prints: a row for each CLI, a column for each check, and below it what failed."""

from typing import TYPE_CHECKING

from ..abilities import CHECKS
from ..conformance.suite import NOT_SO_FAR
from ..wording.text import one_line
from .screen import Screen

if TYPE_CHECKING:
    from ..conformance.suite import Check
    from ..conformance.trial import Report, Tried

_WIDTH = 8


def text(report: "Report", screen: Screen) -> str:
    """The table."""
    out = [f"{'agent':<{_WIDTH}} {'version':<14}" + "".join(f"{name:<{_WIDTH}}" for name in CHECKS)]
    for one in report.agents:
        out.append(_row(one, screen).rstrip())
    for one in report.agents:
        if one.command and one.program is not None:
            whose = "the command is" if one.named else "no command is set for it; it was tried with"
            out.append(f"{one.agent}: {whose} {one_line(' '.join(one.command))}; it is guarded as far as it asks")
        elif one.program is not None and not one.known:
            shown = one_line(one.version) or "its version is not told"
            out.append(f"{one.agent}: nobrakes was not tested with it ({shown}); it is used as far as this holds")
        said = [c for c in one.checks if not c.passed and c.detail and c.detail != NOT_SO_FAR]
        out += [f"{one.agent}: {c.name}: {one_line(c.detail)}" for c in said]
    return "\n".join([*out, f"tried with a scripted model: no key, no token, {report.network}"])


def _row(one: "Tried", screen: Screen) -> str:
    begin = f"{one.agent:<{_WIDTH}} "
    if one.program is None:
        return f"{begin}missing: not installed, so not tried"
    return begin + f"{one_line(one.version)[:13] or '?':<14}" + "".join(_cell(check, screen) for check in one.checks)


def _cell(check: "Check", screen: Screen) -> str:
    word, style = {True: ("ok", "green"), False: ("FAILED", "red"), None: ("-", "")}[check.passed]
    return screen.paint(f"{word:<{_WIDTH}}", style)
