"""The three-way merge of Beads JSONL: by rule where there is one, else a conflict; nothing is lost."""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.cli import config, main
from nobrakes.config.setup.init import has_merge_driver, set_merge_driver
from nobrakes.paths import Paths
from nobrakes.snapshot.record_merge import lines_of, merge, merge_texts, same

FILES = os.environ.get("NOBRAKES_BEADS_FILES")  # read here: a test sees a clean environment
EARLY, LATE, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00.5Z"


def record(**fields):
    return {"id": "a", "title": "A", "status": "open", "updated_at": EARLY, **fields}


def text(*records):
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def merged(base, ours, theirs):
    """The one record of the merge, which has no conflict and is the same with the sides exchanged."""
    found = merge_texts(text(base), text(ours), text(theirs), "f")
    assert not found.conflicts
    other = merge_texts(text(base), text(theirs), text(ours), "f")
    made, exchanged = (json.loads(one.text()) for one in (found, other))
    assert same(
        {**made, "labels": sorted(made.get("labels", []))},
        {**exchanged, "labels": made.get("labels") and sorted(made["labels"])},
    )
    return made


def test_each_side_changes_another_key():
    base = record(description="d", priority=2)
    made = merged(base, {**base, "description": "new"}, {**base, "priority": 1, "updated_at": LATE})
    assert made == {**base, "description": "new", "priority": 1, "updated_at": LATE}


CLOSED = {"status": "closed", "closed_at": LATE, "close_reason": "done"}


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "is_made"),
    [
        ({}, {**CLOSED, "updated_at": EARLY}, {"status": "in_progress", "updated_at": LATER}, CLOSED),
        (CLOSED, {**CLOSED, "close_reason": "really"}, {"status": "open"}, {"close_reason": None, "closed_at": None}),
        ({}, CLOSED, {**CLOSED, "closed_at": LATER, "updated_at": LATER, "close_reason": "x"}, {"closed_at": LATER}),
        ({}, {"status": "blocked"}, {"status": "hooked", "updated_at": LATE}, {"status": "hooked"}),
        ({"priority": 2}, {"priority": 1}, {"priority": 3, "updated_at": LATE}, {"priority": 1}),
        ({"priority": 2}, {"priority": 0}, {"priority": 2}, {"priority": 0}),
        ({}, {"created_at": LATE}, {"created_at": EARLY}, {"created_at": EARLY}),
        ({}, {"issue_type": "bug", "updated_at": LATE}, {"issue_type": "task"}, {"issue_type": "bug"}),
        ({"defer_until": EARLY}, {"defer_until": LATER}, {"defer_until": LATE}, {"defer_until": LATER}),
        ({"metadata": {"a": 1}}, {"metadata": {"a": 1, "b": 2}}, {"metadata": {}}, {"metadata": {"b": 2}}),
    ],
)
def test_rules(base, ours, theirs, is_made):
    made = merged(record(**base), record(**ours), record(**theirs))
    assert {key: made.get(key) for key in is_made} == is_made


def test_sets_keep_what_one_side_added_and_lose_what_one_removed():
    base = record(labels=["x", "y"], dependencies=[edge("p"), edge("q")])
    ours = {**base, "labels": ["y", "new"], "dependencies": [edge("p"), edge("q"), edge("r")]}
    theirs = {**base, "labels": ["x", "y", "z"], "dependencies": [edge("q")]}
    made = merged(base, ours, theirs)
    assert sorted(made["labels"]) == ["new", "y", "z"]
    assert [one["depends_on_id"] for one in made["dependencies"]] == ["q", "r"]


def edge(needs, **fields):
    return {"issue_id": "a", "depends_on_id": needs, "type": "blocks", **fields}


def test_comments_are_never_dropped():
    one, two = ({"id": 1, "author": "x", "text": text, "created_at": EARLY} for text in ("one", "two"))
    spelled = {**one, "created_at": "2026-01-01T01:00:00+01:00"}
    made = merged(record(comments=[one]), record(comments=[spelled, two]), record(updated_at=LATE))
    assert made["comments"] == [spelled, two]


TOMBSTONE = {"status": "tombstone", "deleted_at": EARLY, "deleted_by": "me"}


