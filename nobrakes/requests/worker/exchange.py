"""One exchange with a code host about one request: pushed, found or opened, looked at. It runs beside the loop.

1. Whatever it does it may do again: a request that is there is found by its mark, a branch that is pushed stays.
2. A request is opened only after none was found. When opening fails it is looked for, and tried once more.
3. It touches git's refs at the remote, the host, and nothing else: what came of it is written down by the loop.
"""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ...beads.model import NO_AGENTS, Bead, BeadType, Role, Status, blockers_of
from ...beads.proposals import Merged, is_built, reverted_merges, submitted
from ...checks.contract import TestCounts
from ...checks.worker.steps import clean
from ...checks.worker.validation import counts_of
from ...errors import FileTooLarge, GitFailed, HostRefused, HostUnavailable
from ...events.kinds import UNDO_MARK, Event, Kind
from ...features import model as keys
from ...git.port import Git
from ...host.port import Notice
from ...ports import Ports
from ...records import frozen
from ...review import reading
from ...review.service.landed import epics_above
from ...review.waits import Land, Landing
from ...review.worker.chain import last_merge
from .. import model
from ..hosts.port import PullPorts, Wanted
from ..model import PullRequest, PullState, Seen, Told, auto_merge_key, failed, running
from . import landing_branch

if TYPE_CHECKING:
    from ...store import Store


MAX_LOGS = 5


@frozen
class Order:
    """The wanted exchange. `ours`: our pushed commits, with `head`; `now`: those since the last merged request.
    `number` 0: unknown. `text`: the digest of `wanted`; `has_text`: of the host's text, if known."""

    head: str
    ours: frozenset[str]
    now: frozenset[str]
    wanted: Wanted
    text: str
    has_text: str = ""
    number: int = 0
    was: int = 0  # that of one which people closed


