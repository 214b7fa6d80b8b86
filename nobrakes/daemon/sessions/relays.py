"""Turns of relay sessions: work in a private clone of a repository, handed back as a branch when each turn ends.

1. The agent may change everything in its clone and nothing else: the repository's checkout, its git folder, its
   configuration and hooks are out of its reach, as a Doer's.
2. What a turn came to is written into the turn before it is closed, so that a summary needs no model.
3. The clone stays as long as the session goes on; then all of it is kept as branches, and it is removed.
4. A session that a person wants in place works on the files of the checkout itself. Its git folder is the clone's, laid
   over the checkout's in the sandbox, so that the real one stays out of reach; without a sandbox nothing starts. What
   lies there is kept before each turn; the checkout follows to the session's branch after it.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from ...core.beads.bead import Status
from ...core.beads.escalations import EscalationType
from ...core.errors import ConfigError, NobrakesError, NoSandbox, NoSuchSession
from ...core.sessions.relay import (
    BEAD,
    BRANCH,
    CHAT,
    FOLDER,
    HEAD,
    IN_PLACE,
    PLAN_OF,
    REPOSITORY,
    START,
    is_relay,
    only_plans,
)
from ...core.sessions.session import Session, State, Talk
from ...git import in_place
from ...git.workspaces import keep
from ...git.workspaces.relays import LENT, HandedBack, RelayClones, branch_of
from ...host.files import TRACKED, write_private
from ...ports.git import Argv
from ...ports.people import Notice
from ...ports.store import NewEscalation
from ...sandbox.closure import Laid
from ..ports import Ports
from .run_files import RunFiles

_WAITS = (State.IDLE, State.ASKING)
MOST_PLAN = 7000
"""Characters of a plan that a person is asked about."""
LENT_AT = "/lent/objects"
"""In the sandbox of a session in place: the objects of the repository, to be read."""
NO_SANDBOX = "a session in place needs the sandbox (bubblewrap): else nothing keeps its agent out of the git folder"


class Relays:
    """The clones of the relay sessions that this store has."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.files = RunFiles(ports)
        self._told: set[int] = set()

    def _root(self, session: Session) -> str:
        return str(session.data.get(REPOSITORY) or self.ports.paths.root)

    @contextmanager
    def _clones(self, session: Session) -> Iterator[RelayClones]:
        clones = RelayClones(
            self._root(session), os.path.join(self.ports.paths.folder, FOLDER), self.ports.config().sizes()
        )
        with closing(clones):
            yield clones

    def workspace(self, session: Session) -> str:
        """Where the session's agent works."""
        if session.data.get(IN_PLACE):
            return self._root(session)
        return os.path.join(self.ports.paths.folder, FOLDER, str(session.id))

    def making(self, talk: Talk) -> tuple[Argv, ...]:
        """The commands that make the clone where it is missing. In place: what the checkout holds is kept before."""
        session, start = talk.session, str(talk.session.data[START])
        with self._clones(session) as clones:
            made = clones.making(session.id, start, f"Session {session.id}")
            if not session.data.get(IN_PLACE):
                return made
            if clones.start() != (self._last(session.id) or start):
                raise ConfigError(
                    f"somebody went on in {clones.root}: what is checked out is not what session {session.id} left",
                    f"Switch back to {branch_of(session.id)} there, or end it: `nobrakes session end {session.id}`",
                )
            os.makedirs(clones.folder, mode=0o700, exist_ok=True)
            write_private(clones.path(session.id) + LENT, f"{LENT_AT}\n".encode())
        sizes = self.ports.config().sizes()
        words = (session.id, talk.turn.number, talk.turn.token[:8])
        at = os.path.join(in_place.kept(self._root(session)), "-".join(map(str, words)))
        numbers = map(str, (sizes.file, sizes.new, sizes.paths, sizes.depth))
        return (sys.executable, "-P", "-m", keep.__name__, self._root(session), at, *numbers), *made

    def laid(self, session: Session) -> Laid | None:
        """What lies over the checkout in the sandbox; None: the session works in a clone. NotAllowed, NoSandbox."""
        if not session.data.get(IN_PLACE):
            return None
        root = self._root(session)
        in_place.take(in_place.Claim(root, self.ports.paths.folder, session.id))
        if self.ports.config().sandbox.mode == "none" or self.ports.sandbox_trouble():
            raise NoSandbox(NO_SANDBOX, "Without --in-place a session works in a clone of its own, and needs none.")
        clone, git = os.path.join(self.ports.paths.folder, FOLDER, str(session.id)), os.path.join(root, ".git")
        ours = os.path.join(root, ".nobrakes")
        tracked = [os.path.join(ours, name) for name in sorted(TRACKED)]
        with self._clones(session) as clones:
            objects = clones.place.objects
        return Laid(
            covered=(ours,) if os.path.isdir(ours) else (),
            over=((os.path.join(clone, ".git"), git),),
            read=(
                *((path, path) for path in tracked if os.path.exists(path)),
                (objects, LENT_AT),
                (clone + LENT, os.path.join(git, "objects", "info", "alternates")),
                *((os.path.join(clone, ".git", name), os.path.join(git, name)) for name in ("config", "hooks")),
            ),
        )

    def lent(self, session: Session) -> tuple[str, ...]:
        """The folders of objects that the clone borrows from, where they are another repository's."""
        if not session.data.get(REPOSITORY):
            return ()
        with self._clones(session) as clones:
            lent = clones.place.lent()
        inside = os.path.join(self._root(session), "") if session.data.get(IN_PLACE) else "\0"
        return tuple(path for path in lent if not path.startswith(inside))

    def environment(self, session: Session) -> dict[str, str]:
        """What its agent is told beside what every agent is: no file of the project is closed to it."""
        return {"NOBRAKES_BRANCH": branch_of(session.id), "NOBRAKES_TESTS": "", "NOBRAKES_GATES": ""}

    def ended(self, talk: Talk, said: str, asks: bool) -> None:
        """What becomes of the turn's work; with `asks` a person is asked how the session goes on."""
        if only_plans(talk.session):
            self.files.ended(talk, said, "")
            self._drop(talk)
            if asks and said:
                self._ask_about_plan(talk, said)
                return
            handed = HandedBack("", "")
        else:
            handed = self.hand_back(talk)
            self.files.ended(talk, said, handed.branch)
        if asks:
            self.ask_what_next(talk, said, handed)

    def _drop(self, talk: Talk) -> None:
        """A turn that only planned: its clone is removed, and what it changed all the same is kept and told."""
        ports, session = self.ports, talk.session
        try:
            with self._clones(session) as clones:
                branch = clones.clear(session.id, talk.turn.number, str(session.data[START]))
        except NobrakesError as error:
            text = f"session {session.id} only plans, and its clone could not be removed: {error}"
            ports.notifier.tell(Notice(text, urgent=True))
            return
        if branch:
            text = f"session {session.id} was to plan and changed files: they are on the branch {branch}"
            ports.notifier.tell(Notice(text, urgent=True))

    def _ask_about_plan(self, talk: Talk, said: str) -> None:
        """Ask the person to approve the plan; one that it takes the place of is asked about no more."""
        store, session = self.ports.store, talk.session
        title = f"Plan of session {session.id}: {session.title}"[:200]
        asked = (e.id for e in store.escalations() if e.session == session.id and PLAN_OF in e.evidence)
        new = NewEscalation(
            EscalationType.PLAN_REVIEW,
            title,
            said[-MOST_PLAN:],
            {PLAN_OF: session.id},
            adds_to=next(asked, 0),
            session=session.id,
        )
        store.escalate(new, None, None, "nobrakes")

    def hand_back(self, talk: Talk) -> HandedBack:
        """Hand back what the turn committed, and write that into the turn, which is open still."""
        ports, session, turn = self.ports, talk.session, talk.turn
        data = ports.store.turn(turn.id).data
        if HEAD in data:  # a crash came between this and the end
            return HandedBack(str(data[HEAD]), str(data[BRANCH]))
        with self._clones(session) as clones:
            try:
                start, last = str(session.data[START]), self._last(session.id)
                handed = clones.hand_back(session.id, turn.number, start, last, bool(session.data.get(IN_PLACE)))
            except NobrakesError as error:
                text = f"what session {session.id} made could not be handed back: {error}"
                ports.notifier.tell(Notice(text, urgent=True))
                return HandedBack("", "")
        ports.store.note_turn(turn.id, {HEAD: handed.head, BRANCH: handed.branch})
        return handed

    def _last(self, session: int) -> str:
        """The commit that an earlier turn handed back; empty: none did."""
        heads = [str(one.data[HEAD]) for one in self.ports.store.turns(session) if one.data.get(HEAD)]
        return heads[-1] if heads else ""

    def ask_what_next(self, talk: Talk, said: str, handed: HandedBack) -> None:
        """Ask the person for the next prompt, where no chat agent waits for the end."""
        session = talk.session
        asked = any(one.session == session.id for one in self.ports.store.escalations())
        if session.data.get(CHAT) or asked or self.ports.store.session(session.id).waiting:
            return
        where = f"\n\nIts commits are on the branch {handed.branch}." if handed.branch else ""
        new = NewEscalation(
            EscalationType.QUESTION,
            f"What next? Session {session.id}: {session.title}"[:200],
            (said[-4000:] or "It said nothing.") + where,
            {"what_next": session.id},
            session=session.id,
        )
        self.ports.store.escalate(new, None, None, "nobrakes")

    def settle(self) -> None:
        """Keep and remove the clones of sessions that have ended; the checkouts in which they worked are free."""
        self._settle_claims()
        folder = os.path.join(self.ports.paths.folder, FOLDER)
        if not os.path.isdir(folder):
            return
        left = {int(name) for name in os.listdir(folder) if name.isascii() and name.isdigit()} - self._told
        if left:  # nobody is asked where nothing can be removed: this is looked at in each quiet turn
            going = self.ports.store.sessions()
            self._end_merged(going)
            left -= {session.id for session in going}
        if left:
            left -= self._at_work()
        for number in sorted(left):
            self._remove(number)

    def _end_merged(self, going: Sequence[Session]) -> None:
        """End the sessions whose work has come to main, and put their branches away."""
        store = self.ports.store
        handed = [one for one in going if one.data.get(BEAD) and one.state in _WAITS]
        if not handed:
            return
        beads = store.beads(ids=sorted({str(one.data[BEAD]) for one in handed}))
        merged = {one.id for one in beads if one.status is Status.DONE and one.merged_commit}
        for session in handed:
            bead = str(session.data[BEAD])
            if bead not in merged or session.waiting:
                continue
            with suppress(NobrakesError), self._clones(session) as clones:  # a branch that cannot be moved stays
                for data in (turn.data for turn in store.turns(session.id) if turn.data.get(BRANCH)):
                    if str(data[BRANCH]).startswith(branch_of(session.id)):  # another one is a person's own
                        clones.put_away(bead, str(data[BRANCH]), str(data[HEAD]))
            store.end_session(session.id, "nobrakes")

    def _settle_claims(self) -> None:
        claims = list(in_place.of_store(self.ports.paths.folder))
        if not claims:
            return
        going = {session.id for session in self.ports.store.sessions()} | self._at_work()
        for claim in claims:
            if claim.session not in going:
                in_place.release(claim)

    def _at_work(self) -> set[int]:
        """The sessions whose agent runs still, also after they have ended."""
        store = self.ports.store
        return {store.turn(run.turn).session for run in store.runs() if run.turn}

    def _remove(self, number: int) -> None:
        ports = self.ports
        try:
            session, turns = ports.store.session(number), ports.store.turns(number)
            if not is_relay(session):  # a database that was lost gave the number to another one
                raise NoSuchSession(f"session {number} is another one now, and has no clone")
            with self._clones(session) as clones:
                start, last = str(session.data[START]), self._last(number)
                branch = clones.remove(number, len(turns), start, last, bool(session.data.get(IN_PLACE)))
        except NobrakesError as error:
            self._told.add(number)
            text = f"the clone of session {number} is left where it is, since it cannot be kept: {error}"
            ports.notifier.tell(Notice(text, urgent=True))
            return
        if branch:
            ports.notifier.tell(Notice(f"what session {number} had not committed is on the branch {branch}"))
