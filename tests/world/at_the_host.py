"""People at the code host of a simulated world, and the promises about requests; in worlds with `--requests`.

They merge in three ways, approve, ask for changes, close, push to our branches by force, and to main; the host's checks
are red or green. In some worlds they break main, and mend it. At the end of the day main is green, and what can be
merged is.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence

from nobrakes.beads.branches import branch_of
from nobrakes.beads.model import CLOSED, Bead, BeadType, Status
from nobrakes.config.settings import Config
from nobrakes.errors import NotAllowed
from nobrakes.requests import service as requests_service
from nobrakes.requests.model import CheckState, PullRequest, PullState, request_branch

from . import by_epics
from .fake_code_host import WAYS, Request
from .people import ME, People
from .project import FIRST_TREE, Tree, green
from .requested import MAIN, RequestedFakeGit
from .scene import Scene

BREAKING = 0.3
"""In so many worlds somebody breaks main."""
BASE = "src/base.py"


class AtTheHost:
    """What they do there. `git` is what has the host; `config`: the settings as they are then."""

    def __init__(self, people: People, git: RequestedFakeGit, config: Callable[[], Config], seed: int) -> None:
        self.people, self.git, self.host, self.rng = people, git, git.host, git.rng
        self.config, self.words = config, random.Random(f"{seed} words for a push")
        self.said = 0
        self.breaks = random.Random(f"{seed} who breaks main").random() < BREAKING

    def acts(self, often: float) -> None:
        """They do this as well."""
        for weight, act in (
            (8, self.merge), (3, self.check), (2, self.comment), (2, self.approve), (1, self.push_by_force),
            (2, self.put_back), (0.7, self.close), (2, self.push_to_main),
        ):  # fmt: skip
            self.people.also(weight * often, self._quietly(act))
        if self.breaks:
            self.people.also(often, self._quietly(self.break_main))
            self.people.also(often, self._quietly(self.mend_main))
        if any(one.push is False for one in self.config().review.features.values()):
            self.people.also(4 * often, self.let_push)

    def _quietly(self, act: Callable[[], str]) -> Callable[[], str]:
        """An act of people has its answer: what the daemon may meet there is not theirs."""

        def done() -> str:
            met, self.host.answers = self.host.answers, lambda call: None
            try:
                return act()
            finally:
                self.host.answers = met
                self.git.people_did()

        done.__name__ = act.__name__
        return done

    def merge(self) -> str:
        """Merge a request that is green with main."""
        one = self._some()
        self._is_good(one)
        made = self.host.merge(one.number, self.rng.choice(WAYS))
        return f"merged #{one.number} as {made[:12]}"

    def check(self) -> str:
        """A check of the host begins or ends."""
        one = self._some()
        state = self.rng.choice([CheckState.RUNNING, CheckState.PASSED, CheckState.PASSED, CheckState.FAILED])
        self.host.check(self._head(one), "build", state)
        return f"build of #{one.number} is {state}"

    def comment(self) -> str:
        """Somebody wants something, and not all of them may write."""
        one, who = self._some(), self.rng.choice(["ann", "bob", "eve"])
        self.said += 1
        self.host.comment(one.number, who, f"change {self.said}", "src/shared.py", self.said)
        return f"{who} wants change {self.said} of #{one.number}"

    def approve(self) -> str:
        """Somebody approves."""
        one = self._some()
        self.host.review(one.number, "bob", "", state="APPROVED")
        return f"bob approves #{one.number}"

    def push_by_force(self) -> str:
        """Somebody puts something else on our branch."""
        one = self._some()
        self.said += 1
        made = self.host.push(one.branch, {f"src/forced{self.said}.py": "theirs"}, onto=self.git.there)
        return f"pushed {made[:12]} to {one.branch} by force"

    def put_back(self) -> str:
        """Who pushed to our branch takes it back."""
        for one in self.host.open_ones():
            pull = next((row for row in self.people.store.pulls(False) if row.branch == one.branch), None)
            if pull is not None and pull.head and self._head(one) not in self.git.refs.values():
                self.host.branches[one.branch] = pull.head
                return f"put {one.branch} back"
        raise NotAllowed("there is none")

    def close(self) -> str:
        """Close a request unmerged."""
        one = self._some()
        self.host.close(one.number)
        return f"closed #{one.number}"

    def push_to_main(self) -> str:
        """Somebody else's work comes to main."""
        self.said += 1
        made = self.host.push(MAIN, {f"src/other{self.said}.py": "else"})
        return f"somebody merged {made[:12]}"

    def break_main(self) -> str:
        """Somebody's work does not pass, and comes to main all the same."""
        if not green(self._main()):
            raise NotAllowed("it is red already")
        return f"somebody broke main: {self.host.push(MAIN, {BASE: 'broken'})[:12]}"

    def mend_main(self) -> str:
        """Somebody mends it."""
        if green(self._main()):
            raise NotAllowed("it is green")
        return f"somebody mended main: {self.host.push(MAIN, {BASE: FIRST_TREE[BASE]})[:12]}"

    def let_push(self) -> str:
        """Somebody says that what has passed may be pushed."""
        found = [bead.id for bead in requests_service.unsaid(self.people.store, self.config())]
        if not found:
            raise NotAllowed("nothing waits for a word")
        bead = self.words.choice(sorted(found))
        return f"let {bead} be pushed: {requests_service.may_open(self.people.store, self.config(), None, bead, ME)}"

    def help(self) -> str | None:
        """At the end of the day: something that a request waits for; None: nothing."""
        met, self.host.answers = self.host.answers, lambda call: None
        try:
            if requests_service.unsaid(self.people.store, self.config()):
                return self.let_push()
            if not green(self._main()):
                return self.mend_main()
            return self._given_back() or next(filter(None, map(self._helped, self.host.open_ones())), None)
        finally:
            self.host.answers = met
            self.git.people_did()

    def _given_back(self) -> str | None:
        """A branch of ours that somebody pushed to, also where its request is closed, or was never heard of."""
        for pull in self.people.store.pulls():
            there = self.host.branches.get(pull.branch, "")
            if there and pull.head and there not in self.git.refs.values():
                self.host.branches[pull.branch] = pull.head
                return f"put {pull.branch} back"
        return None

    def _helped(self, one: Request) -> str | None:
        store = self.people.store
        bead = next((bead for bead in store.beads() if request_branch(bead) == one.branch), None)
        pull = store.pull(bead.id) if bead is not None else None
        if bead is None or pull is None or bead.status is not Status.REVIEWING or pull.number != one.number:
            return None
        if self._head(one) != pull.head:
            return None  # it is pushed
        tree, conflicts = self.host.merged(one.number)
        if conflicts:
            return None  # it is built anew
        if not green(tree):
            self.host.check(pull.head, "build", CheckState.FAILED)
            return f"#{one.number} is red with main"
        waits = [name for name, ran in self.host.ran.get(pull.head, {}).items() if ran.state is not CheckState.PASSED]
        for name in waits:
            self.host.check(pull.head, name, CheckState.PASSED)
        if waits:
            return f"the checks of #{one.number} are green"
        return f"merged #{one.number} as {self.host.merge(one.number, self.rng.choice(WAYS))[:12]}"

    def _is_good(self, one: Request) -> None:
        """NotAllowed: main would be red with it, or it conflicts."""
        tree, conflicts = self.host.merged(one.number)
        if conflicts or not green(tree):
            raise NotAllowed(f"#{one.number} does not pass on main as it is")

    def _main(self) -> Tree:
        return self.host.objects.tree_of(self.git.there)

    def _head(self, one: Request) -> str:
        return self.host.branches[one.branch]

    def _some(self) -> Request:
        found = self.host.open_ones()
        if not found:
            raise NotAllowed("there is no request")
        return self.rng.choice(found)


