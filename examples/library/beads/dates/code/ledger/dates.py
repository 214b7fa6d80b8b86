"""Dates as they stand in a journal: ISO, nothing else."""

from datetime import date


def parse_date(text):
    """The date in a text like "2026-02-28"; ValueError when it is none."""
    return date.fromisoformat(text)


def month_of(day):
    """The month of a day, like "2026-02"."""
    return f"{day.year:04}-{day.month:02}"
