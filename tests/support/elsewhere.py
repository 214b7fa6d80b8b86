"""A system that is not Linux, as far as this one can play it: a plugin of pytest (`-p tests.support.elsewhere`).

`python -m tests.support.elsewhere FOLDER ARGUMENTS…` runs pytest with it where /proc is empty; psutil, which is how
nobrakes looks at processes elsewhere, has the real one in FOLDER.
"""

import fcntl
import os
import select
import signal
import subprocess
import sys

LINUX_ONLY = {
    os: ("memfd_create", "pidfd_open", "sched_getaffinity", "waitid", "O_PATH", "copy_file_range", "eventfd"),
    select: ("epoll",),
    signal: ("pidfd_send_signal",),
    fcntl: ("F_OFD_SETLKW", "F_OFD_SETLK"),
}
"""Names that macOS has not. What the standard library and pytest need of it is not here."""
PLACE = "NOBRAKES_ELSEWHERE"


def forget_linux() -> None:
    """Before the first module of nobrakes."""
    for module, names in LINUX_ONLY.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


def command(folder: str, *arguments: str) -> list[str]:
    """Runs pytest there."""
    hides = ["bwrap", "--dev-bind", "/", "/", "--bind", "/proc", folder, "--tmpfs", "/proc"]
    return [*hides, "--setenv", PLACE, folder, "--", sys.executable, "-m", "pytest", "-p", __name__, *arguments]


def _begin() -> None:
    import psutil

    psutil.PROCFS_PATH = os.environ[PLACE]
    assert not os.path.exists("/proc/self"), "/proc is to be hidden"
    forget_linux()
    from nobrakes.host import proctable, watching
    from nobrakes.host.runs import forkserver

    def no_inotify(self: object) -> None:
        raise OSError("this system has no inotify")

    proctable.LINUX = False
    forkserver.able = lambda: False
    watching.Inotify.__init__ = no_inotify  # type: ignore[method-assign]


if PLACE in os.environ:
    _begin()
elif __name__ == "__main__":
    __name__ = "tests.support.elsewhere"
    sys.exit(subprocess.run(command(*sys.argv[1:])).returncode)
