"""What an agent's words say where it called no operation: text markers, and without them what reads like a question.

1. A marker stands on a line of its own, outside a code block, in exactly these letters: `[DECISION_NEEDED priority="1"]`
   to `[/DECISION_NEEDED]`, `[PLAN_STEP id="1" parent="null"]` to `[/PLAN_STEP]`, `[PLAN_READY]`. CHECKPOINT and
   REVIEW_CHECKPOINT may hold the former. A marker in another one of the same name ends nothing.
2. What has no end is no marker: its text is read as words (rule 3), and so are words without any marker.
3. Words are read without a model: a line that ends with a question mark is a question, the list behind it its options;
   a numbered or bulleted list under a heading with "plan" or "steps" are steps. What is not clear is not guessed.
4. What is found here is said as the operations say it, and judged by them. `[PLAN_APPROVED]` is read as nothing: only
   a person approves.
5. Words that look like an error decide nothing: how a turn ended is the adapter's verdict.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the words have it; the form is made of it by core.beads.forms."""

    text: str
    options: tuple[str, ...] = ()
    recommended: tuple[str, ...] = ()
    priority: int = 2
    context: str = ""


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A step of a plan as the words have it."""

    id: str
    title: str
    description: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a turn's words say, questions the most urgent first. `certain`: by markers, not by the look of them."""

    questions: tuple[Question, ...] = ()
    steps: tuple[PlanStep, ...] = ()
    ready: bool = False
    certain: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether they say nothing that anybody could wait for."""
        return not (self.questions or self.steps or self.ready)
