"""People at the simulated machine: they plan, decide, change their minds, and work on main themselves.

1. They act by the store and by git, never by the daemon, at any moment, also between two calls of the daemon.
2. What the store refuses is refused; a person shrugs.
3. `tidy` is what they do at the end of the day, so that whatever can be finished is.
"""

import random
from collections.abc import Callable, Mapping

from nobrakes.beads.branches import APPROVE
from nobrakes.beads.model import CLOSED, WORKING, Bead, BeadType, Dependency, Status
from nobrakes.decisions.model import EscalationType
from nobrakes.decisions.service import desk
from nobrakes.errors import NobrakesError
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store

from .answering import words_for
from .clock import FakeClock
from .fake_git import FakeGit
from .graph import random_bead
from .objects import applied
from .project import green

PAUSED = "paused"
ME = "human"


class People:
    """Everybody who is not a program."""

    def __init__(
        self,
        store: Store,
        git: FakeGit,
        clock: FakeClock,
        rng: random.Random,
        edit_checks: Callable[[], str],
        edits: float = 1.0,
    ) -> None:
        self.store = store
        self.git = git
        self.clock = clock
        self.rng = rng
        self.new_beads = 0
        self.pauses = 0
        self.commits = 0
        self.at_the_end: list[Callable[[], None]] = []
        self.planned: set[str] = set()  # the epics that are features
        self._acts: list[tuple[float, Callable[[], str]]] = [
            (10, self.decide),
            (3, self.hold),
            (3, self.release),
            (1, self.defer),
            (2, self.cancel),
            (2, self.change_minds),
            (1, self.finish_by_hand),
            (1, self.reopen),
            (2, self.approve),
            (2, self.reprioritise),
            (2, self.connect),
            (1, self.disconnect),
            (2, self.add_bead),
            (4, self.move_main),
            (2, self.edit_main),
            (3, self.stop_editing),
            (2, self.pause),
            (4, self.resume),
            (edits, edit_checks),
        ]

    def also(self, weight: float, act: Callable[[], str]) -> None:
        """They do this as well."""
        self._acts.append((weight, act))

    def act(self) -> str:
        """Somebody does something; what it was."""
        weights = [weight for weight, _ in self._acts]
        act = self.rng.choices([act for _, act in self._acts], weights)[0]
        try:
            return act()
        except NobrakesError as error:
            return f"{act.__name__} refused: {error}"

    def tidy(self) -> None:
        """Nothing is paused, held, deferred, left as a draft or in the way, and main is green."""
        self.resume()
        self.git.edited.clear()
        for finish in self.at_the_end:
            finish()
        self.mend_main()
        for bead in self.store.beads():
            if bead.held is not None and bead.status not in CLOSED:
                self.store.record(Event(Kind.RELEASED, bead.id, actor=ME))
            if bead.defer_until is not None and bead.defer_until > self.clock.now() and bead.status not in CLOSED:
                self.store.record(Event(Kind.DEFERRED, bead.id, actor=ME, data={"until": None}))
            if bead.status is Status.DRAFT and not self._is_planned(bead):
                self.store.approve([bead.id], ME)

    # --- decisions -------------------------------------------------------------------------------

    def decide(self) -> str:
        """Answer or resolve one open escalation, or cancel its bead."""
        found = self.store.escalations()
        if not found:
            return "nothing to decide"
        one = self.rng.choice(sorted(found, key=lambda e: e.id))
        if one.type is EscalationType.MAIN_RED:
            self.mend_main()
        if one.bead is not None and one.type is not EscalationType.DOER_SUGGESTION and self.rng.random() < 0.15:
            self.store.record(Event(Kind.CANCELLED, one.bead, actor=ME))
            return f"cancelled {one.bead} for escalation {one.id}"
        if one.type is EscalationType.QUESTION and self.rng.random() < 0.9:
            if one.form is None:
                self.store.answer(one.id, "42", ME)
            else:
                desk.answer(self.store, one.id, words_for(one, random.Random(one.title)), ME)
            return f"answered {one.id} ({one.bead})"
        if one.type is EscalationType.PLAN_REVIEW:
            if self.rng.random() < 0.3:
                self.store.answer(one.id, "smaller steps", ME)
                return f"sent plan {one.id} back ({one.bead})"
            self.store.resolve(one.id, APPROVE, ME)
            return f"approved plan {one.id} ({one.bead})"
        to = None
        if one.bead is not None and self.rng.random() < 0.3:
            to = self.rng.choice([Status.NEEDS_TESTS, Status.NEEDS_DOER])
        self.store.resolve(one.id, "retry", ME, to)
        return f"resolved {one.id} ({one.type.value} {one.bead}) to {to}"

    def hold(self) -> str:
        """Hold a bead."""
        bead = self._some(lambda b: b.held is None and b.status not in CLOSED)
        self.store.record(Event(Kind.HELD, bead.id, actor=ME, data={"reason": "wait"}))
        return f"held {bead.id}"

    def release(self) -> str:
        """Release a bead that is held."""
        bead = self._some(lambda b: b.held is not None and b.status not in CLOSED)
        self.store.record(Event(Kind.RELEASED, bead.id, actor=ME))
        return f"released {bead.id}"

    def defer(self) -> str:
        """Put a bead off."""
        bead = self._some(lambda b: b.status not in CLOSED)
        until = self.clock.now() + self.rng.uniform(10, 2000)
        self.store.record(Event(Kind.DEFERRED, bead.id, actor=ME, data={"until": until}))
        return f"deferred {bead.id}"

    def cancel(self) -> str:
        """Cancel a bead, whatever it is doing."""
        bead = self._some(lambda b: b.status not in CLOSED and b.type is not BeadType.EPIC)
        self.store.record(Event(Kind.CANCELLED, bead.id, actor=ME))
        return f"cancelled {bead.id}"

    def change_minds(self) -> str:
        """Cancel a bead that somebody works on, and reopen it at once."""
        bead = self._some(lambda b: b.status in WORKING)
        self.store.record(Event(Kind.CANCELLED, bead.id, actor=ME))
        self.store.record(Event(Kind.REOPENED, bead.id, actor=ME))
        return f"cancelled and reopened {bead.id}"

    def finish_by_hand(self) -> str:
        """Say that a bead is done, without a merge."""
        bead = self._some(lambda b: b.status not in (*CLOSED, Status.DRAFT) and b.type is not BeadType.EPIC)
        self.store.record(Event(Kind.DONE_BY_HAND, bead.id, actor=ME))
        return f"{bead.id} done by hand"

    def reopen(self) -> str:
        """Take a cancellation back."""
        bead = self._some(lambda b: b.status is Status.CANCELLED and b.type is not BeadType.EPIC)
        self.store.record(Event(Kind.REOPENED, bead.id, actor=ME))
        return f"reopened {bead.id}"

    # --- the plan --------------------------------------------------------------------------------

    def approve(self) -> str:
        """Make a draft live."""
        bead = self._some(lambda b: b.status is Status.DRAFT and not self._is_planned(b))
        self.store.approve([bead.id], ME)
        return f"approved {bead.id}"

    def _is_planned(self, bead: Bead) -> bool:
        """Whether it is of a feature, whose plan goes live by commit-strategy alone."""
        return bead.id in self.planned or (bead.epic or "") in self.planned

    def reprioritise(self) -> str:
        """Change a bead's priority."""
        bead = self._some(lambda b: b.status not in CLOSED)
        self.store.change(bead.id, {"priority": self.rng.randrange(5)}, ME)
        return f"reprioritised {bead.id}"

    def connect(self) -> str:
        """Let one bead wait for another."""
        one, other = self._some(lambda b: b.status not in CLOSED), self._some(lambda b: True)
        self.store.add_dependency(Dependency(one.id, other.id), ME)
        return f"{one.id} waits for {other.id}"

    def disconnect(self) -> str:
        """Remove a dependency."""
        found = self.store.dependencies()
        if not found:
            return "no dependency"
        one = self.rng.choice(found)
        self.store.remove_dependency(one, ME)
        return f"{one.bead} does not wait for {one.needs}"

    def add_bead(self) -> str:
        """An increment of the plan."""
        self.new_beads += 1
        name = f"n{self.new_beads:02}"
        epics = [b.id for b in self.store.beads() if b.type is BeadType.EPIC and b.status is Status.OPEN]
        epic = self.rng.choice(epics) if epics and self.rng.random() < 0.5 else None
        bead = random_bead(self.rng, name, epic)
        needs = [self._some(lambda b: b.type is not BeadType.EPIC).id] if self.rng.random() < 0.5 else []
        self.store.put([bead], [Dependency(name, other) for other in needs], ME)
        return f"added {name}"

    # --- main ------------------------------------------------------------------------------------

    def move_main(self) -> str:
        """Commit on main by hand; what it breaks is for the checks to find."""
        path = self.rng.choice(["README.md", f"src/human{self.commits}.py", "src/shared.py"])
        if path in self.git.edited:
            return "somebody edits that already"
        return self.commit({path: f"v{self.rng.randrange(4)}"})

    def mend_main(self) -> str:
        """Make main green again, by hand, where it is not."""
        self.git.pull()
        tree = self.git.objects.tree_of(self.git.head)
        if green(tree):
            return "main is green"
        changes: dict[str, str | None] = {"src/shared.py": f"mended {self.commits}"}
        return self.commit(changes)

    def edit_main(self) -> str:
        """Begin to edit files of a checked-out main."""
        self.git.edited.add(self.rng.choice(["README.md", "src/shared.py", "src/b01.py", "Makefile"]))
        return "edits main"

    def stop_editing(self) -> str:
        """Put the edits away."""
        self.git.edited.clear()
        return "edits nothing"

    def commit(self, changes: Mapping[str, str | None]) -> str:
        """Commit these on main, by hand."""
        tree = applied(self.git.objects.tree_of(self.git.head), changes)
        self.commits += 1
        made = self.git.objects.commit(tree, (self.git.head,), f"by hand {self.commits}", ME, self.clock.now())
        self.git.put_on_main(made.id)
        return f"committed {sorted(changes)}"

    # --- the machine -----------------------------------------------------------------------------

    def pause(self) -> str:
        """Let nothing new be started."""
        self.pauses += 1
        self.store.set_setting(PAUSED, "1")
        return "paused"

    def resume(self) -> str:
        """Go on."""
        self.pauses += 1
        self.store.set_setting(PAUSED, None)
        return "resumed"

    def _some(self, wanted: Callable[[Bead], bool]) -> Bead:
        found = [bead for bead in self.store.beads() if wanted(bead)]
        if not found:
            raise NobrakesError("there is none")
        return self.rng.choice(found)
