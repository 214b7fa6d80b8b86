"""`init` on a full disk leaves nothing beside a file that could not be written whole."""

import errno
import os
import subprocess
from pathlib import Path

import pytest

from nobrakes.config.setup import init
from nobrakes.errors import NobrakesError


def test_init_on_a_full_disk_leaves_no_half_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(source: str, target: str) -> None:
        assert Path(source).exists(), "it was written beside its target"
        raise OSError(errno.ENOSPC, "the disk is full", source)

    monkeypatch.setattr(os, "replace", full)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    with pytest.raises((OSError, NobrakesError), match="no space"):
        init.init(str(tmp_path))
    assert not list((tmp_path / ".nobrakes").rglob("*.new"))
