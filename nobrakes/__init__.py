"""nobrakes: coding agents build software in your repository, unattended, and cannot break it."""

__version__ = "0.9.0"

NAME, EMAIL = "nobrakes", "nobrakes@nobrakes.invalid"
US = f"{NAME} <{EMAIL}>"
"""Whom nobrakes' own commits name."""
