"""The command line: python -m ledger.cli JOURNAL [MONTH]."""

import sys
from pathlib import Path

from .journal import parse_journal
from .report import report


def main(arguments):
    """Print the report of a journal; 2 when it cannot be read."""
    try:
        entries = parse_journal(Path(arguments[0]).read_text())
    except ValueError as error:
        print(f"error: {error}")
        return 2
    print(report(entries, month=arguments[1] if len(arguments) > 1 else None), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
