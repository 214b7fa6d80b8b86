"""Plan files: what the graph should be, applied as a whole or not at all; and the snapshot of the graph."""

import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ..beads.model import Bead, BeadType
from ..command_table import Field
from ..errors import Deadlock, NobrakesError, UsageError
from ..paths import resource
from ..text.cleaning import count, count_beads_and_epics, cut, first_of, one_line, pad, width
from .outcome import KEPT, Output, actor, confirm, opened, report_progress, said, write
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..app import App
    from ..beads.proposals import ProposedChange
    from ..features.service.strategy import ChangedBead, StrategyView
    from ..plans.beads_file import BeadsSync
    from ..plans.nodes import PlanNode
    from ..plans.service import PlanReport


SHOWN = 30
AsJson = Annotated[bool, Field("Print JSON instead of text.", ("--json",))]
PlanFile = Annotated[Path, Field("A plan, task list, issues or folder; '-' reads stdin.", metavar="FILE")]


def _approval(app: "App", command: str = "") -> str:
    from ..features.reviewed_plan import approval

    wanted, first = approval(app.store, app.config.forge)
    return wanted if first else command or wanted


def _report(report: "PlanReport", screen: Screen, then: str) -> str:
    from ..plans import service

    counted = f"{count(len(report.new), 'new bead')}, {len(report.changed)} changed, {len(report.unchanged)} unchanged"
    if report.proposed:
        counted += f", {count(len(report.proposed), 'change')} to live beads proposed"
    out = [counted + ("" if report.applied else screen.paint("  (nothing was written)", "yellow"))]
    out += _named(screen.paint("new", "green"), report.new)
    out += _named(screen.paint("changed", "cyan"), report.changed)
    out += _named(screen.paint("proposed for", "cyan"), report.proposed)
    for circle in report.deadlocks:
        out.append(f"{screen.paint('deadlock', 'red')}: {service.told(circle)}")
        out.append(f"  these beads could never start: {', '.join(circle.stuck)}")
    out += [f"removed dependency: {edge.bead} no longer waits for {edge.needs}" for edge in report.cut]
    out += [f"{screen.paint('warning', 'yellow')}: {one_line(problem)}" for problem in report.problems[:SHOWN]]
    out += [f"  … and {len(report.problems) - SHOWN} more: --json"] if len(report.problems) > SHOWN else []
    out += _named("can start first", report.ready)
    out += _chain(report.critical_path)
    if then:
        out.append(f"agents start only after you approve these beads: {then}")
    return "\n".join(out)


def apply(plan: PlanFile, as_json: AsJson = False, **given: Any) -> Output:
    """Change the graph of beads to match a plan. New beads become drafts, and live beads get proposed changes.
    Both wait for `nobrakes approve`. If you apply the same file again, nothing changes.

    `nobrakes plan FILE` is the same; write `./apply` for a file that is called like a command. nobrakes looks at the
    file for its format: a plan in YAML or JSON, also inside Markdown; Beads JSONL; a Markdown task list; the tasks
    of task-master, Backlog.md, spec-kit or Kiro, also as a folder; or the output of `gh issue list --json
    number,title,body,labels,state,milestone`. It lists what it does not take."""
    from ..files import wake
    from ..plans import service

    with opened() as app:
        with report_progress(f"reading {one_line(plan.name)}"):
            read = service.read_plan(str(plan), service.StoredIds(app.store))
            drafted = [*_drafted(read.nodes)]
            begins_live = given["live"] or read.live
            makes_drafts = any(one.status == "draft" or (one.status is None and not begins_live) for one in read.nodes)
        with report_progress(f"adding {count(len(read.nodes), 'bead')}"):
            report = service.apply_plan(app.store, read, actor=actor(), explain=as_json or KEPT.get(), **given)
        if report.applied:
            wake(app.paths)
        waits = bool(report.applied and (report.proposed or (report.new and makes_drafts)))
        then = _approval(app) if waits else ""
    return _output(drafted, report, then)


def _output(drafted: Sequence[str], report: "PlanReport", then: str) -> Output:
    return Output(report, lambda screen: "\n".join([*drafted, _report(report, screen, then)]), _refusal(report))


def _refusal(report: "PlanReport") -> Deadlock | None:
    from ..plans import service

    if report.deadlocks and not report.applied and not report.cut:
        return Deadlock(service.told(report.deadlocks[0]))
    return None


