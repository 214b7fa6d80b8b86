"""All blockers for every surface, put together in one place.

1. Facts are reported everywhere. This machine is checked only where no daemon works, since a daemon has its own PATH
   and keys; `here` None: not at all, and of the settings only `misconfigured` and whether a check is named.
2. A `run` allowed on any main (`red_main`) is not refused for its checks, nor one in which scaffolding waits for the
   Reviewer, which may bring them.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ... import extras
from ...abilities import how_to_install
from ...agents.limits import MachineLimits, MachineRoom
from ...beads.model import BeadType, Role, Status, is_with_person
from ...beads.work_status import STANDSTILL_SHOWN, Standstill
from ...config.sections import AgentSettings
from ...config.settings import Config
from ...daemon.model import Board, Starts
from ...daemon.service import control
from ...db.database import is_current
from ...errors import NO_SANDBOX, NO_WALL, Hindered, MachineShort, NobrakesError
from ...events.kinds import Kind as Happened
from ...host.locks import holder
from ...machine.registry import MachineView, is_own, shown
from ...paths import PACKAGE, Paths, own_code, which
from ...records import frozen, grouped
from ...review.journal import Journal
from ...sessions.model import REVIEWERS
from ...sessions.model import State as Talk
from ...text.cleaning import count, count_beads_and_epics, shorten
from ..blockers import BACKGROUND, CONFIG, RUN_SINCE, Blocker, Kind, board_blockers, in_order, refusal
from ..model import Escalation, EscalationType

if TYPE_CHECKING:
    from ...features.model import Feature
    from ...store import Store


# Whether the programs of the checks are there: told from their commands, before anything is paid for.
#
# 1. Only what is certain is said to be missing: the commands of a chain with `&&`, and of each what it begins with, the
# module after `python -m`, and the script that a shell or an interpreter is given.
# 2. Nothing is run, not even Python: which modules it has is read from its folders (host.versions).
# 3. A check sees the machine's programs and no module of the user's own site, unless `sandbox.home` is "own".

_SHELL = "if for while case cd export set test true false echo exec eval source time [ [[ ( { ! . : return exit command"
SHELL_WORDS = frozenset(_SHELL.split(" "))
_META = frozenset(";&|()\n")
_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")
_GIVEN_SCRIPTS = re.compile(r"(?:(?:ba|da|z|k)?sh|node|ruby|perl|php|(?:python|pypy)[0-9.]*)")
_SCRIPT = re.compile(r".*\.(?:sh|bash|py|js|mjs|cjs|rb|pl|php)|.*/.*")


@frozen
class Where:
    """Where commands run: `root` is the working tree; `in_main`: whether main has a path."""

    root: str
    environment: Mapping[str, str]
    in_main: Callable[[str], bool] = lambda _: False
    user_site: bool = False

    def has(self, path: str) -> bool:
        return os.path.exists(os.path.join(self.root, path)) or self.in_main(os.path.normpath(path))


def program_of(command: str) -> str | None:
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return _program(words)[0]


def _program(words: list[str]) -> tuple[str | None, list[str]]:
    for number, word in enumerate(words):
        if "=" in word and word.split("=", 1)[0].isidentifier():
            continue
        plain = not set(word) & set("$`*?(){};&|<>")
        return (word if plain and word not in SHELL_WORDS else None), words[number + 1 :]
    return None, []


def missing(command: str, directory: str, where: Where) -> str:
    """What the command needs and lacks; empty: unknown without running it."""
    for words, folder in _chain(command, directory):
        program, given = _program(words)
        if program is None:
            continue
        if os.path.sep in program:
            found = program if os.path.isabs(program) else None
            if not (os.path.exists(program) if found else where.has(os.path.join(folder, program))):
                return f"{program} does not exist"
        else:
            if (found := which(program, path=where.environment.get("PATH", os.defpath))) is None:
                return f"`{program}` is not on PATH"
        if said := _missing_argument(os.path.basename(program), found, given, folder, where):
            return said
    return ""


def _chain(command: str, directory: str) -> Iterator[tuple[list[str], str]]:
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = ""
        words = list(lexer)
    except ValueError:
        return
    if "\n" in command.strip() or any(set(word) <= _META and word != "&&" for word in words if word):
        return
    part: list[str] = []
    folder = directory
    for word in [*words, "&&"]:
        if word != "&&":
            part.append(word)
            continue
        if part[:1] == ["cd"]:
            if len(part) != 2 or set(part[1]) & set("$`*?~-"):
                return
            folder = os.path.join(folder, part[1])
        elif part:
            yield part, folder
        part = []


def _missing_argument(name: str, found: str | None, given: list[str], folder: str, where: Where) -> str:
    options = [word for word in given if not word.startswith("-")]
    if _PYTHON.fullmatch(name) and "-m" in given:
        after = given[given.index("-m") + 1 :]
        module = after[0].partition(".")[0] if after else ""
        if found is None or not module.isidentifier() or "-c" in given[: given.index("-m")]:
            return ""
        return "" if _has_module(found, module, folder, where) else f"{name} has no module named {module}"
    if _GIVEN_SCRIPTS.fullmatch(name) and given and given[0] == next(iter(options), None):
        script = given[0]
        is_plain = _SCRIPT.fullmatch(script) and not set(script) & set("$`*?~{") and not os.path.isabs(script)
        if is_plain and not where.has(os.path.join(folder, script)):
            return f"{script} does not exist"
    return ""


def _has_module(python: str, module: str, folder: str, where: Where) -> bool:
    from ...host.versions import interpreter, lacks  # few checks name a module

    if not (own := interpreter(python)) or not lacks(own, module, where.user_site):
        return True  # it is there, or nobody can tell
    places = (f"{module}.py", os.path.join(module, "__main__.py"), os.path.join(module, "__init__.py"))
    return any(where.has(os.path.join(folder, place)) for place in places)


# What of this machine keeps agents from being started: settings, programs of checks, agents, logins, sandbox.
#
# 1. It is looked at from this process: its PATH, its keys, its home. A daemon that works has its own, so nobody looks
# while one does.
# 2. No agent is started and no token spent. Of a login only what shows it can be seen: a key, or the CLI's file.
# Whether it still holds is known when an agent works.
# 3. Where the setup may bring a program in, its absence is told and nothing is refused for it.

_NAME = re.compile(r"\A(?:`(.*)` is not on PATH|.* has no module named (.*))")
NOT_TRIED = "nobrakes did not test it"


@frozen
class Here:
    """This process as a starter of agents. `environment`: of runs, `credentials`: everything. `misconfigured`: the
    error in config.toml, while earlier settings apply."""

    environment: Mapping[str, str]
    credentials: Mapping[str, str]
    in_main: Callable[[str], bool] = lambda _: False
    sandbox_trouble: Callable[[], str] = lambda: NOT_TRIED
    wall_trouble: Callable[[], str] = lambda: NOT_TRIED
    misconfigured: str = ""


def config_blockers(misconfigured: str) -> Iterator[Blocker]:
    if misconfigured:
        yield Blocker(
            Kind.CONFIG,
            "config.toml is not valid, so no work starts",
            misconfigured,
            ("nobrakes config --check",),
            f"mend {CONFIG}",
            refuses=True,
        )


@cache
def _has_own_code(root: str) -> bool:
    return any(own_code(root))


def code_blockers(root: str) -> Iterator[Blocker]:
    """This process imports files of the repository, which agents would change."""
    if not _has_own_code(root):
        return  # as everywhere but where nobrakes is developed: git's modules need not be loaded
    from ...git.location import own_code_tracked

    found, package = own_code_tracked(root), os.path.realpath(PACKAGE)
    if not found:
        return
    copy = (f"pipx install {shlex.quote(os.path.dirname(package))}",) if package in found else ()
    named = ", ".join(found[:_CODE_SHOWN])
    yield Blocker(
        Kind.OWN_CODE,
        f"no agent starts: nobrakes runs code from this repository ({named})",
        "after a merge, an agent's change to this code would run with your rights, outside any sandbox",
        copy or ("nobrakes doctor",),
        "install a copy outside of the repository, not with `-e`, and remove the folder from PYTHONPATH",
        refuses=True,
    )


_CODE_SHOWN = 3


def takeover_blockers(paths: Paths, config: "Config") -> Iterator[Blocker]:
    """Another machine has this work."""
    if not config.fleet.takeover_remote:
        return  # as in nearly every repository: git's modules need not be loaded
    from ...git.repository import open_git

    with closing(open_git(paths, config)) as git:
        why = git.fence.lost() if git.fence is not None else ""
    if why:
        yield Blocker(
            Kind.TAKEN_OVER, "no agent starts, and nothing lands from here", why, ("nobrakes takeover",), refuses=True
        )


def no_check_blockers(config: "Config") -> Iterator[Blocker]:
    if not config.checks:
        yield Blocker(
            Kind.NO_CHECK,
            "no check is configured: nothing can be merged",
            "until you add a check, only repair beads and scaffolding beads start",
            ("nobrakes config --check", "nobrakes run"),
            f"set the command of your tests under [[checks]] in {CONFIG}",
            refuses=True,
        )


def check_blockers(config: "Config", paths: Paths, here: Here) -> Iterator[Blocker]:
    """Missing or unrunnable checks."""
    yield from no_check_blockers(config)
    where = Where(paths.root, here.environment, here.in_main, config.sandbox.home == "own")
    commands = [("the setup", config.setup, "")] if config.checks else []
    commands += [(f"the check '{c.name}'", c.command, c.directory) for c in config.checks]
    lacks = grouped((missing(command, directory, where), (what, command)) for what, command, directory in commands)
    for lacking, users in lacks.items():
        if not lacking:
            continue
        from ...checks.proof import installing  # most checks lack nothing

        get, (what, command) = installing(_NAME.sub(r"\1\2", lacking)), users[0]
        is_check = what != "the setup"
        more = ", and " + ", ".join(what for what, _ in users[1:]) if users[1:] else ""
        fix = "add the install command as `setup`, or fix `command` under [[checks]]" if is_check else "or fix `setup`"
        yield Blocker(
            Kind.NO_RUNNER,
            f"{what} cannot run{more}: {lacking}",
            f"the check's command is `{command}`" + (" (`setup` may install it)" if config.setup and is_check else ""),
            ("nobrakes init --trial", "nobrakes run"),
            f"{get}, {fix} in {CONFIG}",
            refuses=not (config.setup and is_check),
        )


def blockers_by_agent(config: "Config", here: Here) -> Iterator[tuple[str, Blocker]]:
    for name in config.agents.agent_choice().names():
        if (found := agent_blocker(name, config, here)) is not None:
            yield name, found


def agent_blocker(name: str, config: "Config", here: Here) -> Blocker | None:
    """Why this agent cannot start here; None: no visible reason."""
    from ...agents.known import ADAPTERS

    cure, commands = f"install the agent, or choose another agent under [agents] in {CONFIG}", ("nobrakes doctor",)
    if name not in ADAPTERS:
        known = ", ".join(sorted(ADAPTERS))
        what = f"there is no agent '{name[:40]}'; known: {known}"
        return Blocker(
            Kind.NO_AGENT, what, "", ("nobrakes config --check",), f"choose another agent under [agents] in {CONFIG}"
        )
    if (extra := extras.EXTRA_BY_AGENT.get(name, "")) and not extras.is_there(extra):
        what = f"the agent {name} needs the extra `{extra}`, which is not installed"
        return Blocker(Kind.NO_AGENT, what, "", (extras.command(extra),), cure, refuses=True)
    if not (command := config.agents.command(name)):
        what = f"the agent {name} has no command: agents.{name}.command is empty"
        line = f"nobrakes config set agents.{name}.command 'my-agent --its-options'"
        return Blocker(Kind.NO_AGENT, what, "", (line,), f"set the command that starts the agent in {CONFIG}")
    usual = AgentSettings().command(name)
    if which(command[0], path=here.environment.get("PATH", os.defpath)) is None:
        what = f"the agent {name} is not installed: `{command[0]}` is not on PATH"
        if command == usual and (install := how_to_install(name)):
            cure = f"install the agent (`{install}`), or choose another under [agents] in {CONFIG}"
        return Blocker(Kind.NO_AGENT, what, "", commands, cure)
    if not usual or os.path.basename(command[0]) != usual[0]:
        return None  # a person's own command may bring its login along
    adapter = ADAPTERS[name]
    names = (*adapter.credentials, *config.agents.environment)
    seen = {**here.environment, **{key: here.credentials[key] for key in names if key in here.credentials}}
    login = adapter.login(seen, config.agents)
    if login is None or any(seen.get(key) for key in login.variables) or any(map(os.path.exists, login.files)):
        return None
    keys = login.variables
    shows = f"none of {', '.join(keys)} is set" if len(keys) > 1 else f"{keys[0]} is not set"
    files = "".join(f", and {path} does not exist" for path in login.files)
    return Blocker(Kind.NO_LOGIN, f"you are not logged in to {name}", f"{shows}{files}", (login.command,))


def sandbox_blockers(config: "Config", here: Here) -> Iterator[Blocker]:
    try:
        said = _closure(config, here)
    except MachineShort as error:
        said = str(error)
    if said:
        cure = f'fix the cause, or set `sandbox.mode` and `sandbox.wall` to "auto" in {CONFIG}'
        yield Blocker(Kind.NO_SANDBOX, said, "", ("nobrakes doctor",), cure, refuses=True)


def _closure(config: "Config", here: Here) -> str:
    mode, wall = config.sandbox.mode, config.sandbox.wall
    if mode == "bubblewrap":
        trouble = here.sandbox_trouble()
        return NO_SANDBOX.format(trouble) if trouble else ""
    if wall == "landlock" and (mode == "none" or here.sandbox_trouble()):
        trouble = here.wall_trouble()
        return NO_WALL.format(trouble) if trouble else ""
    names = [name for name in config.agents.agent_choice().names() if config.agents.is_unbounded(name)]
    if not names or (mode != "none" and not here.sandbox_trouble()) or (wall != "none" and not here.wall_trouble()):
        return ""
    return (
        f"nothing confines {', '.join(names)}: no sandbox and no wall work here, and nobrakes can set no permissions "
        f'of the agent. agents.profiles.{names[0]}.permissions = "bypass" starts it nevertheless, with all your rights'
    )


def shaper_blockers(config: "Config", here: Here, is_alone: bool) -> list[Blocker]:
    """Problems of planning agents. `is_alone`: there is no other work, so a run is refused without any of them."""
    names = dict.fromkeys(config.agents.shaper)
    found = [one for one in (agent_blocker(name, config, here) for name in names) if one is not None]
    return [replace(one, refuses=is_alone and len(found) == len(names)) for one in found]


def role_blockers(config: "Config", here: Here, wanted: "tuple[tuple[bool, str], ...]") -> list[Blocker]:
    """Problems of agents; refuses if no bead of `wanted` (needs tests first, type) could be worked on without one."""
    found = dict(blockers_by_agent(config, here))
    choice = config.agents.agent_choice()

    def can(role: Role, kind: str) -> bool:
        return any(name not in found for name in choice.agents(role, kind))

    refuses = bool(wanted) and not any(
        can(Role.DOER, kind) and (not needs_tests or can(Role.TEST_WRITER, kind)) for needs_tests, kind in wanted
    )
    return [replace(one, refuses=refuses) for one in found.values()]


# What of the facts keeps work from going on: switches, limits, main, questions, and beads that stand still.

FROZEN = "frozen"
MEND = 'nobrakes add "Fix main" --type repair --no-tests'
RUN_COMMAND: tuple[str, ...] = ("nobrakes run",)
STARTS_WORK = (*RUN_COMMAND, "nobrakes daemon start")
_MAIN_ESCALATIONS = (EscalationType.MAIN_RED, EscalationType.BROKEN_CHECKS)
_WHY = 300
_TITLE = 60
_WHY_OF_ONE = 140


def switch_blockers(store: "Store", board: "Board", root: str) -> Iterator[Blocker]:
    paused_by = _paused_by(store) if board.paused or board.stopping else ""
    held = sum(control.memory_of_agents(board.all_runs).values()) if board.limits.agents_mb else 0
    yield from board_blockers(replace(board, machine=_room(shown(), root), memory_mb=held), paused_by)


def _room(view: MachineView | None, root: str) -> MachineRoom | None:
    if view is None:
        return None
    limits = MachineLimits(view.agents, view.usd_per_day, view.tokens_per_day)
    own = sum(one.agents for one in view.repositories if one.path == root)
    room = MachineRoom(limits, view.taken, own, view.usd, view.tokens)
    return replace(room, unknown=view.trouble, mend=view.mend, passes=view.passes)


def _paused_by(store: "Store") -> str:
    found = store.latest_events([Happened.PAUSED], limit=1)
    return f"{found[0].actor} paused it" if found else ""


def daemon_blockers(store: "Store", pid: int | None) -> Iterator[Blocker]:
    """Why the daemon cannot work, or that it died. `pid`: of the present one."""
    if pid is not None:
        if what := store.setting(control.TROUBLE):
            yield Blocker(Kind.RETRY, what.removesuffix("."))
        return
    if (dead := store.setting(BACKGROUND)) is not None:
        yield Blocker(
            Kind.DAEMON_DEAD,
            f"the daemon (process {dead}) crashed or was killed",
            "see the end of .nobrakes/daemon.log; if you start the daemon again, it resumes the agents' work",
            ("nobrakes daemon start", "nobrakes daemon stop"),
        )
    elif store.setting(RUN_SINCE) is not None:
        began = store.latest_events([Happened.DAEMON_STARTED], limit=1)
        process = began[0].data.get("pid") if began else None
        yield Blocker(
            Kind.RUN_CUT_OFF,
            "the last run was interrupted" + (f" (process {process})" if process else ""),
            "the next run resumes the interrupted work",
            ("nobrakes run",),
        )


def main_blockers(store: "Store", waiting: list[Escalation], runs: bool) -> Iterator[Blocker]:
    """A red main, unrunnable checks, or a main that moves during its trial."""
    if runs and (what := store.setting(control.TRIAL_WAITS)):
        yield Blocker(Kind.RETRY, what.removesuffix("."))
    asked = {one.type: one for one in reversed(waiting) if one.bead is None and one.type in _MAIN_ESCALATIONS}
    tip = store.setting(FROZEN)
    red, broken = asked.get(EscalationType.MAIN_RED), asked.get(EscalationType.BROKEN_CHECKS)
    if tip is not None and not (red is None and broken is not None):  # else the checks say why merges wait
        shown_by = (f"nobrakes escalation {red.id}",) if red else ("nobrakes doctor",)
        cannot = store.setting(control.BROKEN)
        what = f"main cannot be checked ({cannot})" if cannot else "main is red"
        yield Blocker(
            Kind.MAIN_RED,
            f"frozen: {what} at {tip[:12]}, and merges wait until main {'can be' if cannot else 'passes'}",
            _said(red) if red else "",
            (*shown_by, MEND, "nobrakes run"),
            "fix the check, or `setup`, in .nobrakes/config.toml, or install what the check needs"
            if broken
            else "fix main yourself and commit, or let an agent fix it",
            number=red.id if red else None,
        )
    elif red is not None:
        yield _escalated(red)
    if broken is not None:
        yield Blocker(
            Kind.CHECKS_BROKEN,
            broken.title,
            _said(broken),
            (f"nobrakes escalation {broken.id}", "nobrakes init --trial", "nobrakes run"),
            "fix the check, or `setup`, in .nobrakes/config.toml, or install what the check needs",
            number=broken.id,
        )


def _said(one: Escalation) -> str:
    from ...checks.contract import SETUP_FAILED  # with all that checks are, which few boards need

    rows = one.evidence.get("results")
    found = []
    for row in rows if isinstance(rows, list | tuple) else ():
        if str(row.get("reason")).startswith(SETUP_FAILED):
            return str(row["reason"])  # each check says the same
        if row.get("outcome") != "pass":
            failing = ", ".join(row.get("failing") or ())
            last = str(row.get("tail") or "").strip().splitlines()[-1:]
            found.append(": ".join([f"{row.get('name')}: {row.get('reason')}", *([failing] if failing else last)]))
    return shorten("; ".join(found) or _joined(one.detail), _WHY)


def _joined(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines() if line.strip()).replace(":; ", ": ")


def question_blockers(waiting: list[Escalation]) -> Iterator[Blocker]:
    yield from (_escalated(one) for one in waiting if one.bead is not None or one.type not in _MAIN_ESCALATIONS)


def _escalated(one: Escalation) -> Blocker:
    kind = one.type.value.replace("_", " ")
    about = f" on {one.bead}" if one.bead else ""
    behind = f"{count(one.behind, 'bead is', 'beads are')} waiting for the decision" if one.behind else ""
    is_said = one.title == f"{one.bead}: {kind}"
    return Blocker(
        Kind.ESCALATION,
        f"escalation {one.id}, {kind}{about}" + ("" if is_said else f": {one.title}"),
        "; ".join(part for part in (shorten(_joined(one.detail), _WHY_OF_ONE), behind) if part),
        (f"nobrakes escalation {one.id}",),
        beads=(one.bead,) if one.bead else (),
        number=one.id,
        behind=one.behind,
    )


def feature_blockers(store: "Store", features: "Sequence[Feature]") -> Iterator[Blocker]:
    """Features that wait for a person to go on."""
    if not features:
        return
    from ...features.actions import About
    from ...features.model import ASKED, ROLLBACK, State

    stands = {
        State.ERROR: "stopped with an error",
        State.EXPIRED: "has expired, because its session got no message for too long",
        State.PAUSED: "is paused",
    }
    for one in features:
        question = one.data.get(ASKED, {}).get(About.FAILING) if one.state is State.ERROR else None
        is_asked = question is not None and store.escalation(question).resolved_at is None
        if one.archived or one.state not in stands or ROLLBACK in one.data or is_asked:
            continue
        failed = one.state is State.ERROR and one.session is not None
        why = store.session(one.session).detail.partition("\n")[0] if failed and one.session is not None else ""
        what = f"feature {one.id} ({shorten(one.title, _TITLE)}) {stands[one.state]}"
        typed = (f"nobrakes forge resume {one.id}", f"nobrakes forge show {one.id}")
        kind = Kind.FEATURE if one.state is State.PAUSED else Kind.FEATURE_STOPPED  # a paused one waits on purpose
        yield Blocker(kind, what, shorten(why, _WHY), typed, beads=(one.id,))


def merge_blockers(store: "Store", config: "Config", daemon: bool) -> Iterator[Blocker]:
    """Waiting reviews: for permission to push, git's locks, edits in a checkout, or a remote. Epics in a circle."""
    unsaid: list[str] = []
    if config.review.by_request:
        from ...requests import service as requests

        unsaid = [bead.id for bead in requests.unsaid(store, config)]
        if not store.counts()["ready"] and store.beads(statuses=(Status.LANDED,)):  # else there is other work first
            yield from requests.epic_circles(store, config)
    for bead in unsaid:
        yield Blocker(
            Kind.REQUEST,
            f"'{bead}' has passed its checks; you have to allow its pull request",
            "",
            (f"nobrakes pr open {bead}",),
            beads=(bead,),
        )
    for one in store.reviewing():
        journal = Journal.of(one.data)
        if journal.merging.waiting and one.bead not in unsaid:
            until = journal.merging.waiting_until or None
            what = f"the merge of '{one.bead}' is waiting: {journal.merging.waiting}"
            why = "nobrakes tries again automatically" if until else ""
            yield Blocker(Kind.MERGE_WAITS, what, why, () if daemon else RUN_COMMAND, until=until, beads=(one.bead,))


