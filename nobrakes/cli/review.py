"""Pull requests, the evidence of merges, and flaky checks, from the command line."""

import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from ..beads.work_status import main_of
from ..command_table import Field
from ..errors import NotAllowed, Unproven, UsageError
from ..records import plain
from ..text import cleaning
from ..text.cleaning import age, cut, one_line, spoken
from .hot import request_text
from .outcome import AsJson, Output, TextLayout, actor, looked_at, opened, said
from .screen import Screen, table

if TYPE_CHECKING:
    from ..review.service.merges import Record
    from ..review.verify import Report, Rerun, Seen, Wrong


Bead = Annotated[str, Field("The bead.", metavar="BEAD")]


def show_all(everything: Annotated[bool, Field("Include merged and closed requests.", ("--all",))] = False) -> Output:
    """List the pull requests that wait for people, the oldest first."""
    from ..requests import service as operations

    with looked_at() as app:
        found, unsaid = operations.listed(app.store, everything), operations.unsaid(app.store, app.config)
        now = app.store.now()
    words = [f"{bead.id} has passed its checks; to push, type: nobrakes pr open {bead.id}" for bead in unsaid]

    def text(screen: Screen) -> str:
        rows = [
            (one.name, one.state, one.bead, one_line(one.title), age(now - one.opened_at), one.url) for one in found
        ]
        titles = ("REQUEST", "STATE", "BEAD", "TITLE", "OPENED", "ADDRESS")
        shown = table(titles, rows, screen) or ("" if words else "no pull request is waiting for people")
        return "\n".join(filter(None, [shown, *words]))

    return Output(found, text)


def preview(bead: Annotated[str, Field("Only this bead's preview, with its output.", metavar="BEAD")] = "") -> Output:
    """List previews, or show what one prints."""
    from ..beads.service.bead_commands import known
    from ..review.service import previews

    with looked_at() as app:
        if bead:
            known(app.store, bead)
        found = previews.all_of(app.paths) if not bead else [one for one in [previews.shown(app.paths, bead)] if one]
        now = app.store.now()
    if bead and not found:
        raise UsageError(f"{bead} has no preview", f"To start a preview: nobrakes preview start {bead}")

    def text(screen: Screen) -> str:
        rows = [(one.bead, one.state, one.url, age(now - one.started_at), one_line(one.by)) for one in found]
        shown = table(("BEAD", "STATE", "ADDRESS", "STARTED", "BY"), rows, screen)
        return "\n".join([shown or "no preview is running or stored", *(cleaning.lines(found[0].log) if bead else ())])

    return Output(found, text)


def show(bead: Bead) -> Output:
    """Show a bead's pull request: its address, what it waits for, and what was tested."""
    from ..requests import service as operations

    with looked_at() as app:
        found = operations.one(app.store, bead)
        now = app.store.now()
    looked = f"last checked {age(now - found.looked_at)} ago" if found.looked_at else "not checked yet"
    lines = [
        f"{found.name}  {one_line(found.title)}  ({found.state.value})",
        one_line(found.url),
        *request_text(plain(found), ""),
        f"branch {found.branch} at {found.head[:12]}, tested on {found.base[:12]}; {looked}",
        f"for the branch {found.into}" if found.into else "",
        f"merged as {found.merged_as[:12]}" if found.merged_as else "",
    ]
    return said(found, "\n".join(line for line in lines if line))


def view(bead: Bead) -> Output:
    """Show a bead's pull request in the browser. If it waits for your permission, this allows nobrakes to push and open
    it."""
    from ..host.command import open_address
    from ..review import commands

    with opened() as app:
        found, told = commands.view(app, actor(), bead)
    if found["url"]:
        open_address(found["url"])
    return said(found, told)


LISTED = {
    "revert": "a revert of a merge",
    "other_revert": "a manual revert of a bead, without evidence",
    "earlier": "a bead merged before evidence was recorded",
    "own": "a person's own commit",
    "taken_back": "a bead that was merged and later reverted",
}
"""Remarks on commits that are listed without a fault."""
_WRONG, _UNDER = "WRONG", 8
"""The mark of a fault, and the indent of its further lines."""
_HUNG = len("validate   ")


