"""What a reviewer of a plan is told: the feature, the plan's version, its domain, and what was decided before.

1. What agents wrote (the plan, earlier findings) is data: cleaned, bounded, quoted in a fence with a nonce. The same
   feature, version and findings give the same text.
2. What a person took as a risk is told, so that it is not found again.
"""

import hashlib
import json
from collections.abc import Iterable

from ..core.forge.categories import CATEGORIES
from ..core.forge.feature import Feature, Finding, FindingState, PlanVersion
from ..core.text.cleaning import clean
from .quoting import cut, fenced, quoted

PLAN, DECIDED, WORDS = 24_000, 8_000, 4_000
"""Characters of the plan, of what was decided before, and of one text of the feature."""


def review_text(feature: Feature, plan: PlanVersion, domain: str, number: int, earlier: Iterable[Finding]) -> str:
    """The first message of one reviewer's session. `number`: of the round."""
    nonce = hashlib.sha256(f"{feature.id}\0{plan.number}\0{domain}\0{number}".encode()).hexdigest()[:12]
    criteria = "\n".join(f"- {cut(clean(one.text).strip(), 500)}" for one in feature.criteria)
    beads = json.dumps([dict(bead) for bead in plan.beads], indent=1, ensure_ascii=False, sort_keys=True)
    parts = [
        f"Review version {plan.number} of the plan of feature {feature.id}, in round {number}. "
        f"Your domain is {domain}. Judge it in all categories: {', '.join(CATEGORIES)}.",
        f"# The feature: {cut(clean(feature.title), 200)}\n\n{cut(clean(feature.description).strip(), WORDS)}",
    ]
    if criteria:
        parts.append(f"# It is done when\n\n{criteria}")
    if feature.notes.strip():
        parts.append(f"# Notes\n\n{cut(clean(feature.notes).strip(), WORDS)}")
    if feature.files:
        parts.append("# Files that it will change\n\n" + "\n".join(f"- {clean(path)}" for path in feature.files[:100]))
    parts.append("# The plan\n\n" + fenced(quoted(cut(beads, PLAN)), nonce))
    decided = [_line(one) for one in earlier if one.state is not FindingState.OPEN]
    if decided:
        text = "\n".join(decided)
        parts.append(
            "# What was found before, and decided\n\nThe newest is last. Do not find it again; find what the decision "
            "made worse.\n\n" + fenced(quoted(text[-DECIDED:]), nonce)
        )
    return "\n\n".join(parts) + "\n"


def _line(one: Finding) -> str:
    word = "risk accepted" if one.state is FindingState.RISK_ACCEPTED else "decided"
    return f"{one.category}: {cut(clean(one.issue), 300)} -> {word}: {cut(clean(one.answer), 300)}"