def propose(plan: PlanFile, **given: Any) -> Output:
    """File the beads of a plan as drafts, and propose its changes of live beads. Both wait for `nobrakes
    approve`. It reads what `nobrakes plan FILE` reads, and makes nothing live."""
    from ..features.service import approving
    from ..plans import service

    with opened() as app:
        read = service.read_plan(str(plan), service.StoredIds(app.store))
        drafted = [*_drafted(read.nodes)]
        report = approving.propose(app.store, read, actor(), **given)
        then = _approval(app) if report.applied and (report.new or report.proposed) else ""
    return _output(drafted, report, then)


def _drafted(nodes: "Collection[PlanNode]") -> Iterator[str]:
    if all(node.bead or (isinstance(node.place, int) and not node.key) for node in nodes):
        return  # the person gave these ids
    ids = {node.key: node.name for node in nodes}
    for node in islice(nodes, SHOWN):
        found = node.fields
        notes = [f"in {ids.get(found['epic'], found['epic'])}"] if found.get("epic") else []
        notes += [f"after {', '.join(ids.get(one, one) for one in node.needs[:SHOWN])}"] if node.needs else []
        many = len(found.get("acceptance", ()))
        notes += ["1 criterion" if many == 1 else f"{many} criteria"] if many else []
        title = one_line(found.get("title", ""))
        yield f"{node.name}  {found.get('type', 'task')}  {title}" + (f"  ({'; '.join(notes)})" if notes else "")
    if len(nodes) > SHOWN:
        yield f"… and {len(nodes) - SHOWN} more"


def example() -> Output:
    """Print an example of a plan file."""
    text = Path(resource("config/plan.yaml")).read_text(encoding="utf-8")
    return said({"plan": text}, text.rstrip("\n"))


def commit_strategy(
    yes: Annotated[bool, Field("Approve without being asked.", ("--yes", "-y"))] = False,
    dry_run: Annotated[bool, Field("Only show what the approval would change.", ("--dry-run",))] = False,
    as_json: Annotated[bool, Field("Print JSON; needs --yes, --dry-run or --drop.", ("--json",))] = False,
    **given: Any,
) -> Output:
    """Approve drafts and proposed changes of live beads; agents may then start. It approves everything or nothing.

    It first shows the new beads, the old and new value of each proposed change, the beads that become ready, and the
    critical path. Then it asks. If somebody edited a bead after a change was proposed, that change keeps waiting.

    It commits the graph on main as .nobrakes/beads.jsonl, even if only other parts of the graph changed."""
    from ..decisions import commands
    from ..features.service import approving, strategy

    if dry_run and given.get("drop"):
        raise UsageError("--drop and --dry-run cannot be combined", "Use --drop or --dry-run.")
    with opened() as app:
        if not given.get("drop"):
            found = strategy.strategy(app.store)
            if dry_run:
                return Output(found, lambda screen: "\n".join(difference_lines(found, screen)))
            if found.is_empty:
                given = {}
            elif not yes:
                if as_json or not sys.stdin.isatty():
                    then = _approval(app, "nobrakes commit-strategy --yes")
                    raise UsageError(
                        f"{_counted(found)[0]} would be approved, but there is no terminal to ask you",
                        f"Look at the drafts with `nobrakes commit-strategy --dry-run`, then type `{then}`.",
                    )
                write("\n".join(difference_lines(found, screen_of(sys.stdout))))
                if not confirm("Approve?"):
                    return said(approving.Approved((), None), "nothing was changed")
                given["revision"] = given.get("revision") or found.revision
        done, text = commands.commit_strategy(app, actor(), **given)
        from ..daemon.service import control

        begun = control.running(app.paths) is not None
    out = [text]
    if isinstance(done, approving.Approved):
        if done.left:
            out.append(f"to compare: nobrakes commit-strategy --dry-run; to approve anyway: --overwrite {done.left[0]}")
        if done.replaced and done.commit:
            names = first_of(list(done.replaced), SHOWN)
            out.append(f"main's snapshot had changes of another clone, and the new one does not: {names}")
            out.append(f"to see theirs: git show {done.commit[:12]}~1:.nobrakes/beads.jsonl")
        out += ["to undo: nobrakes undo"] if done.approved or done.changes or done.features else []
        out += ["to start the work: nobrakes run"] if done.approved and not begun else []
    return said(done, "\n".join(out))


