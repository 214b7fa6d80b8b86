"""Names that hide something and what looks like a secret key: a person sees the file's name, and decides."""

import os
from pathlib import Path

import pytest

from nobrakes.checks.policy.shadows import escaped, new_secrets, odd_name
from tests.support.scripted import Scripted

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----"
TOKEN = "ghp_" + "a1B2" * 9


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def test_names_and_keys_wait_for_a_person_and_the_secret_is_never_printed(project: Scripted) -> None:
    project.does("bidi", 'mkdir -p src; echo x >"$(printf "src/a\\342\\200\\256yp.b")"; git add -A; git commit -q -m x')
    project.does("key", f"mkdir -p src; echo '{TOKEN}' >src/login; git add -A; git commit -q -m x")
    project.does("plain", "work")
    project.add("bidi", "key", "plain")
    project.nobrakes("run", expect=40)
    assert set(project.landed().values()) == {"plain"}
    asked = {one["bead"]: one for one in project.open()}
    assert {one["type"] for one in asked.values()} == {"unusual_content"} and set(asked) == {"bidi", "key"}
    shown = project.nobrakes("escalation", str(asked["key"]["id"])).stdout
    assert "src/login" in shown and "GitHub token" in shown and TOKEN not in shown
    for more in ("--all", "--json"):
        assert TOKEN not in project.nobrakes("escalation", str(asked["key"]["id"]), more).stdout
    assert "\\u202e" in project.nobrakes("escalation", str(asked["bidi"]["id"])).stdout
    project.nobrakes("resolve", str(asked["key"]["id"]), "--approve")
    project.nobrakes("run", expect=40)
    assert set(project.landed().values()) == {"plain", "key"}


def test_names_that_main_has_already_are_not_asked_about_again(project: Scripted) -> None:
    folder = os.fsencode(project.folder)
    os.mkdir(folder + b"/d\xe9")
    for name in (b"caf\xe9.txt", b"d\xe9/one"):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(b"old\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "Names")
    end = "git add -A; git commit -q -m x"
    project.does("edit", f'echo new >"$(printf "caf\\351.txt")"; {end}')
    project.does("beside", f'echo new >"$(printf "d\\351/two")"; {end}')
    project.does("new", f'echo new >"$(printf "d\\351/\\351")"; {end}')
    project.add("edit", "beside", "new")
    project.nobrakes("run", expect=40)
    assert set(project.landed().values()) == {"edit", "beside"}
    assert [(one["bead"], one["type"]) for one in project.open()] == [("new", "unusual_content")]


def test_what_is_odd_and_what_is_not() -> None:
    for path in ("src/a\nb", "src/\x1b[31m", "a\u202eb", "a\u200bb", "tab\there", "a\udcffb"):
        assert odd_name(path) is not None, path
        assert escaped(path).isascii() and escaped(path).isprintable()
    for path in ("src/app.py", "größe/naïve.txt", "日本語", "a b"):
        assert odd_name(path) is None and escaped(path) == path
    assert new_secrets("x", "", KEY + "\nabc\n") is not None
    assert new_secrets("x", TOKEN, "a line\n" + TOKEN) is None, "it was there before"
    assert new_secrets("x", "", "password = read()\n") is None
