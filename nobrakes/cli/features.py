"""Features of the Forge: begun, changed, paused and resumed, listed, and shown with their plan."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import count, cut, lasted, lines, one_line, pad
from .output import Output, said
from .repository import FeatureId, actor, looked_at, opened, text_or_stdin
from .screen import Screen

if TYPE_CHECKING:
    from ..core.beads.work_status import WorkStatus
    from ..core.forge.feature import Feature
    from ..core.forge.plan_changes import PlanChanges
    from ..operations.forging.features import Wanted
    from ..operations.forging.plan_looks import PlanLook, PlanStep
    from ..operations.forging.scanning import ScanView
    from ..operations.forging.views import FeatureCard, FeatureListView, FeatureView

Texts = list[str] | None
WAYS = ("tree", "kanban", "timeline")
Own = Annotated[
    Texts,
    Option(
        "--criterion", metavar="TEXT", help="A criterion of your own, again for more; 'review: TEXT' says who judges."
    ),
]
Without = Annotated[list[int] | None, Option("--without", metavar="N", help="Leave out a usual criterion; again.")]
Only = Annotated[list[int] | None, Option("--only", metavar="N", help="Keep this usual criterion; again. 0: none.")]
Files = Annotated[Texts, Option("--file", metavar="PATH", help="A file, folder or pattern it touches; again for more.")]
Notes = Annotated[str | None, Option("--notes", help="Technical notes for the Shaper.")]


def new(
    title: Annotated[str, Argument(metavar="TITLE", help="What it is, in a few words.")],
    description: Annotated[str, Option("--description", "-d", help="What should be there, and why; '-': stdin.")] = "",
    criterion: Own = None,
    without: Without = None,
    only: Only = None,
    file: Files = None,
    notes: Notes = None,
) -> Output:
    """Begin a feature. It has the eight usual acceptance criteria in the words of your project, but those that you
    leave out, and your own. Its Shaper looks at the code, asks, and makes a plan; nothing is built before your yes.

    Example: nobrakes forge new "Support Windows" -d "The tool runs on Windows 11" --file src/paths.py
    """
    from ..operations.forging import features

    with opened() as app:
        text = text_or_stdin(description, "description")
        wanted = _wanted(title, text, criterion, (without, only), file, notes)
        made = features.begin(app.store, app.paths, app.config, app.git, wanted, actor())
        points = len(app.store.items(made.id))
    told = [f"feature {made.id} began: {one_line(made.title)}", *_criteria(made)]
    told += [f"{count(points, 'open point')} in its files: `nobrakes forge scan {made.id}`"] if points else []
    return said(plain(made), "\n".join(told))


def _wanted(
    title: str | None,
    description: str | None,
    criterion: Texts,
    numbers: tuple[list[int] | None, list[int] | None],
    file: Texts,
    notes: str | None,
) -> "Wanted":
    from ..operations.forging.features import Wanted

    files = None if file is None else tuple(file)
    without, only = numbers
    kept = None if only is None else frozenset(only)
    return Wanted(title, description, tuple(criterion or ()), frozenset(without or ()), files, notes, kept)


def _criteria(feature: "Feature") -> list[str]:
    return [f"  {number}. {one_line(one.text)} ({one.how})" for number, one in enumerate(feature.criteria, start=1)]


def edit(
    feature: FeatureId,
    title: Annotated[str | None, Option("--title", help="Another title.")] = None,
    description: Annotated[str | None, Option("--description", "-d", help="Another description.")] = None,
    criterion: Own = None,
    without: Without = None,
    only: Only = None,
    file: Files = None,
    notes: Notes = None,
) -> Output:
    """Change what is said of a feature. With --criterion or --without the list of criteria is made anew."""
    from ..operations.forging import features

    wanted = _wanted(title, description, criterion, (without, only), file, notes)
    with opened() as app:
        after = features.edit(app.store, app.paths, app.config, feature, wanted, actor())
    return said(plain(after), "\n".join([f"feature {after.id} is changed: {one_line(after.title)}", *_criteria(after)]))


def pause(feature: FeatureId) -> Output:
    """Begin no turn of the feature any more; one that runs may end. Another one may be planned meanwhile."""
    from ..operations.forging import features

    with opened() as app:
        found = features.pause(app.store, app.paths, feature, actor())
    return _moved(found, f"is paused; `nobrakes forge resume {found.id}` goes on")


Fresh = Annotated[bool, Option("--fresh", help="Of an expired one: a new talk, with a summary. It is the usual way.")]
FromBase = Annotated[bool, Option("--from-base", help="Of an expired one: give its drafts up, and plan it anew.")]
View = Annotated[bool, Option("--view", help="Of an expired one: start nothing; you only look at it.")]


def resume(feature: FeatureId, fresh: Fresh = False, from_base: FromBase = False, view: View = False) -> Output:
    """Go on with a feature where it was. One feature is planned at a time.

    Where nobody said a word for long, the talk with its agent has expired: choose how it goes on.

    Example: nobrakes forge resume nb-k3f9q2 --fresh
    """
    from ..operations.forging.resuming import resume as go_on
    from ..operations.forging.resuming import way_of

    way = way_of(fresh, from_base, view)
    with opened() as app:
        found = go_on(app.store, app.paths, feature, actor(), way)
    goes_on = "is as it was: nothing is started" if view else f"goes on in {found.stage.value}"
    return _moved(found, goes_on)


def cancel(feature: FeatureId) -> Output:
    """End the feature's turn at once. It is paused: its drafts, its questions and its work stay, and it can go on."""
    from ..operations.forging import features

    with opened() as app:
        found = features.cancel(app.store, app.paths, feature, actor())
    return _moved(found, f"is stopped and paused; `nobrakes forge resume {found.id}` goes on")


