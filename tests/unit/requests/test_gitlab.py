"""What is GitLab's own: drafts by their title, commands in texts, jobs that may fail, members and bots."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from nobrakes.errors import HostRefused
from nobrakes.requests.hosts.calls import Address
from nobrakes.requests.hosts.gitlab import GitLab, Glab
from nobrakes.requests.hosts.port import Wanted
from nobrakes.requests.model import CheckState, HostCheck, PullState

AT = "projects/group%2Fdeeper%2Fthing"
ROW = {
    "iid": 3, "state": "opened", "sha": "a" * 40, "source_branch": "task/bead-x", "target_branch": "main",
    "source_project_id": 7, "target_project_id": 7, "title": "One", "description": "text\nmark\n", "web_url": "https://h/3",
}  # fmt: skip
WANTED = Wanted("task/bead-x", "main", "One", "text\n", "mark")


@dataclass
class Said:
    code: int | None
    out: str = ""
    error: str = ""


class Lab:
    """Answers by path, and keeps what was sent."""

    def __init__(self, rows: Mapping[str, Any]) -> None:
        self.rows = dict(rows)
        self.sent: list[tuple[str, str, Any]] = []

    def __call__(self, argv: Sequence[str], given: bytes) -> Said:
        method, path = argv[argv.index("--method") + 1], argv[argv.index("--method") + 2]
        if method != "GET":
            self.sent.append((method, path, json.loads(given)))
            assert "Content-Type: application/json" in argv, "without it the host does not read the body"
        path = path.removeprefix(f"{AT}/").replace("?per_page=100&page=1", "").replace("&per_page=100&page=1", "")
        said = self.rows.get(path)
        status = 404 if said is None else 200
        return Said(0 if status == 200 else 1, f"HTTP/1.1 {status} X\r\n\r\n" + json.dumps(said))


def gitlab(rows: Mapping[str, Any] | None = None) -> tuple[GitLab, Lab]:
    lab = Lab({"merge_requests/3": ROW, "merge_requests": ROW, **(rows or {})})
    return GitLab(Glab("h", lab, lambda: 0.0), Address("h", "group/deeper", "thing")), lab


def looked(**more: Any) -> Any:
    return gitlab({"merge_requests/3": {**ROW, **more}})[0].look(3)


@pytest.mark.parametrize(
    ("more", "made"),
    [
        ({"merge_commit_sha": "m" * 40, "squash_commit_sha": "s" * 40}, "m" * 40),
        ({"merge_commit_sha": None, "squash_commit_sha": "s" * 40}, "s" * 40),
        ({"merge_commit_sha": None, "squash_commit_sha": None}, "a" * 40),
    ],
)
def test_what_a_merge_made_is_told_for_each_way_of_merging(more: dict[str, Any], made: str) -> None:
    assert looked(state="merged", **more).merged_as == made
    assert looked(state="opened", **more).merged_as == "" == looked(state="closed", **more).merged_as
    assert looked(state="locked", **more).state is PullState.OPEN, "it is being merged"


def test_a_conflict_is_what_has_to_be_built_again() -> None:
    assert looked(has_conflicts=True).conflicts and looked(detailed_merge_status="need_rebase").conflicts
    for status in ("mergeable", "checking", "ci_must_pass", "not_approved", "draft_status"):
        assert not looked(detailed_merge_status=status).conflicts


def test_a_draft_is_one_by_its_title_and_stays_what_people_made_of_it() -> None:
    host, lab = gitlab()
    host.open(Wanted("task/bead-x", "main", "One", "text\n", "mark", draft=True))
    assert lab.sent[-1][2]["title"] == "Draft: One"
    assert looked(title="Draft: One").title == "One" == looked(title="[DRAFT] One").title
    host.rewrite(3, Wanted("task/bead-x", "main", "Two", "text\n", "mark", draft=True))
    assert lab.sent[-1][2]["title"] == "Two", "somebody said that it is ready"
    lab.rows["merge_requests/3"] = {**ROW, "title": "draft: One"}
    host.rewrite(3, WANTED)
    assert lab.sent[-1][2]["title"] == "Draft: One", "somebody made it a draft"


def test_no_line_of_a_text_is_a_command() -> None:
    host, lab = gitlab()
    body = "/merge\nSee /etc/hosts\n  /approve\n\n/assign me\n<!-- mark -->\n"
    host.open(Wanted("task/bead-x", "main", "One", body, "<!-- mark -->"))
    host.rewrite(3, Wanted("task/bead-x", "main", "One", body, "<!-- mark -->"))
    for _, _, sent in lab.sent:
        assert not [line for line in sent["description"].splitlines() if line.strip().startswith("/")]
        assert "See /etc/hosts" in sent["description"] and "<!-- mark -->" in sent["description"].splitlines()


def test_labels_and_reviewers_are_added_to_those_that_are_there_and_asked_for_once() -> None:
    has = {**ROW, "labels": ["theirs", "b"], "reviewers": [{"id": 5, "username": "cora"}]}
    host, lab = gitlab(
        {"merge_requests/3": has, "users?username=ann": [{"id": 11, "username": "ann"}], "users?username=zoe": []}
    )
    wanted = Wanted("x", "main", "One", "", "mark", labels=("a", "b"), reviewers=("ann", "cora", "team/all"))
    host.set_labels_and_reviewers(3, wanted)
    assert [sent for _, _, sent in lab.sent] == [{"add_labels": "a"}, {"reviewer_ids": [5, 11]}]
    host.set_labels_and_reviewers(3, WANTED)
    lab.rows["merge_requests/3"] = {**has, "labels": ["a", "b"], "reviewers": [{"id": 11, "username": "ann"}]}
    host.set_labels_and_reviewers(3, Wanted("x", "main", "One", "", "mark", labels=("a", "b"), reviewers=("ann",)))
    assert len(lab.sent) == 2, "what is so already stays"
    with pytest.raises(HostRefused, match="no user called zoe"):
        host.set_labels_and_reviewers(3, Wanted("x", "main", "One", "", "mark", reviewers=("zoe",)))


@pytest.mark.parametrize(
    ("status", "may_fail", "state"),
    [
        ("success", False, CheckState.PASSED),
        ("skipped", False, CheckState.PASSED),
        ("failed", False, CheckState.FAILED),
        ("failed", True, CheckState.PASSED),
        ("manual", True, CheckState.PASSED),
        ("manual", False, CheckState.RUNNING),
        ("canceled", False, CheckState.RUNNING),
        ("created", False, CheckState.RUNNING),
        ("waiting_for_resource", True, CheckState.RUNNING),
    ],
)
def test_a_job_is_red_where_it_failed_and_may_not(status: str, may_fail: bool, state: CheckState) -> None:
    rows = [{"id": 9, "name": "build", "status": status, "allow_failure": may_fail, "target_url": "https://h/9"}]
    host, _ = gitlab({f"repository/commits/{'a' * 40}/statuses": [{**rows[0], "id": 8, "status": "failed"}, *rows]})
    assert host.checks("a" * 40) == [HostCheck("build", state, "https://h/9", "9")]


def test_jobs_on_what_a_merge_would_be_count_and_a_pipeline_without_jobs_is_red() -> None:
    jobs = [
        {"id": 4, "name": "build", "status": "failed", "web_url": "https://h/4", "failure_reason": "script_failure"}
    ]
    pipeline = {
        "id": 77,
        "sha": "f" * 40,
        "ref": "refs/merge-requests/3/merge",
        "status": "failed",
        "web_url": "https://h/77",
    }
    statuses = f"repository/commits/{'a' * 40}/statuses"
    host, lab = gitlab(
        {"merge_requests/3": {**ROW, "head_pipeline": pipeline}, statuses: [], "pipelines/77/jobs": jobs}
    )
    assert host.checks("a" * 40) == []
    host.look(3)
    assert host.checks("a" * 40) == [HostCheck("build", CheckState.FAILED, "https://h/4", "4", "script_failure")]
    lab.rows["pipelines/77/jobs"] = []
    assert [(one.name, one.state) for one in host.checks("a" * 40)] == [("pipeline", CheckState.FAILED)]
    assert (
        host.log(HostCheck("pipeline", CheckState.FAILED)) == "" == host.log(HostCheck("x", CheckState.FAILED, key="5"))
    )


def note(key: int, user: int, text: str = "Change it.", **more: Any) -> dict[str, Any]:
    return {"id": key, "body": text, "author": {"id": user, "username": f"user{user}"}, "system": False, **more}


def test_members_who_may_push_are_heard_and_no_bot_nobody_who_left_and_no_thread_that_is_resolved() -> None:
    line = {"position": {"new_path": "src/a", "new_line": 4}}
    threads = [
        {"notes": [note(9, 1), note(12, 2, "No.", **line)]},
        {"notes": [note(7, 1, "First.", **line)]},
        {"notes": [note(8, 3), note(10, 4), note(11, 5), note(13, 6)]},
        {"notes": [note(14, 1, resolved=True), note(15, 1, "Mended.")]},
        {"notes": [note(16, 1, "added a commit", system=True)]},
    ]
    levels = {1: 30, 2: 50, 3: 20, 4: 40}
    members = {f"members/all/{key}": {"access_level": one, "state": "active"} for key, one in levels.items()}
    people = {f"users/{key}": {"bot": key == 4} for key in range(1, 7)}
    approvals = {"approved_by": [{"user": {"id": key, "username": f"user{key}"}} for key in (2, 4)]}
    host, lab = gitlab(
        {
            "merge_requests/3/discussions": threads,
            "members/all/6": {"access_level": 40, "state": "blocked"},
            "merge_requests/3/approvals": approvals,
            **members,
            **people,
        }
    )
    found = host.remarks(3)
    assert [(one.key, one.by, one.path, one.line, one.thread) for one in found] == [
        ("note 7", "user1", "src/a", 4, ""), ("note 9", "user1", "", 0, ""),
        ("note 12", "user2", "src/a", 4, "note 9"), ("approval user2", "user2", "", 0, ""),
    ]  # fmt: skip
    del lab.rows["merge_requests/3/approvals"]
    assert [one.key for one in host.remarks(3)] == ["note 7", "note 9", "note 12"], "a host without approvals"


def test_a_fork_with_the_same_branch_and_the_same_mark_is_not_ours() -> None:
    asked = "merge_requests?state=all&order_by=created_at&sort=desc&source_branch=task%2Fbead-x"
    host, _ = gitlab({asked: [{**ROW, "iid": 4, "source_project_id": 8}, ROW, {**ROW, "iid": 2, "state": "closed"}]})
    assert [one.number for one in host.find("task/bead-x", "mark")] == [3, 2]
    assert list(host.find("task/bead-x", "another mark")) == []


def test_a_base_that_the_host_did_not_take_is_refused() -> None:
    host, _ = gitlab()
    host.retarget(3, "main")
    with pytest.raises(HostRefused, match="does not target other"):
        host.retarget(3, "other")
