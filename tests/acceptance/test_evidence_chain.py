"""Evidence of every merge: kept in git, shown for people, and checked against main whoever changed what."""

import hashlib
import json
import os
import shutil
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from nobrakes.review.evidence import message
from tests.support.scripted import Scripted, sound, until
from tests.support.warm import NOBRAKES

REF = "refs/nobrakes/evidence"
SECRET = "ghp_" + "0a1B" * 10


class Repository:
    """A copy of a repository whose beads were merged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def git(self, *arguments: str, given: str | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, text=True, input=given)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def nobrakes(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([NOBRAKES, *arguments], cwd=self.folder, capture_output=True, text=True)

    def wrong(self, *arguments: str) -> list[str]:
        """What `verify` says is wrong; its error was seen to be sound."""
        program = self.nobrakes("verify", *arguments, "--json")
        found = json.loads(program.stdout)
        texts = [one["text"] for one in found["data"]["wrong"]]
        person = self.nobrakes("verify", *arguments)
        if texts:
            assert found["error"]["code"] == person.returncode == 43 and found["error"]["hint"]
            said = " ".join(person.stdout.split())
            assert all(text in said for text in texts) and person.stdout.count("WRONG") == len(texts)
        else:
            assert found["ok"] and person.returncode == 0 and "main matches its evidence" in person.stdout
            has_merges = any(one["word"] in ("merged", "taken_back") for one in found["data"]["commits"])
            assert ("A match means: " in person.stdout) == has_merges != ("nothing to compare" in person.stdout)
            assert ("again on" in person.stdout) == ("--rerun" in arguments)
        return texts

    def chain(self) -> list[str]:
        return self.git("rev-list", REF).split()

    def file_of(self, oid: str) -> Path:
        """The object's one file: nobrakes holds it in a pack as well."""
        objects = self.folder / ".git" / "objects"
        packs = [path.rename(self.folder / path.name) for path in (objects / "pack").iterdir()]
        for pack in (path for path in packs if path.suffix == ".pack"):
            with pack.open() as content:
                subprocess.run(["git", "unpack-objects", "-q"], cwd=self.folder, check=True, stdin=content)
        return objects / oid[:2] / oid[2:]

    def merge_of(self, bead: str) -> str:
        return self.git("log", "--format=%H", f"--grep=^Bead: {bead}$", "main").split()[0]

    def rewrite(self, change: Any) -> None:
        """The whole chain once more: `change` gives each record's new text, or None to leave it out."""
        parent: str | None = None
        for commit in reversed(self.chain()):
            head, _, text = self.git("cat-file", "commit", commit).partition("\n\n")
            changed = change(text + "\n")
            if changed is not None:
                rows = [row for row in head.split("\n") if not row.startswith("parent ")]
                rows[1:1] = [f"parent {parent}"] if parent else []
                content = "\n".join(rows) + "\n\n" + changed
                parent = self.git("hash-object", "-t", "commit", "-w", "--stdin", given=content)
        assert parent is not None
        self.git("update-ref", REF, parent)


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> Scripted:
    """A project with three beads on main, one after the other; the checks print a secret."""
    project = Scripted(tmp_path_factory.mktemp("evidence"), doers=1)
    says = f"printf 'token gh%s\\\\n' {SECRET[2:]}; sh tests/run.sh"
    project.configure('command = "sh tests/run.sh"', f'command = "{says}"')
    for bead, before in (("one", []), ("two", ["one"]), ("three", ["two"])):
        project.add(bead, needs=before)
    project.nobrakes("run")
    return project


@pytest.fixture
def repository(merged: Scripted, tmp_path: Path) -> Repository:
    shutil.copytree(merged.folder, tmp_path / "repository", symlinks=True)
    return Repository(tmp_path / "repository")


def test_what_was_merged_agrees_with_its_evidence(repository: Repository) -> None:
    assert repository.wrong() == [] and len(repository.chain()) == 3
    assert repository.wrong("main~2..main~1") == [] and repository.wrong("main") == []
    found = json.loads(repository.nobrakes("verify", "main~1..", "--json").stdout)["data"]
    assert [(seen["bead"], seen["word"]) for seen in found["commits"]] == [("three", "merged")]


def test_a_range_that_is_none_is_the_command_lines_fault(repository: Repository) -> None:
    for asked in ("nowhere", "main..nowhere", "main...main~1"):
        person, program = repository.nobrakes("verify", asked), repository.nobrakes("verify", asked, "--json")
        assert sound(person, program, 2)["message"]
    assert sound(repository.nobrakes("review", "no"), repository.nobrakes("review", "no", "--json"), 44)


