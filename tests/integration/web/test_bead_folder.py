"""The folder of a bead: a link for the person's editor on this machine, and who may change what is in it."""

from types import SimpleNamespace as Given

import pytest

from nobrakes.cli import main
from nobrakes.config.user import WebSettings, load_user
from nobrakes.web import access
from tests.support.web import serving


@pytest.fixture
def clone(repository) -> str:
    """The agents' folder of nb-1."""
    made = repository / ".nobrakes" / "workspaces" / "nb-1"
    (made / ".git").mkdir(parents=True)
    return str(made)


@pytest.mark.parametrize(
    ("editor", "link"),
    [("vscode", "vscode://file{}"), ("zed", "zed://file{}"), ("idea", "idea://open?file={}"), ("none", "")],
)
def test_the_link_has_the_scheme_of_the_setting(clone, editor, link) -> None:
    with serving(editor=editor) as site:
        page = site.log_in().get("/r/shop/bead/nb-1").text
    assert clone in page and ("Open in editor" in page) is bool(link)
    assert not link or f'href="{link.format(clone)}"' in page


@pytest.mark.parametrize(("name", "is_here"), [("nb-x.localhost", True), ("127.0.0.1", True), ("mine.example", False)])
def test_only_a_browser_on_this_machine_gets_it(name, is_here) -> None:
    site = access.Site(None, 7117, frozenset(), editor="vscode")  # type: ignore[arg-type]
    asked = Given(url=Given(hostname=name), app=Given(state=Given(site=site)))
    assert access.in_editor(asked, "/a b/c") == ("vscode://file/a%20b/c" if is_here else "")
    assert access.in_editor(asked, "") == ""


def test_every_editor_of_the_setting_has_a_link() -> None:
    allowed = set(WebSettings.__annotations__["editor"].__args__)
    assert allowed - {"none"} == set(access._EDITORS)


def test_an_agents_folder_is_to_look_at_and_a_persons_is_handed_in(clone, repository, site) -> None:
    page = site.get("/r/shop/bead/nb-1").text
    assert "do not change it" in page and 'data-copy="nobrakes take nb-1"' in page
    mine = str(repository.parent / "mine")
    assert main.run(["take", "nb-1", "--to", mine]) == 0
    page = site.get("/r/shop/bead/nb-1").text
    assert mine in page and clone not in page and "do not change it" not in page
    assert 'data-copy="nobrakes hand-in nb-1"' in page
    assert main.run(["retry", "nb-1"]) == 0
    assert clone in site.get("/r/shop/bead/nb-1").text, "it is with agents again"


def test_without_a_setting_it_is_the_editor_of_most_people() -> None:
    assert load_user("/nowhere").web.editor == "vscode"
