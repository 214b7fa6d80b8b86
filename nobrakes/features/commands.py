"""Commands on features, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated

from ..beads.model import Attempt
from ..command_table import NOTE, TEXT, Field
from ..errors import UsageError
from ..files import wake
from ..text.cleaning import count, cut, one_line
from .model import Feature, Item
from .reviewed_plan import SignOff, approval, open_points
from .reviewed_plan import checkpoint as ask_checkpoint
from .service import controls
from .service.controls import Wanted
from .service.rollback import RollbackView
from .service.rollback import begin as begin_rollback

if TYPE_CHECKING:
    from ..app import App

Id = Annotated[str, Field("The feature's id.", metavar="FEATURE")]
Description = Annotated[
    str | None, Field("What you want, and why.", ("--description", "-d"), most=TEXT, reads_stdin=True)
]
Criteria = Annotated[
    tuple[str, ...], Field("Your own criterion, or 'review: TEXT' for a code review.", ("--criterion",), "TEXT", TEXT)
]
# a page sends a 0 beside what is ticked, so that no tick is a choice, too
Without = Annotated[tuple[int, ...], Field("Leave out the standard criterion with this number.", ("--without",), "N")]
Only = Annotated[
    tuple[int, ...] | None, Field("Keep only the standard criterion with this number; 0 keeps none.", ("--only",), "N")
]
Files = Annotated[
    tuple[str, ...] | None, Field("A file, folder or pattern that the feature changes.", ("--file",), "PATH", TEXT)
]
Notes = Annotated[str | None, Field("Technical notes for the Shaper.", ("--notes",), most=TEXT)]
Title = Annotated[str, Field("The feature in a few words.", metavar="TITLE", most=NOTE)]


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
    """Start a feature. The Shaper reads the code, asks questions and makes a plan; no agent builds before you approve
    the plan. The feature gets eight standard acceptance criteria, worded for your project. You can leave some out and
    add your own."""
    wanted = Wanted(title, description, criterion, without, file, notes, only)
    made = controls.begin(app.store, app.paths, app.config, app.git, wanted, by)
    points = len(app.store.items(made.id))
    told = [f"feature {made.id} started: {one_line(made.title)}", *criteria(made)]
    told += [f"{count(points, 'open point')} in the feature's files: `nobrakes forge scan {made.id}`"] if points else []
    return made, "\n".join(told)


def edit(
    app: "App",
    by: str,
    feature: Id,
    title: Annotated[str | None, Field("The new title.", ("--title",), most=NOTE)] = None,
    description: Description = None,
    criterion: Criteria = (),
    without: Without = (),
    only: Only = None,
    file: Files = None,
    notes: Notes = None,
) -> tuple[Feature, str]:
    """Change a feature's texts and criteria. --criterion or --without replaces the whole list of criteria."""
    wanted = Wanted(title, description, criterion, without, file, notes, only)
    after = controls.edit(app.store, app.paths, app.config, feature, wanted, by)
    return after, "\n".join([f"feature {after.id} changed: {one_line(after.title)}", *criteria(after)])


def criteria(feature: Feature) -> list[str]:
    return [f"  {number}. {one_line(one.text)} ({one.how})" for number, one in enumerate(feature.criteria, start=1)]


