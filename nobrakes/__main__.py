"""`python -m nobrakes`: the same as the console script, which imports nothing from the current folder."""

import sys

from .cli.entry import main

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, by `-m`: it may be a repository on which agents work
    sys.exit(main())
