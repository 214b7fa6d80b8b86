"""Beads in the database: every statement that writes or reads them."""
