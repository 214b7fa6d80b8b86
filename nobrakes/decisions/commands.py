"""Commands of the Decision Desk, and of the plans that come to it, for the command line and for pages alike."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from ..beads.model import BeadType, Status
from ..command_table import NOTE, TEXT, Field
from ..errors import NotAllowed, UsageError
from ..records import frozen, plain
from ..text.cleaning import age, count, count_beads_and_epics, cut, one_line
from .model import DECISIONS, Escalation

if TYPE_CHECKING:
    from ..app import App
    from ..features.service.approving import Approved
    from ..plans.service import PlanReport
    from ..review.queue import Quarantined

Number = Annotated[int, Field("The escalation's number.", metavar="N")]
Decided = tuple[Escalation, str]
Text = Annotated[
    str | None,
    Field("The answer: an option's number or label, or your own text.", most=NOTE, reads_stdin=True, joined=True),
]
Why = Annotated[str, Field("The reason, if the option asks for one.", ("--why",), most=NOTE)]
Recommended = Annotated[bool, Field("Choose the answer that the agent recommends.", ("--recommended",))]
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
    options, give their numbers or labels with commas between them."""
    from .service import desk

    if bool(text or why) + recommended + take_back > 1 or (text is None and not (recommended or take_back)):
        raise UsageError(
            f"escalation {number} needs exactly one answer",
            f"Give the answer, --recommended or --take-back; `nobrakes escalation {number}` shows the question.",
        )
    if take_back:
        found = desk.take_back(app.store, number, by, app.paths)
        did = "is open again, because its answer was withdrawn"
    else:
        words = f"{text or ''}: {why}" if why else text or ""
        found = desk.answer(app.store, number, words, by, app.paths, recommended)
        did = f"is answered: {cut(one_line(found.answer or found.resolution), 200)}" if found.form else "is answered"
    return found, f"escalation {number} {did}{desk.then(app.store, found)}"


NUMBERED = "N=TEXT"
Answers = Annotated[
    tuple[str, ...], Field("A question's number and its answer; repeatable.", metavar=NUMBERED, most=NOTE, keyed=True)
]
Whys = Annotated[
    tuple[str, ...], Field("The reason for an option that asks for one.", ("--why",), NUMBERED, NOTE, keyed=True)
]


def answers(app: "App", by: str, answers: Answers, why: Whys = ()) -> tuple[list[Escalation], str]:
    """Answer several questions together, each as with `nobrakes answer`. If one answer is wrong, none is stored. Use it
    for questions that an agent asked in one turn; the web pages show those as one form."""
    from .service import desk

    texts, reasons = _numbered(answers), {number: text for number, text in _numbered(why).items() if text.strip()}
    if wrong := reasons.keys() - texts.keys():
        raise UsageError(f"question {min(wrong)} has a reason, but no answer", "Nothing was answered.")
    texts |= {number: f"{texts[number]}: {reason.strip()}" for number, reason in reasons.items()}
    found = desk.answer_all(app.store, texts, by, app.paths)
    told = (f"{cut(one_line(one.title), 60)} {cut(one_line(one.answer or one.resolution), 60)}" for one in found)
    return found, f"{count(len(found), 'question')} answered: {'; '.join(told)}"


def _numbered(given: tuple[str, ...]) -> dict[int, str]:
    """Raises UsageError."""
    found: dict[int, str] = {}
    for one in given:
        name, is_given, text = one.partition("=")
        if not is_given or not name.isascii() or not name.isdigit() or len(name) > 18:
            raise UsageError(f"'{cut(one_line(one), 40)}' is not NUMBER=ANSWER", "For example: 4=yes")
        if int(name) in found:
            raise UsageError(f"question {int(name)} is answered twice", "Separate several options by commas.")
        found[int(name)] = text
    return found


How = Annotated[str, Field("", choices=DECISIONS)]
Note = Annotated[str, Field("Your reasons; the next agent reads this note.", ("--note", "-m"), most=NOTE)]


