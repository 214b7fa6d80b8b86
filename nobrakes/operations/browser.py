"""Opening a person's browser."""

from ..host.browser import open_address as open_address
from ..host.browser import open_page as open_page
