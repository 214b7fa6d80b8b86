"""The site of the docs: every link leads somewhere, every page is in the menu and is found by a search."""

import json
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from docs.generate import site


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.links |= {value for name in ("href", "src") if (value := given.get(name)) and not urlsplit(value).scheme}
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}


@pytest.fixture(scope="module")
def built(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = site.build(site.stage(folder), folder / "site")
    assert done.returncode == 0, done.stdout
    return folder / "site"


def test_every_link_leads_somewhere(built: Path) -> None:
    pages = {path: Page(path.read_text()) for path in built.rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 90
    dead = []
    for path, page in pages.items():
        for link in page.links:
            target = (path.parent / unquote(urlsplit(link).path)).resolve() if urlsplit(link).path else path
            target = target / "index.html" if target.is_dir() else target
            anchor = unquote(urlsplit(link).fragment)
            if not target.is_file() or (target in pages and anchor not in pages[target].anchors):
                dead.append(f"{path.relative_to(built)}: {link}")
    assert dead == []


def test_every_page_is_found_by_a_search(built: Path) -> None:
    found = {
        one["location"].partition("#")[0]
        for one in json.loads((built / "search/search_index.json").read_text())["docs"]
    }
    pages = {path.removesuffix(".md").replace("README", "index") for path in site.pages() if path.endswith(".md")}
    assert {one.removesuffix(".html") or "index" for one in found} == pages


def built_with(name: str, text: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    config = site.stage(folder)
    page = folder / "pages" / name
    page.write_text((page.read_text() if page.exists() else "# New\n") + text)
    return site.build(config, folder / "site")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("README.md", "\n[gone](docs/gone.md)\n", "docs/gone.md"),
        ("docs/web.md", "\n[gone](glossary.md#no-such-heading)\n", "no-such-heading"),
        ("docs/how-to/new.md", "", "docs/how-to/new.md"),
    ],
    ids=["file", "anchor", "menu"],
)
def test_the_build_fails_at_a_dead_link_and_a_page_in_no_menu(
    name: str, text: str, why: str, tools: Path, tmp_path: Path
) -> None:
    done = built_with(name, text, tmp_path)
    assert done.returncode != 0 and why in done.stdout, done.stdout


def test_lists_are_indented_as_python_markdown_reads_them() -> None:
    text = "A list:\n- one\n  more\n  - inner\n\n    code of the list\n\nAfter\n\n    code\n\n```\n- a\n  b\n```\n"
    wanted = "A list:\n\n- one\n    more\n    - inner\n\n        code of the list\n\nAfter\n\n    code\n\n```\n- a\n  b\n```\n"
    assert site.indented(text) == wanted
