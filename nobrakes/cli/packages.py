"""Installed packages, for a Python that was started without `site`, as agents' own command is (host.command)."""

import sys


def complete() -> None:
    """Have Python find them, unless it does."""
    if sys.flags.no_site and "site" not in sys.modules:
        import site

        site.main()
