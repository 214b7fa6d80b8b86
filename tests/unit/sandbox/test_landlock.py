"""What the wall keeps from being written, signalled and traced: the real kernel, by the runner that agents have."""

import os
import platform
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.sandbox import landlock
from nobrakes.sandbox.closure import Wall, platform_trouble, probe, wall_describe, wall_wrap
from nobrakes.sandbox.system_paths import kept

works = pytest.mark.skipif(bool(platform_trouble()), reason=f"there is lacks Landlock: {platform_trouble()}")


@pytest.fixture
def tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that is no device: behind the wall those are granted, and shared memory lies among them."""
    if not tmp_path.is_relative_to("/dev"):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        for name, path in os.environ.items():
            if path.startswith("/dev/"):
                monkeypatch.setenv(name, os.path.join(folder, os.path.basename(path)))
        yield Path(folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("beside", "project/.git", "project/.nobrakes/workspaces/own", "project/.nobrakes/run"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project" / "file").write_text("old\n")
    return tmp_path / "project"


def behind(project: Path, script: str, temporary: str = "", **how):
    own = project / ".nobrakes" / "workspaces" / "own"
    argv = wall_wrap(("sh", "-c", script), Wall((str(project), *kept(os.environ)), (str(own),), temporary))
    return subprocess.run(argv, cwd=own, capture_output=True, text=True, check=False, **how)


@works
def test_dev_null_stays_open_where_it_stands_for_a_file_of_settings(project, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    done = behind(project, "git init -q . && : <>/dev/null && echo ok")
    assert done.stdout == "ok\n", done.stderr


@works
def test_a_wall_works_here():
    assert subprocess.run(probe("/"), check=False).returncode == 0


@works
@pytest.mark.parametrize(
    "attempt",
    [
        "echo evil >../../../file",
        "echo evil >>../../../file",
        "echo evil >../../../new",
        ": >../../../file",
        "truncate -s 0 ../../../file",
        "rm ../../../file",
        "mv ../../../file .",
        "ln ../../../file linked",
        "mkdir ../../../folder",
        "ln -s / ../../../link",
        "mkfifo ../../../pipe",
        "mv ../../../.git gone",
        "echo evil >../../../.git/HEAD",
        "echo evil >../../run/file",
        "mkdir ../other",
        'mv "$PWD" ../other',
        "ln -s ../../../file link && echo evil >link",
        "cd /proc/self/cwd/../../.. && echo evil >file",
        'mkdir inner && mount --bind "$PWD/../../.." inner && echo evil >inner/file',
        'unshare -rm sh -c "mount --bind ../../.. inner && echo evil >inner/file"',
        'echo evil >"$HOME/.gitconfig"',
        'mkdir -p "$HOME/.config/git"',
        "echo evil >/usr/bin/evil-program",
        "echo evil >/etc/evil-settings",
        "mknod disk b 1 0",
    ],
)
def test_what_is_kept_cannot_be_written(project, attempt):
    before = sorted((str(path), path.is_file() and path.read_text()) for path in project.parent.rglob("project/**/*"))
    done = behind(project, attempt)
    assert done.returncode != 0, done.stdout
    after = sorted((str(path), path.is_file() and path.read_text()) for path in project.parent.rglob("project/**/*"))
    assert [row for row in after if "/workspaces/own/" not in row[0]] == before


@works
@pytest.mark.parametrize(
    "work",
    [
        "echo a >a && mkdir b && mv a b && ln b/a c && rm -r b && mkfifo d && cat c",
        "cat ../../../file && ls /etc",
        "echo a >../../../../beside/new",
        "echo a >/dev/null && echo b >/dev/stderr && echo c >/dev/stdout && test -w /dev/null",
        "sleep 100 & kill $! && ! wait $!",
        f"{sys.executable} -c 'import pty; pty.spawn([\"true\"])'",
        "git init -q x && cd x && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x",
        "echo a >/dev/shm/nobrakes-test-$$ && rm /dev/shm/nobrakes-test-$$",
    ],
)
def test_ordinary_work_goes_on(project, work):
    done = behind(project, work)
    assert done.returncode == 0, done.stderr


@works
def test_what_is_written_to_dev_stderr_by_name_comes_to_the_file_that_it_is(project):
    own = project / ".nobrakes" / "workspaces" / "own"
    argv = wall_wrap(("sh", "-c", "echo said >/dev/stderr"), Wall((str(project),), (str(own),)))
    with open(project / "err", "wb") as file:
        assert subprocess.run(argv, stderr=file, check=False).returncode == 0
    assert (project / "err").read_text() == "said\n"


@works
def test_a_temporary_folder_is_given_only_where_the_usual_one_leads_to_what_is_kept(project, tmp_path):
    own = str(project / ".nobrakes" / "run" / "tmp")
    usual = {**os.environ, "TMPDIR": str(tmp_path)}
    elsewhere = {**os.environ, "TMPDIR": str(tmp_path / "beside")}
    said = 'mktemp >/dev/null && echo "$TMPDIR"'
    assert behind(project, said, own, env=usual).stdout.strip() == own
    assert behind(project, said, own, env=elsewhere).stdout.strip() == str(tmp_path / "beside")


@works
def test_nobody_outside_is_signalled_or_it_is_said_that_they_are(project):
    if landlock.version() < 6:
        assert any("signals" in text for text in landlock.lacks(landlock.version()))
        return
    with subprocess.Popen(["sleep", "100"]) as other:
        assert behind(project, f"kill -TERM {other.pid}").returncode != 0
        assert other.poll() is None
        other.kill()


@works
def test_nobody_elses_limits_are_set_and_ones_own_are():
    with subprocess.Popen(["sleep", "100"]) as other:
        script = (
            "import resource, sys\n"
            "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
            f"print(resource.prlimit({other.pid}, resource.RLIMIT_CPU))\n"
            f"try: resource.prlimit({other.pid}, resource.RLIMIT_CPU, (1, 1))\n"
            "except PermissionError: print('refused')\n"
        )
        argv = wall_wrap((sys.executable, "-c", script), Wall(("/etc",), ()))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[1:] == ["refused"], done.stderr
        other.kill()


SCHEDULES = {
    "setpriority": ("setpriority(0, PID, 19)", "setpriority(0, 0, 5)"),
    "setpriority of a group": ("setpriority(1, PID, 19)", "setpriority(0, 0, 5)"),
    "sched_setaffinity": ("sched_setaffinity(PID, 128, mask)", "sched_setaffinity(0, 128, mask)"),
    "sched_setscheduler": ("sched_setscheduler(PID, 3, none)", "sched_setscheduler(0, 3, none)"),
    "sched_setparam": ("sched_setparam(PID, none)", "sched_setparam(0, none)"),
    "sched_setattr": ("syscall(SET_ATTR, PID, attributes, 0)", "syscall(SET_ATTR, 0, attributes, 0)"),
    "ioprio_set": ("syscall(IOPRIO, 1, PID, 3 << 13)", "syscall(IOPRIO, 1, 0, 3 << 13)"),
}


@works
@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="the numbers of calls are for these")
@pytest.mark.parametrize("name", SCHEDULES)
def test_nobody_else_is_scheduled_and_oneself_is(name):
    set_attr, ioprio = (314, 251) if platform.machine() == "x86_64" else (274, 30)
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as other:
        script = (
            "import ctypes, struct\nlib = ctypes.CDLL(None, use_errno=True)\n"
            "mask = (ctypes.c_ubyte * 128)(1)\nnone = ctypes.create_string_buffer(8)\n"
            "attributes = struct.pack('=IIQiIQQQ', 48, 3, 0, 0, 0, 0, 0, 0)\n"
            f"for call in {SCHEDULES[name]!r}:\n"
            f"    for word, value in (('PID', {other.pid}), ('SET_ATTR', {set_attr}), ('IOPRIO', {ioprio})):\n"
            "        call = call.replace(word, str(value))\n"
            "    ctypes.set_errno(0)\n"
            "    done = eval('lib.' + call)\n"
            "    print(done, ctypes.get_errno())\n"
        )
        argv = wall_wrap((sys.executable, "-c", script), Wall(("/etc",), ()))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        other.kill()
    assert done.stdout.splitlines() == ["-1 1", "0 0"], done.stderr


def refused(arch, number, *arguments):
    """What the filter's program answers to a call, by running it here: nothing is called for it."""
    low_high = [half for value in (*arguments, 0, 0, 0)[:3] for half in (value & 0xFFFFFFFF, value >> 32)]
    data = {0: number, 4: arch} | {16 + 4 * at: half for at, half in enumerate(low_high)}
    rows, at, held = list(struct.iter_unpack("=HBBI", landlock.limits_filter())), 0, 0
    while True:
        code, yes, no, value = rows[at]
        at += 1
        if code == 0x20:
            held = data[value]
        elif code == 0x54:
            held &= value
        elif code == 0x15:
            at += yes if held == value else no
        else:
            return value == 0x00050001


