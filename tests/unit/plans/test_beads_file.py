"""A file of Beads in step with the graph: both ways, to the byte, again with the same result, whatever kills it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from nobrakes import app
from nobrakes.cli import main
from nobrakes.errors import PlanError, StoreBusy, UsageError
from nobrakes.paths import Paths
from nobrakes.plans import beads_file
from nobrakes.snapshot.reader import MARKERS

FILES = os.environ.get("NOBRAKES_BEADS_FILES")  # read here: a test sees a clean environment
AT = "2026-01-02T03:04:05.123456789-08:00"
LATER = "2026-01-03T00:00:00Z"


def record(id_, **fields):
    return {
        "id": id_,
        "title": id_.upper(),
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "created_at": AT,
        "updated_at": AT,
        **fields,
    }


def edge(bead, needs, type_="blocks"):
    return {"issue_id": bead, "depends_on_id": needs, "type": type_, "created_at": AT, "created_by": "me"}


ERAS = [
    {"id": "bd-1", "title": "One", "description": "", "status": "open", "priority": 0, "issue_type": "bug", "created_at": AT, "updated_at": AT, "external_ref": "gh-9"},
    record("bd-2", design="d", acceptance_criteria="a\nb", notes="n", assignee="me", estimated_minutes=5, content_hash="x", source_repo="."),
    record("bd-a3f8", labels=["b", "a"], dependencies=[edge("bd-a3f8", "bd-2"), edge("bd-a3f8", "bd-1", "relates-to"), edge("bd-a3f8", "gone-1")], comments=[{"id": 3, "issue_id": "bd-a3f8", "author": "me", "text": "<hi>", "created_at": AT}]),
    record("bd-a3f8.1", issue_type="message", dependencies=[edge("bd-a3f8.1", "bd-a3f8", "parent-child"), edge("bd-a3f8.1", "bd-1", "tracks")], status="hooked", pinned=True, timeout=5, metadata={"k": [1]}),
    record("bd-b", status="tombstone", deleted_at=AT, deleted_by="me", delete_reason="r", original_type="bug"),
    record("bd-c", status="closed", closed_at=AT, close_reason="done", relates_to=["bd-2"], duplicate_of="bd-1"),
    {"_type": "issue", **record("bd-d", started_at=AT, metadata=None), "dependency_count": 0, "dependent_count": 1, "comment_count": 0, "parent": "bd-1"},
    {"_type": "memory", "key": "k", "value": "remember"},
    record("bd-e", status="in_progress", due_at=AT, defer_until="2036-01-01T00:00:00Z"),
]  # fmt: skip


def lines(*records):
    return "".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records)


@pytest.fixture
def file(repository, monkeypatch, git):
    monkeypatch.chdir(repository)
    assert main.run(["init"]) == 0
    (repository / ".beads").mkdir()
    return repository / ".beads" / "issues.jsonl"


@pytest.fixture
def run(file, capsys):
    def typed(*words, code=0):
        capsys.readouterr()
        assert main.run([*words, "--json"]) == code
        found = json.loads(capsys.readouterr().out)
        return found.get("data")

    return typed


def written(file, id_):
    return next(one for one in map(json.loads, file.read_text().splitlines()) if one.get("id") == id_)


def test_each_era_comes_in_and_goes_out_as_it_was(file, run):
    text = lines(*ERAS).replace("<hi>", "\\u003chi\\u003e")
    file.write_text(text)
    seen = run("sync", "beads", "--dry-run")
    assert len(seen["taken"]) == 7 and not seen["written"] and not seen["applied"] and run("list") == []
    done = run("sync", "beads")
    assert file.read_text() == text and not done["written"] and {one[0] for one in done["taken"]} == {"bd-1", "bd-2", "bd-a3f8", "bd-a3f8.1", "bd-c", "bd-d", "bd-e"}  # fmt: skip
    again = run("sync", "beads")
    assert not again["written"] and not again["taken"] and file.read_text() == text
    file.unlink()
    run("sync", "beads")
    assert file.read_text() == text
    beads = {one["id"]: one for one in run("list", "--all")}
    assert beads["bd-c"]["status"] == "done" and beads["bd-a3f8"]["status"] == "draft"
    assert beads["bd-a3f8.1"]["epic"] == "bd-a3f8" and beads["bd-e"]["held"] == "in_progress"


@pytest.mark.parametrize("path", [*Path(FILES).glob("*.jsonl")] if FILES else [None], ids=str)
def test_files_of_others_come_in_and_go_out(file, run, path):
    """And each side gets what the other changed, in the lines concerned alone."""
    text = path.read_text() if path else lines(*ERAS)
    kept = [one for one in text.split("\n") if not one.startswith(MARKERS)]
    file.write_text(text := "\n".join(kept))
    taken = {one[0] for one in run("sync", "beads", "--live")["taken"]}
    again = run("sync", "beads", "--live")
    assert file.read_text() == text and not again["written"] and not again["taken"]
    known = {one["id"]: one for one in run("list", "--all") if one["id"] in taken}
    if not known:  # no record has a title
        return
    here, *there = sorted(known)[:: max(1, len(known) // 7)]
    run("edit", here, "--notes", "of here")
    last = {json.loads(one)["id"]: number for number, one in enumerate(kept) if one.startswith('{"') and '"id"' in one}
    before = [one for number, one in enumerate(kept) if number in last.values() or '"id"' not in one]  # no doubles
    last = {id_: before.index(kept[number]) for id_, number in last.items()}
    kept = [*before]
    for id_ in there:
        made = json.loads(kept[last[id_]]) | {"title": "of there", "updated_at": "2036-01-01T00:00:00Z"}
        before[last[id_]] = json.dumps(made)
    file.write_text("\n".join(before))
    told, after = run("sync", "beads", "--live"), file.read_text().split("\n")
    assert {one[0] for one in told["written"]} == {here} and not told["conflicts"]
    assert [one for one in before if one not in after] == [kept[last[here]]]
    for id_ in there:
        assert known[id_]["status"] in ("done", "cancelled") or run("show", id_)["title"] == "of there"
    again = run("sync", "beads", "--live")
    assert not again["written"] and not again["taken"] and file.read_text().split("\n") == after


def test_a_change_here_changes_its_key_alone(file, run):
    file.write_text(lines(*ERAS))
    run("sync", "beads", "--live")
    run("edit", "bd-a3f8", "--priority", "0", "--label", "b", "--label", "new")
    run("undepend", "bd-a3f8", "bd-1", "--type", "related")
    run("depend", "bd-a3f8", "bd-d")
    run("done", "bd-2", "-m", "by hand")
    told = run("sync", "beads")
    assert {(one[0], one[1]) for one in told["written"]} == {
        *(("bd-a3f8", key) for key in ("priority", "labels", "dependencies", "updated_at")),
        *(("bd-2", key) for key in ("status", "closed_at", "close_reason", "updated_at")),
    }
    made, before = written(file, "bd-a3f8"), ERAS[2]
    added = {"issue_id": "bd-a3f8", "depends_on_id": "bd-d", "type": "blocks"}
    expected = [before["dependencies"][0], before["dependencies"][2], added]
    assert made == {**before, "priority": 0, "labels": ["b", "new"], "dependencies": expected, "updated_at": made["updated_at"]}  # fmt: skip
    assert list(made) == list(before)
    assert [line for line in lines(*ERAS).splitlines() if line not in file.read_text()] == lines(
        ERAS[1], ERAS[2]
    ).splitlines()
    assert run("sync", "beads")["written"] == []


def test_a_change_there_comes_here(file, run):
    one, two, three, four = (record(id_) for id_ in ("a", "b", "c", "d"))
    file.write_text(lines(one, two, three, four))
    run("sync", "beads", "--live")
    one |= {"title": "new", "updated_at": LATER}
    two |= {"status": "closed", "closed_at": LATER, "close_reason": "there", "updated_at": LATER}
    three |= {"status": "in_progress", "dependencies": [edge("c", "a")], "updated_at": LATER}
    four |= {"status": "tombstone", "deleted_at": LATER, "updated_at": LATER}
    file.write_text(text := lines(one, two, three, four, record("e")))
    told = run("sync", "beads")
    assert told["plan"]["new"] == ["e"] and set(told["plan"]["proposed"]) == {"a", "c"}
    assert not told["written"] and file.read_text() == text
    beads = {one["id"]: one for one in run("list", "--all")}
    assert {id_: beads[id_]["status"] for id_ in "abde"} == {"a": "needs_tests", "b": "done", "d": "cancelled", "e": "draft"}  # fmt: skip
    assert beads["b"]["close_reason"] == "there" and beads["c"]["held"] == "in_progress" and beads["a"]["title"] == "A"
    run("commit-strategy", "--yes")
    assert run("show", "a")["title"] == "new" and run("show", "c")["dependencies"][0]["needs"] == "a"
    assert not run("sync", "beads")["written"] and file.read_text() == text
    file.write_text(lines(one, {**two, "status": "open", "closed_at": None, "updated_at": "2026-01-04T00:00:00Z"}, {**three, "status": "open"}))  # fmt: skip
    told = run("sync", "beads")
    assert run("show", "b")["status"] == "needs_tests" and run("show", "c")["held"] is None


def test_both_sides(file, run):
    file.write_text(lines(record("a", description="d", labels=["x"]), record("b")))
    run("sync", "beads", "--live")
    run("edit", "a", "--description", "here", "--label", "x", "--label", "y")
    run("add", "New here", "--id", "n", "--draft")
    file.write_text(lines(record("a", description="there", labels=[], priority=1, updated_at=LATER), record("c")))
    for number in range(2):  # and asked again
        told = run("sync", "beads", code=1)
        assert number or any("b is no longer in the file" in note for note in told["notes"])
        assert told["conflicts"] == [["a", "description", "there", "here"]]
        assert run("show", "a")["description"] == "here"
        made = written(file, "a")
        assert (made["description"], made["labels"], made["priority"]) == ("there", ["y"], 1)
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["a", "c", "n"]
    assert written(file, "n")["status"] == "deferred"
    run("edit", "a", "--description", "there")
    told = run("sync", "beads")
    assert not told["conflicts"] and run("show", "b")["status"] == "needs_tests"
    run("commit-strategy", "--yes")
    run("sync", "beads")
    assert written(file, "n")["status"] == "open"
    assert run("sync", "beads")["written"] == []


def test_without_a_record_of_a_sync_nothing_is_taken_back(file, run, repository):
    file.write_text(lines(record("a", description="d", status="in_progress"), record("b")))
    run("sync", "beads", "--live")
    run("done", "b")
    Path(Paths(str(repository / ".nobrakes")).synced).unlink()
    told = run("sync", "beads")
    assert {(one[0], one[1]) for one in told["written"]} == {
        ("b", key) for key in ("status", "closed_at", "close_reason", "updated_at")
    }
    assert not told["taken"] and written(file, "a")["status"] == "in_progress"


class Killed(BaseException):
    """As kill -9."""


@pytest.mark.parametrize("at", ["apply_plan", "_decide", "file", "synced", "none"])
def test_killed_anywhere_it_is_done_again(file, run, repository, monkeypatch, at):
    file.write_text(lines(record("a"), record("b"), record("c")))
    run("sync", "beads", "--live")
    run("edit", "a", "--description", "here")
    new = lines(record("a", priority=0, updated_at=LATER), record("b", status="closed", closed_at=LATER), record("d"))
    file.write_text(new)
    paths, write = Paths(str(repository / ".nobrakes")), beads_file.write_atomic

    def killed(*given, **named):
        raise Killed

    def write_or_die(path, *rest):
        if path == str(file if at == "file" else paths.synced):
            raise Killed
        write(path, *rest)

    with monkeypatch.context() as patched, app.open_app(str(repository)) as opened:
        patched.setattr(beads_file, "write_atomic", write_or_die) if at in ("file", "synced") else None
        patched.setattr(beads_file, at, killed) if hasattr(beads_file, at) else None
        try:
            beads_file.sync(opened.store, paths, str(file), "me", True)
        except Killed:
            assert at != "none"
    run("sync", "beads", "--live")
    assert written(file, "a") == {**record("a", priority=0, description="here"), "updated_at": written(file, "a")["updated_at"]}  # fmt: skip
    beads = {one["id"]: one for one in run("list", "--all")}
    assert (beads["a"]["priority"], beads["b"]["status"], beads["d"]["status"]) == (0, "done", "needs_tests")
    assert "c" in beads and [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["a", "b", "d"]
    told = run("sync", "beads", "--live")
    assert not told["written"] and not told["taken"]


def test_the_lock_of_beads_and_a_file_that_changes_meanwhile(file, run, repository, monkeypatch, capsys):
    lock = file.parent / ".exclusive-lock"
    file.write_text(lines(record("a")))
    lock.write_text(json.dumps({"holder": "x", "hostname": os.uname().nodename, "pid": os.getpid()}))
    run("sync", "beads", code=StoreBusy.code)
    run("sync", "beads", "--dry-run")
    dead = subprocess.Popen(["true"])
    dead.wait()
    lock.write_text(json.dumps({"holder": "x", "hostname": os.uname().nodename, "pid": dead.pid}))
    run("sync", "beads")
    assert not lock.exists()
    run("edit", "a", "--priority", "0")
    take = beads_file._views

    def meanwhile(*given):
        file.write_text(lines(record("a"), record("b")))
        return take(*given)

    monkeypatch.setattr(beads_file, "_views", meanwhile)
    run("sync", "beads", code=StoreBusy.code)
    monkeypatch.undo()
    assert file.read_text() == lines(record("a"), record("b"))


def test_what_is_wrong_is_named_by_its_line(file, run, capsys):
    file.write_text(lines(record("a"), record("a", title="last")) + '{"id": "half\n' + lines(record("b", dependencies=[edge("b", "c")]), record("c", dependencies=[edge("c", "b")])))  # fmt: skip
    text, told = file.read_text(), run("sync", "beads")
    notes = "\n".join(told["notes"])
    assert "line 2: a appears twice" in notes and "skipped, because it is not JSON" in notes
    assert "b -> c -> b" in notes or "c -> b -> c" in notes
    assert file.read_text() == text and run("show", "a")["title"] == "last"
    file.write_text("<<<<<<< x\n" + text)
    run("sync", "beads", code=PlanError.code)


def test_where_the_file_is(repository, tmp_path):
    paths = Paths(str(repository / ".nobrakes"))
    with pytest.raises(UsageError, match="not a folder"):
        beads_file.file_of(paths, "")
    (repository / ".beads").mkdir()
    assert beads_file.file_of(paths, "") == str(repository / ".beads" / "issues.jsonl")
    (repository / ".beads" / "beads.jsonl").touch()
    assert beads_file.file_of(paths, "") == str(repository / ".beads" / "beads.jsonl")
    assert beads_file.file_of(paths, str(tmp_path / "x.jsonl")) == str(tmp_path / "x.jsonl")
    (repository / ".beads").rename(tmp_path / "other")
    (repository / ".beads").symlink_to(tmp_path / "other")
    with pytest.raises(UsageError, match="not a folder"):
        beads_file.file_of(paths, "")


def test_a_hostile_line_is_left_as_it_is(file, run):
    deep = '{"id":"deep","title":"x","m":' + "[" * 600 + "]" * 600 + "}\n"
    half = '{"id":"half","title":"x","description":"\\ud800"}\n'
    file.write_text(text := deep + half + lines(record("a")))
    told = run("sync", "beads", "--live")
    assert [one[0] for one in told["taken"]] == ["a"] and file.read_text() == text
    assert "line 1: skipped" in (notes := "\n".join(told["notes"])) and "line 2: skipped" in notes
    run("edit", "a", "--priority", "0")
    run("sync", "beads")
    assert file.read_text().startswith(deep + half)
    file.write_text(deep.replace('"x"', '"y"') + half + lines(record("a")))
    assert main.run(["plan", str(file), "--live"]) == 0 and main.run(["commit-strategy", "--yes"]) == 0
