"""Git over plain dicts: commits, refs, private clones and a checked-out main, with the semantics of the real one.

1. State is what would be on disk: it outlives every daemon. The same input gives the same object id.
2. A crash inside `land` or `pin` leaves a lock behind, until `clear_locks`; until then both fail. After the swap of a
   `land` it leaves the checkout behind main as well (`checkout`).
3. `landed` remembers what nobrakes put on main, for the invariants.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from nobrakes.agents.limits import READ
from nobrakes.beads.branches import branch_of
from nobrakes.beads.model import Bead
from nobrakes.errors import FileTooLarge, GitFailed
from nobrakes.git.port import ABSENT, Argv, Candidate, Change, Conflict, Message, Workspace
from nobrakes.review.waits import Cause, Land, Landing

from .checkout import Checkout
from .clones import CHECKOUT, CLONE, Clones
from .collecting import Collecting
from .fake_evidence import FakeChain
from .fake_landing import DecidedHere
from .fake_showing import Showing
from .filtering import filtered
from .objects import Commit, Objects, differing, merge
from .own_branches import OwnBranches
from .project import FIRST_TREE, Tree

FILE = "100644"
OWN = "refs/nobrakes/"

ABOUT_BEADS = ("Bead", "Reverts-Bead")
"""The trailers of merges, and of what takes them back."""


class FakeGit(FakeChain, DecidedHere, OwnBranches, Showing):
    """The repository, on the daemon's own side."""

    def __init__(self, root: str = "/sim/.nobrakes", first: Tree = FIRST_TREE) -> None:
        self.root = root
        self.objects = Objects()
        self.clones = Clones(self.objects)
        self.head = self.objects.commit(first, (), "first", "human", 0.0).id
        self.checkout = Checkout(self.objects, self.head)
        self.refs: dict[str, str] = {}
        self.edited: set[str] = set()  # paths of a checked-out main that a person is editing
        self.landed: list[str] = []
        self.landings: list[tuple[str, ...]] = []  # the same, by the moves of main that brought them
        self.ours: set[str] = set()  # commits of nobrakes itself; nobody but a ref keeps them
        self.left: list[str] = []  # where main was when a person rewrote it
        self.taken: set[str] = set()  # beads whose merges or reverts a person took off main, or amended
        self.told_of_landing: Callable[[Sequence[str]], None] = lambda commit: None
        self.locked = False
        self.collecting = Collecting(0, 0.0)

    # --- reading ---------------------------------------------------------------------------------

    def main(self) -> str:
        """The commit that main points to."""
        return self.head

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        return self.objects.find(commit).tree

    def has(self, commit: str) -> bool:
        """Whether the commit is there; what was pruned is not asked for."""
        return commit not in self.collecting.gone

    def is_whole(self, commit: str) -> bool:
        """Whether the commit is there."""
        return commit in self.objects.commits and commit not in self.collecting.gone

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        """The commit where `head` left main, or `began` where main was rewritten since; None: unrelated."""
        found = self.objects.fork(main, head)
        if began is None or not self.contains(began, head):
            return found
        return began if found is None or self.contains(found, began) else found

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        return self.objects.contains(ancestor, descendant)

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        """The commits from `base` to `tip`, oldest first; None: no such line."""
        return tuple(c.id for c in self._between(base, tip))[::-1] if self.contains(base, tip) else None

    def moves(self, commit: str) -> tuple[tuple[str, str, str], ...]:
        """(path, what it was, what it became) of what the commit changed against its first parent."""
        found = self.objects.find(commit)
        after = self.objects.tree_of(commit)
        before = self.objects.tree_of(found.parents[0]) if found.parents else {}
        return tuple((path, before.get(path, ""), after.get(path, "")) for path in differing(before, after))

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """What differs between two commits' trees, by path."""
        before, after = self.objects.tree_of(base), self.objects.tree_of(head)
        return tuple(
            filtered(after, Change(path, FILE if path in before else ABSENT, FILE if path in after else ABSENT))
            for path in differing(before, after)
        )

    def barred_at(self, commit: str, globs: Collection[str]) -> tuple[Change, ...]:
        """Nobody knows it before."""
        return ()

    def laid_open(self, base: str, head: str) -> tuple[str, ...]:
        """Nobody sees what the filter keeps."""
        return ()

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """A file's content in a commit. FileTooLarge."""
        text = self.objects.tree_of(commit).get(path)
        content = None if text is None else text.encode("utf-8", "surrogateescape")
        if content is not None and most is not None and len(content) > most:
            raise FileTooLarge(f"{path!r} in {commit[:12]} has {len(content):,} bytes, and {most:,} are read at most")
        return content

    def paths(self, commit: str) -> frozenset[str]:
        """Every path in a commit."""
        return frozenset(self.objects.tree_of(commit))

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """Those of the commits that main does not contain."""
        return frozenset(commits) - {commit.id for commit in self.objects.line(self.head)}

    def kept(self) -> dict[str, str]:
        """Everything that refs/nobrakes/ holds."""
        return {ref.removeprefix(OWN): commit for ref, commit in self.refs.items()}

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first."""
        start = f"{OWN}archive/{bead}/" if bead else f"{OWN}archive/"
        kept = [(ref, commit) for ref, commit in self.refs.items() if ref.startswith(start)]
        return sorted(kept, key=lambda pair: (-self.objects.find(pair[1]).when, pair[0]))

    # --- clones ----------------------------------------------------------------------------------

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        path, branch = f"{self.root}/workspaces/{bead.id}", branch_of(bead)
        if self.has_workspace(bead.id):
            return Workspace(path, branch, is_kept=True)
        self.objects.find(start)
        return Workspace(path, branch, ((CLONE, bead.id, branch, start, files or start),))

    def lent(self) -> tuple[str, ...]:
        """The folders of objects that workspaces borrow from."""
        return (f"{self.root}/objects",)

    def territory(self) -> tuple[str, ...]:
        """The folders that belong to the repository."""
        return (self.root,)

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        return bead in self.clones.of_bead

    def touched(self, bead: str) -> int | None:
        """How many files of the bead's clone differ from what it began with."""
        clone = self.clones.of_bead.get(bead)
        if clone is None:
            return None
        return len(differing(self.objects.tree_of(clone.begun), self.clones.tree(bead)))

    def tip(self, bead: Bead) -> str | None:
        """The head of the branch in the bead's clone."""
        clone = self.clones.of_bead.get(bead.id)
        if clone is None:
            return None
        self._fetched(clone.head)
        return clone.head

    def fetch_work(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        clone = self.clones.of_bead.get(bead.id)
        if clone is None:
            return None
        self.refs[f"{OWN}incoming/{bead.id}/{fence}"] = clone.head
        self._fetched(clone.head)
        return clone.head

    def handed_in(self) -> list[str]:
        """What refs of hand-ins name, workspaces still have, and main does not."""
        clones = self.objects.reachable(clone.head for clone in self.clones.of_bead.values())
        heads = {head for ref, head in self.refs.items() if ref.startswith(f"{OWN}incoming/")}
        return sorted(head for head in heads & clones if not self.contains(head, self.head))

    def _fetched(self, head: str) -> None:
        """All of it is in the repository."""
        if self.collecting.gone:
            self.collecting.gone -= self.objects.reachable((head,))

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/."""
        clone = self.clones.of_bead.get(bead.id)
        if clone is None:
            return ()
        kept = {}
        self._fetched(clone.head)
        if not self.contains(clone.head, self.head):
            kept[f"{fence}-branch"] = clone.head
        if clone.edits:
            when = self.objects.find(clone.head).when
            wip = self.objects.commit(self.clones.tree(bead.id), (clone.head,), "uncommitted", "nobrakes", when)
            kept[f"{fence}-wip"] = wip.id
        refs = {self._free(f"{OWN}archive/{bead.id}/{name}", commit): commit for name, commit in kept.items()}
        self.refs.update(refs)
        return tuple(sorted(refs))

    def _free(self, ref: str, commit: str) -> str:
        """The ref, or one beside it where another commit is archived under it already."""
        return ref if self.refs.get(ref, commit) == commit else f"{ref}-{commit[:12]}"

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone and its incoming refs; what only those hold is archived too."""
        refs = self.archive(bead, fence)
        heads = [self.head, *(self.refs[ref] for ref in refs)]
        incoming = f"{OWN}incoming/{bead.id}/"
        for ref in [ref for ref in self.refs if ref.startswith(incoming)]:
            taken = self.refs.pop(ref)
            if not any(self.contains(taken, head) for head in heads):
                self.refs[self._free(f"{OWN}archive/{bead.id}/{ref.removeprefix(incoming)}-incoming", taken)] = taken
        held = (f"{OWN}candidate/{bead.id}/", f"{OWN}start/{bead.id}")
        for ref in [ref for ref in self.refs if ref.startswith(held[0]) or ref == held[1]]:
            del self.refs[ref]
        self.clones.of_bead.pop(bead.id, None)

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`."""
        self.objects.find(commit)
        return ((CHECKOUT, commit, path),)

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        self.clones.scratch.pop(path, None)

    def scratches(self) -> tuple[str, ...]:
        """The paths of the scratch checkouts that there are."""
        return tuple(self.clones.scratch)

    # --- making commits --------------------------------------------------------------------------

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since they parted, or since `began`."""
        base = self.fork(onto, head, began)
        if base is None:
            return Conflict((), "unrelated")
        return self._pick(onto, self.objects.tree_of(base), self.objects.tree_of(head), message)

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits one by one on `onto`, texts kept, with `message`'s trailers."""
        base = self.fork(onto, head, began)
        if base is None:
            return Conflict((), "unrelated")
        steps: list[Commit] = []
        for commit in self.objects.line(head):
            if commit.id == base:
                break
            steps.append(commit)
        made: list[Candidate] = []
        for commit in reversed(steps):
            before = self.objects.tree_of(commit.parents[0])
            words = self._words(commit, message)
            one = self._pick(made[-1].commit if made else onto, before, self.objects.tree_of(commit.id), words)
            if isinstance(one, Conflict):
                return one
            if one.tree != self.tree(made[-1].commit if made else onto):
                made.append(one)
        return tuple(made) or (Candidate(self._commit(self.objects.tree_of(onto), onto, message).id, self.tree(onto)),)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees; the last is returned."""
        parent = onto
        for step in steps:
            words = self._words(self.objects.find(step.commit), message)
            parent = self._commit(self.objects.trees[step.tree], parent, words).id
        return Candidate(parent, self.tree(parent))

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        parent = self.objects.find(commit).parents[0]
        return self._pick(onto, self.objects.tree_of(commit), self.objects.tree_of(parent), message)

    def _words(self, commit: Commit, message: Message) -> Message:
        return Message(commit.subject, "", commit.author, message.when, message.trailers)

    def _pick(self, onto: str, before: Tree, after: Tree, message: Message) -> Candidate | Conflict:
        tree, conflicts = merge(before, self.objects.tree_of(onto), after)
        if conflicts:
            return Conflict(conflicts, "both changed it")
        made = self._commit(tree, onto, message)
        return Candidate(made.id, made.tree)

    def _commit(self, tree: Tree, parent: str, message: Message, *parents: str) -> Commit:
        text = f"{message.subject}\n\n{message.body}".strip()
        made = self.objects.commit(
            tree, (parent, *parents), text, message.author, message.when, tuple(message.trailers)
        )
        self.ours.add(made.id)
        return made

    # --- refs ------------------------------------------------------------------------------------

    def came_through(self, base: str, head: str) -> None:
        """No person hands in what is under a filter."""

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        self._refuse_when_locked()
        if commit is None:
            self.refs.pop(OWN + name, None)
        else:
            self.refs[OWN + name] = self.objects.find(commit).id

    def obstacle(self, new: str, old: str) -> Land | None:
        """Why the checkout keeps main from moving."""
        in_the_way = self.checkout.in_the_way(new, self.edited) if self.head == old else ()
        if not in_the_way:
            return None
        return Land(Landing.BLOCKED, f"edits in the way: {', '.join(sorted(in_the_way))}", Cause.EDITS)

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it."""
        self._refuse_when_locked()
        if self.head != old:
            # it may have been done already, by a call that a crash cut off
            return Land(Landing.MOVED if self.contains(new, self.head) else Landing.LOST)
        if in_the_way := self.obstacle(new, old):
            return in_the_way
        self.checkout.bring_along(old, ())  # it may have been left behind, with edits in the way
        self.checkout.land(old, new)
        self.put_on_main(new)
        self._landed(new, old)
        return Land(Landing.MOVED)

    def _landed(self, new: str, old: str) -> None:
        moved = tuple(c.id for c in self._between(old, new))[::-1]
        self.landings.append(moved)
        self.told_of_landing(moved)
        before = self.refs.get(f"{OWN}landed/tip")
        if before is not None and not self.contains(before, new):
            number = sum(ref.startswith(f"{OWN}landed/before/") for ref in self.refs)
            self.refs[f"{OWN}landed/before/{number + 1}"] = before
        self.refs[f"{OWN}landed/tip"] = new
        self.landed += moved

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main; None: nothing differed."""
        self._refuse_when_locked()
        tree = dict(self.objects.tree_of(self.head))
        for path, content in files.items():
            if content is None:
                tree.pop(path, None)
            else:
                tree[path] = content.decode("utf-8", "surrogateescape")
        if not differing(self.objects.tree_of(self.head), tree):
            return None
        self.put_on_main(self._commit(tree, self.head, message).id)
        return self.head

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, name: str) -> str | None:
        """A commit on `onto` with these contents, kept under the name; None: nothing differs."""
        tree = dict(self.objects.tree_of(onto))
        tree |= {path: content.decode("utf-8", "surrogateescape") for path, content in files.items()}
        if not differing(self.objects.tree_of(onto), tree):
            return None
        made = self._commit(tree, onto, message).id
        self.pin(name, made)
        return made

    def settle_in(self) -> tuple[str, ...]:
        """Nobody moves it."""
        return ()

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left, and bring along the checkout that it left behind."""
        self.locked = False
        self.checkout.bring_along(self.head, self.edited)

    def is_cut_off(self, landed: bool) -> None:
        """Who called was killed with a lock in its hands, and perhaps after main had moved (`landed`)."""
        self.locked = True
        if landed:
            self.checkout.is_cut_off()

    def put_on_main(self, commit: str) -> None:
        """Main is this commit now, whoever says so."""
        before, self.head = self.head, self.objects.find(commit).id
        self.checkout.goes_along(before, self.head)

    def rewrite_main(self, commit: str) -> None:
        """A person moves main to where it does not contain what it contained."""
        stays = {one.id for one in self.objects.line(commit)}
        gone = [one for one in self.objects.line(self.head) if one.id not in stays]
        self.taken.update(value for one in gone for key, value in one.trailers if key in ABOUT_BEADS)
        self.left.append(self.head)
        self.put_on_main(commit)

    def was_left(self, commit: str) -> bool:
        """Whether a person took the commit off main."""
        return any(self.contains(commit, head) for head in self.left)

    def torn(self) -> set[str]:
        """The commits that came to main in one move with one that a person took off it."""
        if not self.left:
            return set()
        there = {one.id for one in self.objects.line(self.head)}
        return {commit for move in self.landings if not there.issuperset(move) for commit in move}

    def prune(self) -> int:
        """`git gc --prune=now`: how many commits of ours are gone, that no ref, checkout or reflog of main has."""
        clones = (clone.head for clone in self.clones.of_bead.values())
        heads = (self.head, *self.refs.values(), *clones, *self.clones.scratch.values(), *self.landed, *self.left)
        gone = self.ours - self.objects.reachable(heads)
        for commit in gone:
            del self.objects.commits[commit]
        self.ours -= gone
        return len(gone)

    def _between(self, old: str, new: str) -> Iterable[Commit]:
        for commit in self.objects.line(new):
            if commit.id == old:
                return
            yield commit

    def _refuse_when_locked(self) -> None:
        if self.locked:
            raise GitFailed("a lock file is in the way", "Another git process seems to be running.")