def review(
    bead: Annotated[str | None, Field("Show the evidence of this bead's merges.", metavar="BEAD")] = None,
    limit: Annotated[int, Field("Without a bead: the maximum number of reviews.", ("--limit", "-n"), least=1)] = 20,
) -> Output:
    """Show what the Reviewer merged and rejected, newest first; with a bead, the evidence of its merges. Evidence names
    the trees, the results of the checks, the test counts, who did the work, and the cost. It is read from git alone
    (refs/nobrakes/evidence)."""
    from ..review.service import merges

    if bead is None:
        from .beads import reviews

        return reviews(limit)

    with looked_at() as app:
        found = merges.records_of(app.git, bead)
    return Output(found, lambda screen: "\n\n".join(_shown(one, screen) for one in found))


def verify(
    range: Annotated[str | None, Field("A range as for `git log`: A..B (default: all).", metavar="RANGE")] = None,
    rerun: Annotated[bool, Field("Run the recorded checks again on each merged commit.", ("--rerun",))] = False,
    today: Annotated[bool, Field("With --rerun: use the current checks of config.toml.", ("--today",))] = False,
    as_json: AsJson = False,
) -> Output:
    """Check that each merge on main has evidence, that git agrees with it, and that the chain of evidence is complete.

    It reads only git and runs nothing. With --rerun it checks out each commit again, runs its checks in the sandbox as
    usual, and compares the results with the evidence. It lists commits without a bead: those are commits of people. The
    exit code is 43 if something is wrong."""
    from .. import app as app_module
    from ..review.service import merges

    if today and not rerun:
        raise UsageError("--today has no effect without --rerun", "Add --rerun.")
    if rerun and os.environ.get("NOBRAKES_TOKEN"):
        raise NotAllowed("agents cannot run the checks of other beads", "Use `nobrakes review BEAD` instead.")

    def tell(line: str) -> None:
        if not as_json:
            sys.stderr.write(f"{line}\n")

    with opened() if rerun else looked_at() as app:
        report = merges.verify(app.git, range)
        if rerun:
            from ..review.service import merges

            report = merges.rerun(app.git, report, app_module.rerun(app, lambda _: None), today, tell)
    error = (
        Unproven(f"main and its evidence do not match: {_times(len(report.wrong), 'fault')}") if report.wrong else None
    )
    return Output(report, lambda screen: _report(report, screen), error)


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _report(report: "Report", screen: Screen) -> str:
    out = [_listed(seen, screen) for seen in report.commits if seen.word.value in LISTED]
    out += [f"rerun   {one.commit[:12]}  {one_line(one.bead)}: {_rerun(one)}" for one in report.reruns]
    layout = TextLayout(screen, is_whole=True)
    for note in report.notes:
        text = f"note    {note.commit[:12]}  evidence {note.evidence[:12]}  {note.bead}: {note.text}"
        out += layout.wrapped(one_line(text), "", _UNDER)
    for text in map(_wrong, report.wrong):
        first, *more = layout.wrapped(text, "", _UNDER)
        out += [first.replace(_WRONG, screen.paint(_WRONG, "red"), 1), *more]
    merged = sum(seen.word.value in ("merged", "taken_back") for seen in report.commits)
    out.append(f"{_times(len(report.commits), 'commit')} on main, {merged} of them merges of beads with evidence")
    end = f", the last is {report.tip[:12]}" if report.tip else ""
    out.append(f"{_times(report.records, 'record')} in the evidence chain{end}")
    if report.wrong:
        return "\n".join([*out, screen.paint(_times(len(report.wrong), "fault"), "red")])
    out.append(screen.paint("main matches its evidence", "green"))
    for text in _meaning(report, merged):
        out += layout.wrapped(text, "  ", 2)
    return "\n".join(out)


def _meaning(report: "Report", merged: int) -> Iterator[str]:
    if merged:
        yield (
            "A match means: git has the files and changes that each record names, each recorded check passed, and no "
            "record was changed or removed later."
        )
    else:
        yield "main has no commit of a bead with evidence, so there was nothing to compare."
    if report.reruns:
        yield f"The checks ran again on {_times(len(report.reruns), 'commit')} and passed."
    elif merged:
        yield "nobrakes ran no check again: `nobrakes verify --rerun` does."
    if listed := sum(seen.word.value in ("own", "earlier", "other_revert") for seen in report.commits):
        yield f"Not compared, because they have no record: {_times(listed, 'commit')} listed above."