# --- promises --------------------------------------------------------------------------------------


def a_bead_has_one_open_request(scene: Scene) -> list[str]:
    """Whatever was killed, and whatever had no answer."""
    if scene.requested is None:
        return []
    opened = Counter(one.branch for one in scene.requested.host.open_ones())
    return [f"{branch} has {count} open requests" for branch, count in opened.items() if count > 1]


def main_moves_by_people_alone(scene: Scene) -> list[str]:
    """Nothing of ours ever moves the base."""
    git = scene.requested
    return [f"the host's main is at {git.there[:12]}, by nobody"] if git and git.there not in git.by_people else []


def done_is_merged_by_people(scene: Scene) -> list[str]:
    """A bead is done when the host has merged its request, and its merge is in the base: not a moment earlier."""
    if scene.requested is None:
        return []
    wrong, host = [], scene.requested.host
    for bead in _done(scene):
        merges = [one.merged_as for one in host.requests if one.branch == branch_of(bead) and one.merged_as]
        merged = str(bead.merged_commit) if bead.merged_commit in merges else by_epics.merged_with(scene, bead)
        if not merged:
            wrong.append(f"{bead.id} is done as {str(bead.merged_commit)[:12]}, and nobody merged that")
        elif not scene.git.contains(merged, scene.requested.there):
            wrong.append(f"{bead.id} is done, and its merge is not in the base")
    return wrong