def test_a_tombstone_wins_for_thirty_days():
    buried = record(**TOMBSTONE)
    assert merged(record(), buried, record(title="B", updated_at=LATE)) == buried
    risen = record(title="B", updated_at="2026-02-02T00:00:00Z")
    assert merged(record(), buried, risen) == risen
    assert merged(record(), buried, {**buried, "deleted_at": LATE})["deleted_at"] == LATE


def test_what_no_rule_decides_is_a_conflict_of_two_lines_that_differ_in_it_alone():
    base = record(description="d", labels=["x"])
    ours, theirs = {**base, "description": "o", "labels": []}, {**base, "description": "t", "priority": 0}
    found = merge_texts(text(base), text(ours), text(theirs), "f")
    assert found.conflicts == (("a", "description", "o", "t"),)
    marks, first, middle, second, end = found.text().splitlines()
    assert (marks, middle, end) == ("<<<<<<< ours", "=======", ">>>>>>> theirs")
    same_in_both = {"id": "a", "title": "A", "status": "open", "labels": [], "priority": 0, "updated_at": EARLY}
    assert [json.loads(one) | {"labels": []} for one in (first, second)] == [
        {**same_in_both, "description": "o"},
        {**same_in_both, "description": "t"},
    ]


def test_records_of_one_side():
    a, b, c = (record(id=id_) for id_ in "abc")
    changed = {**b, "title": "B"}
    found = merge_texts(text(a, b), text(a, c), text(changed, c), "f")
    assert found.text() == text(changed, c)  # a is removed; what changed is kept


def test_what_is_no_record_is_kept_and_every_line_that_did_not_change():
    odd = '{"_type":"memory","key":"k","value":"v"}\n{"id":"b","title":"\\u003cb\\u003e",  "x":1.50}\nhalf {\n'
    base = odd + text(record())
    found = merge_texts(base, base.replace('"open"', '"closed"'), base.replace('"A"', '"B"'), "f")
    assert found.text() == odd + '{"id":"a","title":"B","status":"closed","updated_at":"2026-01-01T00:00:00Z"}\n'


def test_the_snapshots_own_part_is_merged_with_its_status():
    base = record(x_nobrakes={"status": "needs_doer", "touches": ["a"]}, acceptance_criteria="one\ntwo")
    done = {**base, "status": "closed", "closed_at": LATE, "x_nobrakes": {"status": "done", "merged_commit": "c"}}
    later = {**base, "updated_at": LATER, "x_nobrakes": {"status": "needs_review", "touches": ["a", "b"]}}
    done["acceptance_criteria"], later["acceptance_criteria"] = "one\ntwo\nthree", "two"
    made = merged(base, done, later)
    assert made["x_nobrakes"] == {"status": "done", "touches": ["b"], "merged_commit": "c"}
    assert (made["status"], made["acceptance_criteria"]) == ("closed", "two\nthree")


def test_a_file_with_conflict_markers_is_a_conflict_as_a_whole():
    torn = f"<<<<<<< HEAD\n{text(record())}=======\n>>>>>>> x\n"
    found = merge_texts("", torn, text(record()), "f")
    assert "our f:1: the file contains git's conflict markers; also in line 3, 4" in found.conflicts[0][1]
    assert found.text() == f"<<<<<<< ours\n{torn}=======\n{text(record())}>>>>>>> theirs\n"


BASE = [record(id=id_, description="d", labels=["x"], notes="n") for id_ in "abcdef"]
OURS = [{**BASE[0], "status": "closed", "closed_at": LATE}, {**BASE[1], "labels": ["y"]}, *BASE[3:], record(id="g")]
THEIRS = [{**BASE[0], "priority": 0}, {**BASE[1], "labels": ["x", "z"]}, {**BASE[2], "notes": "m"}, *BASE[4:], record(id="h")]  # fmt: skip


@pytest.mark.parametrize("folder", [*Path(FILES).glob("*/base.jsonl")] if FILES else [None], ids=str)
def test_merges_of_others_lose_no_id_and_no_value_that_the_sides_agree_on(folder):
    names = ("base", "ours", "theirs")
    texts = (
        [(folder.parent / f"{one}.jsonl").read_text() for one in names] if folder else map(text, (BASE, OURS, THEIRS))
    )
    base, ours, theirs = (lines_of(one, "f") for one in texts)
    found = merge(base, ours, theirs)
    for id_ in {**ours.records, **theirs.records}:
        sides = [one.records[id_] for one in (ours, theirs) if id_ in one.records]
        if len(sides) == 1 and same(sides[0], base.records.get(id_, {})):
            assert id_ not in found.lines  # one side removed it, the other left it alone
            continue
        for line in found.lines[id_]:
            made = json.loads(line)
            for key in {key for one in sides for key in one}:
                if all(same(one.get(key), sides[0].get(key)) for one in sides):
                    assert same(made.get(key), sides[0].get(key)), (id_, key)
    by_key = {id_ for id_, lines in found.lines.items() if len(lines) == 2}
    assert by_key == {id_ for id_, *_ in found.conflicts} and len(by_key) <= 2


