"""What a person does with features: begin, change, pause, go on, cancel, put away, ask for a change of the plan.

1. Each is one transaction; a refusal wrote nothing. Nothing here makes a plan live: commit-strategy does.
2. `pause` lets a turn end and starts no other; `cancel` ends it at once. Both keep all work, and `resume` goes on.
3. Putting a feature away hides it from lists. Nothing is removed.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.beads.bead import BeadType
from ...core.errors import NoMain, NotAllowed, UsageError
from ...core.forge import reviewing
from ...core.forge.criteria import Stack, chosen, usual
from ...core.forge.feature import PLANNED, Criterion, Feature, State, Step
from ...core.text.cleaning import clean
from ...paths import Paths
from ...ports.git import Git
from ...ports.store import Store
from ...roles.plan_beads import under
from .. import beads
from ..waking import wake
from . import resting
from .rollback import stop_turns
from .scanning import blocking

if TYPE_CHECKING:
    from ...config.settings import Config

TITLE, TEXT, MOST_FILES, PATH = 200, 20_000, 200, 500
"""Characters of a title and of a text; how many files may be named, and how long a name of one may be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person says of a feature. None: as it is.

    `without` are numbers of usual criteria that are left out; `only` those that are kept, and 0 is none of them.
    """

    title: str | None = None
    description: str | None = None
    own: tuple[str, ...] = ()
    without: frozenset[int] = frozenset()
    files: tuple[str, ...] | None = None
    notes: str | None = None
    only: frozenset[int] | None = None

    def criteria(self, eight: Sequence[Criterion]) -> tuple[Criterion, ...]:
        """The usual ones that hold, and their own; UsageError."""
        left_out = set(self.without)
        if self.only is not None:
            left_out |= set(range(1, len(eight) + 1)) - self.only
            if not self.only <= set(range(len(eight) + 1)):
                raise UsageError(f"the usual criteria are numbered from 1 to {len(eight)}")
        return chosen(eight, left_out, [clean(one) for one in self.own])


def stack(config: "Config", root: str) -> Stack:
    """What the project is checked with: what its contract says, else what its files suggest."""
    from ..setup.detect import detect

    checks = config.checks or detect(root).checks
    of = {kind: next((one.command for one in checks if one.kind == kind), "") for kind in ("test", "types", "lint")}
    is_web = os.path.isfile(os.path.join(root, "package.json"))
    typed = os.path.isfile(os.path.join(root, "tsconfig.json"))
    return Stack(of["test"], of["types"], of["lint"], is_web, "typescript" if typed else "")


def usual_of(config: "Config", paths: Paths) -> tuple[Criterion, ...]:
    """The usual criteria, in the words of this project."""
    return usual(stack(config, paths.root))


def begin(
    store: Store, paths: Paths, config: "Config", git: Git, wanted: Wanted, actor: str, id: str | None = None
) -> Feature:
    """Begin a feature: its epic, the facts, and the open points that the scan finds. UsageError, NotAllowed.

    `id`: of the epic; None: one that no bead has.
    """
    title, description = _title(wanted.title or ""), _text("description", wanted.description or "")
    if not description:
        raise UsageError("a feature needs a description", "Say what should be there when it is done, and why.")
    files, notes = _files(wanted.files or ()), _text("notes", wanted.notes or "")
    criteria = wanted.criteria(usual(stack(config, paths.root)))
    base = _main(git)
    points = blocking(git, base, files)
    with store.together():
        epic = beads.add(
            store,
            title,
            BeadType.EPIC,
            description,
            tuple(one.text for one in criteria),
            notes=notes,
            touches=files,
            id=id,
            actor=actor,
        )
        new = Feature(epic.id, title, description, criteria, files, notes, base, actor=actor)
        made = store.begin_feature(new)
        for one in points:
            store.collect(made.id, one.kind, one.text, actor, file=one.file, line=one.line, blocks=True, nth=one.nth)
    wake(paths)
    return store.feature(made.id)


def edit(store: Store, paths: Paths, config: "Config", id: str, wanted: Wanted, actor: str) -> Feature:
    """Change what is said of it. Own criteria and `without` together make the list anew. UsageError, NoSuchFeature."""
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
        values["criteria"] = wanted.criteria(usual(stack(config, paths.root)))
    if not values:
        raise UsageError("nothing to change was given", f"`nobrakes forge show {id}` shows what it is.")
    with store.together():
        after = store.change_feature(before.id, values, actor)
        epic: dict[str, Any] = {"notes": after.notes} if "notes" in values else {}
        epic |= {"acceptance": [one.text for one in after.criteria]} if "criteria" in values else {}
        epic |= {"touches": list(after.files)} if "files" in values else {}
        if epic:
            beads.edit(store, before.id, epic, actor)
    wake(paths)
    return after


def pause(store: Store, paths: Paths, id: str, actor: str) -> Feature:
    """Begin no turn of it and no attempt any more; what runs may end. It gives the repository's turn up."""
    with store.together():
        moved = store.move_feature(id, Step.PAUSED, actor, "paused by a person")
        resting.hold(store, id, actor)
    wake(paths)
    return moved


