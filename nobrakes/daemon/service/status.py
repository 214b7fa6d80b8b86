"""The whole repository on one screen, and what holds agents back: cooldowns and caps."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ... import EMAIL, abilities
from ...agents.limits import Cooldown, Cost
from ...beads.model import WORKING, Attempt, Role
from ...beads.progress import doubt
from ...beads.work_status import REQUESTED, SHOWN, stage
from ...decisions.blockers import STOPS, WAITS_FOR_PERSON, Blocker, in_short
from ...decisions.blockers import Kind as Stop
from ...decisions.model import Escalation
from ...decisions.service.all_blockers import NOTHING, Blockers, Here
from ...decisions.service.all_blockers import blockers as looked_for
from ...errors import GitUnusable, NobrakesError, NoMain
from ...events.kinds import Kind
from ...host.locks import holder
from ...machine.registry import MachineView, last_visit, shown
from ...paths import Paths
from ...records import copied, frozen, plain
from ...review.journal import Journal
from ...sessions.model import State
from ...text.cleaning import age, clean, cost_text, count, cut, near, one_line, shorten
from ...walking import commits_since
from . import control
from .control import CapView, caps_of

if TYPE_CHECKING:
    from ...config.sections import ForgeSettings
    from ...config.settings import Config
    from ...fleet.model import NodesLine
    from ...git.port import Git
    from ...review.queue import Quarantined
    from ...store import Store
    from ..model import Limits


PROGRESS_PAGE = 1000
TEXT = 500


@frozen
class Claim:
    """An agent's last claim of progress. `of` None: unknown total."""

    text: str
    step: int | None = None
    of: int | None = None


def spoken(claim: Claim, commits: int | None) -> str:
    step = "" if claim.step is None else f"step {claim.step}" + (f" of {claim.of}" if claim.of else "")
    fact = "" if commits is None else f"{commits} commit{'' if commits == 1 else 's'}"
    return ", ".join(part for part in (step, fact, claim.text) if part)


def claimed(store: "Store", attempt: Attempt) -> Claim | None:
    """The attempt's last claim of its progress."""
    after, found = 0, None
    while page := store.events(after, PROGRESS_PAGE, attempt.bead):
        after = page[-1].seq
        own = (one for one in reversed(page) if one.kind is Kind.PROGRESSED and one.attempt == attempt.id)
        found = next(own, found)
    if found is None:
        return None
    numbers = found.data.get("data") or {}
    return Claim(shorten(clean(str(found.data.get("text", ""))), TEXT), numbers.get("step"), numbers.get("of"))


def review_step(attempt: Attempt) -> str:
    journal = Journal.of(attempt.data)
    return f"waits: {why}" if (why := journal.merging.waiting) else stage(journal.step.value, journal.change.epic)


def counts(store: "Store") -> dict[str, int]:
    return counted(store.counts(), len(store.requested()))


def counted(found: Mapping[str, int], asked: int) -> dict[str, int]:
    by_column = {**found, "review": max(0, found["review"] - asked), REQUESTED: asked}
    return {name: by_column[name] for name in (*SHOWN, "held")}


@frozen
class GatesView:
    """Present cooldowns and caps."""

    now: float
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    machine: MachineView | None = None  # what all repositories share, where that is limited


@frozen
class Worker:
    """An open attempt. `seconds` since it began."""

    name: str
    role: Role
    bead: str
    title: str
    agent: str
    attempt: int
    number: int
    started_at: float
    seconds: float
    says: str = ""  # what it claims, and what its clone says: two tracks
    doubt: str = ""  # what speaks against the claim
    step: str = ""  # of a review: the step that it is at
    onto: str = ""  # of a review: the epic on whose branch it lands; empty: on main
    memory_mb: int | None = None  # that its processes hold; None: none lives


@frozen
class OpenSession:
    """An open session; `seconds` in its turn, None: idle."""

    session: int
    kind: str
    title: str
    agent: str
    state: str
    seconds: float | None
    memory_mb: int | None = None  # that its agent holds; None: it is not at work


@frozen
class MainTip:
    """Main as its ref is now. `state`: "green", "red", "not proven", "missing", or "unreadable".

    `subject`, `author` and `at` are those of a commit that a person made; `proven`: the last one that passed."""

    branch: str
    state: str
    commit: str = ""
    subject: str = ""
    author: str = ""
    at: float | None = None
    proven: str = ""
    proven_at: float | None = None


