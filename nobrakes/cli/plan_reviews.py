"""The reviews of a feature's plan, the sign-off that commit-strategy asks for, and checkpoints."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.public.values import plain
from ..wording.text import count, one_line
from .output import Output, said
from .repository import FeatureId, actor, looked_at, opened

if TYPE_CHECKING:
    from ..core.forge.rounds import Estimate, Iteration
    from ..operations.forging.plan_reviews import ReviewsView

BAR = 20


def reviews(feature: FeatureId) -> Output:
    """The reviews of a feature's plan: how many of ten, what each found, what they cost and may cost.

    Example: nobrakes forge reviews nb-k3f9q2
    """
    from ..operations.forging import plan_reviews

    with looked_at() as app:
        found = plan_reviews.reviews(app.store, app.config.forge.rules(), feature)
    return Output(plain(found), lambda screen: "\n".join(_lines(found)))


def sign_off(
    feature: FeatureId,
    take_risk: Annotated[
        bool, Option("--take-risk", help="You take the risk of fewer reviews than are recommended.")
    ] = False,
    reason: Annotated[str, Option("--reason", help="Why, where findings are not decided; it is kept.")] = "",
) -> Output:
    """Sign a feature's plan off. Its drafts go live by `nobrakes commit-strategy` and nothing else.

    With fewer reviews than are recommended it needs --take-risk, with findings that nobody decided a --reason; these
    count as accepted risks then. A plan that is changed afterwards needs another sign-off.

    Example: nobrakes forge sign-off nb-k3f9q2 --take-risk
    """
    from ..operations.forging.sign_off import sign_off as sign
    from ..operations.waking import wake

    with opened() as app:
        kept = sign(app.store, app.config.forge.rules(), feature, actor(), take_risk=take_risk, reason=reason)
        wake(app.paths)
    risk = f", with the risk of {kept.reviews} of {kept.most} reviews" if kept.risk else ""
    told = f"version {kept.version} of the plan of {feature} is signed off{risk}: nothing is live yet. "
    return said(plain(kept), told + "Now: nobrakes commit-strategy")


def checkpoint(feature: FeatureId) -> Output:
    """Bring what was collected while a feature is built to its plan, now. Its live beads go on.

    Example: nobrakes forge checkpoint nb-k3f9q2
    """
    from ..operations.forging.asking_checkpoint import checkpoint as ask
    from ..operations.waking import wake

    with opened() as app:
        found = ask(app.store, feature, actor())
        waiting = sum(one.state.value == "waiting" for one in app.store.items(feature))
        wake(app.paths)
    return said(plain(found), f"feature {feature} goes back to its plan with {count(waiting, 'collected item')}")


def _lines(found: "ReviewsView") -> Iterator[str]:
    full = round(BAR * min(1.0, found.done / found.most))
    yield f"{found.done}/{found.most} reviews  [{'#' * full}{'.' * (BAR - full)}]  {found.clean} clean in a row"
    for one in found.iterations:
        yield f"  {_iteration(one)}"
    for review in found.running:
        yield f"  {review.domain} looks at version {review.plan} now"
    for finding in found.findings:
        about = f" ({finding.bead})" if finding.bead else ""
        answer = f": {one_line(finding.answer)}" if finding.answer else ""
        state = finding.state.value.replace("_", " ")
        yield f"  P{finding.priority} {finding.category}{about}: {one_line(finding.issue)} [{state}{answer}]"
    yield _cost(found.estimate, found.next)
    if found.signed:
        yield f"signed off: version {found.signed['version']}, by {one_line(str(found.signed['actor']))}"
    elif found.version and found.warning:
        yield f"To go on now: nobrakes forge sign-off {found.feature} --take-risk ({found.warning})"
    elif found.version:
        yield f"To go on now: nobrakes forge sign-off {found.feature}"


def _iteration(one: "Iteration") -> str:
    by_category = ", ".join(f"{name} {number}" for name, number in sorted(one.categories.items()))
    what = {"running": "is running", "clean": "found nothing", "degraded": "nobody came through"}
    text = what.get(one.end.value) or f"{count(one.found, 'finding')} ({by_category})"
    failed = f"; failed: {', '.join(one.failed)}" if one.failed else ""
    open_ = f"; {one.open} open" if one.open else ""
    return f"round {one.number}, version {one.plan}, {', '.join(one.domains)}: {text}{open_}{failed}"


def _cost(cost: "Estimate", domains: tuple[str, ...]) -> str:
    basis = "by the reviewers so far" if cost.known else "estimated; none has come through yet"
    return (
        f"next round: {', '.join(domains) or 'nobody'}; about ${cost.round_usd:.2f} ({basis}), all that may follow "
        f"about ${cost.all_usd:.2f}; spent ${cost.spent_usd:.2f} of at most ${cost.cap_usd:.2f}"
    )
