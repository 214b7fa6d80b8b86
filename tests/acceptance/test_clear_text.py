"""Clear text that agents may see stays behind the filter of its path: a person is asked before it lands beside it."""

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.acceptance.test_strange_repositories import Strange, allow, with_filter
from tests.support.scripted import until

KEYS = "# keys of the shop\nDB_PASSWORD=tulip-4711\napi: 9f8e7d6c5b4a\nmole\nbear\n"


@pytest.fixture
def project(tmp_path: Path) -> Strange:
    project = Strange(tmp_path, more='[review]\nmerge = "rebase"\n')
    (project.folder / "b.secret").write_text(KEYS)
    (project.folder / "public.md").write_text("This line is told to everybody\n")
    with_filter(project)
    allow(project, "filters", "clear_text")
    return project


def on_main(project: Strange) -> str:
    """All that main ever held, with its messages and names."""
    return project.git("log", "-p", "--no-textconv", "--stat", "main")


SECRETS = ("password is hunter", "tulip-4711", "9f8e7d6c5b4a", "another password of mine")
LEAKS = {
    "copied": "cp a.secret notes.txt",
    "moved": "git mv a.secret moved.txt",
    "moved and edited": "git mv b.secret moved.txt; sed -i s,shop,store, moved.txt",
    "moved in another form": "base64 a.secret >a.b64; git rm -q a.secret",
    "into a file": "(echo Read this; sed -n 2p b.secret; echo and that) >>README.md; sed -n 2p b.secret >>public.md",
    "without its end of line": "printf '  %s' \"$(cat a.secret)\" >notes.txt",
    "whole of short lines": "sed -n 4,5p b.secret >c.secret; cp c.secret notes.txt",
    "a value in other words": "echo 'password = \"tulip-4711\"' >src.py",
    "a part of a line": "echo 'curl -H \"key: 9f8e7d6c5b4a\" $1' >call.sh",
    "a link to it": 'ln -s "$(cat a.secret)" link',
    "a name": 'echo x >"$(cat a.secret)"',
    "of a new file": "echo another password of mine >c.secret; cp c.secret notes.txt",
    "of an old content": "cp a.secret notes.txt; echo changed >a.secret",
    "in a commit that is undone": "cp a.secret notes.txt; commit copy; git rm -q notes.txt",
    "in a message": 'commit "$(cat a.secret)" --allow-empty',
}


def test_a_person_is_asked_before_clear_text_lands_without_its_filter(project: Strange) -> None:
    beads = {how: how.replace(" ", "-") for how in LEAKS}
    project.add(*beads.values())
    for how, bead in beads.items():
        project.does(bead, f"mkdir -p src; {LEAKS[how]}; work")
    project.nobrakes("run", expect=None)
    for how, bead in beads.items():
        asked = [one for one in project.open() if one["bead"] == bead]
        assert [one["type"] for one in asked] == ["unusual_content"], (
            how,
            asked,
            project.status(bead),
            project.nobrakes("escalations").stdout,
        )
        said = " ".join(project.nobrakes("escalation", str(asked[0]["id"])).stdout.split())
        assert "which git stores through the filter 'crypt'" in said, said
    told = (project.folder / ".nobrakes" / "beads.since.jsonl").read_text()
    assert "the filter 'crypt'" in told and not any(secret in told for secret in SECRETS[1:]), "it is not told further"
    assert not any(secret in on_main(project) for secret in SECRETS)


FINE = {
    "renamed below the filter": "git mv a.secret moved.secret",
    "copied below the filter": "cp a.secret c.secret; echo 'new = 9f8e7d6c5b4a' >>c.secret",
    "removed": "git rm -q a.secret",
    "what main says in clear, too": "cat public.md >>b.secret; cat public.md >notes.txt",
    "short words alone": "echo mole >notes.txt; echo '# keys' >>notes.txt",
}


def test_other_work_beside_filtered_files_is_not_asked_about(project: Strange) -> None:
    for place, (how, play) in enumerate(FINE.items()):
        bead = f"bead-{place}"
        project.add(bead)
        project.does(bead, f"{play}; work")
        project.nobrakes("run", expect=None)
        assert project.status(bead) == "done", (how, project.nobrakes("escalation", "1").stdout)


def test_what_a_person_accepts_of_it_lands(project: Strange) -> None:
    project.add("one")
    project.does("one", "cp a.secret notes.txt; commit one")
    project.nobrakes("run", expect=None)
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--approve")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done" and project.git("show", "main:notes.txt") == "password is hunter\n"


def test_attributes_that_let_go_of_a_filtered_file_are_asked_about(project: Strange) -> None:
    project.add("one", scaffolding=True)
    project.does("one", "echo 'a.secret -filter' >>.gitattributes; commit one")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "escalated"
    assert "removes the filter 'crypt' from a.secret" in str(project.open())
    assert project.git("show", "main:a.secret") == "cnffjbeq vf uhagre\n"


def test_clear_text_that_cannot_be_read_again_is_asked_about(project: Strange) -> None:
    project.add("one")
    project.does("one", "touch $BOOK/begun; while [ ! -e $BOOK/go ]; do sleep 0.05; done; work")
    with project.running():
        until(project.flag("begun").exists)
        project.git("config", "filter.crypt.smudge", "false")
        project.flag("go").touch()
        until(lambda: project.status("one") in ("escalated", "done"))
    assert project.status("one") == "escalated" and "is unreadable, and the branch may have a copy" in str(
        project.open()
    )


def test_words_in_another_form_are_not_known(project: Strange) -> None:
    """As docs/security.md says."""
    project.add("one")
    project.does("one", "base64 a.secret >notes.txt; commit one")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done"
    assert base64.b64decode(project.git("show", "main:notes.txt")) == b"password is hunter\n"


def test_git_crypt(project: Strange) -> None:
    if shutil.which("git-crypt") is None:
        pytest.skip("git-crypt is not installed")
    subprocess.run(["git-crypt", "init"], cwd=project.folder, check=True, capture_output=True)
    with (project.folder / ".gitattributes").open("a") as file:
        file.write("*.sealed filter=git-crypt diff=git-crypt\n")
    (project.folder / "a.sealed").write_text(KEYS)
    project.commit()
    for key in ("filters", "clear_text"):
        project.nobrakes("config", "set", f"git.{key}", "git-crypt")
    project.add("one", "two")
    project.does("one", "sed -n 2p a.sealed >notes.txt; commit one")
    project.does("two", "echo new >>a.sealed; commit two")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "escalated" and "the filter 'git-crypt'" in str(project.open())
    assert project.status("two") == "done", project.nobrakes("escalation", "2").stdout
    assert (project.folder / "a.sealed").read_text() == f"{KEYS}new\n"
