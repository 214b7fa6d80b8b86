"""The live board on a real store: what it shows, keys that change nothing, hostile titles, a database that goes away."""

import asyncio
import os

import pytest

from nobrakes.beads.service import bead_commands
from nobrakes.decisions.service import desk
from nobrakes.tui import BeadPage, Board
from tests.support.dose import everyday
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


async def at(pilot, panel):
    """Go to a panel, once it is there: one that is hidden takes no focus."""
    await until(pilot, lambda: panel.display and panel.option_count)
    panel.focus()
    await until(pilot, lambda: panel.has_focus)


def played(folder, play, size=(80, 24)):
    """Play on the board of the folder."""

    async def whole():
        app = Board(str(folder))
        async with app.run_test(size=size) as pilot:
            await until(pilot, lambda: app.view is not None and app.focused is not None)
            await play(app, pilot)

    asyncio.run(whole())


def seen(app):
    """All that the screen shows."""
    return "\n".join("".join(part.text for part in strip) for strip in app.screen._compositor.render_strips())


@pytest.mark.parametrize("size", everyday((80, 24), ci=[(160, 50), (40, 30)]))
def test_every_part_is_there_at_every_width_and_hostile_titles_are_words(folder, size):
    async def play(app, pilot):
        await until(pilot, lambda: "needs you 3" in seen(app) and "agents 4" in seen(app) and "log" in seen(app))
        assert "Ada" in seen(app) and "q quit" in seen(app) and "to act: nobrakes web --open" in seen(app)
        await pilot.press("slash", *"not red", "enter")
        await until(pilot, lambda: app.view.found is not None and "[red]" in seen(app))
        assert "\x1b" not in seen(app) and app.view.found["ready"] == 1
        await pilot.press("escape")
        await until(pilot, lambda: app.view.found is None and "/ not red" not in seen(app))

    played(folder, play, size)


def test_the_columns_are_those_of_the_command_with_their_beads(folder):
    async def play(app, pilot):
        await until(pilot, lambda: app.query("#column-ready.-shown"))
        for name, cards in app.view.board.columns.items():
            column = app.query_one(f"#column-{name}")
            assert column.display == bool(app.view.board.counts[name])
            shown = [option.prompt.plain for option in column.options]
            assert column.scroll_offset.y == 0 and (column.highlighted or 0) == 0
            more = app.view.board.counts[name] - len(cards)
            assert shown[len(cards) :] == ([f"and {more} more"] if more else [])
            assert all(card.id in line and card.title in line for card, line in zip(cards, shown, strict=False))
        blocked = app.view.board.columns["blocked"]
        assert all(card.reasons[0] in seen(app) for card in blocked) and blocked

    played(folder, play, (100, 200))


def test_a_bead_opens_and_follows_what_happens_to_it(folder):
    async def play(app, pilot):
        await at(pilot, app.query_one("#column-ready"))
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, BeadPage) and "what happened" in seen(app))
        bead = app.screen.bead
        assert bead == "nb-0" and "[red]not red[/red]" in seen(app)
        with Scene(folder) as scene:
            bead_commands.hold(scene.store, bead, "not now", "somebody else", scene.app.paths)
        await until(pilot, lambda: "held: not now" in seen(app))
        await pilot.press("q")
        await until(pilot, lambda: not isinstance(app.screen, BeadPage) and "needs you" in seen(app))

    played(folder, play, (100, 60))


def test_a_question_that_is_answered_elsewhere_goes_from_the_board(folder):
    async def play(app, pilot):
        await until(pilot, lambda: "needs you 3" in seen(app))
        with Scene(folder) as scene:
            desk.answer(scene.store, app.view.escalations[0].id, "local", "somebody else")
        await until(pilot, lambda: "needs you 2" in seen(app))

    played(folder, play, (120, 40))


@pytest.mark.ci  # every key, three times over, takes ten seconds
def test_no_key_changes_anything(folder):
    """Every letter, on each kind of list and on the page of a bead: no event is written, nothing is decided."""
    keys = [*"abcdefghijklmnoprstuvwxyzDHPR1:?", "ctrl+s", "space", "delete"]
    with Scene(folder) as scene:
        before = scene.store.position().seq, len(scene.store.escalations())

    async def play(app, pilot):
        for part in ("#needs", "#agents", "#column-ready"):
            await at(pilot, app.query_one(part))
            await pilot.press("home", *keys)
            assert app.is_running and not isinstance(app.screen, BeadPage)
        await pilot.press("home", "enter")
        await until(pilot, lambda: isinstance(app.screen, BeadPage) and "what happened" in seen(app))
        await pilot.press(*keys)
        assert isinstance(app.screen, BeadPage)

    played(folder, play, (120, 60))
    with Scene(folder) as scene:
        assert (scene.store.position().seq, len(scene.store.escalations())) == before


def test_a_database_that_goes_away_is_said_and_read_again(folder):
    database = os.path.join(folder, ".nobrakes", "nobrakes.db")

    async def play(app, pilot):
        os.rename(database, database + ".away")
        await until(pilot, lambda: "the database was removed" in seen(app) and "old" in seen(app))
        assert "nobrakes status" in seen(app) and not os.path.exists(database)
        os.rename(database + ".away", database)
        await until(pilot, lambda: "the database was removed" not in seen(app))

    played(folder, play)


@pytest.mark.ci
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


@pytest.mark.ci
def test_the_cursor_stays_on_its_bead_when_rows_come_before_it(folder):
    async def play(app, pilot):
        column = app.query_one("#column-ready")
        await at(pilot, column)
        await pilot.press("home", "down", "down")
        bead, place = column.bead, column.highlighted
        assert place == 2
        with Scene(folder) as scene:
            scene.bead("nb-00", "Before the others", priority=0)
        await until(pilot, lambda: "nb-00" in seen(app))
        assert (column.bead, column.highlighted) == (bead, place + 1)

    played(folder, play, (100, 60))
