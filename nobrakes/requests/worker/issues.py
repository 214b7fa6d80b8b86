"""Issues at GitHub: open ones with a label become drafts, and the issue hears of its bead's pull request and merge.

1. Others wrote an issue: its texts are data, a draft waits for a person, and prompts quote it (agents.quoting).
2. An issue keeps its bead: one that was changed there changes its draft, or proposes a change of its live bead. A bead
   that is closed stays as it is.
3. nobrakes writes only to repositories in `issues.post`. A comment has a mark that is sought before it is posted, under
   a lock, and stored after: neither a kill nor a second process posts it twice.
4. Reading and posting use the host alone (`exchange`); the store is read before (`order`) and written after (`take`).
5. What the host cannot do now waits, is told once, and ends nothing.
"""

import json
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from ...beads.model import CLOSED, Bead
from ...beads.progress import ISSUE, issue_of
from ...daemon.deciders import look_again
from ...daemon.model import Board
from ...errors import BadBead, ConfigError, Deadlock, HostRefused, HostUnavailable, NobrakesError, PlanError
from ...host.locks import locked
from ...host.port import Notice
from ...plans import service as plans
from ...plans.nodes import PlanNode
from ...plans.trackers import plan_of_issues
from ...ports import Ports
from ...records import frozen
from ...review.worker.merge_queue import NOBODY, Beside
from ...text.cleaning import count, first_of
from ..hosts.calls import MINUTE
from ..hosts.port import IssueTracker
from ..model import ISSUES_TROUBLE, IssueLink, IssueReport
from ..service import github_repository

if TYPE_CHECKING:
    from ...config.sections import IssueSettings
    from ...store import Store

MAX_POLLED = 10
"""Issues of unfinished beads that one exchange asks about alone."""


@frozen
class Post:
    """A comment to post. `stored`: fields of the link once it is there; `close`: whether the issue is closed then."""

    link: IssueLink
    mark: str
    text: str
    stored: Mapping[str, Any]
    close: bool


Rows = Sequence[Mapping[str, Any]]
Links = Mapping[int, IssueLink]
Order = tuple[str, Sequence[int], Sequence[Post]]
"""The label (empty: only post), numbers of issues whose beads are not closed, and comments."""


@frozen
class Exchanged:
    """A repository's answers. `rows` None: not read. `over`: unfinished beads' issues that are not open any more.
    `refused`: mark of a comment -> why. `error`: why it stopped."""

    rows: Rows | None
    over: Sequence[int]
    posted: Sequence[Post]
    refused: Mapping[str, str]
    error: NobrakesError | None


def sync(
    store: "Store", settings: "IssueSettings", tracker: IssueTracker, label: str, own: str, actor: str, lock: str
) -> IssueReport:
    """Import and post now. HostUnavailable, HostRefused: after what was done is stored. `own`: this repository's."""
    found = exchange(order(store, settings, tracker.repository, label), tracker, lock)
    report = take(store, found, tracker.repository, own, actor)
    if found.error is not None:
        raise found.error
    return report


def order(store: "Store", settings: "IssueSettings", repository: str, label: str, skip: Container[str] = ()) -> Order:
    """`skip`: marks of comments. ConfigError, from the settings."""
    links = {one.bead: one.number for one in store.issues(repository)} if label else {}
    beads = store.beads(ids=sorted(links)) if links else ()
    wanted = [one for one in posts(store, settings) if one.link.repository == repository and one.mark not in skip]
    return label, [links[one.id] for one in beads if one.status not in CLOSED], wanted


def posts(store: "Store", settings: "IssueSettings") -> list[Post]:
    """The comments that are to be posted, where a person allowed it. ConfigError."""
    allowed = {one: github_repository(one) for one in settings.post}
    if wrong := [one for one, found in allowed.items() if found is None]:
        raise ConfigError(f"issues.post: not a repository: {wrong[0][:80]}", 'Write it like "owner/name".')
    names = {str(one).lower() for one in allowed.values()}
    found = []
    for link, number, url, commit in store.issues_to_post() if names else ():
        if number not in (0, link.request) and link.repository in names:
            text = f"nobrakes opened a pull request for this issue: {url or f'#{number}'}"
            found.append(_post(link, text, "request", number, False))
        if commit not in ("", link.merged) and link.repository in names:
            found.append(_post(link, f"The work for this issue is merged: {commit}", "merged", commit, settings.close))
    return found


