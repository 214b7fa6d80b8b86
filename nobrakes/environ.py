"""This process's environment, copied: another thread may be changing it, as GitPython's import does.

`os.environ` itself is asked for a name only; a test refuses everything else.
"""

import os


def process_environment() -> dict[str, str]:
    """The environment as it is now. A name that goes meanwhile is left out."""
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}
