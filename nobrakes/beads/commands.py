"""Commands on single beads, for the command line and for pages alike."""

from collections.abc import Callable, Mapping
from datetime import datetime
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Annotated, Any

from ..command_table import NOTE, TEXT, WORD, CommandFunction, Field
from ..errors import UsageError
from ..text.cleaning import count, minutes_of, one_line, spoken
from .model import CONTENT, FIRST, Bead, Dependency, DependencyType, Retried, kind_of, parse_type
from .service import bead_commands
from .service.bead_commands import known

if TYPE_CHECKING:
    from ..app import App
    from ..review.service.send_back import SentBack

Id = Annotated[str, Field("The bead's id.", metavar="BEAD")]
Reason = Annotated[str, Field("The reason, for later readers.", ("--reason", "-m"), most=NOTE)]
Title = Annotated[str, Field("The task, in one line.", most=NOTE)]


def _content(given: Mapping[str, Any]) -> dict[str, Any]:
    found = {name: FIRST[name] if value in ("", ("",)) else value for name, value in given.items() if value is not None}
    words = {name: read(given[name]) for name, read in _READ.items() if given.get(name)}
    return {name: value for name, value in found.items() if name not in _READ} | words


def _minutes(text: str) -> int:
    try:
        return int(text) if text.isascii() and text.isdigit() else int(minutes_of(text))
    except ValueError as error:
        raise UsageError(f"'{text[:40]}' {error}", "For example: 45m, 2h or 1h30m.") from None


_READ: Mapping[str, Callable[[str], Any]] = {"type": parse_type, "estimate": _minutes}
"""Readers of fields that people give as a word; an empty word changes nothing."""


def _option(name: str) -> Parameter:
    marks = Bead.__dataclass_fields__[name].metadata
    told = Field(marks["help"], marks["options"], most=TEXT if FIRST[name] in ("", ()) else WORD, **marks["more"])
    kind: Any = tuple[str, ...] if kind_of(name) is tuple else kind_of(name)
    default, kind = ("", str) if name in _READ else (None, kind | None)
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[kind, told])


