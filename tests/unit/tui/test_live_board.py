"""The live board on a real store: keys, a question answered once, a filter, hostile titles, a database that goes away."""

import asyncio
import os

import pytest

from nobrakes.db.opening import open_store
from nobrakes.decisions.service import desk
from nobrakes.tui.board import Board
from nobrakes.tui.pages import Ask, BeadPage, Page
from tests.support.scene import Scene, night, repository

HOSTILE = "[red]not red[/red] [@click=app.quit]x[/]"


@pytest.fixture
def folder(tmp_path, capsys):
    made = repository(tmp_path / "repo")
    night(made)
    with Scene(made) as scene:
        scene.bead("nb-0", HOSTILE, priority=0)
        scene.works("nb-12", "Dora", ("\x1b[2J\x1b]0;owned\x07" + HOSTILE,))
    return made


async def until(pilot, condition):
    for _ in range(1000):
        await pilot.pause(0.02)
        if condition():
            return
    raise AssertionError(f"it did not come to be:\n{seen(pilot.app)}")


def played(folder, play, size=(80, 24)):
    """Play on the board of the folder."""

    async def whole():
        app = Board(str(folder), "you")
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.view is not None and app.focused is not None)
            await play(app, pilot)

    asyncio.run(whole())


def seen(app):
    """All that the screen shows."""
    return "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())


@pytest.mark.parametrize("size", [(160, 50), (80, 24), (40, 30)])
def test_every_part_is_there_at_every_width_and_hostile_titles_are_words(folder, size):
    async def play(app, pilot):
        await until(pilot, lambda: "needs you 3" in seen(app) and "agents 4" in seen(app) and "log" in seen(app))
        assert "Ada" in seen(app) and "? help" in seen(app) and "blocked" in seen(app)
        app.set_filter("not red")
        await until(pilot, lambda: app.view.found is not None and "[red]" in seen(app))
        assert "\x1b" not in seen(app) and app.view.found["ready"] == 1

    played(folder, play, size)


def test_a_question_is_answered_once_and_a_second_screen_is_refused_in_place(folder):
    async def play(app, pilot):
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        with Scene(folder) as scene:
            desk.answer(scene.store, app.screen.found.id, "local", "somebody else")
        await pilot.press("ctrl+s")
        await until(pilot, lambda: "decided: answered" in seen(app) or "✗" in seen(app))
        await until(pilot, lambda: app.screen.found.resolved_at is not None)
        await until(pilot, lambda: not app.screen.query("Choice"))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, Ask) and len(app.view.escalations) == 2)
        await pilot.press("a")
        await until(pilot, lambda: isinstance(app.screen, Ask))
        number = app.screen.found.id
        await pilot.press("ctrl+s")
        await until(pilot, lambda: f"escalation {number} is answered" in seen(app))

    played(folder, play, (120, 40))
    store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
    assert [store.escalation(n).answer for n in (1, 2)] == ["local", "yes"]
    store.close()


def test_keys_open_pause_and_go_back(folder):
    async def play(app, pilot):
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, Page) and "shapes" in app.screen.draw(80).plain)
        await pilot.press("escape", "p")
        await until(pilot, lambda: app.view.paused)
        await pilot.press("p")
        await until(pilot, lambda: not app.view.paused)
        await pilot.press("colon", *"nb-1", "enter")
        await until(pilot, lambda: isinstance(app.screen, BeadPage) and "Parse the header" in seen(app))
        await pilot.press("escape", "colon", *"nb-999", "enter")
        await until(pilot, lambda: "there is no bead" in seen(app))

    played(folder, play)


def test_a_database_that_goes_away_is_said_and_read_again(folder):
    database = os.path.join(folder, ".nobrakes", "nobrakes.db")

    async def play(app, pilot):
        os.rename(database, database + ".away")
        await until(pilot, lambda: "the database is gone" in seen(app) and "old" in seen(app))
        os.rename(database + ".away", database)
        await until(pilot, lambda: "the database is gone" not in seen(app))

    played(folder, play)


def test_without_colours_nothing_is_painted(folder, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")

    async def play(app, pilot):
        await until(pilot, lambda: "needs you 3" in seen(app))
        strips = app.screen._compositor.render_strips()
        for part in (
            one
            for strip in strips
            for one in strip.apply_filter(app._filters[-1], app.current_theme and app.background_colors[0])
        ):
            assert part.style is None or part.style.color is None or part.style.color.is_default

    played(folder, play)
