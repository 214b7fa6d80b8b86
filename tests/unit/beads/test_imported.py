"""What another tool wrote about a bead is told, though there is no field for it."""

from nobrakes.beads.progress import COMMENTS, KEPT, texts


def test_the_design_and_the_comments_are_told() -> None:
    comments = [{"author": "ann", "text": "Mind the zone."}, {"text": "Seen."}, {"author": "bo", "text": " "}]
    found = texts({KEPT: {"design": "One table.", "comments": comments, "spec_id": "7"}})
    assert found == [("Design", "One table."), ("Comments", "ann: Mind the zone.\n\nsomebody: Seen.")]


def test_of_many_comments_the_latest_are_told() -> None:
    ((_, text),) = texts({KEPT: {"comments": [{"author": "a", "text": str(n)} for n in range(COMMENTS + 2)]}})
    assert text.startswith("[2 older ones left out]") and text.endswith(f"a: {COMMENTS + 1}")


def test_nothing_or_nonsense_is_nothing() -> None:
    for metadata in (
        {},
        {KEPT: None},
        {KEPT: {"design": 3, "comments": "x"}},
        {KEPT: {"comments": [1, {"text": None}]}},
    ):
        assert texts(metadata) == []
