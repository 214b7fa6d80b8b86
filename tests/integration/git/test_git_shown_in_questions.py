"""What a question shows of a difference: git compares, in one program that ends once there is enough."""

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest
from git_worlds import RealWorld

from nobrakes.review.worker.asked import MAX_DIFF, difference
from tests.support.calls import calls


def shown(world: RealWorld, base: str, head: str, *paths: str) -> str:
    ports: Any = SimpleNamespace(git=world.git, credentials={}, environment={})
    return difference(ports, base, head, paths)


def lock_file(letter: str, count: int) -> str:
    """Every second line is another one for another letter."""
    return "".join(f"m{number:07}\n{letter}{number:07}\n" for number in range(count // 2))


def test_a_long_difference_takes_one_program_and_no_more_work_than_a_short_one(
    world: RealWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"few.lock": 4000, "many.lock": 48_000}
    base, head = (
        world.commit_on_main({name: lock_file(letter, count) for name, count in sizes.items()}) for letter in "xy"
    )
    started: list[Any] = []
    begin = subprocess.Popen.__init__

    def noted(self: Any, *args: Any, **more: Any) -> None:
        started.append(args)
        begin(self, *args, **more)

    text = shown(world, base, head, *sizes)  # and what is needed is imported
    assert text.endswith("\n… and more: look at the commit\n") and 15_000 < len(text) <= MAX_DIFF + 100
    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    few, many = (calls(lambda name=name: shown(world, base, head, name)) for name in sizes)
    assert len(started) == 2, started
    assert many < 2 * few, f"{few} calls for 4,000 lines, {many} for 48,000"


def test_what_is_no_text_is_named_and_attributes_and_programs_change_nothing(world: RealWorld) -> None:
    files = {"a.lock": "1\n", "b.bin": "\0one", "c.txt": "a" * 1_200_000, "d.txt": "a\n" * 60_000, "e.sh": "1\n"}
    base = world.commit_on_main(files)
    changed = {"a.lock": "2\n", "b.bin": "\0two", "c.txt": "b" * 1_200_000, "d.txt": "b\n" * 60_000, "e.sh": "2\n"}
    head = world.commit_on_main(changed)
    info = world.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("*.lock -diff\n*.bin diff\n*.sh diff=own\n")
    for key in ("command", "textconv"):
        world.sh("git", "config", f"diff.own.{key}", f"touch {world.root}/ran; cat")
    text = shown(world, base, head, *files, "a.lock")
    assert text.count("--- a/a.lock\n+++ b/a.lock\n@@ -1 +1 @@\n-1\n+2\n") == 1
    assert "--- a/e.sh\n+++ b/e.sh\n@@ -1 +1 @@\n-1\n+2\n" in text and not (world.root / "ran").exists()
    hidden = [f"{path}: not shown, because it is binary or too large\n" for path in ("b.bin", "c.txt", "d.txt")]
    assert text.endswith("".join(hidden))


def test_of_very_many_files_only_those_are_read_that_may_be_shown(world: RealWorld) -> None:
    names = [f"{number:04}.{'bin' if number % 2 else 'txt'}" for number in range(2000)]
    base, head = (world.commit_on_main({name: "\0" * (name[-3:] == "bin") + one for name in names}) for one in "12")
    read: list[str] = []
    git = SimpleNamespace(
        read=lambda commit, path, most: read.append(path) or world.git.read(commit, path, most),
        difference=world.git.difference,
    )
    ports: Any = SimpleNamespace(git=git, credentials={}, environment={})
    text = difference(ports, base, head, names)
    assert text.endswith("… and more: look at the commit\n") and len(text) <= MAX_DIFF + 100
    assert len(set(read)) < 500
