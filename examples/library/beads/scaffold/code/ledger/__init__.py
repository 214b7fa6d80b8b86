"""Plain-text bookkeeping: amounts, entries, journals and reports."""

__version__ = "0.1"
