"""Who acts where nobody did, and how people are told about a feature."""

from ...core.beads.events import Event, Kind
from ...core.forge.feature import Feature
from ...ports import Store

BY = "nobrakes"
LONGEST = 1000
"""Characters of what is told."""


def tell(store: Store, feature: Feature, text: str, severity: str) -> None:
    """Have people told: `severity` is info, warning or urgent."""
    data = {"text": text[:LONGEST], "severity": severity, "session": feature.session}
    store.record(Event(Kind.FEATURE_TOLD, feature.id, actor=BY, data=data))
