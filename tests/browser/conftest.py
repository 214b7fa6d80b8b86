"""A real Chromium on the pages of a repository in which something happens; any error on its console fails the test.

Where there is no Chromium (NOBRAKES_CHROMIUM names another one) the tests are skipped and say so.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role, Status
from nobrakes.cli import main
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Criterion, Feature, Finding, ItemKind
from nobrakes.sessions.model import SessionKind
from nobrakes.store import open_store
from tests.support.web import NAME, Served, serving

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("NOBRAKES_CHROMIUM") or shutil.which("chromium") or ""
EVIL = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>'
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


@contextmanager
def launched(*arguments: str) -> Iterator[Any]:
    """A browser of its own, until the end of the block."""
    if not CHROMIUM:
        pytest.skip("there is no Chromium: apt-get install chromium, or name one with NOBRAKES_CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser, started once a module: playwright's loop runs in this thread meanwhile, where nothing else may run one."""
    with launched() as browser:
        yield browser


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shop with beads in each column, an agent at work, and decisions to make; as the current folder."""
    folder = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("USER", "ada")
    assert main.run(["init", "--build", "true"]) == 0
    store = open_store(str(folder / ".nobrakes" / "nobrakes.db"))
    ready = {"status": Status.NEEDS_DOER, "needs_tests": False}
    beads = [
        Bead("till", "Count the till", description="By coin.", acceptance=("It adds up",), estimate=60, **ready),
        Bead("stock", f"Stock {EVIL}", **ready),
        Bead("report", "Report the month", priority=1, **ready),
        Bead("later", "Later", status=Status.DRAFT),
    ]
    store.put(beads, [Dependency("report", "till"), Dependency("stock", "till")], "ada")
    attempt = store.open_attempt("till", Role.DOER, "script", ["Ada"], 900.0, None)
    assert attempt is not None
    run = folder / ".nobrakes" / "runs" / f"{attempt.id}-agent"
    run.mkdir(parents=True)
    (run / "agent.out").write_text("".join(f"line {n} {EVIL}\n" for n in range(300)))
    form = {"kind": "radio", "priority": 1, "recommended": ["Round"],
            "options": [{"label": "Round", "means": "To the nearest coin", "costs": "an hour"}, {"label": "Cut"}]}  # fmt: skip
    asked = forms.as_values(forms.form(form))
    store.escalate(NewEscalation(EscalationType.QUESTION, "Round or cut?", EVIL, form=asked), "report", None, "Ada")
    store.escalate(NewEscalation(EscalationType.REPEATED_FAILURE, "stock failed", EVIL), "stock", None, "nobrakes")
    store.put([Bead("f-1", "Windows", type=BeadType.EPIC), Bead("paths", EVIL, epic="f-1", estimate=30)], [], "ada")
    own = (Criterion("The tests pass: `true`", "automated"), Criterion(EVIL, "manual"))
    store.begin_feature(Feature("f-1", f"Windows {EVIL}", EVIL, own, ("src",), EVIL, actor="ada"))
    talk = store.begin_session(SessionKind.PLANNING, "f", "Windows", ("script", "", ""), EVIL, "nobrakes")
    store.change_feature("f-1", {"session": talk.id}, "nobrakes")
    store.keep_plan("f-1", [{"id": "paths", "title": EVIL}], EVIL, "Shaper")
    store.add_finding(Finding(0, "f-1", 1, "backend", "security", 1, EVIL, EVIL, ("Check it",), "paths"))
    store.collect("f-1", ItemKind.TODO, EVIL, "Ada", file="src/a.py", line=3, blocks=True)
    store.close()
    return folder


@pytest.fixture
def served(repository: Path) -> Iterator[Served]:
    """The pages of it."""
    with serving() as found:
        yield found


class Site(Protocol):
    """Pages that are served, and a code to log in with."""

    origin: str

    def new_code(self) -> str: ...


class Person:
    """Somebody with a browser; what its console says as an error, and what could not be loaded, is in `errors`."""

    def __init__(self, browser: Any, served: Site, word: str = "shop", **how: Any) -> None:
        self.served, self.base = served, f"/r/{word}/"
        self.scripts = bool(how.get("java_script_enabled", True))
        self.context = browser.new_context(base_url=served.origin, **{"viewport": DESKTOP, **how})
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", self._hear)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("requestfailed", self._note)

    def _hear(self, said: Any) -> None:
        if said.type == "error":
            self.errors.append(f"{said.text} {said.location['url']}")

    def _note(self, request: Any) -> None:
        if "ERR_ABORTED" not in str(request.failure):  # the page was left before it had come
            self.errors.append(f"{request.method} {request.url}: {request.failure}")

    def log_in(self) -> "Person":
        code = self.served.new_code()
        if self.scripts:
            self.page.goto(f"/login?next={self.base}#code={code}")
        else:
            self.page.goto(f"/login?next={self.base}")
            self.page.get_by_label("code").fill(code)
            self.page.get_by_role("button", name="Log in").click()
        self.page.wait_for_url(f"**{self.base}")
        return self

    def goes(self, path: str) -> Any:
        """To a page of the shop."""
        answer = self.page.goto(f"{self.base}{path}")
        assert answer is not None and answer.status == 200, (path, answer and answer.status)
        return self.page

    def made_no_errors(self) -> None:
        """Neither the console nor the network said one."""
        assert self.errors == [], self.errors

    def close(self) -> None:
        self.context.close()


@pytest.fixture
def person(chromium: Any, served: Served) -> Iterator[Person]:
    """At a desk, logged in."""
    found = Person(chromium, served).log_in()
    yield found
    found.made_no_errors()
    found.close()


__all__ = ["NAME"]
