"""Commands on single beads: add, edit, dependencies, and what a person decides about one."""

from collections.abc import Callable
from typing import Annotated, Any

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from .output import Output, said
from .repository import BeadId, actor, known, opened, text_or_stdin

Reason = Annotated[str, Option("--reason", "-m", help="Why, for whoever reads it later.")]
Title = Annotated[str, Argument(help="One line: what is to be done.")]
Description = Annotated[str | None, Option("--description", "-d", help="The whole story; '-' reads stdin.")]
Acceptance = Annotated[list[str] | None, Option("--accept", help="When it is done; may be given again.")]
Priority = Annotated[int | None, Option("--priority", "-p", help="0 (first) to 4 (last); 2 if not given.")]
Type = Annotated[
    str | None, Option("--type", "-t", help="feature, fix, task, chore, docs, test, refactor, repair or epic.")
]
Labels = Annotated[list[str] | None, Option("--label", "-l", help="A label; may be given again; '' for none.")]
Epic = Annotated[str | None, Option("--epic", help="The epic that it belongs to; '' for none.")]


def _minutes(text: str) -> int:
    from ..operations.plan.values import minutes_of

    try:
        return int(text) if text.isascii() and text.isdigit() else int(minutes_of(text))
    except ValueError as error:
        raise UsageError(f"'{text[:40]}' {error}", "For example: --estimate 1h30m") from None


Estimate = Annotated[int | None, Option("--estimate", help="Minutes, or a text as 45m, 2h, 1h30m.", parser=_minutes)]
Touches = Annotated[list[str] | None, Option("--touches", help="A glob of files that it will change.")]
Tests = Annotated[bool | None, Option("--tests/--no-tests", help="Whether a Test Writer works first; yes.")]
Notes = Annotated[str | None, Option("--notes", help="Remarks for whoever works on it.")]
FieldOf = dict[str, Any]


def _fields(**given: Any) -> FieldOf:
    """The fields that were given, as the bead calls them."""
    found = {name: value for name, value in given.items() if value is not None}
    if "description" in found and found["description"] == "-":
        found["description"] = text_or_stdin("-", "description")
    if "type" in found:
        from ..core.beads.bead import parse_type

        found["type"] = parse_type(found["type"])
    for name in ("acceptance", "labels", "touches"):
        if name in found:
            found[name] = tuple(found[name])
    if found.get("labels") == ("",):
        found["labels"] = ()
    if found.get("epic") == "":
        found["epic"] = None
    return found


def add(
    title: Title,
    type: Type = None,
    description: Description = None,
    acceptance: Acceptance = None,
    priority: Priority = None,
    labels: Labels = None,
    epic: Epic = None,
    estimate: Estimate = None,
    needs_tests: Tests = None,
    touches: Touches = None,
    notes: Notes = None,
    needs: Annotated[list[str] | None, Option("--needs", "-n", help="A bead to wait for; may be repeated.")] = None,
    id: Annotated[str | None, Option("--id", help="Its id; made if not given.")] = None,
    draft: Annotated[bool, Option("--draft", help="Wait for `nobrakes commit-strategy`.")] = False,
    scaffolding: Annotated[bool, Option("--scaffolding", help="Sets the project up; needs no tests.")] = False,
) -> Output:
    """Add a bead. It is live at once, unless --draft.

    Example: nobrakes add "Parse the header" -p 1 --needs nb-1 --accept "bad headers raise BadHeader"
    """
    from ..operations import beads

    fields = _fields(
        type=type, description=description, acceptance=acceptance, priority=priority, labels=labels, epic=epic,
        estimate=estimate, needs_tests=needs_tests, touches=touches, notes=notes,
    )  # fmt: skip
    if scaffolding:
        fields |= {"scaffolding": True, "needs_tests": fields.get("needs_tests", False)}
    with opened() as app:
        for other in needs or ():
            known(app.store, other)
        bead = beads.add(
            app.store,
            title,
            id=id,
            needs=tuple(needs or ()),
            draft=draft,
            actor=actor(),
            paths=app.paths,
            **fields,
        )
    return said(plain(bead), f"{bead.id}  {one_line(bead.title)}  ({bead.status.value})")


