"""Opening a person's browser."""

from ..host.browser import open_page as open_page
