"""With and without a sandbox: a test that is marked so runs in both, where bubblewrap works."""

import os
import sys

import pytest

from nobrakes.host.versions import probing_trouble
from nobrakes.sandbox import system_paths

TROUBLE = system_paths.platform_trouble() or probing_trouble(system_paths.argv(os.getcwd(), os.environ))
needs_sandbox = pytest.mark.skipif(bool(TROUBLE) or sys.platform != "linux", reason=f"no sandbox here: {TROUBLE}")
in_sandbox = pytest.param("bubblewrap", marks=needs_sandbox)
in_both = pytest.mark.parametrize("sandbox", ["none", in_sandbox])
