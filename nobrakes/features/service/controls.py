"""What a person does with features: begin, change, pause, resume, cancel, archive, ask for a change or a checkpoint.

1. Each is one transaction; a refusal writes nothing. Only commit-strategy makes a plan live.
2. `pause` lets agents finish and starts no other; `cancel` stops them at once. Both keep all work for `resume`.
3. An expired feature continues afresh, from the base (its drafts are cancelled and archived), or is only viewed; that
   also settles an open question about it.
4. Archiving hides a feature from lists; nothing is removed.
"""

import os
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...beads.model import NO_AGENTS, Attempt, BeadType, Status, bead_owner
from ...beads.service import bead_commands
from ...daemon.model import Limits
from ...errors import FileTooLarge, NoMain, NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...files import wake
from ...git.port import Git
from ...paths import Paths
from ...records import frozen
from ...sessions.model import State as At
from ...sessions.model import Talk
from ...text.cleaning import clean, count
from .. import model, planning
from ..actions import FRESH, FROM_BASE, VIEW_ONLY, About
from ..model import Criterion, Feature, State, Step, Todo
from ..reviewed_plan import Stack, beads_under, chosen, default_criteria, hold, let_go, open_points, under
from .rollback import resolve_questions, stop_turns

if TYPE_CHECKING:
    from ...config.sections import ForgeSettings
    from ...config.settings import Config
    from ...store import Store


PLANNING_RESTARTED = (
    "Planning starts again from the base: the person dropped all drafts of the plan. Look at the code as it is, "
    "and propose the plan again; earlier answers still apply."
)

POINT_ANSWERED = (
    "An open point in the feature's files: {}\nThe person answered: {}\n"
    "If the plan has to change because of it, change it, and say that the plan is complete again."
)


class Way(StrEnum):
    """How a feature continues after its session expired."""

    FRESH = FRESH
    FROM_BASE = FROM_BASE
    VIEW = VIEW_ONLY


def way_of(fresh: bool, from_base: bool, view: bool) -> Way | None:
    """None: none was chosen. UsageError for several."""
    chosen = [way for way, named in ((Way.FRESH, fresh), (Way.FROM_BASE, from_base), (Way.VIEW, view)) if named]
    if len(chosen) > 1:
        raise UsageError("choose one way to resume the feature", "Use one of --fresh, --from-base and --view, or none.")
    return chosen[0] if chosen else None


def resume(store: "Store", paths: Paths, id: str, actor: str, way: Way | None = None) -> Feature:
    """Resume it. NotAllowed: another feature's turn, or a rollback. `way`: of an expired feature; None: afresh."""
    with store.write():
        feature = store.feature(id)
        model.refuse_while_rolling(feature)
        if feature.state is State.EXPIRED:
            resolve_questions(store, feature, (way or Way.FRESH).value, actor, (About.EXPIRED,))
            go_on(store, id, way or Way.FRESH, actor)
        elif way is None:
            store.move_feature(id, Step.RESUMED, actor, "resumed by a person")
            # whoever goes on with a feature whose session is stuck wants it tried
            session = None if feature.session is None else store.session(feature.session)
            if session is not None and session.state is At.STUCK:
                store.say(session.id, "Go on.", actor)
            let_go(store, id, actor)
            resolve_questions(store, feature, "resumed by a person", actor, (About.FAILING,))
        else:
            raise NotAllowed(
                f"feature {id} is {feature.state.value.replace('_', ' ')}: only an expired feature needs that choice",
                f"`nobrakes forge resume {id}` continues where the feature stopped.",
            )
        after = store.feature(id)
    wake(paths)
    return after


def begin_another_round(store: "Store", paths: Paths, rules: "ForgeSettings", id: str, actor: str) -> Feature:
    """Review the plan once more before its sign-off. NotAllowed."""
    with store.write():
        feature = store.feature(id)
        seen = planning.tracker(rules, feature, store.plan_reviews(id), store.findings(id))
        if not planning.may_review_again(rules, feature, seen):
            raise NotAllowed(
                f"feature {id} can get another round of reviews only while its plan is waiting for your sign-off, "
                f"and after fewer than {count(rules.most_rounds, 'round')}",
                f"`nobrakes forge reviews {id}` shows the feature's reviews.",
            )
        notes = {model.FORGIVEN: feature.round, model.ANOTHER: feature.round + 1}
        after = store.note_feature(id, {model.ENOUGH: None, model.SIGN_OFF_ASKED: None, **notes}, actor)
    wake(paths)
    return after


