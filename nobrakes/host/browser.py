"""The person's browser, started with a page."""

import os
import webbrowser
from pathlib import Path


def open_page(path: str) -> bool:
    """Show the file in a browser; whether one could be started."""
    return open_address(Path(path).as_uri())


def open_address(address: str) -> bool:
    """Show the page in a browser; whether one could be started."""
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("BROWSER")) and (
        os.uname().sysname == "Linux"
    ):
        return False  # a browser of the terminal would take it over
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
