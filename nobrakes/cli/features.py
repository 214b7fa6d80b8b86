"""Features of the Forge: listed, shown with their plan, rolled back; and the Shaper in a terminal."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

from ..beads.service.bead_commands import known
from ..command_table import Field
from ..errors import AgentFailed, NotAllowed, UsageError
from ..paths import process_environment
from ..records import plain
from ..text.cleaning import count, cut, lasted, lines, one_line, pad
from .hot import request_text
from .outcome import BeadId, FeatureId, Output, actor, looked_at, opened, write
from .plans import difference_lines, waiting
from .screen import Screen

if TYPE_CHECKING:
    from ..beads.work_status import WorkStatus
    from ..features.model import PlanChanges
    from ..features.reviewed_plan import Iteration
    from ..features.service.controls import ScanView
    from ..features.service.feature_page import (
        FeatureCard,
        FeatureListView,
        FeatureView,
        PlanLook,
        PlanStep,
        Requests,
        ReviewsView,
    )
    from ..features.service.rollback import RollbackStep, RollbackView


WAYS = ("tree", "kanban", "timeline")


def list_features(
    state: Annotated[str, Field("all, active, paused, completed, expired, error, rolled_back.", ("--state",))] = "all",
    search: Annotated[str, Field("Only features with these words in title, text or paths.", ("--search", "-s"))] = "",
    sort: Annotated[str, Field("The order: activity, created or stage.", ("--sort",))] = "activity",
    archived: Annotated[bool, Field("List only features that are hidden from lists.", ("--archived",))] = False,
) -> Output:
    """List your features: the stage of each, its age, and how often it was planned again."""
    from ..features.service import feature_page

    with looked_at() as app:
        found = feature_page.listed(app.store, state, search, sort, archived)
    return Output(found, lambda screen: "\n".join(_list(found)))


def _list(found: "FeatureListView") -> list[str]:
    out = [_card(one, found.now) for one in found.features]
    if found.hidden and not any(one.archived for one in found.features):
        out.append(
            f"{found.hidden} more {'is' if found.hidden == 1 else 'are'} hidden: `nobrakes forge list --archived`"
        )
    return out or ["there is no feature; `nobrakes forge new TITLE -d TEXT` starts one"]


def _card(one: "FeatureCard", now: float) -> str:
    state = one.state.replace("_", " ")
    told = [f"{one.done} of {count(one.beads, 'bead')} done"] if one.beads else []
    told += [f"{one.merged} of {count(one.requests, 'pull request')} merged"] if one.requests else []
    told += [f"round {one.round}"] if one.round else []
    told += [f"replanned {one.replannings}x"] if one.replannings else []
    told += [count(one.questions, "question")] if one.questions else []
    told += [f"{one.items} collected"] if one.items else []
    more = f"  ({', '.join(told)})" if told else ""
    stage = one.stage.replace("_", " ")
    where = f"{pad(one.id, 9)}  {pad(state, 11)} {pad(stage, 14)} {pad(lasted(now - one.created_at), 8)}"
    return f"{where}  {cut(one_line(one.title), 60)}{more}"


def show(
    feature: FeatureId,
    way: Annotated[str, Field("How to show the plan: tree, kanban or timeline.", ("--as",), metavar="WAY")] = "tree",
    version: Annotated[int | None, Field("Show what this plan version changes.", ("--version",), least=1)] = None,
) -> Output:
    """Show one feature: its stage, its plan and versions, its reviews and findings, and what was collected."""
    from ..features.service import feature_page

    if way not in WAYS:
        raise UsageError(f"'{one_line(way)[:40]}' is not a plan view", f"Use one of: {', '.join(WAYS)}.")
    with looked_at() as app:
        if version is not None:
            differs = feature_page.difference(app.store, feature, version)
            return Output(differs, lambda screen: "\n".join(_differs(differs)))
        found = feature_page.view(app.store, feature)
    return Output(found, lambda screen: "\n".join(_page(found, way, screen)))


def _page(found: "FeatureView", way: str, screen: Screen) -> list[str]:
    from ..features.commands import criteria
    from ..features.reviewed_plan import to_answer

    one = found.feature
    state = one.state.value.replace("_", " ")
    out = [screen.paint(f"{one.id}: {one_line(one.title)}", "bold")]
    again = f", replanned {count(one.replannings, 'time')}" if one.replannings else ""
    out.append(f"{found.card.stage.replace('_', ' ')}, {state}, {lasted(found.now - one.created_at)} old{again}")
    out += [f"  {line}" for line in lines(one.description)[:12]]
    out += ["", "The feature is done when:", *criteria(one)]
    if one.files:
        out.append(f"The feature touches: {cut(one_line(', '.join(one.files)), 300)}")
    for asked in found.questions:
        out.append(f"needs you: {asked.id}  {cut(one_line(asked.title), 90)}  (`nobrakes escalation {asked.id}`)")
    out += [
        "",
        f"The plan ({count(found.card.beads, 'bead')}, {f'version {one.plan}' if one.plan else 'no version yet'}):",
    ]
    out += _PLANS[way](found.plan) or ["  no step yet"]
    for kept in found.versions:
        changed = kept.changes
        told = f"{len(changed.added)} new, {len(changed.gone)} removed, {len(changed.changed)} changed"
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
    out += _requests(found.requests)
    if found.at_work:
        out += ["", "At work:", *(f"  {_condition(status)}" for status in found.at_work)]
    if found.items:
        out += ["", "Collected:"]
        out += [
            f"  {i.id} {i.kind.value}, {i.state.value}: {cut(one_line(i.text), 90)}{_at(i.file, i.line)}"
            for i in found.items
        ]
        out += [f"  before the sign-off, type: {to_answer(i)}" for i in found.items if i.is_open_point]
    return out


def _requests(found: "Requests") -> list[str]:
    if not found.each:
        return []
    out = ["", f"Pull requests: {found.merged} of {found.expected} merged"]
    for one in found.each:
        out += [f"  {one.name} {one.bead}, {one.state.value}", *request_text(plain(one), "    ")]
    return out


def _condition(one: "WorkStatus") -> str:
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
    from ..features.service.feature_page import At

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
    return out or ["this version of the plan changes nothing"]


def _value(value: object) -> str:
    return cut(one_line(str(value)), 70) if value is not None else "nothing"


def scan(feature: FeatureId) -> Output:
    """List comments such as `TODO` in the code that the feature starts from. Comments in files that the feature touches
    become open points of it; the others are only shown."""
    from ..features.service import controls

    with looked_at() as app:
        found = controls.scan_of(app.store, app.git, feature)
    return Output(found, lambda screen: "\n".join(_scan(found)))


def _scan(found: "ScanView") -> list[str]:
    out = [f"{count(found.files, 'file')} searched at {found.base[:12] or 'no commit'}"]
    for heading, finds in (("found in files that the feature changes", found.blocking), ("elsewhere", found.others)):
        out += ["", f"{heading} ({len(finds)}):"] if finds else []
        out += [f"  {one.kind.value}  {cut(one_line(one.text), 90)}{_at(one.file, one.line)}" for one in finds]
    out += [f"  and {found.more} more"] if found.more else []
    out += [f"not searched, too large: {one_line(', '.join(found.skipped[:20]))}"] if found.skipped else []
    return out


BAR = 20


def reviews(feature: FeatureId) -> Output:
    """Show the reviews of a feature's plan: the number of rounds, the findings, the cost and its limit."""
    from ..features.reviewed_plan import to_sign, unsigned
    from ..features.service import feature_page

    with looked_at() as app:
        rules = app.config.forge
        found = feature_page.reviews(app.store, rules, feature)
        lacks = unsigned(app.store, {feature})
        then = [] if lacks is None else ["To continue now: {} ({})".format(*to_sign(app.store, rules, lacks))]
    return Output(found, lambda screen: "\n".join((*_lines(found), *then)))