def approval_blockers(store: "Store", config: "Config") -> Iterator[Blocker]:
    """Plans to sign off, and drafts and changes to approve; not drafts of unfinished plans."""
    drafts, changed = {*store.listed((Status.DRAFT,))}, {one.id for one in store.proposed()}
    if not (drafts or changed):
        return
    from ...features import reviewed_plan

    waiting = len(drafts)
    drafts -= reviewed_plan.without_plan(store, drafts)
    rules, unsigned = config.forge, list(reviewed_plan.unsigned_plans(store, drafts | changed))
    for feature, own in unsigned:
        drafts, changed = drafts - own, changed - own
        if feature.is_sign_off_asked:
            command, why = reviewed_plan.to_sign(store, rules, feature)
            what = f"the plan of feature {feature.id} ({shorten(feature.title, _TITLE)}) needs your sign-off"
            typed = (command, f"nobrakes forge show {feature.id}")
            yield Blocker(Kind.SIGN_OFF, what, why.partition("; ")[2], typed, beads=(feature.id,), behind=len(own))
    if drafts or changed:
        command, why = reviewed_plan.approval(store, rules)
        if len(drafts) < waiting:
            beads = sum(one.type is not BeadType.EPIC for one in store.beads(ids=drafts))
        else:
            beads = store.counts()["draft"]
        parts = count_beads_and_epics(beads, len(drafts) - beads) if drafts else []
        parts += [count(len(changed), "changed bead")] if changed else []
        verb = "needs" if len(drafts) + len(changed) == 1 else "need"
        what = f"{' and '.join(parts)} {verb} your approval"
        yield Blocker(Kind.DRAFTS, what, why, (command,), behind=len(drafts) + len(changed))


