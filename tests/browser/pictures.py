"""Pictures of every page for docs/, from a real run: python -m tests.browser.pictures [FOLDER]

It plays the example `library` with a daemon up to its questions, with two more beads on which agents are still at work and
two drafts, and takes each page at a desk in the light and on a phone in the dark.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
MORE = """
[[interest.doer]]
steps = ["say Reading ledger/balance.py and its tests", "progress Reading what is there", "copy report/code",
  "commit Interest by day", "say 3 tests failed: rounding of half cents", "say Trying Decimal.quantize with ROUND_HALF_EVEN",
  "say 27 tests passed", "wait-for interest done"]
[[taxes.test_writer]]
steps = ["say The rates are in data/rates.csv", "say Writing tests/test_taxes.py: reduced rate, full rate, exempt",
  "progress Three cases of five", "wait-for taxes done"]
"""
BEADS = """
  - id: interest
    type: feature
    title: Interest on balances
    estimate: 40
    needs_tests: false
    needs: [balance]
  - id: taxes
    type: feature
    title: Taxes of a month
    estimate: 50
    needs: [amount]
"""
DRAFTS = {
    "beads": [
        {"id": "charts", "title": "Charts of a year", "type": "feature", "estimate": 60, "needs": ["interest"]},
        {"id": "export-pdf", "title": "Reports as PDF", "type": "feature", "estimate": 90, "needs": ["charts"]},
        {"id": "themes", "title": "Themes for reports", "type": "feature", "estimate": 30},
    ]
}
PAGES = {"now": "", "desk": "desk/1", "board": "board", "graph": "graph", "live": "live", "plan": "plan?as=timeline",
         "merges": "merges", "bead": "bead/exports", "difference": "bead/exports/diff?sides=2", "breaker": "breaker",
         "health": "health", "set-up": "set-up", "sessions": "sessions", "cost": "cost", "evidence": "evidence?check=1"}  # fmt: skip


def main() -> None:
    """Make them."""
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "pictures").resolve()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NOBRAKES_USER_HOME"] = str(Path(folder) / "home")
        os.environ["USER"] = "ada"
        shop = play(Path(folder))
        try:
            take(shop, target)
        finally:
            subprocess.run([NOBRAKES, "daemon", "stop"], cwd=shop, check=True, stdout=subprocess.DEVNULL)


def play(folder: Path) -> Path:
    """The example up to its questions, in `folder`; its repository."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    library = folder / "examples" / "library"
    (library / "scenario.toml").write_text((library / "scenario.toml").read_text() + MORE)
    (library / "plan.yaml").write_text((library / "plan.yaml").read_text().rstrip() + "\n" + BEADS)
    sys.path.insert(0, str(folder / "examples"))
    from run import Example  # type: ignore[import-not-found]

    shop = folder / "ledger"
    shop.mkdir()
    example: Any = Example("library", shop)
    example.begin()
    drafts = folder / "drafts.json"
    drafts.write_text(json.dumps(DRAFTS))
    example.nobrakes("propose", str(drafts))
    example.nobrakes("set", "doers=4")
    example.nobrakes("daemon", "start")
    end = time.monotonic() + 240
    while time.monotonic() < end:
        for bead in example.waited_for - {"interest", "taxes"}:
            new = example.told / f".{bead}"
            new.write_text(example.ask("show", bead)["status"])
            new.replace(example.told / bead)
        counts = example.ask("status")["counts"]
        if counts["escalated"] >= 2 and counts["done"] >= 9 and counts["working"] == 2 and not counts["review"]:
            return shop
        time.sleep(0.3)
    raise SystemExit(f"the example did not come to its questions: {counts}")


def take(shop: Path, target: Path) -> None:
    """Each page, twice."""
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import CHROMIUM, DESKTOP, PHONE, Person
    from tests.support.web import serving

    os.chdir(shop)
    with serving() as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for suffix, size, theme in (("", DESKTOP, "light"), ("-phone", PHONE, "dark")):
            person = Person(browser, served, viewport=size, color_scheme=theme)
            page = person.page
            page.goto(f"/login?next=/r/ledger/#code={served.new_code()}")
            page.wait_for_url("**/r/ledger/")
            for name, path in PAGES.items():
                page.goto(f"/r/ledger/{path}")
                page.wait_for_timeout(600)
                page.screenshot(path=target / f"{name}{suffix}.png")
                print(target / f"{name}{suffix}.png")
            if person.errors:
                print("errors on the console:", *person.errors, sep="\n  ")
        browser.close()


if __name__ == "__main__":
    main()