def resolve(app: "App", by: str, number: Number, how: How, note: Note = "") -> Decided:
    """Decide an escalation."""
    from ..features.reviewed_plan import approval
    from .service import desk

    found = desk.resolve(app.store, number, how, note, by, app.paths)
    if how != "add":
        return found, f"escalation {number} is resolved: {how}{desk.then(app.store, found)}"
    draft, live = found.resolution.partition(":")[0], approval(app.store, app.config.forge)[0]
    return found, f"escalation {number} is resolved with the draft {draft}; to approve the draft: {live}"


@frozen
class Waiting:
    """Something to approve. `what`: the argument of `approve`, with its version. `command`: what to type. `by_yes`:
    `approve --yes` means it if nothing else waits."""

    what: str
    text: str
    command: str
    by_yes: bool = False


@frozen
class Approval:
    """`approved`: empty: nothing. `waiting`: what waits, or waited then. `later`: plans that still have to be made,
    reviewed or resumed."""

    approved: str
    waiting: tuple[Waiting, ...]
    later: tuple[Waiting, ...] = ()


What = Annotated[str, Field("The name of an entry in the list (default: list what needs approval).", metavar="WHAT")]

Yes = Annotated[bool, Field("Approve the only plan, or its drafts, if nothing else needs approval.", ("--yes", "-y"))]


def approve(app: "App", by: str, what: What = "", yes: Yes = False) -> tuple[Approval, str]:
    """Approve drafts, a feature's plan, a push, a merge or a change that needs your approval.

    Without WHAT it lists what needs approval, each with the command to type. The word after `@` is the listed version:
    if there is a newer version, nothing is approved. With --yes it approves the only plan, or its drafts, if nothing
    else needs approval. A push, a merge or a protected file must be named."""
    found = tuple(_waiting(app))
    chosen = [one for one in found if what == one.what]
    if yes and not what and len(found) == 1 and found[0].by_yes:
        chosen = list(found)
    if yes and found and not chosen:
        raise NotAllowed("--yes works only if one plan, or its drafts, needs approval", f"{_LISTS} Name one.")
    if not what and not chosen:
        later = tuple(_later(app))
        lines = [] if found else ["nothing needs your approval"]
        lines += [line for one in (*found, *later) for line in (one_line(one.text), f"  type: {one.command}")]
        return Approval("", found, later), "\n".join(lines)
    if not chosen:
        name = what.partition("@")[0]
        if name in {*app.store.listed((Status.DRAFT,)), *(one.id for one in app.store.proposed())}:
            why = f"nothing was approved: '{name}' is one of several drafts"
            raise NotAllowed(why, f"To approve one draft: `nobrakes commit-strategy --only {name}`.")
        is_known = any(one.what.partition("@")[0] == name for one in found)
        why = f"'{what}' does not need approval"
        if is_known:
            why = f"'{name}' changed since it was listed as '{what}'" if "@" in what else f"'{what}' has no @version"
        raise NotAllowed(f"{cut(one_line(why), 200)}: nothing was approved", _LISTS)
    one = chosen[0]
    if one.command != f"nobrakes approve {one.what}":
        raise NotAllowed(f"`approve` cannot approve this item: {one_line(one.text)}", f"Type: `{one.command}`.")
    return Approval(one.what, found), _approved(app, by, *one.what.split("@"))


def _approved(app: "App", by: str, what: str, version: str = "") -> str:
    from ..features import commands as features
    from ..features.service.strategy import revision
    from ..requests import service as requests

    if what == DRAFTS:
        seen = revision(app.store)
        return commit_strategy(app, by, revision=seen if seen.startswith(version) else version)[1]
    if what.isdigit():
        return resolve(app, by, int(what), "approve")[1]
    if any(one.id == what for one in app.store.features()):
        return features.sign_off(app, by, what, version=int(version))[1]
    if not requests.may_open(app.store, app.config, app.paths, what, by, version):
        raise NotAllowed(f"nothing was approved: '{what}' is no longer waiting to be pushed", _LISTS)
    return f"nobrakes will push {what} and open its pull request"


DRAFTS = "drafts"
_LISTS = "`nobrakes approve` lists what needs approval."