def _listed(seen: "Seen", screen: Screen) -> str:
    who = one_line(seen.bead or seen.author.partition(" <")[0])
    line = f"listed  {seen.commit[:12]}  {who}  {LISTED[seen.word.value]}: {one_line(seen.subject)}"
    return cut(line, screen.width)


def _rerun(one: "Rerun") -> str:
    return "; ".join(_check({**check, "counts": plain(check["counts"])}) for check in one.checks) or "nothing was run"


def _wrong(one: "Wrong") -> str:
    where = [one.commit and one.commit[:12], one.evidence and f"evidence {one.evidence[:12]}", one_line(one.bead)]
    return f"{_WRONG}   {'  '.join(part for part in where if part)}: {one_line(one.text)}"


def _shown(found: "Record", screen: Screen) -> str:
    try:
        return _record(found, screen)
    except (KeyError, TypeError, ValueError, AttributeError) as error:  # somebody else wrote it
        wrong = screen.paint("WRONG", "red")
        return f"{wrong}: evidence {found.evidence} is incomplete: {one_line(str(error))}"


def _record(found: "Record", screen: Screen) -> str:
    record = found.record
    out = [f"{screen.paint('WRONG', 'red')}: invalid evidence: {one_line(found.problem)}"] if found.problem else []
    if not record:
        return "\n".join([*out, f"evidence {found.evidence}"])
    bead = record["bead"]
    layout = TextLayout(screen, is_whole=True)
    title = f"{one_line(bead['id'])}  {one_line(bead['title'])}  ({one_line(bead['type'])})"
    out += [screen.paint(line, "bold") for line in layout.wrapped(title, "", 2)]
    head = f"{_headline(record)}  {spoken(float(record['at']))}  evidence {found.evidence[:12]}"
    out += layout.wrapped(head, "", 2)
    for name in ("base", "branch", "merged"):
        if name in record:
            line = f"{name:<10} {record[name]['commit']}  tree {record[name]['tree'][:12]}"
            out += layout.wrapped(line, "  ", _HUNG)
    said = [
        *(line for step in record["steps"] for line in _step(step, record)),
        *_approved(record.get("approval")),
        *_read(record.get("fresh_eyes")),
        *_counts(record.get("counts"), _base(record)),
        *_contracts(record),
        *_attempts(record.get("attempts", ())),
    ]
    for line in said:
        out += layout.wrapped(line, "  ", _HUNG)
    return "\n".join([*out, *_excerpts(record, layout)])


def _headline(record: Mapping[str, Any]) -> str:
    commit = str(record["merged"]["commit"])[:12]
    if record["kind"] == "merge":
        taken = record.get("takes_back", ())
        asked = f", reverts {_times(len(taken), 'commit')}, as {one_line(str(record['by']))} asked" if taken else ""
        landed = f"merged into {_base(record)}" if record.get("epic") else "merged"
        return f"{landed} as {commit}{asked}"
    taken = ", ".join(str(one["commit"])[:12] for one in record["takes_back"])
    why = f"({one_line(str(record['why']))}, {one_line(str(record['by']))})"
    done = f"by {commit}" if record["kind"] == "revert" else f"by moving main back to {commit}"
    return f"{taken} was reverted {done} {why}"


def _base(record: Mapping[str, Any]) -> str:
    return main_of(str(record.get("epic") or ""))


def _step(step: Mapping[str, Any], record: Mapping[str, Any]) -> Iterator[str]:
    if step["step"] == "rebase":
        yield f"rebase     from {step['from'][:12]} onto {step['onto'][:12]}: {step['commit'][:12]}"
    elif step["step"] == "merge":
        yield f"merge      {step['from'][:12]} to {step['to'][:12]}"
    else:
        run = record["runs"].get(step.get("run"))
        how = {
            "ran": f"run {step.get('run')}",
            "recorded": f"recorded run {step.get('run')} of the same tree, checks and environment",
            "stands_for": f"run {step.get('run')} of {step.get('tip', {}).get('commit', '')[:12]} counts for this step",
        }.get(step["how"], "the run is not recorded")
        whose = f", of {run['bead']}" if run and run["bead"] not in (None, record["bead"]["id"]) else ""
        of = _base(record) if step["of"] == "main" else step["of"]
        yield one_line(f"validate   {of}: {run['outcome'] if run else 'unknown'}; {how}{whose}")
        if step["how"] == "ran" and run:
            yield from (f"           {_check(check)}" for check in run["checks"])
        if "main_was_red" in step:
            yield f"           {_base(record)} also failed without the branch; only the combined result counts"