def go_on(store: "Store", id: str, way: str, actor: str) -> int:
    """Continue an expired feature; returns how many drafts were dropped. One transaction; NotAllowed."""
    with store.write():
        feature = store.feature(id)
        if feature.state is not State.EXPIRED:
            return 0
        session = None if feature.session is None else store.session(feature.session)
        if way not in (Way.FRESH, Way.FROM_BASE):
            store.note_feature(id, {model.LEFT: session.waiting if session is not None else 0}, actor)
            return 0
        store.note_feature(id, {model.LEFT: None}, actor)
        if session is not None and session.state is not At.ENDED:
            store.renew_session(session.id)
        if way == Way.FROM_BASE:
            # its drafts are given up, with the reviews of them
            count = _drop_drafts(store, feature.id, actor)
            store.note_feature(feature.id, planning.reopened(feature), actor)
            store.move_feature(feature.id, Step.BEGUN_AGAIN, actor, FROM_BASE, clean=0)
            if feature.session is not None and store.session(feature.session).state is not At.ENDED:
                store.say(feature.session, PLANNING_RESTARTED, actor)
            return count
        store.move_feature(id, Step.RESUMED, actor, way)
        return 0


def _drop_drafts(store: "Store", feature: str, actor: str) -> int:
    why, beads = "the feature begins from its base again", beads_under(store, feature)
    drafts = [bead for bead in beads if bead.status is Status.DRAFT]
    for bead in drafts:
        store.record(Event(Kind.CANCELLED, bead.id, actor=actor, data={"reason": why}))
    for bead in beads:
        if bead.proposed and bead.status is not Status.DRAFT:
            store.propose(bead.id, dict.fromkeys(bead.proposed), actor, Kind.CHANGE_DROPPED, why)
    return len(drafts)


# Comments that say what is left to do, on the commit that the feature begins from.
MAX_FINDS = 5000


@frozen
class ScanView:
    """`blocking`: in files that the feature touches; `others`: only shown. `more`: finds beyond MAX_FINDS; `skipped`:
    files too large to read."""

    feature: str
    base: str
    files: int
    blocking: tuple[Todo, ...]
    others: tuple[Todo, ...]
    more: int = 0
    skipped: tuple[str, ...] = ()


def blocking(git: Git, commit: str, files: tuple[str, ...]) -> tuple[Todo, ...]:
    return _read(git, commit, [path for path in _paths(git, commit) if model.is_affected(path, files)])[0]


def _paths(git: Git, commit: str) -> list[str]:
    return sorted(path for path in git.paths(commit) if model.is_scanned(path)) if commit else []


def _read(git: Git, commit: str, paths: list[str]) -> tuple[tuple[Todo, ...], tuple[str, ...]]:
    found: list[Todo] = []
    skipped: list[str] = []
    for path in paths:
        try:
            data = git.read(commit, path, model.MAX_BYTES)
        except FileTooLarge:
            skipped.append(path)
            continue
        if data is not None:  # a link is none
            found += model.scan(path, data.decode("utf-8", "replace"))
    return tuple(found), tuple(skipped)


def scan_of(store: "Store", git: Git, id: str) -> ScanView:
    """The scan of a feature's base commit. NoSuchFeature."""
    feature = store.feature(id)
    paths = _paths(git, feature.base)
    found, skipped = _read(git, feature.base, paths)
    blocks = tuple(one for one in found if model.is_affected(one.file, feature.files))
    others = tuple(one for one in found if not model.is_affected(one.file, feature.files))
    room = max(0, MAX_FINDS - len(blocks))
    return ScanView(id, feature.base, len(paths), blocks, others[:room], max(0, len(others) - room), skipped)


TITLE, TEXT, MAX_FILES, PATH = 200, 20_000, 200, 500
"""Characters of a title and of a text; number of files; characters of a path."""


@frozen
class Wanted:
    """A person's input. None: unchanged. `without`: usual criteria to drop; `only`: those to keep, 0: none."""

    title: str | None = None
    description: str | None = None
    own: tuple[str, ...] = ()
    without: Collection[int] = ()
    files: tuple[str, ...] | None = None
    notes: str | None = None
    only: Collection[int] | None = None

    def criteria(self, eight: Sequence[Criterion]) -> tuple[Criterion, ...]:
        """The usual criteria that hold, then their own. UsageError."""
        left_out = set(self.without)
        if self.only is not None:
            left_out |= set(range(1, len(eight) + 1)).difference(self.only)
            if not set(self.only) <= set(range(len(eight) + 1)):
                raise UsageError(f"the standard criteria are numbered from 1 to {len(eight)}")
        return chosen(eight, left_out, [clean(one) for one in self.own])


def stack(config: "Config", root: str) -> Stack:
    """From the project's contract, else guessed from its files."""
    from ...config.setup.detect import detect

    checks = config.checks or detect(root).checks
    of = {kind: next((one.command for one in checks if one.kind == kind), "") for kind in ("test", "types", "lint")}
    is_web = os.path.isfile(os.path.join(root, "package.json"))
    typed = os.path.isfile(os.path.join(root, "tsconfig.json"))
    return Stack(of["test"], of["types"], of["lint"], is_web, "typescript" if typed else "")


