"""Live at many lines a second: the end is followed, what is shown stays bounded, and who reads further up is left alone."""

import pytest

from tests.browser.conftest import Person

pytestmark = pytest.mark.slow
FOUND = """() => { const one = document.querySelector('.stream');
    return [one.childElementCount, one.scrollHeight - one.scrollTop - one.clientHeight, one.scrollTop]; }"""


def test_a_stream_is_followed_until_its_reader_scrolls_up_and_again_at_its_end(person: Person, repository) -> None:
    run = next((repository / ".nobrakes" / "runs").iterdir())
    page = person.goes("live/1")
    said = 0

    def says(lines: int) -> None:
        nonlocal said
        for _ in range(lines // 20):
            with (run / "agent.out").open("a") as file:
                file.write("".join(f"fresh {said + number}\n" for number in range(20)))
            said += 20
            page.wait_for_timeout(10)
        shows = f"() => document.querySelector('.stream').textContent.includes('fresh {said - 1}')"
        page.wait_for_function(shows)

    at_end = f"() => (({FOUND})())[1] < 40"
    says(1200)
    page.wait_for_function(at_end)
    assert page.evaluate(FOUND)[0] <= 400 and page.locator('[data-do="end"]').is_hidden()
    page.evaluate("() => { document.querySelector('.stream').scrollTop -= 600; }")
    page.locator('[data-do="end"]').wait_for(state="visible")
    before = page.evaluate(FOUND)
    says(200)
    after = page.evaluate(FOUND)
    assert after[2] == before[2] and after[0] > 400, "what is read stays where it is"
    page.locator('[data-do="end"]').click()
    page.wait_for_function(at_end)
    says(200)
    page.wait_for_function(at_end)
    assert page.evaluate(FOUND)[0] <= 400
