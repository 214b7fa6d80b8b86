"""Commands of the Decision Desk, for the command line and for pages alike."""

from typing import TYPE_CHECKING, Annotated, Any

from ..command_table import NOTE, Field
from ..errors import UsageError
from ..records import plain
from ..text.cleaning import age, cut, one_line
from .model import Escalation

if TYPE_CHECKING:
    from ..app import App
    from ..review.queue import Quarantined

Number = Annotated[int, Field("The escalation's number.", metavar="N")]
Decided = tuple[Escalation, str]
Text = Annotated[
    str | None,
    Field("An option's number or label, or a text; '-' reads stdin.", most=NOTE, reads_stdin=True, joined=True),
]
Why = Annotated[str, Field("The reason, for an option that asks for one.", ("--why",), most=NOTE)]
Recommended = Annotated[bool, Field("Choose what the agent recommends.", ("--recommended",))]
TakeBack = Annotated[bool, Field("Withdraw the answer, if no agent has read it yet.", ("--take-back",))]


def answer(
    app: "App",
    by: str,
    number: Number,
    text: Text = None,
    why: Why = "",
    recommended: Recommended = False,
    take_back: TakeBack = False,
) -> Decided:
    """Answer a question. Its bead continues, and the next prompt contains the answer. If you may choose several
    options, give their numbers or labels with commas between them.
    """
    from .service import desk

    if bool(text) + recommended + take_back > 1 or (text is None and not (recommended or take_back)):
        raise UsageError(
            f"choose one way to answer escalation {number}",
            f"Give the answer, --recommended or --take-back; `nobrakes escalation {number}` shows the question.",
        )
    if take_back:
        found = desk.take_back(app.store, number, by, app.paths)
        did = "is open again: its answer was withdrawn"
    else:
        words = f"{text or ''}: {why}" if why else text or ""
        found = desk.answer(app.store, number, words, by, app.paths, recommended)
        did = f"is answered: {cut(one_line(found.answer or found.resolution), 200)}" if found.form else "is answered"
    return found, f"escalation {number} {did}{desk.then(app.store, found)}"


WAYS = {
    "approve": "Approve the plan, the change or the merge.",
    "add": "Create a draft from the agent's suggestion.",
    "retry": "Let an agent try again; failures count from zero.",
    "cancel": "Cancel the bead.",
    "done": "Mark the bead as done by hand.",
    "dismiss": "Close it without any action.",
}
How = Annotated[str, Field("", choices=WAYS)]
Note = Annotated[str, Field("Why; the next attempt reads it.", ("--note", "-m"), most=NOTE)]


def resolve(app: "App", by: str, number: Number, how: How, note: Note = "") -> Decided:
    """Decide an escalation."""
    from ..features.reviewed_plan import approval
    from .service import desk

    found = desk.resolve(app.store, number, how, note, by, app.paths)
    if how != "add":
        return found, f"escalation {number} is resolved: {how}{desk.then(app.store, found)}"
    draft, live = found.resolution.partition(":")[0], approval(app.store, app.config.forge.rules())[0]
    return found, f"escalation {number} is resolved: {draft}, a draft; to approve it: {live}"


Check = Annotated[str, Field("The check's name (default: show what is quarantined).", metavar="CHECK")]
Test = Annotated[str, Field("The test as the report names it (default: the whole check).", metavar="TEST", most=NOTE)]
Reason = Annotated[str, Field("The reason, shown to everybody.", ("--reason", "-m"), most=NOTE)]
Lift = Annotated[bool, Field("End the quarantine.", ("--lift",))]


def quarantine(
    app: "App", by: str, check: Check = "", test: Test = "", reason: Reason = "", lift: Lift = False
) -> tuple[dict[str, Any], str]:
    """Allow a flaky test to fail for a time: it then blocks no merge. Status, reviews and evidence show it. A single
    test is exempt only if the check's report names all failed tests.
    """
    from ..review.service import evidence

    if not check:
        if lift or reason:
            raise UsageError("say what: the name of a check", 'For example: nobrakes quarantine unit --reason "…"')
        found, now = evidence.quarantined(app.store), app.store.now()
        told = "\n".join(_quarantined(one, now) for one in found) or "nothing is quarantined"
    elif lift:
        if reason:
            raise UsageError("what is lifted needs no reason", "Use --lift alone.")
        found, told = evidence.lift(app.store, check, test, by, app.paths), f"{_what(check, test)} has to pass again"
    else:
        found = evidence.quarantine(app.store, app.config, check, test, reason, by, app.paths)
        told = f"{_what(check, test)} may fail; `nobrakes quarantine {check} … --lift` ends that"
    return {"quarantined": plain(found)}, told


def _quarantined(one: "Quarantined", now: float) -> str:
    what = _what(one.check, one.test)
    return one_line(f"quarantined for {age(now - one.at)}: {what}, by {one.by}: {one.reason}")


def _what(check: str, test: str) -> str:
    return one_line(f"{test} of {check}" if test else f"the check {check}")
