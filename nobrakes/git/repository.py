"""`Git` (git.port) on a real repository: six parts that pass questions to the modules below. port.py documents them.

1. Construction costs nothing; git is asked only when the first question comes.
2. Merging, workspaces and remotes are imported when first used: most commands only ask.
3. No configuration written by an agent is in effect (git.command_line, git.workspaces).
"""

import copy
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Self, TypeVar

from ..agents.limits import DEFAULT, READ, Sizes
from ..beads.model import Bead
from ..errors import FileTooLarge, GitFailed, NoMain
from ..paths import Paths
from ..review.journal import content_of
from . import history, objects, port
from .history import PLAIN, First, History
from .landing import standing
from .location import Place, said, settings
from .objects import EXECUTABLE, FILE, LINK, Objects
from .port import ABSENT, Change

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..review.evidence import Entry, Value
    from ..review.waits import Land
    from .commits import Chain, Committer, Signer
    from .filters import Filters
    from .landing.local import Lander
    from .landing.remote import Publisher, Shared
    from .landing.takeover import Fence, StateRemote, Takeover
    from .merge import Merger
    from .port import Made
    from .workspaces.make import Workspaces


_CACHED_PARTS = ("_merger", "_lander", "_lands", "_workspaces", "_committer", "_chain", "fence", "takeover")
"""Cached attributes that hold the place."""


class Tools:
    """`places` and the branch that work lands on; `shared`: a remote decides it."""

    def __init__(
        self,
        places: Paths,
        main: str,
        shared: "Shared | None" = None,
        sizes: Sizes = DEFAULT,
        rules: port.Rules | None = None,
        signing: port.Signing | None = None,
        in_place: Callable[[], None] = lambda: None,
        state_remote: "StateRemote | None" = None,
    ) -> None:
        """`rules`: of git's filters; None: blobs are used as given (open_git has rules). `state_remote`:
        where states are pushed, so that every landing passes a fence."""
        self.places = places
        self.state_remote = state_remote
        self.shared = shared
        self.sizes = sizes
        self.rules = rules
        self.signing = signing
        self.own = ""  # the ref of ours that is main here; empty: main itself is
        self.place = self._found(main, in_place)
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)
        self._changes: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._paths: dict[str, frozenset[str]] = {}
        self._moves: dict[str, tuple[tuple[str, str, str], ...]] = {}

    def _found(self, main: str, in_place: Callable[[], None]) -> Place:
        if self.shared is None or not self.shared.by_request:
            return Place(self.places.root, main, in_place=in_place)
        from .landing.remote import followed

        return followed(self.places.root, main, self.shared, in_place)

    @cached_property
    def _merger(self) -> "Merger":
        from .merge import Merger

        return Merger(self.place, self.objects, self.history, self.filters, self.signer)

    @cached_property
    def signer(self) -> "Signer":
        from .commits import Signer

        return Signer(self.place, self.signing)

    @cached_property
    def filters(self) -> "Filters":
        from .filters import Filters

        return Filters(self.place, self.objects, self.rules)

    @cached_property
    def _lander(self) -> "Lander":
        from .landing.local import Lander

        return Lander(self.place, self.history)

    @cached_property
    def _lands(self) -> port.Lands:
        if self.own:
            from .landing.local import OwnLander

            return OwnLander(self.place, self.history)
        if self.shared is None and self.state_remote is None:
            return self._lander
        from .landing.remote import DirectLander, Remote, RequestLander, SharedLander

        fence = self.fence
        if self.shared is None:
            assert self.state_remote is not None and fence is not None, (
                "main is copied where another machine may take over"
            )
            from .landing.takeover import CopiedLander

            remote = Remote(self.place, self.state_remote.remote, fence)
            return CopiedLander(self.place, self.history, self._lander, remote, fence)
        remote = Remote(self.place, self.shared, fence)
        if self.shared.by_request:
            return DirectLander(remote, self.history) if self.shared.direct else RequestLander(remote)
        return SharedLander(self.place, self.history, self._lander, remote)

    @cached_property
    def fence(self) -> "Fence | None":
        """What every push to the remote passes; None: no other machine takes over."""
        if self.state_remote is None:
            return None
        from .landing.takeover import Fence

        return Fence(self.place, self.state_remote.prefix, self.state_remote.lock)

    @cached_property
    def takeover(self) -> "Takeover | None":
        """What makes another machine's state this one's; None: the settings name no place for states."""
        if self.state_remote is None or self.fence is None:
            return None
        from .landing.remote import Remote
        from .landing.takeover import Takeover

        remote = Remote(self.place, self.state_remote.remote, self.fence)
        return Takeover(self.place, self.history, self._lander, remote, self.fence)

    @cached_property
    def _workspaces(self) -> "Workspaces":
        from .workspaces.make import Workspaces

        return Workspaces(self.place, self.objects, self.history, self.places, self.sizes, self.filters)

    @cached_property
    def _committer(self) -> "Committer":
        from .commits import Committer

        return Committer(self.place, self.objects, self._lander, self.filters, self.signer)

    @cached_property
    def _chain(self) -> "Chain":
        from .commits import Chain

        return Chain(self.place, self.objects)

    def _with_main(self, place: Place, own: str, shared: "Shared | None") -> Self:
        other = copy.copy(self)
        for made in _CACHED_PARTS:
            other.__dict__.pop(made, None)
        other.place, other.own, other.shared = place, own, shared
        return other

    def _forget(self) -> None:
        """Objects may be gone, and a running process still reads packs that were removed."""
        self.close()
        self.objects.forget()
        self.history.forget()
        self._changes.clear()
        self._moves.clear()

    @cached_property
    def _settings_files(self) -> tuple[str, ...]:
        return settings(self.place)

    def close(self) -> None:
        self.objects.close()
        self.place.close()


