"""Journals for spreadsheets."""

import csv
import io


def to_csv(entries):
    """The entries as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["day", "account", "number", "currency", "text"])
    for e in entries:
        writer.writerow([e.day.isoformat(), e.account, e.amount.number, e.amount.currency, e.text])
    return out.getvalue()