def pause(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """Pause a feature: the agent finishes its current turn and starts no other. You can then plan another feature."""
    found = controls.pause(app.store, app.paths, feature, by)
    return _moved(found, f"is paused; `nobrakes forge resume {found.id}` continues the feature")


Fresh = Annotated[bool, Field("If the feature expired: start a new session with a summary (default).", ("--fresh",))]
FromBase = Annotated[bool, Field("If the feature expired: drop the drafts and plan from the base.", ("--from-base",))]
View = Annotated[bool, Field("If the feature expired: show the feature, and start nothing.", ("--view",))]


Another = Annotated[bool, Field("If the plan waits for your sign-off: review the plan again.", ("--another-round",))]


def resume(
    app: "App",
    by: str,
    feature: Id,
    fresh: Fresh = False,
    from_base: FromBase = False,
    view: View = False,
    another_round: Another = False,
) -> tuple[Feature, str]:
    """Resume a feature where it stopped. nobrakes plans one feature at a time. If the feature's session expired, choose
    how to continue. --another-round starts one more round of plan reviews before the sign-off."""
    way = controls.way_of(fresh, from_base, view)
    if another_round:
        if way is not None:
            raise UsageError("--another-round cannot be combined with other options", "Remove the others.")
        found = controls.begin_another_round(app.store, app.paths, app.config.forge, feature, by)
        return _moved(found, "gets another round of plan reviews; then nobrakes asks you for the sign-off again")
    found = controls.resume(app.store, app.paths, feature, by, way)
    return _moved(found, "is unchanged" if view else f"continues in {found.stage.value}")


def cancel(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """Pause the feature, and stop its current turn and every agent on its beads. Its drafts, questions and work stay;
    `nobrakes forge resume` continues. A running review of finished work continues."""
    found = controls.cancel(app.store, app.paths, feature, by)
    ends = [
        f"{one_line(one.name)} on bead {one.bead}" if isinstance(one, Attempt) else f"session {one.session.id}"
        for one in controls.agents_of(app.store, feature, stopping=True)
    ]
    what = f"{', '.join(ends)} {'is' if len(ends) == 1 else 'are'} stopping" if ends else "no agent is working now"
    return _moved(found, f"is paused: {what}; `nobrakes forge resume {found.id}` continues the feature")


def archive(
    app: "App", by: str, feature: Id, back: Annotated[bool, Field("Show the feature in lists.", ("--back",))] = False
) -> tuple[Feature, str]:
    """Hide a feature from lists, without deleting it: `forge list --archived` still shows it."""
    found = controls.archive(app.store, feature, not back, by)
    return _moved(found, "appears in lists of features again" if back else "is hidden from lists; nothing is deleted")


Change = Annotated[str, Field("What to change.", most=TEXT, reads_stdin=True)]
Question = Annotated[str, Field("Your question.", most=TEXT, reads_stdin=True)]
Step = Annotated[str, Field("The bead of the plan that you mean.", ("--step",), "BEAD")]


def change(app: "App", by: str, feature: Id, text: Change, step: Step = "") -> tuple[Feature, str]:
    """Ask for a change of the plan. The Shaper changes the plan, plan reviewers review it, and you approve it again."""
    found = controls.ask_change(app.store, app.paths, feature, text, by, step)
    return _moved(found, f"is in {found.stage.value}: the feature's Shaper gets your text")


def discuss(app: "App", by: str, feature: Id, text: Question, step: Step = "") -> tuple[Feature, str]:
    """Ask the Shaper a question about the plan or about one step. This changes nothing."""
    found = controls.discuss(app.store, app.paths, feature, text, by, step)
    shows = f"`nobrakes session show {found.session}` will show the answer"
    return _moved(found, f"is unchanged: the feature's Shaper gets your question; {shows}")


def _moved(found: Feature, words: str) -> tuple[Feature, str]:
    return found, f"feature {found.id} ({cut(one_line(found.title), 60)}) {words}"


Point = Annotated[int, Field("The number of the open point, as `nobrakes forge show` lists it.", metavar="N")]
Answer = Annotated[str, Field("Your answer.", most=TEXT, reads_stdin=True)]


def answer(app: "App", by: str, feature: Id, number: Point, text: Answer) -> tuple[Item, str]:
    """Answer an open point: a comment such as `TODO` in a file that the feature changes. The Shaper gets your answer.
    You cannot sign off the plan before you have answered every open point."""
    point = controls.answer_point(app.store, app.paths, feature, number, text, by)
    left = len(open_points(app.store, feature))
    then = f"open points that still need an answer: {left or 'none'}"
    return point, f"you answered open point {number}, {one_line(point.where)}; {then}"


Risk = Annotated[bool, Field("Accept the risk of fewer plan reviews than recommended.", ("--take-risk",))]
Reason = Annotated[str, Field("Why you sign off a plan that has undecided findings.", ("--reason",), most=TEXT)]

Version = Annotated[int, Field("Sign off only if the plan still has this version.", ("--seen",), "VERSION")]


def sign_off(
    app: "App", by: str, feature: Id, take_risk: Risk = False, reason: Reason = "", version: Version = 0
) -> tuple[SignOff, str]:
    """Sign off a feature's plan. Afterwards `nobrakes approve` makes its drafts live. Add --take-risk if the plan had
    fewer reviews than recommended. Add --reason if findings are undecided; they then count as accepted risks. A plan
    that changes later needs another sign-off."""
    from .service import feature_page

    rules = app.config.forge
    kept = feature_page.sign_off(app.store, rules, feature, by, take_risk=take_risk, reason=reason, seen=version)
    wake(app.paths)
    then, _ = approval(app.store, rules)
    risk = f", after only {kept.reviews} of {count(kept.most, 'plan review')}" if kept.risk else ""
    signed = f"you signed off version {kept.version} of {feature}'s plan{risk}"
    return kept, f"{signed}. No agent works on the plan's beads yet. Next: {then}"


def checkpoint(app: "App", by: str, feature: Id) -> tuple[Feature, str]:
    """Add the suggestions collected while agents build a feature to its plan now. Its live beads continue."""
    found = ask_checkpoint(app.store, feature, by)
    wake(app.paths)
    waiting = sum(one.state.value == "waiting" for one in app.store.items(feature))
    return found, f"feature {feature} is planned again: the Shaper gets {count(waiting, 'collected item')}"


def rollback(app: "App", by: str, feature: Id) -> tuple[RollbackView, str]:
    """Roll a feature back: cancel its open beads now, and revert its merges on main by one commit after a review."""
    done = begin_rollback(app.store, app.git, app.paths, feature, by)
    said = f"{count(len(done.cancels), 'bead')} cancelled"
    if done.is_over:
        return done, f"feature {done.feature} is rolled back: {said}, and main had none of its work"
    return done, f"{said}; bead {done.bead} reverts {count(len(done.reverts), 'merge')} on main, after a review"
