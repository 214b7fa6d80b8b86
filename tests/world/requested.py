"""FakeGit whose main changes by merged requests alone: a code host has main, and what is here follows it.

1. `there` is the host's main. It moves by people, and never by the daemon: `by_people` has every commit that it was.
2. A fetch, a push and each call to the host may have no answer, before or after it took effect, or kill the daemon.
"""

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from nobrakes.config.settings import Config
from nobrakes.errors import GitFailed, HostUnavailable, OnlyByRequest
from nobrakes.git.port import Message
from nobrakes.requests.hosts.port import PullPorts
from nobrakes.review.waits import Cause, Land, Landing

from .crashing import Crash, Dice
from .fake_code_host import FakeCodeHost
from .fake_git import FakeGit

MAIN = "main"
OFTEN = 5.0
"""So much likelier than other calls those of the host die or have no answer: there are few of them."""


class RequestedFakeGit(FakeGit):
    """The repository, and the code host that has its main."""

    def __init__(self, root: str, rng: random.Random) -> None:
        super().__init__(root)
        self.rng = rng
        self.host = FakeCodeHost(self.objects, MAIN, self.head)
        self.by_people = {self.head}
        self.meet: Callable[[str], None] = lambda call: None

    @property
    def there(self) -> str:
        """The host's main."""
        return self.host.branches[MAIN]

    def is_shared(self) -> bool:
        """The host decides."""
        return True

    def catch_up(self) -> Land:
        """Learn where the host's main is."""
        self._refuse_when_locked()
        try:
            self.meet("fetch")
        except HostUnavailable as error:
            return Land(Landing.BLOCKED, str(error), Cause.SILENT)
        super().put_on_main(self.there)
        return Land(Landing.MOVED)

    def land(self, new: str, old: str) -> Land:
        """BLOCKED: nobody moves it here."""
        return Land(Landing.BLOCKED, "main changes by merged requests alone", Cause.BY_REQUEST)

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """OnlyByRequest."""
        raise OnlyByRequest("main changes by merged requests alone")

    def put_on_main(self, commit: str) -> None:
        """A person's commit, which they push."""
        if self.there != self.head:
            raise GitFailed("somebody else merged: pull first")
        self.host.branches[MAIN] = self.objects.find(commit).id
        self.by_people.add(commit)
        super().put_on_main(commit)

    def pull(self) -> None:
        """A person fetches."""
        super().put_on_main(self.there)

    def people_did(self) -> None:
        """Somebody merged or pushed at the host."""
        self.by_people.add(self.there)

    # --- branches of requests --------------------------------------------------------------------

    def publish(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        """Push a commit to a branch that is not there, or at one of ours."""
        there = self.host.branches.get(branch, "")
        if there and there != commit and there not in ours:
            return Land(Landing.LOST, f"the branch {branch} is somebody else's")
        return self._pushed(lambda: self.host.branches.__setitem__(branch, self.objects.find(commit).id))

    def remove(self, branch: str, ours: Collection[str]) -> Land:
        """Remove a branch that is at one of ours."""
        there = self.host.branches.get(branch, "")
        if there and (there not in ours or branch == MAIN):
            return Land(Landing.LOST, f"the branch {branch} is somebody else's")
        return self._pushed(lambda: self.host.drop(branch))

    def named_as_ours(self) -> Mapping[str, str]:
        """The branches of beads and of epics that are there."""
        return {name: at for name, at in self.host.branches.items() if "/bead-" in name or name.startswith("feature/")}

    def _pushed(self, push: Callable[[], object]) -> Land:
        try:
            self.meet("push")
            push()
            self.meet("pushed")
        except HostUnavailable as error:
            return Land(Landing.BLOCKED, str(error), Cause.SILENT)
        return Land(Landing.MOVED)


def some_git(root: str, seed: int, often: float) -> RequestedFakeGit | None:
    """The repository of a world that lands by requests; None: this one does not."""
    return RequestedFakeGit(root, random.Random(f"{seed} requests")) if often else None


def settings(config: Config, rng: random.Random) -> Config:
    """The settings, with requests; what else they say is drawn."""
    poll, most = rng.choice([10.0, 60.0]), rng.randint(1, 5)
    review = replace(
        config.review,
        land="pull_request",
        code_review="off",
        poll_seconds=poll,
        max_open=most,
        pull_delete_branch=rng.random() < 0.7,
        pull_auto_merge=rng.random() < 0.3,
    )
    return replace(config, review=review)


def at_rest(config: Config) -> Config:
    """The settings at the end of the day: requests of beads that are with a person hold nobody up."""
    return replace(config, review=replace(config.review, max_open=1000))


def ports(git: RequestedFakeGit, dice: Dice) -> PullPorts:
    """What a review needs, with dice: any call may be the daemon's last, or have no answer."""

    def meet(call: str) -> None:
        dice.calls += 1
        drawn = git.rng.random()
        if drawn < dice.crash * OFTEN / 2:
            dice.crashes += 1
            raise Crash(f"at host.{call}")
        if drawn > 1 - dice.trouble * OFTEN:
            dice.troubles += 1
            raise HostUnavailable(f"{call} has no answer")

    git.meet = git.host.answers = meet
    return PullPorts(git.host, git.publish, git.remove, git.named_as_ours, MAIN)
