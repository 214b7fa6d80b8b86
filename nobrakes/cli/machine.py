"""Above one repository: the repositories of this person, and the limits that they share."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from ..wording.times import spoken
from .output import Output, said
from .screen import Screen, table

if TYPE_CHECKING:
    from ..operations.machine_wide.views import MachineView

NOT_KNOWN = "a repository that is known no more"


def machine_lines(found: "MachineView | None", screen: Screen) -> list[str]:
    """What is limited for all repositories together, and used of it, a line each."""
    if found is None:
        return []
    out = []
    if found.trouble:
        why = f"machine: limits cannot be read, so no agent starts: {found.trouble}. {found.mend}"
        out.append(screen.paint(one_line(why), "red"))
    for name, spent, limit in (
        ("agents", found.taken, found.agents),
        ("usd_per_day", found.usd, found.usd_per_day),
        ("tokens_per_day", found.tokens, found.tokens_per_day),
    ):
        if limit is None:
            continue
        used = (
            f"limit {limit:.6g}, and what is used of it is not known"
            if found.trouble
            else f"{spent:.6g} of {limit:.6g}"
        )
        out.append(f"machine.{name}: {used}, all repositories together")
    return out


def machine(
    words: Annotated[
        list[str] | None,
        Argument(metavar="WORDS", help="`set agents=3 usd_per_day=20`; nothing: show them."),
    ] = None,
) -> Output:
    """The limits that all repositories of this machine share, what is used of them, and by whom.

    `set NAME=VALUE …` changes them in your own settings: agents (at once), usd_per_day, tokens_per_day. The word
    `default` takes one out. Days begin at 00:00 UTC. Without any, each repository has its own limits only.

    Example: nobrakes machine set agents=3 usd_per_day=20
    """
    from ..operations.machine_wide import views

    match words or []:
        case []:
            found = views.view()
        case ["set", *pairs] if pairs:
            found = views.set_limits(dict(_pair(word) for word in pairs))
        case other:
            given = one_line(" ".join(other))[:40]
            hint = "For example: nobrakes machine set agents=3 usd_per_day=20"
            raise UsageError(f"'{given}' is nothing that machine can do", hint)
    return Output(plain(found), lambda screen: _machine(found, screen))


def _pair(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign:
        raise UsageError(f"'{one_line(word)[:40]}' is no NAME=VALUE", "For example: nobrakes machine set agents=3")
    return name, value


def _machine(found: "MachineView", screen: Screen) -> str:
    limits = machine_lines(found, screen) or ["nothing is limited for all repositories together"]
    rows = [(one.path or NOT_KNOWN, str(one.agents), f"{one.usd:.6g}", str(one.tokens)) for one in found.repositories]
    shares = ["", table(("REPOSITORY", "AGENTS", "USD TODAY", "TOKENS TODAY"), rows, screen)] if rows else []
    return "\n".join([*limits, *shares, f"the day ends at {spoken(found.day_ends_at)}"])


def repositories(
    words: Annotated[
        list[str] | None,
        Argument(metavar="WORDS", help="`forget PATH`; nothing: list them."),
    ] = None,
) -> Output:
    """The repositories in which you set nobrakes up or let it work: where they are, and what waits for you there.

    `forget PATH` takes one off the list; nothing in it is touched, and it comes back when nobrakes works there again.

    Example: nobrakes repositories forget ~/old/project
    """
    from ..operations.machine_wide import registry

    match words or []:
        case []:
            found = registry.repositories()
        case ["forget", path]:
            whole = registry.forget(path)
            return said({"path": whole}, f"{one_line(whole)} is known no more; nothing in it was touched")
        case other:
            given = one_line(" ".join(other))[:40]
            hint = "For example: nobrakes repositories forget PATH"
            raise UsageError(f"'{given}' is nothing that repositories can do", hint)

    def text(screen: Screen) -> str:
        rows = [
            (one.path, one.state, "?" if one.escalations is None else str(one.escalations), spoken(one.seen_at))
            for one in found
        ]
        listed = table(("REPOSITORY", "STATE", "ESCALATIONS", "SEEN"), rows, screen)
        return listed or "no repository is known yet: `nobrakes init` in one makes it known"

    return Output(plain(found), text)