@pytest.mark.parametrize("bit", [0, 0x40000000], ids=["", "x32"])
@pytest.mark.parametrize("arch", [0xC000003E, 0x40000003, 0xC00000B7])
def test_a_call_that_names_another_process_is_refused(arch, bit):
    calls = landlock._OTHERS[arch]
    for number in (one | bit for one in (*calls["first"], *calls["limits"])):
        assert refused(arch, number, 77, 128, 5) and not refused(arch, number, 0, 128, 5)
    (limits,), (priority,), (disk,) = calls["limits"], calls["priority"], calls["disk"]
    assert not refused(arch, limits, 77, 7, 0), "what limits another has may be asked"
    assert refused(arch, limits, 77, 7, 1 << 32), "an address may have no low half"
    for which, who in ((0, 77), (1, 0), (1, 77), (2, 0), (2, 1000)):
        assert refused(arch, priority | bit, which, who)
        assert refused(arch, disk | bit, which + 1, who)
    assert not refused(arch, priority, 0, 0) and not refused(arch, disk, 1, 0)
    assert not refused(arch, 1, 77, 77), "other calls are none of its business"


@works
def test_nobody_outside_is_traced_or_has_its_environment_read(project):
    with subprocess.Popen(["sleep", "100"], env={**os.environ, "HIDDEN": "secret-value"}) as other:
        assert "secret-value" not in behind(project, f"cat /proc/{other.pid}/environ").stdout
        trace = f"import ctypes; raise SystemExit(ctypes.CDLL(None).ptrace(16, {other.pid}, 0, 0) == 0)"
        assert behind(project, f"{sys.executable} -c '{trace}'").returncode == 0
        other.kill()


