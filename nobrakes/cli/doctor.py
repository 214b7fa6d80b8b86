"""Undo, doctor, profiles of agents, version."""

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

from .. import __version__
from ..beads.service.bead_commands import known
from ..command_table import Field
from ..errors import NoAgent, NobrakesError, NotAllowed, UsageError
from ..paths import process_environment
from ..records import plain
from ..text.cleaning import count, one_line, spoken
from .outcome import AsJson, Output, actor, opened, said
from .screen import Screen, table

if TYPE_CHECKING:
    from ..app import App
    from ..conformance import Check, Report, Tried
    from ..doctor.health import Finding
    from ..review.service.undo import Last
    from ..store import Store


STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def undo(
    what: Annotated[str | None, Field("A step's number in `events`, or a bead's id.", metavar="SEQ|BEAD")] = None,
    event: Annotated[int | None, Field("A step's number, even if a bead has that name.", ("--event",), least=1)] = None,
    bead: Annotated[str | None, Field("The bead's id, if it looks like a number.", ("--bead",))] = None,
    yes: Annotated[bool, Field("Undo a bead's merge, or a step with several beads.", ("--yes", "-y"))] = False,
    as_json: AsJson = False,
) -> Output:
    """Undo the last step of a person, or the step with this number, or the last step on a bead. Repeat it to undo the
    step before. If a step cannot be undone, as a decision or `retry`, it says why and names the step before.

    To undo a merge, give its number, or its bead and --yes. nobrakes adds a commit to main that reverts the merge,
    after the checks passed on that commit. If they fail, main does not change and the exit code is 33. The bead is held
    until you release it."""
    from .. import app as app_module
    from ..review.service.undo import last_of

    def tell(line: str) -> None:
        if not as_json:
            sys.stderr.write(f"{line}\n")

    if sum(one is not None for one in (what, event, bead)) > 1:
        raise UsageError("the step to undo is named twice", "Give the step's number, or a bead, or neither.")
    if what is not None and what.isdigit() and not int(what):
        raise UsageError("event numbers start at 1, not 0", "`nobrakes events` shows the numbers.")
    with opened() as app:
        seq = event
        of = bead if bead is not None else _bead_named(app.store, what)
        if of is not None:
            known(app.store, of)
            last = last_of(app.store, of)
            tell(_told(last, of))
            if last.is_large and not yes:
                raise _unsure(last, of, app.config.review.by_request)
            seq = last.seq
        elif what is not None:
            seq = int(what)
        found = app_module.undo(app, actor(), seq, tell)

    def text(screen: Screen) -> str:
        out = [one_line(found.text)]
        out += [f"  the revert is {found.commit}"] if found.commit else []
        out += [f"  to let agents redo the bead: nobrakes release {one}" for one in found.beads if found.commit]
        out += [f"  or to cancel the bead: nobrakes cancel {one}" for one in found.beads if found.commit]
        kept = [f"  the bead's work is saved at {one_line(ref)}" for ref, _ in found.archived]
        return "\n".join([*out, *kept, *(["  the next attempt continues from the saved work"] if kept else [])])

    return Output(found, text)


def _bead_named(store: "Store", what: str | None) -> str | None:
    """The named bead; None: a number or nothing. UsageError if it could be either."""
    if what is None or not (what.isascii() and what.isdigit()):
        return what
    if store.beads(ids=[what]):
        raise UsageError(
            f"'{what}' is both a bead's id and a step's number",
            f"Type `nobrakes undo --bead {what}` or `nobrakes undo --event {what}`.",
        )
    return None


def _told(last: "Last", bead: str) -> str:
    if last.commit is not None:
        return f"bead {bead} was completed by its merge {last.commit[:12]} (event {last.seq})"
    step = last.kind.value.replace("_", " ")
    return one_line(f"the last step on {bead} is event {last.seq}: {step}, by {last.actor}, {spoken(last.at)}")


def _unsure(last: "Last", bead: str, by_request: bool) -> NotAllowed:
    if last.commit is not None:
        what = "a pull request" if by_request else "a commit on main"
        why = f"{what} would revert the merge {last.commit[:12]} of {bead} (event {last.seq})"
    else:
        others = ", ".join(one for one in last.beads if one != bead)
        why = f"event {last.seq} changed {count(len(last.beads), 'bead')}: {others} would change too"
    return NotAllowed(f"{why[:300]}; nothing was undone", f"To undo: `nobrakes undo {bead} --yes`.")