def _lines(found: "ReviewsView") -> Iterator[str]:
    full = round(BAR * min(1.0, found.done / found.most))
    done = f"{found.done}/{count(found.most, 'review')}"
    yield f"{done}  [{'#' * full}{'.' * (BAR - full)}]  {found.clean} in a row without findings"
    for one in found.iterations:
        yield f"  {_iteration(one)}"
    for review in found.running:
        yield f"  a reviewer for {review.domain} is reading version {review.plan}"
    for finding in found.findings:
        about = f" ({finding.bead})" if finding.bead else ""
        answer = f": {one_line(finding.answer)}" if finding.answer else ""
        state = finding.state.value.replace("_", " ")
        yield f"  P{finding.priority} {finding.category}{about}: {one_line(finding.issue)} [{state}{answer}]"
    cost = found.estimate
    basis = "based on the reviews so far" if cost.known else "estimated; no review has finished yet"
    if found.next:
        usd = f"about ${cost.round_usd:.2f} ({basis}); all remaining rounds about ${cost.all_usd:.2f}"
        yield f"next round: {', '.join(found.next)}; {usd}"
    if found.may_review_again:
        yield f"to start this round before the sign-off, type: nobrakes forge resume {found.feature} --another-round"
    yield f"spent ${cost.spent_usd:.2f} of at most ${cost.cap_usd:.2f}"
    if found.signed:
        yield f"signed off: version {found.signed['version']}, by {one_line(str(found.signed['actor']))}"