@works
def test_a_kept_link_is_kept_as_well_as_what_it_leads_to(tmp_path):
    for name in ("home", "dotfiles", "own"):
        (tmp_path / name).mkdir()
    (tmp_path / "dotfiles" / "gitconfig").write_text("old\n")
    (tmp_path / "home" / ".gitconfig").symlink_to(tmp_path / "dotfiles" / "gitconfig")
    wall = Wall((str(tmp_path / "home" / ".gitconfig"),), (str(tmp_path / "own"),))
    for attempt in ("echo evil >home/.gitconfig", "rm home/.gitconfig", "mv dotfiles/gitconfig own"):
        assert subprocess.run(wall_wrap(("sh", "-c", attempt), wall), cwd=tmp_path, check=False).returncode != 0
    assert (tmp_path / "home" / ".gitconfig").read_text() == "old\n"


def test_what_is_mounted_twice_is_kept_in_both_places():
    mounts = (
        ("8:1", "/", "/"),
        ("8:2", "/", "/people"),
        ("8:2", "/ada", "/data/ada home"),
        ("8:2", "/ada/p/.git", "/g"),
    )
    assert landlock.aliases("/people/ada/p", mounts) == ["/data/ada home/p", "/g"]
    assert landlock.aliases("/people/bob/p", mounts) == []


def test_beside_the_way_is_everything_but_the_way(tmp_path):
    for name in ("a/kept", "a/beside", "b", "link"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "to").symlink_to(tmp_path / "b")
    found = landlock.beside({str(tmp_path / "a" / "kept")})
    ours = {path for path in found if path.startswith(str(tmp_path))}
    assert ours == {str(tmp_path / name) for name in ("a/beside", "b", "link")}
    assert landlock.tops([str(tmp_path / "a"), str(tmp_path / "a" / "kept")]) == {str(tmp_path / "a")}


def test_temporary_folders_and_devices_are_granted_and_nothing_else(tmp_path):
    for name in ("tmp", "home/me/project/.git", "home/you", "srv/other/.git"):
        (tmp_path / name).mkdir(parents=True)
    kept, tmp = {str(tmp_path / "home" / "me")}, str(tmp_path / "tmp")
    assert {path for path in landlock.granted(kept, (tmp,)) if path.startswith(str(tmp_path))} == {tmp}
    assert not [p for p in landlock.granted(kept, (tmp,)) if not p.startswith((tmp, "/dev/", "/proc", "/sys"))]
    inside = landlock.granted(kept, (str(tmp_path),))
    assert {path for path in inside if path.startswith(str(tmp_path))} == {
        str(tmp_path / name) for name in ("tmp", "home/you", "srv")
    }
    assert not [p for p in landlock.granted({"/"}, (tmp,)) if p.startswith(str(tmp_path))]


def test_an_old_kernel_says_what_it_does_not_hold(monkeypatch):
    assert landlock.lacks(7) == () and len(landlock.lacks(4)) == 1 and len(landlock.lacks(1)) == 2
    monkeypatch.setattr(landlock, "version", lambda: 4)
    assert "signals" in wall_describe()
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert "lacks Landlock" in platform_trouble()


@pytest.mark.slow
@works
def test_each_version_gives_a_wall(project, monkeypatch):
    """The rules of an older kernel, on this one."""
    own = project / ".nobrakes" / "workspaces" / "own"
    for abi in range(1, landlock.version() + 1):
        script = (
            f"import sys; sys.path.insert(0, {os.path.dirname(landlock.__file__)!r}); import landlock\n"
            f"landlock.version = lambda: {abi}\n"
            f"landlock.close_in([{str(project)!r}], [{str(own)!r}], '')\n"
            f"open({str(own / 'a')!r}, 'w').close()\n"
            f"try: open({str(project / 'a')!r}, 'w')\n"
            "except PermissionError: print('held')\n"
        )
        done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
        assert done.stdout == "held\n", (abi, done.stderr)


def test_where_there_is_no_wall_nothing_is_started(project):
    script = (
        f"import sys; sys.path.insert(0, {os.path.dirname(landlock.__file__)!r}); import landlock, walled\n"
        "landlock.version = lambda: 0\n"
        "raise SystemExit(walled.main(['keep=/', '--', 'echo', 'started']))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 126 and "started" not in done.stdout and "without the wall" in done.stderr