def test_one_beads_evidence_tells_the_steps_the_runs_and_who_worked(repository: Repository) -> None:
    (found,) = json.loads(repository.nobrakes("review", "two", "--json").stdout)["data"]
    record = found["record"]
    assert found["problem"] == "" and record["bead"] == {"id": "two", "title": "Bead two", "type": "task"}
    assert record["merged"]["commit"] == repository.merge_of("two")
    assert record["base"]["commit"] == repository.merge_of("one")
    for place in ("base", "branch", "candidate", "merged"):
        assert record[place]["tree"] == repository.git("rev-parse", record[place]["commit"] + "^{tree}")
    assert [step["step"] for step in record["steps"]] == ["validate", "rebase", "validate", "merge", "validate"]
    assert [step.get("how") for step in record["steps"]] == ["recorded", None, "ran", None, "recorded"]
    (run,) = record["runs"].values()
    (check,) = run["checks"]
    assert (check["code"], check["outcome"], check["counts"]["passed"]) == (0, "pass", 1)
    assert "ok 1 - tests/test_begin.sh" in check["excerpt"] and run["bead"] == "two"
    (contract,) = record["contracts"].values()
    assert contract["checks"][0]["command"].endswith("sh tests/run.sh")
    assert record["counts"] == {"before": check["counts"], "after": check["counts"]}
    (attempt,) = record["attempts"]
    assert (attempt["role"], attempt["agent"], attempt["outcome"]) == ("doer", "script", "completed")
    person = repository.nobrakes("review", "two").stdout
    for words in ("Bead two", "recorded run", "1 passed", "sh tests/run.sh", "attempt 1", "ok 1 - tests/test_begin.sh"):
        assert words in person


def test_no_secret_gets_into_the_evidence(repository: Repository) -> None:
    text = repository.git("log", REF)
    assert SECRET not in text and "token [secret]" in text


def test_a_lost_database_takes_no_evidence_away(repository: Repository) -> None:
    for file in (repository.folder / ".nobrakes").glob("nobrakes.db*"):
        file.unlink()
    assert repository.wrong() == []
    assert "merged as" in repository.nobrakes("review", "one").stdout
    assert not (repository.folder / ".nobrakes" / "nobrakes.db").exists(), "it is read from git alone"


def test_a_clone_has_what_it_fetches(repository: Repository, tmp_path: Path) -> None:
    repository.git("add", ".nobrakes/config.toml")
    repository.git("-c", "user.name=You", "-c", "user.email=you@x.invalid", "commit", "-qm", "Settings")
    bare = tmp_path / "shared.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(bare)], check=True)
    repository.git("push", "-q", str(bare), "main", REF)
    subprocess.run(["git", "clone", "-q", str(bare), str(tmp_path / "clone")], check=True)
    clone = Repository(tmp_path / "clone")
    assert len([text for text in clone.wrong() if "no record of it exists" in text]) == 3
    clone.git("fetch", "-q", "origin", f"{REF}:{REF}")
    assert clone.wrong() == []
    repository.rewrite(lambda text: text.replace('"seconds": ', '"seconds": 1'))
    done = subprocess.run(["git", "push", str(bare), REF], cwd=repository.folder, capture_output=True, text=True)
    assert done.returncode != 0 and "rejected" in done.stderr


def test_a_tampered_record_is_found(repository: Repository) -> None:
    last = repository.chain()[0]

    def change(text: str) -> str:
        return text.replace('"passed": 1', '"passed": 9') if repository.merge_of("three") in text else text

    repository.rewrite(change)
    assert repository.chain()[0] != last and repository.wrong() == [], "nothing on main speaks of the last record yet"
    repository.rewrite(lambda text: text.replace('"title": "Bead one"', '"title":  "Bead one"'))
    assert any("the commit's text does not match its record" in text for text in repository.wrong())


def test_a_record_that_says_another_tree_is_found(repository: Repository) -> None:
    tree = repository.git("rev-parse", "main~1^{tree}")
    other = repository.git("rev-parse", "main^{tree}")
    repository.rewrite(lambda text: text.replace(other, tree))
    assert any(f"is {other[:12]}, but the record says {tree[:12]}" in text for text in repository.wrong())


def test_a_record_that_somebody_made_up_is_found(repository: Repository) -> None:
    record = json.loads(repository.nobrakes("review", "three", "--json").stdout)["data"][0]["record"]
    del record["runs"]
    commit = record["merged"]["commit"]
    repository.rewrite(lambda text: message(record) if commit in text.splitlines()[-1] else text)
    assert any("the record is incomplete: 'runs'" in text for text in repository.wrong())
    shown = repository.nobrakes("review", "three")
    assert shown.returncode == 0 and "WRONG: evidence" in shown.stdout and "'runs'" in shown.stdout


