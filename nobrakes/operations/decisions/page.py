"""One escalation with all that a person needs to decide it.

1. What git or the settings cannot tell is left out, and said where it belongs; the question and the choices are shown
   in any case.
2. What is about no bead (a session's question, a red main) asks nothing of a branch.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...core.beads.attempt import Attempt
from ...core.beads.bead import CLOSED, Bead, blocked_by
from ...core.beads.escalations import FAILURES, OF_A_WAIT, STOPS_BEAD, UNKNOWN, Escalation, EscalationType
from ...core.beads.taking import is_by_person, submitted
from ...core.board import Limits
from ...core.errors import NobrakesError
from ...core.limits.caps import Amount
from ...ports.store import Store
from ...wording.glossary import CAUSES, ESCALATIONS
from . import branch as branches
from .choices import Stakes, choices
from .conflict import conflict
from .evidence import sections
from .excerpts import WHOLE, excerpt, of_lines
from .tried import last_words, tried
from .view import AboutBead, Asked, BranchDifference, Choice, ConflictView, DecisionView

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...paths import Paths
    from ...ports.git import Git

HAPPENED, CRITERIA, DESCRIPTION, WAITING = 14, 8, 4, 20
_WITHOUT_BRANCH = frozenset((EscalationType.DOER_SUGGESTION, *OF_A_WAIT))


def decision(
    store: Store,
    paths: "Paths",
    git: "Callable[[], Git]",
    config: "Callable[[], Config]",
    n: int,
    is_whole: bool = False,
) -> DecisionView:
    """What a person is shown of escalation `n`; NoSuchEscalation. `is_whole`: nothing is cut.

    `git` and `config` are asked for only where the escalation is about a bead.
    """
    found = store.escalation(n)
    whole = f"nobrakes escalation {n} --all"
    about = None if found.bead is None else store.bead(found.bead)
    attempts = [] if about is None else store.attempts(about.id)
    shown, earlier = tried(found, attempts, is_whole)
    difference, clash, ref = _of_git(store, git, found, attempts, is_whole)
    stakes = _stakes(store, config, about, attempts, ref)
    return DecisionView(
        **_own(found),
        cause=CAUSES[found.type],
        means=ESCALATIONS[found.type],
        happened=excerpt(found.detail, WHOLE if is_whole else HAPPENED, whole),
        about=None if about is None else _about(about, stakes, is_whole),
        choices=choices(found, stakes),
        mend=mend(found) if found.resolved_at is None else (),
        tried=shown,
        earlier=earlier,
        last=last_words(store, paths, found, attempts),
        sections=sections(found, whole, is_whole),
        difference=difference,
        conflict=clash,
        others=_others(store, found),
    )


def listed(store: Store, all: bool = False) -> list[Asked]:
    """What waits for a person, the most urgent first, each with its bead's title and why it is asked."""
    found = store.escalations(open_only=not all)
    ids = {one.bead for one in found if one.bead}
    titles = {bead.id: bead.title for bead in store.beads(ids=ids)} if ids else {}
    return [Asked(**_own(one), cause=CAUSES[one.type], subject=titles.get(one.bead or "", "")) for one in found]


def choices_of(store: Store, config: "Callable[[], Config]", n: int) -> tuple[Choice, ...]:
    """The ways to decide escalation `n`, without what git knows of it."""
    found = store.escalation(n)
    about = None if found.bead is None else store.bead(found.bead)
    attempts = [] if about is None else store.attempts(about.id)
    return choices(found, _stakes(store, config, about, attempts, ""))


def _own(found: Escalation) -> dict[str, Any]:
    own = {one.name: getattr(found, one.name) for one in fields(Escalation)}
    return own if found.hypothesis or found.type not in FAILURES else {**own, "hypothesis": UNKNOWN}


def _about(bead: Bead, stakes: Stakes, is_whole: bool) -> AboutBead:
    command = f"nobrakes show {bead.id}"
    criteria, description = (WHOLE, WHOLE) if is_whole else (CRITERIA, DESCRIPTION)
    return AboutBead(
        bead.id,
        bead.title,
        bead.status,
        of_lines(bead.acceptance, criteria, command),
        excerpt(bead.description, description, command),
        bead.failures,
        stakes.waiting[:WAITING],
    )


