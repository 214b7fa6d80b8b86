"""Commands on features, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..fields import NOTE, TEXT, Field
from ..host.watching import wake
from ..text.cleaning import count, cut, one_line
from .model import Feature
from .reviewed_plan import SignOff, approval
from .reviewed_plan import checkpoint as ask_checkpoint
from .service import controls
from .service.controls import Wanted

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The feature's id.", metavar="FEATURE")]
Description = Annotated[
    str | None,
    Field("What should be there, and why; '-' reads stdin.", ("--description", "-d"), most=TEXT, reads_stdin=True),
]
Criteria = Annotated[
    tuple[str, ...],
    Field("A criterion of your own, again for more; 'review: TEXT' says who judges.", ("--criterion",), "TEXT", TEXT),
]
# a page sends a 0 beside what is ticked, so that no tick is a choice, too
Without = Annotated[tuple[int, ...], Field("Leave out a usual criterion; again for more.", ("--without",), "N")]
Only = Annotated[tuple[int, ...] | None, Field("Keep this usual criterion; again for more. 0: none.", ("--only",), "N")]
Files = Annotated[
    tuple[str, ...] | None,
    Field("A file, folder or pattern it touches; again for more.", ("--file",), "PATH", TEXT),
]
Notes = Annotated[str | None, Field("Technical notes for the Shaper.", ("--notes",), most=TEXT)]
Title = Annotated[str, Field("What it is, in a few words.", metavar="TITLE", most=NOTE)]


def new(
    app: "App",
    by: str,
    title: Title,
    description: Description = None,
    criterion: Criteria = (),
    without: Without = (),
    only: Only = None,
    file: Files = None,
    notes: Notes = None,
) -> tuple[Feature, str]:
    """Begin a feature. It has the eight usual acceptance criteria in the words of your project, but those that you
    leave out, and your own. Its Shaper reads the code, asks, and makes a plan; no agent builds before you approve.
    """
    wanted = Wanted(title, description, criterion, without, file, notes, only)
    made = controls.begin(app.store, app.paths, app.config, app.git, wanted, by)
    points = len(app.store.items(made.id))
    told = [f"feature {made.id} began: {one_line(made.title)}", *criteria(made)]
    told += [f"{count(points, 'open point')} in its files: `nobrakes forge scan {made.id}`"] if points else []
    return made, "\n".join(told)


def edit(
    app: "App",
    by: str,
    feature: Id,
    title: Annotated[str | None, Field("Another title.", ("--title",), most=NOTE)] = None,
    description: Description = None,
    criterion: Criteria = (),
    without: Without = (),
    only: Only = None,
    file: Files = None,
    notes: Notes = None,
) -> tuple[Feature, str]:
    """Change a feature's texts and criteria. With --criterion or --without the list of criteria is replaced."""
    wanted = Wanted(title, description, criterion, without, file, notes, only)
    after = controls.edit(app.store, app.paths, app.config, feature, wanted, by)
    return after, "\n".join([f"feature {after.id} is changed: {one_line(after.title)}", *criteria(after)])


def criteria(feature: Feature) -> list[str]:
    """A line for each."""
    return [f"  {number}. {one_line(one.text)} ({one.how})" for number, one in enumerate(feature.criteria, start=1)]


def pause(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """Start no further turn of the feature; a running one may end. Another feature may be planned meanwhile."""
    found = controls.pause(app.store, app.paths, feature, by)
    return _moved(found, f"is paused; `nobrakes forge resume {found.id}` continues")


Fresh = Annotated[bool, Field("If it expired: a new session with a summary; the default.", ("--fresh",))]
FromBase = Annotated[bool, Field("If it expired: drop its drafts, and plan it again.", ("--from-base",))]
View = Annotated[bool, Field("If it expired: start nothing; you only look at it.", ("--view",))]


def resume(
    app: "App", by: str, feature: Id, fresh: Fresh = False, from_base: FromBase = False, view: View = False
) -> tuple[Feature, str]:
    """Resume a feature where it was; one is planned at a time. If its session expired, choose how it continues."""
    found = controls.resume(app.store, app.paths, feature, by, controls.way_of(fresh, from_base, view))
    return _moved(found, "is as it was: nothing is started" if view else f"goes on in {found.stage.value}")


def cancel(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """End the feature's turn at once. It is paused: its drafts, its questions and its work stay, and it can go on."""
    found = controls.cancel(app.store, app.paths, feature, by)
    return _moved(found, f"is stopped and paused; `nobrakes forge resume {found.id}` goes on")


def archive(
    app: "App", by: str, feature: Id, back: Annotated[bool, Field("Show it in lists again.", ("--back",))] = False
) -> tuple[Feature, str]:
    """Hide a feature from lists. Nothing is removed: `forge list --archived` shows it."""
    found = controls.archive(app.store, feature, not back, by)
    return _moved(found, "is in lists again" if back else "is hidden from lists; nothing is removed")


Change = Annotated[str, Field("What should change; '-' reads it from stdin.", most=TEXT, reads_stdin=True)]
Question = Annotated[str, Field("What you want to know; '-' reads it from stdin.", most=TEXT, reads_stdin=True)]
Step = Annotated[str, Field("The step of the plan that is meant.", ("--step",), "BEAD")]


def change(app: "App", by: str, feature: Id, text: Change, step: Step = "") -> tuple[Feature, str]:
    """Ask for a change of the plan. Its Shaper changes it, and it is reviewed again; you approve it as before."""
    found = controls.ask_change(app.store, app.paths, feature, text, by, step)
    return _moved(found, f"is in {found.stage.value}: its Shaper was notified")


def discuss(app: "App", by: str, feature: Id, text: Question, step: Step = "") -> tuple[Feature, str]:
    """Ask the Shaper about the plan, or a step of it. Nothing is changed by it."""
    found = controls.discuss(app.store, app.paths, feature, text, by, step)
    shows = f"`nobrakes session show {found.session}` has its answer"
    return _moved(found, f"is as it was: its Shaper was notified; {shows}")


def _moved(found: Feature, words: str) -> tuple[Feature, str]:
    return found, f"feature {found.id} ({cut(one_line(found.title), 60)}) {words}"


Risk = Annotated[bool, Field("You take the risk of fewer reviews than are recommended.", ("--take-risk",))]
Reason = Annotated[str, Field("Why, where findings are not decided; it is kept.", ("--reason",), most=TEXT)]


def sign_off(app: "App", by: str, feature: Id, take_risk: Risk = False, reason: Reason = "") -> tuple[SignOff, str]:
    """Sign a feature's plan off. Its drafts go live by `nobrakes commit-strategy` and nothing else.

    With fewer reviews than are recommended it needs --take-risk, with findings that nobody decided a --reason; these
    count as accepted risks then. A plan that is changed afterwards needs another sign-off.
    """
    from .service import views

    rules = app.config.forge.rules()
    kept = views.sign_off(app.store, rules, feature, by, take_risk=take_risk, reason=reason)
    wake(app.paths)
    then, _ = approval(app.store, rules)
    risk = f", with the risk of {kept.reviews} of {count(kept.most, 'review')}" if kept.risk else ""
    signed = f"version {kept.version} of the plan of {feature} is signed off{risk}"
    return kept, f"{signed}: nothing is live yet. Now: {then}"


def checkpoint(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """Bring what was collected while a feature is built to its plan, now. Its live beads go on."""
    found = ask_checkpoint(app.store, feature, by)
    wake(app.paths)
    waiting = sum(one.state.value == "waiting" for one in app.store.items(feature))
    return found, f"feature {feature} goes back to its plan with {count(waiting, 'collected item')}"
