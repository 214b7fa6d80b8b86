"""A worker narrows its workspace (`git sparse-checkout`), and the next worker of the bead takes it over."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

pytestmark = pytest.mark.slow

FILES = {"src/a": "a\n", "src/gone": "g\n", "docs/deep/b": "b\n", "lib/c": "c\n", "top": "t\n"}
LOOKS = 'git status --short >"$BOOK/status"; find . -name .git -prune -o -type f -print | sort >"$BOOK/files"'
NARROWED = {
    "in a cone": "git sparse-checkout set src",
    "by patterns": "git sparse-checkout set --no-cone '/src/*'",
    "in a sparse index": "git sparse-checkout set --cone --sparse-index src",
    "in a split index": "git sparse-checkout set src; git update-index --split-index",
    "by hand": "git update-index --skip-worktree docs/deep/b lib/c top; rm -r docs lib top",
}


def project(folder: Path, **more: str) -> Scripted:
    made = Scripted(folder, **more)
    for path, text in FILES.items():
        (made.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (made.folder / path).write_text(text)
    made.git("add", "-A")
    made.git("commit", "-qm", "Files")
    made.add("one")
    return made


@pytest.mark.parametrize("narrow", [pytest.param(text, id=name) for name, text in NARROWED.items()])
def test_the_next_worker_has_the_whole_tree(tmp_path: Path, narrow: str) -> None:
    """And what the first one left uncommitted, inside of what it kept and beside it."""
    made = project(tmp_path)
    edits = "echo changed >src/a; rm src/gone; mkdir -p docs/deep; echo beside >docs/deep/b"
    made.does("one", f"{narrow}; {edits}; exit 1", turn=1)
    made.does("one", f"{LOOKS}; git add -A; git commit -qm work", turn=2)
    made.nobrakes("run")
    files = made.flag("files").read_text().split()
    assert {f"./{path}" for path in FILES} - set(files) == {"./src/gone"}
    status = sorted(made.flag("status").read_text().splitlines())
    assert status == [" D src/gone", " M docs/deep/b", " M src/a"]
    assert made.status("one") == "done"
    landed = made.git("ls-tree", "-r", "--name-only", "main").split()
    assert set(FILES) - set(landed) == {"src/gone"}
    assert made.git("show", "main:docs/deep/b") == "beside\n"


def test_a_file_in_the_place_of_a_folder_stays(tmp_path: Path) -> None:
    made = project(tmp_path)
    made.does("one", "git sparse-checkout set src; echo mine >lib; exit 1", turn=1)
    made.does("one", f"{LOOKS}; git add -A; git commit -qm work", turn=2)
    made.nobrakes("run")
    assert made.flag("status").read_text().splitlines() == [" D lib/c", "?? lib"]
    assert (made.status("one"), made.git("show", "main:lib")) == ("done", "mine\n")


def test_what_the_setup_leaves_out_is_left_out_for_the_next_worker_as_well(tmp_path: Path) -> None:
    made = project(tmp_path)
    made.configure('main = "main"', 'main = "main"\nsetup = "git sparse-checkout set docs tests"')
    made.does("one", "git sparse-checkout set src; exit 1", turn=1)
    made.does("one", f"{LOOKS}; echo more >docs/more; git add -A; git commit -qm work", turn=2)
    made.nobrakes("run")
    files = made.flag("files").read_text().split()
    assert "./docs/deep/b" in files and "./src/a" not in files
    assert made.flag("status").read_text() == ""
    assert made.status("one") == "done"
