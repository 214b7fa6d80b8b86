"""The digest of what a merge would bring, for which a person's yes counts: nobody's settings change it."""

from pathlib import Path

from git_worlds import ME, RealWorld

from nobrakes.git import persons


def test_a_content_is_the_same_whatever_is_set_in_the_repository(world: RealWorld) -> None:
    lines = "\n".join(str(number) for number in range(60)) + "\n"
    slides, slid = "a\n\nb {\n  x\n}\n\nb {\n  y\n}\n", "a\n\nb {\n  x\n}\n\nb {\n  x\n}\n\nb {\n  y\n}\n"
    base = world.commit_on_main({"a.py": lines, "b.txt": slides, "z.bin": "\0one", "é": "\n\n1\n\n"})
    new = lines.replace("30", "thirty").replace("42", "forty")
    head = world.commit_on_main({"a.py": new, "b.txt": slid, "z.bin": "\0two", "é": "\n\n2\n\n"})
    same = world.commit_on_main({"a.py": new + "more\n", "b.txt": slid, "z.bin": "\0two", "é": "\n\n2\n\n"})
    before, after = world.git.content(base, head), world.git.content(base, same)
    git_dir = world.root / ".git"
    (git_dir / "info").mkdir(exist_ok=True)
    (git_dir / "info" / "attributes").write_text("*.py -diff\n*.bin diff\n")
    order = Path(git_dir / "order")
    order.write_text("z.bin\n")
    settings = {
        "suppressBlankEmpty": "true", "noprefix": "true", "mnemonicPrefix": "true", "context": "9",
        "interHunkContext": "50", "orderFile": str(order), "algorithm": "patience", "renames": "copies",
        "indentHeuristic": "false", "ignoreSubmodules": "all", "relative": "true", "srcPrefix": "x/",
    }  # fmt: skip
    for name, value in settings.items():
        world.sh("git", "config", f"diff.{name}", value)
    world.sh("git", "config", "core.quotePath", "false")
    assert world.git.content(base, head) == before and world.git.content(base, same) == after
    assert len({before, after, world.git.content(head, same)}) == 3


def test_the_subjects_of_a_project_are_those_of_its_commits(world: RealWorld) -> None:
    world.sh("git", "checkout", "-q", "main")
    assert persons.subjects(str(world.root)) == ["first"]
    world.sh("git", "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "", env=ME)
    assert persons.subjects(str(world.root)) == ["", "first"]


def test_a_link_of_a_commit_tells_where_it_leads(world: RealWorld) -> None:
    (world.root / "src").mkdir(exist_ok=True)
    (world.root / "src" / "link").symlink_to("../a place\u00e9")
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-q", "-m", "link", env=ME)
    assert world.git.link("HEAD", "src/link") == "../a place\u00e9"
    assert world.git.link("HEAD", "src") is None and world.git.link("HEAD", "src/nothing") is None