def _with_fields(command: CommandFunction) -> CommandFunction:
    """The command with an option for each editable field of Bead, in place of its `**fields`."""
    whole = signature(command)
    own = [one for one in whole.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    first = [one for one in own if one.kind is not Parameter.KEYWORD_ONLY]
    options = [_option(name) for name in CONTENT if Bead.__dataclass_fields__[name].metadata["options"]]
    command.__signature__ = whole.replace(parameters=[*first, *options, *own[len(first) :]])  # type: ignore[attr-defined]
    return command


@_with_fields
def add(
    app: "App",
    by: str,
    title: Title,
    *,
    needs: Annotated[tuple[str, ...], Field("A bead to wait for.", ("--needs", "-n"), most=TEXT)] = (),
    id: Annotated[str, Field("The bead's id (default: nobrakes chooses one).", ("--id",))] = "",
    draft: Annotated[bool, Field("Add a draft, which waits for `nobrakes approve`.", ("--draft",))] = False,
    scaffolding: Annotated[bool, Field("The bead sets the project up: no tests.", ("--scaffolding",))] = False,
    **fields: Any,
) -> tuple[Bead, str]:
    """Add a bead. Agents may start on it immediately, unless you add --draft."""
    found = _content(fields)
    if scaffolding:
        found |= {"scaffolding": True, "needs_tests": found.get("needs_tests", False)}
    for other in needs:
        known(app.store, other)
    bead = bead_commands.add(
        app.store, title, id=id or None, needs=needs, draft=draft, actor=by, paths=app.paths, **found
    )
    return bead, f"{bead.id}  {one_line(bead.title)}  ({bead.status.value})"


@_with_fields
def edit(
    app: "App",
    by: str,
    bead: Id,
    title: Annotated[str | None, Field("The new title.", ("--title",), most=NOTE)] = None,
    **fields: Any,
) -> tuple[Bead, str]:
    """Change a bead. Options that you leave out change nothing; a new list replaces the old one."""
    if not (found := _content({"title": title, **fields})):
        raise UsageError("no change was given", "`nobrakes edit --help` lists what can be changed.")
    known(app.store, bead)
    before = app.store.bead(bead)
    changed = bead_commands.edit(app.store, bead, found, actor=by, paths=app.paths)
    others = ", ".join(name for name in sorted(found) if getattr(changed, name) != getattr(before, name))
    return changed, f"{changed.id}  {one_line(changed.title)}: {f'{others} changed' if others else 'unchanged'}"


Kind = Annotated[str, Field("The kind of dependency.", ("--type", "-t"), one_of=tuple(DependencyType))]
Needs = Annotated[str, Field("The bead that has to be done first.", metavar="NEEDS")]


def depend(app: "App", by: str, bead: Id, needs: Needs, type: Kind = "blocks") -> tuple[Dependency, str]:
    """Make BEAD wait until NEEDS is done. nobrakes refuses dependencies that form a circle, and names their beads."""
    made = _dependency(app, bead, needs, type)
    bead_commands.depend(app.store, bead, needs, made.type, actor=by, paths=app.paths)
    return made, f"{bead} waits for {needs}" if made.type is DependencyType.BLOCKS else f"{bead} {type} {needs}"


def undepend(app: "App", by: str, bead: Id, needs: Needs, type: Kind = "blocks") -> tuple[dict[str, Any], str]:
    """Remove the dependency of BEAD on NEEDS."""
    made = _dependency(app, bead, needs, type)
    there = bead_commands.undepend(app.store, bead, needs, made.type, actor=by, paths=app.paths)
    text = f"{bead} no longer waits for {needs}" if there else f"nothing changed: {bead} did not wait for {needs}"
    return {"bead": bead, "needs": needs, "type": made.type, "removed": there}, text


def _dependency(app: "App", bead: str, needs: str, kind: str) -> Dependency:
    try:
        made = Dependency(bead, needs, DependencyType(kind or "blocks"))
    except ValueError:
        allowed = ", ".join(one.value for one in DependencyType)
        raise UsageError(f"'{one_line(kind)[:40]}' is not a type of dependency", f"Use one of: {allowed}.") from None
    known(app.store, bead), known(app.store, needs)
    return made


def hold(app: "App", by: str, bead: Id, reason: Reason = "") -> tuple[Bead, str]:
    """Keep agents from starting on a bead until `nobrakes release`. A running agent continues."""
    return _decided(app, bead, "is held", bead_commands.hold, actor=by, reason=reason)


def release(app: "App", by: str, bead: Id) -> tuple[Bead, str]:
    """Release a held bead."""
    return _decided(app, bead, "is released", bead_commands.release, actor=by)


def cancel(app: "App", by: str, bead: Id, reason: Reason = "") -> tuple[Bead, str]:
    """Cancel a bead: no agent works on it again. Its work is archived; `nobrakes undo` restores the bead."""
    return _decided(app, bead, "is cancelled", bead_commands.cancel, actor=by, reason=reason)


def done(app: "App", by: str, bead: Id, reason: Reason = "") -> tuple[Bead, str]:
    """Mark a bead as done by hand, without a merge. Beads that waited for it can start."""
    return _decided(app, bead, "is done", bead_commands.done, actor=by, reason=reason)


def reopen(app: "App", by: str, bead: Id, reason: Reason = "") -> tuple[Bead, str]:
    """Reopen a done or cancelled bead."""
    return _decided(app, bead, "is open again", bead_commands.reopen, actor=by, reason=reason)


def _decided(app: "App", bead: str, word: str, decide: Any, **given: Any) -> tuple[Bead, str]:
    known(app.store, bead)
    found = decide(app.store, bead, paths=app.paths, **given)
    return found, f"{found.id} {word}  ({found.status.value})"


def moment(text: str, now: float) -> float:
    """Seconds since 1970 for `90m`, `8h`, `2d`, `1w` from now, or an ISO date or time. Raises UsageError."""
    units = {"m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
    word = text.strip().lower()
    number, unit = word[:-1], word[-1:]
    if unit in units and number.isascii() and number.isdigit() and len(number) <= 6:
        return now + int(number) * units[unit]
    try:
        return datetime.fromisoformat(text.strip()).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{text[:40]}' is not a time", "Write a span (90m, 8h, 2d, 1w), a date (2030-01-31) or 2030-01-31T09:00."
        ) from None


def defer(
    app: "App",
    by: str,
    bead: Id,
    until: Annotated[str, Field("90m, 8h, 2d, 2030-01-31, 2030-01-31T09:00; or `now` to end the wait.")],
) -> tuple[Bead, str]:
    """Keep agents from starting on a bead before a given time."""
    known(app.store, bead)
    when = None if until == "now" else moment(until, app.store.now())
    found = bead_commands.defer(app.store, bead, when, actor=by, paths=app.paths)
    return found, f"{bead} is deferred until {spoken(when)}" if when else f"{bead} can start now"


def retry(
    app: "App",
    by: str,
    bead: Id,
    note: Annotated[str, Field("A note for the next agent: what has changed.", ("--note", "-m"), most=NOTE)] = "",
    all: Annotated[bool, Field("Resolve all escalations that stop the bead, of every type.", ("--all",))] = False,
) -> tuple[Retried, str]:
    """Let agents try a bead again. This resolves the escalations that stop the bead, releases a hold, and sets its
    failure count and breakers to zero. For a done or cancelled bead use `reopen`."""
    from .service import taking

    known(app.store, bead)
    found = taking.retry(app.store, bead, by, note, all, app.paths)
    did = [f"escalation {number} is resolved" for number in found.resolved]
    did += [f"the bead's hold is released ({one_line(found.released)})"] if found.released is not None else []
    did += [f"{count(found.failures, 'failure')} of the bead no longer counted"] if found.failures else []
    did += [f"{count(found.breakers, 'breaker')} reset"] if found.breakers else []
    return found, "; ".join([f"{bead} is {found.bead.status.value} again", *did])


COMMENT = "FILE:LINE=TEXT"
Comments = Annotated[
    tuple[str, ...],
    Field("A comment on a line of the change; a removed line has a minus.", ("--comment",), COMMENT, NOTE, keyed=True),
]


def send_back(
    app: "App",
    by: str,
    bead: Id,
    note: Annotated[str, Field("What to change.", ("--note", "-m"), most=NOTE, reads_stdin=True)] = "",
    comment: Comments = (),
    at: Annotated[str, Field("The commit that you reviewed (default: the branch's last commit).", ("--at",))] = "",
    outdated: Annotated[bool, Field("Send the work back even if it changed after --at.", ("--outdated",))] = False,
) -> tuple["SentBack", str]:
    """Send work back to agents, with comments on its lines. The next prompt contains them. No failure is counted. This
    ends a review, also at an open pull request. A merged bead is reopened; its merge stays on main."""
    from ..review.service import send_back as service

    known(app.store, bead)
    if not comment and not note.strip():
        raise UsageError("no change was given", f"Give --note, or --comment {COMMENT}.")
    text, commit = note.strip(), ""
    if comment:
        view = service.seen(app.store, app.git, bead, at, outdated)
        comments = service.read(comment, [file.path for file in view.files])
        text, commit = service.text_of(app.git, view, comments, note), view.head
    found = service.send_back(app.store, bead, text, by, app.paths)
    with_ = f" with {count(len(comment), 'comment')}" if comment else ""
    return service.SentBack(found, text, commit), f"{bead} is sent back to agents{with_}  ({found.status.value})"