def archive(
    expire: Annotated[bool, Field("Remove archived work that was merged long ago.", ("--expire",))] = False,
    as_json: AsJson = False,
) -> Output:
    """List archived branches and work, and which of them may be removed: merged longer ago than
    `retention.archive_days`. Nothing is removed without --expire and that setting. Work that was never merged, was
    reverted or was never committed is never removed. `nobrakes undo` restores what was removed, as long as git still
    has it."""
    from ..daemon.service import control

    with opened() as app:
        chosen = (app.store, app.git, app.config.retention.archive_days)
        found = control.expire(*chosen, actor()) if expire else control.look(*chosen)

    def text(screen: Screen) -> str:
        out = [f"{'removed' if expire else 'expired' if one.goes else 'kept':<8} {one_line(one.ref)}" for one in found]
        may_go = sum(one.goes for one in found)
        if not expire and may_go:
            out.append(f"to remove {may_go} of these {len(found)} archived branches: nobrakes archive --expire")
        return "\n".join(out) or ("nothing can be removed" if expire else "nothing is archived")

    return Output(found, text)


def doctor(
    repair: Annotated[str | None, Field("Repair the problem with this name.", ("--repair",))] = None,
    agents: Annotated[bool, Field("Test the installed agent CLIs, and nothing else.", ("--agents",))] = False,
) -> Output:
    """Find what is broken, and print how to fix it. It changes nothing without --repair.

    With --agents it tries the installed Claude Code, Codex and Gemini CLI, the ACP agent of the settings (or Gemini CLI
    as one), and the installed agents of profiles. Each one works, is refused, continues and is stopped in a scratch
    repository, with a scripted model on this machine. It uses no account and no tokens. nobrakes stores the results for
    this version of the CLI, and the daemon uses them.

    Exit code 0: nothing is broken. Exit code 1: something is, or `nobrakes run` would refuse to start."""
    from ..app import here, untried
    from ..doctor import service as doctor_service
    from ..doctor.service import examine, opened_store, or_none

    with opened(is_reading=repair is None and not agents) as app:
        if agents:
            return _try_agents(app, repair)
        git, store = or_none(lambda: app.git), opened_store(app.paths, lambda: app.store)
        if repair is not None:
            if os.environ.get("NOBRAKES_TOKEN"):
                raise NotAllowed("only a person can repair a repository", "Report it with `nobrakes agent escalate`.")
            done = doctor_service.repair(repair, store, git, app.paths)
            return said({"repair": repair, "done": done}, "\n".join(map(one_line, done)) or "nothing to repair")
        config = or_none(lambda: app.config)
        wrong = app.misconfigured
        troubles = app.sandbox_trouble, app.wall_trouble
        seen = here(app) if config is not None else None
        known = partial(untried, app) if config is not None and not isinstance(store, NobrakesError) else lambda: ""
        findings = examine(store, git, app.paths, config, *troubles, wrong, seen, known)
    broken = [finding.name for finding in findings if not finding.ok]
    error = NobrakesError(f"broken: {', '.join(broken)}", "Each finding names its repair.") if broken else None
    return Output(findings, lambda screen: _findings(findings, screen), error)


def _try_agents(app: "App", repair: str | None) -> Output:
    from .. import conformance

    if repair is not None:
        raise UsageError("--agents and --repair cannot be combined", "Run two commands.")
    if os.environ.get("NOBRAKES_TOKEN"):
        raise NotAllowed("only a person can test agent CLIs", "Report problems with `nobrakes agent escalate`.")
    return _tried(conformance.trial_run(app.config, app.paths, process_environment()))


def _tried(report: "Report") -> Output:
    failed = [one.agent for one in report.agents if not one.ok]
    error = NobrakesError(f"failed: {', '.join(failed)}", "Install a version that is tested.") if failed else None
    return Output(report, lambda screen: text(report, screen), error)


def profile_list() -> Output:
    """List the agents that have a profile: those that come with nobrakes, and your own. To choose one:
    `nobrakes init --agent NAME`."""
    from ..config import profiles

    own = profiles.own()
    found = {name: one for name in profiles.files() if (one := profiles.find(name)) is not None}
    rows = [(name, one.title, "yours" if name in own else one.proof.told(), one.install) for name, one in found.items()]
    data = [{"name": row[0], "title": row[1], "proof": row[2], "install": row[3]} for row in rows]
    return Output({"profiles": data}, lambda screen: table(("name", "agent", "proof", "install"), rows, screen))