_REMEMBERED = 16
"""Pairs of commits whose changes are cached: one review repeats its questions."""

_MAX_PATHS = 8
"""Commits whose list of paths is cached: a review repeats its questions."""

_MAX_MOVES = 64
"""Commits whose changes are cached: main's last ones are looked at after each merge."""

_LITTLE = Sizes(paths=100)
"""Up to so many differing paths, a list of paths is made from another one."""


class Questions(Tools):
    """Questions about commits. Answers never change, but for main's own."""

    def main(self) -> str:
        return objects.main(self.place)

    def tree(self, commit: str) -> str:
        return self.objects.commit(commit).tree

    def has(self, commit: str) -> bool:
        return self.objects.content(commit) is not None

    def is_whole(self, commit: str) -> bool:
        self._forget()
        return self.objects.is_whole(commit, objects.main(self.place))

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        return self.history.fork(main, head, began)

    def contains(self, ancestor: str, descendant: str) -> bool:
        return self.history.contains(ancestor, descendant)

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        return self.history.between(base, tip)

    def moves(self, commit: str) -> tuple[tuple[str, str, str], ...]:
        known = self._moves.get(commit)
        if known is None:
            parents = self.objects.commit(commit).parents
            found = history.raw(self.objects, parents[0], commit) if parents and self.has(parents[0]) else ()  # shallow
            known = tuple((path, f"{was} {old}", f"{is_} {new}") for path, was, is_, old, new in found)
            while len(self._moves) >= _MAX_MOVES:
                del self._moves[next(iter(self._moves))]
            self._moves[commit] = known
        return known

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        known = self._changes.get((base, head))
        if known is None:
            from . import filters

            known = filters.told(self.place, self.objects, history.changes(self.objects, base, head), base, head)
            if known and self.filters.is_on and (self.filters.names(base) or self.filters.names(head)):
                known = self.filters.changes(base, head, known, history.raw(self.objects, base, head))
            while len(self._changes) >= _REMEMBERED:
                del self._changes[next(iter(self._changes))]
            if objects.is_oid(base) and objects.is_oid(head):
                self._changes[base, head] = known
        return known

    def barred_at(self, commit: str, globs: Collection[str]) -> tuple[Change, ...]:
        return self.filters.barred_at(commit, globs, self.paths(commit)) if self.filters.names(commit) else ()

    def laid_open(self, base: str, head: str) -> tuple[str, ...]:
        return tuple(self.filters.clear_text.laid_open(base, head, self.history.since(base, head)))

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """None: missing, or not a file. Raises FileTooLarge."""
        entry = self.objects.entry(commit, path)
        if entry is None or entry.mode not in (FILE, EXECUTABLE):
            return None
        size = None if most is None else self.objects.size(entry.id)
        if size is not None and most is not None and size > most:
            raise FileTooLarge(f"{path!r} in {commit[:12]} has {size:,} bytes; the limit is {most:,}")
        return self.objects.content(entry.id)

    def link(self, commit: str, path: str) -> str | None:
        entry = self.objects.entry(commit, path)
        content = self.objects.content(entry.id) if entry is not None and entry.mode == LINK else None
        return None if content is None else os.fsdecode(content)

    def paths(self, commit: str) -> frozenset[str]:
        found = self._paths.get(commit)
        if found is None:
            found = self._paths_by_another(commit)
            if found is None:
                found = frozenset(self.place.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]).records)
            if len(commit) in (40, 64):  # an object's name, which never stands for another one
                while len(self._paths) >= _MAX_PATHS:
                    del self._paths[next(iter(self._paths))]
                self._paths[commit] = found
        return found

    def _paths_by_another(self, commit: str) -> frozenset[str] | None:
        if not self._paths or len(commit) not in (40, 64):
            return None
        like = next(reversed(self._paths))
        try:
            differ = history.raw(self.objects, like, commit, _LITTLE)
        except (history.TooMuch, GitFailed):
            return None
        gone = {path for path, _, after, _, _ in differ if after == ABSENT}
        return self._paths[like] - gone | {path for path, _, after, _, _ in differ if after != ABSENT}

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        return by_git(self.place)

    def merged(self, since: str | None = None) -> dict[str, str]:
        return self.history.merged(objects.main(self.place), since)

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        return self.history.outside(objects.main(self.place), commits)

    def made(self, name: str) -> "Made | None":
        return self.history.made(name)

    def line(self, tip: str, since: str | None = None) -> "tuple[Made, ...]":
        return self._chain.line(tip, since)


