"""What a turn of a feature is given when its agent begins afresh: chosen, ordered, bounded. Same facts, same text.

1. What a person wrote is said as it is; what agents, tools and files wrote is `untrusted`: whoever prints it quotes it.
2. Each section has its bound, and says what it left out. What is newest is kept: the plan as it lies, open findings,
   the last answers, what changed since the version before.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..text.cleaning import clean
from .feature import Feature, Finding, FindingState, Item, PlanVersion, Stage
from .plan_changes import changes

TEXT, NOTES, LINE = 16_000, 8_000, 400
PLAN, DIFFERENCE, POINTS, FINDINGS, ANSWERS, RESULTS = 24_000, 4_000, 6_000, 8_000, 12_000, 8_000
"""Characters of each section."""
WHOLE = 90_000
"""Characters of all sections together: what their bounds come to, and room to spare."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of what a turn is given. `untrusted`: agents, tools or files wrote it."""

    title: str
    text: str
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """A question that was answered, and the answer."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Result:
    """How far a bead of the plan is, and what happened to it last."""

    bead: str
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that a turn may be given. `plan`: the beads as they lie, as plan files have them."""

    feature: Feature
    plan: Sequence[Mapping[str, Any]] = ()
    versions: Sequence[PlanVersion] = ()
    items: Sequence[Item] = ()
    findings: Sequence[Finding] = ()
    answers: Sequence[Answered] = ()  # oldest first
    results: Sequence[Result] = ()
    rounds: int = 10  # iterations of reviews at most


def compiled(facts: Facts) -> tuple[Section, ...]:
    """The sections that say something, in their order."""
    found = (
        Section(f"The feature: {line(facts.feature.title)}", _feature(facts.feature)),
        Section("Where it is", _where(facts)),
        Section("Open points", _points(facts.items), untrusted=True),
        Section("The plan as it lies", _plan(facts.plan), untrusted=True),
        Section("What changed since the version before", _difference(facts.versions), untrusted=True),
        Section("What reviewers found", _findings(facts.findings), untrusted=True),
        Section("How far the beads are", _results(facts.results), untrusted=True),
        Section("What was asked, and what the person decided", _answers(facts.answers), untrusted=True),
    )
    return tuple(section for section in found if section.text)


def line(text: str, most: int = LINE) -> str:
    """The text on one line, its beginning where it is longer."""
    words = " ".join(clean(text).split())
    return words if len(words) <= most else words[: most - 2].rstrip() + " …"


def _cut(text: str, most: int) -> str:
    text = clean(text).strip()
    return text if len(text) <= most else f"{text[:most].rstrip()}\n[… {len(text) - most} characters left out]"


def _kept(lines: Iterable[str], most: int, *, newest: bool = False) -> str:
    """As many whole lines as there is room for: the first ones, or the last ones where those are the newest."""
    all_, kept, room = list(lines), list[str](), most
    for line in reversed(all_) if newest else all_:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(all_) - len(kept)
    if left:
        kept.append(f"[… {left} {'older ones' if newest else 'more'} left out]")
    return "\n".join(reversed(kept) if newest else kept)


def _feature(feature: Feature) -> str:
    parts = [f"Its id is {feature.id}. It began from main's commit {feature.base or '(none yet)'}."]
    parts.append(_cut(feature.description, TEXT))
    if feature.criteria:
        parts.append("It is done when:\n" + _kept((f"- {line(c.text)} ({c.how})" for c in feature.criteria), NOTES))
    if feature.files:
        parts.append("Files that it probably affects:\n" + _kept((f"- {line(p)}" for p in feature.files), NOTES))
    if feature.notes.strip():
        parts.append("Notes:\n" + _cut(feature.notes, NOTES))
    return "\n\n".join(part for part in parts if part)


def _where(facts: Facts) -> str:
    feature = facts.feature
    lines = [f"Stage: {feature.stage.value}. Version of the plan: {feature.plan or 'none yet'}."]
    if feature.replannings:
        lines.append(f"It is planned again, for the {feature.replannings}. time.")
    if feature.stage is Stage.REVIEW:
        lines.append(f"Iteration of reviews: {feature.round} of {facts.rounds}; {feature.clean} clean ones in a row.")
    return "\n".join(lines)


def _points(items: Iterable[Item]) -> str:
    ordered = sorted(items, key=lambda one: (not one.blocks, one.file, one.line, one.id))
    return _kept((_point(one) for one in ordered), POINTS)


def _point(one: Item) -> str:
    place = f" {one.file}:{one.line}" if one.file else ""
    where = f" (bead {one.bead})" if one.bead else ""
    return f"- {one.kind.value}{place}{where}: {line(one.text)}{' [in an affected file]' if one.blocks else ''}"


def _plan(plan: Iterable[Mapping[str, Any]]) -> str:
    return _kept((clean(json.dumps(dict(one), ensure_ascii=False, sort_keys=True)) for one in plan), PLAN)


def _difference(versions: Sequence[PlanVersion]) -> str:
    if len(versions) < 2:
        return ""
    before, after = versions[-2:]
    found = changes(before.beads, after.beads)
    lines = [f"+ {one['id']}: {line(str(one.get('title', '')))}" for one in found.added]
    lines += [f"- {one['id']}: {line(str(one.get('title', '')))}" for one in found.gone]
    lines += [f"~ {one.id}: {', '.join(one.fields)}" for one in found.changed]
    return _kept(lines, DIFFERENCE)


def _findings(findings: Iterable[Finding]) -> str:
    """The open ones first, then the decided ones, newest first."""
    ordered = sorted(findings, key=lambda one: (one.state is not FindingState.OPEN, -one.round, one.priority, one.id))
    return _kept((_finding(one) for one in ordered), FINDINGS)


def _finding(one: Finding) -> str:
    state = {
        FindingState.OPEN: "open",
        FindingState.ANSWERED: f"answered: {line(one.answer)}",
        FindingState.RISK_ACCEPTED: f"the risk is accepted: {line(one.answer)}",
    }[one.state]
    where = f", bead {one.bead}" if one.bead else ""
    return f"- P{one.priority} {one.category} ({one.domain}, round {one.round}{where}): {line(one.issue)} -> {state}"


def _results(results: Iterable[Result]) -> str:
    lines = (f"- {one.bead}: {one.status}{f'; {line(one.detail)}' if one.detail else ''}" for one in results)
    return _kept(lines, RESULTS)


def _answers(answers: Iterable[Answered]) -> str:
    """The last ones; each is a question and its answer on lines of their own."""
    told = (f"- {line(one.question, 1000)}\n  -> {_cut(one.answer, 2000)}" for one in answers)
    return _kept(told, ANSWERS, newest=True)
