"""Rollbacks of features, done: the commit that takes the merges back is built, handed in, and followed to its end.

1. It is built outside a transaction, and handed in in one: a crash between the two builds it again.
2. Where nothing differs (a person took it back by hand), nothing is handed in, and the rollback is over.
3. Git is asked outside a transaction, so what it was asked for is looked at once more in the one that writes: whoever
   took the bead in hand meanwhile keeps it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...core.beads.bead import CLOSED, WAITING_FOR_AGENT, Bead, Status
from ...core.beads.events import Event, Kind
from ...core.beads.taking import is_handed_back
from ...core.beads.taking_back import Merged, of_attempts
from ...core.errors import GitFailed, NobrakesError, NoMain, NotAllowed
from ...core.forge import data_keys as keys
from ...core.forge.actions import Ask, DropRollback, FinishRollback, TakeBack
from ...core.forge.feature import Feature
from ...core.forge.rollback import AGAIN, HELD, asking, unfinished
from ...core.text.cleaning import shorten
from ...git.taking_back import Hindered, later_work, sorted_out, taken_back
from ...ports.git import Git, Message
from ...ports.reviews import ByHand
from ...ports.store import Store
from ..epics import base_of
from ..ports import Ports
from ..review.messages import US
from .answers import Answers
from .telling import BY, tell

NAMED = 5
_NOT_YET = (*WAITING_FOR_AGENT, Status.ESCALATED)
"""Where its bead is until something is handed in."""


@dataclass(frozen=True, slots=True)
class _Rolling:
    """A feature that is rolled back, by whom it was asked for, and its bead, as they were seen."""

    feature: Feature
    by: str
    bead: Bead


class Rollbacks:
    """The hands of core.forge.rollback."""

    def __init__(self, ports: Ports, answers: Answers) -> None:
        self.ports = ports
        self.answers = answers

    def take_back(self, action: TakeBack) -> bool:
        """Build it and hand it in."""
        return self._tried(action.feature, self._take_back, asking)

    def finish(self, action: FinishRollback) -> bool:
        """It is on main, or a person did it by hand."""
        return self._tried(action.feature, self._finish, unfinished)

    def _tried(self, id_: str, do: Callable[[_Rolling], bool], ask: Callable[[str, str, str, str], Ask]) -> bool:
        """What git refuses is a person's to look at, and other features go on meanwhile."""
        rolling = _rolling(self.ports.store, id_)
        if rolling is None:
            return False
        try:
            return do(rolling)
        except (GitFailed, NoMain, NotAllowed) as error:
            title = shorten(f"Feature {id_} is not rolled back: {error}", 480)
            with self.ports.store.together():
                return self.answers.ask(ask(id_, rolling.bead.id, title, f"{error} {error.hint}".strip()))

    def _take_back(self, one: _Rolling) -> bool:
        if one.bead.status not in _NOT_YET:
            return False
        with self.ports.store.together():
            given_up, landing = self.ports.words.give_up(one.feature.id, one.by)
        if landing:  # the end of their reviews wakes the loop
            return bool(given_up)
        merges, gone = sorted_out(self._git(one), self.ports.words.landed(one.feature.id), one.feature.base)
        return self._build(one, merges, _left_alone(gone))

    def _git(self, one: _Rolling) -> Git:
        """The repository where main is what the feature was merged into."""
        return base_of(self.ports, one.bead)

    def _build(self, one: _Rolling, merges: Sequence[Merged], gone: str) -> bool:
        git, store = self._git(one), self.ports.store
        main = git.main()
        message = Message(f"Roll back: {one.feature.title}", f"As {one.by} asked.", US, store.now())
        made = taken_back(git, merges, main, message) if merges else None
        if isinstance(made, Hindered):
            return self._hindered(one, made, merges)
        if made is None or made.tree == git.tree(main):
            return self._end(one, merges, f"main has nothing of it any more{gone}", main)
        with store.together():
            if not _is_as_seen(self.ports.store, one):
                return False
            self._hand_in(one, made.commit, main, merges)
            tell(store, one.feature, f"its rollback goes to the Reviewer, as bead {one.bead.id}{gone}", "info")
        return True

    def _hand_in(self, one: _Rolling, commit: str, main: str, merges: Sequence[Merged]) -> None:
        """Before the Reviewer, in the name of who asked."""
        store, name, fence = self.ports.store, one.bead.id, one.bead.fence + 1
        kept = f"incoming/{name}/{fence}"
        self.ports.git.pin(kept, commit)
        try:
            store.change(name, {"description": _told(one.feature, one.by, merges)}, BY)
            store.hand_in(ByHand(name, one.by, fence, commit, main, takes_back=tuple(merges), built=True))
        except NobrakesError:
            self.ports.git.pin(kept, None)
            raise

    def _hindered(self, one: _Rolling, found: Hindered, merges: Sequence[Merged]) -> bool:
        """Ask a person: which files, and whose later work."""
        git = self._git(one)
        later = later_work(git, found, git.main(), {merge.bead for merge in merges})
        files = ", ".join(found.files[:NAMED]) or "its history"
        whose = [made.trailer("Bead") or f"commit {made.commit[:12]}" for made in later]
        with_ = ", ".join(tuple(dict.fromkeys(whose))[:NAMED]) or "later work"
        title = f"Feature {one.feature.id} is not rolled back: "
        title += f"taking {found.merge.bead} back conflicts with {with_} in {files}"
        detail = f"The merge of {found.merge.bead} is {found.merge.commit[:12]}. Changed since in {files} by {with_}."
        with self.ports.store.together():
            return _is_as_seen(self.ports.store, one) and self.answers.ask(
                asking(one.feature.id, one.bead.id, shorten(title, 480), detail)
            )

    def _finish(self, one: _Rolling) -> bool:
        """What was handed in for it is off main, and all of the feature where a person did it otherwise."""
        if one.bead.status is not Status.DONE:
            return False
        merged = one.bead.merged_commit or ""
        taken = of_attempts(self.ports.store.attempts(one.bead.id)) if merged else ()
        if not taken:
            taken = sorted_out(self._git(one), self.ports.words.landed(one.feature.id), one.feature.base)[0]
        why = f"taken off main by {merged[:12]}" if merged else f"bead {one.bead.id} was done by hand"
        return self._end(one, taken, why, merged or self._git(one).main())

    def _end(self, one: _Rolling, taken: Sequence[Merged], why: str, commit: str) -> bool:
        """It is over: main is without these merges since `commit`."""
        with self.ports.store.together():
            if not _is_as_seen(self.ports.store, one):
                return False
            self._close(one.bead, "nothing was left to be taken back")
            self.ports.words.end_rollback(one.feature.id, one.by, taken, why, commit)
        for merge in taken:
            _pin(self.ports.git, merge)
        return True

    def drop(self, action: DropRollback) -> bool:
        """It is off."""
        return self._off(action.feature, action.why)

    def answered(self, feature: Feature, chosen: str) -> None:
        """Try it again, or leave it; where it is over by now, nothing."""
        one = _rolling(self.ports.store, feature.id)
        if one is None or one.bead.status in CLOSED:
            return
        if chosen != AGAIN:
            self._close(one.bead, "what was merged stays on main")
            self._off(feature.id, "what was merged stays on main")
        elif is_handed_back(one.bead.held):
            reason = HELD.format(feature=feature.id)
            self.ports.store.record(Event(Kind.HELD, one.bead.id, actor=BY, data={"reason": reason}))

    def _close(self, bead: Bead, why: str) -> None:
        if self.ports.store.bead(bead.id).status not in CLOSED:
            self.ports.store.record(Event(Kind.CANCELLED, bead.id, actor=BY, data={"reason": why}))

    def _off(self, id_: str, why: str) -> bool:
        store = self.ports.store
        if not self.ports.words.drop_rollback(id_, BY, why):
            return False
        text = f"it is not rolled back: {why}; what was given up can be reopened"
        tell(store, store.feature(id_), text, "warning")
        return True


def _rolling(store: Store, id_: str) -> _Rolling | None:
    feature = store.feature(id_)
    asked = feature.data.get(keys.ROLLBACK)
    return None if asked is None else _Rolling(feature, str(asked["by"]), store.bead(str(asked["bead"])))


def _is_as_seen(store: Store, one: _Rolling) -> bool:
    """Whether nobody took the bead in hand since, nor gave the rollback up."""
    now = _rolling(store, one.feature.id)
    return now is not None and _place(now.bead) == _place(one.bead)


def _place(bead: Bead) -> tuple[Status, str | None, int]:
    """What anybody changes who takes the bead in hand."""
    return bead.status, bead.held, bead.fence


def _pin(git: Git, one: Merged) -> None:
    """Keep what was taken back, as `undo` does, also where main is rewritten later."""
    try:
        git.pin(f"archive/{one.bead}/reverted-{one.commit[:12]}", one.commit)
    except (GitFailed, NoMain):
        return  # it is gone from git; main's own history says what it was


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