def _post(link: IssueLink, text: str, name: str, value: str | int, close: bool) -> Post:
    mark = f"<!-- nobrakes issue: {link.bead} {name} {value} -->"
    return Post(link, mark, f"{text}\n\n{mark}\n", {name: value}, close)


def exchange(wanted: Order, tracker: IssueTracker, lock: str) -> Exchanged:
    """Read the issues, and post. It asks the host alone, and may be repeated."""
    label, unfinished, comments = wanted
    rows: Rows | None = None
    over, posted, refused = list[int](), list[Post](), dict[str, str]()
    error: NobrakesError | None = None
    try:
        tracker.ready()
        if label:
            rows = tracker.open_issues(label)
            listed = {one.get("number") for one in rows}
            unlisted = [one for one in unfinished if one not in listed][:MAX_POLLED]
            over += [number for number in unlisted if not tracker.is_open(number)]
        for post in comments:
            try:
                with locked(lock, f"issue {post.link.repository} {post.link.number}"):
                    _comment(post, tracker)
                posted.append(post)
            except HostRefused as refusal:
                refused[post.mark] = f"issue #{post.link.number} got no comment: {refusal}"
    except (HostUnavailable, HostRefused) as met:
        error = met
    return Exchanged(rows, over, posted, refused, error)


def _comment(post: Post, tracker: IssueTracker) -> None:
    if not tracker.has_comment(post.link.number, post.mark):
        tracker.comment(post.link.number, post.text)
    if post.close:
        tracker.close(post.link.number)


def take(store: "Store", found: Exchanged, repository: str, own: str, actor: str) -> IssueReport:
    """Store what was posted, and make drafts and changes of the issues. PlanError, BadBead, Deadlock."""
    links = {one.number: one for one in store.issues(repository)}
    for post in found.posted:
        links[post.link.number] = replace(links.get(post.link.number, post.link), **post.stored)
        store.save_issue(links[post.link.number])
    over = (f"issue #{one} is not open any more: `nobrakes cancel {links[one].bead}`?" for one in found.over)
    posted = dict.fromkeys(one.link.bead for one in found.posted)
    report = IssueReport(repository, posted=tuple(posted), told=(*over, *found.refused.values()))
    return _drafts(store, found.rows, report, links, own, actor) if found.rows else report


def _drafts(store: "Store", rows: Rows, report: IssueReport, links: Links, own: str, actor: str) -> IssueReport:
    new = "gh-" if own in ("", report.repository) else f"gh-{sha256(report.repository.encode()).hexdigest()[:6]}-"
    prefix = next((one.bead.removesuffix(str(one.number)) for one in links.values()), new)
    plan = plan_of_issues(list(rows), f"issues of {report.repository}", plans.StoredIds(store), prefix)
    texts = {one["number"]: sha256(json.dumps(one, sort_keys=True).encode()).hexdigest()[:16] for one in rows}
    known = {bead.id: bead for bead in store.beads(ids=sorted(node.name for node in plan.nodes))}
    wanted, saved, told = deque[PlanNode](), list[IssueLink](), [*plan.problems]
    for node in plan.nodes:
        at, bead = issue_of(node.fields.get("metadata") or {}), known.get(node.name)
        if at is None:  # a milestone's epic: only its issues change
            wanted += [node] if bead is None else []
            continue
        link = links.get(at[1], IssueLink(node.name, *at))
        if bead is None:
            wanted.append(node)
        elif issue_of(bead.metadata) not in (None, at):
            told.append(f"issue #{at[1]} is not imported: the bead {node.name} belongs to another issue")
            continue
        elif bead.status in CLOSED:
            told.append(f"issue #{at[1]} is not imported: its bead {node.name} is done or cancelled")
        elif link.text != texts[at[1]]:
            wanted.append(_changing(node, bead))
        saved.append(replace(link, text=texts[at[1]]))
    plan = replace(plan, nodes=wanted, problems=tuple(told))
    done = plans.apply_plan(store, plan, actor=actor, cut=True, explain=False)
    for link in saved:
        if link != links.get(link.number):
            store.save_issue(link)
    cut = (f"{one.bead} does not wait for {one.needs}, which would be a circle" for one in done.cut)
    problems = (*done.problems, *cut)
    return replace(report, new=done.new, changed=done.changed, proposed=done.proposed, problems=problems)


