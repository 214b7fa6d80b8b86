"""GitHub, through `gh`: its REST interface, version 3, of github.com or an own server.

1. Whoever may write to the repository is heard (`collaborators/…/permission`); bots are not.
2. A check is red for failure, timed out or failed to start. Cancelled ones or those that want an action are a person's
   matter, and count as running.
3. Pages, texts and logs are bounded.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from ...errors import HostRefused, HostUnavailable
from ...text.cleaning import shorten
from ..model import CheckState, HostCheck, PullState, ReviewComment, Told
from .calls import PAGE, PAGES, Address, Calls, Writers, first_line
from .port import Wanted

_UNREACHED = ("dial tcp", "no such host", "timeout", "connection refused")


class Gh(Calls):
    """Calls to GitHub, or a server of its kind: GH_HOST, which may have a port."""

    program = "gh"
    maker = "GitHub"
    headers: ClassVar = ("Accept: application/vnd.github+json",)

    def check_login(self) -> None:
        """HostUnavailable: nobody is logged in, or the host cannot be reached."""
        said = self.run("auth", "status", "--hostname", self.host)
        if said.code == 0:
            return
        words = f"{said.out}\n{said.error}".lower()
        if any(word in words for word in _UNREACHED):
            raise HostUnavailable(f"{self.host} cannot be reached: {first_line(said.error)}")
        raise self.logged_out()

    def login(self) -> str:
        return "gh auth login" if self.host == "github.com" else f"gh auth login --hostname {self.host}"


_RED = frozenset({"failure", "timed_out", "startup_failure", "error"})
_GREEN = frozenset({"success", "neutral", "skipped"})
_JUDGED = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
_WRITES = frozenset({"admin", "maintain", "write"})
_TEXT = 20_000
_LOG = 100_000
_MAX_REFUSED = 1000
_TRIES = 5
_METHODS = {"allow_squash_merge": "SQUASH", "allow_merge_commit": "MERGE", "allow_rebase_merge": "REBASE"}
_AUTO_MERGE = """mutation($request: ID!, $head: GitObjectID!, $how: PullRequestMergeMethod!) {
  enablePullRequestAutoMerge(input: {pullRequestId: $request, expectedHeadOid: $head, mergeMethod: $how}) {
    pullRequest { number }
  }
}"""


class GitHub:
    """One repository at GitHub."""

    supports_pull_requests = True

    def __init__(self, gh: Gh, address: Address) -> None:
        self.gh = gh
        self.address = address
        self.at = f"repos/{address.owner}/{address.name}"
        self._writers = Writers(gh.clock, self._may_write)
        self._refused: dict[str, int] = {}

    def about(self) -> str:
        return f"{self.gh.version()}, at {self.address}"

    def ready(self) -> None:
        self.gh.ready()

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        """The requests from this branch that carry the mark, open ones first, then the newest."""
        head = quote(f"{self.address.owner}:{branch}", safe="")
        found = self.gh.pages(f"{self.at}/pulls?state=all&sort=created&direction=desc&head={head}")
        ours = [_told(one) for one in found if mark in str(one.get("body") or "").splitlines() and _is_of(one, branch)]
        return sorted(ours, key=lambda one: (one.state is not PullState.OPEN, -one.number))

    def open(self, wanted: Wanted) -> Told:
        """HostRefused, e.g. for a branch without own commits."""
        body = {"title": wanted.title, "head": wanted.branch, "base": wanted.base, "body": wanted.body}
        return _told(self.gh.send("POST", f"{self.at}/pulls", {**body, "draft": wanted.draft}))

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None:
        if wanted.labels:
            self.gh.send("POST", f"{self.at}/issues/{number}/labels", {"labels": list(wanted.labels)})
        if wanted.reviewers:
            people = [name for name in wanted.reviewers if "/" not in name]
            teams = [name.partition("/")[2] for name in wanted.reviewers if "/" in name]
            asked = {"reviewers": people, "team_reviewers": teams}
            self.gh.send("POST", f"{self.at}/pulls/{number}/requested_reviewers", asked)

    def rewrite(self, number: int, wanted: Wanted) -> None:
        self.gh.send("PATCH", f"{self.at}/pulls/{number}", {"title": wanted.title, "body": wanted.body})

    def retarget(self, number: int, base: str) -> None:
        self.gh.send("PATCH", f"{self.at}/pulls/{number}", {"base": base})

    def auto_merge(self, number: int, head: str) -> None:
        if self._refused.get(head, 0) >= _TRIES:
            raise HostRefused(f"{self.address} does not merge {head[:12]} automatically")
        try:
            self._merge_by_itself(self.gh.get(f"{self.at}/pulls/{number}"), head)
        except HostRefused:
            if len(self._refused) >= _MAX_REFUSED:
                self._refused.clear()
            self._refused[head] = self._refused.get(head, 0) + 1
            raise

    def _merge_by_itself(self, row: Mapping[str, Any], head: str) -> None:
        known = self.gh.get(self.at)
        how = next((name for key, name in _METHODS.items() if known.get(key)), "MERGE")
        if known.get("allow_auto_merge") is False or row.get("draft"):
            raise HostRefused(f"{self.address} cannot merge a draft automatically, or does not allow automatic merges")
        given = {"request": row.get("node_id"), "head": head, "how": how}
        said = self.gh.send("POST", "graphql", {"query": _AUTO_MERGE, "variables": given})
        if said.get("errors"):
            words = "; ".join(str(one.get("message", one)) for one in said["errors"][:3])
            raise HostRefused(f"{self.address} cannot merge the pull request automatically: {shorten(words, 300)}")

    def close(self, number: int) -> None:
        if self.look(number).state is PullState.OPEN:
            self.gh.send("PATCH", f"{self.at}/pulls/{number}", {"state": "closed"})

    def look(self, number: int) -> Told:
        return _told(self.gh.get(f"{self.at}/pulls/{number}"))

    def checks(self, commit: str) -> Sequence[HostCheck]:
        """Check runs and statuses, the newest of each name."""
        found: dict[str, HostCheck] = {}
        runs = self.gh.get(f"{self.at}/commits/{commit}/check-runs?filter=latest&per_page=100")
        for one in (runs or {}).get("check_runs", ()):
            name = str(one.get("name", ""))
            says = one.get("output") or {}
            told = "\n".join(str(says.get(key) or "") for key in ("title", "summary", "text"))
            state = _state(str(one.get("status")), str(one.get("conclusion")))
            url, key = str(one.get("html_url") or ""), str(one.get("id", ""))
            found[name] = HostCheck(name, state, url, key, told.strip()[:_TEXT])
        for one in (self.gh.get(f"{self.at}/commits/{commit}/status?per_page=100") or {}).get("statuses", ()):
            name, word = str(one.get("context", "")), str(one.get("state"))
            state = _state("in_progress" if word == "pending" else "completed", word)
            says = str(one.get("description") or "")[:_TEXT]
            found.setdefault(name, HostCheck(name, state, str(one.get("target_url") or ""), "", says))
        return list(found.values())

    def log(self, check: HostCheck) -> str:
        if not check.key:
            return ""
        try:
            return self.gh.read(f"{self.at}/actions/jobs/{check.key}/logs").body[-_LOG:]
        except HostRefused:
            return ""

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        found: list[ReviewComment] = []
        stands: dict[str, ReviewComment | None] = {}  # of each person, whether the last judgement approves
        for one in self.gh.pages(f"{self.at}/pulls/{number}/reviews"):
            state, text = str(one.get("state")), str(one.get("body") or "").strip()
            key, by = f"review {one.get('id')}", _name(one)
            if state in _JUDGED and self._may_review(one.get("user")):
                stands[by] = ReviewComment(key, by, "", approves=True) if state == "APPROVED" else None
            if state in ("CHANGES_REQUESTED", "COMMENTED") and text and self._may_review(one.get("user")):
                found.append(ReviewComment(key, by, shorten(text, _TEXT)))
        for one in self.gh.pages(f"{self.at}/pulls/{number}/comments"):
            text = str(one.get("body") or "").strip()
            if text and self._may_review(one.get("user")):
                path, line = str(one.get("path") or ""), one.get("line") or one.get("original_line") or 0
                thread = f"line {one['in_reply_to_id']}" if one.get("in_reply_to_id") else ""
                said = shorten(text, _TEXT)
                found.append(ReviewComment(f"line {one.get('id')}", _name(one), said, path, int(line), thread=thread))
        return [*found, *filter(None, stands.values())]

    def _may_review(self, user: object) -> bool:
        if not isinstance(user, Mapping) or user.get("type") == "Bot":
            return False
        name = str(user.get("login") or "")
        return bool(name) and not name.endswith("[bot]") and self._writers.may(name)

    def _may_write(self, name: str) -> bool:
        said = self.gh.get(f"{self.at}/collaborators/{quote(name, safe='')}/permission")
        return isinstance(said, Mapping) and said.get("permission") in _WRITES


class GitHubIssues:
    """The issues of one repository at GitHub."""

    def __init__(self, gh: Gh, address: Address) -> None:
        self.gh = gh
        self.repository = str(address).lower()  # as GitHub compares names
        self.at = f"repos/{address.owner}/{address.name}/issues"

    def ready(self) -> None:
        self.gh.ready()

    def open_issues(self, label: str) -> Sequence[Mapping[str, Any]]:
        asked = f"state=open&sort=created&direction=desc&labels={quote(label, safe='')}"
        rows = self._rows(f"{self.at}?{asked}")
        return [_issue(one, self.repository) for one in rows if not one.get("pull_request")]

    def is_open(self, number: int) -> bool:
        try:
            one = self.gh.get(f"{self.at}/{number}")
        except HostRefused:
            return False
        return isinstance(one, Mapping) and one.get("number") == number and one.get("state") == "open"

    def has_comment(self, number: int, mark: str) -> bool:
        rows = self._rows(f"{self.at}/{number}/comments")
        if any(mark in str(one.get("body") or "").splitlines() for one in rows):
            return True
        if len(rows) >= PAGE * PAGES:
            raise HostRefused(f"issue #{number} of {self.repository} has too many comments to post another one")
        return False

    def comment(self, number: int, text: str) -> None:
        self.gh.send("POST", f"{self.at}/{number}/comments", {"body": text})

    def close(self, number: int) -> None:
        if self.is_open(number):
            self.gh.send("PATCH", f"{self.at}/{number}", {"state": "closed", "state_reason": "completed"})

    def _rows(self, path: str) -> list[Mapping[str, Any]]:
        return [one for one in self.gh.pages(path) if isinstance(one, Mapping)]


def _issue(one: Mapping[str, Any], repository: str) -> Mapping[str, Any]:
    kept = {name: one.get(name) for name in ("number", "title", "body", "labels", "state", "milestone")}
    return {**kept, "url": f"https://{repository}/issues/{one.get('number')}"}


def _is_of(one: Mapping[str, Any], branch: str) -> bool:
    return (one.get("head") or {}).get("ref") == branch


def _told(one: Mapping[str, Any]) -> Told:
    state = PullState.OPEN if one.get("state") == "open" else PullState.CLOSED
    is_merged = bool(one.get("merged") or one.get("merged_at"))
    return Told(
        number=int(one["number"]),
        url=str(one.get("html_url") or ""),
        state=PullState.MERGED if is_merged else state,
        head=str((one.get("head") or {}).get("sha") or ""),
        merged_as=str(one.get("merge_commit_sha") or "") if is_merged else "",
        conflicts=one.get("mergeable") is False or one.get("mergeable_state") == "dirty",
        title=str(one.get("title") or "")[:500],
        body=str(one.get("body") or "")[:_LOG],
        base=str((one.get("base") or {}).get("ref") or ""),
        auto_merge=bool(one.get("auto_merge")),
    )


def _state(status: str, conclusion: str) -> CheckState:
    if status != "completed" or conclusion not in _RED | _GREEN:
        return CheckState.RUNNING
    return CheckState.FAILED if conclusion in _RED else CheckState.PASSED


def _name(one: Mapping[str, Any]) -> str:
    return str((one.get("user") or {}).get("login") or "somebody")[:100]