def cancel(store: Store, paths: Paths, id: str, actor: str) -> Feature:
    """End its turn at once, and pause it. Its drafts, its questions and the work of its beads stay."""
    with store.together():
        feature = store.feature(id)
        moved = feature if feature.state is State.PAUSED else store.move_feature(id, Step.PAUSED, actor, "cancelled")
        resting.hold(store, id, actor)
        stop_turns(store, feature, actor)
    wake(paths)
    return moved


def archive(store: Store, id: str, away: bool, actor: str) -> Feature:
    """Hide it from lists, or show it there again. NotAllowed while it goes on."""
    feature = store.feature(id)
    if away and feature.state is State.ACTIVE:
        raise NotAllowed(
            f"feature {id} goes on: what goes on is not hidden",
            f"`nobrakes forge pause {id}` first; nothing is lost.",
        )
    return store.change_feature(id, {"archived": away}, actor)


def ask_change(store: Store, paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Tell its Shaper what should be another way in the plan; NotAllowed before there is a conversation."""
    with store.together():
        feature, words = _tell(store, id, "Change the plan{}: {}", text, actor, bead)
        if feature.stage not in PLANNED or reviewing.are_over(feature):
            store.note_feature(id, reviewing.opened_anew(feature), actor)
        moved = store.move_feature(id, Step.CHANGE_ASKED, actor, words[:200])
    wake(paths)
    return moved


def discuss(store: Store, paths: Paths, id: str, text: str, actor: str, bead: str = "") -> Feature:
    """Say something to its Shaper, of one step of the plan or of all; nothing is changed by it."""
    with store.together():
        feature, _ = _tell(store, id, "A question{}; change nothing before it is answered: {}", text, actor, bead)
    wake(paths)
    return feature


def _tell(store: Store, id: str, form: str, text: str, actor: str, bead: str) -> tuple[Feature, str]:
    """Say it to the feature's Shaper, with the step that it is about; the feature, and the words alone.

    NotAllowed, UsageError.
    """
    feature, words = store.feature(id), _text("text", text)
    if feature.session is None:
        raise NotAllowed(
            f"nobody has begun to plan feature {id} yet",
            f"`nobrakes forge edit {id}` changes what its Shaper is told first.",
        )
    if not words:
        raise UsageError("nothing was said")
    if bead and bead not in under(store, id):
        raise UsageError(f"'{bead[:64]}' is no step of feature {id}", f"`nobrakes forge show {id}` lists them.")
    about = f" at the step {bead} ({store.bead(bead).title})" if bead else ""
    store.say(feature.session, form.format(about, words), actor)
    return feature, words


def _main(git: Git) -> str:
    try:
        return git.main()
    except NoMain:  # a repository without a commit: the scan has nothing to look at
        return ""


def _title(text: str) -> str:
    found = " ".join(clean(text).split())
    if not found:
        raise UsageError("a feature needs a title")
    if len(found) > TITLE:
        raise UsageError(f"a title has at most {TITLE} characters, and this has {len(found)}")
    return found


def _text(name: str, text: str) -> str:
    found = clean(text).strip()
    if len(found) > TEXT:
        raise UsageError(f"the {name} has at most {TEXT} characters, and this has {len(found)}")
    return found


def _files(given: Sequence[str]) -> tuple[str, ...]:
    files = tuple(dict.fromkeys(clean(one).strip().removeprefix("./") for one in given if one.strip()))
    if len(files) > MOST_FILES:
        raise UsageError(f"at most {MOST_FILES} files are named, and these are {len(files)}", "Name their folder.")
    for one in files:
        if one.startswith("/") or ".." in one.split("/") or "\n" in one or len(one) > PATH:
            raise UsageError(
                f"'{one[:80]}' is no file of the repository", "Name files and folders from the repository's root."
            )
    return files
