"""What the machine lacks is told as that, whichever part meets it, and is nobody's fault and no bug."""

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from nobrakes.db.database import translated
from nobrakes.errors import DiskFull, GitFailed, MachineShort, NobrakesError, StoreBroken
from nobrakes.files import storage_errors
from nobrakes.git.command_line import failure


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (OSError(errno.EIO, os.strerror(errno.EIO)), MachineShort),
        (OSError(errno.EMFILE, os.strerror(errno.EMFILE)), MachineShort),
        (OSError(errno.ENFILE, os.strerror(errno.ENFILE)), MachineShort),
        (OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), MachineShort),
        (BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)), MachineShort),
        (OSError(errno.EFBIG, os.strerror(errno.EFBIG)), DiskFull),
        (RuntimeError("can't start new thread"), MachineShort),
        (MemoryError(), MachineShort),
        (RuntimeError("a bug"), RuntimeError),
        (FileNotFoundError(errno.ENOENT, "x"), FileNotFoundError),
    ],
)
def test_an_error_of_the_system_is_no_bug(error: Exception, kind: type[Exception]) -> None:
    with pytest.raises(kind), storage_errors("/somewhere"):
        raise error


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("fatal: unable to create '/r/.git/x.lock': Too many open files", MachineShort),
        ("error: cannot fork() for unpack-objects: Resource temporarily unavailable\nfatal: no", MachineShort),
        ("fatal: mmap failed: Cannot allocate memory", MachineShort),
        ("fatal: Out of memory, malloc failed", GitFailed),  # it says how much: that is the object's, not the machine's
        ("error: unable to read sha1 file: Input/output error", MachineShort),
        ("[Errno 24] Too many open files", MachineShort),
        ("error: write: File too large", DiskFull),
        ("error: invalid path 'a: Input/output error'", GitFailed),
    ],
)
def test_what_git_says_of_the_machine_judges_no_work(said: str, kind: type[NobrakesError]) -> None:
    assert type(failure(["git", "x"], 128, said)) is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_IOERR, MachineShort),
        (sqlite3.SQLITE_IOERR_WRITE, MachineShort),
        (sqlite3.SQLITE_IOERR_SHORT_READ, StoreBroken),
        (sqlite3.SQLITE_CANTOPEN, MachineShort),
        (sqlite3.SQLITE_NOMEM, MachineShort),
        (sqlite3.SQLITE_CORRUPT, StoreBroken),
    ],
)
def test_a_disk_that_fails_is_no_broken_database(tmp_path: Path, code: int, kind: type[NobrakesError]) -> None:
    path = tmp_path / "db"
    path.touch()
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    assert type(translated(error, str(path))) is kind


def test_an_object_that_a_partial_clone_never_fetched_says_what_to_type() -> None:
    said = "fatal: unable to access 'x': gone\nfatal: could not fetch 61780798 from promisor remote\n"
    error = failure(["git", "cat-file"], 128, said)
    assert "partial clone" in str(error) and "git fetch --refetch --no-filter" in error.hint