def archive(
    feature: FeatureId, back: Annotated[bool, Option("--back", help="Show it in lists again.")] = False
) -> Output:
    """Hide a feature from lists. Nothing is removed: `forge list --archived` shows it."""
    from ..operations.forging import features

    with opened() as app:
        found = features.archive(app.store, feature, not back, actor())
    return _moved(found, "is in lists again" if back else "is hidden from lists; nothing is removed")


Step = Annotated[str, Option("--step", metavar="BEAD", help="The step of the plan that is meant.")]


def change(
    feature: FeatureId,
    text: Annotated[str, Argument(help="What should be another way; '-' reads it from stdin.")],
    step: Step = "",
) -> Output:
    """Ask for a change of the plan. Its Shaper changes it, and it is reviewed again; you approve it as before."""
    from ..operations.forging import features

    with opened() as app:
        found = features.ask_change(app.store, app.paths, feature, text_or_stdin(text, "text"), actor(), step)
    return _moved(found, f"is in {found.stage.value}: its Shaper is told")


def discuss(
    feature: FeatureId,
    text: Annotated[str, Argument(help="What you want to know; '-' reads it from stdin.")],
    step: Step = "",
) -> Output:
    """Ask the Shaper about the plan, or a step of it. Nothing is changed by it."""
    from ..operations.forging import features

    with opened() as app:
        found = features.discuss(app.store, app.paths, feature, text_or_stdin(text, "text"), actor(), step)
    return _moved(found, f"is as it was: its Shaper is told; `nobrakes session show {found.session}` has its answer")


def _moved(found: "Feature", words: str) -> Output:
    return said(plain(found), f"feature {found.id} ({cut(one_line(found.title), 60)}) {words}")


def list_features(
    state: Annotated[
        str, Option("--state", help="all, active, paused, completed, expired, error, rolled_back.")
    ] = "all",
    search: Annotated[str, Option("--search", "-s", help="Words in title, description or files.")] = "",
    sort: Annotated[str, Option("--sort", help="activity, created or stage.")] = "activity",
    archived: Annotated[bool, Option("--archived", help="Those that are hidden from lists.")] = False,
) -> Output:
    """Your features, with where each is, how old it is, and how often it was planned anew."""
    from ..operations.forging import views

    with looked_at() as app:
        found = views.listed(app.store, state, search, sort, archived)
    return Output(plain(found), lambda screen: "\n".join(_list(found)))