@frozen
class Merged:
    """A bead that is on main."""

    bead: str
    title: str
    at: float


@frozen
class FirstScreen:
    """What a person asks first. `since`: their last look before this visit; `merged`: the latest of `merges`.

    `decisions`, `approvals` and `others` wait for a person; `what`: the only one; `command` shows them. `waits`: limits
    that hold agents back. `left`: beads that are not done; `seconds`: what they may take, from `begins` on."""

    main: MainTip
    since: float
    merges: int
    merged: tuple[Merged, ...]
    cost: Cost
    decisions: int
    approvals: int
    others: int
    what: str
    command: str
    at_work: int
    reviews: int
    slots: int
    state: str
    waits: tuple[str, ...]
    left: int
    startable: int
    seconds: float | None
    begins: float
    now: float


DAY_SECONDS, WEEK_SECONDS = 86_400.0, 604_800.0
MAX_LINE = 50
"""So many commits of main are looked through for the last one that passed."""
MERGED_SHOWN, LATEST = 8, 20
"""So many merges are named; a forecast stands on so many."""
_LEFT = ("draft", "blocked", "ready", "working", "review", "requested", "escalated")
_APPROVALS = frozenset({Stop.SIGN_OFF, Stop.DRAFTS, Stop.REQUEST, Stop.SPRINTS})


def main_tip(store: "Store", git: "Git", branch: str) -> MainTip:
    """What is known of main's newest commit, whoever made it."""
    try:
        made = git.made(git.main())
    except NoMain:
        return MainTip(branch, "missing")
    except NobrakesError:
        made = None
    if made is None:
        return MainTip(branch, "unreadable")
    is_red, line = store.setting(control.FROZEN) == made.commit, [made]
    passed = {} if is_red else store.proven([made.tree])
    state = "red" if is_red else "green" if passed else "not proven"
    if not passed:
        while len(line) < MAX_LINE and line[-1].parents and (above := git.made(line[-1].parents[0])) is not None:
            line.append(above)
        passed = store.proven({one.tree for one in line} - ({made.tree} if is_red else set()))
    last = next((one for one in line if one.tree in passed), None)
    is_ours = bool(made.trailer("Bead") or made.trailer("Reverts-Bead")) or f"<{EMAIL}>" in made.author
    person = () if is_ours else (made.subject, made.author.rpartition(" <")[0], made.at)
    tip = MainTip(branch, state, made.commit, *person)
    return tip if last is None else replace(tip, proven=last.commit, proven_at=passed[last.tree])


def first_screen(
    store: "Store",
    git: "Git",
    paths: Paths,
    config: "Config",
    stands: Blockers,
    working: tuple["Worker", ...],
    is_visiting: bool = False,
) -> FirstScreen:
    """The answers of a morning. `is_visiting`: a person looks now, and the next look tells what came since."""
    now = store.now()
    since = last_visit(paths.root, now, is_visiting)
    since = now - DAY_SECONDS if since is None else since
    lately = store.merged_since(min(since, now - WEEK_SECONDS))
    merges = [one for one in lately if one[1] >= since]
    shown = [bead for bead, _ in merges[:MERGED_SHOWN]]
    titles = {bead.id: bead.title for bead in store.beads(ids=shown)} if shown else {}
    counted = counts(store)
    left = sum(counted[name] for name in _LEFT)
    asks, decisions = stands.asks, store.escalations()
    approvals = sum(one.kind in _APPROVALS for one in asks)
    command, what = "nobrakes escalations", ""
    if len(asks) + len(decisions) == 1:
        what = asks[0].what if asks else decisions[0].title
        command = next(iter(asks[0].commands), command) if asks else f"nobrakes escalation {decisions[0].id}"
    agents = sum(one.role is not Role.REVIEWER for one in working)
    waits = [one for one in stands.found if one.kind in (Stop.COOLDOWN, Stop.CAP) and (one.until or 0.0) > now]
    return FirstScreen(
        main_tip(store, git, config.main),
        since,
        len(merges),
        tuple(Merged(bead, titles[bead], at) for bead, at in merges[:MERGED_SHOWN]),
        store.cost_since(since),
        len(decisions),
        approvals,
        len(asks) - approvals,
        what,
        command,
        agents,
        len(working) - agents,
        control.limits(store, config).doers,
        _state(store, stands),
        tuple(f"{in_short(one)} until {near(one.until or now, now)}" for one in waits),
        left,
        counted["ready"] + counted["working"] + counted["review"],
        _forecast(store, left, lately[:LATEST]),
        min((one.until or now for one in waits), default=now) if not working else now,
        now,
    )