def sprint_blockers(store: "Store") -> Iterator[Blocker]:
    if not store.has_sprints() or (going := store.sprints_going()) is None:
        return
    from ...projects.model import RunState

    if going.run.state in (RunState.WAITS, RunState.CLAIMED):
        what = f"the next sprint needs your approval: {going.done} of {going.run.asked} are done"
        if going.run.state is RunState.CLAIMED:
            what = "agents report that success criteria of the project are met: check these criteria"
        yield Blocker(Kind.SPRINTS, what, shorten(_joined(going.run.why), _WHY), ("nobrakes project status",))


def session_blockers(store: "Store", features: "Sequence[Feature]") -> Iterator[Blocker]:
    """Stuck sessions; features report their own, and reviewers have no partner."""
    of_features = {one.session for one in features}
    for one in store.sessions():
        if one.state is Talk.STUCK and one.kind not in REVIEWERS and one.id not in of_features:
            what = f"session {one.id} ({shorten(one.title, _TITLE)}) stopped, because the session's turns fail"
            typed = (f"nobrakes session show {one.id}", f'nobrakes session say {one.id} "…"')
            yield Blocker(Kind.SESSION, what, shorten(_joined(one.detail), _WHY), typed)


def bead_blockers(store: "Store", found: Standstill, daemon: bool) -> Iterator[Blocker]:
    """Beads that stand still. `daemon`: one works, and continues what comes due."""
    for bead, blocker in found.cancelled_blockers:
        yield Blocker(
            Kind.CANCELLED_BLOCKER,
            f"'{bead}' cannot start: it depends on '{blocker}', which is cancelled",
            "remove the dependency, or reopen the cancelled bead",
            (f"nobrakes undepend {bead} {blocker}", f"nobrakes reopen {blocker}"),
            beads=(bead,),
        )
    for bead, epic in found.cancelled_parents:
        yield Blocker(
            Kind.CANCELLED_PARENT,
            f"'{bead}' cannot start: its epic '{epic}' is cancelled",
            "no bead of a cancelled epic starts",
            (f'nobrakes edit {bead} --epic ""', f"nobrakes reopen {epic}"),
            beads=(bead,),
        )
    for node in found.held:
        words = ("hand-in", "retry") if is_with_person(node.held) else ("release",)
        typed = tuple(f"nobrakes {word} {node.id}" for word in words)
        yield Blocker(Kind.HELD, f"'{node.id}' is held: {node.held}", "", typed, beads=(node.id,))
    for epic in found.empty_epics:
        what, typed = f"epic '{epic}' has no beads, or all are cancelled", ("nobrakes shape", f"nobrakes cancel {epic}")
        yield Blocker(Kind.EMPTY_EPIC, what, "so the epic can never be done", typed, beads=(epic,))
    for node in found.deferred:
        what, typed = f"'{node.id}' is deferred", (f"nobrakes defer {node.id} now",)
        yield Blocker(Kind.DEFERRED, what, "", typed, until=node.defer_until, beads=(node.id,))
    for node in found.resting:
        what, why = f"'{node.id}' waits before its next attempt", f"{_last(store, node.id)}then an agent starts"
        then = () if daemon else RUN_COMMAND
        yield Blocker(Kind.RETRY, what, why, then, until=node.retry_at, beads=(node.id,))