def profile_test(
    name: Annotated[str, Field("An agent, or the file of a profile.", metavar="NAME|FILE")],
) -> Output:
    """Test an agent of a profile, as `nobrakes doctor --agents` does: it works, commits, is refused,
    continues its session and is stopped, with a scripted model on this machine. It needs no account and no tokens."""
    from .. import conformance
    from ..config import profiles

    files = profiles.files()
    if name.endswith(".toml"):
        files, name = {os.path.basename(name)[:-5]: name}, os.path.basename(name)[:-5]
    if name not in files or not profiles.NAME.fullmatch(name):
        raise UsageError(f"there is no profile '{one_line(name)[:60]}'", "`nobrakes agent-profile list` lists them.")
    with opened() as app:
        report = conformance.trial_run(app.config, app.paths, process_environment(), {name: files[name]})
    if any(one.program is None for one in report.agents):
        install = profiles.parse(profiles.read(files[name]), files[name]).install
        raise NoAgent(f"the agent {name} is not installed", f"Type: {install}" if install else "Install it.")
    return _tried(report)


def profile_add(file: Annotated[str, Field("The profile: NAME.toml.", metavar="FILE")]) -> Output:
    """Copy a profile into your own settings, for all your repositories. Read the profile first: it says which program
    starts, what the program gets of your environment, and which of your files it reads as its login. A repository's
    profile has no effect until you add it, and later changes of the repository's file have none."""
    from ..config import profiles

    name, found = profiles.add(file)
    told = f"""added the agent {name} ({one_line(found.title)}): it starts `{one_line(found.program)}`
variables that it gets: {one_line(", ".join(found.credentials)) or "none"}
your files that it gets: {one_line(", ".join(found.login)) or "none"}
next: nobrakes agent-profile test {name}, then nobrakes init --agent {name}"""
    return said({"name": name, "profile": plain(found)}, told)


def _findings(findings: "list[Finding]", screen: Screen) -> str:
    out = []
    for finding in findings:
        state = screen.paint(f"{finding.level:<8}", STYLES.get(finding.level, ""))
        out.append(f"{state} {finding.name:<11} {one_line(finding.text)}")
        if finding.repair:
            out.append(f"         to repair: nobrakes doctor --repair {finding.repair}")
    return "\n".join(out)


def own_commit() -> str:
    """The commit that this nobrakes was built from; empty: unknown."""
    from ..git import location

    return location.own_commit()


def version() -> Output:
    """Show the versions of nobrakes and Python, the commit of nobrakes, and the platform."""
    import platform

    found = {
        "nobrakes": __version__,
        "commit": own_commit() or "unknown",
        "python": platform.python_version(),
        "platform": platform.platform(),
    }
    return said(found, "\n".join(f"{name} {value}" for name, value in found.items()))


_WIDTH = 8


def text(report: "Report", screen: Screen) -> str:
    """The table."""
    from ..abilities import CHECKS
    from ..conformance import NOT_SO_FAR

    wide = max([_WIDTH, *(len(one.agent) for one in report.agents)])
    out = [f"{'agent':<{wide}} {'version':<14}" + "".join(f"{name:<{_WIDTH}}" for name in CHECKS)]
    out += [_row(one, screen, wide).rstrip() for one in report.agents]
    for one in report.agents:
        if one.command and one.program is not None:
            whose = "the command is" if one.named else "no command is set, so nobrakes tested"
            out.append(f"{one.agent}: {whose} {one_line(' '.join(one.command))}; the guard sees only its requests")
        elif one.why_not:
            out.append(f"{one.agent}: nobrakes never ran it: {one_line(one.why_not)}")
        elif one.program is not None and not one.known:
            shown = one_line(one.version) or "an unknown version"
            out.append(f"{one.agent}: nobrakes is not tested with {shown}, and uses only what passes this test")
        said = [c for c in one.checks if not c.passed and c.detail and c.detail != NOT_SO_FAR]
        out += [f"{one.agent}: {c.name}: {one_line(c.detail)}" for c in said]
    return "\n".join([*out, f"tested with a scripted model: no key, no tokens, {report.network}"])


def _row(one: "Tried", screen: Screen, wide: int) -> str:
    begin = f"{one.agent:<{wide}} "
    if one.program is None:
        return f"{begin}missing: not installed, so not tested"
    begin += f"{one_line(one.version)[:13] or '?':<14}"
    return begin + "not tried" if one.why_not else begin + "".join(_cell(check, screen) for check in one.checks)


def _cell(check: "Check", screen: Screen) -> str:
    word, style = {True: ("ok", "green"), False: ("FAILED", "red"), None: ("-", "")}[check.passed]
    return screen.paint(f"{word:<{_WIDTH}}", style)
