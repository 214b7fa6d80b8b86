"""The plan of a feature: its beads, the domains they touch, the rounds of its reviews, sign-off, acceptance criteria.

It imports little: `answer` loads it.

1. A round is one look of each domain's reviewer, in its own session, at one version of the plan. The first covers every
   touched domain; later ones those whose beads changed since their reviewer's last look, or all of them if none did.
2. A round is clean if somebody looked and found nothing. Two clean ones in a row of the last version, or ten rounds,
   are enough.
3. A failed reviewer degrades its round and delays nothing. If all fail, the round counts as no review; after two of
   these in a row a person is asked before a third.
4. A risk that a person accepted is not asked about again (same words, same bead).
5. When the reviews have cost their cap, a person continues or closes.
6. Signing off below ten rounds needs taking the risk, and with open findings a reason. Both are stored.
"""

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ..beads.model import CLOSED, CONTENT, Bead, BeadType, DependencyType, Status
from ..beads.proposals import CANCEL, LISTS, plain
from ..errors import NotAllowed, UsageError
from ..events.kinds import Event, Kind
from ..records import frozen, grouped
from ..text.cleaning import count, first_of
from . import model
from .model import (
    AUTOMATED,
    MANUAL,
    Criterion,
    Feature,
    Finding,
    FindingState,
    PlanReview,
    ReviewState,
    Stage,
    State,
    Step,
)

if TYPE_CHECKING:
    from ..config.sections import ForgeSettings
    from ..store import Store

_DEFAULTS: Mapping[str, Any] = {
    name: plain(getattr(Bead("x", "x"), name)) for name in CONTENT if name not in ("title", "type", "needs_tests")
}


def under(store: "Store", *epics: str) -> list[str]:
    """The beads under the epics at any depth, each level by priority, without the epics."""
    found: list[str] = []
    level, seen = [*epics], set(epics)
    while level:
        level = [id_ for id_ in store.listed(epics=level) if id_ not in seen]
        seen.update(level)
        found += level
    return found


def beads_under(store: "Store", epic: str) -> list[Bead]:
    ids = under(store, epic)
    return store.beads(ids=ids) if ids else []


def steps_under(store: "Store", epic: str) -> list[Bead]:
    return [bead for bead in beads_under(store, epic) if bead.type is not BeadType.EPIC]


def nodes_of(store: "Store", epic: str) -> list[dict[str, Any]]:
    """The plan now: a node for each bead by id, with `status` and live ones' `proposed`; without cancelled drafts."""
    return [_node(store, bead) for bead in beads_under(store, epic) if bead.status is not Status.CANCELLED]


def _node(store: "Store", bead: Bead) -> dict[str, Any]:
    node: dict[str, Any] = {"id": bead.id, "status": bead.status.value}
    for name in CONTENT:
        value = plain(getattr(bead, name))
        if name not in _DEFAULTS or value != _DEFAULTS[name]:
            node[name] = value
    edges = [edge for edge in store.dependencies(bead.id) if edge.bead == bead.id]
    for word, kind in LISTS.items():
        if kind is not DependencyType.PARENT_CHILD and (needs := sorted(e.needs for e in edges if e.type is kind)):
            node[word] = needs
    if bead.proposed:
        node["proposed"] = {part: kept["after"] for part, kept in sorted(bead.proposed.items())}
    return node


def is_dropped(node: Mapping[str, Any]) -> bool:
    return bool(node.get("proposed", {}).get(CANCEL))


def is_unchanged(store: "Store", feature: Feature) -> bool:
    """Whether the unapproved part of the plan equals the last version; live beads without changes do not count."""
    kept, nodes = store.plan_version(feature.id), nodes_of(store, feature.id)
    if kept is None:
        return False
    waits = {node["id"] for node in nodes if _waits(node)}
    over = {node["id"] for node in (*nodes, *filter(is_dropped, kept.beads))} - waits
    return _wanted(nodes) == _wanted(node for node in kept.beads if node["id"] not in over)


def _wanted(nodes: Iterable[Mapping[str, object]]) -> list[dict[str, object]]:
    return [{name: value for name, value in node.items() if name != "status"} for node in nodes if _waits(node)]


def _waits(node: Mapping[str, object]) -> bool:
    return node["status"] == Status.DRAFT.value or bool(node.get("proposed"))


def unsigned(store: "Store", drafts: Collection[str]) -> Feature | None:
    return next((feature for feature, _ in unsigned_plans(store, drafts)), None)


