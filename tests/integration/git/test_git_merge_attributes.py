"""Files that main wants merged in a way that is built into git, and ways that are programs."""

from pathlib import Path

import pytest
from git_worlds import message, sh

from nobrakes.git.port import Candidate, Conflict

ATTRIBUTES = "*.log merge=union\n/only/here merge=union\n*.bin binary\n*.own merge=own\n"


@pytest.mark.parametrize(
    ("name", "merges"),
    [("a.log", True), ("deep/a.log", True), ("only/here", True), ("else/only/here", False), ("a.txt", False),
     ("a.own", False), ("docs/a.md", True), ("docs/more/b.md", True), ("c.md", False), ("docs/top", True)],
)  # fmt: skip
@pytest.mark.parametrize("how", ["squash", "replay"])
def test_built_in_ways_of_main_are_used(world, begin, tmp_path: Path, name: str, merges: bool, how: str) -> None:
    sh(world.root, "git", "config", "merge.own.driver", f"touch {tmp_path}/sprung; true")
    world.commit_on_main(
        {".gitattributes": ATTRIBUTES, "docs/.gitattributes": "*.md merge=union\n/top merge=union\n", name: "1\n"}
    )
    it = begin()
    head = world.commit_in_workspace(it, {name: "1\nbranch\n", ".gitattributes": f"{ATTRIBUTES}* merge=union\n"})
    world.git.fetch_work(it, 1)
    main = world.commit_on_main({name: "1\nmain\n"})
    made = getattr(world.git, how)(main, head, message())
    assert not (tmp_path / "sprung").exists()
    if not merges:
        assert isinstance(made, Conflict) and made.files == (name,)
        return
    last = made if isinstance(made, Candidate) else made[-1]
    assert world.git.read(last.commit, name) == b"1\nmain\nbranch\n"