def _last(store: "Store", bead: str) -> str:
    ended = [one for one in store.attempts(bead) if one.outcome is not None]
    said = ended[-1].detail if ended else ""
    return f"{shorten(said.partition(chr(10))[0], _WHY)}; " if said else ""


def person_blockers(store: "Store", config: "Config", features: "Sequence[Feature]", daemon: bool) -> list[Blocker]:
    return [
        *feature_blockers(store, features),
        *merge_blockers(store, config, daemon),
        *approval_blockers(store, config),
        *sprint_blockers(store),
        *session_blockers(store, features),
    ]


def quarantine_blockers(store: "Store") -> Iterator[Blocker]:
    for one in control.quarantined(store):
        what = f"{one.test} of {one.check}" if one.test else f"the check {one.check}"
        words = [one.check, one.test] if one.test else [one.check]
        yield Blocker(
            Kind.QUARANTINED,
            f"in quarantine: {what} may fail without blocking a merge",
            f"{one.by}: {one.reason}",
            (f"nobrakes quarantine {shlex.join(words)} --lift",),
        )


def more(found: Standstill) -> dict[Kind, int]:
    kinds = {
        "held": Kind.HELD,
        "deferred": Kind.DEFERRED,
        "resting": Kind.RETRY,
        "cancelled_blockers": Kind.CANCELLED_BLOCKER,
        "cancelled_parents": Kind.CANCELLED_PARENT,
        "empty_epics": Kind.EMPTY_EPIC,
    }
    return {
        kind: found.counts[name] - STANDSTILL_SHOWN
        for name, kind in kinds.items()
        if found.counts.get(name, 0) > STANDSTILL_SHOWN
    }