def unsigned_plans(store: "Store", drafts: Collection[str]) -> Iterator[tuple[Feature, frozenset[str]]]:
    """Features of these drafts with an unsigned plan, and their drafts; not plans that were never called complete."""
    for feature in store.features():
        if feature.stage not in model.PLANNED or not feature.plan:
            continue
        own = frozenset(drafts).intersection((feature.id, *under(store, feature.id)))
        signed = feature.data.get(model.SIGNED) if own else None
        if own and (not signed or int(signed["version"]) != feature.plan or not is_unchanged(store, feature)):
            yield feature, own


def without_plan(store: "Store", drafts: Collection[str]) -> set[str]:
    """The epics among these drafts of features under which nothing is proposed yet: there is nothing to approve."""
    planned = (one.id for one in store.features() if one.stage in model.PLANNED and one.id in drafts)
    return {epic for epic in planned if not set(drafts).intersection(under(store, epic))}


def unapproved(store: "Store") -> set[str]:
    return {*store.listed([Status.DRAFT])} | {one.id for one in store.proposed()}


YES = "nobrakes approve"
MAX_NAMED = 5
"""Open points named in a refusal."""


def approval(store: "Store", rules: "ForgeSettings") -> tuple[str, str]:
    """(command that approves everything waiting, command needed before it or empty)."""
    feature = unsigned(store, unapproved(store)) if store.features() else None
    return (YES, "") if feature is None else to_sign(store, rules, feature)


def to_sign(store: "Store", rules: "ForgeSettings", feature: Feature) -> tuple[str, str]:
    """The command to sign a plan off, and why."""
    id_, what = feature.id, f"the plan of feature {feature.id} is not signed off"
    if feature.state is not State.ACTIVE:
        may = Step.RESUMED in model.STATES[feature.state] and model.ROLLBACK not in feature.data
        may = may and not any(one.has_turn and one.id != id_ for one in store.features())
        state = feature.state.value.replace("_", " ")
        return f"nobrakes forge {'resume' if may else 'show'} {id_}", f"{what}, and the feature is {state}"
    if feature.stage is not Stage.REVIEW or not is_unchanged(store, feature):
        return f"nobrakes forge show {id_}", f"{what}, and the feature's Shaper is working on the plan"
    from . import planning

    seen = planning.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))
    if seen.iterations and seen.iterations[-1].end is End.RUNNING:
        return f"nobrakes forge reviews {id_}", f"{what}, and reviewers are reading the plan"
    if points := open_points(store, id_):
        return to_answer(points[0]), f"{what}; first answer {count(len(points), 'open point')}"
    few = warning(seen)
    more = (" --take-risk" if few else "") + (' --reason "…"' if seen.open else "")
    return f"nobrakes forge sign-off {id_}{more}", f"{what}; {few or count(seen.done, 'review')} done so far"


def open_points(store: "Store", feature: str) -> list[model.Item]:
    """The comments in its files that wait for a person's answer."""
    return [one for one in store.items(feature) if one.is_open_point]


def to_answer(point: model.Item) -> str:
    return f'nobrakes forge answer {point.feature} {point.id} "…"'


def require_answers(store: "Store", feature: str) -> None:
    """NotAllowed while an open point of the feature waits."""
    if points := open_points(store, feature):
        named = first_of([point.where for point in points], MAX_NAMED)
        raise NotAllowed(
            f"first answer {count(len(points), 'open point')} in the files of feature {feature}: {named}",
            f"Type: {first_of([f'`{to_answer(point)}`' for point in points], MAX_NAMED)}.",
        )


