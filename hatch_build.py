"""Stamps the commit into a wheel: nobrakes/_data/COMMIT, which `nobrakes --version` shows.

1. Only git of this folder itself is asked: a folder around it may be another repository.
2. A tree with changes says so (`-dirty`). Without git there is no stamp.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DESCRIBE = ("describe", "--always", "--dirty", "--exclude=*", "--abbrev=12")


class CommitHook(BuildHookInterface):
    """A wheel has the stamp; an editable installation asks git when it runs."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the stamp to the files of the wheel."""
        here = [f"--git-dir={self.root}/.git", f"--work-tree={self.root}"]
        if version == "editable" or not Path(self.root, ".git").exists():
            return
        told = subprocess.run(["git", *here, *DESCRIBE], cwd=self.root, capture_output=True, text=True)
        if told.returncode == 0:
            self.folder = tempfile.TemporaryDirectory(prefix="nobrakes-build-")
            stamp = Path(self.folder.name, "COMMIT")
            stamp.write_text(told.stdout)
            build_data["force_include"][str(stamp)] = "nobrakes/_data/COMMIT"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what `initialize` wrote."""
        if hasattr(self, "folder"):
            self.folder.cleanup()
