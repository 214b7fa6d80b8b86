"""The part of the port `Store` that is the Forge: features, plans, reviews, findings, items."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..core.forge.feature import (
    Feature,
    Finding,
    FindingState,
    Item,
    ItemKind,
    ItemState,
    PlanReview,
    PlanVersion,
    ReviewState,
    Step,
)
from ..core.sessions.session import Session
from .database import Database
from .forge import features, reviews
from .sessions import conversations, turns


class Features:
    """Features on one database. Each method is one transaction of store.forge."""

    _db: Database

    def begin_feature(self, feature: Feature) -> Feature:
        """Keep a new feature; its epic is there."""
        return features.begin(self._db, feature)

    def feature(self, feature: str) -> Feature:
        """One feature."""
        return features.feature(self._db, feature)

    def features(self, going: bool = True) -> list[Feature]:
        """Those that are not completed or rolled back, and those that are just being rolled back; or all. By id."""
        return features.features(self._db, going)

    def feature_of_session(self, session: int) -> tuple[Feature, str] | None:
        """The feature that the session plans (""), or reviews (the domain)."""
        return features.of_session(self._db, session)

    def move_feature(self, feature: str, step: Step, actor: str, why: str = "", **values: Any) -> Feature:
        """Let the step move it, and set fields beside it."""
        return features.move(self._db, feature, step, actor, why, values)

    def change_feature(self, feature: str, values: Mapping[str, Any], actor: str) -> Feature:
        """Set fields that no step moves."""
        return features.change(self._db, feature, values, actor)

    def note_feature(self, feature: str, values: Mapping[str, Any], actor: str) -> Feature:
        """Set values of its data (core.forge.data_keys); None takes one away."""
        return features.note(self._db, feature, values, actor)

    def keep_plan(self, feature: str, beads: Sequence[Mapping[str, Any]], why: str, actor: str) -> PlanVersion:
        """Keep the plan's next version; where it is as the one before, that one."""
        return features.keep_plan(self._db, feature, beads, why, actor)

    def plan_version(self, feature: str, number: int | None = None) -> PlanVersion | None:
        """This version of its plan, or the last one."""
        return features.version(self._db, feature, number)

    def plan_versions(self, feature: str) -> list[PlanVersion]:
        """All versions of its plan, oldest first."""
        return features.versions(self._db, feature)

    def begin_review(self, feature: str, round_: int, domain: str, session: int | None) -> PlanReview:
        """A reviewer begins to look at the plan's last version."""
        return reviews.begin(self._db, feature, round_, domain, session)

    def end_review(self, feature: str, round_: int, domain: str, state: ReviewState, detail: str) -> bool:
        """The reviewer ended; False: it had ended before."""
        return reviews.end(self._db, feature, round_, domain, state, detail)

    def plan_reviews(self, feature: str, round_: int | None = None) -> list[PlanReview]:
        """Its reviews, by round and domain."""
        return reviews.reviews(self._db, feature, round_)

    def add_finding(self, finding: Finding) -> Finding:
        """Keep what a reviewer found."""
        return reviews.add_finding(self._db, finding)

    def settle_finding(self, finding: int, state: FindingState, answer: str, actor: str) -> bool:
        """Decide it; False: it was decided before."""
        return reviews.settle_finding(self._db, finding, state, answer, actor)

    def ask_of_finding(self, finding: int, escalation: int) -> None:
        """Note the question that was asked about it."""
        reviews.ask_of(self._db, finding, escalation)

    def close_finding_questions(self, feature: str, why: str) -> int:
        """The open questions about its findings are over, and its session is told nothing; how many."""
        return reviews.close_questions(self._db, feature, why)

    def findings(self, feature: str, round_: int | None = None) -> list[Finding]:
        """What was found, by id."""
        return reviews.findings(self._db, feature, round_)


class Shapers:
    """The sessions that serve features, as far as other sessions have no use for it."""

    _db: Database

    def renew_session(self, session: int, seat: tuple[str, str, str] | None = None) -> Session:
        """The next turn begins a new conversation, perhaps with another agent."""
        return conversations.renew(self._db, session, seat)

    def did(self, turn: int, what: str) -> None:
        """Note what the agent of an open turn did in it, once."""
        turns.did(self._db, turn, what)


class Collected:
    """What is collected while features are built."""

    _db: Database

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
        """Collect it for the next checkpoint; None: it was collected before."""
        return reviews.collect(
            self._db, feature, kind, text, actor, file=file, line=line, bead=bead, blocks=blocks, nth=nth
        )

    def items(self, feature: str) -> list[Item]:
        """What was collected, by id."""
        return reviews.items(self._db, feature)

    def settle_items(self, items: Collection[int], state: ItemState, actor: str) -> int:
        """Set the state of those that wait; how many did."""
        return reviews.settle_items(self._db, items, state, actor)