def exchange(order: Order, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    """Bring the request to its wanted state as far as possible; returns its state."""
    return _asked(ports, lambda: _exchanged(order, ports, catch_up))


def look(number: int, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    """Read the request without changes; if merged, also fetch the base."""

    def looked() -> Seen:
        told = ports.host.look(number)
        heard = catch_up() if told.state is PullState.MERGED else Land(Landing.MOVED)
        return Seen(told, trouble="" if heard.landing is Landing.MOVED else heard.reason, wait=heard.wait)

    return _asked(ports, looked)


def _asked(ports: PullPorts, ask: Callable[[], Seen]) -> Seen:
    try:
        ports.host.ready()
        return ask()
    except HostUnavailable as error:
        return Seen(trouble=str(error), wait=error.wait, needs_person=error.needs_person, paced=error.paced)
    except HostRefused as error:
        return Seen(trouble=str(error), needs_person=True)


def _exchanged(order: Order, ports: PullPorts, catch_up: Callable[[], Land]) -> Seen:
    host = ports.host
    told = host.look(order.number) if order.number else _found(order, ports)
    if told is not None and told.state is PullState.CLOSED:
        return Seen(told)
    if not host.supports_pull_requests or (told is not None and (told.conflicts or told.state is PullState.MERGED)):
        heard = catch_up()
        if heard.landing is not Landing.MOVED:
            return Seen(told if host.supports_pull_requests else None, trouble=heard.reason, wait=heard.wait)
    if told is not None and told.state is PullState.MERGED:
        return Seen(told)
    if told is None or told.head != order.head:
        pushed = ports.publish(order.wanted.branch, order.head, order.ours)
        if pushed.landing is Landing.BLOCKED:
            return Seen(told, trouble=pushed.reason, wait=pushed.wait, needs_person=not pushed.timeout)
        if pushed.landing is Landing.LOST and (told is None or told.head in order.ours):
            return Seen(None, trouble=pushed.reason, needs_person=True)
        if pushed.landing is Landing.MOVED and told is not None:
            told = replace(told, head=order.head, conflicts=False)
    if told is None:
        told = _opened(order, ports)
        return Seen(_merges_itself(order, ports, replace(told, head=told.head or order.head)), text=order.text)
    if told.base not in ("", order.wanted.base):  # after the push: nothing unproven is ever for the new base
        host.retarget(told.number, order.wanted.base)
        told = replace(told, base=order.wanted.base, conflicts=False)
    if not order.number:  # who opened it did not hear of it, and may not have given it its labels
        _set_labels_and_reviewers(ports, told, order.wanted)
    has = told.title, told.body.rstrip()
    is_new = order.has_text != order.text and told.head == order.head
    if host.supports_pull_requests and is_new and has != (order.wanted.title, order.wanted.body.rstrip()):
        host.rewrite(told.number, order.wanted)
    return _looked(order, ports, _merges_itself(order, ports, told))


def _merges_itself(order: Order, ports: PullPorts, told: Told) -> Told:
    """Enable auto-merge if wanted; a refusal blocks nothing."""
    if told.auto_merge or not order.wanted.auto_merge or told.head != order.head:
        return told
    try:
        ports.host.auto_merge(told.number, order.head)
    except HostRefused:
        return told
    return replace(told, auto_merge=True)


def _looked(order: Order, ports: PullPorts, told: Told) -> Seen:
    host = ports.host
    checks = host.checks(order.head) if told.head == order.head else ()
    red = () if running(checks) else failed(checks)[:MAX_LOGS]  # nobody is told of them before the others have ended
    logs = [(check.name, host.log(check)) for check in red]
    return Seen(told, checks, logs, host.remarks(told.number), text=order.text)


def _found(order: Order, ports: PullPorts) -> Told | None:
    """The request that goes on: open at our commit, or merged at one pushed for it; earlier merges are others."""
    if order.was and (told := ports.host.look(order.was)).state is not PullState.CLOSED:
        return told  # people opened it again, whatever they pushed to it and wrote about it
    commits = {PullState.MERGED: order.now, PullState.CLOSED: frozenset[str]()}
    for told in ports.host.find(order.wanted.branch, order.wanted.mark):
        if told.head in commits.get(told.state, order.ours):
            return ports.host.look(told.number)
    return None


def _opened(order: Order, ports: PullPorts) -> Told:
    host = ports.host
    try:
        told = host.open(order.wanted)
    except (HostUnavailable, HostRefused) as error:
        if isinstance(error, HostUnavailable) and error.needs_person:
            raise
        found = _found(order, ports)
        told = found if found is not None else host.open(order.wanted)
    _set_labels_and_reviewers(ports, told, order.wanted)
    return told


def _set_labels_and_reviewers(ports: PullPorts, told: Told, wanted: Wanted) -> None:
    if told.number:
        try:
            ports.host.set_labels_and_reviewers(told.number, wanted)
        except HostRefused:
            return


# Everything that was pushed is pinned before it is, and archived before its branch is removed.
PINS = "pull"


def pins(ports: Ports, bead: str) -> list[str]:
    return [name for name in ports.git.kept() if name.startswith(f"{PINS}/{bead}/")]


def pushed(ports: Ports, bead: str) -> frozenset[str]:
    """Every commit pushed for the bead, also for former requests."""
    starts = (f"{PINS}/{bead}/", f"archive/{bead}/pull-")
    return frozenset(commit for name, commit in ports.git.kept().items() if name.startswith(starts))


def pushed_now(ports: Ports, bead: str) -> frozenset[str]:
    return frozenset(name.rpartition("/")[2] for name in pins(ports, bead))


def as_merged(ports: Ports, pull: PullRequest, told: Told | None) -> PullRequest:
    """The request as merged, perhaps at a head before our last push."""
    git, head = ports.git, told.head if told is not None else ""
    if head and head not in pushed(ports, pull.bead):
        head = pull.had  # with what somebody else pushed on it, and without what could not be pushed after that
    if head in ("", pull.head) or not git.has(head):
        return pull
    return replace(pull, head=head, base=git.fork(pull.base, head) or pull.base)


def tell_of_others(ports: Ports, pull: PullRequest, told: Told | None) -> None:
    """Report a merge of commits that we did not push, unless it contains ours."""
    git, head = ports.git, told.head if told is not None else ""
    if not head or head in {pull.head, *pushed(ports, pull.bead)} or (git.has(head) and git.contains(pull.head, head)):
        return
    text = (
        f"{pull.bead}: people merged pull request {pull.name} at {head[:12]}, which nobrakes did not push. nobrakes "
        f"checked {pull.head[:12]}. The merged commit counts as the work: `nobrakes show {pull.bead}` shows the work"
    )
    ports.notifier.tell(Notice(text, pull.bead, urgent=True))


def tell_of_later(ports: Ports, bead: Bead, pull: PullRequest, fork: str, head: str) -> None:
    """Report a merge without the newer work (`fork`..`head`); an epic goes on."""
    git, commits = ports.git, (pull.base, pull.head, fork, head)
    if bead.type is BeadType.EPIC or not all(commit and git.has(commit) for commit in commits):
        return
    reviews = [one.data for one in ports.store.attempts(bead.id) if one.role is Role.REVIEWER]
    if head in [data.get("head") for data in reviews if data.get("candidate") == pull.head]:
        return  # that is what the request was made of
    if git.content(fork, head) == git.content(pull.base, pull.head):
        return
    text = (
        f"people merged pull request {pull.name} without the newest work, {head[:12]}, which is not on main. "
        f"nobrakes keeps that work under refs/nobrakes/archive/{bead.id}/. To let an agent do the bead again, type "
        f"`nobrakes reopen {bead.id}`"
    )
    ports.notifier.tell(Notice(text, bead.id, urgent=True))


def archive(ports: Ports, bead: str) -> None:
    """Archive the pushed commits, and drop their pins."""
    for name in pins(ports, bead):
        commit = name.rpartition("/")[2]
        if ports.git.has(commit):
            ports.git.pin(f"archive/{bead}/pull-{commit[:12]}", commit)
        ports.git.pin(name, None)


def is_to_go(ports: Ports, pull: PullRequest | None) -> bool:
    return pull is not None and bool(pull.branch) and ports.config().review.pull_delete_branch


_LINE = 500
_SLACK = 2.0


def is_on_main(git: Git, commit: str) -> bool:
    return bool(commit) and git.has(commit) and git.contains(commit, git.main())


def with_base(git: Git, pull: PullRequest) -> PullRequest:
    """The merged request; after a cleared base, with its head's real base."""
    if pull.base:
        return pull
    made = git.made(pull.merged_as)
    fork = git.fork(made.parents[0], pull.head) if made is not None and made.parents else None
    return replace(pull, base=fork or pull.head)


def brought_since(git: Git, base: str, head: str, merged: str) -> str:
    """Main's commit before people's merge of `base`..`head`, ending with `merged`; empty: it was one commit."""
    made, count = git.made(merged), len(git.line(head, base))
    if made is None or len(made.parents) != 1 or count < 2:
        return ""
    line = git.line(merged, base if git.contains(base, merged) else None)[:count]
    if len(line) < count or not line[-1].parents:  # what it was proven on came later, or never
        return ""
    content, before = git.content(base, head), line[-1].parents[0]
    is_one = git.content(made.parents[0], merged) == content
    return "" if is_one or git.content(before, merged) != content else before


def in_base(git: Git, pull: PullRequest) -> str:
    """The base's commit with the pushed work, also squashed or rebased; empty: none."""
    main = git.main()
    since = pull.base if pull.base and git.has(pull.base) and git.contains(pull.base, main) else None
    if main == since:
        return ""
    line = git.line(main, since)[:_LINE]
    if git.contains(pull.head, main):
        return next((made.commit for made in reversed(line) if git.contains(pull.head, made.commit)), "")
    content = git.content(pull.base, pull.head) if since else ""
    for made in line:
        with contextlib.suppress(GitFailed):
            if made.trailer("Bead") == pull.bead and made.at >= pull.opened_at - _SLACK:
                return made.commit
            if content and made.parents and git.content(made.parents[0], made.commit) == content:
                return made.commit
    return ""


# A merged request that takes another one back opens that one's bead again, and holds it. A feature's rollback says
# itself what becomes of its beads (features.worker.forge).
_PAGE = 1000


def settle(store: "Store", bead: str, commit: str) -> None:
    """Mark `bead` as merged by `commit`. Repeatable; needs a transaction."""
    attempts = store.attempts(bead)
    last = submitted(attempts)
    if last is None or (last.role is not Role.PERSON and not is_built(attempts)):
        return  # an agent's work takes nothing back, whatever was handed in before it
    merges = reverted_merges(attempts)
    if not merges or any((one.data.get(keys.ROLLBACK) or {}).get("bead") == bead for one in store.features()):
        return
    by = next(one.name for one in reversed(store.attempts(bead)) if one.data.get("takes_back"))
    for merge in (one for named in merges for one in (named, *_with(store, named))):
        was = store.bead(merge.bead)
        stands = was.merged_commit == merge.commit if was.status is Status.DONE else was.status is Status.LANDED
        if not stands:
            continue
        undone = {"undone": [merge.seq]} if merge.seq else {}
        why = f"{by} reverted this bead's merge {merge.commit[:12]}; `nobrakes release {was.id}` lets agents continue"
        data = {"commit": merge.commit, "revert": commit, **undone}
        store.record(Event(Kind.REVERTED, was.id, actor=f"{by}{UNDO_MARK}", data=data))
        store.record(Event(Kind.HELD, was.id, actor=f"{by}{UNDO_MARK}", data={"reason": why}))


def _with(store: "Store", merge: Merged) -> list[Merged]:
    if store.bead(merge.bead).type is not BeadType.EPIC:
        return []
    found: list[Merged] = []
    before = None
    while page := store.latest_events((Kind.FOUND_MERGED,), before, _PAGE):
        found += [
            Merged(str(one.bead), _came_as(store, one), seq=one.seq)
            for one in page
            if one.data.get("with") == merge.bead and one.data.get("whole") == merge.commit
        ]
        before = page[-1].seq
    return found


def _came_as(store: "Store", found: Event) -> str:
    """The bead's commit on main: its own if the epic's commits were kept and named it. Later merges are other work."""
    bead = str(found.bead)
    later = [one for one in store.latest_events((Kind.MERGED,), None, 1, bead) if one.seq > found.seq]
    return str(found.data["merged_commit"]) if later else store.bead(bead).merged_commit or ""


_TEMPLATE = 100_000


def wanted(ports: Ports, bead: Bead, pull: PullRequest, base_branch: str) -> Wanted:
    """The request as it should be."""
    settings = ports.config().review
    line = model.mark(bead.id)
    body = clean(ports, model.body(_facts(ports, bead, pull, base_branch), line))
    if line not in body.splitlines():  # what looked like a secret took it along
        body = f"{body}\n{line}\n"
    return Wanted(
        pull.branch,
        base_branch,
        clean(ports, model.title(bead)),
        body,
        line,
        settings.pull_draft,
        settings.pull_labels,
        settings.pull_reviewers,
        settings.pull_auto_merge and auto_merge_key(pull.head) not in pull.told,
    )


def _facts(ports: Ports, bead: Bead, pull: PullRequest, base_branch: str) -> model.Facts:
    store, git = ports.store, ports.git
    settings = ports.config().review
    passed = store.validation(git.tree(pull.head), pull.contract) or {}
    before = counts_of(store.validation(git.tree(pull.base), pull.contract))
    after = counts_of(passed)
    within = [one.bead for one in landing_branch.landings(ports, bead.id)] if bead.type is BeadType.EPIC else []
    past = [one for each in (bead, *within) for one in store.attempts(each.id) if one.role not in NO_AGENTS]
    readings = reading.session_readings(store.code_reviews(bead.id))
    names = dict.fromkeys(f"{one.name} ({one.agent}{f', {one.model}' if one.model else ''})" for one in past)
    above = [bead.id, *(epics_above(ports.store, bead) if bead.epic else ())]
    features = [one for one in ports.store.features(going=False) if one.id in above]
    return model.Facts(
        bead,
        pull.base,
        base_branch,
        pull.head,
        checks=passed.get("results", ()),
        before=_passing(before),
        after=_passing(after),
        attempts=len(past),
        criteria=[(one.text, one.judged) for feature in features for one in feature.criteria],
        read=reading.numbered(reading.since(readings, last_merge(store, bead.id))),
        epic=(bead.epic, ports.store.bead(bead.epic).title) if bead.epic else None,
        needs=[(one, ports.store.bead(one).title) for one in blockers_of(bead.id, ports.store.dependencies(bead.id))],
        within=within,
        files=[change.path for change in git.changes(pull.base, pull.head)],
        template=_template(ports, pull.base),
        names=tuple(names) if settings.pull_names else (),
        cost=f"${sum(one.cost_usd for one in past):.2f}" if settings.pull_cost else "",
    )


def _passing(counts: TestCounts | None) -> int | None:
    return None if counts is None else counts.passed


def _template(ports: Ports, base: str) -> str:
    for path in model.TEMPLATES:
        try:
            found = ports.git.read(base, path, _TEMPLATE)
        except FileTooLarge:
            continue
        if found is not None:
            return found.decode("utf-8", "replace")
    return ""


def without_secrets(ports: Ports, seen: Seen) -> Seen:
    return replace(
        seen,
        checks=[replace(one, name=clean(ports, one.name), says=clean(ports, one.says)) for one in seen.checks],
        remarks=[replace(one, text=clean(ports, one.text), path=clean(ports, one.path)) for one in seen.remarks],
    )


def answers(ports: Ports, bead: str) -> list[str]:
    """The last two workers' reports, with their commits."""
    done = [one for one in ports.store.attempts(bead) if one.role is Role.DOER and one.head]
    return [
        clean(ports, f"{one.name}, attempt {one.number}, {str(one.head)[:12]}: {one.log.summary or 'no summary'}")
        for one in done[-2:]
    ]