def test_a_record_that_was_changed_in_its_file_is_found(repository: Repository) -> None:
    path = repository.file_of(repository.chain()[0])
    content = zlib.decompress(path.read_bytes()).replace(b'"passed": 1', b'"passed": 9')
    assert hashlib.sha1(content).hexdigest() != path.parent.name + path.name
    path.chmod(0o600)
    path.write_bytes(zlib.compress(content))
    assert any("the record's content does not match its id" in text for text in repository.wrong())


def test_a_chain_that_was_written_again_is_found(repository: Repository) -> None:
    repository.rewrite(lambda text: text.replace('"cost_usd": 0.0', '"cost_usd": 5.0'))
    assert all("records were rewritten or removed" in text for text in repository.wrong())
    assert len(repository.wrong()) == 2


def test_a_record_that_was_removed_is_found(repository: Repository) -> None:
    commit = repository.merge_of("two")
    repository.rewrite(lambda text: None if f"Merged: {commit}" in text else text)
    assert any("no record of it exists" in text for text in repository.wrong())
    repository.git("update-ref", "-d", REF)
    assert len([text for text in repository.wrong() if "no record of it exists" in text]) == 3


def test_a_chain_that_lost_an_object_is_found(repository: Repository) -> None:
    commit = repository.chain()[1]
    repository.file_of(commit).unlink()
    assert any(f"the chain of records is broken: the record {commit[:12]}" in text for text in repository.wrong())


def test_a_commit_that_poses_as_a_beads_is_found(repository: Repository) -> None:
    tree = repository.git("rev-parse", "main^{tree}")
    who = ("-c", "user.name=Bowie (nobrakes)", "-c", "user.email=bowie@nobrakes.invalid")
    fake = repository.git(*who, "commit-tree", tree, "-p", "main", "-m", "Bead one\n\nBead: one")
    repository.git("update-ref", "refs/heads/main", fake)
    (text,) = repository.wrong()
    assert "says that it is a bead's merge, but no record" in text


def test_a_persons_own_commit_is_listed_and_no_fault(repository: Repository) -> None:
    (repository.folder / "mine").write_text("mine\n")
    repository.git("add", "mine")
    repository.git("-c", "user.name=You", "-c", "user.email=you@x.invalid", "commit", "-qm", "Mine")
    assert repository.wrong() == []
    assert "a person's own commit: Mine" in repository.nobrakes("verify").stdout


def test_a_tree_that_was_changed_on_main_is_found(repository: Repository) -> None:
    (repository.folder / "src" / "three").write_text("changed\n")
    repository.git("add", "-A", "src")
    repository.git("-c", "user.name=You", "-c", "user.email=you@x.invalid", "commit", "-q", "--amend", "--no-edit")
    words = " ".join(repository.wrong())
    assert "no record of it exists" in words and "on main, but it is not" in words


def test_a_commit_between_two_merges_is_found(repository: Repository) -> None:
    """Main is written anew with one more commit in it, and nobody else's commits are what they were."""
    base = repository.merge_of("one")
    fake = repository.git("commit-tree", f"{base}^{{tree}}", "-p", base, "-m", "In between")
    for bead in ("two", "three"):
        old = repository.merge_of(bead)
        message = repository.git("log", "-1", "--format=%B", old)
        fake = repository.git("commit-tree", f"{old}^{{tree}}", "-p", fake, "-m", message)
    repository.git("update-ref", "refs/heads/main", fake)
    texts = repository.wrong()
    assert len([text for text in texts if "no record of it exists" in text]) == 2
    assert len([text for text in texts if "on main, but it is not" in text]) == 2


# --- how merges differ


def test_each_commit_of_a_rebased_merge_names_its_run(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more='[review]\nmerge = "rebase"\nrevalidate = "always"')
    project.does("two", "mkdir -p src; echo 1 >src/one; commit One; echo 2 >src/two; commit Two -m 'Bead: other'")
    project.add("two")
    project.nobrakes("run")
    assert list(project.landed().values()) == ["two", "two"], "an agent speaks for no other bead"
    (found,) = project.ask("review", "two")
    record = found["record"]
    assert [one["commit"] for one in record["commits"]] == list(project.landed())
    inner = record["commits"][0]["proof"]
    assert (inner["how"], record["runs"][inner["run"]]["outcome"]) == ("ran", "pass")
    assert [step["how"] for step in record["steps"] if step["step"] == "validate"] == ["recorded", "ran", "ran"]
    assert len(record["runs"]) == 3, "the run after the merge hides none from before"
    assert project.ask("verify")["wrong"] == []


