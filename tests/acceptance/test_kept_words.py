"""What an agent says is kept without its secrets and bounded, whichever agent it is."""

import json
import sqlite3
from pathlib import Path

from tests.support.scripted import Scripted

KEY = "sk_" + "live_" + "a1B2c3D4" * 3
TOKEN = "gh" + "p_" + "a1B2c3D4e5F6" * 3
BODY = "\n".join("MIIEvQ" + f"aB3{n:02d}/" * 9 for n in range(12))
BLOCK = f"{'-' * 5}BEGIN PRIVATE KEY{'-' * 5}\n{BODY}\n{'-' * 5}END PRIVATE KEY{'-' * 5}\n"


def kept(project: Scripted) -> dict[str, str]:
    """What nobrakes keeps of words: the outputs of agents, the log beside the database, all of the database."""
    found = {
        str(path): path.read_text(errors="replace")
        for path in (project.folder / ".nobrakes").rglob("agent.*")
        if path.is_file()
    }
    found |= {str(path): path.read_text() for path in (project.folder / ".nobrakes").glob("beads.since*")}
    with sqlite3.connect((project.folder / ".nobrakes") / "nobrakes.db") as database:
        found["database"] = "\n".join(database.iterdump())
    return found


def test_a_script_leaves_no_secret_in_what_is_kept(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.flag("block").write_text(BLOCK)
    project.flag("key").write_text(KEY)
    project.flag("token").write_text(TOKEN)
    project.add("one")
    project.does(
        "one",
        """while read -r line; do echo "$line"; done <"$BOOK/block"; cat "$BOOK/key" >&2
nobrakes agent log "it is $(cat "$BOOK/key")"; nobrakes agent progress "with $(cat "$BOOK/token")"
nobrakes agent escalate "take $(cat "$BOOK/token")" --detail "$(cat "$BOOK/block")"
printf 'see %s' "$(cat "$BOOK/token")" >"$NOBRAKES_HANDOFF"
echo said; work""",
    )
    project.nobrakes("run")
    texts = kept(project)
    assert any("said" in text for name, text in texts.items() if name.endswith("agent.out"))
    for name, text in texts.items():
        for secret in (KEY, TOKEN, *BODY.split("\n")):
            assert secret not in text, name
    assert "it is [secret]" in texts["database"]


def with_check(project: Scripted, command: str) -> None:
    project.configure("[[checks]]", f'[[checks]]\nname = "print"\ncommand = "{command}"\nkind = "lint"\n[[checks]]')


def no_secret_is_kept(project: Scripted) -> None:
    texts = {name: text for name, text in kept(project).items() if not name.endswith("agent.out")}
    for name, text in texts.items():
        for secret in (KEY, *BODY.split("\n")):
            assert secret not in text, name
    assert "[secret]" in texts["database"], json.dumps(project.ask("show", "one"))


def test_what_a_check_prints_is_kept_without_secrets(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    project.flag("block").write_text(BLOCK + KEY)
    project.add("one")
    project.does("one", 'touch printed; commit "Print it"')
    with_check(project, f"cat {project.flag('block')}; ! ls | grep -q rinted")
    project.nobrakes("run", expect=None)
    assert project.ask("show", "one")["status"] == "escalated"
    no_secret_is_kept(project)


def test_a_difference_that_a_person_is_shown_holds_no_secret(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.flag("block").write_text(BLOCK + KEY)
    project.add("one")
    project.does("one", 'cat "$BOOK/block" >asked; commit "Change what a check reads"')
    with_check(project, "cat asked")
    project.nobrakes("run", expect=None)
    assert [one["type"] for one in project.ask("escalations")] == ["checks_changed"]
    no_secret_is_kept(project)


def test_a_script_that_never_stops_talking_is_bounded(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    project.add("one")
    project.does("one", "head -c 90000000 /dev/zero | tr '\\0' 'x' | fold -w 1000; work")
    project.nobrakes("run")
    sizes = [path.stat().st_size for path in (project.folder / ".nobrakes").rglob("agent.out*")]
    assert sum(sizes) <= 64 * 1024 * 1024 and project.ask("show", "one")["status"] == "done"