def configured_criteria(config: "Config", paths: Paths) -> tuple[Criterion, ...]:
    return default_criteria(stack(config, paths.root))


def begin(
    store: "Store", paths: Paths, config: "Config", git: Git, wanted: Wanted, actor: str, id: str | None = None
) -> Feature:
    """Begin a feature: epic, facts, open points of the scan. UsageError, NotAllowed. `id`: the epic's; None: free."""
    title, description = _title(wanted.title or ""), _text("description", wanted.description or "")
    if not description:
        raise UsageError("a feature needs a description", "Say what you want, and why.")
    files, notes = _files(wanted.files or ()), _text("notes", wanted.notes or "")
    criteria = wanted.criteria(default_criteria(stack(config, paths.root)))
    base = _main(git)
    points = blocking(git, base, files)
    with store.write():
        epic = bead_commands.add(
            store,
            title,
            BeadType.EPIC,
            description,
            acceptance=[one.text for one in criteria],
            notes=notes,
            touches=files,
            id=id,
            actor=actor,
        )
        made = store.begin_feature(Feature(epic.id, title, description, criteria, files, notes, base, actor=actor))
        for one in points:
            store.collect(made.id, one.kind, one.text, actor, file=one.file, line=one.line, blocks=True, nth=one.nth)
    wake(paths)
    return store.feature(made.id)


def edit(store: "Store", paths: Paths, config: "Config", id: str, wanted: Wanted, actor: str) -> Feature:
    """Own criteria or `without` replace the list. UsageError, NoSuchFeature."""
    before = store.feature(id)
    values: dict[str, Any] = {}
    if wanted.title is not None:
        values["title"] = _title(wanted.title)
    if wanted.description is not None:
        values["description"] = _text("description", wanted.description)
        if not values["description"]:
            raise UsageError("a feature needs a description")
    if wanted.files is not None:
        values["files"] = _files(wanted.files)
    if wanted.notes is not None:
        values["notes"] = _text("notes", wanted.notes)
    if wanted.own or wanted.without or wanted.only is not None:
        values["criteria"] = wanted.criteria(default_criteria(stack(config, paths.root)))
    if not values:
        raise UsageError("you gave no new value for the feature", f"`nobrakes forge show {id}` shows the values.")
    with store.write():
        after = store.change_feature(before.id, values, actor)
        epic: dict[str, Any] = {"notes": after.notes} if "notes" in values else {}
        epic |= {"acceptance": [one.text for one in after.criteria]} if "criteria" in values else {}
        epic |= {"touches": list(after.files)} if "files" in values else {}
        if epic:
            bead_commands.edit(store, before.id, epic, actor)
    wake(paths)
    return after


def pause(store: "Store", paths: Paths, id: str, actor: str) -> Feature:
    """Start no further turn or attempt; running ones finish. Gives up the repository's turn."""
    with store.write():
        moved = store.move_feature(id, Step.PAUSED, actor, "paused by a person")
        hold(store, id, actor)
    wake(paths)
    return moved


def cancel(store: "Store", paths: Paths, id: str, actor: str) -> Feature:
    """Stop its turns and the agents of its beads, and pause it; drafts, questions and work stay."""
    from ...daemon.service.control import ask_to_stop

    with store.write():
        feature = store.feature(id)
        moved = feature if feature.state is State.PAUSED else store.move_feature(id, Step.PAUSED, actor, "cancelled")
        hold(store, id, actor)
        stop_turns(store, feature, actor)
        ask_to_stop(store, (one for one in agents_of(store, id, False) if isinstance(one, Attempt)), actor)
    wake(paths)
    return moved


def agents_of(store: "Store", id: str, stopping: bool) -> list[Attempt | Talk]:
    """The agents that work on its beads or take its turns now, if they were asked to stop; or if they were not."""
    board, owner, own = store.board(Limits()), bead_owner(id), {*under(store, id)}
    found = [
        one
        for one in board.agents
        if (one.session.owner == owner if isinstance(one, Talk) else one.bead in own and one.role not in NO_AGENTS)
    ]
    return [one for one in found if board.is_stop_asked(one) is stopping]


def archive(store: "Store", id: str, away: bool, actor: str) -> Feature:
    """NotAllowed while it is active."""
    feature = store.feature(id)
    if away and feature.state is State.ACTIVE:
        raise NotAllowed(
            f"feature {id} is active: only a paused or ended feature can be hidden",
            f"Type `nobrakes forge pause {id}` first; no work is lost.",
        )
    return store.change_feature(id, {"archived": away}, actor)


