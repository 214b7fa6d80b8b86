"""A GitLab of the tests' own: its REST interface, to `glab`; people act on it through methods.

Its project merges as people press: a merge commit; squashed and fast-forward, which tells the squashed commit alone; or
fast-forward, after a rebase where that is needed, which tells no commit but the head.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.host_server import Answer, HostServer

AT = "/api/v4/projects/team%2Fthing"
LEVELS = {"eve": 20, "ann": 30, "bob": 40, "project_1_bot_x": 40}
PEOPLE = {name: number for number, name in enumerate(["ann", "bob", "eve", "stranger", "project_1_bot_x"], 11)}
_TITLE = re.compile(r"draft:", re.IGNORECASE)


class GitLab(HostServer):
    """The server, and what people do there."""

    def __init__(self, folder: Path, bare: Path) -> None:
        super().__init__(folder, bare)
        self.pulls: list[dict[str, Any]] = []
        self.threads: dict[int, list[dict[str, Any]]] = {}
        self.approved: dict[int, list[str]] = {}
        self.statuses: dict[str, list[dict[str, Any]]] = {}
        self.logs: dict[int, str] = {}
        self.commands: list[str] = []  # lines of texts that were taken for commands

    def is_let_in(self, headers: Mapping[str, str]) -> bool:
        return headers.get("private-token") == self.token

    # --- what people do --------------------------------------------------------------------------

    def pull(self, number: int) -> dict[str, Any]:
        return self.pulls[number - 1]

    def open_ones(self) -> list[dict[str, Any]]:
        return [pull for pull in self.pulls if pull["state"] == "opened"]

    def head(self, number: int) -> str:
        pull = self.pull(number)
        return str(pull["sha"]) if pull["state"] == "merged" else self.git("rev-parse", pull["source_branch"])

    def merge(self, number: int, how: str = "squash") -> str:
        with self.lock:
            pull, head = self.pull(number), self.head(number)
            into = pull["target_branch"]
            if how == "rebase" and self.git("merge-base", into, head) == self.git("rev-parse", into):
                made = head
                self.git("update-ref", f"refs/heads/{into}", made)
            else:
                made = self.merged(into, head, how, pull["title"])
            if how == "rebase":
                head = made
            pull["merge_commit_sha"] = made if how == "merge" else None
            pull["squash_commit_sha"] = made if how == "squash" else None
            pull.update(state="merged", sha=head)
            return made

    def close(self, number: int) -> None:
        self.pull(number)["state"] = "closed"

    def review(self, number: int, by: str, text: str, state: str = "CHANGES_REQUESTED") -> None:
        names = [name for name in self.approved.get(number, []) if name != by]
        self.approved[number] = [*names, by] if state == "APPROVED" else names
        if text:
            self._thread(number, by, text, {})

    def comment(self, number: int, by: str, text: str, path: str, line: int, answers: int | None = None) -> int:
        place = {"position": {"new_path": path, "new_line": line, "old_path": path, "old_line": None}}
        return self._thread(number, by, text, place, answers)

    def _thread(self, number: int, by: str, text: str, more: Mapping[str, Any], answers: int | None = None) -> int:
        author = {"id": PEOPLE[by], "username": by, "state": "active"}
        note = {"id": next(self.ids), "body": text, "author": author, "system": False, "resolvable": True, **more}
        note["resolved"] = False
        threads = self.threads.setdefault(number, [])
        for thread in threads:
            if answers is not None and thread["notes"][0]["id"] == answers:
                thread["notes"].append(note)
                return int(note["id"])
        threads.append({"id": f"{next(self.ids):040x}", "individual_note": not more, "notes": [note]})
        return int(note["id"])

    def resolve(self, number: int, note: int) -> None:
        for thread in self.threads[number]:
            if thread["notes"][0]["id"] == note:
                thread["notes"][0]["resolved"] = True

    def check(self, commit: str, name: str, status: str, log: str = "", may_fail: bool = False) -> None:
        """A job, with GitLab's own word for how it is."""
        key = next(self.ids)
        row = {"id": key, "name": name, "status": status, "sha": commit, "allow_failure": may_fail}
        row |= {"target_url": f"https://{self.host}/team/thing/-/jobs/{key}", "description": None}
        rows = [one for one in self.statuses.get(commit, []) if one["name"] != name]
        self.statuses[commit] = [*rows, row]
        self.logs[key] = log
        if self._pipeline(commit) == "success":
            for pull in self.open_ones():
                if pull["merge_when_pipeline_succeeds"] and self.head(pull["iid"]) == commit:
                    self.merge(pull["iid"], "merge")

    def _pipeline(self, commit: str) -> str:
        words = {one["status"] for one in self.statuses.get(commit, [])}
        if not words:
            return ""
        return "running" if "running" in words else "failed" if "failed" in words else "success"

    # --- what glab asks --------------------------------------------------------------------------

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> Answer:
        url = urlsplit(path)
        asked = {key: values[0] for key, values in parse_qs(url.query).items()}
        refused = self.refuse(method, url.path)
        if refused is not None:
            return refused
        for name, pattern in _ROUTES.items():
            found = re.fullmatch(pattern, f"{method} {url.path}")
            if found is not None:
                said = getattr(self, f"_{name}")(*found.groups(), body=body, asked=asked)
                return said if isinstance(said, tuple) else (200, said, {})
        return 404, {"message": "404 Not Found"}, {}

    def _me(self, body: object, asked: object) -> Any:
        return {"id": 1, "username": "robot"}

    def _list(self, body: object, asked: Mapping[str, str]) -> Any:
        assert asked["state"] == "all"
        rows = [self._row(one, short=True) for one in self.pulls if one["source_branch"] == asked["source_branch"]]
        return rows[::-1] if asked.get("page", "1") == "1" else []

    def _open(self, body: Mapping[str, Any], asked: object) -> Any:
        known = {"source_branch", "target_branch", "title", "description", "remove_source_branch"}
        assert set(body) <= known, body
        for one in self.open_ones():
            if (one["source_branch"], one["target_branch"]) == (body["source_branch"], body["target_branch"]):
                words = f"Another open merge request already exists for this source branch: !{one['iid']}"
                return 409, {"message": [words]}, {}
        if not self.is_there(body["target_branch"]) or not self.is_there(body["source_branch"]):
            return 422, {"error": "Target branch does not exist"}, {}
        number = len(self.pulls) + 1
        made = {
            "iid": number,
            "id": 1000 + number,
            "source_project_id": 7,
            "target_project_id": 7,
            "state": "opened",
            "web_url": f"https://{self.host}/team/thing/-/merge_requests/{number}",
            "merge_commit_sha": None,
            "squash_commit_sha": None,
            "labels": [],
            "reviewers": [],
            "sha": None,
            "merge_when_pipeline_succeeds": False,
            **{name: body[name] for name in ("source_branch", "target_branch", "title")},
            "description": self._read(body["description"]),
        }
        self.pulls.append(made)
        return 201, self._row(made), {}

    def _one(self, number: str, body: object, asked: object) -> Any:
        return self._row(self.pull(int(number)))

    def _change(self, number: str, body: Mapping[str, Any], asked: object) -> Any:
        known = {"title", "description", "state_event", "target_branch", "add_labels", "reviewer_ids"}
        assert set(body) <= known, body
        pull = self.pull(int(number))
        if "target_branch" in body:
            if not self.is_there(body["target_branch"]):
                return 422, {"message": {"base": ["Target branch does not exist"]}}, {}
            if pull["state"] == "opened":
                pull["target_branch"] = body["target_branch"]
        if body.get("state_event") == "close":
            pull["state"] = "closed"
        pull["title"] = body.get("title", pull["title"])
        if "description" in body:
            pull["description"] = self._read(body["description"])
        pull["labels"] = list(dict.fromkeys([*pull["labels"], *filter(None, body.get("add_labels", "").split(","))]))
        if "reviewer_ids" in body:
            names = {number: name for name, number in PEOPLE.items()}
            pull["reviewers"] = [{"id": one, "username": names[one]} for one in body["reviewer_ids"]]
        return self._row(pull)

    def _accept(self, number: str, body: Mapping[str, Any], asked: object) -> Any:
        pull, runs = self.pull(int(number)), self._pipeline(body["sha"]) == "running"
        assert body["auto_merge"], "we never merge"
        if body["sha"] != self.head(int(number)):
            return 409, {"message": "SHA does not match HEAD of source branch"}, {}
        if runs:
            pull["merge_when_pipeline_succeeds"] = True
        else:
            self.merge(int(number), "merge")  # as the real one does: at once
        return self._row(pull)

    def _read(self, text: str) -> str:
        """A text as it is kept: lines that are commands are carried out, and gone."""
        lines = text.split("\n")
        self.commands += [line for line in lines if line.lstrip().startswith("/")]
        return "\n".join(line for line in lines if not line.lstrip().startswith("/"))

    def _discussions(self, number: str, body: object, asked: Mapping[str, str]) -> Any:
        return self.threads.get(int(number), []) if asked.get("page", "1") == "1" else []

    def _approvals(self, number: str, body: object, asked: object) -> Any:
        names = self.approved.get(int(number), [])
        return {"approved_by": [{"user": {"id": PEOPLE[name], "username": name}} for name in names]}

    def _statuses(self, commit: str, body: object, asked: Mapping[str, str]) -> Any:
        return self.statuses.get(commit, []) if asked.get("page", "1") == "1" else []

    def _trace(self, key: str, body: object, asked: object) -> Any:
        return self.logs.get(int(key), (404, {"message": "404 Not Found"}, {}))

    def _member(self, key: str, body: object, asked: object) -> Any:
        name = next(one for one, number in PEOPLE.items() if number == int(key))
        if name not in LEVELS:
            return 404, {"message": "404 Not found"}, {}
        return {"id": int(key), "username": name, "state": "active", "access_level": LEVELS[name]}

    def _person(self, key: str, body: object, asked: object) -> Any:
        name = next(one for one, number in PEOPLE.items() if number == int(key))
        return {"id": int(key), "username": name, "bot": "_bot_" in name}

    def _people(self, body: object, asked: Mapping[str, str]) -> Any:
        name = unquote(asked["username"])
        return [{"id": PEOPLE[name], "username": name}] if name in PEOPLE else []

    def _row(self, pull: Mapping[str, Any], short: bool = False) -> dict[str, Any]:
        row = {**pull, "draft": bool(_TITLE.match(pull["title"])), "has_conflicts": False}
        if pull["state"] != "merged" and self.is_there(pull["source_branch"]):
            row["sha"] = self.head(pull["iid"])
        row["detailed_merge_status"] = "mergeable" if pull["state"] == "opened" else "not_open"
        if pull["state"] == "opened":
            row["has_conflicts"] = not self.merges_cleanly(pull["target_branch"], pull["source_branch"])
            if row["has_conflicts"]:
                row["detailed_merge_status"] = "conflict"
        if not short:
            status = self._pipeline(row["sha"] or "")
            row["head_pipeline"] = {"id": 1, "sha": row["sha"], "status": status} if status else None
        return row


_ROUTES = {
    "me": "GET /api/v4/user",
    "people": "GET /api/v4/users",
    "person": r"GET /api/v4/users/(\d+)",
    "list": f"GET {AT}/merge_requests",
    "open": f"POST {AT}/merge_requests",
    "one": rf"GET {AT}/merge_requests/(\d+)",
    "accept": rf"PUT {AT}/merge_requests/(\d+)/merge",
    "change": rf"PUT {AT}/merge_requests/(\d+)",
    "discussions": rf"GET {AT}/merge_requests/(\d+)/discussions",
    "approvals": rf"GET {AT}/merge_requests/(\d+)/approvals",
    "statuses": rf"GET {AT}/repository/commits/([0-9a-f]+)/statuses",
    "trace": rf"GET {AT}/jobs/(\d+)/trace",
    "member": rf"GET {AT}/members/all/(\d+)",
}