def no_request_is_lost(scene: Scene) -> list[str]:
    """At rest: each request is of a bead with a row, and an open one at a commit of ours is the one of that row.

    The row says what became of its request, and where that was merged its bead is done, as long as nobody ended the
    bead in another way or has to decide about it.
    """
    if scene.requested is None:
        return []
    wrong, beads = [], {request_branch(bead): bead for bead in scene.beads}
    for one in scene.requested.host.requests:
        bead = beads[one.branch]
        pull, there = scene.store.pull(bead.id), scene.requested.host.branches.get(one.branch, "")
        if pull is None:
            wrong.append(f"#{one.number} of {bead.id} is not known")
        elif bead.status in CLOSED and not pull.number:
            continue  # over before anybody heard of it: it is looked for once in each life, and doctor names it
        elif _is_for_the_next_review(one, bead, pull):
            continue
        elif one.state is PullState.OPEN and pull.number != one.number and by_epics.is_ours(scene, there):
            wrong.append(f"#{one.number} of {bead.id} is open, and #{pull.number} is what is known")
        elif pull.number == one.number and bead.status not in (Status.CANCELLED, Status.ESCALATED):
            wrong += _not_followed(scene, one, bead, pull.state)
    return wrong


def _is_for_the_next_review(one: Request, bead: Bead, pull: PullRequest) -> bool:
    """Whether nobody heard of the request before a person had to decide about its bead: by the row's branch the next
    review finds it. What people have merged must be known all the same.
    """
    unheard = bead.status is Status.ESCALATED and not pull.number and pull.branch == one.branch
    return unheard and one.state is PullState.OPEN


def _not_followed(scene: Scene, one: Request, bead: Bead, known: PullState) -> list[str]:
    """What the row of a bead that waits for people, or is done by them, does not know of its request."""
    is_done = bead.status is Status.DONE and bead.id not in scene.observed.by_hand
    if (is_done or bead.status is Status.REVIEWING) and known is not one.state:
        return [f"#{one.number} of {bead.id} is {one.state}, and {known} is what is known"]
    if known is PullState.MERGED and bead.status is Status.REVIEWING:
        return [f"#{one.number} of {bead.id} is merged, and its review waits"]
    return []


def _done(scene: Scene) -> list[Bead]:
    by_hand = scene.observed.by_hand
    done = [bead for bead in scene.beads if bead.status is Status.DONE and bead.type is not BeadType.EPIC]
    return [bead for bead in done if bead.id not in by_hand]


EACH_STEP: Sequence[Callable[[Scene], list[str]]] = (
    a_bead_has_one_open_request,
    main_moves_by_people_alone,
    done_is_merged_by_people,
)
AT_REST: Sequence[Callable[[Scene], list[str]]] = (no_request_is_lost,)
