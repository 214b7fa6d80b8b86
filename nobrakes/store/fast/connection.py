"""One connection for one hot command. Imports nothing of the store but what is a constant.

What is rare (an earlier version, an error) imports the whole store when it happens.
"""

import os
from _sqlite3 import Error, connect

from ..schema import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    T = TypeVar("T")


def connected(path: str, work: "Callable[[Connection], T]") -> "T":
    """What `work` makes of a connection to an existing database; core.errors for what can go wrong with that."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = connect(f"file:{quoted}?mode=rw", timeout=30.0, isolation_level=None, uri=True)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                from ..opening import open_store

                open_store(path).close()  # brings an earlier version to this one, or says what is wrong
            return work(connection)
        finally:
            connection.close()
    except Error as error:
        from ..failures import translated

        clear = translated(error, path) if os.path.exists(path) else _missing(path)
        if clear is None:
            raise
        raise clear from error


def _missing(path: str) -> Exception:
    from ..database import missing

    return missing(path)
