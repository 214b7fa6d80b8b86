"""The person's browser, started with a page."""

import os
import subprocess
import sys
from pathlib import Path

from ..environ import process_environment
from ..paths import own_path


def open_page(path: str) -> bool:
    """Show the file in a browser; whether one could be started."""
    return open_address(Path(path).as_uri())


def open_address(address: str) -> bool:
    """Show the page in a browser; whether one could be started."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")) and (
        os.uname().sysname == "Linux"
    ):
        return False  # a browser of the terminal would take it over
    words = [sys.executable, "-I", "-c", "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))", address]
    environment = {**process_environment(), "PATH": own_path(os.getcwd())}  # it looks for the browser there
    return subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, check=False).returncode == 0