def _waiting(app: "App") -> "Iterator[Waiting]":
    from ..features.reviewed_plan import YES
    from ..features.service.strategy import revision
    from ..review.journal import Journal
    from . import table
    from .blockers import Kind
    from .service import all_blockers

    store, config = app.store, app.config
    for asked in store.escalations():
        if "approve" in table.ways(asked, store.bead(asked.bead) if asked.bead else None):
            yield Waiting(str(asked.id), f"escalation {asked.id}: {asked.title}", f"nobrakes approve {asked.id}")
    for one in all_blockers.person_blockers(store, config, store.features(), daemon=True):
        command = one.commands[0] if one.commands else ""
        if one.kind is Kind.DRAFTS:
            what, is_free = f"{DRAFTS}@{revision(store)[:12]}", command == YES
            yield Waiting(what, one.what, f"nobrakes approve {what}" if is_free else command, is_free)
        elif one.kind is Kind.SIGN_OFF:
            feature = store.feature(one.beads[0])
            what, is_simple = f"{feature.id}@{feature.plan}", command == f"nobrakes forge sign-off {feature.id}"
            yield Waiting(what, one.what, f"nobrakes approve {what}" if is_simple else command, is_simple)
        elif one.kind is Kind.REQUEST:
            head = next(Journal.of(review.data).change.head for review in store.reviewing() if review.bead in one.beads)
            what = f"{one.beads[0]}@{head[:12]}"
            yield Waiting(what, one.what, f"nobrakes approve {what}")
        elif one.kind is Kind.SPRINTS:
            yield Waiting("sprints", one.what, command)


def _later(app: "App") -> "Iterator[Waiting]":
    """The unsigned plans that no person is asked about yet."""
    from ..features.reviewed_plan import to_sign, unapproved, unsigned_plans

    for feature, _ in unsigned_plans(app.store, unapproved(app.store)):
        if not feature.is_sign_off_asked:
            command, why = to_sign(app.store, app.config.forge, feature)
            yield Waiting(feature.id, f"not yet: {why}", command)


Check = Annotated[str, Field("The check's name (default: list what is quarantined).", metavar="CHECK")]
Test = Annotated[str, Field("The test's name in the report (default: the whole check).", metavar="TEST", most=NOTE)]
Reason = Annotated[str, Field("The reason, shown together with the quarantine.", ("--reason", "-m"), most=NOTE)]
Lift = Annotated[bool, Field("End the quarantine.", ("--lift",))]


def quarantine(
    app: "App", by: str, check: Check = "", test: Test = "", reason: Reason = "", lift: Lift = False
) -> tuple[dict[str, Any], str]:
    """Let a flaky test or check fail without blocking merges. Status, reviews and evidence show the quarantine. It
    covers a single test only if the check's report names all failed tests."""
    from ..daemon.service.control import quarantined
    from ..review.service import merges

    if not check:
        if lift or reason:
            raise UsageError("name the check to quarantine", 'For example: nobrakes quarantine unit --reason "…"')
        found, now = quarantined(app.store), app.store.now()
        told = "\n".join(_quarantined(one, now) for one in found) or "nothing is quarantined"
    elif lift:
        if reason:
            raise UsageError("--lift and a reason cannot be combined", "Use --lift alone.")
        found, told = merges.lift(app.store, check, test, by, app.paths), f"{_what(check, test)} has to pass again"
    else:
        found = merges.quarantine(app.store, app.config, check, test, reason, by, app.paths)
        told = f"quarantined: {_what(check, test)} may fail; `nobrakes quarantine {check} … --lift` ends the quarantine"
    return {"quarantined": plain(found)}, told


def _quarantined(one: "Quarantined", now: float) -> str:
    return one_line(f"quarantined for {age(now - one.at)}: {_what(one.check, one.test)}, by {one.by}: {one.reason}")


def _what(check: str, test: str) -> str:
    return one_line(f"{test} of {check}" if test else f"the check {check}")


