"""What a sandbox shows: the argv of bubblewrap, built from nothing, and the little program inside."""

import os
import resource
import subprocess
import sys
from dataclasses import replace

import pytest

from nobrakes.sandbox.closure import INSIDE, Bounds, Closure, Machine, Prlimit, prlimit, wrap
from nobrakes.sandbox.system_paths import installation, machine, program, tool_settings

MACHINE = Machine(
    ("/usr", "/etc/hosts"), (("/bin", "usr/bin"),), ("/people/ada/venv",), "/usr/bin/python3", "/people/ada"
)
NO_BOUNDS = Bounds()
CLOSURE = Closure("/project/.nobrakes/workspaces/one", MACHINE, hidden=("/project", "/project/.nobrakes"))


def mounts(closure, option):
    words = wrap(("true",), closure)
    return [words[at + 2] for at, word in enumerate(words) if word == option]


def after(words, *wanted):
    paths = [" ".join(words).index(one) for one in wanted]
    return paths == sorted(paths)


def test_only_what_is_named_is_there():
    assert mounts(CLOSURE, "--bind") == ["/project/.nobrakes/workspaces/one"]
    assert mounts(CLOSURE, "--ro-bind-try") == ["/usr", "/etc/hosts", "/people/ada/venv"]


def test_every_namespace_is_its_own_and_no_privilege_is_left():
    words = wrap(("agent", "--flag"), CLOSURE)
    assert {"--unshare-user", "--unshare-pid", "--disable-userns", "--die-with-parent", "--cap-drop"} <= set(words)
    assert words[-2:] == ("agent", "--flag") and "--unshare-net" not in words
    assert "--unshare-net" in wrap(("agent",), replace(CLOSURE, network="none"))


def test_what_is_hidden_stays_hidden_below_a_folder_that_is_shown():
    hidden, objects = ("/data/project", "/data/project/.nobrakes"), "/data/project/.git/objects"
    words = wrap(("true",), replace(CLOSURE, hidden=hidden, read=("/data",), inner=(objects,)))
    assert after(
        words, "--ro-bind-try /data /data", "--tmpfs /data/project ", f"--ro-bind {objects}", "--remount-ro / "
    )


def test_a_home_in_a_system_folder_is_empty():
    assert "--tmpfs /usr/ada" in " ".join(wrap(("true",), replace(CLOSURE, machine=replace(MACHINE, home="/usr/ada"))))


def test_a_home_on_the_path_is_not_let_in(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tools").mkdir()
    found = machine({"PATH": os.pathsep.join((str(tmp_path), str(tmp_path.parent), str(tmp_path / "tools"), "tools"))})
    assert str(tmp_path / "tools") in found.programs
    assert not {str(tmp_path), str(tmp_path.parent), "tools"} & set(found.programs)


def test_the_settings_that_tools_are_linked_to_are_let_in_but_no_passwords(tmp_path):
    java, maven = tmp_path / "java-21-openjdk", tmp_path / "maven"
    for place in (java / "security", maven / "logging", tmp_path / "ssh"):
        place.mkdir(parents=True)
    for file in (maven / "m2.conf", maven / "settings.xml", tmp_path / "shadow"):
        file.touch()
    assert tool_settings(str(tmp_path)) == (str(java), str(maven / "logging"), str(maven / "m2.conf"))


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "libexec", "lib/node_modules"])
def test_an_installation_is_let_in_whole(tmp_path, mark):
    (tmp_path / "bin").mkdir()
    assert list(installation(str(tmp_path / "bin"))) == [str(tmp_path / "bin")]
    (tmp_path / mark).mkdir(parents=True)
    assert list(installation(str(tmp_path / "bin"))) == [str(tmp_path)]


def test_a_program_of_a_python_environment_gets_its_whole_environment_and_its_python(tmp_path):
    python, venv, home = tmp_path / "python" / "bin" / "python3", tmp_path / "venv", tmp_path / "home"
    for place in (python.parent, venv / "bin", home / "bin"):
        place.mkdir(parents=True)
    for file in (python, venv / "bin" / "tool"):
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    (venv / "pyvenv.cfg").touch()
    (venv / "bin" / "python3").symlink_to(python)
    (home / "bin" / "tool").symlink_to(venv / "bin" / "tool")
    needed = program("tool", {"PATH": str(home / "bin")}, str(home))
    assert {str(venv), str(tmp_path / "python")} <= set(needed)
    assert str(venv) not in program(str(venv / "bin" / "tool"), {}, str(venv / "bin")), "never a whole home"