def edit(
    bead: BeadId,
    title: Annotated[str | None, Option("--title", help="The new title.")] = None,
    type: Type = None,
    description: Description = None,
    acceptance: Acceptance = None,
    priority: Priority = None,
    labels: Labels = None,
    epic: Epic = None,
    estimate: Estimate = None,
    needs_tests: Tests = None,
    touches: Touches = None,
    notes: Notes = None,
) -> Output:
    """Change a bead. What is not given stays as it is; lists are replaced whole.

    Example: nobrakes edit nb-7 --priority 0 --title "Parse the header strictly"
    """
    from ..operations import beads

    fields = _fields(
        title=title, type=type, description=description, acceptance=acceptance, priority=priority, labels=labels,
        epic=epic, estimate=estimate, needs_tests=needs_tests, touches=touches, notes=notes,
    )  # fmt: skip
    if not fields:
        raise UsageError("nothing to change was given", "`nobrakes edit --help` lists what can be changed.")
    with opened() as app:
        known(app.store, bead)
        changed = beads.edit(app.store, bead, fields, actor=actor(), paths=app.paths)
    return said(plain(changed), f"{changed.id}  {one_line(changed.title)}: {', '.join(sorted(fields))} changed")


def _decided(bead: str, decide: Callable[..., Any], word: str, **arguments: Any) -> Output:
    with opened() as app:
        known(app.store, bead)
        now = decide(app.store, bead, actor=actor(), paths=app.paths, **arguments)
    return said(plain(now), f"{now.id} {word}  ({now.status.value})")


def hold(bead: BeadId, reason: Reason = "") -> Output:
    """Keep a bead from being worked on, until `nobrakes release`. What runs on it goes on."""
    from ..operations import beads

    return _decided(bead, beads.hold, "is held", reason=reason)


def release(bead: BeadId) -> Output:
    """Let a held bead go on."""
    from ..operations import beads

    return _decided(bead, beads.release, "is released")


def defer(
    bead: BeadId,
    until: Annotated[str, Argument(help="90m, 8h, 2d, 2030-01-31, 2030-01-31T09:00; `now` ends it.")],
) -> Output:
    """Keep agents from a bead until a time.

    Example: nobrakes defer nb-7 8h
    """
    from ..operations import beads
    from ..wording.times import moment, spoken

    with opened() as app:
        known(app.store, bead)
        when = None if until == "now" else moment(until, app.store.now())
        now = beads.defer(app.store, bead, when, actor=actor(), paths=app.paths)
    return said(plain(now), f"{now.id} is deferred until {spoken(when)}" if when else f"{now.id} may be worked on now")


def cancel(bead: BeadId, reason: Reason = "") -> Output:
    """Give a bead up. What was made is archived; `nobrakes undo` brings it back."""
    from ..operations import beads

    return _decided(bead, beads.cancel, "is cancelled", reason=reason)


def done(bead: BeadId, reason: Reason = "") -> Output:
    """Mark a bead as done by hand. What waited for it may go on."""
    from ..operations import beads

    return _decided(bead, beads.done, "is done", reason=reason)


def reopen(bead: BeadId, reason: Reason = "") -> Output:
    """Bring a done or cancelled bead back."""
    from ..operations import beads

    return _decided(bead, beads.reopen, "is open again", reason=reason)


Kind = Annotated[str, Option("--type", "-t", help="blocks, parent-child, discovered-from or related.")]
Needs = Annotated[str, Argument(metavar="NEEDS", help="The bead that it waits for.")]


def _dependency(bead: str, needs: str, kind: str) -> Any:
    from ..core.beads.bead import Dependency, DependencyType

    try:
        return Dependency(bead, needs, DependencyType(kind))
    except ValueError:
        allowed = ", ".join(t.value for t in DependencyType)
        raise UsageError(f"'{one_line(kind)[:40]}' is not a type of dependency", f"Use one of: {allowed}.") from None


def depend(bead: BeadId, needs: Needs, type: Kind = "blocks") -> Output:
    """Make BEAD wait for NEEDS. A circle is refused, and named.

    Example: nobrakes depend nb-7 nb-3
    """
    from ..operations import beads

    dependency = _dependency(bead, needs, type)
    with opened() as app:
        known(app.store, bead), known(app.store, needs)
        beads.depend(app.store, bead, needs, dependency.type, actor=actor(), paths=app.paths)
    return said(plain(dependency), f"{bead} waits for {needs}" if type == "blocks" else f"{bead} {type} {needs}")


def undepend(bead: BeadId, needs: Needs, type: Kind = "blocks") -> Output:
    """Take the dependency of BEAD on NEEDS away."""
    from ..operations import beads

    dependency = _dependency(bead, needs, type)
    with opened() as app:
        known(app.store, bead), known(app.store, needs)
        there = beads.undepend(app.store, bead, needs, dependency.type, actor=actor(), paths=app.paths)
    text = f"{bead} does not wait for {needs} any more" if there else f"{bead} did not wait for {needs}"
    return said({**plain(dependency), "removed": there}, text)
