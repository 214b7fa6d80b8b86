"""The pages in Firefox: each is whole, free of barriers and as wide as its screen; a person decides and adds work."""

import pytest

from tests.browser.conftest import DESKTOP, PHONE
from tests.browser.firefox import firefox
from tests.browser.test_pages_in_a_browser import AXE, PAGES, RULES, tea  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("size", "is_dark"), [(DESKTOP, False), (PHONE, True)], ids=["desktop", "phone-dark"])
def test_each_page_is_whole_and_has_no_barrier(served, tea, size, is_dark) -> None:  # noqa: F811
    with firefox(is_dark=is_dark) as person:
        person.resize(size)
        person.goes(f"{served.origin}/login?next=/r/shop/#code={served.new_code()}")
        person.sees("Needs you|for you|decision")
        assert person.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is is_dark
        found = []
        for path in PAGES:
            person.goes(f"{served.origin}/r/shop/{path}")
            if person.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append((path, "is wider than the screen"))
            if AXE.exists():
                person.runs(AXE.read_text())
                seen = person.evaluate(f"axe.run({RULES}).then((all) => all.violations.map((one) => one.id))")
                found += [(path, one) for one in seen]
        assert (found, person.errors) == ([], [])


def test_a_person_decides_and_adds_a_bead_with_mouse_and_keys(served) -> None:
    with firefox() as person:
        person.resize(DESKTOP)
        person.goes(f"{served.origin}/login?next=/r/shop/#code={served.new_code()}")
        person.clicks("//main//a[contains(@href, '/desk/1')]")
        person.sees("To the nearest coin")
        person.clicks("//input[@type='radio'][@value='Round']")
        person.clicks("//main//button[normalize-space()='Answer']")
        person.sees("escalation 1 is answered: Round", "body")
        person.clicks("//nav//a[contains(@href, '/board')]")
        person.sees("Filter by id")
        person.sees("Live", "#link-state")
        person.types("c")
        person.sees("Title")
        person.clicks("//main//input[@name='title']")
        person.types("Greet the customer")
        person.clicks("//main//button[normalize-space()='Add']")
        person.sees("Greet the customer")
        assert person.errors == []
