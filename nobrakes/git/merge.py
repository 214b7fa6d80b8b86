"""Merging without a worktree: trees by `merge-tree`, commits by hand. Same input, same object ids.

1. The committer is nobrakes or as configured, dates are Message.when, the author is the worker. Commits that may land
   are signed where the person signs (git.commits.Signer).
2. If `head` starts at `onto`, or a step's tree is its parent's, git is not asked.
3. If the sides changed different paths, their trees are combined by hand.
4. A replay is linear: if `head` has merge commits, it is one commit with everything, as neither parent's line has all
   of it.
5. git 2.38 has no --merge-base: one commit C is merged with a commit on C's parent that has the present tree. If main
   was rewritten, both sides are put on the commit of main where the work began, so that removed commits do not return.
6. Files merge in the built-in ways that main's attributes name (git.history), else as text.
7. New content of `head` passes git's filters (filters.py), or there is no candidate.
"""

import os
import tempfile
from collections.abc import Collection, Mapping, Sequence

from .. import EMAIL, NAME
from ..beads.proposals import Merged, newest_first
from ..errors import GitFailed
from ..records import frozen
from . import history
from .command_line import content
from .commits import Person, Signer, compose, person, with_trailers
from .filters import Filters
from .history import History, merged
from .location import Place
from .objects import Commit, Entry, Objects, changed, tree_content
from .port import Candidate, Conflict, Git, Made, Message

_DETAIL = 4000
_OURSELVES = Person(NAME, EMAIL)


class Merger:
    """Makes candidates for main."""

    def __init__(self, place: Place, objects: Objects, history: History, filters: Filters, signer: Signer) -> None:
        self.signer = signer
        self.place = place
        self.objects = objects
        self.history = history
        self.filters = filters
        self._ways_of = ("", "")

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        fork = self.history.fork(onto, head, began)
        if fork is None:
            return Conflict((), "the branch has no commit in common with main")
        if fork == onto:
            tree: str | Conflict = self.objects.commit(head).tree
        elif fork != self.history.fork(onto, head):
            tree = self._moved(fork, onto, head)
        elif fork == head:
            tree = self.objects.commit(onto).tree
        else:
            base = self.history.only_fork(onto, head)
            tree = (None if base is None else self._trees_of(base, onto, head)) or self._merge(onto, head, onto)
        if not isinstance(tree, Conflict):
            tree = self.filters.filtered_tree(tree, onto, head)
        return tree if isinstance(tree, Conflict) else self._commit(tree, onto, message)

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        whole = self.squash(onto, head, message)
        return whole if isinstance(whole, Conflict) else self._commit(whole.tree, head, message, onto)

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        fork = self.history.fork(onto, head, began)
        if fork is None:
            return Conflict((), "the branch has no commit in common with main")
        commits = self.history.since(fork, head)
        if not commits or any(len(commit.parents) != 1 for commit in commits):
            whole = self.squash(onto, head, message, began)
            return whole if isinstance(whole, Conflict) else (whole,)
        steps: list[Candidate] = []
        tip, tree = onto, self.objects.commit(onto).tree
        for commit in commits:
            merged = self._pick(commit, tree, onto, fork)
            if isinstance(merged, Conflict):
                return merged
            if merged != tree:
                tip, tree = self._rewrite(commit, merged, tip, message), merged
                steps.append(Candidate(tip, tree))
        return tuple(steps) or (self._commit(tree, onto, message),)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        tip = Candidate(onto, self.objects.commit(onto).tree)
        for step in steps:
            tip = Candidate(self._rewrite(self.objects.commit(step.commit), step.tree, tip.commit, message), step.tree)
        return tip

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        bad = self.objects.commit(commit)
        before = self.objects.commit(bad.parents[0]).tree if bad.parents else self.place.run(["mktree"], stdin=b"").text
        if self.objects.commit(onto).tree == bad.tree:
            return self._commit(before, onto, message)
        # both sides on the commit itself, so that it is the base also where main has its change by another commit
        tree = self._merge(self._joint(self.objects.commit(onto).tree, commit), self._joint(before, commit), onto)
        return tree if isinstance(tree, Conflict) else self._commit(tree, onto, message)

    def _pick(self, commit: Commit, tree: str, main: str, fork: str) -> str | Conflict:
        parent = commit.parents[0]
        before = self.filters.filtered_tree(self.objects.commit(parent).tree, fork, parent)
        after = self.filters.filtered_tree(commit.tree, fork, commit.id)
        for one in (before, after):
            if isinstance(one, Conflict):
                return one
        assert isinstance(before, str) and isinstance(after, str)
        if before == tree:
            return after
        if after == before:
            return tree
        whole = self._merged_by_hand(before, tree, after)
        return whole or self._merge(self._joint(tree, parent), self._joint(after, parent), main)

    def _moved(self, fork: str, onto: str, head: str) -> str | Conflict:
        if (whole := self._trees_of(fork, onto, head)) is not None:
            return whole
        ours, theirs = (self._joint(self.objects.commit(commit).tree, fork) for commit in (onto, head))
        return self._merge(ours, theirs, onto)

    def _trees_of(self, base: str, ours: str, theirs: str) -> str | None:
        """The merged tree of two commits whose only fork is `base`; None: git has to merge them."""
        one, two, three = (self.objects.commit(commit).tree for commit in (base, ours, theirs))
        return self._merged_by_hand(one, two, three)

    def _merged_by_hand(self, base: str, ours: str, theirs: str) -> str | None:
        return merged(self.objects, self._write_tree, base, ours, theirs)

    def _write_tree(self, ours: str, entries: Mapping[str, Entry], changes: Mapping[str, Entry]) -> str:
        large = self.objects.large(ours)
        content = tree_content({**entries, **changes}) if large is None else changed(large, changes)
        tree = self.place.trees.write(content, self.place.git_dir, self.place.plumbing)
        self.objects.learn_tree(tree, content)
        return tree

    def _joint(self, tree: str, parent: str) -> str:
        """A temporary commit that makes `merge-tree` find `parent` as the base."""
        whole = content(tree, (parent,), (_OURSELVES, "0 +0000"), (_OURSELVES, "0 +0000"), "")
        return self._kept(self.place.commits.write(whole, self.place.git_dir, self.place.plumbing), whole)

    def _merge(self, ours: str, theirs: str, main: str) -> str | Conflict:
        asked = ["merge-tree", "--write-tree", "-z", "--name-only", ours, theirs]
        with tempfile.NamedTemporaryFile(prefix="nobrakes-attributes-") as file:
            file.write(os.fsencode(self.ways(main)))
            file.flush()
            answer = self.place.run(["-c", f"core.attributesFile={file.name}", *asked], expect=(0, 1))
        records = answer.records
        if not records:
            raise GitFailed(f"git merge-tree gave no tree for {ours} and {theirs}: {answer.error[:200]}")
        if answer.code == 0:
            return records[0]
        end = records.index("", 1) if "" in records[1:] else len(records)
        return Conflict(tuple(sorted(set(records[1:end]))), _detail(records[end + 1 :]))

    def ways(self, main: str) -> str:
        known, landings = self._ways_of
        if known != main:
            if not known or history.differ(self.objects, known, main):
                landings = history.merging(self.place, self.objects, main)
            self._ways_of = (main, landings)
        return landings

    def _rewrite(self, commit: Commit, tree: str, parent: str, message: Message) -> str:
        name, _, rest = commit.author.rpartition(" <")
        email, _, date = rest.partition("> ")
        who = person(f"{name} <{email}>") if email.strip() else person(message.author)
        text = with_trailers(commit.message.replace("\0", ""), message.trailers)
        return self._write(tree, parent, (who, _when(date, message)), _date(message.when), text)

    def _commit(self, tree: str, parent: str, message: Message, *parents: str) -> Candidate:
        author = (person(message.author), _date(message.when))
        return Candidate(self._write(tree, parent, author, _date(message.when), compose(message), *parents), tree)

    def _write(self, tree: str, parent: str, author: tuple[Person, str], when: str, text: str, *parents: str) -> str:
        whole = content(tree, (parent, *parents), author, (self.signer.who, when), text)
        signed = self.signer.signed(whole)
        return signed or self._kept(self.place.commits.write(whole, self.place.git_dir, self.place.plumbing), whole)

    def _kept(self, commit: str, whole: bytes) -> str:
        self.objects.learn_commit(commit, whole)
        return commit


