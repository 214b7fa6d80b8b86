"""The profile for macOS allows what the mounts of bubblewrap show, path by path. It was never run on macOS: this reads it
as Apple describes its language, where the last rule that matches decides.
"""

import os
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nobrakes.errors import NoSandbox
from nobrakes.sandbox import seatbelt
from nobrakes.sandbox.closure import Closure, Laid, Machine, filter_wrap, lies_in, wrap

MACHINE = Machine(
    ("/usr", "/etc/hosts"), (("/bin", "usr/bin"),), ("/people/ada/venv",), "/usr/bin/python3", "/people/ada"
)
CLOSURE = Closure("/project/.nobrakes/workspaces/one", MACHINE, hidden=("/project", "/project/.nobrakes"))
RULE = re.compile(r'\((allow|deny) ([^()]*?) \(subpath "((?:[^"\\]|\\.)*)"\)\)\Z')


def by_profile(text: str, path: str) -> tuple[bool, bool]:
    """Whether it can be read and written."""
    can = {"file-read*": False, "file-write*": False}
    for line in text.splitlines():
        if (found := RULE.match(line)) and lies_in(path, re.sub(r"\\(.)", r"\1", found[3])):
            can |= {name: found[1] == "allow" for name in can if name in found[2].split()}
    return can["file-read*"], can["file-write*"]


def by_mounts(words: tuple[str, ...], path: str) -> tuple[bool, bool]:
    """The same, of bubblewrap's argv."""
    seen = (False, False)
    for at, word in enumerate(words[: words.index("--chdir")]):
        if word in ("--bind", "--ro-bind", "--ro-bind-try") and lies_in(path, words[at + 2]):
            seen = (True, word == "--bind")
        if word == "--tmpfs" and lies_in(path, words[at + 1]):
            seen = (False, False)
    return seen


PARTS = st.lists(st.sampled_from(["a", "b", 'q"', "back\\slash", "(c)", "é"]), min_size=1, max_size=4)
PATHS = PARTS.map(lambda parts: "/" + "/".join(parts))
LISTS = st.lists(PATHS, max_size=3).map(tuple)


@settings(max_examples=300)
@given(PATHS, LISTS, LISTS, LISTS, LISTS, LISTS, LISTS, PATHS, st.data())
def test_the_profile_shows_and_hides_what_bubblewrap_does(
    workspace, system, programs, hidden, inner, read, write, home, data
):
    machine = Machine(system, (), programs, "/usr/bin/python3", home)
    closure = Closure(workspace, machine, hidden=hidden, inner=inner, read=read, write=write, own=data.draw(LISTS))
    words, text = wrap(("true",), closure), seatbelt.profile(closure)
    known = [workspace, home, *system, *programs, *hidden, *inner, *read, *write]
    for path in (*known, *(f"{one}/x" for one in known), data.draw(PATHS)):
        assert by_profile(text, path) == by_mounts(words, path), (path, text)


def test_every_mount_has_its_rule_and_an_unknown_one_is_refused(monkeypatch):
    words = [word for word in wrap(("true",), CLOSURE) if word in seatbelt._MOUNTS]
    memory = [path for access, path in seatbelt.rules(CLOSURE) if path == seatbelt.home(CLOSURE)]
    in_memory = sum(word in seatbelt._MEMORY for word in wrap(("true",), CLOSURE)[: -len(("--", "true"))])
    assert len(list(seatbelt.rules(CLOSURE))) == len(words) - 3 + len(memory) and in_memory >= 3
    monkeypatch.setattr(seatbelt, "mounts", lambda closure: iter(("--overlay-src", "/a")))
    with pytest.raises(KeyError):
        list(seatbelt.rules(CLOSURE))


def test_secrets_are_hidden_the_workspace_is_written_and_nothing_else():
    text = seatbelt.profile(replace(CLOSURE, read=("/project",), inner=("/project/.git/objects",)))
    assert by_profile(text, "/project/.nobrakes/nobrakes.db") == (False, False)
    assert by_profile(text, "/project/.git/objects/aa") == (True, False)
    assert by_profile(text, CLOSURE.workspace + "/src") == (True, True)
    assert by_profile(text, "/people/ada/.ssh/id_ed25519") == (False, False)
    assert by_profile(text, seatbelt.home(CLOSURE)) == (True, True)
    assert text.startswith("(version 1)\n(deny default)\n") and text.count("(") == text.count(")")


@pytest.mark.parametrize("network", ["none", "provider"])
def test_a_network_that_is_not_open_is_the_loopback_alone(network):
    assert "(allow network*)" in seatbelt.profile(CLOSURE)
    rules = [line for line in seatbelt.profile(replace(CLOSURE, network=network)).splitlines() if "network" in line]
    assert rules == ['(allow network* (local ip "localhost:*") (remote ip "localhost:*"))']


def test_what_it_cannot_do_is_refused():
    with pytest.raises(NoSandbox, match="checkout"):
        seatbelt.profile(replace(CLOSURE, laid=Laid()))
    with pytest.raises(NoSandbox, match="cannot name"):
        seatbelt.profile(replace(CLOSURE, read=("/a\nb",)))


def test_on_macos_it_is_the_way_and_the_run_has_a_home_of_its_own(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    words = wrap(("agent", "--flag"), replace(CLOSURE, environment=(("NOBRAKES_DOOR", "/door"),)))
    assert words[-2:] == ("agent", "--flag") and seatbelt.PROGRAM in words
    assert {"NOBRAKES_DOOR=/door", f"HOME={seatbelt.home(CLOSURE)}", f"TMPDIR={seatbelt.home(CLOSURE)}"} <= set(words)
    assert os.path.dirname(seatbelt.home(CLOSURE)) == os.path.realpath(os.path.dirname(seatbelt.home(CLOSURE)))
    with pytest.raises(NoSandbox):
        filter_wrap(("filter",))