class Work(Tools):
    """Where work is done: made, fetched from, removed."""

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> port.Workspace:
        return self._workspaces.workspace(bead, start, worker, files)

    def has_workspace(self, bead: str) -> bool:
        return self._workspaces.has(bead)

    def touched(self, bead: str) -> int | None:
        return self._workspaces.touched(bead)

    def tip(self, bead: Bead) -> str | None:
        return self._workspaces.tip(bead)

    def fetch_work(self, bead: Bead, fence: int) -> str | None:
        return self._workspaces.fetch_work(bead, fence)

    def scratch(self, commit: str, path: str) -> tuple[port.Argv, ...]:
        return self._workspaces.scratch(commit, path)

    def drop_scratch(self, path: str) -> None:
        self._workspaces.drop_scratch(path)

    def scratches(self) -> tuple[str, ...]:
        return self._workspaces.scratches()

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        return self._workspaces.archive(bead, fence)

    def retire(self, bead: Bead, fence: int) -> None:
        self._workspaces.retire(bead, fence)

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """Without refs whose commit is gone, which doctor names."""
        below = objects.ARCHIVE if bead is None else f"{objects.ARCHIVE}/{bead}"
        return objects.newest_first(self.place, objects.below(self.place, f"{below}/"))

    def lent(self) -> tuple[str, ...]:
        from . import lfs

        stored = lfs.store(self.place)
        return (*self.place.lent(), *([stored] if os.path.isdir(stored) else []))

    def territory(self) -> tuple[str, ...]:
        checkouts = (worktree.path for worktree in standing.all_of(self.place))
        return tuple(dict.fromkeys((self.place.git_dir, *checkouts, *self.place.lent(), *self._settings_files)))


