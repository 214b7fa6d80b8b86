"""Beads JSONL in and out: stable bytes, nothing lost, nothing guessed silently."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Status
from nobrakes.errors import PlanError
from nobrakes.snapshot import reader as interop
from nobrakes.snapshot.beads_jsonl import written
from nobrakes.snapshot.reader import moment
from tests.support.records import dumped


def line(**fields):
    return json.dumps({"id": "x", "title": "X", **fields})


def one(**fields):
    found = interop.parse(line(**fields))
    assert len(found.beads) == 1
    return found.beads[0], list(found.problems)


def test_a_branch_of_another_pattern_is_kept_and_no_other_text_is_taken_for_one():
    own = {"status": "needs_doer", "branch": "agents/x"}
    found, _ = one(x_nobrakes=own)
    assert found.branch == "agents/x" and json.loads(dumped([found], []))["x_nobrakes"] == own
    usual = Bead("x", "X", status=Status.NEEDS_DOER, branch="task/bead-x")
    assert "branch" not in json.loads(dumped([usual], []))["x_nobrakes"]
    for bad in ("../../x", "a b", "x" * 400, 7, None):
        assert one(x_nobrakes={**own, "branch": bad})[0].branch == ""


def test_a_record_has_beads_words():
    bead = Bead(
        "b", "Title", BeadType.FIX, "d", ("one", "two"), 0, ("l",), "e", 30, False, True, ("src/**",), "n", {"k": 1},
        Status.NEEDS_DOER, held="wait", defer_until=10.5, created_at=1.0, updated_at=2.0,
    )  # fmt: skip
    found = json.loads(dumped([bead], [Dependency("b", "a"), Dependency("b", "e", DependencyType.PARENT_CHILD)]))
    assert list(found)[:2] == ["id", "title"]
    assert found["issue_type"] == "bug" and found["status"] == "deferred" and found["priority"] == 0
    assert found["acceptance_criteria"] == "one\ntwo"
    assert found["dependencies"] == [
        {"issue_id": "b", "depends_on_id": "a", "type": "blocks"},
        {"issue_id": "b", "depends_on_id": "e", "type": "parent-child"},
    ]
    assert found["created_at"] == "1970-01-01T00:00:01Z" and found["defer_until"] == "1970-01-01T00:00:10.500000Z"
    assert found["x_nobrakes"] == {
        "status": "needs_doer", "acceptance": ["one", "two"], "needs_tests": False, "scaffolding": True,
        "touches": ["src/**"], "held": "wait",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "word", "rests"),
    [
        (Status.DRAFT, "deferred", Status.DRAFT),
        (Status.DOING, "in_progress", Status.NEEDS_DOER),
        (Status.WRITING_TESTS, "in_progress", Status.NEEDS_TESTS),
        (Status.REVIEWING, "in_progress", Status.NEEDS_REVIEW),
        (Status.DONE, "closed", Status.DONE),
        (Status.CANCELLED, "closed", Status.CANCELLED),
    ],
)
def test_what_is_worked_on_comes_back_as_waiting(status, word, rests):
    text = dumped([Bead("b", "B", status=status)], [])
    assert json.loads(text)["status"] == word
    assert interop.parse(text).beads[0].status is rests


def test_an_escalated_bead_comes_back_where_it_was():
    bead = Bead("b", "B", status=Status.ESCALATED, return_to=Status.NEEDS_REVIEW)
    assert interop.parse(dumped([bead], [])).beads[0].status is Status.NEEDS_REVIEW


def test_what_a_bead_needs_is_sorted_whatever_the_order():
    beads = [Bead(i, i) for i in ("c", "a", "b")]
    edges = [Dependency("c", "a"), Dependency("c", "b"), Dependency("b", "a", DependencyType.RELATED)]
    text = dumped(beads, edges)
    assert dumped(beads[::-1], edges[::-1]) == text
    assert [json.loads(row)["id"] for row in text.splitlines()] == ["a", "b", "c"]
    assert text.endswith("\n") and dumped([], []) == ""


LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=30)
TIMES = st.integers(0, 4_000_000_000_000_000).map(lambda micro: micro / 1_000_000)
RESTS = [
    Status.DRAFT, Status.OPEN, Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW, Status.DONE, Status.CANCELLED
]  # fmt: skip


@st.composite
def graphs(draw):
    ids = draw(st.lists(st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True), min_size=1, max_size=6, unique=True))
    made = [
        Bead(
            i, draw(LINE), draw(st.sampled_from(list(BeadType))), draw(TEXT), tuple(draw(st.lists(TEXT, max_size=3))),
            draw(st.integers(0, 4)), tuple(draw(st.lists(LINE, max_size=3, unique=True))),
            draw(st.sampled_from([None, *(other for other in ids if other != i)])), draw(st.none() | st.integers(1, 9)),
            draw(st.booleans()), draw(st.booleans()), tuple(draw(st.lists(TEXT, max_size=2))), draw(TEXT),
            draw(st.dictionaries(LINE, st.none() | st.integers() | LINE | st.lists(LINE), max_size=3)),
            draw(st.sampled_from(RESTS)), draw(st.none() | TEXT), draw(st.none() | TIMES), draw(TIMES), draw(TIMES),
            draw(st.none() | TIMES), draw(TEXT), draw(st.integers(0, 3)),
            merged_commit=draw(st.sampled_from([None, "a" * 40])),
        )
        for i in ids
    ]  # fmt: skip
    kinds = [kind for kind in DependencyType if kind is not DependencyType.PARENT_CHILD]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids), st.sampled_from(kinds))
    edges = {Dependency(*found) for found in draw(st.lists(pairs, max_size=6)) if found[0] != found[1]}
    return made, edges


@pytest.mark.parametrize("value", [None, 5, [], {}, "text", {"dependencies": 3}], ids=str)
def test_what_no_import_kept_under_its_key_stays_the_metadatas_own(value):
    bead = Bead("a", "A", metadata={"x_beads": value})
    back = interop.parse(dumped([bead], []))
    assert back.problems == () and list(back.beads) == [bead]


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(graphs())
def test_what_goes_out_comes_in_the_same(found):
    made, edges = found
    text = dumped(made, edges)
    assert text.count("\n") == len(made)
    for one in text.splitlines():
        assert json.dumps(json.loads(one), ensure_ascii=False, separators=(",", ":")) == one
    back = interop.parse(text)
    assert back.problems == ()
    assert sorted(back.beads, key=lambda bead: bead.id) == sorted(made, key=lambda bead: bead.id)
    assert set(back.dependencies) == edges
    assert dumped(back.beads, back.dependencies) == text


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "title",
                    "status",
                    "issue_type",
                    "priority",
                    "labels",
                    "dependencies",
                    "metadata",
                    "created_at",
                    "closed_at",
                    "notes",
                    "design",
                    "comments",
                    "estimated_minutes",
                    "x_nobrakes",
                    "description",
                    "acceptance_criteria",
                    "defer_until",
                    "_type",
                ]
            ),
            st.none() | st.integers() | st.booleans() | LINE | st.lists(LINE) | st.dictionaries(LINE, LINE),
        ),
        max_size=5,
    )
)
def test_whatever_is_in_a_file_is_read_and_then_stable(rows):
    text = "\n".join(json.dumps({"id": f"b{place}", "title": "T", **row}) for place, row in enumerate(rows))
    first = interop.parse(text)
    written_once = dumped(first.beads, first.dependencies)
    second = interop.parse(written_once)
    assert [bead.id for bead in second.beads] == [bead.id for bead in first.beads]
    assert dumped(second.beads, second.dependencies) == written_once


def test_other_tools_keys_are_kept_and_computed_ones_dropped():
    raw = {
        "_type": "issue", "id": "x", "title": "X", "design": "D", "owner": "o", "dependency_count": 3, "priority": 1,
        "comments": [{"id": 1, "issue_id": "x", "author": "a", "text": "t"}], "metadata": {"own": 1},
        "dependencies": [{"issue_id": "x", "depends_on_id": "y", "type": "tracks", "created_by": "z"}],
    }  # fmt: skip
    found = interop.parse(json.dumps(raw))
    out = json.loads(dumped(found.beads, found.dependencies))
    assert out["design"] == "D" and out["owner"] == "o" and out["comments"] == raw["comments"]
    assert out["dependencies"] == raw["dependencies"] and out["metadata"] == {"own": 1}
    assert "dependency_count" not in out and "_type" not in out
    assert any("tracks" in problem for problem in found.problems)


def test_the_last_of_two_records_counts_and_it_is_told():
    found = interop.parse("\n".join([line(title="one"), line(title="two")]))
    assert found.beads[0].title == "two"
    assert found.problems == ("line 2: x appears twice; the last entry is used",)


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| base"])
def test_conflict_markers_refuse_the_file(marker):
    with pytest.raises(PlanError, match=r"beads\.jsonl:2: the file contains git's conflict markers"):
        interop.parse(f"{line()}\n{marker}\n")


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ("{", "line 2: skipped, because it is not JSON"),
        ("[" * 100_000, "line 2: skipped, because it is not JSON"),
        ("5", "line 2: skipped, because it is not a bead"),
        ('{"_type": "memory", "id": "m", "title": "M"}', "line 2: skipped, because it is not a bead"),
        ('{"id": "../up", "title": "U"}', "line 2: '../up' is not a valid bead id"),
        ('{"id": "m"}', "line 2: m: the bead has no title"),
        ('{"id": "m", "title": " \\n "}', "line 2: m: the bead has no title"),
    ],
)
def test_bad_lines_are_left_out_and_told(bad, says):
    found = interop.parse(f"{line()}\n{bad}\n")
    assert [bead.id for bead in found.beads] == ["x"]
    assert len(found.problems) == 1 and found.problems[0].startswith(says)


def test_tombstones_are_left_out():
    found = interop.parse(
        line() + "\n" + json.dumps({"id": "t", "title": "T", "status": "tombstone"}) + "\n"
        + line(id="y", dependencies=[{"issue_id": "y", "depends_on_id": "t", "type": "blocks"}])
    )  # fmt: skip
    assert [bead.id for bead in found.beads] == ["x", "y"] and found.dependencies == ()
    assert len(found.problems) == 2


@pytest.mark.parametrize(
    ("word", "status", "held"),
    [
        ("open", Status.NEEDS_TESTS, None),
        ("in_progress", Status.NEEDS_TESTS, None),
        ("closed", Status.DONE, None),
        ("done", Status.DONE, None),
        ("blocked", Status.NEEDS_TESTS, "blocked"),
        ("deferred", Status.NEEDS_TESTS, "deferred"),
        ("my own", Status.NEEDS_TESTS, "my own"),
    ],
)
def test_words_for_a_status(word, status, held):
    bead, problems = one(status=word)
    assert (bead.status, bead.held) == (status, held)
    assert bool(problems) == (word == "my own")


def test_what_other_tools_call_work_but_is_none_comes_in_held():
    bead, problems = one(issue_type="message", status="open")
    assert (bead.type, bead.held) == (BeadType.TASK, "type message") and problems
    assert one(issue_type="decision")[0].held is None
    assert one(issue_type="epic")[0].status is Status.OPEN


@pytest.mark.parametrize(
    ("fields", "check"),
    [
        ({"priority": 9}, lambda b: b.priority == 2),
        ({"priority": True}, lambda b: b.priority == 2),
        ({"title": "a\nb\x00"}, lambda b: b.title == "a b"),
        ({"title": "x" * 600}, lambda b: len(b.title) == 500),
        ({"estimated_minutes": 0}, lambda b: b.estimate is None),
        ({"labels": "x"}, lambda b: b.labels == ()),
        ({"description": 5}, lambda b: b.description == ""),
        ({"created_at": "yesterday"}, lambda b: b.created_at == 0.0),
        ({"issue_type": "wish"}, lambda b: b.type is BeadType.TASK),
        ({"dependencies": [5]}, lambda b: True),
        ({"dependencies": [{"issue_id": "x", "depends_on_id": "x", "type": "blocks"}]}, lambda b: True),
    ],
)
def test_a_wrong_value_is_replaced_and_told(fields, check):
    bead, problems = one(**fields)
    assert check(bead) and len(problems) == 1


@pytest.mark.parametrize(
    ("word", "kind", "told"),
    [
        ("blocks", DependencyType.BLOCKS, False),
        ("relates-to", DependencyType.RELATED, False),
        ("blocked-by", DependencyType.BLOCKS, True),
        ("waits-for", DependencyType.BLOCKS, True),
    ],
)
def test_words_for_dependencies(word, kind, told):
    edge = {"issue_id": "x", "depends_on_id": "y", "type": word}
    found = interop.parse(line(dependencies=[edge]) + "\n" + line(id="y"))
    assert found.dependencies == (Dependency("x", "y", kind),)
    assert bool(found.problems) is told


def test_the_first_parent_is_the_epic_and_a_second_is_a_remark():
    edges = [{"issue_id": "x", "depends_on_id": other, "type": "parent-child"} for other in ("p", "q")]
    found = interop.parse("\n".join([line(dependencies=edges), line(id="p"), line(id="q")]))
    assert next(b for b in found.beads if b.id == "x").epic == "p"
    assert len(found.problems) == 1 and "second parent" in found.problems[0]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("1970-01-01T02:00:01.123456789+02:00", 1.123456),
        ("1970-01-01 00:00:01", 1.0),
        ("1970-01-02", 86400.0),
    ],
)
def test_times(text, seconds):
    assert moment(text) == seconds
    assert moment(written(seconds)) == seconds


@pytest.mark.parametrize("line", ["0\x850", "a\u2028b", "a\x0bb", " a", "", "a\nb"])
def test_a_criterion_with_a_break_of_any_kind_is_kept_whole(line):
    record = dumped([Bead("a", "A", acceptance=(line,))], [])
    assert interop.parse(record).beads[0].acceptance == (line,)


@pytest.mark.parametrize(
    "text", ["9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00", "9999-12-31T23:59:59.9999999Z"]
)
def test_a_time_that_could_not_be_written_again_is_none(text):
    with pytest.raises(ValueError):
        moment(text)


def test_what_people_keep_for_themselves_takes_no_key_of_ours():
    bead = Bead("b", "B", metadata={"x_beads": {"x_nobrakes": {"status": "done"}, "theirs": 1}})
    record = dumped([bead], [])
    assert record.count('"x_nobrakes":') == 1 and '"theirs":1' in record
