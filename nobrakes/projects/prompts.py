"""Prompts for a sprint's agents: its planner and its worker. Between sprints documents alone carry knowledge.

1. What is told of the project is on main, and is named by its path: the agent reads it there.
2. The plan is what a person said yes to in advance, inside the brief; what goes beyond it is asked.
"""

import re
from collections.abc import Mapping, Sequence

from ..agents.quoting import cut
from ..text.cleaning import clean
from . import model
from .model import Sprint, slug
from .sprints import BRIEF

SPRINT = "sprint"
"""Key of the sprint's number in the data of its planning session."""
PLANNER = "sprint_planner"
"""The file of its persona."""
MAX_PLAN = 16_000
"""Characters of a plan in its bead; main has all of it."""
MAX_FINDINGS = 30
NUDGE = (
    "Your turn ended, and no plan was handed in. Hand it in with `nobrakes agent document - --kind plan --title NAME` "
    "(its text from stdin, tasks as `- [ ] …` below `## Tasks`), or ask what only a person can decide. An agent "
    "without a shell writes the whole plan as its last message, with its `## Tasks`."
)
_HEADINGS = ("Criteria", "Acceptance criteria", "Success criteria", "Done when")


def asked(number: int, texts: Mapping[str, str], findings: Sequence[str]) -> str:
    """The first message to this sprint's planner."""
    brief = texts.get(BRIEF, "")
    objective = model.objective(brief)
    boxes = [f"- [{'x' if one.is_checked else ' '}] {one.text}" for one in model.criteria(brief)]
    reviews = [one.name for one in model.sprints(texts) if one.review]
    parts = [
        f"Plan sprint {number} of this project. Read CLAUDE.md, task.md, docs/ROADMAP.md and docs/design/ first, "
        "as far as they are there.",
        f"Objective:\n{cut(clean(objective), 4000)}" if objective else "",
        "Success criteria of the project:\n" + cut(clean("\n".join(boxes)), 6000) if boxes else "",
        f"The last sprint's review is {model.SPRINTS}/{reviews[-1]}/review.md: it feeds this plan." if reviews else "",
        "What does not fit together (whats-next):\n" + "\n".join(f"- {clean(one)}" for one in findings[:MAX_FINDINGS])
        if findings
        else "",
    ]
    return "\n\n".join(part for part in parts if part)


def name_in(plan: str) -> str:
    heading = next((line[2:] for _, line in model.lines(plan) if line.startswith("# ")), "")
    return slug(re.sub(r"(?i)\A\s*(?:plan\s+of\s+)?sprint\s+\d+\s*[:—–-]?\s*", "", heading))


def criteria(plan: str) -> tuple[str, ...]:
    return tuple(box.text for box in model.boxes(model.section(plan, *_HEADINGS)))


def work(sprint: Sprint, plan: str, brief: str) -> str:
    open_ = [f"- {box.text}" for box in model.criteria(brief) if not box.is_checked]
    whole = "\n\nSuccess criteria of the project that are open:\n\n" + "\n".join(open_) if open_ else ""
    return f"""Execute sprint {sprint.title} per {sprint.folder}/plan.md.

Its documents are written by nobrakes: change none of task.md, docs/sprints/, DECISIONS.md, DEVIATIONS.md, WISHLIST.md.
Tell it instead, as you go; `-` reads the text from stdin:

- `nobrakes agent document "<title, then why>" --kind decision`: a choice that is not obvious
- `nobrakes agent document "<what, then why>" --kind deviation`: where you left the plan
- `nobrakes agent document "<what is missing>" --kind wish`: a capability that you lack

Before `nobrakes agent done`, hand the review in: `nobrakes agent document - --kind review`, with `## Done` (each task
of the plan that is done, in its own words), `## Not done`, `## Decisions`, and `## Success criteria` with a ticked box
for each criterion of the project that holds now, in its own words. A tick is your claim: the check that a criterion
names proves it, or a person decides.{whole}

The plan:

{cut(clean(plan), MAX_PLAN)}"""
