"""`nobrakes diff`: what a bead changes before its merge, and what its merge changed."""

from pathlib import Path

from tests.support.scripted import Scripted, until

TWO = (
    "mkdir -p src; printf 'one\\ntwo\\n' >src/one; git mv shared common; head -c 300 /dev/zero >src/zeros; commit First;"
    " printf 'three\\033[31m\\n' >src/three; commit Second"
)


def test_a_branch_is_shown_while_it_is_worked_on_and_its_merge_whole_and_nothing_of_an_agents_is_run(
    tmp_path: Path,
) -> None:
    project = Scripted(tmp_path, more='[review]\nmerge = "rebase"')
    bad = project.flag("ran")
    hostile = (
        f"git config diff.external 'touch {bad}'; git config core.fsmonitor 'touch {bad}'; "
        f"git config diff.bad.textconv 'touch {bad}'; git config core.hooksPath .; git config core.pager 'touch {bad}'; "
        "printf '* diff=bad\\n' >.git/info/attributes; "
    )
    project.does(
        "one", f'{TWO}; printf "\\033[31mred\\n" >src/colour; {hostile} touch "$BOOK/on"; exec sleep 600', turn=1
    )
    project.does("one", "rm -f src/colour; commit Without --allow-empty")
    project.add("one", "late")
    project.nobrakes("hold", "late")
    assert "no work to show yet" in project.error("diff", "late", code=17)["message"]
    with project.running("--forever") as run:
        until(project.flag("on").exists)
        shown = project.ask("diff", "one")
        assert shown["source"] == "branch" and shown["base"] == project.git("rev-parse", "main").strip()
        files = {one["path"]: one for one in shown["files"]}
        assert files["src/one"]["added"] == 2 and files["src/zeros"]["is_binary"] and "src/colour" not in files
        assert (files["common"]["status"], files["common"]["before"]) == ("renamed", "shared")
        text = project.nobrakes("diff", "one").stdout
        assert "+three" in text and "+two" in text and "4 files" in text and "\x1b" not in text
        assert "+three" not in project.nobrakes("diff", "one", "--stat").stdout
        assert project.ask("diff", "one", "--stat")["patch"] == ""
        project.nobrakes("cancel", "one")
        until(lambda: not (project.folder / ".nobrakes" / "workspaces" / "one").exists())
        run.terminate()
        run.communicate(timeout=60)
    assert not bad.exists()
    shown = project.ask("diff", "one")
    assert shown["source"] == "archive" and shown["ref"].startswith("refs/nobrakes/archive/one/")
    assert {one["path"] for one in shown["files"]} == set(files)
    project.nobrakes("undo")
    project.nobrakes("run", expect=None)  # one is held
    assert project.status("one") == "done"
    began = shown["base"]
    (project.folder / "mine").write_text("later\n")
    project.git("add", "mine")
    project.git("commit", "-q", "-m", "Later")
    merged = project.ask("diff", "one")
    assert (
        merged["source"] == "merge"
        and merged["base"] == began
        and merged["head"] == project.show("one")["merged_commit"]
    )
    assert len(project.git("rev-list", f"{began}..{merged['head']}").split()) > 1
    assert {one["path"] for one in merged["files"]} == set(files)
    # the same from evidence alone, and from the trailers alone
    for gone in ("nobrakes.db", "nobrakes.db"):
        for path in (project.folder / ".nobrakes").glob(f"{gone}*"):
            path.unlink()
        assert project.ask("diff", "one") == merged
        project.git("update-ref", "-d", "refs/nobrakes/evidence")
