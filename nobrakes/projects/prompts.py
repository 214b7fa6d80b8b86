"""What the planner of a sprint is told first. Between sprints documents alone carry knowledge.

1. What is told of the project is on main, and is named by its path: the agent reads it there.
2. The plan is what a person said yes to in advance, inside the brief; what goes beyond it is asked.
"""

from collections.abc import Mapping, Sequence

from ..agents.quoting import cut
from ..text.cleaning import clean
from . import model
from .sprints import BRIEF, ITEM, OUTSIDE, PART_OF, Finding

PLANNER = "sprint_planner"
"""The file of its persona."""
CRITERION = "review: Each bead brings a success criterion or a roadmap item of the project closer"
"""What a sprint's plan is reviewed for, beside the criteria of its beads."""
MAX_PLAN = 6000
"""Characters of a plan that was made before, which the planner is given."""
MAX_FINDINGS, MAX_ITEMS = 30, 10
"""Findings of whats-next, and the items of one, that are told."""


def asked(
    number: int, texts: Mapping[str, str], findings: Sequence[Finding], items: Sequence[str], plan: str = ""
) -> str:
    """This sprint planner's first prompt. `items`: the roadmap items that the approval is for; none: all. `plan`:
    one that was handed in for it before a sprint was a feature."""
    brief = texts.get(BRIEF, "")
    objective = model.objective(brief)
    boxes = [f"- [{'x' if one.is_checked else ' '}] {one.text}" for one in model.criteria(brief)]
    reviews = [one.name for one in model.sprints(texts) if one.review]
    wanted = [one for one in model.items(texts.get(model.ROADMAP, "")) if model.item_id(one.text) in items]
    parts = [
        f"Plan sprint {number} of this project. Read CLAUDE.md, task.md, docs/ROADMAP.md and docs/design/ first, "
        "as far as they are there.",
        f"Objective:\n{cut(clean(objective), 4000)}" if objective else "",
        "Success criteria of the project:\n" + cut(clean("\n".join(boxes)), 6000) if boxes else "",
        "You may plan work for these roadmap items. Each bead has the label of the item that it completes, or of the "
        f"item that it brings closer (`{PART_OF}…`). A bead that serves none has the label `{OUTSIDE}`, and then a "
        "person has to approve the plan:\n"
        + "\n".join(
            f"- `{ITEM}{model.item_id(one.text)}`{' (done)' if one.is_checked else ''}: {cut(clean(one.text), 300)}"
            for one in wanted
        )
        if wanted
        else "",
        f"The last sprint's review is {model.SPRINTS}/{reviews[-1]}/review.md: it feeds this plan." if reviews else "",
        "What does not fit together (whats-next):\n" + "\n".join(map(_finding, findings[:MAX_FINDINGS]))
        if findings
        else "",
        f"This plan was made for the sprint before. Make beads of it:\n{cut(clean(plan), MAX_PLAN)}" if plan else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _finding(one: Finding) -> str:
    rows = [f"  - {cut(clean(item), 300)}" for item in one.items[:MAX_ITEMS]]
    more = [f"  - … {len(one.items) - MAX_ITEMS} more"] if len(one.items) > MAX_ITEMS else []
    return "\n".join([f"- {clean(one.where)}: {clean(one.text)}", *rows, *more])
