"""The page of the workspace: its projects, and which of them each chat agent's session works on."""

from nobrakes.core.projects.brief import Brief
from nobrakes.operations.projects import confirming, projects
from tests.support.web import Served


def test_what_a_session_confirmed_stands_on_the_page(site: Served) -> None:
    assert "No chat agent has come yet" in site.get("/projects").text
    projects.create(Brief("tea", criteria=("Sells <b>tea</b>",)), "me")
    confirming.set_project("<i>phone</i>", "tea", False, "me")
    page = site.get("/projects").text
    assert "&lt;i&gt;phone&lt;/i&gt;" in page and "<i>phone" not in page
    assert "works on tea" in page and "0 of 1 criteria" in page and "project.set" in page and 'href="/r/tea/"' in page
