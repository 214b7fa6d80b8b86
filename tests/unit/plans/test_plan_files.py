"""Plan files read: YAML, JSON and records, with every problem named at its place."""

import io
import json
import tracemalloc

import pytest

from nobrakes.beads.model import BeadType
from nobrakes.errors import PlanError
from nobrakes.plans import nodes
from nobrakes.plans.service import plan_in, read_plan


def read(tmp_path, text, name="plan.yaml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_plan(str(path))


def problems(tmp_path, text, name="plan.yaml"):
    with pytest.raises(PlanError) as raised:
        read(tmp_path, text, name)
    return str(raised.value).split("\n")


def problems_in(file):
    with pytest.raises(PlanError) as raised:
        read_plan(str(file))
    return str(raised.value).split("\n")


def test_yaml_and_json_say_the_same(tmp_path):
    beads = [{"id": "a", "title": "A", "priority": 0, "needs": ["b"]}, {"id": "b", "title": "B", "epic": None}]
    one = read(tmp_path, json.dumps({"live": True, "beads": beads}), "plan.json")
    two = read(
        tmp_path, "live: true\nbeads:\n- {id: a, title: A, priority: 0, needs: [b]}\n- {id: b, title: B, epic: }\n"
    )
    assert (one.nodes, one.live) == (two.nodes, two.live)
    assert one.nodes[0].fields == {"title": "A", "priority": 0}
    assert one.nodes[0].needs == ("b",)
    assert one.nodes[1].fields == {"title": "B", "epic": None}
    assert one.nodes[1].needs is None


def test_json_without_a_name_is_known_by_its_look(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"beads": [{"id": "a", "title": "A"}]}')))
    assert read_plan("-").nodes[0].id == "a"


@pytest.mark.parametrize(
    ("written", "minutes"), [("90", 90), ("45m", 45), ("2h", 120), ("1h30m", 90), ("1h 5min", 65), ('"30"', None)]
)
def test_estimates(tmp_path, written, minutes):
    text = f"[{{id: a, title: A, estimate: {written}}}]"
    if minutes is None:
        assert "not a duration" in problems(tmp_path, text)[0]
    else:
        assert read(tmp_path, text).nodes[0].fields["estimate"] == minutes


def test_acceptance_may_be_a_text(tmp_path):
    plan = read(tmp_path, "- id: a\n  title: A\n  acceptance: |\n    - one\n    - two\n\n    three\n")
    assert plan.nodes[0].fields["acceptance"] == ("one", "two", "three")


@pytest.mark.parametrize(
    ("word", "status", "hold"),
    [
        ("draft", "draft", None),
        ("live", "live", None),
        ("done", "done", None),
        ("closed", "done", None),
        ("cancelled", "cancelled", None),
        ("open", None, None),
        ("in_progress", None, None),
        ("blocked", None, "blocked"),
        ("deferred", None, "deferred"),
    ],
)
def test_words_for_a_status(tmp_path, word, status, hold):
    node = read(tmp_path, f"[{{id: a, title: A, status: {word}}}]").nodes[0]
    assert (node.status, node.hold) == (status, hold)


def test_times_and_types(tmp_path):
    plan = read(
        tmp_path,
        "- {id: a, title: A, defer_until: 2030-01-31T09:00:00Z, type: bug}\n"
        "- {id: b, title: B, defer_until: '2030-01-31T10:00:00+01:00'}\n- {id: c, title: C, defer_until: 2030-01-31}\n",
    )
    a, b, c = plan.nodes
    assert a.defer_until == b.defer_until == 1896080400.0
    assert c.defer_until == 1896080400.0 - 9 * 3600
    assert a.fields["type"] is BeadType.FIX


def test_every_problem_is_told_at_once_with_its_place(tmp_path):
    beads = "- {id: a, title: A, priority: 7, typo: 1}\n- {id: '../x', title: ''}\n- {id: a, needs: {b: c}}\n- 5\n"
    found = problems(tmp_path, f"colour: red\nbeads:\n{beads}")
    text = "\n".join(found)
    for place in (
        "colour: is not a known key",
        "beads[0].priority",
        "beads[0].typo: is not a known key",
        "beads[1].id",
        "beads[1].title",
    ):
        assert f"plan.yaml: {place}" in text
    assert "beads[2].needs" in text and "beads[3]" in text


def test_names_are_used_once(tmp_path):
    found = problems(tmp_path, "- {id: a, title: A}\n- {id: a, title: B}\n- {key: a, title: C}\n")
    assert found == [
        "plan.yaml: beads[1]: 'a' is used twice, first at beads[0]",
        "plan.yaml: beads[2]: 'a' is used twice, first at beads[0]",
    ]


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("beads: [\n", "plan.yaml:2:1: not YAML"),
        (BOMB, "alias"),
        ("a: &x [*x]", "alias"),
        ("beads: []\nbeads: []", "'beads' appears twice"),
        ("- {id: a, id: b, title: A}", "'id' appears twice"),
        ("x: !!python/object/apply:os.system ['true']", "could not determine a constructor"),
        ("[" * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("{a: " * 100_000, "nested too deeply"),
        ("a: 2020-99-99", "cannot read a value"),
        ("", "is empty"),
        ("just words", "not a plan"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_evil_and_broken_yaml_is_an_error(tmp_path, text, says):
    assert says in "\n".join(problems(tmp_path, text))


@pytest.mark.parametrize("text", ['{"beads": [], "beads": []}', '{"beads": [{"id": "a", "id": "b"}]}'])
def test_double_keys_in_json(tmp_path, text):
    assert "appears twice" in problems(tmp_path, text, "plan.json")[0]


def test_deep_and_broken_json(tmp_path):
    assert "nested too deeply" in problems(tmp_path, '{"beads":' * 100_000, "plan.json")[0]
    assert "plan.json:1:10" in problems(tmp_path, '{"beads":', "plan.json")[0]


def test_size_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "MAX_BYTES", 10)
    assert "larger than" in problems(tmp_path, "beads: [1, 2, 3]")[0]


def test_a_missing_file(tmp_path):
    with pytest.raises(PlanError, match="cannot be read"):
        read_plan(str(tmp_path / "none.yaml"))


def test_records_are_a_plan(tmp_path):
    lines = [
        {"id": "e", "title": "E", "issue_type": "epic", "status": "open", "priority": 1},
        {"id": "a", "title": "A", "issue_type": "bug", "status": "closed", "priority": 0, "labels": ["x"],
         "dependencies": [{"issue_id": "a", "depends_on_id": "e", "type": "parent-child"}]},
        {"id": "b", "title": "B", "status": "deferred",
         "dependencies": [{"issue_id": "b", "depends_on_id": "a", "type": "blocks"},
                          {"issue_id": "b", "depends_on_id": "gone", "type": "blocks"}]},
    ]  # fmt: skip
    plan = read(tmp_path, "\n".join(map(json.dumps, lines)), "beads.jsonl")
    e, a, b = plan.nodes
    assert (a.id, a.status, a.fields["epic"], a.fields["type"]) == ("a", "done", "e", BeadType.FIX)
    assert (b.needs, b.status, b.hold) == (("a",), None, "deferred")
    assert e.where == "line 1"
    assert len(plan.problems) == 1 and "gone" in plan.problems[0]


def test_records_are_read_line_by_line_and_may_be_of_any_size(tmp_path, monkeypatch):
    lines = [f'{{"id":"b{n}","title":"B{n}","labels":["x{n}"]}}' for n in range(9)]
    text = "\n".join([*lines, '{"id":"b3","title":"again"}', '{"id":"b5","title":"gone","status":"tombstone"}', "{no"])
    file = tmp_path / "plan.jsonl"
    file.write_text("\ufeff" + text + "\n")
    told = read_plan(str(file))
    assert told == plan_in(text, "plan.jsonl")
    assert [node.id for node in told.nodes] == ["b0", "b1", "b2", "b4", "b6", "b7", "b8", "b3"]
    assert "line 10: b3 appears twice; the last entry is used" in told.problems
    monkeypatch.setattr(nodes, "MAX_BYTES", 80)
    assert read_plan(str(file)) == told and file.stat().st_size > 80
    file.write_text(lines[0] + "\n" + lines[1].replace("B1", "B" * 80) + "\n")
    assert problems_in(file) == ["plan.jsonl:2: the line is larger than 0 MB"]
    file.write_bytes(b"\xff\n")
    assert "is not UTF-8" in problems_in(file)[0]
    assert "cannot be read" in problems_in(tmp_path / "none.jsonl")[0]


BEAD = {"id": "a", "title": 'Ä "ß" 设', "labels": ["x", "y", "x"], "needs": ["b"], "status": "blocked", "epic": None}
OURS = [
    {"beads": [BEAD, {"id": "b", "title": "B", "metadata": {"n": [1, {"m": 2.5}]}, "estimate": "2h"}]},
    {"live": True, "beads": [{"key": "k", "title": "B"}, {"title": "C", "needs": ["k"]}]},
    [{"id": f"b{number}", "title": "B", "description": "é" * number} for number in range(30)],
]
OTHERS = [
    json.dumps({"beads": []}),
    json.dumps({"beads": [BEAD], "live": True}),
    json.dumps([{"number": 3, "title": "T", "body": "", "labels": [], "state": "OPEN"}]),
    json.dumps({"beads": [{"id": 1, "title": "B"}, {"id": 2, "title": "C", "needs": [1]}]}),
    json.dumps({"beads": [BEAD, {"name": "Other words", "priority": "high"}]}),
    json.dumps({"beads": [BEAD, "A title"]}),
    json.dumps({"beads": [BEAD, {**BEAD, "id": "c", "priority": 9, "unknown": 1}]}),
    json.dumps({"beads": [BEAD, {"id": "c"}]})[:-3],
    json.dumps({"beads": [BEAD]}) + "}",
    '{"beads": [{"id": "a", "title": "A", "title": "B"}]}',
    '{"beads": [{"id": "a", "title": "A"},]}',
    '{"beads": [{"id": "a", "title": "A"}]',
    '{"beads":\n[{"id": "a",\n "title": nothing}]}',
    '{"beads": [{"id": "a", "title": "A", "metadata": ' + '{"m":' * 3000 + "1" + "}" * 3000 + "}]}",
]


def outcome(read, *given):
    try:
        return read(*given)
    except PlanError as error:
        return str(error)


@pytest.mark.parametrize("size", [40, 41, 201, 1 << 20])
@pytest.mark.parametrize("ascii", [True, False])
def test_json_read_in_parts_is_the_plan_of_its_whole_text(size, ascii, tmp_path, monkeypatch):
    monkeypatch.setattr(nodes, "PART_BYTES", size)
    monkeypatch.setattr(nodes, "AT_ONCE", 4)
    for number, value in enumerate(OURS):
        for text in (
            json.dumps(value, ensure_ascii=ascii),
            "\ufeff\n" + json.dumps(value, ensure_ascii=ascii, indent=1),
        ):
            file = tmp_path / f"plan{number}.json"
            file.write_text(text)
            assert nodes.plan_of_json(str(file), file.read_bytes()) is not None
            assert read_plan(str(file)) == plan_in(text.removeprefix("\ufeff"), str(file))
    for text in OTHERS:
        file = tmp_path / "other.json"
        file.write_text(text)
        assert nodes.plan_of_json(str(file), file.read_bytes()) is None
        assert outcome(read_plan, str(file)) == outcome(plan_in, text, str(file))
    file.write_bytes(json.dumps(OURS[0], ensure_ascii=False).encode()[:-40] + b'\xff"}]}')
    assert "is not UTF-8" in outcome(read_plan, str(file))
    file.write_text(json.dumps({"beads": [{"id": "a", "title": "A"}] * 2}))
    assert outcome(read_plan, str(file)) == "other.json: beads[1]: 'a' is used twice, first at beads[0]"


def test_a_plan_keeps_little_of_each_bead():
    """The values that beads share are there once, and no text of the file stays."""
    beads = [
        {"id": f"bead-{n:05}", "title": f"Title {n}", "labels": ["api", "web"], "needs": [f"bead-{n - 1:05}"]}
        for n in range(1, 2000)
    ]
    data = json.dumps({"beads": beads}).encode()
    nodes.plan_of_json("plan.json", data)  # loads what is loaded once
    tracemalloc.start()
    try:
        plan = nodes.plan_of_json("plan.json", data)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert plan is not None and kept / len(plan.nodes) < 650
    names = {name: id(name) for node in plan.nodes for name in (node.id,)}
    assert all(id(name) == names[name] for node in list(plan.nodes)[1:] for name in node.needs)
