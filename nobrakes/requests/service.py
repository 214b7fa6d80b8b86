"""Pull requests, as people ask for them: what there is, one of them, and a look at all of them now."""

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ..beads.graph import lift_to_epics
from ..beads.model import CLOSED, Attempt, Bead, BeadType, DependencyType, is_bead_id
from ..beads.readiness import deadlocks
from ..config.settings import Config
from ..decisions.blockers import Blocker
from ..decisions.blockers import Kind as BlockerKind
from ..doctor.health import ERROR, OK, WARNING, Finding
from ..errors import ConfigError, NobrakesError, NotAllowed
from ..events.kinds import Event, Kind
from ..files import wake
from ..git.landing.remote import redacted
from ..git.port import Git
from ..git.repository import publisher
from ..host.messages import Asking
from ..paths import Paths, own_path, process_environment
from ..review.journal import Journal, Step
from ..review.service.landed import bases, delivery_of
from ..text.cleaning import count
from .hosts.calls import Address, Ask, named, parse_remote_url
from .hosts.github import Gh, GitHub, GitHubIssues
from .hosts.gitlab import GitLab, Glab
from .hosts.port import CodeHost, IssueTracker, PlainGit, PullPorts
from .model import ASKED, ISSUES_TROUBLE, RequestView, base_of, default_epic_branch, push_approval, unit_of, view

if TYPE_CHECKING:
    from ..store import Store


def listed(store: "Store", everything: bool = False) -> list[RequestView]:
    return [view(one) for one in store.pulls(waiting=not everything)]


def one(store: "Store", bead: str) -> RequestView:
    """Raises NoSuchBead; NotAllowed: it has none."""
    store.bead(bead)
    found = store.pull(bead)
    if found is None and _unopened(store, _review(store, bead)) is not None:
        why = f"{bead} passed its checks, but has no pull request yet"
        raise NotAllowed(why, f"`nobrakes status` shows why. If the bead waits for you: `nobrakes pr open {bead}`.")
    if found is None:
        raise NotAllowed(f"{bead} has no pull request", "`nobrakes pr list --all` lists all pull requests.")
    return view(found)


def unsaid(store: "Store", config: "Config") -> list[Bead]:
    reviews = store.reviewing() if config.review.by_request else []
    found = ((store.bead(one.bead), one) for one in reviews)
    return [bead for bead, one in found if _waits_for_word(store, config, bead, _unopened(store, one))]


def _waits_for_word(store: "Store", config: "Config", bead: Bead, head: str | None) -> bool:
    asks = not delivery_of(store, config, bead).push
    return asks and head is not None and store.setting(push_approval(bead.id)) != head


def _unopened(store: "Store", review: "Attempt | None") -> str | None:
    found = store.pull(review.bead) if review is not None else None
    if review is None or (found is not None and found.waits):
        return None
    journal = Journal.of(review.data)
    return journal.change.head if journal.step is Step.PULL_REQUEST else None


def _review(store: "Store", bead: str) -> "Attempt | None":
    return next((one for one in store.reviewing() if one.bead == bead), None)


def address(store: "Store", bead: str) -> str:
    """The request's page; NotAllowed: unknown."""
    found = one(store, bead)
    if not found.page:
        raise NotAllowed(f"{bead} has no page at the code host, only the branch {found.branch}", "Look at the branch.")
    return found.page


def may_open(store: "Store", config: "Config", paths: "Paths | None", bead: str, actor: str, version: str = "") -> bool:
    """Allow the bead's work to be pushed; False: it does not wait. `version`: the shown prefix of its head."""
    review = _review(store, bead)
    head = _unopened(store, review)
    if review is None or head is None or not _waits_for_word(store, config, store.bead(bead), head):
        return False
    if not head.startswith(version):
        return False
    said = {"head": head, "branch": delivery_of(store, config, store.bead(bead)).branch}
    with store.write():
        store.record(Event(Kind.PUSH_ALLOWED, bead, review.id, actor, said))
        store.set_setting(push_approval(bead), head)
        store.set_setting(ASKED, repr(store.now()))
    if paths is not None:
        wake(paths)
    return True


def sync(store: "Store", config: "Config", paths: "Paths") -> int:
    """Poll all waiting requests now; returns their number. NotAllowed: work does not land by requests."""
    if not config.review.by_request:
        why = f'this repository does not use pull requests: review.land = "{config.review.land}"'
        raise NotAllowed(why, "To turn each bead into a pull request: `nobrakes config set review.land pull_request`.")
    store.set_setting(ASKED, repr(store.now()))
    wake(paths)
    return len(store.pulls())


_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "NO_COLOR": "1",
    "NO_PROMPT": "1",
    "GLAB_CHECK_UPDATE": "false",
    "GLAB_SEND_TELEMETRY": "false",
}