def _list(found: "FeatureListView") -> list[str]:
    out = [_card(one, found.now) for one in found.features]
    if found.hidden and not any(one.archived for one in found.features):
        out.append(
            f"{found.hidden} more {'is' if found.hidden == 1 else 'are'} hidden: `nobrakes forge list --archived`"
        )
    return out or ["no feature; `nobrakes forge new TITLE -d TEXT` begins one"]


def _card(one: "FeatureCard", now: float) -> str:
    state = one.state.replace("_", " ")
    told = [f"{one.done} of {count(one.beads, 'bead')} done"] if one.beads else []
    told += [f"round {one.round}"] if one.round else []
    told += [f"replanned {one.replannings}x"] if one.replannings else []
    told += [count(one.questions, "question")] if one.questions else []
    told += [f"{one.items} collected"] if one.items else []
    more = f"  ({', '.join(told)})" if told else ""
    where = f"{pad(one.id, 9)}  {pad(state, 11)} {pad(one.stage, 14)} {pad(lasted(now - one.created_at), 8)}"
    return f"{where}  {cut(one_line(one.title), 60)}{more}"


def show(
    feature: FeatureId,
    way: Annotated[str, Option("--as", metavar="WAY", help="tree, kanban or timeline.")] = "tree",
    version: Annotated[int | None, Option("--version", min=1, help="What this version changed.")] = None,
) -> Output:
    """One feature: where it is, its plan, the versions of it, its reviews and findings, and what is collected.

    Example: nobrakes forge show nb-k3f9q2 --as timeline
    """
    from ..operations.forging import plan_looks, views

    if way not in WAYS:
        raise UsageError(f"a plan is not shown as '{one_line(way)[:40]}'", f"Use one of: {', '.join(WAYS)}.")
    with looked_at() as app:
        if version is not None:
            differs = plan_looks.difference(app.store, feature, version)
            return Output(plain(differs), lambda screen: "\n".join(_differs(differs)))
        found = views.view(app.store, feature)
    return Output(plain(found), lambda screen: "\n".join(_page(found, way, screen)))


def _page(found: "FeatureView", way: str, screen: Screen) -> list[str]:
    one = found.feature
    state = one.state.value.replace("_", " ")
    out = [screen.paint(f"{one.id}: {one_line(one.title)}", "bold")]
    anew = f", planned anew {count(one.replannings, 'time')}" if one.replannings else ""
    out.append(f"{one.stage.value}, {state}, {lasted(found.now - one.created_at)} old{anew}")
    out += [f"  {line}" for line in lines(one.description)[:12]]
    out += ["", "It is done when:", *_criteria(one)]
    if one.files:
        out.append(f"It touches: {cut(one_line(', '.join(one.files)), 300)}")
    for asked in found.questions:
        out.append(f"waits for you: {asked.id}  {cut(one_line(asked.title), 90)}  (`nobrakes escalation {asked.id}`)")
    out += [
        "",
        f"The plan ({count(found.card.beads, 'bead')}, {f'version {one.plan}' if one.plan else 'no version yet'}):",
    ]
    out += _PLANS[way](found.plan) or ["  no step yet"]
    for kept in found.versions:
        changed = kept.changes
        told = f"{len(changed.added)} new, {len(changed.gone)} gone, {len(changed.changed)} changed"
        out.append(f"  version {kept.number}: {told}; {cut(one_line(kept.why), 80)}")
    for look in found.reviews:
        detail = f": {cut(one_line(look.detail), 100)}" if look.detail else ""
        out.append(f"  round {look.round}, {one_line(look.domain)}: {look.state.value}{detail}")
    for finding in found.findings:
        answer = f" → {cut(one_line(finding.answer), 60)}" if finding.answer else ""
        state = finding.state.value.replace("_", " ")
        out.append(
            f"  finding {finding.id}, P{finding.priority} {one_line(finding.category)}, {state}: "
            f"{cut(one_line(finding.issue), 90)}{answer}"
        )
    if found.at_work:
        out += ["", "At work:", *(f"  {_standing(status)}" for status in found.at_work)]
    if found.items:
        out += ["", "Collected:"]
        out += [
            f"  {i.id} {i.kind.value}, {i.state.value}: {cut(one_line(i.text), 90)}{_at(i.file, i.line)}"
            for i in found.items
        ]
    return out