class Records(Tools):
    """The chain of evidence."""

    def evidence(self) -> "Iterator[Entry]":
        return self._chain.entries(self._chain.tip())

    def evidence_tip(self) -> str | None:
        return self._chain.tip()

    def keep_evidence(self, record: "Value") -> str:
        return self._chain.keep(record)

    def hold(self, records: "Mapping[str, Value]") -> None:
        self._chain.hold(records)

    def held(self, name: str) -> "Value | None":
        return self._chain.held(name)


T = TypeVar("T", port.Candidate | port.Conflict, tuple[port.Candidate, ...] | port.Conflict, port.Candidate)


class Building(Tools):
    """What is built for main, and pinned."""

    def squash(
        self, onto: str, head: str, message: port.Message, began: str | None = None
    ) -> port.Candidate | port.Conflict:
        return self._held(lambda: self._merger.squash(onto, head, message, began), onto)

    def replay(
        self, onto: str, head: str, message: port.Message, began: str | None = None
    ) -> tuple[port.Candidate, ...] | port.Conflict:
        return self._held(lambda: self._merger.replay(onto, head, message, began), onto)

    def join(self, onto: str, head: str, message: port.Message) -> port.Candidate | port.Conflict:
        return self._held(lambda: self._merger.join(onto, head, message), onto)

    def fold(self, onto: str, steps: Sequence[port.Candidate], message: port.Message) -> port.Candidate:
        return self._held(lambda: self._merger.fold(onto, steps, message), onto)

    def revert(self, commit: str, onto: str, message: port.Message) -> port.Candidate | port.Conflict:
        return self._held(lambda: self._merger.revert(commit, onto, message), onto)

    def _held(self, make: Callable[[], T], onto: str) -> T:
        """Run `make` so that `git gc` cannot take its result before it has a ref."""
        from . import upkeep

        return upkeep.held(self.place, self.objects, make, _commits, onto)

    def commit_files(self, files: Mapping[str, bytes | None], message: port.Message) -> str | None:
        """Raises OnlyByRequest if only a merged request changes main."""
        lands = self._lands
        if not lands.is_shared():
            return self._committer.commit_files(files, message)
        from .landing.remote import RequestLander, SharedLander
        from .landing.takeover import CopiedLander

        remotes = SharedLander | RequestLander | CopiedLander
        assert isinstance(lands, remotes), "whoever asks a remote says how a commit gets there"
        return lands.commit(lambda: self._committer.commit_files(files, message))

    def write_files(self, onto: str, files: Mapping[str, bytes], message: port.Message, name: str) -> str | None:
        return self._committer.write_files(onto, files, message, objects.own_ref(name))

    def came_through(self, base: str, head: str) -> None:
        self.filters.came_through(base, head)

    def pin(self, name: str, commit: str | None) -> None:
        objects.update(self.place, {objects.own_ref(name): commit})

    def kept(self) -> dict[str, str]:
        below = f"{objects.OWN}/"
        return {ref.removeprefix(below): commit for ref, commit in objects.below(self.place, below)}

    def broken_refs(self, in_depth: bool = False) -> list[port.BrokenRef]:
        found = [port.BrokenRef(*one) for one in objects.broken(self.place, in_depth)]
        return [replace(one, held_in=self._workspaces.holder(one)) for one in found]

    def restore(self, broken: port.BrokenRef) -> bool:
        restored = self._workspaces.restore(broken)
        self._forget()
        return restored

    def pack(self) -> None:
        from . import upkeep

        objects.pack(self.place)
        upkeep.release(self.place)
        if upkeep.pack_objects(self.place):
            self.close()  # who goes on answering would keep the packs open that are gone


def _commits(made: port.Candidate | tuple[port.Candidate, ...] | port.Conflict) -> list[str]:
    if isinstance(made, port.Conflict):
        return []
    return [made[-1].commit if isinstance(made, tuple) else made.commit]