def ports_of(paths: "Paths", config: "Config") -> PullPorts:
    """The ports of a review that lands by requests. Raises ConfigError."""
    review = config.review
    publish = publisher(paths, config)
    address, asking = publish.remote.address(), partial(_asking, paths, review.remote_seconds)
    host = code_host(
        review.code_host, review.code_host_repository, address, redacted(address), asking=asking, clock=time.time
    )
    return PullPorts(host, publish, publish.remove, publish.branches, publish.remote.shared.branch)


def _asking(paths: "Paths", seconds: float, host: str) -> Asking:
    """Who asks: a login from the environment is for this host alone."""
    own = {"PATH": own_path(paths.root), "GH_HOST": host, "GITLAB_HOST": host}
    return Asking({**process_environment(), **_QUIET, **own}, seconds)


def issue_tracker(paths: "Paths", config: "Config", repository: str = "") -> IssueTracker:
    """The issues at GitHub of [HOST/]OWNER/NAME; empty: as the settings name it, else the remote's. ConfigError."""
    if chosen := repository or config.issues.repository:
        found = github_repository(chosen)
    else:
        found = address_of(config.review.code_host_repository, publisher(paths, config).remote.address())
    if found is None or "/" in found.owner:
        why = f"{chosen[:100] or 'the remote'} is not a repository at GitHub"
        raise ConfigError(why, "Name the repository: `nobrakes sync github --repository OWNER/NAME`.")
    return GitHubIssues(Gh(found.host, _asking(paths, config.review.remote_seconds, found.host), time.time), found)


def github_repository(name: str) -> Address | None:
    return named(f"github.com/{name}" if name.count("/") == 1 else name)


_NAME = "code host"
_MAX_LISTED = 10


def examine(store: "Store | None", git: "Git | None", paths: "Paths", config: "Config") -> Iterator[Finding]:
    """Empty unless work lands by requests, or issues wait."""
    if store is not None and config.issues.minutes and (trouble := store.setting(ISSUES_TROUBLE)):
        yield Finding("issues", WARNING, trouble)
    if not config.review.by_request:
        return

    pulls = None
    try:
        pulls = ports_of(paths, config)
        pulls.host.ready()
        yield Finding(_NAME, OK, f"nobrakes opens pull requests with {pulls.host.about()}")
        if config.review.pull_auto_merge and not pulls.host.supports_pull_requests:
            told = (
                "plain git cannot merge pull requests, so people merge. To confirm that people merge, type `nobrakes "
                "config set review.pull_auto_merge false`"
            )
            yield Finding(_NAME, WARNING, told)
    except NobrakesError as error:
        yield Finding(_NAME, ERROR, error.whole)
    if store is None:
        return
    for pull in store.pulls():
        if store.bead(pull.bead).status in CLOSED:
            left = f"pull request {pull.name} is open, but its bead {pull.bead} is closed: close {pull.url}"
            yield Finding(_NAME, WARNING, left)
    yield from _features(store, config)
    yield from _bases(store, config)
    if git is not None and pulls is not None:
        yield from _orphans(store, git, pulls)


def _features(store: "Store", config: "Config") -> Iterator[Finding]:
    """Settings of unknown features, and branch names of other epics."""
    named = config.review.features
    beads = {one.id: one for one in store.beads(ids=sorted(named))} if named else {}
    for epic, one in named.items():
        key = f"review.features.{epic}"
        if epic not in beads:
            told = f"{key}: epic {epic} does not exist; add the epic, or remove the table from config.toml"
            yield Finding("features", WARNING, told)
        elif beads[epic].type is not BeadType.EPIC:
            told = f"{key}: {epic} is a {beads[epic].type}, not an epic, so the setting has no effect: name an epic"
            yield Finding("features", WARNING, told)
        if one.branch is not None and one.branch.startswith(default_epic_branch("")):
            other = one.branch.removeprefix(default_epic_branch(""))
            if other != epic and is_bead_id(other) and store.beads(ids=[other]):
                told = f"{key}.branch: {one.branch} is already the branch of {other}: choose another name"
                yield Finding("features", ERROR, told)


def epic_circles(store: "Store", config: "Config") -> Iterator[Blocker]:
    """Beads of different epics that wait for each other because people merge each epic as a whole."""
    rules = config.review.rules(config.main)
    if "epic" not in {rules.unit, *(one.unit for one in rules.features.values())} or not config.review.by_request:
        return
    nodes, dependencies = store.nodes(), store.dependencies()
    if deadlocks(nodes, dependencies):
        return  # said already
    epics = {node.id: node.epic for node in nodes}
    apart = {node.id for node in nodes if unit_of(_around(node.epic, epics), rules) != "epic"}
    seen = lift_to_epics((node._replace(epic=None) if node.id in apart else node for node in nodes), dependencies)
    for circle in deadlocks(nodes, list(seen)):
        meant = seen[circle.cut]
        epic, around = epics.get(meant.needs), " -> ".join((*circle.members, circle.members[0]))
        yield Blocker(
            BlockerKind.EPIC_CIRCLE,
            f"'{meant.bead}' cannot start: {around} wait for each other",
            f"'{meant.bead}' depends on '{meant.needs}', which is done only when all of '{epic}' is merged; put both "
            "beads into one epic, or remove the dependency",
            (f"nobrakes edit {meant.bead} --epic {epic}", f"nobrakes undepend {meant.bead} {meant.needs}"),
            beads=(meant.bead,),
        )


