"""A session in a repository that was never set up, from its begin to its end by HTTP alone."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.scripted import until
from tests.support.warm import NOBRAKES
from tests.support.web import Process

pytestmark = pytest.mark.slow
AGENT = """#!/bin/sh
if grep -q "now sugar" "$NOBRAKES_PROMPT"; then echo sugar >>tea; git commit -qam "Add sugar"
else echo leaves >tea; git add tea; git commit -qm "Add leaves"; fi
echo "I did it."; echo "NOBRAKES: COMPLETED"
"""
EVIL = "#!/bin/sh\ntouch {ran}\ncat\n"


class Person:
    """A person with one folder of repositories, and their browser's API."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("NOBRAKES_")}
        self.env["NOBRAKES_USER_HOME"] = str(folder / "mine")
        self.client = httpx.Client(timeout=60)

    def nobrakes(self, *words: str) -> str:
        done = subprocess.run([NOBRAKES, *words], cwd=self.folder, env=self.env, capture_output=True, text=True)
        return done.stdout + done.stderr

    def git(self, where: Path, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True).stdout

    def get(self, path: str) -> Any:
        return self.client.get(path).json()["data"]

    def does(self, command: str, expect: int = 200, **fields: str) -> Any:
        answer = self.client.post(f"/r/~/do/{command}", data=fields)
        assert answer.status_code == expect, answer.text
        return answer.json()


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    """Somebody who named ~/code in a terminal and serves the pages."""
    made = Person(tmp_path)
    token = tmp_path / "token"
    made.nobrakes("machine", "set", f"session_roots={tmp_path}/code")
    web = Process("--token-file", str(token), folder=tmp_path, env=made.env)
    try:
        made.client.base_url = httpx.URL(f"http://127.0.0.1:{web.port}")
        made.client.headers.update(
            {"authorization": f"Bearer {token.read_text().strip()}", "accept": "application/json"}
        )
        yield made
    finally:
        web.end()
        made.nobrakes("daemon", "stop", "--user")


def test_a_session_works_where_nobrakes_was_never_set_up(person: Person, tmp_path: Path) -> None:
    shop, ran = tmp_path / "code" / "deep" / "shop", tmp_path / "ran"
    shop.mkdir(parents=True)
    person.git(shop, "init", "-q", "-b", "main")
    (shop / "cup").write_text("empty\n")
    (shop / ".gitattributes").write_text("*.x filter=evil diff=evil\n")
    (shop / "a.x").write_text("a\n")
    person.git(shop, "add", ".")
    person.git(shop, "commit", "-q", "-m", "Begin")
    evil = tmp_path / "evil.sh"
    for hook in (
        evil,
        *(shop / ".git" / "hooks" / name for name in ("post-checkout", "reference-transaction", "pre-commit")),
    ):
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(EVIL.format(ran=ran))
        hook.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "diff.external",
        "diff.evil.textconv",
        "uploadpack.packObjectsHook",
        "core.sshCommand",
    ):
        person.git(shop, "config", key, str(evil))
    (shop / "cup").write_text("half full\n")  # the person's own, not committed
    main, before = person.git(shop, "-c", "core.fsmonitor=", "rev-parse", "main"), (shop / "cup").read_text()
    ran.unlink(missing_ok=True)

    assert person.get("/api/session-repositories")["repositories"] == [str(shop)]
    person.does("session-start", 409, text="Pour", works="1", agent="script", repository=str(tmp_path))
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    config = tmp_path / "mine" / "state" / "home" / ".nobrakes" / "config.toml"
    config.write_text(
        f"{config.read_text()}\n[agents.script]\ncommand = {json.dumps(['sh', str(agent)])}\n[sandbox]\nmode = 'none'\n"
    )

    number = str(
        person.does("session-start", text="Pour the tea", works="1", agent="script", repository=str(shop))["data"][
            "session"
        ]["id"]
    )

    def session() -> Any:
        return person.get(f"/r/~/api/sessions/{number}")

    until(lambda: session()["session"]["state"] == "asking", what=session)
    assert [subject for _, subject in session()["work"]["commits"]] == ["Add leaves"]
    assert session()["messages"][-1]["text"] == session()["work"]["last_words"] == "I did it."
    (asked,) = person.get("/r/~/api/escalations")
    assert "What next?" in json.dumps(asked)

    person.does("session-say", number=number, text="And now sugar")
    until(lambda: len(session()["work"]["commits"]) == 2 and session()["session"]["state"] == "asking", what=session)
    diff = person.get(f"/r/~/api/sessions/{number}/diff")
    assert [one["path"] for one in diff["files"]] == ["tea"] and "+leaves\n+sugar\n" in diff["patch"]
    page = person.client.get(f"/r/~/sessions/{number}/diff", headers={"accept": "text/html"}).text
    assert "sugar" in page and "<h1>What" in page

    branch = session()["work"]["branch"]
    refused = person.does("session-hand-in", 409, number=number)["error"]
    assert f"works on {shop}, where nobrakes is not set up" in refused["message"] and branch in refused["hint"]
    terminal = person.nobrakes("session", "hand-in", number, "--user")
    assert refused["message"] in terminal and branch in terminal, "the terminal refuses the same"

    person.does("session-end", number=number)
    until(lambda: not (tmp_path / "mine" / "state" / "home" / ".nobrakes" / "relays" / number).exists())
    assert not ran.exists(), "nothing of the repository ran"
    person.git(shop, "config", "--unset", "core.fsmonitor")
    assert person.git(shop, "show", f"{branch}:tea") == "leaves\nsugar\n"
    assert person.git(shop, "rev-parse", "main") == main and person.git(shop, "branch", "--show-current") == "main\n"
    assert (shop / "cup").read_text() == before and person.git(shop, "status", "--porcelain") == " M cup\n"
    assert sorted(os.listdir(shop)) == [".git", ".gitattributes", "a.x", "cup"]
