"""One red main is one question: whoever finds main red asks here, and what is open already is added to.

1. Red begins with the question and lasts until main was seen green: by the canary, or by a merge.
2. In that time there is one open question, whoever else finds main red, and however often.
3. It is asked about main, and becomes the question of the bead whose merge was taken back for it.
"""

from collections.abc import Mapping
from typing import Any

from ...core.beads.escalations import EscalationType
from ...core.beads.events import Kind
from ...ports.store import NewEscalation, Store

_SEEN_GREEN = (Kind.MERGED, Kind.MAIN_GREEN, Kind.MAIN_UNFROZEN)


def question(store: Store, title: str, detail: str, evidence: Mapping[str, Any], hypothesis: str = "") -> NewEscalation:
    """What a person is asked about the main that is red now: more of the open question, where there is one."""
    return NewEscalation(EscalationType.MAIN_RED, title, detail, evidence, hypothesis, _open(store))


def _open(store: Store) -> int:
    """The open question about this red main; 0: there is none."""
    green = store.latest_events(_SEEN_GREEN, limit=1)
    since = green[0].at if green else 0.0
    asked = [one.id for one in store.escalations() if one.type is EscalationType.MAIN_RED and one.created_at >= since]
    return max(asked, default=0)