def _stakes(
    store: Store, config: "Callable[[], Config]", bead: Bead | None, attempts: Sequence[Attempt], ref: str
) -> Stakes:
    if bead is None:
        return Stakes()
    minutes = sum((one.ended_at or one.started_at) - one.started_at for one in attempts) / 60
    spent = Amount(sum(one.cost_usd for one in attempts), sum(one.tokens for one in attempts), minutes)
    done = submitted(attempts) if is_by_person(attempts) else None
    return Stakes(bead, _limits(store, config), spent, _waiting(store, bead), ref, done.name if done else "")


def _limits(store: Store, config: "Callable[[], Config]") -> Limits | None:
    from .. import control

    try:
        return control.limits(store, config())
    except NobrakesError:
        return None


def _waiting(store: Store, bead: Bead) -> tuple[str, ...]:
    """The open beads that wait for this one directly."""
    ids = blocked_by(bead.id, store.dependencies(bead.id))
    return tuple(one.id for one in store.beads(ids=ids) if one.status not in CLOSED) if ids else ()


def _of_git(
    store: Store, git: "Callable[[], Git]", found: Escalation, attempts: Sequence[Attempt], is_whole: bool
) -> tuple[BranchDifference | None, ConflictView | None, str]:
    """The difference, the conflict, and the ref that keeps the branch."""
    if found.bead is None or found.type in _WITHOUT_BRANCH:
        return None, None, ""
    is_conflict = found.type is EscalationType.CONFLICT
    if not is_conflict and not any(one.head for one in attempts) and not found.evidence.get("head"):
        return None, None, ""
    try:
        repository = git()
        where = branches.branch(repository, found, attempts)
        clash = conflict(store, repository, found, where, is_whole) if is_conflict else None
        ref = where.ref if where else ""
        return branches.difference(repository, found.bead, where, is_whole), clash, ref
    except NobrakesError as error:
        return BranchDifference(missing=str(error)), ConflictView(missing=str(error)) if is_conflict else None, ""


def _others(store: Store, found: Escalation) -> tuple[int, ...]:
    if found.bead is None or found.resolved_at is not None:
        return ()
    return tuple(one.id for one in store.escalations(bead=found.bead) if one.id != found.id and one.type in STOPS_BEAD)


def mend(found: Escalation) -> tuple[str, ...]:
    """What to do first, where deciding alone does not help."""
    bead = found.bead or ""
    by_type = {
        EscalationType.BROKEN_CHECKS: (
            "Mend the check that is named above ([[checks]] in .nobrakes/config.toml), or install what it needs.",
        ),
        EscalationType.BROKEN_ENVIRONMENT: ("Mend what is named above. `nobrakes doctor` says what else is wrong.",),
        EscalationType.CAP_REACHED: (
            "Raise the cap that is named above in .nobrakes/config.toml: else the same is asked again at once.",
        ),
        EscalationType.CHECKOUT_BEHIND: (
            "Do in the checkout what the text above says: the merge goes on by itself, and this closes.",
        ),
        EscalationType.NOBRAKES_FAILED: (
            "Look at what is named above: a file of an odd kind in the bead's workspace, or a bug of nobrakes.",
        ),
        EscalationType.MERGE_HELD_UP: (
            "Mend what is named above: the merge goes on by itself, and this closes.",
            "`nobrakes run` looks at it again.",
        ),
        EscalationType.WEAK_TESTS: (f'Say more exactly what has to be proven: nobrakes edit {bead} --acceptance "…"',),
    }
    if found.type is EscalationType.MAIN_RED and found.bead is None:
        return (
            "Commit on main what makes its checks pass; or have an agent do it:",
            'nobrakes add "What is to be mended" --type repair',
            "Once main is green this closes by itself, and merges go on.",
        )
    return by_type.get(found.type, ())
