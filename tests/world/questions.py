"""Agents that ask with options, and people who answer with one, with none, or take it back; one world in four.

1. Each agent has dice of its own, and so have these people: the dice of the rest of the world are left alone.
2. What an agent was given, in its prompt or while it waited, is remembered: the promises compare it with what stands.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nobrakes.decisions import forms
from nobrakes.decisions.model import Escalation, EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.errors import NobrakesError, UsageError
from nobrakes.store import Store

from .agents import BLOCKED, AgentWorld, Script
from .answering import words_for
from .asking import drawn
from .scene import Scene

_IN_PROMPT = re.compile(
    r"> (which way for \S+ in attempt \d+\?)\n(?:> .*\n)*untrusted \w+ >>>\nThe human answered:\n> (.*)"
)


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that an agent was given."""

    whom: str
    title: str
    answer: str


class Questions:
    """`nobrakes agent ask --option …` and `nobrakes answer`, by the commands' own code."""

    def __init__(self, store: Store, scene: Scene, seed: int, actor: str) -> None:
        self.store, self.scene, self.seed, self.actor = store, scene, seed, actor
        self.dice = random.Random(f"{seed} people who answer")

    # --- agents ----------------------------------------------------------------------------------

    def first(self, agent_world: AgentWorld, work: Script) -> Script:
        """The agent's work; some ask before, wait a while for the answer, and stop without one."""
        number = agent_world.env["NOBRAKES_ATTEMPT"]
        dice = random.Random(f"{self.seed} {agent_world.bead} {number} asks")
        if dice.random() > 0.4:
            return (yield from work)
        yield dice.uniform(5, 30)
        asked = self._ask(agent_world, f"which way for {agent_world.bead} in attempt {number}?", dice)
        if asked is None:
            return (yield from work)
        for _ in range(dice.randrange(6)):
            yield dice.uniform(5, 60)
            if self._reads(agent_world, asked):
                return (yield from work)
        return 0, BLOCKED

    def _ask(self, agent_world: AgentWorld, title: str, dice: random.Random) -> int | None:
        new = NewEscalation(EscalationType.QUESTION, title, form=forms.as_values(drawn(dice, recommends=0.5)))
        try:
            attempt = self.store.attempt_of_token(agent_world.env["NOBRAKES_TOKEN"])
            return self.store.escalate(new, attempt.bead, attempt.id, attempt.name).id
        except NobrakesError:
            return None

    def _reads(self, agent_world: AgentWorld, number: int) -> bool:
        """Whether the agent has its answer, and acts by it from now on."""
        found = self.store.escalation(number)
        try:
            attempt = self.store.attempt_of_token(agent_world.env["NOBRAKES_TOKEN"])
        except NobrakesError:
            return False
        if not found.answer or not self.store.act_by({number: found.answer}, attempt.name, attempt.id):
            return False
        self.scene.given.append(Given(f"attempt {attempt.id}", found.title, found.answer))
        return True

    # --- people ----------------------------------------------------------------------------------

    def answer(self) -> str:
        """Answer a question with a form; now and then with what is no answer, which is refused."""
        one = self._some(lambda one: one.resolved_at is None)
        form = forms.form(one.form)
        labels = form.labels()
        if self.dice.random() < 0.3 and form.required and forms.GUIDE not in labels:  # any text is guidance
            try:
                desk.answer(self.store, one.id, "neither" if labels else "", self.actor)
            except UsageError as error:
                return f"answered {one.id} with what is no answer: {error}"
            self.scene.wrong_answers.append(f"escalation {one.id} was answered with what is no answer")
        found = desk.answer(self.store, one.id, words_for(one, self.dice), self.actor)
        return f"answered {one.id} ({one.bead}): {found.answer}"

    def take_back(self) -> str:
        """Take an answer back."""
        try:
            one = self._some(lambda one: one.answer is not None and one.read_at is None)
        except NobrakesError:
            one = self._some(lambda one: one.answer is not None)  # too late
        desk.take_back(self.store, one.id, self.actor)
        return f"took the answer to {one.id} back ({one.bead})"

    def _some(self, wanted: Callable[[Escalation], bool]) -> Escalation:
        found = [one for one in self.store.escalations_as_filed() if one.form is not None and wanted(one)]
        if not found:
            raise NobrakesError("there is no such question")
        return self.dice.choice(found)


# --- promises --------------------------------------------------------------------------------------


def an_agent_acts_by_the_answer_that_stands(scene: Scene) -> list[str]:
    """What an agent was given, when it began or while it waited, is the answer of that question from then on."""
    if not scene.has_questions:
        return []
    _look_into_prompts(scene)
    stands = {one.title: one.answer for one in scene.store.escalations_as_filed() if one.form is not None}
    return [
        f"{given.whom} acts by '{given.answer}', and '{given.title}' is answered '{stands.get(given.title)}'"
        for given in scene.given
        if stands.get(given.title) != given.answer
    ]


def _look_into_prompts(scene: Scene) -> None:
    for run, child in scene.processes.children.items():
        if child.is_agent and run not in scene.looked_into:
            scene.looked_into.add(run)
            prompt = child.command.files["prompt.md"].decode()
            scene.given += [Given(run, title, answer) for title, answer in _IN_PROMPT.findall(prompt)]


def what_was_read_is_not_taken_back(scene: Scene) -> list[str]:
    """By the events: no answer is taken back or given again once somebody acts by it."""
    return scene.observed.take("answers")


def every_answer_is_one_of_the_form(scene: Scene) -> list[str]:
    """The text that agents get is that of the value, and the value is one that the form allows."""
    if not scene.has_questions:
        return []
    wrong, scene.wrong_answers = scene.wrong_answers, []
    for one in scene.store.escalations_as_filed():
        if one.form is not None and one.value is not None:
            form = forms.form(one.form)
            if one.answer != forms.text_of(form, one.value) or forms.judge(form, one.answer) != one.value:
                wrong = [*wrong, f"escalation {one.id} is answered {one.value!r}, told as '{one.answer}'"]
    return wrong


PROMISES: Sequence[Callable[[Scene], list[str]]] = (
    an_agent_acts_by_the_answer_that_stands,
    what_was_read_is_not_taken_back,
    every_answer_is_one_of_the_form,
)
