"""The door to features: the Forge's facts. Every change is one transaction with its event."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from ..sessions.model import Session
from .model import Feature, Finding, FindingState, Item, ItemKind, ItemState, PlanReview, PlanVersion, ReviewState, Step


class Features(Protocol):
    """A part of Store."""

    def begin_feature(self, feature: Feature) -> Feature:
        """Keep a new feature; its epic is there. NotAllowed: another feature has the repository's turn."""
        ...

    def feature(self, feature: str) -> Feature:
        """One feature; NoSuchFeature."""
        ...

    def features(self, going: bool = True) -> list[Feature]:
        """Those that are not completed or rolled back, and those that are just being rolled back; or all. By id."""
        ...

    def feature_of_session(self, session: int) -> tuple[Feature, str] | None:
        """The feature that the session plans (""), or reviews (the domain); None: it serves none."""
        ...

    def move_feature(self, feature: str, step: Step, actor: str, why: str = "", **values: Any) -> Feature:
        """Let the step move it, and set fields beside it. NoSuchFeature; NotAllowed: the step does not go with it."""
        ...

    def change_feature(self, feature: str, values: Mapping[str, Any], actor: str) -> Feature:
        """Set fields that no step moves: texts, criteria, files, archived, session, round.

        Title and description are its epic's, and are set there.
        """
        ...

    def note_feature(self, feature: str, values: Mapping[str, Any], actor: str) -> Feature:
        """Set values of its data, by the keys of features.model; None takes one away, the others stay."""
        ...

    def keep_plan(self, feature: str, beads: Sequence[Mapping[str, Any]], why: str, actor: str) -> PlanVersion:
        """Keep the plan's next version; where it is as the one before, that one."""
        ...

    def plan_version(self, feature: str, number: int | None = None) -> PlanVersion | None:
        """This version of its plan, or the last one; None: there is none."""
        ...

    def plan_versions(self, feature: str) -> list[PlanVersion]:
        """All versions of its plan, oldest first."""
        ...

    def begin_review(self, feature: str, round_: int, domain: str, session: int | None) -> PlanReview:
        """A reviewer begins with the plan's last version. NotAllowed: one of this round and domain did already."""
        ...

    def end_review(self, feature: str, round_: int, domain: str, state: ReviewState, detail: str) -> bool:
        """The reviewer ended; False: it had ended before."""
        ...

    def plan_reviews(self, feature: str, round_: int | None = None) -> list[PlanReview]:
        """Its reviews, by round and domain."""
        ...

    def add_finding(self, finding: Finding) -> Finding:
        """Keep what a reviewer found; its id is given here."""
        ...

    def settle_finding(self, finding: int, state: FindingState, answer: str, actor: str) -> bool:
        """Decide it; False: it was decided before."""
        ...

    def ask_of_finding(self, finding: int, escalation: int) -> None:
        """Note the question that was asked about it."""
        ...

    def close_finding_questions(self, feature: str, why: str) -> int:
        """The open questions about its findings are over, and its session is told nothing; how many."""
        ...

    def findings(self, feature: str, round_: int | None = None) -> list[Finding]:
        """What was found, by id."""
        ...


class Shapers(Protocol):
    """A part of Store: the sessions that serve features."""

    def renew_session(self, session: int, seat: tuple[str, str, str] | None = None) -> Session:
        """The next turn begins a new conversation, perhaps with another agent: its name, provider and model.

        What was said to a turn that the other agent could not finish is said again. NotAllowed while a turn is at work.
        """
        ...

    def did(self, turn: int, what: str) -> None:
        """Note what the agent of an open turn did in it, once: its words need not be read then. Stale: it has ended."""
        ...


class Collected(Protocol):
    """A part of Store: what is collected while features are built."""

    def collect(
        self,
        feature: str,
        kind: ItemKind,
        text: str,
        actor: str,
        *,
        file: str = "",
        line: int = 0,
        bead: str | None = None,
        blocks: bool = False,
        nth: int = 1,
    ) -> Item | None:
        """Collect it for the next checkpoint; None: it was collected before (same file and text, or kind and text).

        `nth`: of those with the same text in the file; the second is another one.
        """
        ...

    def items(self, feature: str) -> list[Item]:
        """What was collected, by id."""
        ...

    def settle_items(self, items: Collection[int], state: ItemState, actor: str) -> int:
        """Set the state of those that wait; how many did."""
        ...


class Forge(Features, Shapers, Collected, Protocol):
    """A part of Store: all of the Forge."""