def _bases(store: "Store", config: "Config") -> Iterator[Finding]:
    if not bases(config):
        return
    rules = config.review.rules(config.main)
    nodes = {node.id: node for node in store.nodes()}
    epics = {node.id: node.epic for node in nodes.values()}
    found = []
    for one in store.dependencies():
        if one.type is not DependencyType.BLOCKS or nodes[one.bead].status in CLOSED:
            continue
        mine, other = (base_of(_around(bead, epics), rules) for bead in (one.bead, one.needs))
        if mine != other:
            found.append((one.bead, mine or rules.main, one.needs, other or rules.main))
    for bead, mine, needs, other in found[:_MAX_LISTED]:
        told = (
            f"{bead} starts from {mine} but needs {needs}, which people merge into {other}. Until people merge that "
            f"work into {mine}, hold the bead: `nobrakes hold {bead}`. Or type `nobrakes undepend {bead} {needs}`"
        )
        yield Finding("features", WARNING, told)
    if len(found) > _MAX_LISTED:
        yield Finding(
            "features",
            WARNING,
            f"and {count(len(found) - _MAX_LISTED, 'more bead needs', 'more beads need')} work from another branch",
        )


def _around(epic: str | None, epics: Mapping[str, str | None]) -> list[str]:
    found: list[str] = []
    while epic is not None and epic not in found:
        found.append(epic)
        epic = epics.get(epic)
    return found


def _orphans(store: "Store", git: "Git", pulls: "PullPorts") -> Iterator[Finding]:
    try:
        there = pulls.branches()
    except NobrakesError:
        return  # that it cannot be reached is said already
    waiting = {one.branch for one in store.pulls()}
    ours = {commit: name.split("/")[1] for name, commit in git.kept().items() if _is_pushed(name)}
    beads = {one.id: one.status for one in store.beads(ids=sorted(set(ours.values())))} if ours else {}
    for branch, commit in sorted(there.items()):
        bead = ours.get(commit)
        if bead is not None and branch not in waiting and beads.get(bead) in (None, *CLOSED):
            left = f"the branch {branch} is still at the remote, but its bead {bead} is closed: you can delete it"
            yield Finding(_NAME, WARNING, left)


def _is_pushed(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == 3 and (parts[0] == "pull" or (parts[0] == "archive" and parts[2].startswith("pull-")))


# The code host of a remote: chosen by the settings, else by its address.
_PROGRAMS = {"github": "gh", "gitlab": "glab"}


def address_of(setting: str, remote: str) -> Address | None:
    """The repository at its host; None: no code host. Raises ConfigError."""
    if not setting:
        return parse_remote_url(remote)
    found = named(setting)
    if found is None:
        why = f"review.code_host_repository is not a repository: {setting[:80]}"
        raise ConfigError(why, 'Write the repository like "github.com/owner/name".')
    return found


def kind_of(kind: str, setting: str, address: Address | None, knows: Callable[[str], bool]) -> str:
    """github, gitlab or git. `knows`: whether glab knows a host, called last."""
    if kind != "auto":
        return kind
    if address is None:
        return "git"
    if address.host in ("github.com", "gitlab.com"):
        return address.host.removesuffix(".com")
    if knows(address.host):
        return "gitlab"
    return "github" if setting else "git"


def code_host(
    kind: str, setting: str, remote: str, shown: str, asking: Callable[[str], Ask], clock: Callable[[], float]
) -> CodeHost:
    """`remote`: the remote's address, `shown`: for people; `asking`: runs programs for a host. ConfigError: gh or glab
    without a repository."""
    address = address_of(setting, remote)
    kind = kind_of(kind, setting, address, lambda host: Glab(host, asking(host), clock).knows())
    if kind == "git":
        return PlainGit(shown)
    if address is None or (kind == "github" and "/" in address.owner):
        raise ConfigError(
            f"nobrakes opens pull requests with {_PROGRAMS[kind]}, but the remote's address names no repository at a "
            f"code host: {shown[:200]}",
            'Set review.code_host_repository in .nobrakes/config.toml, like "github.com/owner/name".',
        )
    if kind == "gitlab":
        return GitLab(Glab(address.host, asking(address.host), clock), address)
    return GitHub(Gh(address.host, asking(address.host), clock), address)
