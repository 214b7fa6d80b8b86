"""Code hosts with people at them, of which each has a hand for what people do there: the real gh, glab (the tests' own
where the real one is not installed), plain git, the fake.
"""

import os
import shutil
import subprocess
from pathlib import Path

from nobrakes.errors import HostUnavailable
from nobrakes.host.messages import Asking
from nobrakes.requests.hosts.calls import Address
from nobrakes.requests.hosts.github import Gh, GitHub, GitHubIssues
from nobrakes.requests.hosts.gitlab import GitLab, Glab
from nobrakes.requests.hosts.port import PlainGit
from nobrakes.requests.model import CheckState
from tests.support.github import GitHub as Hub
from tests.support.gitlab import GitLab as Lab
from tests.support.glab import path_with_glab
from tests.support.host_server import TOKEN
from tests.world.fake_code_host import FakeCodeHost
from tests.world.fake_issues import FakeIssues
from tests.world.objects import Objects


class Bare:
    """A repository that both of the real ones look at."""

    def __init__(self, folder: Path) -> None:
        self.bare = folder / "remote.git"
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True)
        self.files: dict[str, dict[str, str]] = {}
        self.push("main", {"README": "a project\n"})

    def git(self, *arguments: str, given: str = "") -> str:
        me = ["-c", "user.name=Ann", "-c", "user.email=ann@example.invalid"]
        done = subprocess.run(
            ["git", *me, *arguments], cwd=self.bare, capture_output=True, text=True, input=given, check=True
        )
        return done.stdout.strip()

    def push(self, branch: str, files: dict[str, str], onto: str = "") -> str:
        """A commit on the branch, or with `onto` in the place of what it has."""
        known = self.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        parent = onto or known
        rows = self.git("ls-tree", parent).splitlines() if parent else []
        kept = [row for row in rows if row.partition("\t")[2] not in files]
        made = [
            f"100644 blob {self.git('hash-object', '-w', '--stdin', given=text)}\t{name}"
            for name, text in files.items()
        ]
        tree = self.git("mktree", given="\n".join([*kept, *made]) + "\n")
        commit = self.git("commit-tree", tree, *(["-p", parent] if parent else []), "-m", f"More on {branch}")
        self.git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def head(self, branch: str) -> str:
        return self.git("rev-parse", f"refs/heads/{branch}")


class RealGitHub(Bare):
    """The real gh, against a GitHub of the tests' own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.hub = Hub(folder / "hub", self.bare)
        self.env = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "GH_HOST": self.hub.host, "GH_ENTERPRISE_TOKEN": TOKEN,
            "SSL_CERT_FILE": str(self.hub.cert), "GH_PROMPT_DISABLED": "1", "NO_COLOR": "1",
        }  # fmt: skip
        self.now = 1000.0
        self.host = self.again()

    def again(self) -> GitHub:
        """The host, to a process that remembers nothing."""
        gh = Gh(self.hub.host, Asking(self.env, 20.0), lambda: self.now)
        return GitHub(gh, Address(self.hub.host, "team", "thing"))

    def merge(self, number: int, how: str) -> str:
        return self.hub.merge(number, how)

    def close(self, number: int) -> None:
        self.hub.close(number)

    def review(self, number: int, by: str, text: str, state: str = "CHANGES_REQUESTED") -> None:
        self.hub.review(number, by, text, state)

    def comment(self, number: int, by: str, text: str, path: str, line: int) -> None:
        self.hub.comment(number, by, text, path, line)

    def check(self, commit: str, name: str, state: CheckState, log: str = "") -> None:
        ends = {CheckState.PASSED: "success", CheckState.FAILED: "failure", CheckState.RUNNING: None}
        self.hub.check(commit, name, ends[state], log)

    def fails(self, times: int) -> None:
        """So many calls from now on are answered with trouble."""
        left = [(503, {"message": "Unavailable"}, {})] * times
        self.hub.refuse = lambda method, path: left.pop() if left else None

    def dressed(self, number: int) -> tuple[list[str], list[str]]:
        pull = self.hub.pull(number)
        return pull["labels"], pull["reviewers"]

    def over(self) -> None:
        self.hub.close_down()


class RealGitLab(Bare):
    """glab, against a GitLab of the tests' own."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.hub = Lab(folder / "hub", self.bare)
        self.env = {
            "PATH": path_with_glab(folder), "HOME": str(folder), "GITLAB_HOST": self.hub.host, "GITLAB_TOKEN": TOKEN,
            "SSL_CERT_FILE": str(self.hub.cert), "NO_PROMPT": "1", "NO_COLOR": "1", "GLAB_CHECK_UPDATE": "false",
            "GLAB_SEND_TELEMETRY": "false",
        }  # fmt: skip
        self.now = 1000.0
        self.host = self.again()
        self.merge, self.close = self.hub.merge, self.hub.close
        self.review, self.comment = self.hub.review, self.hub.comment

    def again(self) -> GitLab:
        """The host, to a process that remembers nothing."""
        glab = Glab(self.hub.host, Asking(self.env, 20.0), lambda: self.now)
        return GitLab(glab, Address(self.hub.host, "team", "thing"))

    def check(self, commit: str, name: str, state: CheckState, log: str = "") -> None:
        words = {CheckState.PASSED: "success", CheckState.FAILED: "failed", CheckState.RUNNING: "running"}
        self.hub.check(commit, name, words[state], log)

    def fails(self, times: int) -> None:
        """So many calls from now on are answered with trouble."""
        left = [(503, {"message": "Unavailable"}, {})] * times
        self.hub.refuse = lambda method, path: left.pop() if left else None

    def dressed(self, number: int) -> tuple[list[str], list[str]]:
        pull = self.hub.pull(number)
        return pull["labels"], [one["username"] for one in pull["reviewers"]]

    def over(self) -> None:
        self.hub.close_down()


