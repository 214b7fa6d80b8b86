"""What a version of a plan has other than another."""

from nobrakes.features.model import changes


def test_beads_come_go_and_change() -> None:
    before = [{"id": "a", "title": "A", "status": "draft"}, {"id": "b", "title": "B"}]
    after = [{"id": "a", "title": "A", "status": "done", "needs": ["c"]}, {"id": "c", "title": "C"}]
    found = changes(before, after)
    assert [node["id"] for node in found.added] == ["c"] and [node["id"] for node in found.gone] == ["b"]
    assert [(one.id, dict(one.fields)) for one in found.changed] == [("a", {"needs": (None, ["c"])})]
    assert changes(after, after).is_empty and not found.is_empty
