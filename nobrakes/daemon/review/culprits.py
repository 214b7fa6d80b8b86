"""A red main: the queue is frozen and let go, the merge that did it is taken back, and people are told.

1. Only the merge of a bead that is done is taken back, whole, by one commit; a person's own commit is told.
2. Main only ever moves forward, also here: others may have what is on it already, and a commit can be taken back again.
3. The bead is open again, and waits for a person: its checks passed before it was merged, so something else is wrong.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...core.beads import causes
from ...core.beads.bead import Bead, Status
from ...core.beads.escalations import EscalationType
from ...core.beads.events import MERGES, Event, Kind
from ...core.checks.contract import CheckResult, setup_failed
from ...core.checks.verdict import Verdict
from ...core.main_monitor import Phase, Watch, at_rest
from ...ports.git import Candidate, Message
from ...ports.store import NewEscalation
from ..checks.validation import as_json, explain
from ..ports import Ports
from .messages import US
from .red_main import question

FROZEN = "frozen"
"""The setting that is there while nothing may be merged: the tip that is red."""

NO_SETUP = "frozen_by_setup"
"""The setting that says, while nothing may be merged, that main is not red: its set-up fails, and how."""

REPAIR = "canary/repair"
"""The ref (below refs/nobrakes/) that keeps the commit alive that is to take the culprit back."""

MOST_MERGES = 500
"""So many merges are looked through for the one that brought a commit."""

_NOTE = 2000
_MEANWHILE = "Merges wait until main is green again; nobrakes looks at every new commit on it, and each hour."

_UNTIL_SET_UP = (
    "It fails for every change alike, so none is blamed. Merges wait until the set-up passes on main: mend it, or what "
    "it needs. It is tried again by itself: at each new commit on main, each edit of the checks, each start of "
    "`nobrakes run`, each hour, and at once where you answer this with `retry`.\n"
)

_ENDS = {
    "environment": "The last tip that was seen green does not pass by now either: it is the environment (the machine, "
    "what it reaches, the time), and no commit is blamed.",
    "nothing_known": "No earlier tip is known to have passed in a run of its own, so no commit is blamed.",
    "unsure": "The search for the commit ended: the checks could not say whether an earlier commit passes.",
    "still_red": "main stays red without it as well, so it was not taken back.",
    "person": "It is no merge of a bead, so it is not taken back: whoever made it decides.",
    "conflict": "Later work builds on it, so it cannot be taken back by itself.",
}


class Culprits:
    """Freezes, finds whose it is, takes back, tells."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    # --- frozen and let go -----------------------------------------------------------------------

    def freeze(self, watch: Watch, results: Sequence[CheckResult], how: str) -> Watch:
        """Nothing is merged from now on."""
        store = self.ports.store
        store.set_setting(FROZEN, watch.tip)
        store.record(Event(Kind.MAIN_FROZEN, data={"commit": watch.tip, "results": as_json(results)}))
        if no_setup := setup_failed(results):
            store.set_setting(NO_SETUP, no_setup)
            return self._ask_of_checks(watch, results, _UNTIL_SET_UP)
        title = f"main is red at {watch.tip[:12]}, {how}"
        known = "" if watch.green else f"{_ENDS['nothing_known']} "
        return self._escalate(watch, title, f"{known}{_MEANWHILE}\n{explain(results)}")

    def let_go(self, watch: Watch, why: str = "") -> Watch:
        """Main is green, or nobody looks any more, or for another reason."""
        store = self.ports.store
        if store.setting(FROZEN) is not None:
            store.set_setting(FROZEN, None)
            store.set_setting(NO_SETUP, None)
            store.record(Event(Kind.MAIN_UNFROZEN, data={"commit": watch.tip}))
        self._resolve(watch, why or ("main is green again" if watch.tip else "nobody looks at main any more"))
        return replace(watch, escalation=0, results=(), frozen=False)

    def tell_green(self, watch: Watch) -> None:
        """The tip passed; `unsteady`: it failed a moment before."""
        unsteady = watch.phase is Phase.CONFIRM
        self.ports.store.record(Event(Kind.MAIN_GREEN, data={"commit": watch.tip, "unsteady": unsteady}))

    def was_decided(self, watch: Watch) -> bool:
        """Whether a person resolved what was asked when main was frozen: then they want it to be looked at."""
        return bool(watch.escalation) and self.ports.store.escalation(watch.escalation).resolved_at is not None

    def _is_open(self, watch: Watch) -> bool:
        return bool(watch.escalation) and self.ports.store.escalation(watch.escalation).resolved_at is None

    def tell_end(self, before: Watch, watch: Watch, seen: Verdict, results: Sequence[CheckResult]) -> Watch:
        """The search is over without a repair."""
        if not watch.frozen:  # nobody can tell what main is like
            return self._ask_of_checks(watch, results)
        if before.phase is Phase.LOOK and setup_failed(results) and self.ports.store.setting(NO_SETUP) is not None:
            return self._ask_of_checks(watch, results, _UNTIL_SET_UP)
        if before.phase is Phase.LOOK:
            return self._escalate(watch, "main is still red", explain(results)) if self.was_decided(before) else watch
        if before.phase is Phase.PROVE:
            return self.tell(watch, "still_red")
        return self.tell(watch, "environment" if before.phase is Phase.KNOWN and seen is Verdict.RED else "unsure")

    def _ask_of_checks(self, watch: Watch, results: Sequence[CheckResult], meanwhile: str = "") -> Watch:
        """Ask about checks that cannot be run on main, or add to what is asked of that already."""
        what = "the set-up (`setup`) failed" if setup_failed(results) else "the checks could not be run"
        evidence = {"commit": watch.tip, "results": as_json(results)}
        known = watch.escalation if self._is_open(watch) else 0
        title, detail = f"{what} on main at {watch.tip[:12]}", f"{meanwhile}{explain(results)}"
        new = NewEscalation(EscalationType.BROKEN_CHECKS, title, detail, evidence, adds_to=known)
        return replace(watch, escalation=self.ports.store.escalate(new, None, None, "nobrakes").id)

    def tell(self, watch: Watch, why: str, whose: str = "") -> Watch:
        """Say to a person what was found out."""
        self.ports.store.record(
            Event(Kind.CULPRIT_FOUND, data={"commit": watch.culprit or None, "why": why, "green": watch.green or None})
        )
        if why == "nothing_known" and self._was_said(watch):
            return watch
        title = f"main is red since {watch.culprit[:12]}{whose}" if watch.culprit else f"main is red: {why}"
        failed = "\n".join(f"{row['name']}: {row['outcome']}: {row['reason']}\n{row['tail']}" for row in watch.results)
        return self._escalate(watch, title.replace("_", " "), f"{_ENDS[why]} {_MEANWHILE}\n{failed}")

    def _was_said(self, watch: Watch) -> bool:
        """Whether the open question says of this tip that no earlier one is known to have passed."""
        asked = self.ports.store.escalation(watch.escalation) if self._is_open(watch) else None
        return asked is not None and not watch.green and asked.evidence.get("main") == watch.tip

    def _escalate(self, watch: Watch, title: str, detail: str) -> Watch:
        """Ask a person, or add to what was asked when less was known."""
        evidence = {
            "main": watch.tip,
            "green": watch.green or None,
            "culprit": watch.culprit or None,
            "searched": list(watch.line[:50]),
            "results": list(watch.results),
        }
        new = question(self.ports.store, title, detail, evidence, causes.of_output(detail))
        if self.ports.store.setting(NO_SETUP) is not None:  # it is set up again, and red
            self.ports.store.set_setting(NO_SETUP, None)
            self._resolve(watch, "the set-up passes again")
        return replace(watch, escalation=self.ports.store.escalate(new, None, None, "nobrakes").id)

    def _resolve(self, watch: Watch, why: str) -> None:
        """The question about main is over; that of a bead is its own, and a person's."""
        asked = self.ports.store.escalation(watch.escalation) if watch.escalation else None
        if asked is not None and asked.resolved_at is None and asked.bead is None:
            self.ports.store.resolve(watch.escalation, why, "nobrakes")

    # --- taking back -----------------------------------------------------------------------------

    def prepare(self, watch: Watch, now: float) -> Watch:
        """The commit that takes the culprit back, to be run; at rest where there is none to be made."""
        git = self.ports.git
        found = self.merge_of(watch.culprit)
        if found is None:
            return self.tell(at_rest(watch, now), "person")
        bead, base, commit = found
        main = git.main()
        words = Message(
            f"Revert: {bead.title}",
            f"main does not pass its checks since this was merged. This reverts commit {commit}.",
            US,
            now,
            (("Reverts-Bead", bead.id),),
        )
        whole = git.squash(base, commit, words)
        made = git.revert(whole.commit, main, words) if isinstance(whole, Candidate) else whole
        if not isinstance(made, Candidate):
            return self.tell(at_rest(watch, now), "conflict", f" (bead {bead.id})")
        git.pin(REPAIR, made.commit)
        return replace(watch, candidate=made.commit, onto=main)

    def merge_of(self, commit: str) -> tuple[Bead, str, str] | None:
        """(bead, base, merge) of the merge that brought this commit, and still stands; None: a person's own."""
        store, git = self.ports.store, self.ports.git
        for event in store.latest_events(MERGES, limit=MOST_MERGES):
            merge = str(event.data.get("merged_commit") or "")
            if not merge or event.bead is None or not git.has(merge) or not git.contains(commit, merge):
                continue
            base = str(event.data.get("base") or "")
            if not base and event.attempt is not None:
                base = str(store.attempt(event.attempt).data.get("base") or "")
            if not base or git.contains(commit, base):
                continue
            bead = store.bead(event.bead)
            return (bead, base, merge) if bead.status is Status.DONE and bead.merged_commit == merge else None
        return None

    def taken_back(self, watch: Watch, now: float) -> Watch:
        """Main is green again: the bead is open, and a person is told with the evidence."""
        store = self.ports.store
        store.record(Event(Kind.CULPRIT_FOUND, data={"commit": watch.culprit, "why": "merge", "green": watch.green}))
        found = self.merge_of(watch.culprit)
        if found is not None:  # else a person took it back or opened it meanwhile
            self._reopen(found[0], found[2], watch)
        healed = replace(
            watch, phase=Phase.REST, tip=watch.candidate, green=watch.candidate, looked_at=now, searched=""
        )
        return replace(self.let_go(healed), culprit="", candidate="", onto="", line=())

    def _reopen(self, bead: Bead, merge: str, watch: Watch) -> None:
        store = self.ports.store
        rows = [row for row in watch.results if row["outcome"] != "pass"]
        failed = "; ".join(f"{row['name']}: {row['reason']}" for row in rows)
        data = {"commit": merge, "revert": watch.candidate, "results": list(watch.results)}
        # main's history holds it too, as long as nobody rewrites that
        self.ports.git.pin(f"archive/{bead.id}/reverted-{merge[:12]}", merge)
        store.record(Event(Kind.REVERTED, bead.id, data=data))
        # what checks print stays out of it: agents take a bead's own words for a person's
        note = f"Merged as {merge[:12]} and taken back by {watch.candidate[:12]}: main was red after it ({failed})."
        store.change(bead.id, {"notes": f"{bead.notes}\n\n{note}".strip()[-_NOTE:]}, "nobrakes")
        log = "\n".join(f"{row['name']}: {row['reason']}\n{row['tail']}" for row in rows)
        evidence = {"reverted": True, "main": watch.tip, "green": watch.green, "searched": list(watch.line), **data}
        new = question(
            store,
            f"{bead.id} broke main and was taken back",
            f"main was green at {watch.green[:12]}, and red since {watch.culprit[:12]}.\n{log}",
            evidence,
            causes.passed_before(f"{merge[:12]} passed when it was merged", log),
        )
        store.escalate(new, bead.id, None, "nobrakes")
