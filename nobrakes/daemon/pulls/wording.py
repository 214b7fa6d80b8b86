"""What a request's text is made of: records of the store and of git, without what is secret in them; and what others
wrote about it.
"""

from dataclasses import replace

from ...core.beads.bead import NO_AGENTS, Bead, BeadType, Role, blockers_of
from ...core.checks.test_counts import TestCounts
from ...core.errors import FileTooLarge
from ...core.forge.criteria import MANUAL
from ...core.pulls import text
from ...core.pulls.happened import of_auto_merge
from ...core.pulls.pull import PullRequest, Seen
from ...core.review import reading
from ...ports.codehosts import Wanted
from ...roles.plan_beads import epics_above
from .. import epics
from ..checks.proofs import clean
from ..checks.validation import counts_of
from ..lives import last_merge
from ..ports import Ports

_TEMPLATE = 100_000


def wanted(ports: Ports, bead: Bead, pull: PullRequest, base_branch: str) -> Wanted:
    """The request as it should be."""
    settings = ports.config().review
    line = text.mark(bead.id)
    body = clean(ports, text.body(_facts(ports, bead, pull, base_branch), line))
    if line not in body.splitlines():  # what looked like a secret took it along
        body = f"{body}\n{line}\n"
    return Wanted(
        pull.branch,
        base_branch,
        clean(ports, text.title(bead)),
        body,
        line,
        settings.pull_draft,
        settings.pull_labels,
        settings.pull_reviewers,
        settings.pull_auto_merge and of_auto_merge(pull.head) not in pull.told,
    )


def _facts(ports: Ports, bead: Bead, pull: PullRequest, base_branch: str) -> text.Facts:
    store, git = ports.store, ports.git
    settings = ports.config().review
    passed = store.validation(git.tree(pull.head), pull.contract) or {}
    before = counts_of(store.validation(git.tree(pull.base), pull.contract))
    after = counts_of(passed)
    within = [one.bead for one in epics.landings(ports, bead.id)] if bead.type is BeadType.EPIC else []
    past = [one for each in (bead, *within) for one in store.attempts(each.id) if one.role not in NO_AGENTS]
    readings = reading.of_sessions(store.code_reviews(bead.id))
    names = dict.fromkeys(f"{one.name} ({one.agent}{f', {one.model}' if one.model else ''})" for one in past)
    return text.Facts(
        bead,
        pull.base,
        base_branch,
        pull.head,
        checks=passed.get("results", ()),
        before=_passing(before),
        after=_passing(after),
        attempts=len(past),
        manual=_manual(ports, bead),
        read=[one.as_values() for one in reading.since(readings, last_merge(store, bead.id))],
        epic=_epic(ports, bead),
        needs=_needs(ports, bead),
        within=within,
        below=_below(ports, bead),
        files=[change.path for change in git.changes(pull.base, pull.head)],
        template=_template(ports, pull.base),
        names=tuple(names) if settings.pull_names else (),
        cost=f"${sum(one.cost_usd for one in past):.2f}" if settings.pull_cost else "",
    )


def _below(ports: Ports, bead: Bead) -> tuple[str, str] | None:
    below = epics.below_of(ports, bead)
    under = ports.store.pull(below) if below else None
    return (below, under.name) if under is not None else None


def _passing(counts: TestCounts | None) -> int | None:
    return None if counts is None else counts.passed


def _manual(ports: Ports, bead: Bead) -> list[str]:
    """What a person has to try: of the feature that the bead is a step of."""
    above = [bead.id, *(epics_above(ports.store, bead) if bead.epic else ())]
    features = [one for one in ports.store.features(going=False) if one.id in above]
    return [one.text for feature in features for one in feature.criteria if one.how == MANUAL]


def _epic(ports: Ports, bead: Bead) -> tuple[str, str] | None:
    return (bead.epic, ports.store.bead(bead.epic).title) if bead.epic else None


def _needs(ports: Ports, bead: Bead) -> list[tuple[str, str]]:
    needs = blockers_of(bead.id, ports.store.dependencies(bead.id))
    return [(one, ports.store.bead(one).title) for one in needs]


def _template(ports: Ports, base: str) -> str:
    """The repository's own template, as its base has it; empty: it has none."""
    for path in text.TEMPLATES:
        try:
            found = ports.git.read(base, path, _TEMPLATE)
        except FileTooLarge:
            continue
        if found is not None:
            return found.decode("utf-8", "replace")
    return ""


def without_secrets(ports: Ports, seen: Seen) -> Seen:
    """What others wrote, as it may be kept and shown."""
    return replace(
        seen,
        checks=[replace(one, name=clean(ports, one.name), says=clean(ports, one.says)) for one in seen.checks],
        remarks=[replace(one, text=clean(ports, one.text), path=clean(ports, one.path)) for one in seen.remarks],
    )


def answers(ports: Ports, bead: str) -> list[str]:
    """What the last two who handed in said of their work, and as which commit."""
    done = [one for one in ports.store.attempts(bead) if one.role is Role.DOER and one.head]
    return [
        clean(ports, f"{one.name}, attempt {one.number}, {str(one.head)[:12]}: {one.log.summary or 'it said nothing'}")
        for one in done[-2:]
    ]