def _iteration(one: "Iteration") -> str:
    by_category = ", ".join(f"{name} {number}" for name, number in sorted(one.categories.items()))
    what = {"running": "is running", "clean": "found nothing", "degraded": "no reviewer finished"}
    text = what.get(one.end.value) or f"{count(one.found, 'finding')} ({by_category})"
    failed = f"; failed: {', '.join(one.failed)}" if one.failed else ""
    open_ = f"; {one.open} open" if one.open else ""
    return f"round {one.number}, version {one.plan}, {', '.join(one.domains)}: {text}{open_}{failed}"


MAX_NAMED = 20


def rollback(
    yes: Annotated[bool, Field("Do it.", ("--yes", "-y"))] = False,
    dry_run: Annotated[bool, Field("Only show what the command would do.", ("--dry-run",))] = False,
    **given: Any,
) -> Output:
    """Undo a whole feature. It cannot be resumed afterwards; nothing is deleted. Its open beads are cancelled, their
    work is archived, and their agents stop. One commit on main reverts its merges, newest first; this commit must pass
    the checks like any merge. Without --yes it only shows what would happen."""
    from ..features import commands
    from ..features.service.rollback import look

    with opened() as app:
        if yes and not dry_run:
            seen, _ = commands.rollback(app, actor(), **given)
        else:
            seen = look(app.store, app.git, given["feature"])
    if not (yes or dry_run):
        raise NotAllowed(_what(seen), f"To roll back: `nobrakes forge rollback {seen.feature} --yes`.")
    return Output(seen, lambda screen: "\n".join(_shown(seen, screen)))


def _what(seen: "RollbackView") -> str:
    gone = f"; {count(len(seen.off_main), 'merge')} skipped, because no longer on main" if seen.off_main else ""
    stops = f" ({count(len(seen.stops), 'agent')} stopped)" if seen.stops else ""
    taken = f"{count(len(seen.reverts), 'merge')} reverted on main by one commit"
    if not seen.reverts:
        taken = "no merge of the feature reverted on main"
    return (
        f"not rolled back. A rollback of {seen.feature} means: {count(len(seen.cancels), 'bead')} cancelled{stops}, "
        f"{taken}{gone}"
    )


def _shown(seen: "RollbackView", screen: Screen) -> list[str]:
    title = f"feature {seen.feature} ({cut(one_line(seen.title), 60)})"
    if seen.is_over:
        head = f"{title} is rolled back; main had no merge of the feature"
    elif seen.is_begun:
        head = f"{title} is being rolled back by bead {seen.bead}: `nobrakes show {seen.bead}` shows the progress"
    else:
        head = f"{title}: the effects of a rollback"
    out = [screen.paint(head, "bold")]
    for words, steps in (
        ("cancelled" if seen.is_begun else "to cancel", seen.cancels),
        ("to revert on main, newest first", seen.reverts),
        ("skipped, because main no longer has the merge", seen.off_main),
    ):
        out += _rollback_list(words, steps, set(seen.stops))
    return out


def _rollback_list(words: str, steps: "tuple[RollbackStep, ...]", stops: set[str]) -> list[str]:
    if not steps:
        return []
    out = [f"{words} ({len(steps)}):"]
    for one in steps[:MAX_NAMED]:
        at_work = "  its agent is stopped" if one.bead in stops and not one.commit else ""
        commit = f"  {one.commit[:12]}" if one.commit else ""
        out.append(f"  {one.bead}{commit}  {cut(one_line(one.title), 70)}{at_work}")
    return [*out, *([f"  and {len(steps) - MAX_NAMED} more"] if len(steps) > MAX_NAMED else [])]


PrintOnly = Annotated[bool, Field("Only print the Shaper's prompt; start no session.", ("--print",))]
GoOn = Annotated[bool, Field("Continue the last session instead of a new one.", ("--continue",))]
JsonPrompt = Annotated[bool, Field("Print the prompt as JSON; start no session.", ("--json",))]
BEGINS = """\
The Shaper starts in Claude Code. If Claude Code asks whether you trust the folder
.nobrakes/shaper, answer yes: the folder belongs to nobrakes.
Type /commit-strategy to approve the Shaper's plan, or /exit to leave and keep it.
"""


