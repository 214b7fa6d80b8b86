"""What public events say of features, their plans and what is collected. The rules are those of payloads.py."""

from dataclasses import dataclass

from .payload import Payload


@dataclass(frozen=True, slots=True)
class Staged(Payload):
    """A feature came to a stage; `task_id` is its epic."""

    feature_description: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FeatureState(Payload):
    """Whether a feature goes on."""

    state: str = ""  # active, paused, completed, expired, error, rolled_back
    stage: str = ""  # discovery, planning, review, implementation, request, done
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FeatureChanged(Payload):
    """What is said of a feature changed: the names of the fields."""

    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SprintMoved(Payload):
    """Where a sprint is; without a number: the run of sprints itself."""

    sprint: int | None = None
    state: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanCreated(Payload):
    """A version of a plan, and how many beads it has."""

    version: int | None = None
    steps: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PlanReviewed(Payload):
    """One reviewer's look at a plan, for one domain."""

    iteration_number: int | None = None
    domain: str = ""
    version: int | None = None  # of the plan
    session_id: int | None = None
    state: str = ""  # done or failed, where it ended
    findings: int | None = None  # how many
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Found(Payload):
    """What a reviewer of a plan found, or how it was decided."""

    finding: int | None = None
    iteration_number: int | None = None
    domain: str = ""
    category: str = ""  # code quality, architecture, security or performance
    priority: int | None = None  # 1 to 3; 1 must be mended
    issue: str = ""
    step_id: str | None = None  # the bead that it is about
    state: str = ""  # answered or risk_accepted, where it was decided
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Collected(Payload):
    """What was collected while a feature is built."""

    item: int | None = None
    type: str = ""  # todo, fixme, suggestion, dependency or scope
    description: str = ""
    file: str = ""
    line: int | None = None
    state: str = ""  # reviewed, dismissed or resolved, where it was looked at


KINDS: tuple[type[Payload], ...] = (
    Staged,
    FeatureState,
    FeatureChanged,
    SprintMoved,
    PlanCreated,
    PlanReviewed,
    Found,
    Collected,
)
"""Every shape of these."""