class MovingMain(Tools):
    """Main is moved by compare-and-swap, and its checkouts follow."""

    def is_shared(self) -> bool:
        return self.shared is not None

    def catch_up(self) -> "Land":
        return self._lands.catch_up()

    def obstacle(self, new: str, old: str) -> "Land | None":
        return self._lands.obstacle(new, old)

    def land(self, new: str, old: str) -> "Land":
        """GitFailed: a part of `new` is gone since its test, so main does not move."""
        from ..review.waits import Landing
        from .upkeep import hold

        if objects.main(self.place) == old:
            hold(self.place, self.objects, [new], old)
        land = self._lands.land(new, old)
        is_main = not self.own and not self.place.ref.startswith(objects.own_ref(port.BASES))
        if land.landing is Landing.MOVED and is_main:
            from .landing.local import keep

            keep(self.place, self.history, new)
        return land

    def with_base_branch(self, branch: str, direct: bool = False) -> Self:
        assert self.shared is not None, "who has no remote has one main"
        from .landing.remote import with_base_branch

        of = with_base_branch(self.shared, branch, direct)
        return self._with_main(self.place.with_main(branch, of.known, of.before) if branch else self.place, "", of)

    def with_epic_branch(self, epic: str) -> Self:
        name = f"{port.EPICS}/{epic}"
        place = self.place.with_main(
            f"the branch of {epic}", objects.own_ref(name), (self.place.ref, *self.place.before)
        )
        return self._with_main(place, name, None)

    def settle_in(self) -> tuple[str, ...]:
        from .workspaces import salvage

        return salvage.settle(self.place, self.places)

    def clear_locks(self) -> None:
        from . import upkeep

        upkeep.clear(self.place)
        self._lander.take_up()
        upkeep.clear_indexes(self.place)

    def bring_along(self) -> tuple[str, ...]:
        return self._lander.bring_along()

    def elsewhere(self) -> str | None:
        place = self.place
        if place.worktree is None or standing.is_on(place.git_dir, f"refs/heads/{place.branch}"):
            return None
        try:
            return place.head()
        except NoMain:
            return ""

    def behind(self) -> tuple[str, ...]:
        return standing.behind(self.place, self.history)


