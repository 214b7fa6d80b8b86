"""A GitHub of the tests' own: its REST interface, to the real `gh`; people act on it through methods."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.host_server import TOKEN, Answer, HostServer

__all__ = ["TOKEN", "Answer", "GitHub"]
AT = "/api/v3/repos/team/thing"


class GitHub(HostServer):
    """The server, and what people do there."""

    def __init__(self, folder: Path, bare: Path) -> None:
        super().__init__(folder, bare)
        self.pulls: list[dict[str, Any]] = []
        self.reviews: dict[int, list[dict[str, Any]]] = {}
        self.lines: dict[int, list[dict[str, Any]]] = {}
        self.checks: dict[str, list[dict[str, Any]]] = {}
        self.logs: dict[int, str] = {}
        self.issues: dict[int, dict[str, Any]] = {}
        self.allows_auto_merge = True
        self.writers = {"ann": "write", "bob": "admin", "eve": "read"}

    def is_let_in(self, headers: Mapping[str, str]) -> bool:
        return headers.get("authorization") == f"token {self.token}"

    # --- what people do --------------------------------------------------------------------------

    def pull(self, number: int) -> dict[str, Any]:
        return self.pulls[number - 1]

    def open_ones(self) -> list[dict[str, Any]]:
        return [pull for pull in self.pulls if pull["state"] == "open"]

    def head(self, number: int) -> str:
        pull = self.pull(number)
        if pull["merged"]:
            return str(pull["head_sha"])
        return self.git("rev-parse", pull["head"]["ref"])

    def merge(self, number: int, how: str = "squash", words: str = "") -> str:
        """As the buttons of the page do it; the merge commit."""
        with self.lock:
            pull, head = self.pull(number), self.head(number)
            made = self.merged(pull["base"]["ref"], head, how, words or f"{pull['title']} (#{number})")
            pull.update(state="closed", merged=True, merge_commit_sha=made, head_sha=head)
            return made

    def close(self, number: int) -> None:
        self.pull(number)["state"] = "closed"

    def review(self, number: int, by: str, text: str, state: str = "CHANGES_REQUESTED", kind: str = "User") -> None:
        row = {"id": next(self.ids), "user": {"login": by, "type": kind}, "body": text, "state": state}
        self.reviews.setdefault(number, []).append(row)

    def comment(
        self, number: int, by: str, text: str, path: str, line: int, kind: str = "User", answers: int | None = None
    ) -> int:
        """A remark on a line, perhaps one that answers another; its id."""
        row = {"id": next(self.ids), "user": {"login": by, "type": kind}, "body": text, "path": path, "line": line}
        self.lines.setdefault(number, []).append({**row, "in_reply_to_id": answers} if answers else row)
        return int(row["id"])  # type: ignore[call-overload]

    def check(self, commit: str, name: str, conclusion: str | None, log: str = "") -> None:
        """A check run; conclusion None: it goes on."""
        key = next(self.ids)
        status = "completed" if conclusion else "in_progress"
        row = {"id": key, "name": name, "status": status, "conclusion": conclusion, "html_url": "", "output": {}}
        rows = [one for one in self.checks.get(commit, []) if one["name"] != name]
        self.checks[commit] = [*rows, row]
        self.logs[key] = log
        if all(one["conclusion"] == "success" for one in self.checks[commit]):
            for pull in self.open_ones():
                if pull["auto_merge"] and self.head(pull["number"]) == commit:
                    self.merge(pull["number"], pull["auto_merge"]["merge_method"].lower())

    def _auto_merge(self, given: Mapping[str, Any]) -> Answer:
        pull = self.pull(int(given["request"].removeprefix("PR_")))
        if pull["state"] != "open" or self.head(pull["number"]) != given["head"]:
            return 200, {"data": None, "errors": [{"message": "Head oid does not match, or it is closed"}]}, {}
        if not any(one["status"] != "completed" for one in self.checks.get(given["head"], [])):
            return 200, {"data": None, "errors": [{"message": "Pull request is in clean status"}]}, {}
        pull["auto_merge"] = {"merge_method": given["how"]}
        return 200, {"data": {"enablePullRequestAutoMerge": {"pullRequest": {"number": pull["number"]}}}}, {}

    def issue(self, number: int, title: str, body: str = "", labels: tuple[str, ...] = ("nobrakes",)) -> None:
        """Somebody opens an issue."""
        self.issues[number] = {
            "number": number, "title": title, "body": body, "state": "open", "milestone": None, "comments": [],
            "labels": [{"name": label} for label in labels],
        }  # fmt: skip

    # --- what gh asks ----------------------------------------------------------------------------

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> Answer:
        url = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        refused = self.refuse(method, url.path)
        if refused is not None:
            return refused
        if url.path == "/api/graphql" and "enablePullRequestAutoMerge" in body.get("query", ""):
            return self._auto_merge(body["variables"])
        if url.path == AT:
            ways = {"allow_squash_merge": False, "allow_merge_commit": True, "allow_rebase_merge": True}
            return 200, {**ways, "allow_auto_merge": self.allows_auto_merge}, {}
        if url.path in ("/api/v3/", "/api/graphql"):
            return 200, {"data": {"viewer": {"login": "robot"}}}, {"x-oauth-scopes": "repo, read:org"}
        found = _ROUTES.match(f"{method} {url.path}")
        if found is None:
            return 404, {"message": "Not Found"}, {}
        name, rest = found.lastgroup or "", found
        handled: Answer = getattr(self, f"_{name}")(rest, body, asked)
        return handled

    def _list(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        head = asked["head"].partition(":")[2]
        rows = [self._row(one) for one in self.pulls if one["head"]["ref"] == head]
        return 200, rows[::-1] if asked.get("page", "1") == "1" else [], {}

    def _open(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        assert set(body) <= {"title", "head", "base", "body", "draft"}, body
        if not self.is_there(body["base"]):
            return 422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}, {}
        if any((one["head"]["ref"], one["base"]["ref"]) == (body["head"], body["base"]) for one in self.open_ones()):
            return 422, {"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]}, {}
        number = len(self.pulls) + 1
        url = f"https://{self.host}/team/thing/pull/{number}"
        self.pulls.append(
            {
                "number": number,
                "html_url": url,
                "state": "open",
                "merged": False,
                "merge_commit_sha": None,
                "title": body["title"],
                "body": body["body"],
                "draft": body["draft"],
                "node_id": f"PR_{number}",
                "auto_merge": None,
                "labels": [],
                "reviewers": [],
                "head": {"ref": body["head"]},
                "base": {"ref": body["base"]},
                "mergeable": None,
            }
        )
        return 201, self._row(self.pulls[-1]), {}

    def _one(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self._row(self.pull(int(found["n1"]))), {}

    def _change(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        pull = self.pull(int(found["n2"]))
        assert set(body) <= {"title", "body", "base"} or body == {"state": "closed"}, body
        if "base" in body and (pull["state"] != "open" or not self.is_there(body["base"])):
            return 422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}, {}
        pull.update({**body, **({"base": {"ref": body["base"]}} if "base" in body else {})})
        return 200, self._row(pull), {}

    def _reviews(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.reviews.get(int(found["n3"]), []) if asked["page"] == "1" else [], {}

    def _comments(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.lines.get(int(found["n4"]), []) if asked["page"] == "1" else [], {}

    def _runs(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, {"check_runs": self.checks.get(found["c1"], [])}, {}

    def _status(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, {"state": "pending", "statuses": []}, {}

    def _log(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        return 200, self.logs.get(int(found["n5"]), ""), {}

    def _labels(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        self.pull(int(found["n6"]))["labels"] = body["labels"]
        return 200, [], {}

    def _asked(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        self.pull(int(found["n7"]))["reviewers"] = body["reviewers"]
        return 201, {}, {}

    def _issues(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        named = [one for one in self.issues.values() if asked["labels"] in [label["name"] for label in one["labels"]]]
        rows = sorted((one for one in named if one["state"] == "open"), key=lambda one: -int(one["number"]))
        pulls = [{**self._row(one), "pull_request": {}} for one in self.open_ones()]
        return 200, [*rows, *pulls] if asked["page"] == "1" else [], {}

    def _issue(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        one = self.issues.get(int(found["i1"]))
        return (200, one, {}) if one else (410, {"message": "This issue was deleted"}, {})

    def _end(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        assert body == {"state": "closed", "state_reason": "completed"}, body
        self.issues[int(found["i2"])].update(body)
        return 200, self.issues[int(found["i2"])], {}

    def _said(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        first = 100 * (int(asked["page"]) - 1)
        return 200, self.issues[int(found["i3"])]["comments"][first : first + 100], {}

    def _says(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        self.issues[int(found["i4"])]["comments"].append({"body": body["body"]})
        return 201, {}, {}

    def _may(self, found: "re.Match[str]", body: Mapping[str, Any], asked: Mapping[str, str]) -> Answer:
        known = self.writers.get(found["who"])
        return (200, {"permission": known}, {}) if known else (404, {"message": "Not Found"}, {})

    def _row(self, pull: Mapping[str, Any]) -> dict[str, Any]:
        if pull["state"] == "open" and not self.is_there(pull["base"]["ref"]):
            self.close(pull["number"])  # with the branch that it was for
        row = {key: value for key, value in pull.items() if key != "head_sha"}
        if pull["state"] == "open":
            row["mergeable"] = self.merges_cleanly(pull["base"]["ref"], pull["head"]["ref"])
        head = self.head(pull["number"]) if pull["state"] == "open" or pull["merged"] else ""
        return {**row, "head": {**pull["head"], "sha": head}}


_ROUTES = re.compile(
    "|".join(
        f"(?P<{name}>{text}\\Z)"
        for name, text in {
            "list": f"GET {AT}/pulls",
            "open": f"POST {AT}/pulls",
            "one": rf"GET {AT}/pulls/(?P<n1>\d+)",
            "change": rf"PATCH {AT}/pulls/(?P<n2>\d+)",
            "reviews": rf"GET {AT}/pulls/(?P<n3>\d+)/reviews",
            "comments": rf"GET {AT}/pulls/(?P<n4>\d+)/comments",
            "runs": rf"GET {AT}/commits/(?P<c1>[0-9a-f]+)/check-runs",
            "status": rf"GET {AT}/commits/[0-9a-f]+/status",
            "log": rf"GET {AT}/actions/jobs/(?P<n5>\d+)/logs",
            "labels": rf"POST {AT}/issues/(?P<n6>\d+)/labels",
            "asked": rf"POST {AT}/pulls/(?P<n7>\d+)/requested_reviewers",
            "issues": f"GET {AT}/issues",
            "issue": rf"GET {AT}/issues/(?P<i1>\d+)",
            "end": rf"PATCH {AT}/issues/(?P<i2>\d+)",
            "said": rf"GET {AT}/issues/(?P<i3>\d+)/comments",
            "says": rf"POST {AT}/issues/(?P<i4>\d+)/comments",
            "may": rf"GET {AT}/collaborators/(?P<who>[^/]+)/permission",
        }.items()
    )
)
