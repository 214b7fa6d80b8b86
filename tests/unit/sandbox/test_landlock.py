"""What the wall keeps from being written, signalled and traced: the real kernel, by the runner that agents have."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.sandbox import landlock
from nobrakes.sandbox.machine import kept
from nobrakes.sandbox.wall import Wall, describe, platform_trouble, probe, wrap

works = pytest.mark.skipif(bool(platform_trouble()), reason=f"there is no Landlock: {platform_trouble()}")


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
    argv = wrap(("sh", "-c", script), Wall((str(project), *kept(os.environ)), (str(own),), temporary))
    return subprocess.run(argv, cwd=own, capture_output=True, text=True, check=False, **how)


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
    argv = wrap(("sh", "-c", "echo said >/dev/stderr"), Wall((str(project),), (str(own),)))
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
        argv = wrap((sys.executable, "-c", script), Wall(("/etc",), ()))
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[1:] == ["refused"], done.stderr
        other.kill()


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
        assert subprocess.run(wrap(("sh", "-c", attempt), wall), cwd=tmp_path, check=False).returncode != 0
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
    assert "signals" in describe()
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert "no Landlock" in platform_trouble()


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
    assert done.returncode == 126 and "started" not in done.stdout and "without its wall" in done.stderr
