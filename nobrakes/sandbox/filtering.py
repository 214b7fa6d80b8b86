"""The argv of bubblewrap for a filter of git that the person configured: what it reads is as it is for them.

1. The whole machine is there, read-only, since program and key lie wherever the person's settings say. There is no
   network, no process of anybody's, and nothing outside of a memory of its own that it can write.
2. It starts in an empty folder: a program that is named by a path in the repository is not found.
"""

from ..git.port import Argv

FOLDER = "/dev/shm"
"""Where it starts, and may write."""


def wrap(argv: Argv) -> Argv:
    """The argv that runs `argv` so."""
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", FOLDER]
    words += ["--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    words += ["--unshare-cgroup-try", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent", "--new-session"]
    words += ["--setenv", "TMPDIR", FOLDER, "--chdir", FOLDER]
    return (*words, "--", *argv)