def _approved(approval: Mapping[str, Any] | None) -> Iterator[str]:
    if approval:
        head, words = str(approval.get("head"))[:12], one_line(str(approval.get("words")))
        when = spoken(float(approval.get("at") or 0))
        yield one_line(f"approved   by {approval.get('by')}, {when}, of {head}: {words}")
        yield one_line(f"           needed because {approval.get('why')}")


def _read(said: Mapping[str, Any] | None) -> Iterator[str]:
    if not said:
        return
    word = "reviewed" if said.get("read") else "unreviewed"
    by = f", and continued with the work: {one_line(str(said['by']))}" if said.get("by") else ""
    yield one_line(f"{word:<10} by a second agent for ${float(said.get('cost_usd') or 0):.2f}{by}")
    for one in said.get("rounds", ()):
        model = one_line("/".join(part for part in (one["agent"], one["model"]) if part))
        came = (
            f"no review: {one_line(str(one['why']))}" if one["outcome"] == "failed" else f"{len(one['findings'])} found"
        )
        yield f"           round {one['round']}, {model}: {came}"
        for each in one["findings"]:
            line = f":{each['line']}" if each["line"] else ""
            where = f"{each['path']}{line} " if each["path"] else ""
            yield one_line(f"             {each['priority']} {each['category']} {where}{each['text']}")


def _check(check: Mapping[str, Any]) -> str:
    counts = f"; {_counted(check['counts'])}" if check.get("counts") else ""
    return one_line(f"{check['name']}: {check['outcome']} (exit code {check['code']}, {check['seconds']} s{counts})")


def _counted(counts: Mapping[str, int]) -> str:
    return f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped"


def _counts(counts: Mapping[str, Any] | None, onto: str) -> Iterator[str]:
    if counts:
        before, after = (_counted(counts[name]) if counts[name] else "not counted" for name in ("before", "after"))
        yield f"tests      {onto} before: {before}; after: {after}"


def _contracts(record: Mapping[str, Any]) -> Iterator[str]:
    for key, contract in record["contracts"].items():
        yield f"checks     {one_line(key)}, environment {one_line(str(contract.get('environment', '')))}"
        if contract.get("setup"):
            yield f"           set-up: {one_line(contract['setup'])}"
        yield from (
            f"           {one_line(check['name'])}: {one_line(check['command'])}" for check in contract["checks"]
        )


def _attempts(attempts: Any) -> Iterator[str]:
    for one in attempts:
        model = one_line(
            "/".join(dict.fromkeys(part for part in (one["agent"], one["provider"], one["model"]) if part))
        )
        spent = f"{one['tokens']} tokens, {one['cost_usd']} USD, {one['seconds']} s"
        session = f", session {one_line(str(one['session']))}" if one.get("session") else ""
        who = f"{one_line(str(one['name']))} ({model})"
        yield f"attempt {one['number']:<2} {one['role']} {who}: {one['outcome']}; {spent}{session}"


def _excerpts(record: Mapping[str, Any], layout: TextLayout) -> Iterator[str]:
    for name, run in record["runs"].items():
        for check in run["checks"]:
            if check.get("excerpt"):
                yield f"  the end of {one_line(name)}, {one_line(check['name'])}:"
                yield from layout.lines(check["excerpt"], "    ")


def flakes(check: Annotated[str, Field("Only this check.", ("--check",), metavar="NAME")] = "") -> Output:
    """List checks and tests that failed and passed on the same files, the most frequent first. A single test is listed
    only if the check's report names all failed tests."""
    from ..review.service import merges

    with looked_at() as app:
        found = merges.flakes(app.store, check)
        now = app.store.now()

    def text(screen: Screen) -> str:
        rows = [
            (str(one.times), one.check, one.test, age(now - one.last.at), one.last.bead or "", one.last.tree[:12])
            for one in found
        ]
        return table(("TIMES", "CHECK", "TEST", "LAST", "BEAD", "TREE"), rows, screen) or "no check or test was flaky"

    return Output(found, text)