def _counted(found: "StrategyView") -> tuple[str, int]:
    changes = sum(len(bead.changes) for bead in found.proposed)
    parts = _drafts_in_words(found.drafts) if found.drafts else []
    parts += [count(changes, "proposed change")] if changes else []
    words = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return words, len(found.drafts) + changes


def _drafts_in_words(drafts: Sequence[Bead]) -> list[str]:
    epics = sum(draft.type is BeadType.EPIC for draft in drafts)
    return count_beads_and_epics(len(drafts) - epics, epics)


def waiting(found: "StrategyView") -> str:
    words, many = _counted(found)
    return f"{words} {'waits' if many == 1 else 'wait'}"


def difference_lines(found: "StrategyView", screen: Screen) -> list[str]:
    """The effect of commit-strategy."""
    new = _drafts_in_words([draft for draft in found.drafts if draft.id in found.new])
    out = [f"{' and '.join(new)} would go live" + (":" if found.new else "")]
    out += _drafts(found, screen)
    if found.proposed:
        out.append(f"{count(len(found.proposed), 'bead')} would change:")
        for bead in found.proposed[:SHOWN]:
            out += _bead(bead, screen)
        if len(found.proposed) > SHOWN:
            out.append(f"  … {len(found.proposed) - SHOWN} more: nobrakes commit-strategy --dry-run --json")
    out += _named("beads edited since the last approval", found.changed)
    out += _named("beads cancelled since then", found.removed)
    out += [screen.paint(f"beads that can never start: {', '.join(circle.stuck)}", "red") for circle in found.deadlocks]
    out += [f"{screen.paint('warning', 'yellow')}: {one_line(text)}" for text in found.warnings]
    out += _named("ready to start", found.becomes_ready)
    out += _chain(found.chain_after.beads)
    if found.chain_after.minutes != found.chain_before.minutes and found.chain_before.beads:
        out.append(f"  {count(found.chain_after.minutes, 'minute')} by estimate, {found.chain_before.minutes} before")
    changes = [change for bead in found.proposed for change in bead.changes]
    if changes:
        out.append(f"to leave a change out: --without {changes[0].name}; to reject it: --drop {changes[0].name}")
    return out


def _drafts(found: "StrategyView", screen: Screen) -> list[str]:
    drafts, needs = [draft for draft in found.drafts if draft.id in found.new], found.needs
    wide = max((width(draft.id) for draft in drafts[:SHOWN]), default=0)
    out = []
    for draft in drafts[:SHOWN]:
        after = f"  (after {', '.join(needs[draft.id])})" if needs.get(draft.id) else ""
        line = f"{pad(draft.id, wide)}  P{draft.priority}  {one_line(draft.title)}{after}"
        out.append(f"  {screen.paint('+', 'green')} {cut(line, screen.width - 4)}")
    return out + ([f"  … {len(drafts) - SHOWN} more: nobrakes list --status draft"] if len(drafts) > SHOWN else [])


def _bead(bead: "ChangedBead", screen: Screen) -> Iterator[str]:
    head = f"{bead.bead}  {one_line(bead.title)}  ({bead.status.value})"
    yield f"  {screen.paint('~', 'cyan')} {cut(head, screen.width - 4)}"
    for change in bead.changes:
        for line in _change(change, screen):
            style = {"+": "green", "-": "red", "!": "yellow"}.get(line.lstrip()[:1])
            shown = cut(f"      {line}", screen.width)
            yield screen.paint(shown, style) if style else shown


_NOTES = {"already": "  (so already)", "closed": "  (no effect: the bead is closed)"}


def _change(change: "ProposedChange", screen: Screen) -> Iterator[str]:
    before, after = change.before, change.after
    note = _NOTES.get(change.standing, "")
    if change.dependency is not None:
        word, _, needs = change.part.partition(":")
        yield f"{'+' if after else '-'} {word.replace('_', ' ')} {needs}{note}"
    elif change.part == "cancel":
        yield f"- cancel the bead{note}"
    elif change.standing == "edited":
        yield f"! {change.part} was edited after this change was proposed"
        yield from (
            f"  was:      {_value(before)}",
            f"  is now:   {_value(change.now)}",
            f"  proposed: {_value(after)}",
        )
    elif isinstance(after, list):
        yield f"{change.part}:{note}"
        old = before if isinstance(before, list) else []
        yield from (f"  - {_value(one)}" for one in old if one not in after)
        yield from (f"  + {_value(one)}" for one in after if one not in old)
        if sorted(map(str, old)) == sorted(map(str, after)):
            yield "  in another order"
    elif max(len(_value(before)), len(_value(after))) > screen.width // 3:
        yield from (f"{change.part}:{note}", f"  - {_value(before)}", f"  + {_value(after)}")
    else:
        yield f"{change.part}: {_value(before)} -> {_value(after)}{note}"


