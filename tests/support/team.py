"""A project whose main is at a code host where nobody pushes to it: a GitHub or a GitLab of the tests' own."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from tests.support.github import GitHub
from tests.support.gitlab import GitLab
from tests.support.glab import path_with_glab
from tests.support.host_server import TOKEN
from tests.support.scripted import Scripted, until

UNREAD = 'code_review = "off"'
"""No agent of these tests reviews code, except where a test replaces this."""
Hub = TypeVar("Hub", GitHub, GitLab)


class Hosted(Scripted, Generic[Hub]):
    """What is the same at both. `more`: further lines of its section [review]."""

    login: ClassVar[str]  # the variable by which the host's command line is logged in

    def __init__(self, folder: Path, hub: Callable[[Path, Path], Hub], more: str = "") -> None:
        super().__init__(folder)
        self.remote = folder / "remote.git"
        subprocess.run(["git", "clone", "-q", "--bare", str(self.folder), str(self.remote)], check=True)
        self.git("remote", "add", "origin", str(self.remote))
        self.token = TOKEN
        self.home = folder / "home"
        self.home.mkdir()
        self.hub: Hub = hub(folder / "hub", self.remote)
        self.config.write_text(
            self.config.read_text() + f'[review]\nland = "pull_request"\npoll_seconds = 1\nremote_seconds = 20\n'
            f'code_host_repository = "{self.hub.host}/team/thing"\n{UNREAD}\n{more}\n'
        )

    def env(self) -> dict[str, str]:
        found = super().env()
        if hasattr(self, "hub"):
            found |= {"SSL_CERT_FILE": str(self.hub.cert), "HOME": str(self.home), self.login: self.token}
        return found

    def killed_at(self, is_it: Callable[[str], bool], number: int = 0, moment: str = "before") -> list[str]:
        """A run that is killed at the call to the host that is it, the `number`th from 0; those that were seen."""
        seen: list[str] = []
        with self.running() as run:

            def at(call: str) -> None:
                if is_it(call):
                    seen.append(call)
                    if len(seen) == number + 1:
                        run.kill()

            setattr(self.hub, moment, at)
            until(lambda: run.poll() is not None, 90)
        setattr(self.hub, moment, lambda call: None)
        return seen

    def run_on(self) -> str:
        """A run until it waits for people, or has nothing to do."""
        return self.nobrakes("run", expect=None).stdout


class Team(Hosted[GitHub]):
    """At GitHub, through the real `gh`."""

    login = "GH_ENTERPRISE_TOKEN"

    def __init__(self, folder: Path, more: str = "") -> None:
        super().__init__(folder, GitHub, more)


class GitLabTeam(Hosted[GitLab]):
    """At GitLab, through `glab`: drafts with a label and a reviewer."""

    login = "GITLAB_TOKEN"

    def __init__(self, folder: Path) -> None:
        self.path = path_with_glab(folder)
        super().__init__(
            folder,
            GitLab,
            'code_host = "gitlab"\npull_labels = ["by-agents"]\npull_reviewers = ["ann"]\npull_draft = true',
        )

    def env(self) -> dict[str, str]:
        return super().env() | {"PATH": self.path}