def _date(when: float) -> str:
    return f"{max(0, int(when))} +0000"


def _when(date: str, message: Message) -> str:
    seconds, _, zone = date.partition(" ")
    whole = seconds.isdigit() and len(seconds) <= 11 and len(zone) == 5 and zone[0] in "+-" and zone[1:].isdigit()
    return f"{int(seconds)} {zone}" if whole else _date(message.when)


def _detail(records: Sequence[str]) -> str:
    """Git's conflict messages: per message a count, that many paths, a kind and a text."""
    lines, place = [], 0
    while place < len(records) and records[place].isdigit():
        text = place + 2 + int(records[place])
        if text >= len(records):
            break
        if records[text - 1] != "Auto-merging":
            lines.append(records[text].strip())
        place = text + 1
    return "\n".join(lines)[:_DETAIL]


MAX_LATER = 500
"""How many commits are searched for later changes of the files."""


@frozen
class Hindered:
    """A merge that cannot be reverted: later work changed the same files."""

    merge: Merged
    files: tuple[str, ...]


def sorted_out(git: Git, merges: Sequence[Merged], base: str) -> tuple[tuple[Merged, ...], tuple[Merged, ...]]:
    """(merges on main, newest first; merges no longer on main). `base`: a commit before them."""
    gone = git.off_main([one.commit for one in merges]) if merges else frozenset()
    held = [one for one in merges if one.commit not in gone]
    line = git.line(git.main(), base) if held and base and git.has(base) else ()
    return newest_first(held, [made.commit for made in line]), tuple(one for one in merges if one.commit in gone)


# Each merge is taken back whole, all of them or none; where one conflicts it is said with which, and who changed those
# files since.
def taken_back(git: Git, merges: Sequence[Merged], onto: str, message: Message) -> Candidate | Hindered:
    """One commit on `onto` that reverts the merges (newest first, at least one)."""
    tip = Candidate(onto, git.tree(onto))
    for one in merges:
        whole = git.squash(one.base, one.commit, message) if one.base else Candidate(one.commit, git.tree(one.commit))
        made = git.revert(whole.commit, tip.commit, message) if isinstance(whole, Candidate) else whole
        if isinstance(made, Conflict):
            return Hindered(one, made.files)
        tip = made
    if len(merges) == 1:
        return tip
    made = git.squash(onto, tip.commit, message)
    assert isinstance(made, Candidate), "the branch is already based on its target"
    return made


def later_work(git: Git, hindered: Hindered, main: str, but: Collection[str]) -> tuple[Made, ...]:
    """The commits of main that changed the files since, newest first, without those of these beads."""
    if not hindered.files:
        return ()
    found = []
    for made in git.line(main, hindered.merge.commit)[:MAX_LATER]:
        if made.parents and made.trailer("Bead") not in but:
            changed = {change.path for change in git.changes(made.parents[0], made.commit)}
            if changed & set(hindered.files):
                found.append(made)
    return tuple(found)