def inside(*words, **how):
    argv = [sys.executable, "-I", "-S", INSIDE, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, **how)


def by_tools(argv, bounds=NO_BOUNDS, **how):
    found = prlimit(("/usr",))
    if found is None:
        pytest.skip("prlimit of util-linux is missing")
    return subprocess.run([*found.words(bounds), *argv], capture_output=True, text=True, check=False, **how)


@pytest.mark.parametrize(
    ("bounds", "option", "shown"),
    [
        (Bounds(memory_mb=64), "-d", str(64 * 1024)),
        (Bounds(open_files=100), "-n", "100"),
        (Bounds(file_mb=2), "-f", str(2 * 2048)),
        (Bounds(cpu_minutes=3), "-t", "180"),
        (Bounds(processes=50), "-p", "50"),
    ],
)
def test_the_limits_hold_inside(bounds, option, shown):
    assert inside(*bounds.words(), "--", "sh", "-c", f"ulimit {option}").stdout.strip() == shown
    assert by_tools(("sh", "-c", f"ulimit {option}"), bounds).stdout.strip() == shown


def test_no_limit_is_set_above_what_may_be():
    hard = Prlimit("/usr/bin/prlimit", (("nofile", 50),))
    assert "--nofile=50" in hard.words(Bounds(open_files=100)) and "--nofile=20" in hard.words(Bounds(open_files=20))
    assert not [word for word in hard.words(Bounds()) if word.startswith("--n")]
    lowered = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))}
    code = "from nobrakes.sandbox.closure import prlimit; print(prlimit(('/usr',)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **lowered).stdout
    assert said == "None\n" or "('nofile', 64)" in said


def test_python_stands_first_only_where_prlimit_cannot():
    known = replace(MACHINE, prlimit=Prlimit("/usr/bin/prlimit"))
    closure = replace(CLOSURE, machine=known)
    assert INSIDE not in wrap(("agent",), closure) and "/usr/bin/prlimit" in wrap(("agent",), closure)
    assert INSIDE in wrap(("agent",), CLOSURE)
    assert INSIDE in wrap(("agent",), replace(closure, network="provider", hosts=("api.example:443",)))


def test_a_program_of_others_is_not_taken_for_prlimit(tmp_path):
    from nobrakes.sandbox import closure as module

    assert prlimit(("/gnu/store",)) is None
    for content, is_known in ((b"busybox nproc", False), (b"util-linux nproc", True)):
        (tmp_path / "prlimit").write_bytes(content)
        assert module._is_known(str(tmp_path / "prlimit"), len(content)) is is_known
    assert not module._is_known(str(tmp_path / "none"))


def test_processes_are_limited():
    bomb = "import os\nfor n in range(200):\n    if os.fork() == 0: os._exit(0)\nprint('all')"
    as_nobody = {"user": 65534} if os.getuid() == 0 else {}
    python = "/usr/bin/python3" if os.getuid() == 0 else sys.executable
    argv = [python, "-I", "-S", "-c", f"import resource; resource.setrlimit(resource.RLIMIT_NPROC, (5, 5))\n{bomb}"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **as_nobody)
    assert "all" not in done.stdout and "BlockingIOError" in done.stderr


@pytest.mark.parametrize(("program", "code"), [("no-such-program", 127), ("/etc", 126)])
def test_what_cannot_be_started_ends_as_a_shell_would_end_it(program, code):
    assert inside("--", program).returncode == code
    assert by_tools((program,)).returncode == code


def test_a_network_of_the_provider_has_no_route_and_asks_no_proxy_for_its_own_loopback():
    closure = replace(CLOSURE, network="provider", hosts=("127.0.0.1:8000", "api.example:443"))
    words = wrap(("agent",), closure)
    assert "--unshare-net" in words and words[words.index("NO_PROXY") + 1] == "localhost,::1"
    assert "NO_PROXY" not in wrap(("agent",), CLOSURE)