@frozen
class Blockers:
    """Blockers, the heaviest first. `more`: unnamed ones by kind. `works`: a daemon runs."""

    found: tuple[Blocker, ...]
    more: tuple[tuple[Kind, int], ...] = ()
    works: bool = False

    @property
    def asks(self) -> tuple[Blocker, ...]:
        return tuple(one for one in self.found if one.asks)

    def require(self, now: float) -> None:
        """Raises Hindered if a run could do nothing."""
        refused = tuple(one for one in self.found if one.refuses)
        if refused:
            raise Hindered(*refusal(refused, now))


NOTHING = Blockers(())


def blockers(
    store: "Store",
    paths: Paths,
    config: "Config",
    here: Here | None = None,
    red_main: bool = False,
    misconfigured: str = "",
) -> Blockers:
    """All blockers that can be found without starting anything."""
    pid = holder(paths.lock)
    board = store.board(control.limits(store, config), 1)
    is_wanted = pid is not None and bool(board.ready or board.to_review)
    if config.fleet.engine != "local":
        from .node_blockers import on_known_nodes  # few repositories have nodes

        board = on_known_nodes(board, paths, config, is_wanted)
    still, counts = store.standstill(), store.counts()
    waiting, features = store.escalations(), store.features() if store.has_features() else ()
    found = [
        *switch_blockers(store, board, paths.root),
        *takeover_blockers(paths, config),
        *daemon_blockers(store, pid),
        *main_blockers(store, waiting, pid is not None),
        *question_blockers(waiting),
        *person_blockers(store, config, features, pid is not None),
        *bead_blockers(store, still, pid is not None),
        *quarantine_blockers(store),
    ]
    if pid is None:
        found += code_blockers(paths.root)
    found += config_blockers(misconfigured if here is None else here.misconfigured)
    if here is not None and pid is None:
        found += _machine_blockers(store, paths, config, here, red_main, features, still, counts)
    else:
        found += no_check_blockers(config)
    if pid is not None:
        found = [replace(one, commands=tuple(c for c in one.commands if c not in STARTS_WORK)) for one in found]
    asked = {
        at: one.beads[0] for at, one in enumerate(found) if one.asks and one.beads and not (one.stops or one.behind)
    }
    waits = store.behind(asked.values())
    for at, bead in asked.items():
        found[at] = replace(found[at], behind=waits[bead])
    return Blockers(in_order(found), tuple(more(still).items()), pid is not None)