def _state(store: "Store", stands: Blockers) -> str:
    if store.setting(control.STOPPING):
        return "stopping"
    if store.setting(control.PAUSED):
        return "paused"
    return "at work" if stands.works else "stopped" if any(one.stops for one in stands.found) else "no daemon"


LEAST = 3
"""Merges without which there is no forecast."""


# A guess: the longest chain bead by bead as long as beads took lately, or everything at the rate of merges; the longer
# of the two.
def _forecast(store: "Store", left: int, merges: Sequence[tuple[str, float]]) -> float | None:
    """The seconds that so many beads may take after these merges; None: nothing can be said."""
    began = ((at, [attempt.started_at for attempt in store.attempts(bead)]) for bead, at in merges)
    spans = [(min(times), at) for at, times in began if times]
    if not left or len(spans) < LEAST:
        return None
    took = sorted(max(0.0, at - since) for since, at in spans)
    alone = len(store.critical_path()) * took[len(took) // 2]
    return max(alone, left * (max(at for _, at in spans) - min(since for since, _ in spans)) / len(spans))


NAME = 9
"""Columns of a line's name."""


def first_lines(view: FirstScreen, columns: int) -> list[tuple[str, str]]:
    """The view in words: (name, text) of each line that has something to say, at most six."""
    counted = ((view.decisions, "decision"), (view.approvals, "approval"), (view.others, "other thing"))
    text = view.what or ", ".join(count(number, noun) for number, noun in counted if number)
    found = {
        "main": main_text(view.main, view.now),
        "merged": _merged_text(view, columns),
        "cost": cost_text(plain(view.cost)),
        "you": f"{text}: `{view.command}`" if text and view.command not in text else text,
        "running": _running_text(view),
        "done by": _end_text(view),
    }
    return [(name, one_line(text)) for name, text in found.items() if text]


def main_text(tip: MainTip, now: float) -> str:
    """State, commit, who made it, and the last that passed."""
    if tip.state == "missing":
        return f"the branch {tip.branch} has no commit yet"
    if tip.state == "unreadable":
        return "git cannot read the main branch: `nobrakes doctor` shows why"
    named = tip.commit[:7]
    if tip.at is not None:
        named += f' "{cut(one_line(tip.subject), 30)}" by {cut(one_line(tip.author), 20)}, {near(tip.at, now)}'
    if tip.proven_at is None:
        return f"{tip.state}: {named} (never passed its checks)"
    if tip.state == "green":
        return f"green {named}{',' if tip.at is None else ';'} passed its checks {near(tip.proven_at, now)}"
    return f"{tip.state}: {named} (last passed its checks at {tip.proven[:7]}, {near(tip.proven_at, now)})"


def _merged_text(view: FirstScreen, columns: int) -> str:
    if not view.merges:
        return ""
    text = f"{view.merges} since {near(view.since, view.now)}"
    for number, one in enumerate(view.merged):
        more = f"{': ' if not number else '; '}{cut(one_line(one.title), 40)}"
        left = view.merges - number - 1
        if number and len(text) + len(more) + (len(f"; … {left} more") if left else 0) > columns:
            return f"{text}; … {view.merges - number} more"
        text += more
    left = view.merges - len(view.merged)
    return f"{text}; … {left} more" if left else text


def _running_text(view: FirstScreen) -> str:
    text = f"{view.at_work} of {count(view.slots, 'agent')}" if view.at_work or view.state == "at work" else "nothing"
    text += f", {count(view.reviews, 'review')}" if view.reviews else ""
    if view.state in ("stopping", "paused"):
        text += f", {view.state}"
    elif view.state == "no daemon" and view.startable:
        text += "; to start: `nobrakes run`, or `nobrakes daemon start`"
    return "; ".join([text, *view.waits])


def _end_text(view: FirstScreen) -> str:
    if not view.left:
        return ""
    beads = f"{count(view.left, 'bead')} left"
    if not view.startable:
        return f"{beads}, but none of them can start now"
    if view.seconds is None:
        return f"{beads}; a forecast needs at least {LEAST} merges"
    if view.state != "at work":
        return f"about {age(view.seconds)} of work ({beads})"
    return f"about {near(view.begins + view.seconds, view.now)} ({beads})"


_PASSING = frozenset({Stop.CAP, Stop.COOLDOWN, Stop.NO_PLACE})
_IDLE_KINDS = (Stop.MERGE_WAITS, Stop.CANCELLED_BLOCKER, Stop.CANCELLED_PARENT, Stop.HELD, Stop.DRAFTS, Stop.DEFERRED)


@frozen
class NextStep:
    """What to type, and why. `other`: another way to type, which goes on after `why`."""

    command: str
    why: str
    other: str = ""


def next_step(store: "Store", stands: "Blockers", rules: "ForgeSettings") -> NextStep:
    """By what waits: blockers of everything, a person's, agents', standing beads. The named command works now."""
    counts, waiting = store.counts(), store.escalations()
    beads = {name: number for name, number in counts.items() if number and name not in ("epic", "held")}
    asks = next((one for one in stands.found if one.kind in WAITS_FOR_PERSON), None)
    is_work = bool(beads.keys() - {"done", "cancelled", "draft"} or waiting)
    for one in stands.found:
        if one.kind in STOPS - _PASSING and one.commands and (is_work or one.kind is Stop.CONFIG):
            return _by(one)
    if waiting:
        return NextStep(
            "nobrakes escalations", count(len(waiting), "question waits", "questions wait") + " for your decision"
        )
    if asks is not None:
        return _by(asks)
    if not beads:
        by_hand = "; to write a plan yourself: nobrakes plan example"
        return NextStep("nobrakes shape", "there is no bead yet: plan some work", by_hand)
    if "draft" in beads and beads.keys() <= {"draft", "done", "cancelled"}:
        return _approval(store, rules, "the drafts need your approval")
    if not beads.keys() & {"working", "review"} and store.proposed():  # before agents begin with the old text
        drafts = "the drafts and " if "draft" in beads else ""
        return _approval(store, rules, f"{drafts}proposed changes of live beads need your approval")
    if beads.keys() <= {"done", "cancelled"}:
        return NextStep("nobrakes reshape", "everything is done: plan the next work")
    if not beads.keys() & {"ready", "working", "review"}:
        for one in stands.found:
            if one.kind in _IDLE_KINDS and one.commands:
                return _by(one)
    if stands.works:
        return NextStep("nobrakes status", "the daemon continues the work automatically")
    return NextStep("nobrakes run", "there is work to do", " (or in the background: `nobrakes daemon start`)")


def _approval(store: "Store", rules: "ForgeSettings", why: str) -> NextStep:
    from ...features.reviewed_plan import approval

    command, first = approval(store, rules)
    return NextStep(command, first or why)


def _by(one: Blocker) -> NextStep:
    return NextStep(one.commands[0], one.what)


@frozen
class StatusView:
    """One screen. `counts`: the board's columns; epics are separate."""

    main: str
    daemon: int | None  # its pid
    paused: bool
    frozen: str | None  # the red tip of main, while nothing is merged for it
    stopping: bool
    counts: Mapping[str, int]
    epics: int
    working: tuple[Worker, ...]
    escalations: tuple[Escalation, ...]
    limits: "Limits"
    checks: int
    next_at: float | None  # the next retry, deferral or end of a cooldown
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    degraded: tuple[str, ...]  # agents of which less is asked than they should be able to do, and why
    quarantined: tuple["Quarantined", ...]
    behind: tuple[str, ...] = ()  # checkouts of main in which a plain commit would take back what was merged
    off_main: str = ""  # the done beads that main no longer contains, and what can be done
    unknown: tuple[str, ...] = ()  # what main carries and the database does not know, a line for each bead
    sessions: tuple[OpenSession, ...] = ()
    machine: MachineView | None = None  # what all repositories share, where that is limited
    hindrances: Blockers = NOTHING  # what keeps work from going on, and what to type about it
    first: FirstScreen | None = None
    nodes: "NodesLine | None" = None  # where agents and checks run on nodes


def workers(store: "Store", runs: bool = True) -> tuple[Worker, ...]:
    """Open attempts, oldest first. Reviews only count while a daemon `runs`."""
    now = store.now()
    found, held = [], control.memory_of_agents(store.runs())
    for bead in store.beads(WORKING):
        for attempt in store.attempts(bead.id):
            if attempt.outcome is None and (runs or attempt.role is not Role.REVIEWER):
                found.append(
                    copied(
                        Worker,
                        attempt,
                        title=bead.title,
                        attempt=attempt.id,
                        seconds=max(0.0, now - attempt.started_at),
                        says="",
                        doubt="",
                        step=str(attempt.data.get("step", "")) if attempt.role is Role.REVIEWER else "",
                        onto=str(attempt.data.get("epic", "")) if attempt.role is Role.REVIEWER else "",
                        memory_mb=held.get((attempt.id, 0)),
                    )
                )
    return tuple(sorted(found, key=lambda worker: worker.started_at))


def open_sessions(store: "Store") -> tuple[OpenSession, ...]:
    """Open sessions, working ones first."""
    now, found = store.now(), []
    held = control.memory_of_agents(store.runs())
    for one in store.sessions():
        turns = store.turns(one.id) if one.state is State.RUNNING else []
        seconds = max(0.0, now - turns[-1].started_at) if turns else None
        memory = held.get((0, turns[-1].id)) if turns else None
        found.append(OpenSession(one.id, one.kind.value, one.title, one.agent, one.state.value, seconds, memory))
    return tuple(sorted(found, key=lambda one: (one.seconds is None, one.session)))


def with_progress(store: "Store", paths: Paths, worker: Worker) -> Worker:
    """The worker with its claimed progress and its clone's commits."""
    if (claim := claimed(store, store.attempt(worker.attempt))) is None:
        return worker
    commits = commits_since(os.path.join(paths.workspaces, worker.bead), worker.started_at)
    return replace(worker, says=spoken(claim, commits), doubt=doubt(claim.step, commits))


def status(
    store: "Store",
    paths: Paths,
    config: "Config",
    here: Here | None = None,
    is_visiting: bool = False,
    misconfigured: str = "",
) -> StatusView:
    """The whole repository on one screen. `here`: this process, to tell whether it could start agents."""
    from ...git.repository import open_git

    limits, daemon = control.limits(store, config), holder(paths.lock)
    found, moment = store.counts(), store.board(limits, 1)
    stands = looked_for(store, paths, config, here, misconfigured=misconfigured)
    working = workers(store, daemon is not None)
    git = open_git(paths, config)
    try:
        first = first_screen(store, git, paths, config, stands, working, is_visiting)
        of_main = _main_problems(store, git, config)
    finally:
        git.close()
    stands = replace(stands, found=tuple(one for one in stands.found if f"{one.what}." not in of_main[0]))
    return StatusView(
        config.main,
        daemon,
        bool(store.setting(control.PAUSED)),
        store.setting(control.FROZEN),
        bool(store.setting(control.STOPPING)),
        counted(found, len(store.requested())),
        found["epic"],
        tuple(with_progress(store, paths, worker) for worker in working),
        tuple(store.escalations()),
        limits,
        len(config.checks),
        moment.wake_at,
        tuple(moment.gates.values()),
        caps_of(limits.caps, moment.spent, moment.now),
        degraded(store, paths, config),
        control.quarantined(store),
        *of_main,
        open_sessions(store),
        shown(),
        stands,
        first,
        nodes_line(paths, config),
    )


def nodes_line(paths: Paths, config: "Config") -> "NodesLine | None":
    """The nodes as they were seen last. None: there are none. It asks nobody."""
    if config.fleet.engine == "local":
        return None
    from ...fleet.model import known, line_of  # few repositories have nodes

    return line_of(known(paths))


def _main_problems(store: "Store", git: "Git", config: "Config") -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Outdated checkouts, merges missing on main, merges unknown to the store. Empty if git fails: see the doctor."""
    from ...review.service.landed import off_main_message, unknown

    try:
        return git.behind(), off_main_message(store, git, config), tuple(unknown(store, git))
    except GitUnusable as error:
        return (error.whole,), "", ()
    except NobrakesError:
        return (), "", ()


def degraded(store: "Store", paths: Paths, config: "Config") -> tuple[str, ...]:
    """Recorded problems of agents and signing; only the daemon runs programs."""
    seen = abilities.recall(paths)

    def version(name: str, program: str, mark: str) -> str | None:
        return abilities.noted(paths, program, mark) if abilities.reports_version(name) else ""

    agents = config.agents
    found = (
        abilities.standing(name, agents.command(name), seen, version).said for name in agents.agent_choice().names()
    )
    return tuple(filter(None, (*found, store.setting(control.UNSIGNED))))


def view(store: "Store", config: "Config") -> GatesView:
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    return GatesView(board.now, tuple(board.gates.values()), caps_of(limits.caps, board.spent, board.now), shown())
