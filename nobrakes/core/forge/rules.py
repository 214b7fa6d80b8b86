"""The settings of the Forge (config.sections.ForgeSettings), as its deciders read them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Hours until a session expires, minutes of a turn, dollars that reviews may cost; the rest are counts."""

    expire_hours: float = 24.0
    warn_hours: float = 2.0
    reviewers: tuple[str, ...] = ()
    review_minutes: float = 5.0
    most_rounds: int = 10
    clean_rounds: int = 2
    most_domains: int = 4
    review_usd: float = 5.0  # what the reviews of one feature may cost before a person is asked
    shaper_usd: float = 10.0
    collect: int = 10
    turn_minutes: float = 15.0
