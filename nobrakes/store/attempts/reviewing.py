"""The part of the port `Store` that only reviews need."""

from collections.abc import Mapping
from typing import Any

from ...core.beads.attempt import Attempt
from .. import view_queries
from ..database import Database
from ..machine import facts


class Reviewing:
    """Open and ended reviews, and the validations that passed, on one database."""

    _db: Database

    def reviewing(self) -> list[Attempt]:
        """The Reviewer's attempts that have not ended, oldest first."""
        return view_queries.reviewing(self._db)

    def reviews(self, limit: int) -> list[Attempt]:
        """The Reviewer's latest attempts, newest first."""
        from ..queries.reviews import latest  # brings SQLModel, and hardly anybody asks

        return latest(self._db, limit)

    def agents(self, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
        """Attempts of agents, searched, filtered and sorted."""
        from ..queries import agents

        return agents.found(self._db, words, state, sort, limit, offset)

    def merges(self, on_main: bool = False) -> dict[str, str]:
        """Bead id to the commit of its merge, of every done bead that has one; `on_main`: of those that main has."""
        return view_queries.merges(self._db, on_main)

    def validation(self, tree: str, contract: str) -> Mapping[str, Any] | None:
        """The recorded results of a validation that passed."""
        return facts.validation(self._db, tree, contract)

    def passed_otherwise(self, tree: str) -> bool:
        """Whether this tree has passed under any key at all."""
        return facts.passed_otherwise(self._db, tree)

    def save_validation(self, tree: str, contract: str, results: Mapping[str, Any]) -> None:
        """Remember a validation that passed."""
        facts.save_validation(self._db, tree, contract, results)