def _value(value: Any) -> str:
    import json

    if value is None or value == "":
        return "nothing"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _chain(ids: Sequence[str]) -> list[str]:
    """The critical path, a long one by its ends and its length."""
    if len(ids) <= SHOWN:
        return _named("critical path", ids, " -> ")
    return [f"critical path of {count(len(ids), 'bead')}: {' -> '.join((*ids[:3], '…', *ids[-3:]))}"]


def _named(word: str, ids: Sequence[str], between: str = ", ") -> list[str]:
    return [f"{word}: {first_of(ids, SHOWN, between)}"] if ids else []


Version = Annotated[str, Field("A version of the file, as git names it.", metavar="FILE")]


def merge_snapshot(
    base: Version,
    ours: Version,
    theirs: Version,
    path: Annotated[str, Field("The file's name in the repository.", metavar="PATH")] = "beads.jsonl",
) -> Output:
    """Merge two versions of a Beads JSONL file into the second argument. git runs this as a merge driver: `nobrakes
    init --merge-driver`. It reads these three files alone, and runs nothing."""
    from ..files import write_atomic
    from ..snapshot import record_merge

    old, first, second = (Path(one).read_bytes().decode("utf-8", "surrogateescape") for one in (base, ours, theirs))
    merged = record_merge.merge_texts(old, first, second, path)
    write_atomic(ours, merged.text().encode("utf-8", "surrogateescape"), None)
    told = [f"{id_}: {key}" for id_, key, *_ in merged.conflicts]
    error = NobrakesError(f"{path}: {count(len(told), 'conflict')}: {', '.join(told)}") if told else None
    return Output({"conflicts": merged.conflicts}, lambda screen: str(error or ""), error)


def sync_beads(
    file: Annotated[str, Field("The JSONL file (default: in the folder .beads).", ("--file",))] = "",
    dry_run: Annotated[bool, Field("Only show what would change.", ("--dry-run",))] = False,
    live: Annotated[bool, Field("New beads are live, and changes of live beads take effect now.", ("--live",))] = False,
) -> Output:
    """Keep a file of Beads (`bd`, `br`) and nobrakes' beads in step, both ways. Run it again at any time.

    It compares both with the last time. A text that changed in both is a conflict: each keeps its own,
    until you make them the same. New beads of the file become drafts, and changes of live beads wait for `nobrakes
    approve`; a status takes effect now. Lines that nobody changed stay as they are."""
    from ..files import wake
    from ..plans import beads_file

    with opened() as app:
        path = beads_file.file_of(app.paths, file)
        done = beads_file.sync(app.store, app.paths, path, actor(), live=live, dry_run=dry_run)
        if done.taken and not dry_run:
            wake(app.paths)
        then = _approval(app) if done.plan and (done.plan.proposed or (done.plan.new and not live)) else ""
    error = NobrakesError(count(len(done.conflicts), "conflict")) if done.conflicts else None
    return Output(done, lambda screen: "\n".join(_synced(done, then)), error)


def _synced(done: "BeadsSync", then: str) -> Iterator[str]:
    for where, changes in (("to the file", done.written), ("to nobrakes", done.taken)):
        yield f"{count(len(changes), 'change')} {where}" + ("" if done.applied else "  (nothing was written)")
        for bead, key, before, after in changes[:SHOWN]:
            yield f"  {bead}  " + (f"{key}: {_value(before)} -> {_value(after)}" if key else f"new: {_value(after)}")
        if len(changes) > SHOWN:
            yield f"  … and {len(changes) - SHOWN} more: --json"
    for bead, key, there, here in done.conflicts:
        yield f"conflict: {bead}  {key}: {_value(there)} in the file, {_value(here)} here"
    yield from (one_line(note) for note in done.notes[:SHOWN])
    if then:
        yield f"to approve: {then}"
