"""Nothing is left beside a file that could not be written whole, whoever writes it."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from nobrakes.config.setup import init
from nobrakes.errors import NobrakesError
from nobrakes.replacing import replacing


@pytest.mark.parametrize("before", ["as it was", None])
def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_text(before)
    with pytest.raises(OSError, match="full"), replacing(str(path)) as file:
        file.write(b"half")
        file.flush()
        raise OSError(errno.ENOSPC, "the disk is full")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == ({"file": before} if before else {})


def test_init_on_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        assert Path(source).exists(), "it was written beside its target"
        raise OSError(errno.ENOSPC, "the disk is full", source)

    monkeypatch.setattr(os, "replace", full)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    with pytest.raises((OSError, NobrakesError), match="full"):
        init.init(str(tmp_path))
    suffix = f".{os.getpid()}"
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(suffix)]