def _standing(one: "WorkStatus") -> str:
    done = f"{one.progress} %, {count(one.files_modified, 'file')}, tests {one.tests_status.lower().replace('_', ' ')}"
    words = f"{one.status.lower().replace('_', ' ')}, {one.work_type.lower()}, {done}"
    return f"{one.step_id}  {words}: {cut(one_line(one.message), 80)}"


def _at(file: str, line: int) -> str:
    return f"  {one_line(file)}:{line}" if file else ""


def _line(step: "PlanStep") -> str:
    after = f"  after {', '.join(step.needs)}" if step.needs else ""
    return f"{pad(step.bead.id, 9)}  {pad(step.at.value, 12)} {cut(one_line(step.bead.title), 70)}{cut(after, 60)}"


def _tree(look: "PlanLook") -> list[str]:
    return [f"  {'  ' * step.depth}{_line(step)}" for step in look.steps]


def _kanban(look: "PlanLook") -> list[str]:
    from ..operations.forging.plan_looks import At

    out = []
    for at in At:
        steps = look.column(at.value)
        out.append(f"  {at.value} ({len(steps)})")
        out += [f"    {pad(one.bead.id, 9)}  {cut(one_line(one.bead.title), 80)}" for one in steps]
    return out if look.steps else []


def _timeline(look: "PlanLook") -> list[str]:
    out = []
    for bar in look.bars:
        begin, length = (40 * minutes // max(1, look.span) for minutes in (bar.begin, bar.minutes))
        drawn = " " * begin + ("." if bar.is_guess else "#") * max(1, length)
        when = f"{bar.begin} to {bar.begin + bar.minutes} min"
        out.append(f"  {pad(drawn, 41)} {pad(when, 16)} {pad(bar.bead.id, 9)} {cut(one_line(bar.bead.title), 50)}")
    return out


_PLANS: "dict[str, Callable[[PlanLook], list[str]]]" = {"tree": _tree, "kanban": _kanban, "timeline": _timeline}


def _differs(found: "PlanChanges") -> list[str]:
    out = [f"+ {node['id']}  {cut(one_line(str(node.get('title', ''))), 90)}" for node in found.added]
    out += [f"- {node['id']}  {cut(one_line(str(node.get('title', ''))), 90)}" for node in found.gone]
    for one in found.changed:
        out.append(f"~ {one.id}  {cut(one_line(one.title), 90)}")
        out += [f"    {name}: {_value(before)} → {_value(after)}" for name, (before, after) in one.fields.items()]
    return out or ["it is the same plan"]


def _value(value: object) -> str:
    return cut(one_line(str(value)), 70) if value is not None else "nothing"


def scan(feature: FeatureId) -> Output:
    """What comments of the code say is left to do, on the commit that the feature began from. What is in files that it
    touches is an open point of it; the rest is shown, and nothing more."""
    from ..operations.forging import scanning

    with looked_at() as app:
        found = scanning.scan_of(app.store, app.git, feature)
    return Output(plain(found), lambda screen: "\n".join(_scan(found)))


def _scan(found: "ScanView") -> list[str]:
    out = [f"{count(found.files, 'file')} looked into on {found.base[:12] or 'no commit'}"]
    for heading, finds in (("in files that it touches", found.blocking), ("elsewhere", found.others)):
        out += ["", f"{heading} ({len(finds)}):"] if finds else []
        out += [f"  {one.kind.value}  {cut(one_line(one.text), 90)}{_at(one.file, one.line)}" for one in finds]
    out += [f"  and {found.more} more"] if found.more else []
    out += [f"not read, since too large: {one_line(', '.join(found.skipped[:20]))}"] if found.skipped else []
    return out