def asks(store: "Store", paths: Paths, config: "Config", misconfigured: str = "") -> tuple[Blocker, ...]:
    """What waits for a person beside escalations. In their own place no bead does."""
    if is_own(paths.root):
        return tuple(person_blockers(store, config, store.features(), daemon=True))
    return blockers(store, paths, config, misconfigured=misconfigured).asks


def for_you(paths: Paths) -> int | None:
    """How much waits for a person in the repository, as its pages count; None: unknown now."""
    from ...config.settings import load_for_reading
    from ...store import open_store

    if not is_current(paths.database):
        return None
    try:
        with closing(open_store(paths.database)) as store:
            return len(asks(store, paths, *load_for_reading(paths.config))) + len(store.escalations())
    except NobrakesError:  # the list says that it is unknown
        return None


def _machine_blockers(
    store: "Store",
    paths: Paths,
    config: "Config",
    here: Here,
    red_main: bool,
    features: "Sequence[Feature]",
    still: Standstill,
    counts: Mapping[str, int],
) -> list[Blocker]:
    wanted = tuple((status in (Status.NEEDS_TESTS, Status.WRITING_TESTS), kind) for status, kind in still.wanted)
    agents = role_blockers(config, here, wanted)
    checks = list(check_blockers(config, paths, here))
    is_work = bool(wanted) or bool(counts["review"])
    if any(one.is_planned_now for one in features):
        told = {one.what for one in agents}
        agents += [one for one in shaper_blockers(config, here, not is_work) if one.refuses or one.what not in told]
    mends = store.board(replace(control.limits(store, config), starts=Starts.SCAFFOLDING), 1).ready
    reviewed = store.beads(statuses=(Status.NEEDS_REVIEW, Status.REVIEWING)) if counts["review"] else ()
    if red_main or mends or not is_work or any(one.scaffolding for one in reviewed):
        checks = [replace(one, refuses=False) for one in checks]
    closure = [replace(one, refuses=is_work) for one in sandbox_blockers(config, here)]
    if config.fleet.engine != "local":
        from .node_blockers import setup_blockers

        closure += setup_blockers(config, here.sandbox_trouble)
    return [*checks, *agents, *closure]