_NOBODYS = ("-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "-c", "diff.indentHeuristic=true")
"""Fix the settings of diffs to git's defaults, against the repository's own."""
_TEXT_DIFF = ("diff-tree", "-r", "-p", "--no-renames", "-U3", "--diff-algorithm=myers", "--text", *PLAIN)
"""A difference that no settings or attributes change."""
_MARKER = 60
_READ = 1_000_000
"""Bytes of a file in conflict that are read."""


# The merge that shows a conflict makes its objects in a folder that is removed, so a repository that cannot be written
# is shown all the same. No program that somebody configured is run, and a marker is so long that no line of a file is
# taken for one.
class Showing(Tools):
    """What people are shown of commits."""

    def patch(self, base: str, head: str, most: int) -> port.Patch:
        return self.history.patch(base, head, most)

    def difference(self, base: str, head: str, paths: Sequence[str], most: int) -> tuple[str, bool]:
        how = [*_NOBODYS, "-c", "core.quotePath=false", "--literal-pathspecs", *_TEXT_DIFF]
        return self.history.first_lines([*how, base, head, "--", *paths], most)

    def content(self, base: str, head: str) -> str:
        """Independent of the base and of settings."""
        import tempfile

        with tempfile.TemporaryFile() as said:
            self.place.run([*_NOBODYS, *_TEXT_DIFF, base, head], stdout=said)
            said.seek(0)
            return content_of(said)

    def clashes(self, onto: str, head: str, began: str | None = None) -> tuple[port.Clash, ...]:
        fork = self.history.fork(onto, head, began)
        if fork is None:
            raise GitFailed("the branch has no commit in common with main")
        import tempfile

        with tempfile.TemporaryDirectory(prefix="nobrakes-shown-") as folder:
            lent = os.pathsep.join(self.place.lent())
            env = {"GIT_OBJECT_DIRECTORY": folder, "GIT_ALTERNATE_OBJECT_DIRECTORIES": lent}
            ours, theirs = onto, head
            if fork != self.history.fork(onto, head):  # main was rewritten: both sides stand on where the work began
                ours, theirs = (self._joint(commit, fork, env) for commit in (onto, head))
            return tuple(self._merged(ours, theirs, onto, env))

    def _joint(self, commit: str, parent: str, env: dict[str, str]) -> str:
        when = {"GIT_AUTHOR_DATE": "0 +0000", "GIT_COMMITTER_DATE": "0 +0000"}
        tree = self.objects.commit(commit).tree
        return self.place.run(["commit-tree", "-m", "joint", "-p", parent, tree], env={**env, **when}).text

    def _merged(self, ours: str, theirs: str, main: str, env: dict[str, str]) -> Iterator[port.Clash]:
        import tempfile

        with tempfile.NamedTemporaryFile(prefix="nobrakes-attributes-") as file:
            file.write(f"* conflict-marker-size={_MARKER}\n{self._merger.ways(main)}".encode(errors="surrogateescape"))
            file.flush()
            asked = ["merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs]
            said = self.place.run(["-c", f"core.attributesFile={file.name}", *asked], env=env, expect=(0, 1))
        if said.code == 0:
            return
        tree, *rows = said.records
        stages: dict[str, set[str]] = {}
        for row in rows:
            about, _, path = row.partition("\t")
            if path:
                stages.setdefault(path, set()).add(about[-1])
        for path, found in sorted(stages.items()):
            hunks = self._hunks(tree, path, env) if {"2", "3"} <= found else ()
            yield port.Clash(path, "1" in found, "2" in found, "3" in found, hunks)

    def _hunks(self, tree: str, path: str, env: dict[str, str]) -> tuple[port.Hunk, ...]:
        said = First(_READ)
        answer = self.place.run(["cat-file", "blob", f"{tree}:{path}"], env=env, stdout=said, expect=(0, 128))
        content = said.getvalue()
        return () if answer.code or b"\0" in content else tuple(_parted(content.decode("utf-8", "replace").split("\n")))


def _parted(lines: Sequence[str]) -> Iterator[port.Hunk]:
    """The hunks between the markers; `line` counts main's lines alone."""
    begin, middle, end = (sign * _MARKER for sign in "<=>")
    main: list[str] | None = None
    branch: list[str] | None = None
    number = place = 1
    for line in lines:
        if main is None and line.startswith(f"{begin} "):
            main, branch, place = [], None, number
        elif main is not None and branch is None and line.rstrip("\r") == middle:
            branch = []
        elif main is not None and branch is not None and line.startswith(f"{end} "):
            yield port.Hunk(place, tuple(main), tuple(branch))
            number = place + len(main)
            main = None
        elif main is None:
            number += 1
        else:
            (main if branch is None else branch).append(line)


class Repository(Questions, Work, Building, MovingMain, Records, Showing):
    """The whole port `Git`."""


def open_git(
    paths: Paths,
    config: "Config",
    confine: "Callable[[port.Argv], port.Argv] | None" = None,
    in_place: Callable[[], None] = lambda: None,
) -> Repository:
    """The repository of this .nobrakes. `confine`: confines git filters; None: none runs. `in_place`: called just
    before main moves, raises RepositoryReplaced."""
    shared = None if config.review.land == "local" else _shared(config)
    rules = port.Rules(config.git.filters, config.git.clear_text, *([confine] if confine is not None else []))
    signing = port.Signing(config.git.sign, config.git.committer)
    states = _state_remote(paths, config)
    return Repository(paths, config.main, shared, config.sizes(), rules, signing, in_place, states)


def publisher(paths: Paths, config: "Config") -> "Publisher":
    """Publisher of the requests' branches."""
    from .landing.remote import BRANCHES, Publisher, Remote, followed

    shared, states = _shared(config), _state_remote(paths, config)
    named = [one.branch for one in config.review.features.values() if one.branch is not None]
    bases = [one.base for one in config.review.features.values() if one.base is not None]
    place, fence = followed(paths.root, config.main, shared), None
    if states is not None:
        from .landing.takeover import Fence

        fence = Fence(place, states.prefix, states.lock)
    return Publisher(Remote(place, shared, fence), (*BRANCHES, *named), bases)


def _state_remote(paths: Paths, config: "Config") -> "StateRemote | None":
    """Where this work's state is pushed to; None: nowhere."""
    if not config.fleet.takeover_remote:
        return None
    from .landing.takeover import StateRemote

    shared = replace(_shared(config), remote=config.fleet.takeover_remote)
    return StateRemote(shared, config.fleet.takeover_prefix, paths.takeover_lock)


def _shared(config: "Config") -> "Shared":
    from .landing.remote import Shared

    review = config.review
    return Shared(review.remote, review.remote_branch or config.main, review.remote_seconds, review.by_request)


_PERSONAL_SETTINGS = ("user.", "author.", "committer.", "branch.", "color.", "advice.", "url.")
_HOOKS = "core.hookspath"
_TEMPLATE = "init.templatedir"
"""Its hooks come into each clone that a person makes."""
_PATH = re.compile(r"(?<![\w.-])[\w.-]*+(?:/[\w.-]+)++")
MAX_HOOKS = 100
MAX_BYTES = 100_000


def by_git(place: Place) -> tuple[frozenset[str], tuple[str, ...]]:
    """(paths of the tree that git's settings and hooks name, folders of the tree that count with all in them). Values
    name paths as checks' commands do (checks.policy.protected_files). Of a hook in git's own folder count its link
    target in the tree and files that its text names, but no folders: hooks mostly only check them."""
    roots = {one.path for one in standing.all_of(place)} | {os.path.realpath(place.root)}
    tops = tuple(sorted(roots, key=lambda one: (-len(one), one)))
    paths: set[str] = set()
    folders: list[str] = []
    hooks = os.path.join(place.git_dir, "hooks")
    for key, value, file in said(place):
        if key == _HOOKS:
            hooks = os.path.join(place.worktree or place.git_dir, os.path.expanduser(value))
            folders += [one] if (one := _inside(hooks, tops)) else []
        elif key == _TEMPLATE:
            folders += [one] if (one := _inside(os.path.join(place.root, os.path.expanduser(value)), tops)) else []
        elif not key.startswith(_PERSONAL_SETTINGS):
            paths.update(_words(value, tops))
            beside = os.path.join(os.path.dirname(file), os.path.expanduser(value))
            paths.update([one] if key.endswith(".path") and (one := _inside(beside, tops)) else [])
    paths.update(_hook_paths(hooks, tops))
    return frozenset(paths), tuple(dict.fromkeys(folders))


@lru_cache(maxsize=1024)  # the same values and lines of hooks are read for each tree
def _words(text: str, tops: tuple[str, ...]) -> tuple[str, ...]:
    """The paths in a command or value. A bare word is a program, a branch, a yes or no."""
    from ..checks.policy.protected_files import named  # asked where the rules of a run are read

    for top in tops:
        text = text.replace(f"{top}/", "./")
    return tuple(path for path in named(text.lstrip("!"), ()) if "/" in path or "." in path)


def _hook_paths(folder: str, tops: tuple[str, ...]) -> Iterator[str]:
    for name in sorted(os.listdir(folder))[:MAX_HOOKS] if os.path.isdir(folder) else ():
        path = os.path.join(folder, name)
        if name.endswith(".sample") or not os.path.isfile(path):
            continue
        if os.path.islink(path) and (one := _inside(path, tops)):
            yield one
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read(MAX_BYTES).splitlines()
        for line in lines:
            if not line.lstrip().startswith("#"):
                yield from (path for path in _words(line, tops) if "/" in path)
                words = (word.strip("/") for word in _PATH.findall(line))
                yield from (one for one in words if any(os.path.isfile(os.path.join(top, one)) for top in tops))


def _inside(path: str, tops: tuple[str, ...]) -> str:
    real = os.path.realpath(path)
    for top in tops:
        inner = os.path.relpath(real, os.path.realpath(top))
        if inner != "." and not inner.startswith("..") and not inner.startswith(".git" + os.sep):
            return inner
    return ""