def hold(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Hold its live beads that are not held, in the caller's transaction; returns them."""
    done = []
    for bead in steps_under(store, feature):
        if bead.held is None and bead.status not in (Status.DRAFT, *CLOSED):
            store.record(
                Event(Kind.HELD, bead.id, actor=actor, data={"reason": model.HELD_WITH.format(feature=feature)})
            )
            done.append(bead.id)
    return tuple(done)


def let_go(store: "Store", feature: str, actor: str) -> tuple[str, ...]:
    """Release what is held only for the feature; returns the beads."""
    held = [bead.id for bead in steps_under(store, feature) if bead.held == model.HELD_WITH.format(feature=feature)]
    for id_ in held:
        store.record(Event(Kind.RELEASED, id_, actor=actor))
    return tuple(held)


def checkpoint(store: "Store", id_: str, actor: str) -> Feature:
    """Request a checkpoint, done once no other feature is planned. NoSuchFeature, NotAllowed."""
    with store.write():
        model.require(store.feature(id_), Stage.IMPLEMENTATION, "a checkpoint is only for a feature that agents build")
        return store.note_feature(id_, {model.CHECKPOINT_ASKED: True}, actor)


# What somebody said of a bead goes first (its labels), then where it changes files (`touches`), then its words. A bead
# of which nothing is known is backend; one that only writes documents is nobody's. Affected files count one each.
FRONTEND, BACKEND, DATABASE, DEVOPS, TEST = "frontend", "backend", "database", "devops", "test"
DOMAINS = (FRONTEND, BACKEND, DATABASE, DEVOPS, TEST)
"""In the order in which ties are broken."""

_LABELS: Mapping[str, frozenset[str]] = {
    FRONTEND: frozenset({"frontend", "front-end", "ui", "ux", "web", "css", "client"}),
    BACKEND: frozenset({"backend", "back-end", "api", "server", "service", "core"}),
    DATABASE: frozenset({"database", "db", "sql", "schema", "migration", "migrations", "storage"}),
    DEVOPS: frozenset({"devops", "ci", "cd", "infra", "infrastructure", "deploy", "deployment", "build", "docker"}),
    TEST: frozenset({"test", "tests", "testing", "qa", "e2e"}),
}
_FOLDERS: Mapping[str, frozenset[str]] = {
    TEST: frozenset({"test", "tests", "spec", "specs", "__tests__", "e2e", "cypress"}),
    DEVOPS: frozenset(
        {".github", ".gitlab", ".circleci", ".ci", "ci", "deploy", "deployment", "infra", "helm", "k8s", "terraform"}
    ),
    DATABASE: frozenset({"migrations", "migration", "db", "database", "schema", "schemas", "sql", "prisma"}),
    FRONTEND: frozenset(
        {"frontend", "client", "components", "pages", "ui", "web", "views", "templates", "static", "styles", "public"}
    ),
}
"""In order of precedence: a test of pages is a test; a migration folder counts anywhere."""
_SUFFIXES: Mapping[str, frozenset[str]] = {
    DATABASE: frozenset({".sql", ".prisma", ".ddl"}),
    DEVOPS: frozenset({".tf", ".hcl", ".dockerfile"}),
    FRONTEND: frozenset({".tsx", ".jsx", ".css", ".scss", ".sass", ".less", ".html", ".htm", ".vue", ".svelte"}),
}
_FILES = frozenset({"dockerfile", "makefile", "jenkinsfile", "procfile", ".gitlab-ci.yml", "tox.ini"})
_DOCUMENTS = frozenset({".md", ".rst", ".txt", ".adoc"})
_DOMAIN_NAMES: Mapping[str, frozenset[str]] = {
    FRONTEND: frozenset(
        {"page", "pages", "button", "screen", "browser", "css", "html", "frontend", "layout", "responsive", "ui"}
    ),
    BACKEND: frozenset(
        {
            "api",
            "endpoint",
            "endpoints",
            "server",
            "service",
            "handler",
            "parser",
            "command",
            "cli",
            "backend",
            "request",
        }
    ),
    DATABASE: frozenset(
        {"database", "sql", "sqlite", "postgres", "migration", "migrations", "schema", "table", "query", "index"}
    ),
    DEVOPS: frozenset(
        {
            "ci",
            "pipeline",
            "docker",
            "container",
            "deploy",
            "deployment",
            "kubernetes",
            "terraform",
            "systemd",
            "release",
        }
    ),
    TEST: frozenset({"fixture", "fixtures", "coverage", "e2e", "benchmark", "fuzz", "flaky"}),
}


def path_domain(path: str) -> str | None:
    """The domain of a file or glob; None for e.g. a document."""
    parts = [part.lower() for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    name = parts[-1] if parts else ""
    stem, suffix = posixpath.splitext(name)
    tests = (stem.startswith("test_"), stem.endswith(("_test", ".test", ".spec", "_spec")), name == "conftest.py")
    if any(tests):
        return TEST
    for domain, folders in _FOLDERS.items():
        if folders & set(parts):
            return domain
    if name in _FILES or name.startswith(("dockerfile.", "docker-compose")):
        return DEVOPS
    found = next((domain for domain, suffixes in _SUFFIXES.items() if suffix in suffixes), None)
    return found if found or suffix in _DOCUMENTS else BACKEND


def bead_domains(bead: Mapping[str, Any]) -> frozenset[str]:
    """The domains that a bead touches, given in plan file format."""
    if bead.get("type") == "epic":
        return frozenset()
    labels = {str(label).lower() for label in bead.get("labels") or ()}
    if said := {domain for domain, words in _LABELS.items() if words & labels}:
        return frozenset(said)
    if touches := [str(path) for path in bead.get("touches") or ()]:
        return frozenset(found for found in map(path_domain, touches) if found)
    if bead.get("type") == "docs":
        return frozenset()
    texts = (bead.get("title"), bead.get("description"), *(bead.get("acceptance") or ()))
    words = {word.strip(".,:;!?()'\"`").lower() for text in texts for word in str(text or "").split()}
    meant = {domain for domain, known in _DOMAIN_NAMES.items() if known & words}
    if bead.get("type") == "test":
        meant.add(TEST)
    return frozenset(meant or {BACKEND})


def touched(plan: Sequence[Mapping[str, Any]], files: Iterable[str], most: int) -> tuple[str, ...]:
    """The domains that the plan touches, most touched first; at least one."""
    count = Counter(domain for bead in plan for domain in bead_domains(bead))
    count.update(found for found in map(path_domain, files) if found)
    ranked = sorted(count, key=lambda domain: (-count[domain], DOMAINS.index(domain)))
    return tuple(ranked[: max(1, most)]) or (BACKEND,)


def changed(before: Sequence[Mapping[str, Any]], now: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The domains of beads that differ between two versions; removed ones count, build progress does not."""
    found = model.changes(before, now)
    differ = {str(bead["id"]) for bead in (*found.added, *found.gone)} | {one.id for one in found.changed}
    sides = [bead for bead in (*before, *now) if bead["id"] in differ]
    return frozenset(domain for bead in sides for domain in bead_domains(bead))


MAX_DEGRADED = 2
"""Rounds in a row without a finished reviewer before a person is asked."""
DEFAULT_USD = 0.5
"""Assumed cost of a reviewer before any has finished."""


class End(StrEnum):
    """How a round ended, or that it runs."""

    RUNNING = "running"
    CLEAN = "clean"
    FINDINGS = "findings"
    DEGRADED = "degraded"  # no reviewer finished


@frozen
class Iteration:
    """One round as people see it. `categories` and `priorities` count its findings."""

    number: int
    plan: int
    end: End
    domains: tuple[str, ...]
    failed: tuple[str, ...] = ()
    categories: Mapping[str, int] = field(default_factory=dict)
    priorities: Mapping[int, int] = field(default_factory=dict)
    open: int = 0
    accepted: int = 0

    @property
    def found(self) -> int:
        return sum(self.categories.values())


@frozen
class Tracker:
    """All rounds of a feature."""

    most: int
    iterations: tuple[Iteration, ...] = ()

    @property
    def done(self) -> int:
        """Rounds in which at least one reviewer finished."""
        return len(self._looked())

    @property
    def clean(self) -> int:
        """How many of the last rounds with a finished reviewer found nothing in the same version."""
        return _last([one.end for one in self._looked() if one.plan == self.looked_at], End.CLEAN)

    @property
    def looked_at(self) -> int:
        """The version reviewed last; 0: none."""
        return max((one.plan for one in self._looked()[-1:]), default=0)

    def _looked(self) -> list[Iteration]:
        return [one for one in self.iterations if one.end in (End.CLEAN, End.FINDINGS)]

    @property
    def degraded(self) -> int:
        """How many of the last rounds in a row had no finished reviewer."""
        return _last([one.end for one in self.iterations if one.end is not End.RUNNING], End.DEGRADED)

    @property
    def open(self) -> int:
        return sum(one.open for one in self.iterations)


def tracker(rules: "ForgeSettings", reviews: Iterable[PlanReview], findings: Iterable[Finding]) -> Tracker:
    of_round = grouped((review.round, review) for review in reviews)
    found = grouped((finding.round, finding) for finding in findings)
    return Tracker(rules.most_rounds, tuple(_iteration(n, of_round[n], found.get(n, [])) for n in sorted(of_round)))


def _iteration(number: int, reviews: Sequence[PlanReview], findings: Sequence[Finding]) -> Iteration:
    states = {review.state for review in reviews}
    if ReviewState.RUNNING in states:
        end = End.RUNNING
    elif findings:
        end = End.FINDINGS
    else:
        end = End.CLEAN if ReviewState.DONE in states else End.DEGRADED
    return Iteration(
        number,
        max(review.plan for review in reviews),
        end,
        tuple(review.domain for review in reviews),
        tuple(review.domain for review in reviews if review.state is ReviewState.FAILED),
        Counter(finding.category for finding in findings),
        Counter(finding.priority for finding in findings),
        sum(finding.state is FindingState.OPEN for finding in findings),
        sum(finding.state is FindingState.RISK_ACCEPTED for finding in findings),
    )


def _last(ends: Sequence[End], wanted: End) -> int:
    count = 0
    for end in reversed(ends):
        if end is not wanted:
            break
        count += 1
    return count


def looks(
    rules: "ForgeSettings", plans: Sequence[model.PlanVersion], reviews: Sequence[PlanReview], files: Iterable[str] = ()
) -> tuple[str, ...]:
    """The domains to review in the next round, at the last of `plans`; `files`: the affected ones."""
    by_number = {plan.number: plan for plan in plans}
    now = max(by_number)
    all_touched = touched(by_number[now].beads, files, rules.most_domains)
    if not reviews:
        return all_touched
    seen: dict[str, int] = {}
    for review in reviews:
        if review.state is ReviewState.DONE:
            seen[review.domain] = max(seen.get(review.domain, 0), review.plan)
    again = [
        domain
        for domain in all_touched
        if seen.get(domain) not in by_number or domain in changed(by_number[seen[domain]].beads, by_number[now].beads)
    ]
    return tuple(again) or all_touched


class Then(StrEnum):
    """What comes after the reviews so far."""

    WAIT = "wait"  # for reviewers
    DECIDE = "decide"  # findings of the last round wait for people
    BEGIN = "begin"  # the next round
    SIGN_OFF = "sign_off"  # it is enough
    ASK_DEGRADED = "ask_degraded"
    ASK_COST = "ask_cost"


def then(rules: "ForgeSettings", seen: Tracker, version: int, spent: float, cap: float, forgiven: int = 0) -> Then:
    """What comes next for a ready version. `cap`: of costs. `forgiven`: the last degraded round a person accepted."""
    last = seen.iterations[-1] if seen.iterations else None
    if last is not None and last.end is End.RUNNING:
        return Then.WAIT
    if seen.open:
        return Then.DECIDE
    is_clean = seen.looked_at == version and seen.clean >= rules.clean_rounds
    if is_clean or len(seen.iterations) >= rules.most_rounds:
        return Then.SIGN_OFF
    if last is not None and seen.degraded >= MAX_DEGRADED and last.number >= forgiven + MAX_DEGRADED:
        return Then.ASK_DEGRADED
    return Then.ASK_COST if spent >= cap else Then.BEGIN


def same(one: Finding, other: Finding) -> bool:
    return (one.bead, _words(one.issue)) == (other.bead, _words(other.issue))


def _words(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


def decided_before(new: Finding, earlier: Iterable[Finding]) -> Finding | None:
    """The earlier finding with the same words whose risk a person accepted, or None."""
    taken = (one for one in earlier if one.state is FindingState.RISK_ACCEPTED)
    return next((one for one in taken if same(new, one)), None)


@frozen
class Estimate:
    """Cost of reviews in dollars: the next round, all possible rounds, and the cap. `known`: from finished reviewers,
    not DEFAULT_USD."""

    round_usd: float
    all_usd: float
    cap_usd: float
    spent_usd: float
    reviewers: int
    known: bool


def estimate(
    rules: "ForgeSettings", domains: int, rounds: int, costs: Sequence[float], spent: float, cap: float
) -> Estimate:
    """For `domains` reviewers after `rounds` rounds. `costs`: of each finished reviewer."""
    priced = [cost for cost in costs if cost > 0]
    each = sum(priced) / len(priced) if priced else DEFAULT_USD
    whole = min(each * domains * max(0, rules.most_rounds - rounds), max(0.0, cap - spent))
    return Estimate(each * domains, whole, cap, spent, domains, bool(priced))


@frozen
class SignOff:
    """A person's stored approval of a plan version."""

    version: int
    reviews: int
    most: int
    actor: str
    at: float
    risk: bool = False
    reason: str = ""
    open: int = 0
    degraded: tuple[str, ...] = ()


def warning(seen: Tracker) -> str:
    """The risk of signing off now; empty: none."""
    return "" if seen.done >= seen.most else f"{seen.done} of {count(seen.most, 'review')}"


def sign_off(seen: Tracker, version: int, actor: str, at: float, risk: bool, reason: str) -> SignOff:
    """The sign-off to store. NotAllowed: no plan, a running round, or a missing risk or reason."""
    if version < 1:
        raise NotAllowed("there is no plan to sign off yet", "You get a notice when the plan is ready.")
    last = seen.iterations[-1] if seen.iterations else None
    if last is not None and last.end is End.RUNNING:
        raise NotAllowed(
            f"round {last.number} of the plan reviews is still running",
            "Wait until the review round ends, or pause the feature to end the round.",
        )
    if (few := warning(seen)) and not risk:
        raise NotAllowed(f"only {few} of the plan are done", f'To accept the risk ("{few}"), add --take-risk.')
    why = " ".join(reason.split())
    if seen.open and not why:
        plural = "finding is" if seen.open == 1 else "findings are"
        raise NotAllowed(
            f"{seen.open} {plural} undecided", 'Decide about them on the Desk, or sign off with a reason: --reason "…".'
        )
    failed = dict.fromkeys(domain for one in seen.iterations for domain in one.failed)
    return SignOff(version, seen.done, seen.most, actor, at, bool(few), why[:2000], seen.open, tuple(failed))


# The acceptance criteria that every feature begins with. What a check of the project says blocks a merge by itself;
# what no check says is for a person to try; how errors are handled is for a review. A person takes any away, and adds
# more.
REVIEW = "review"
WAYS = (AUTOMATED, MANUAL, REVIEW)
MAX_CRITERIA, MAX_CRITERION = 40, 500


@frozen
class Stack:
    """The project's check commands by kind, empty if there is none, and its language."""

    tests: str = ""
    types: str = ""
    lint: str = ""
    is_web: bool = False
    language: str = ""


def default_criteria(stack: Stack) -> tuple[Criterion, ...]:
    """The eight, in their order."""
    typed = "TypeScript " if stack.language == "typescript" else ""
    web = (
        Criterion("The browser's console shows no errors", MANUAL),
        Criterion("The pages fit a phone and a wide screen (responsive)", MANUAL),
        Criterion("The pages show when they are loading (loading states)", MANUAL),
    )
    terminal = (
        Criterion("Nothing unexpected is written to stderr or the log: no warnings, no tracebacks", MANUAL),
        Criterion("The output fits a narrow terminal (responsive)", MANUAL),
        Criterion("Slow commands show that they are working (loading states)", MANUAL),
    )
    reached = "with the keyboard and a screen reader" if stack.is_web else "without colours and in plain text"
    return (
        _checked("The tests pass", stack.tests),
        _checked(f"There are no {typed}type errors", stack.types),
        _checked("There are no lint errors", stack.lint),
        *(web if stack.is_web else terminal),
        Criterion("Errors are handled: each message says what happened and what to do", REVIEW),
        Criterion(f"Everybody can use the feature: {reached} (accessibility)", MANUAL),
    )


def _checked(text: str, command: str) -> Criterion:
    return Criterion(f"{text}: `{command}`", AUTOMATED) if command else Criterion(text, MANUAL)


def chosen(eight: Sequence[Criterion], without: Collection[int], own: Sequence[str]) -> tuple[Criterion, ...]:
    """The usual criteria without these numbers (from 1), then a person's own. UsageError. An own one may begin with how
    it is judged: "review: the API stays as it is"; else a person judges."""
    if wrong := sorted(number for number in without if not 1 <= number <= len(eight)):
        raise UsageError(f"there is no standard criterion {wrong[0]}", f"Use a criterion's number, 1 to {len(eight)}.")
    kept = [one for number, one in enumerate(eight, start=1) if number not in without]
    kept += [own_one(text) for text in own if text.strip()]
    if not kept:
        raise UsageError("a feature needs an acceptance criterion", "Keep a standard criterion, or give your own.")
    if len(kept) > MAX_CRITERIA:
        raise UsageError(f"a feature has at most {MAX_CRITERIA} acceptance criteria, not {len(kept)}")
    return tuple(dict.fromkeys(kept))


def own_one(text: str) -> Criterion:
    """A person's criterion from their words. UsageError."""
    how, colon, rest = text.partition(":")
    judged = how.strip().lower()
    if not (words := " ".join((rest if colon and judged in WAYS else text).split())):
        raise UsageError("a criterion is empty", "Write what has to be true when the feature is done.")
    if len(words) > MAX_CRITERION:
        raise UsageError(f"a criterion has at most {MAX_CRITERION} characters, not {len(words)}")
    return Criterion(words, judged if colon and judged in WAYS else MANUAL, usual=False)
