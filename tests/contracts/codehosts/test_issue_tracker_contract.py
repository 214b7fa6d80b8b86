"""What the port `IssueTracker` promises, of the real gh and of the fake alike."""

import pytest
from host_worlds import HAS_GH, RealIssues, SimulatedIssues

from nobrakes.errors import HostRefused, HostUnavailable

gh = pytest.param(
    RealIssues, marks=[pytest.mark.skipif(not HAS_GH, reason="gh is not installed"), pytest.mark.ci], id="gh"
)


@pytest.fixture(params=[gh, pytest.param(SimulatedIssues, id="fake")])
def place(request, tmp_path):
    made = request.param(tmp_path)
    yield made
    made.over()


def test_open_issues_with_the_label_are_listed_newest_first(place):
    place.issue(3, "Crash", "It crashes.\n", ("bug", "nobrakes"))
    place.issue(5, "Later")
    place.issue(6, "Other", labels=("bug",))
    place.issue(7, "Over")
    place.shut(7)
    place.tracker.ready()
    found = place.tracker.open_issues("nobrakes")
    assert [one["number"] for one in found] == [5, 3]
    assert (found[1]["title"], found[1]["body"], found[1]["state"]) == ("Crash", "It crashes.\n", "open")
    assert [label["name"] for label in found[1]["labels"]] == ["bug", "nobrakes"]
    assert found[1]["url"] == f"https://{place.tracker.repository}/issues/3"
    assert place.tracker.open_issues("none") == []


def test_an_issue_is_open_closed_or_gone(place):
    place.issue(3, "Crash")
    assert place.tracker.is_open(3)
    place.tracker.close(3)
    place.tracker.close(3)
    assert not place.tracker.is_open(3) and place.tracker.open_issues("nobrakes") == []
    place.remove(3)
    assert not place.tracker.is_open(3)


def test_a_comment_is_found_by_the_line_of_its_mark(place):
    place.issue(3, "Crash")
    mark = "<!-- nobrakes issue: gh-3 merged abc -->"
    place.say(3, f"I quote {mark}")
    assert not place.tracker.has_comment(3, mark)
    place.tracker.comment(3, f"merged\n\n{mark}\n")
    assert place.said(3)[1:] == [f"merged\n\n{mark}\n"]
    assert place.tracker.has_comment(3, mark) and not place.tracker.has_comment(3, mark.replace("gh-3", "gh-4"))


def test_among_too_many_comments_no_mark_is_missing(place):
    place.issue(3, "Crash")
    for number in range(1000):
        place.say(3, f"me too {number}")
    with pytest.raises(HostRefused, match="too many comments"):
        place.tracker.has_comment(3, "<!-- nobrakes issue: gh-3 merged abc -->")


def test_trouble_that_passes_is_told_apart(place):
    place.issue(3, "Crash")
    place.fails(1)
    with pytest.raises(HostUnavailable):
        place.tracker.open_issues("nobrakes")
    assert len(place.tracker.open_issues("nobrakes")) == 1
