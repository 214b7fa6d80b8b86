"""A repository that is moved while nothing works in it: its workspaces, runs and reviews are found and gone on with."""

import signal
from pathlib import Path

from tests.support.scripted import Scripted, until

TESTS = 'command = "sh tests/run.sh"'
WAITS = 'until [ -e "{go}" ]; do sleep 0.05; done'


def ended(project: Scripted) -> bool:
    """Whether nothing works any more; who sleeps is killed."""
    return not project.kill_orphans(" sleep 60")


def test_what_was_open_in_a_repository_that_is_moved_goes_on(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    wait = WAITS.format(go=project.flag("go"))
    check = f"touch {project.flag('checked')}; {wait}; sh tests/run.sh".replace('"', '\\"')
    project.configure(TESTS, f'command = "{check}"')
    project.does("finished", f'touch "$BOOK/finished.at"; {wait}; work')
    project.does(
        "half", 'echo half >half; commit "Half"; echo more >more; touch "$BOOK/half.at"; exec sleep 60', turn=1
    )
    project.does("half", "[ -e half ] && [ -e more ] && git log --format=%s | grep -qx Half && work", turn=2)
    project.add("reviewed", "finished", "half")
    with project.running() as process:
        until(lambda: all(project.flag(name).exists() for name in ("checked", "finished.at", "half.at")))
        process.send_signal(signal.SIGKILL)
        process.wait()
        project.flag("go").touch()
        until(lambda: ended(project))
    elsewhere = tmp_path / "else where" / "moved"
    elsewhere.parent.mkdir()
    project.folder.rename(elsewhere)
    project.folder, project.config = elsewhere, elsewhere / ".nobrakes" / "config.toml"
    project.nobrakes("run")
    assert sorted(project.landed().values()) == ["finished", "half", "reviewed"]
    assert project.git("show", "main:more") == "more\n" and project.git("show", "main:half") == "half\n"
    assert len(project.turns("reviewed")) == len(project.turns("finished")) == 1
    assert project.outcomes("finished") == ["completed"] and project.outcomes("half")[-1] == "completed"
