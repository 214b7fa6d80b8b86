"""Rollbacks of features, done: the commit that takes the merges back is built, handed in, and followed to its end.

1. It is built outside a transaction, and handed in in one: a crash between the two builds it again.
2. Where nothing differs (a person took it back by hand), nothing is handed in, and the rollback is over.
"""

from collections.abc import Sequence

from ...core.beads.bead import CLOSED, WAITING_FOR_AGENT, Bead, Status
from ...core.beads.events import Event, Kind
from ...core.beads.taking import is_handed_back
from ...core.beads.taking_back import Merged, of_attempts
from ...core.errors import GitFailed, NoMain
from ...core.forge import data_keys as keys
from ...core.forge.actions import DropRollback, FinishRollback, TakeBack
from ...core.forge.feature import Feature
from ...core.forge.rollback import AGAIN, HELD, asking
from ...core.text.cleaning import shorten
from ...git.taking_back import Hindered, later_work, sorted_out, taken_back
from ...ports import ByHand, Message
from ..ports import Ports
from ..review.messages import US
from .answers import Answers
from .telling import BY, tell

NAMED = 5
_NOT_YET = (*WAITING_FOR_AGENT, Status.ESCALATED)
"""Where its bead is until something is handed in."""


class Rollbacks:
    """The hands of core.forge.rollback."""

    def __init__(self, ports: Ports, answers: Answers) -> None:
        self.ports = ports
        self.answers = answers

    def take_back(self, action: TakeBack) -> bool:
        """Build it and hand it in."""
        store = self.ports.store
        feature = store.feature(action.feature)
        rolling = feature.data.get(keys.ROLLBACK)
        if rolling is None:
            return False
        bead = store.bead(str(rolling["bead"]))
        if bead.status not in _NOT_YET:
            return False
        by = str(rolling["by"])
        with store.together():
            given_up, landing = self.ports.words.give_up(feature.id, by)
        if landing:  # the end of their reviews wakes the loop
            return bool(given_up)
        merges, gone = sorted_out(self.ports.git, self.ports.words.landed(feature.id), feature.base)
        return self._build(feature, bead, by, merges, _left_alone(gone))

    def _build(self, feature: Feature, bead: Bead, by: str, merges: Sequence[Merged], gone: str) -> bool:
        git, store = self.ports.git, self.ports.store
        main = git.main()
        message = Message(f"Roll back: {feature.title}", f"As {by} asked.", US, store.now())
        made = taken_back(git, merges, main, message) if merges else None
        if isinstance(made, Hindered):
            return self._hindered(feature, bead, made, merges)
        if made is None or made.tree == git.tree(main):
            with store.together():
                self._close(bead, "nothing was left to be taken back")
                self.ports.words.end_rollback(feature.id, by, merges, f"main has nothing of it any more{gone}", main)
            return True
        with store.together():
            now = store.bead(bead.id)
            if now.status not in _NOT_YET:
                return False  # a person has it in hand since
            fence = now.fence + 1
            git.pin(f"incoming/{bead.id}/{fence}", made.commit)
            store.change(bead.id, {"description": _told(feature, by, merges)}, BY)
            store.hand_in(ByHand(bead.id, by, fence, made.commit, main, takes_back=tuple(merges)))
            tell(store, feature, f"its rollback goes to the Reviewer, as bead {bead.id}{gone}", "info")
        return True

    def _hindered(self, feature: Feature, bead: Bead, found: Hindered, merges: Sequence[Merged]) -> bool:
        """Ask a person: which files, and whose later work."""
        later = later_work(self.ports.git, found, self.ports.git.main(), {one.bead for one in merges})
        files = ", ".join(found.files[:NAMED]) or "its history"
        whose = [made.trailer("Bead") or f"commit {made.commit[:12]}" for made in later]
        with_ = ", ".join(tuple(dict.fromkeys(whose))[:NAMED]) or "later work"
        title = f"Feature {feature.id} is not rolled back: "
        title += f"taking {found.merge.bead} back conflicts with {with_} in {files}"
        detail = f"The merge of {found.merge.bead} is {found.merge.commit[:12]}. Changed since in {files} by {with_}."
        with self.ports.store.together():
            return self.answers.ask(asking(feature.id, bead.id, shorten(title, 480), detail))

    def finish(self, action: FinishRollback) -> bool:
        """It is on main, or a person did it by hand."""
        store = self.ports.store
        feature = store.feature(action.feature)
        rolling = feature.data.get(keys.ROLLBACK)
        if rolling is None:
            return False
        bead = store.bead(str(rolling["bead"]))
        merged = bead.merged_commit or ""
        taken = of_attempts(store.attempts(bead.id)) if merged else ()
        why = f"taken off main by {merged[:12]}" if merged else f"bead {bead.id} was done by hand"
        self.ports.words.end_rollback(feature.id, str(rolling["by"]), taken, why, merged)
        for one in taken:
            self._pin(one)
        return True

    def _pin(self, one: Merged) -> None:
        """Keep what was taken back, as `undo` does, also where main is rewritten later."""
        try:
            self.ports.git.pin(f"archive/{one.bead}/reverted-{one.commit[:12]}", one.commit)
        except (GitFailed, NoMain):
            return  # it is gone from git; main's own history says what it was

    def drop(self, action: DropRollback) -> bool:
        """It is off."""
        return self._off(action.feature, action.why)

    def answered(self, feature: Feature, chosen: str) -> None:
        """Try it again, or leave it."""
        rolling = feature.data.get(keys.ROLLBACK)
        if rolling is None:
            return
        bead = self.ports.store.bead(str(rolling["bead"]))
        if chosen != AGAIN:
            self._close(bead, "what was merged stays on main")
            self._off(feature.id, "what was merged stays on main")
        elif is_handed_back(bead.held):
            reason = HELD.format(feature=feature.id)
            self.ports.store.record(Event(Kind.HELD, bead.id, actor=BY, data={"reason": reason}))

    def _close(self, bead: Bead, why: str) -> None:
        if self.ports.store.bead(bead.id).status not in CLOSED:
            self.ports.store.record(Event(Kind.CANCELLED, bead.id, actor=BY, data={"reason": why}))

    def _off(self, id_: str, why: str) -> bool:
        store = self.ports.store
        feature = store.feature(id_)
        if keys.ROLLBACK not in feature.data:
            return False
        store.note_feature(id_, {keys.ROLLBACK: None}, BY)
        tell(store, feature, f"it is not rolled back: {why}; what was given up can be reopened", "warning")
        return True


def _left_alone(gone: Sequence[Merged]) -> str:
    """What is told of merges that main does not hold any more, to go on a sentence with."""
    named = ", ".join(f"{one.bead} ({one.commit[:12]})" for one in gone[:NAMED])
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    return f"; left alone, since main was rewritten and does not hold them any more: {named}{more}" if gone else ""


def _told(feature: Feature, by: str, merges: Sequence[Merged]) -> str:
    """What the commit on main says."""
    lines = [f"- {one.bead}: {one.commit}" for one in merges]
    head = f"Takes feature {feature.id} off main again, as {by} asked. This reverts, the newest first:"
    return "\n".join([head, "", *lines])