def ask_change(store: "Store", paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Ask its Shaper for a change of the plan. NotAllowed before there is a conversation."""
    with store.write():
        _, words = _tell(store, id, "Change the plan{}: {}", text, actor, bead)
        moved = _reopen(store, id, words, actor)
    wake(paths)
    return moved


def go_on_with(store: "Store", id: str, words: str, actor: str) -> None:
    """Continue a feature that stopped, with a person's words for its Shaper. In the caller's transaction."""
    if store.feature(id).state is not State.ACTIVE:
        store.move_feature(id, Step.RESUMED, actor, "resumed by a person")
        let_go(store, id, actor)
    store.note_feature(id, {model.NUDGED: None}, actor)
    _say(store, id, words, words, actor)


def change_with(store: "Store", id: str, words: str, actor: str) -> None:
    """Have the plan of a feature that stopped changed. In the caller's transaction."""
    go_on_with(store, id, f"Change the plan: {words}", actor)
    _reopen(store, id, words, actor)


def _reopen(store: "Store", id: str, words: str, actor: str) -> Feature:
    feature = store.feature(id)
    if feature.stage not in model.PLANNED or planning.are_over(feature):
        store.note_feature(id, planning.reopened(feature), actor)
    return store.move_feature(id, Step.CHANGE_ASKED, actor, words[:200])


def discuss(store: "Store", paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Ask its Shaper about the plan or one step; changes nothing."""
    with store.write():
        feature, _ = _tell(store, id, "A question{}; change nothing before it is answered: {}", text, actor, bead)
    wake(paths)
    return feature


def answer_point(store: "Store", paths: Paths, id: str, number: int, text: str, actor: str) -> model.Item:
    """Answer an open point; its Shaper gets the answer, or the notes that it begins with. NotAllowed, UsageError."""
    with store.write():
        words = _text("answer", text)
        point = next((one for one in open_points(store, id) if one.id == number), None)
        if point is None:
            why = f"feature {id} has no unanswered open point {number}"
            raise NotAllowed(why, f"`nobrakes forge show {id}` lists the steps.")
        if not words:
            raise UsageError("the answer is empty")
        _say(store, id, POINT_ANSWERED.format(point.where, words), f"{point.where}: {words}", actor)
        store.resolve_items({number}, model.ItemState.RESOLVED, actor)
    wake(paths)
    return point


def _say(store: "Store", id: str, words: str, note: str, actor: str) -> None:
    """Tell its Shaper the words; one that has not begun begins with the note."""
    feature = store.feature(id)
    if feature.session is not None:
        store.say(feature.session, words, actor)
        return
    notes = {"notes": _text("notes", f"{feature.notes}\n{note}".strip())}
    store.change_feature(id, notes, actor)
    bead_commands.edit(store, id, notes, actor)


def _tell(store: "Store", id: str, form: str, text: str, actor: str, bead: str) -> tuple[Feature, str]:
    """Send it to the feature's Shaper with its step; returns the feature and plain words. NotAllowed, UsageError."""
    feature, words = store.feature(id), _text("text", text)
    if feature.session is None:
        raise NotAllowed(
            f"planning of feature {id} has not begun yet",
            f"To change the text that the Shaper starts from: `nobrakes forge edit {id}`.",
        )
    if not words:
        raise UsageError("your message to the Shaper is empty")
    if bead and bead not in under(store, id):
        raise UsageError(f"'{bead[:64]}' is not a step of feature {id}", f"`nobrakes forge show {id}` lists the steps.")
    about = f" at the step {bead} ({store.bead(bead).title})" if bead else ""
    store.say(feature.session, form.format(about, words), actor)
    return feature, words


def _main(git: Git) -> str:
    try:
        return git.main()
    except NoMain:  # a repository without a commit: the scan has nothing to look at
        return ""


def _title(text: str) -> str:
    if not (found := " ".join(clean(text).split())):
        raise UsageError("a feature needs a title")
    if len(found) > TITLE:
        raise UsageError(f"a title has at most {TITLE} characters, not {len(found)}")
    return found


def _text(name: str, text: str) -> str:
    found = clean(text).strip()
    if len(found) > TEXT:
        raise UsageError(f"the {name} has at most {TEXT} characters, not {len(found)}")
    return found


def _files(given: Sequence[str]) -> tuple[str, ...]:
    files = tuple(dict.fromkeys(clean(one).strip().removeprefix("./") for one in given if one.strip()))
    if len(files) > MAX_FILES:
        raise UsageError(f"name at most {MAX_FILES} files, not {len(files)}", "Name the files' folder instead.")
    for one in files:
        if one.startswith("/") or ".." in one.split("/") or "\n" in one or len(one) > PATH:
            raise UsageError(
                f"'{one[:80]}' is not a file of the repository", "Name files and folders from the repository's root."
            )
    return files
