"""What is asked of main without git."""

from pathlib import Path

import pytest

from nobrakes.daemon.model import COMPARED, FROZEN, WATCH
from nobrakes.db import fast
from nobrakes.store import Store, open_memory

TIP, OTHER = "a" * 40, "b" * 40


def repository(folder: Path, packed: bool) -> str:
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    if packed:
        (folder / ".git" / "packed-refs").write_text(f"# pack-refs\n{OTHER} refs/heads/xmain\n{TIP} refs/heads/main\n")
    else:
        (folder / ".git" / "refs" / "heads" / "main").write_text(f"{TIP}\n")
    return str(folder)


def store_with(**settings: str) -> Store:
    store = open_memory()
    for key, value in settings.items():
        store.set_setting(key, value)
    return store


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("settings", "moved"),
    [
        ({}, False),  # no daemon ever compared it
        ({COMPARED: OTHER}, True),
        ({COMPARED: TIP, WATCH: f'{{"green": "{TIP}"}}'}, False),
        ({COMPARED: TIP, WATCH: f'{{"green": "{OTHER}"}}'}, True),
        ({COMPARED: TIP, WATCH: "not JSON"}, True),
        ({COMPARED: TIP, WATCH: f'{{"green": "{TIP}"}}', FROZEN: TIP}, True),
    ],
)
def test_main_moved_unless_a_merge_or_its_monitor_left_it_green(settings, moved, packed, tmp_path) -> None:
    store = store_with(**settings)
    assert fast.main_moved(store.connection.execute, repository(tmp_path, packed), "main") is moved
    store.close()


def test_a_branch_that_cannot_be_found_is_in_doubt(tmp_path: Path) -> None:
    store = store_with(**{COMPARED: TIP})
    assert fast.main_moved(store.connection.execute, str(tmp_path), "main")
    store.close()