def _changing(node: PlanNode, bead: Bead) -> PlanNode:
    """The node, which keeps the bead's other metadata."""
    fields = {**node.fields, "metadata": {**bead.metadata, ISSUE: node.fields["metadata"][ISSUE]}}
    if fields["metadata"] == bead.metadata:
        del fields["metadata"]
    return node._replace(fields=fields)


NAME = "issues"
MAX_WAIT = 3600.0


class IssueSync:
    """Imports every `issues.minutes`, and posts as soon as there is something, without a person's command."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Exchanged] = Beside(ports.background)
        self._tracker = cache(ports.issues)
        self._due = self._again = self._since = 0.0
        self._refused: set[str] = set()  # by their marks; the next daemon tries once more
        self._told: set[str] = set()

    def turn(self, board: Board) -> bool:
        """Begin an exchange if one is due, or store what came of it; whether beads changed."""
        if self._beside.is_pending(NAME):
            found = self._beside.end(NAME)
            return found is not None and self._store(found, board.now)
        store, settings, lock = self.ports.store, self.ports.config().issues, self.ports.paths.request_lock
        if not settings.minutes or board.stopping or board.now < self._again:
            return False
        label = settings.label if board.now >= self._due else ""
        try:
            tracker = self._tracker("")
            wanted = order(store, settings, tracker.repository, label, self._refused)
        except NobrakesError as error:  # the settings name no repository
            self._waits(error, board.now)
            return False
        if label or wanted[2]:
            self._beside.begin(NOBODY, NAME, lambda: exchange(wanted, tracker, lock))
        return False

    def wake_at(self) -> float | None:
        is_on = self.ports.config().issues.minutes and not self._beside.is_pending(NAME)
        return max(self._due, self._again) if is_on else None

    def _store(self, found: Exchanged, now: float) -> bool:
        store, repository, error = self.ports.store, self._tracker("").repository, found.error
        self._refused.update(found.refused)
        if found.rows is not None:
            self._due = now + self.ports.config().issues.minutes * MINUTE
        report = IssueReport(repository)
        try:
            report = take(store, found, repository, repository, "nobrakes")
        except (PlanError, BadBead, Deadlock) as malformed:
            error = error or malformed
        self._tell(report)
        if error is not None:
            self._waits(error, now)
        elif store.setting(ISSUES_TROUBLE) is not None or self._since:
            self._since = 0.0
            store.set_setting(ISSUES_TROUBLE, None)
        return bool(report.new or report.changed or report.proposed)

    def _tell(self, report: IssueReport) -> None:
        drafts = f"{count(len(report.new), 'new draft')} from issues of {report.repository}"
        new = [f"{drafts}: {first_of(report.new, 10)}. `nobrakes approve` shows what waits for you"]
        for text in (*(new if report.new else ()), *report.told):
            if text not in self._told:
                self._told.add(text)
                self.ports.notifier.tell(Notice(text))

    def _waits(self, error: NobrakesError, now: float) -> None:
        met = error if isinstance(error, HostUnavailable) else HostUnavailable("", wait=MINUTE, needs_person=True)
        self._again = now + met.wait
        if met.paced:
            return
        self._since = self._since or now
        self._again = now + max(met.wait, look_again(self._since, now, MAX_WAIT))
        if self.ports.store.setting(ISSUES_TROUBLE) != error.whole:
            self.ports.store.set_setting(ISSUES_TROUBLE, error.whole)
            self.ports.notifier.tell(Notice(f"issues wait: {error.whole}", urgent=met.needs_person))