class PlainRemote(Bare):
    """A remote that knows branches alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.host = PlainGit(str(self.bare))

    def again(self) -> PlainGit:
        return PlainGit(str(self.bare))

    def over(self) -> None:
        """Nothing is left."""


class Fake:
    """The simulation's."""

    def __init__(self, folder: Path) -> None:
        objects = Objects()
        first = objects.commit({"README": "a project\n"}, (), "first", "human", 0.0).id
        self.host = FakeCodeHost(objects, "main", first)
        self.merge, self.close = self.host.merge, self.host.close
        self.review, self.comment, self.check = self.host.review, self.host.comment, self.host.check

    def again(self) -> FakeCodeHost:
        return self.host

    def push(self, branch: str, files: dict[str, str], onto: str = "") -> str:
        return self.host.push(branch, files, onto or self.host.branches.get(branch, self.host.branches["main"]))

    def head(self, branch: str) -> str:
        return self.host.branches[branch]

    def fails(self, times: int) -> None:
        left = [HostUnavailable("Unavailable")] * times

        def answers(call: str) -> None:
            if left:
                raise left.pop()

        self.host.answers = answers

    def dressed(self, number: int) -> tuple[list[str], list[str]]:
        one = self.host.request(number)
        return list(one.labels), list(one.reviewers)

    def over(self) -> None:
        """Nothing is left."""


class RealIssues(RealGitHub):
    """The issues of the tests' own GitHub, through the real gh."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.issue = self.hub.issue

    @property
    def tracker(self) -> GitHubIssues:
        """To a process that remembers nothing."""
        gh = Gh(self.hub.host, Asking(self.env, 20.0), lambda: self.now)
        return GitHubIssues(gh, Address(self.hub.host, "team", "thing"))

    def said(self, number: int) -> list[str]:
        return [one["body"] for one in self.hub.issues[number]["comments"]]

    def say(self, number: int, text: str) -> None:
        self.hub.issues[number]["comments"].append({"body": text})

    def shut(self, number: int) -> None:
        self.hub.issues[number]["state"] = "closed"

    def remove(self, number: int) -> None:
        del self.hub.issues[number]


class SimulatedIssues:
    """The fake."""

    def __init__(self, folder: Path) -> None:
        self.tracker = FakeIssues()
        self.issue, self.say = self.tracker.issue, self.tracker.say
        self.shut, self.remove = self.tracker.shut, self.tracker.remove

    def said(self, number: int) -> list[str]:
        return self.tracker.comments[number]

    def fails(self, times: int) -> None:
        left = [HostUnavailable("Unavailable")] * times

        def answers(call: str) -> None:
            if left:
                raise left.pop()

        self.tracker.answers = answers

    def over(self) -> None:
        """Nothing is left."""


HAS_GH = shutil.which("gh") is not None