def test_a_merge_that_was_red_afterwards_and_its_revert_are_told(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more='[review]\nrevalidate = "always"')
    flag = project.flag("main-is-red")
    from_the_third_on = f"echo x >>{flag}; [ $(wc -l <{flag}) -lt 3 ] || [ ! -d src ] || exit 1"
    project.configure('"sh tests/run.sh"', f'"{from_the_third_on}; sh tests/run.sh"')
    project.add("one")
    project.nobrakes("run", expect=40)
    merge, revert = [one["record"] for one in project.ask("review", "one")]
    assert (merge["kind"], revert["kind"], revert["why"]) == ("merge", "revert", "main_red")
    assert merge["runs"][merge["steps"][4]["run"]]["outcome"] == "fail"
    assert [one["commit"] for one in revert["takes_back"]] == [merge["merged"]["commit"]]
    assert revert["merged"]["commit"] == project.git("rev-parse", "main").strip()
    report = project.ask("verify")
    assert report["wrong"] == [] and [seen["word"] for seen in report["commits"]] == ["revert", "taken_back"]


def test_an_undone_merge_is_told_once_however_often_it_is_undone(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.add("one")
    project.nobrakes("run")
    project.nobrakes("pause")
    (merge,) = [line for line in project.events("review_passed") if line["task_id"] == "one"]
    project.nobrakes("undo", str(merge["metadata"]["seq"]))
    merged, undone = [one["record"] for one in project.ask("review", "one")]
    assert (undone["kind"], undone["why"]) == ("revert", "undo")
    assert [one["commit"] for one in undone["takes_back"]] == [merged["merged"]["commit"]]
    project.nobrakes("undo", str(merge["metadata"]["seq"]), expect=30)
    project.nobrakes("release", "one")
    project.nobrakes("resume")
    project.nobrakes("run")
    kinds = [one["record"]["kind"] for one in project.ask("review", "one")]
    assert kinds == ["merge", "revert", "merge"] and project.ask("verify")["wrong"] == []


def test_a_merge_whose_evidence_was_cut_off_is_finished_by_the_next_daemon(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    on, go = project.flag("on"), project.flag("go")
    project.does("one", f'touch "{on}"; until [ -e "{go}" ]; do sleep 0.02; done; work')
    project.add("one")
    with project.running() as run:
        until(on.exists)
        lock = project.folder / ".git" / "refs" / "nobrakes" / "evidence.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()  # as a git command leaves it that is killed while it writes the ref
        go.touch()
        until(project.landed)
        assert project.status("one") == "reviewing", "nothing says that it is merged before its evidence is there"
        run.kill()
    project.nobrakes("run")
    assert project.status("one") == "done" and list(project.landed().values()) == ["one"]
    assert [one["record"]["kind"] for one in project.ask("review", "one")] == ["merge"]
    assert project.ask("verify")["wrong"] == []


# --- running the checks again


def test_the_recorded_checks_are_run_again_without_a_database(merged: Scripted, repository: Repository) -> None:
    for file in (repository.folder / ".nobrakes").glob("nobrakes.db*"):
        file.unlink()
    done = repository.nobrakes("verify", "--rerun", "--json")
    found = json.loads(done.stdout)["data"]
    assert done.returncode == 0 and done.stderr == "" and found["wrong"] == []
    assert [one["outcome"] for one in found["reruns"]] == ["pass"] * 3
    assert [one["bead"] for one in found["reruns"]] == ["one", "two", "three"]
    assert list((repository.folder / ".nobrakes" / "scratch").iterdir()) == []
    assert not (repository.folder / ".nobrakes" / "nobrakes.db").exists() and merged.orphans() == []


def test_checks_that_say_something_else_now_are_told(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    flag = project.flag("later")
    project.configure(
        '"sh tests/run.sh"', f'"if [ -e {flag} ]; then echo ok 2; fi; ! [ -e {flag}.red ] && sh tests/run.sh"'
    )
    project.add("one")
    project.nobrakes("run")
    assert "rerun" in project.nobrakes("verify", "--rerun").stdout
    flag.touch()
    done = project.nobrakes("verify", "--rerun", "main~1..main", expect=43)
    assert "when run again, the check test differs" in done.stdout and "running the checks again on" in done.stderr
    flag.unlink()
    Path(f"{flag}.red").touch()
    said = " ".join(project.nobrakes("verify", "--rerun", expect=43).stdout.split())
    assert "when run again, the check test does not pass: fail" in said, said
    project.configure(f"! [ -e {flag}.red ] && ", "")
    assert project.nobrakes("verify", "--rerun", "--today")
    assert "run again" in project.nobrakes("verify", "--rerun", expect=43).stdout, "the recorded ones, unless told"


def test_whoever_asks_for_today_alone_or_is_an_agent_is_refused(repository: Repository) -> None:
    assert repository.nobrakes("verify", "--today").returncode == 2
    env = {**os.environ, "NOBRAKES_TOKEN": "1.1.x"}
    argv = [NOBRAKES, "verify", "--rerun"]
    assert subprocess.run(argv, cwd=repository.folder, env=env, capture_output=True).returncode == 17