Plan = Annotated[str, Field("The plan: YAML, JSON, or beads as .jsonl.", most=TEXT)]
DryRun = Annotated[bool, Field("Show what would change, and write nothing.", ("--dry-run",))]
Live = Annotated[bool, Field("Make new beads live, and change live beads, without approval.", ("--live",))]
Cut = Annotated[bool, Field("Leave out dependencies that would form circles.", ("--cut",))]
Reported = tuple["PlanReport", str]


def apply(app: "App", by: str, plan: Plan, dry_run: DryRun = False, live: Live = False, cut: Cut = False) -> Reported:
    """Bring the graph to what the plan says. PlanError, Deadlock: nothing was written."""
    from ..plans import service

    read = service.plan_in(plan, "the plan", service.StoredIds(app.store))
    report = service.apply_plan(app.store, read, actor=by, dry_run=dry_run, live=live, cut=cut)
    said = f"{count(len(report.new), 'new bead')}, {len(report.changed)} changed, {len(report.unchanged)} unchanged"
    if report.proposed:
        said += f", changes to {count(len(report.proposed), 'live bead')} proposed for your approval"
    return report, said if report.applied else f"{said}; nothing was written"


def propose(app: "App", by: str, plan: Plan, dry_run: DryRun = False) -> Reported:
    """File the beads of the plan as drafts."""
    from ..features.service import approving
    from ..plans import service

    read = service.plan_in(plan, "the plan", service.StoredIds(app.store))
    report = approving.propose(app.store, read, by, dry_run)
    if report.deadlocks:
        raise service.PlanDeadlock(report.deadlocks)
    new = {None, *report.new}  # a node without an id is always new
    epics = sum(node.id in new and node.fields.get("type") == BeadType.EPIC for node in read.nodes)
    drafts = " and ".join(count_beads_and_epics(len(report.new) - epics, epics))
    changes = f", changes to {count(len(report.proposed), 'live bead')} proposed" if report.proposed else ""
    filed, then = ("would be added", "nothing was written") if dry_run else ("added", "`nobrakes approve` shows drafts")
    return report, f"{drafts} {filed}{changes}; {then}"


Names = tuple[str, ...]
NAME = "BEAD or BEAD:FIELD"
Only = Annotated[Names, Field("Approve only this bead or change.", ("--only",), NAME, TEXT)]
Without = Annotated[Names, Field("Approve all except this bead or change, which waits.", ("--without",), NAME, TEXT)]
Overwrite = Annotated[Names, Field("Approve this even if the bead has changed.", ("--overwrite",), NAME, TEXT)]
Drop = Annotated[Names, Field("Remove this proposed change, and approve nothing.", ("--drop",), NAME, TEXT)]
Seen = Annotated[str, Field("Approve only if --dry-run still shows this revision.", ("--seen",), "REVISION")]


def commit_strategy(
    app: "App",
    by: str,
    only: Only = (),
    without: Without = (),
    overwrite: Overwrite = (),
    drop: Drop = (),
    revision: Seen = "",
) -> tuple["Approved | dict[str, Any]", str]:
    """Approve what was proposed, or of it `only` these or all `without` these; or refuse what is to `drop`.

    NotAllowed where `revision` is another by now."""
    from ..features.service import approving

    if drop:
        if only or without or overwrite:
            hint = "Leave out --drop, or the other options."
            raise UsageError("--drop cannot be combined with --only, --without or --overwrite", hint)
        gone = approving.drop(app.store, drop, by)
        return {"dropped": list(gone)}, f"dropped: {', '.join(gone)}"
    choice = approving.Choice(frozenset(only), frozenset(without), frozenset(overwrite))
    done = approving.commit_strategy(app.store, app.git, app.paths, by, choice, revision or None)
    told = " and ".join(approving.told(app.store, done))
    told = told or ("nothing was approved" if done.left else "nothing needs approval")
    told += f"; main has the new .nobrakes/beads.jsonl (commit {done.commit[:12]})" if done.commit else ""
    told += f"; not approved, because the bead has changed: {', '.join(done.left)}" if done.left else ""
    if done.settings_left:
        told += f"; not committed, because main has a different version: {', '.join(done.settings_left)}"
    gone = done.dropped
    return done, told + (f"; dropped, because the bead is closed or has the change: {', '.join(gone)}" if gone else "")
