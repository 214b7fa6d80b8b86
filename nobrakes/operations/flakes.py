"""The flake ledger for people, and what they quarantine.

1. Only a person quarantines, with a reason; until it is lifted, status, reviews and evidence show what is quarantined.
2. It is a setting of the store, so it holds for every daemon, and survives a lost database with the other settings.
3. A change wakes the daemon: a review whose contract is another one now begins again with the present one.
"""

from typing import TYPE_CHECKING

from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed, UsageError

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..core.review.flakes import Line
    from ..core.review.quarantine import Quarantined
    from ..paths import Paths
    from ..ports.store import Store

LONGEST = 300
"""Characters of a test's name and of a reason, as core.checks.failed_tests keeps names."""


def flakes(store: "Store", check: str = "") -> "list[Line]":
    """The ledger by check and test, the most frequent first; of one check, or of all."""
    from ..core.review.flakes import LEDGER, Flake, lines

    found = [Flake.of(event) for event in store.latest_events([Kind.FLAKED], limit=LEDGER)]
    return lines([flake for flake in found if check in ("", flake.check)])


def quarantined(store: "Store") -> "tuple[Quarantined, ...]":
    """What is quarantined now."""
    text = store.setting("quarantine")
    if not text:
        return ()
    from ..core.review.quarantine import parse

    return parse(text)


def quarantine(
    store: "Store", config: "Config", check: str, test: str, reason: str, actor: str, paths: "Paths | None" = None
) -> "tuple[Quarantined, ...]":
    """Let a test fail, or with an empty `test` the whole check; what is quarantined then. UsageError, NotAllowed."""
    from ..core.review.quarantine import Quarantined

    names = [one.name for one in config.checks]
    if check not in names:
        known = ", ".join(names) or "none is configured"
        raise UsageError(f"there is no check '{check[:40]}'", f"The checks are: {known}.")
    if not reason.strip():
        raise UsageError("a quarantine needs a reason", 'Say why, for those who come after: --reason "…"')
    if len(test) > LONGEST or not test.isprintable() or len(reason) > LONGEST:
        raise UsageError(
            f"a test's name and a reason have at most {LONGEST} characters", "Copy the name as it is told."
        )
    before = quarantined(store)
    if any(one.pair == (check, test) for one in before):
        raise NotAllowed(f"{_what(check, test)} is quarantined already", "`nobrakes quarantine` shows what is.")
    made = Quarantined(check, test, reason.strip(), actor, store.now())
    return _keep(store, (*before, made), made, Kind.QUARANTINED, actor, paths)


def lift(store: "Store", check: str, test: str, actor: str, paths: "Paths | None" = None) -> "tuple[Quarantined, ...]":
    """It has to pass again; what is quarantined then. NotAllowed: it was not."""
    before = quarantined(store)
    gone = next((one for one in before if one.pair == (check, test)), None)
    if gone is None:
        raise NotAllowed(f"{_what(check, test)} is not quarantined", "`nobrakes quarantine` shows what is.")
    return _keep(store, [one for one in before if one is not gone], gone, Kind.QUARANTINE_LIFTED, actor, paths)


def _what(check: str, test: str) -> str:
    return f"'{test[:80]}' of {check[:40]}" if test else f"the check {check[:40]}"


def _keep(
    store: "Store",
    entries: "list[Quarantined] | tuple[Quarantined, ...]",
    changed: "Quarantined",
    kind: Kind,
    actor: str,
    paths: "Paths | None",
) -> "tuple[Quarantined, ...]":
    from ..core.review.quarantine import SETTING, as_text
    from .waking import wake

    with store.together():
        store.set_setting(SETTING, as_text(entries))
        data = {"check": changed.check, "test": changed.test, "reason": changed.reason}
        store.record(Event(kind, actor=actor, data=data))
    if paths is not None:
        wake(paths)
    return tuple(entries)
