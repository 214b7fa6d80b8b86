"""A code host over plain values: branches, pull requests, and what people do with them. The port `CodeHost`, and hands.

1. Its state is what would be at the host: it outlives every daemon. Numbers are given in order.
2. `answers` is asked before each call, and of what changes something again before its answer goes out: it may raise, so
   that a call does nothing, or takes effect and is not heard of.
3. People merge as the buttons of a page do: a merge commit, a squash, or the branch's commit anew on the base.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nobrakes.errors import HostRefused
from nobrakes.requests.hosts.port import Wanted
from nobrakes.requests.model import CheckState, HostCheck, PullState, ReviewComment, Told

from .objects import Objects, merge

WAYS = ("merge", "squash", "rebase")


@dataclass
class Request:
    """A pull request there. `head` is kept when it is over."""

    number: int
    branch: str
    base: str
    title: str
    body: str
    state: PullState = PullState.OPEN
    head: str = ""
    merged_as: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    merges_itself: str = ""  # the head that is merged once its checks have passed
    remarks: list[ReviewComment] = field(default_factory=list)
    judged: dict[str, ReviewComment | None] = field(default_factory=dict)  # of each person, the approval that stands


class FakeCodeHost:
    """One repository at the host."""

    supports_pull_requests = True

    def __init__(self, objects: Objects, base: str, head: str) -> None:
        self.objects = objects
        self.base = base
        self.branches: dict[str, str] = {base: head}
        self.requests: list[Request] = []
        self.writers = {"ann", "bob"}
        self.ran: dict[str, dict[str, HostCheck]] = {}
        self.logs: dict[str, str] = {}
        self.answers: Callable[[str], None] = lambda call: None
        self.when = 0.0
        self._keys = 0

    # --- the port --------------------------------------------------------------------------------

    def about(self) -> str:
        """A host that nobody has to reach."""
        return "a code host of the simulation"

    def ready(self) -> None:
        """HostUnavailable, as drawn."""
        self.answers("ready")

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        """The requests from this branch that carry the mark, open ones first, then the newest."""
        self.answers("find")
        ours = [one for one in self.requests if one.branch == branch and mark in one.body.splitlines()]
        ours.sort(key=lambda one: (one.state is not PullState.OPEN, -one.number))
        self.answers("found")
        return [self._told(one) for one in ours]

    def open(self, wanted: Wanted) -> Told:
        """Open it. HostRefused: there is one from this branch for this base, no such base, or nothing to merge."""
        self.answers("open")
        head = self.branches.get(wanted.branch)
        self._is_there(wanted.base)
        if head is None or self.objects.contains(head, self.branches[wanted.base]):
            raise HostRefused(f"no commits between {wanted.base} and {wanted.branch}")
        if any((one.branch, one.base) == (wanted.branch, wanted.base) for one in self.open_ones()):
            raise HostRefused(f"a pull request already exists for {wanted.branch}")
        made = Request(len(self.requests) + 1, wanted.branch, wanted.base, wanted.title, wanted.body)
        self.requests.append(made)
        self.answers("opened")
        return self._told(made)

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None:
        """Give it the labels and the reviewers that are wanted."""
        self.answers("set_labels_and_reviewers")
        one = self.request(number)
        one.labels, one.reviewers = wanted.labels, wanted.reviewers

    def rewrite(self, number: int, wanted: Wanted) -> None:
        """Give it the title and the body that are wanted."""
        self.answers("rewrite")
        one = self.request(number)
        one.title, one.body = wanted.title, wanted.body
        self.answers("rewritten")

    def retarget(self, number: int, base: str) -> None:
        """Have it be for another branch."""
        self.answers("retarget")
        one = self.request(number)
        self._is_there(base)
        if one.state is not PullState.OPEN:
            raise HostRefused(f"#{number} is over")
        one.base = base
        self.answers("retargeted")

    def auto_merge(self, number: int, head: str) -> None:
        """Have it merged by itself, while a check of it runs."""
        self.answers("auto_merge")
        one, ran = self.request(number), self.ran.get(head, {}).values()
        runs = any(check.state is CheckState.RUNNING for check in ran)
        if one.state is not PullState.OPEN or self.branches.get(one.branch) != head or not runs:
            raise HostRefused(f"#{number} is not merged by itself")
        one.merges_itself = head
        self.answers("auto_merges")

    def close(self, number: int) -> None:
        """Close it unmerged, whoever does; one that is over stays as it is."""
        self.answers("close")
        one = self.request(number)
        if one.state is PullState.OPEN:
            one.state, one.head = PullState.CLOSED, self.branches.get(one.branch, "")

    def look(self, number: int) -> Told:
        """How it is now."""
        self.answers("look")
        return self._told(self.request(number))

    def checks(self, commit: str) -> Sequence[HostCheck]:
        """What ran on the commit."""
        self.answers("checks")
        return list(self.ran.get(commit, {}).values())

    def log(self, check: HostCheck) -> str:
        """The end of what it printed."""
        self.answers("log")
        return self.logs.get(check.key, "")

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        """What people with write access wrote, then the approvals that stand."""
        self.answers("remarks")
        one = self.request(number)
        heard = [said for said in one.remarks if said.by in self.writers]
        return [*heard, *(said for said in one.judged.values() if said is not None and said.by in self.writers)]

    def request(self, number: int) -> Request:
        """The request; HostRefused: there is none."""
        if not 0 < number <= len(self.requests):
            raise HostRefused(f"there is no pull request {number}")
        return self.requests[number - 1]

    def _is_there(self, base: str) -> None:
        if base not in self.branches:
            raise HostRefused(f"there is no branch {base}")

    def _told(self, one: Request) -> Told:
        head = one.head or self.branches.get(one.branch, "")
        is_open = one.state is PullState.OPEN
        conflicts = is_open and bool(head) and bool(self._merge(one.base, head)[1])
        url = f"https://host.invalid/pull/{one.number}"
        itself = bool(one.merges_itself)
        return Told(one.number, url, one.state, head, one.merged_as, conflicts, one.title, one.body, one.base, itself)

    # --- what people do --------------------------------------------------------------------------

    def open_ones(self) -> list[Request]:
        """Those that wait."""
        return [one for one in self.requests if one.state is PullState.OPEN]

    def merge(self, number: int, how: str = "squash") -> str:
        """Merge it; the commit that the base is then. HostRefused: it conflicts, or is over."""
        one = self.request(number)
        base, head = self.branches[one.base], self.branches[one.branch]
        tree, conflicts = self._merge(one.base, head)
        if conflicts or one.state is not PullState.OPEN:
            raise HostRefused(f"#{number} cannot be merged: {', '.join(conflicts) or one.state.value}")
        parents = (base, head) if how == "merge" else (base,)
        theirs = self.objects.find(head)
        words, trailers = (theirs.subject, theirs.trailers) if how == "rebase" else (f"{one.title} (#{number})", ())
        made = self.objects.commit(tree, parents, words, "human", self.when, trailers).id
        one.state, one.head, one.merged_as = PullState.MERGED, head, made
        self.branches[one.base] = made
        return made

    def drop(self, branch: str) -> None:
        """Remove a branch; the open requests that were for it are closed."""
        for one in self.open_ones():
            if one.base == branch:
                one.state, one.head = PullState.CLOSED, self.branches.get(one.branch, "")
        self.branches.pop(branch, None)

    def merged(self, number: int) -> tuple[dict[str, str], tuple[str, ...]]:
        """The tree that the base would have with it, and the paths that conflict."""
        one = self.request(number)
        return self._merge(one.base, self.branches[one.branch])

    def push(self, branch: str, files: dict[str, str], onto: str = "") -> str:
        """A person's commit on a branch, or with `onto` in the place of what it has."""
        parent = onto or self.branches[branch]
        self.when += 1.0
        tree = {**self.objects.tree_of(parent), **files}
        self.branches[branch] = self.objects.commit(tree, (parent,), "by hand", "human", self.when).id
        return self.branches[branch]

    def review(self, number: int, by: str, text: str, state: str = "CHANGES_REQUESTED") -> None:
        """A review as a whole; APPROVED asks for nothing."""
        one, key = self.request(number), self._key("review")
        if state == "APPROVED":
            one.judged[by] = ReviewComment(key, by, "", approves=True)
        else:
            one.judged[by] = None if state == "CHANGES_REQUESTED" else one.judged.get(by)
            if text:
                one.remarks.append(ReviewComment(key, by, text))

    def comment(self, number: int, by: str, text: str, path: str, line: int) -> None:
        """A remark on a line."""
        self.request(number).remarks.append(ReviewComment(self._key("line"), by, text, path, line))

    def check(self, commit: str, name: str, state: CheckState, log: str = "") -> None:
        """A check of the host."""
        key = self._key("check")
        self.ran.setdefault(commit, {})[name] = HostCheck(name, state, "", key)
        self.logs[key] = log
        if all(check.state is CheckState.PASSED for check in self.ran[commit].values()):
            for one in self.open_ones():
                if one.merges_itself == commit == self.branches[one.branch]:
                    self.merge(one.number)

    def _key(self, what: str) -> str:
        self._keys += 1
        return f"{what} {self._keys}"

    def _merge(self, base: str, head: str) -> tuple[dict[str, str], tuple[str, ...]]:
        there = self.branches[base]
        fork = self.objects.fork(there, head)
        before = self.objects.tree_of(fork) if fork else {}
        return merge(before, self.objects.tree_of(there), self.objects.tree_of(head))
