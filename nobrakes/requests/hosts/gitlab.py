"""GitLab, through `glab`: its REST interface, version 4, of gitlab.com or an own server.

1. Members with access of a developer or more are heard; bots are not.
2. A job is red if it failed and may not fail. Cancelled or manual ones count as running unless they may fail.
3. A line that begins with a slash is a command there: ours never do (`_harmless`).
4. Draft is a prefix of the title, which its people may change.
5. Pages, texts and logs are bounded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from ...errors import HostRefused
from ...text.cleaning import shorten
from ..model import CheckState, HostCheck, PullState, ReviewComment, Told
from .calls import Address, Calls, Writers
from .port import Wanted

# Whether somebody is logged in is asked of the host itself: `glab auth status` does not believe a login that comes from
# the environment, and without any `glab api` goes out as nobody.
_UNKNOWN = ("has not been authenticated", "no gitlab instances")


class Glab(Calls):
    """Calls to GitLab, or a server of its kind: GITLAB_HOST, which may have a port."""

    program = "glab"
    maker = "GitLab"
    body_headers: ClassVar = ("Content-Type: application/json",)

    def check_login(self) -> None:
        self.read("user")

    def login(self) -> str:
        return f"glab auth login --hostname {self.host}"

    def knows(self) -> bool:
        """Whether a login to the host ever existed. A timeout counts as yes, since an unknown host is refused without a
        query. Each exchange checks whether it works now."""
        said = self.ask([self.program, "auth", "status", "--hostname", self.host], b"")
        words = f"{said.out}\n{said.error}".lower()
        return said.code == 0 or (said.code != 127 and not any(word in words for word in _UNKNOWN))


_STATES = {"opened": PullState.OPEN, "locked": PullState.OPEN, "merged": PullState.MERGED}
_GREEN = frozenset({"success", "skipped"})
_STOPPED = frozenset({"manual", "canceled", "canceling"})
_CONFLICTS = frozenset({"conflict", "broken_status", "need_rebase"})
_ACTIVE = frozenset({"created", "waiting_for_resource", "preparing", "pending", "running", "scheduled"})
_DEVELOPER = 30
_MAX_PIPELINES = 1000
_TEXT = 20_000
_LOG = 100_000
_DRAFT = re.compile(r"\A\s*(?:\[draft\]|\(draft\)|draft:)\s*", re.IGNORECASE)
_COMMAND = re.compile(r"^([^\S\n]*)/", re.MULTILINE)


class GitLab:
    """One project at GitLab."""

    supports_pull_requests = True

    def __init__(self, glab: Glab, address: Address) -> None:
        self.glab = glab
        self.address = address
        self.at = f"projects/{quote(f'{address.owner}/{address.name}', safe='')}"
        self._writers = Writers(glab.clock, self._may_write)
        self._pipelines: dict[str, Mapping[str, Any]] = {}  # of a request's head, as it was looked at last

    def about(self) -> str:
        return f"{self.glab.version()}, at {self.address}"

    def ready(self) -> None:
        self.glab.ready()

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        asked = f"state=all&order_by=created_at&sort=desc&source_branch={quote(branch, safe='')}"
        ours = [
            _told(one)
            for one in self.glab.pages(f"{self.at}/merge_requests?{asked}")
            if one.get("source_branch") == branch
            and one.get("source_project_id") == one.get("target_project_id")  # a fork may have such a branch, too
            and mark in str(one.get("description") or "").splitlines()
        ]
        return sorted(ours, key=lambda one: (one.state is not PullState.OPEN, -one.number))

    def open(self, wanted: Wanted) -> Told:
        """HostRefused, e.g. if this branch has one."""
        body = {
            "source_branch": wanted.branch,
            "target_branch": wanted.base,
            "title": _title(wanted.title, wanted.draft),
            "description": _harmless(wanted.body),
            "remove_source_branch": False,  # whether it goes is a setting of ours
        }
        return _told(self.glab.send("POST", f"{self.at}/merge_requests", body))

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None:
        """Existing ones stay. GitLab has no team reviewers."""
        if not wanted.labels and not wanted.reviewers:
            return
        row = self.glab.get(f"{self.at}/merge_requests/{number}")
        if missing := [label for label in wanted.labels if label not in (row.get("labels") or ())]:
            self._change(number, {"add_labels": ",".join(missing)})
        has = {str(one.get("username")): int(one["id"]) for one in row.get("reviewers") or ()}
        if new := [name for name in wanted.reviewers if name not in has and "/" not in name]:
            self._change(number, {"reviewer_ids": [*has.values(), *map(self._user, new)]})

    def rewrite(self, number: int, wanted: Wanted) -> None:
        """A draft stays one."""
        row = self.glab.get(f"{self.at}/merge_requests/{number}")
        is_draft = _DRAFT.match(str(row.get("title") or "")) is not None
        self._change(number, {"title": _title(wanted.title, is_draft), "description": _harmless(wanted.body)})

    def retarget(self, number: int, base: str) -> None:
        now = self._change(number, {"target_branch": base})
        if now.get("target_branch") != base or now.get("state") != "opened":
            raise HostRefused(f"merge request {number} does not target {base} or is not open: it is {now.get('state')}")

    def auto_merge(self, number: int, head: str) -> None:
        """Only while a pipeline runs, since GitLab would otherwise merge immediately."""
        told = self.look(number)
        runs = self._pipelines.get(head, {}).get("status") in _ACTIVE
        if told.state is not PullState.OPEN or told.head != head or not runs:
            raise HostRefused(f"merge request {number} needs a running pipeline for {head[:12]} to merge automatically")
        body = {"sha": head, "auto_merge": True, "merge_when_pipeline_succeeds": True}  # the latter: before 17.11
        self.glab.send("PUT", f"{self.at}/merge_requests/{number}/merge", body)

    def close(self, number: int) -> None:
        if self.look(number).state is PullState.OPEN:
            self._change(number, {"state_event": "close"})

    def look(self, number: int) -> Told:
        row = self.glab.get(f"{self.at}/merge_requests/{number}")
        told = _told(row)
        if len(self._pipelines) >= _MAX_PIPELINES:
            self._pipelines.clear()
        pipeline = row.get("head_pipeline") or {}
        # after a push it stays the one of the commit before, until there is another
        is_of_it = pipeline.get("sha") == told.head or str(pipeline.get("ref")).endswith(("/merge", "/train"))
        self._pipelines[told.head] = pipeline if is_of_it else {}
        return told

    def checks(self, commit: str) -> Sequence[HostCheck]:
        rows = self.glab.pages(f"{self.at}/repository/commits/{commit}/statuses")
        pipeline = self._pipelines.get(commit) or {}
        if pipeline.get("id") and pipeline.get("sha") != commit:  # it ran on what a merge of the commit would be
            rows += self.glab.pages(f"{self.at}/pipelines/{pipeline['id']}/jobs")
        newest = {str(one.get("name") or ""): one for one in sorted(rows, key=lambda row: int(row.get("id") or 0))}
        if not newest and pipeline.get("status") == "failed":  # as where its own description cannot be read
            url = str(pipeline.get("web_url") or "")
            return [HostCheck("pipeline", CheckState.FAILED, url, "", "The pipeline failed before its first job.")]
        return [_check(name, one) for name, one in newest.items()]

    def log(self, check: HostCheck) -> str:
        if not check.key:
            return ""
        try:
            return self.glab.read(f"{self.at}/jobs/{check.key}/trace").body[-_LOG:]
        except HostRefused:
            return ""

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        found = list(self._notes(number))
        found.sort(key=lambda one: int(one.key.rpartition(" ")[2]))
        try:
            said = self.glab.get(f"{self.at}/merge_requests/{number}/approvals") or {}
        except HostRefused:
            return found
        for one in said.get("approved_by") or ():
            user = one.get("user") or {}
            if self._may_review(user):
                key = f"approval {user['username']} {one.get('approved_at') or ''}".strip()
                found.append(ReviewComment(key, str(user["username"])[:100], "", approves=True))
        return found

    def _notes(self, number: int) -> Iterator[ReviewComment]:
        for thread in self.glab.pages(f"{self.at}/merge_requests/{number}/discussions"):
            notes = [one for one in thread.get("notes") or () if not one.get("system")]
            if not notes or any(one.get("resolved") for one in notes):
                continue
            first = f"note {notes[0]['id']}"
            for one in notes:
                text, user = str(one.get("body") or "").strip(), one.get("author") or {}
                if not text or not self._may_review(user):
                    continue
                key, at = f"note {one['id']}", one.get("position") or {}
                path, line = (
                    str(at.get("new_path") or at.get("old_path") or ""),
                    at.get("new_line") or at.get("old_line"),
                )
                answers = first if key != first else ""
                by = str(user["username"])[:100]
                yield ReviewComment(key, by, shorten(text, _TEXT), path, int(line or 0), thread=answers)

    def _may_review(self, user: Mapping[str, Any]) -> bool:
        return bool(user.get("username")) and user.get("id") is not None and self._writers.may(str(user["id"]))

    def _may_write(self, key: str) -> bool:
        member = self.glab.get(f"{self.at}/members/all/{quote(key, safe='')}")
        if int(member.get("access_level") or 0) < _DEVELOPER or member.get("state", "active") != "active":
            return False
        return not self.glab.get(f"users/{quote(key, safe='')}").get("bot")

    def _user(self, name: str) -> int:
        for one in self.glab.get(f"users?username={quote(name, safe='')}"):
            if str(one.get("username", "")).lower() == name.lower():
                return int(one["id"])
        raise HostRefused(f"{self.address.host} has no user called {name}")

    def _change(self, number: int, body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.glab.send("PUT", f"{self.at}/merge_requests/{number}", body) or {}
        return found


def _told(one: Mapping[str, Any]) -> Told:
    state = _STATES.get(str(one.get("state")), PullState.CLOSED)
    head = str(one.get("sha") or "")
    made = one.get("merge_commit_sha") or one.get("squash_commit_sha") or head  # the head: it was merged as it is
    status = str(one.get("detailed_merge_status") or "")
    return Told(
        number=int(one["iid"]),
        url=str(one.get("web_url") or ""),
        state=state,
        head=head,
        merged_as=str(made) if state is PullState.MERGED else "",
        conflicts=state is PullState.OPEN and (bool(one.get("has_conflicts")) or status in _CONFLICTS),
        title=_DRAFT.sub("", str(one.get("title") or ""))[:500],
        body=str(one.get("description") or "")[:_LOG],
        base=str(one.get("target_branch") or ""),
        auto_merge=bool(one.get("merge_when_pipeline_succeeds")),
    )


def _check(name: str, one: Mapping[str, Any]) -> HostCheck:
    status, may_fail = str(one.get("status")), bool(one.get("allow_failure"))
    state = CheckState.RUNNING
    if status in _GREEN or (may_fail and status in ("failed", *_STOPPED)):
        state = CheckState.PASSED
    elif status == "failed":
        state = CheckState.FAILED
    url = str(one.get("web_url") or one.get("target_url") or "")
    says = str(one.get("description") or one.get("failure_reason") or "")[:_TEXT]
    return HostCheck(name, state, url, str(one.get("id") or ""), says)


def _title(text: str, is_draft: bool) -> str:
    bare = _DRAFT.sub("", text)
    return f"Draft: {bare}" if is_draft else bare


def _harmless(text: str) -> str:
    return _COMMAND.sub(r"\1&#47;", text)
