"""The fake git keeps the promises of ports.Git: the suite of tests/contracts/git, on plain dicts.

Left out are the tests about what the fake has not: people's names, sections of shared files, lines of files, folders and bytes.
"""

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead
from nobrakes.git.port import Argv
from tests.world.fake_git import FakeGit
from tests.world.fake_remote import SharedFakeGit

sys.path.insert(0, str(Path(__file__).parents[1] / "contracts" / "git"))

import git_worlds
import test_git_suite_main
import test_git_suite_shared
import test_git_suite_work

OUT = {
    "test_changes_name_the_gate_sections_of_shared_files",
    "test_commit_files_commits_what_differs_and_nothing_else",
    "test_lines_that_both_changed_are_merged_from_where_the_work_began",
    "test_drop_scratch_refuses_every_other_place",
    "test_squash_on_an_unmoved_main",
}
FIRST = {"README": "read me\n", "src/app.py": "one = 1\n", "tests/test_app.py": "assert True\n"}


class FakeGitWorld:
    """People and agents who work on dicts."""

    def __init__(self, _: Path) -> None:
        self.git = FakeGit(first=FIRST)
        self.scratch_folder = "/simulated/scratch"
        self.commits = 0

    def commit_on_main(self, files: Mapping[str, str | None], text: str = "by a human") -> str:
        tree = {**self.git.objects.tree_of(self.git.head), **files}
        self.commits += 1
        present = {path: content for path, content in tree.items() if content is not None}
        made = self.git.objects.commit(present, (self.git.head,), text, "human", self.commits)
        self.git.put_on_main(made.id)
        return made.id

    def amend_main(self, files: Mapping[str, str | None]) -> str:
        last = self.git.objects.find(self.git.head)
        tree = {**self.git.objects.tree_of(last.id), **files}
        self.commits += 1
        present = {path: content for path, content in tree.items() if content is not None}
        self.git.put_on_main(self.git.objects.commit(present, last.parents, "amended", "human", self.commits).id)
        return self.git.head

    def prepare(self, prologue: Sequence[Argv]) -> None:
        for argv in prologue:
            assert self.git.clones.execute(argv) is None

    def write_in_workspace(self, bead: Bead, files: Mapping[str, str | None]) -> None:
        self.git.clones.edit(bead.id, files)

    def commit_in_workspace(self, bead: Bead, files: Mapping[str, str | None], text: str = "by an agent") -> str:
        self.write_in_workspace(bead, files)
        self.commits += 1
        return self.git.clones.commit(bead.id, text, self.commits)

    def files(self, commit: str) -> dict[str, str]:
        return dict(self.git.objects.tree_of(commit))

    def checkout(self, path: str) -> dict[str, str]:
        if path.startswith(self.scratch_folder):
            return dict(self.git.clones.checked_out(path))
        return dict(self.git.clones.tree(path.rsplit("/", 1)[1]))

    def log(self, tip: str, base: str) -> list[tuple[str, str, str]]:
        found = []
        for commit in self.git.objects.line(tip):
            if commit.id == base:
                break
            trailers = "".join(f"\n{key}: {value}" for key, value in commit.trailers)
            found.append((commit.author, "nobrakes", f"{commit.subject}\n{trailers}"))
        return found[::-1]


class SharedFakeGitWorld(FakeGitWorld):
    """The same, and others who push to the remote."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.git: SharedFakeGit = SharedFakeGit("/sim/.nobrakes", random.Random(1), FIRST)

    def there(self) -> str:
        return self.git.there

    def commit_at_remote(self, files: Mapping[str, str]) -> str:
        tree = {**self.git.objects.tree_of(self.git.there), **files}
        self.git.there = self.git.objects.commit(tree, (self.git.there,), "elsewhere", "human", 1).id
        return self.git.there


@pytest.fixture(params=["local", "shared"])
def git_world(tmp_path: Path, request: pytest.FixtureRequest) -> FakeGitWorld:
    is_shared = request.param == "shared" or request.node.originalname in vars(test_git_suite_shared)
    return (SharedFakeGitWorld if is_shared else FakeGitWorld)(tmp_path)


@pytest.fixture
def begin(git_world: FakeGitWorld) -> Callable[..., Bead]:
    def make(name: str = "login", start: str | None = None) -> Bead:
        made = git_worlds.bead(name)
        git_world.prepare(git_world.git.workspace(made, start or git_world.git.main(), "Ada").prologue)
        return made

    return make


for module in (test_git_suite_main, test_git_suite_work, test_git_suite_shared):
    globals().update({name: test for name, test in vars(module).items() if name.startswith("test_")})
for name in OUT:
    del globals()[name]