def shape(
    reshape: Annotated[bool, Field("Start from open escalations, like `reshape`.", ("--reshape",))] = False,
    go_on: GoOn = False,
    print_only: PrintOnly = False,
    as_json: JsonPrompt = False,
) -> Output:
    """Plan with the Shaper: an agent that asks questions until the work is clear, then files beads as drafts.

    It starts Claude Code in this terminal, under your account. The Shaper reads the repository and changes nothing in
    it; for everything else it asks you. No agent works before you approve the drafts: type /commit-strategy in the
    session, or `nobrakes approve` afterwards.

    To plan without it: `nobrakes plan example`, or give the text of `nobrakes shape --print` to an agent of your own.
    """
    from ..daemon.service import control
    from ..features.reviewed_plan import approval
    from ..features.service import approving, shaping, strategy
    from ..host import command
    from ..host.locks import run_interactive

    with opened() as app:
        overrides = os.path.join(app.paths.folder, "roles")
        prompt = shaping.shaper_prompt(app.store, app.config, "reshape" if reshape else "initial", overrides)
        if print_only or as_json:
            return Output({"prompt": prompt}, lambda screen: "\n".join(lines(prompt)))
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "the Shaper talks with you, so it needs a terminal",
                "Use a terminal, or give the text of `nobrakes shape --print` to your own agent.",
            )
        talk = shaping.conversation(app.paths, app.config, prompt, process_environment(), go_on)
        shaping.install_skills(app.paths, app.config.agents.shaper)
        command.install(app.paths)
        before = approving.approved(app.store)
    write(BEGINS)
    code = run_interactive(talk.argv, talk.env, talk.cwd)
    with opened() as app:
        live = sorted(approving.approved(app.store) - before)
        approved = approving.beads_and_epics(app.store, live)
        found = strategy.strategy(app.store)
        then, _ = approval(app.store, app.config.forge)
        begin = "" if control.running(app.paths) else " To start the work: nobrakes run"
    failed = AgentFailed(f"the Shaper's session ended with exit code {code}") if code else None

    def text(screen: Screen) -> str:
        out = [screen.paint("error: ", "red") + f"{failed}\n  {failed.hint}"] if failed else []
        if live:
            out.append(f"{approved} went live.{begin}")
        if not found.is_empty:
            out += [f"{waiting(found)} for your approval:", *difference_lines(found, screen)]
            out.append(f"to see the proposals again and approve: {then}")
        if not (live or not found.is_empty or failed):
            out.append("Nothing was proposed. To continue the conversation: nobrakes shape --continue")
        return "\n".join(out)

    data = {"exit": code, "live": live, "drafts": plain(found.drafts), "proposed": plain(found.proposed)}
    return Output(data, text, failed)


def reshape(go_on: GoOn = False, print_only: PrintOnly = False, as_json: JsonPrompt = False) -> Output:
    """Plan the next step: the Shaper starts from open escalations, suggestions and lessons. Otherwise like `nobrakes
    shape`."""
    return shape(reshape=True, go_on=go_on, print_only=print_only, as_json=as_json)


def prompt(
    bead: BeadId,
    role: Annotated[
        str | None,
        Field(
            "`test_writer` or `doer`; for a feature `discovery`, `planning`, `replanning` or `plan_reviewer`. "
            "Default: the role that comes next.",
            ("--role",),
        ),
    ] = None,
) -> Output:
    """Print what the next agent on this bead or feature would get: its role, then its prompt. It starts nothing. The
    real prompt differs in one word: the random mark around text that agents wrote."""
    from ..beads.model import Role
    from ..features.service import approving, shaping

    with opened() as app:
        known(app.store, bead)
        if any(one.id == bead for one in app.store.features(going=False)):
            _one_of(role, shaping.ROLES, "a role with a feature")
            found = shaping.feature_prompt(app.store, app.paths, app.config, app.git, bead, role)
        else:
            _one_of(role, (Role.TEST_WRITER.value, Role.DOER.value), "a role with a bead")
            wanted = None if role is None else Role(role)
            found = approving.bead_prompt(app.store, app.paths, app.config, bead, wanted, app.git)
    data = {"bead": bead, "system": found.system, "prompt": found.prompt}
    return Output(data, lambda screen: "\n".join([*lines(found.system), "", *lines(found.prompt)]))


def _one_of(role: str | None, allowed: tuple[str, ...], what: str) -> None:
    if role is not None and role not in allowed:
        raise UsageError(f"'{one_line(role)[:40]}' is not {what}", f"Use one of: {', '.join(allowed)}.")