values = st.recursive(st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x", EARLY, LATE]), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2), max_leaves=3)  # fmt: skip
keys = st.sampled_from(["title", "status", "labels", "comments", "created_at", "priority", "x", "x_nobrakes"])
files = st.dictionaries(st.sampled_from("abc"), st.dictionaries(keys, values, max_size=4), max_size=3)


@given(files, files, files)
def test_whatever_comes_no_id_and_no_agreed_value_is_lost(base, ours, theirs):
    texts = [text(*({"id": id_, **record} for id_, record in one.items())) for one in (base, ours, theirs)]
    old, first, second = (lines_of(one, "f") for one in texts)
    found = merge(old, first, second)
    for id_ in {**ours, **theirs}:
        here = [one.records[id_] for one in (first, second) if id_ in one.records]
        if len(here) == 1 and id_ in base:
            continue
        for line in found.lines[id_]:
            made = json.loads(line)
            for key in {key for one in here for key in one}:
                if all(same(one.get(key), here[0].get(key)) for one in here):
                    assert same(made.get(key), here[0].get(key))
    unchanged = merge(old, old, second)
    assert {id_: json.loads(line) for id_, (line,) in unchanged.lines.items()} == second.records


def test_git_runs_it_and_no_code_of_the_repository(repository, git, tmp_path):
    paths = Paths(str(repository / ".nobrakes"))
    (repository / ".nobrakes").mkdir()
    assert has_merge_driver(paths) is None
    assert set_merge_driver(paths) and not set_merge_driver(paths)
    assert has_merge_driver(paths) is True
    for name in ("nobrakes.py", "json.py", "sitecustomize.py"):
        (repository / name).write_text("raise SystemExit('code of the repository')")
    snapshot = repository / ".nobrakes" / "beads.jsonl"
    two = record(id="b", title="two")

    def commit(*records):
        snapshot.write_text(text(*records))
        git(repository, "add", "-A")
        git(repository, "commit", "-qm", "x")

    commit(record(), two)
    git(repository, "checkout", "-qb", "side")
    commit(record(labels=["l"]), {**two, "description": "theirs"})
    git(repository, "checkout", "-q", "-")
    commit(record(priority=1), two)
    git(repository, "merge", "-q", "side")
    assert [json.loads(line) for line in snapshot.read_text().splitlines()] == [
        record(labels=["l"], priority=1),
        {**two, "description": "theirs"},
    ]
    git(repository, "checkout", "-qb", "other")
    commit(record(), {**two, "description": "o"})
    git(repository, "checkout", "-q", "-")
    commit(record(), {**two, "description": "t"})
    done = subprocess.run(["git", "merge", "other"], cwd=repository, capture_output=True, text=True)
    assert done.returncode == 1 and "1 conflict: b: description" in done.stdout
    assert snapshot.read_text().count("<<<<<<< ours") == 1


def test_init_asks_where_others_share_the_repository_and_doctor_names_a_clone_without(
    repository, git, tmp_path, monkeypatch, capsys
):
    asked = []
    monkeypatch.chdir(repository)
    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr(config, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr(config, "confirm", lambda question: asked.append(question) or True)
    paths = Paths(str(repository / ".nobrakes"))
    assert main.run(["init"]) == 0 and not asked and has_merge_driver(paths) is None
    git(repository, "remote", "add", "origin", str(tmp_path / "no"))
    assert main.run(["init", "--no-merge-driver"]) == 0 and not asked and has_merge_driver(paths) is None
    assert main.run(["init"]) == 0 and len(asked) == 1 and has_merge_driver(paths)
    assert main.run(["init"]) == 0 and len(asked) == 1
    git(repository, "config", "--remove-section", "merge.nobrakes")
    capsys.readouterr()
    main.run(["doctor"])
    assert "nobrakes init --merge-driver" in " ".join(capsys.readouterr().out.split())
