"""The site's own files: scripts, the style, the icon. Names are looked up in a list; no path comes from outside."""

import os
from functools import cache

from starlette.requests import Request
from starlette.responses import Response

from .rendering import STATIC, version

KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".webmanifest": "application/json"}
_YEAR = "public, max-age=31536000, immutable"


@cache
def files() -> dict[str, bytes]:
    """Every file by its name."""
    found = {}
    for name in os.listdir(STATIC):
        if os.path.splitext(name)[1] in KINDS:
            with open(os.path.join(STATIC, name), "rb") as file:
                found[name] = file.read()
    return found


@cache
def _packed(name: str) -> bytes:
    import gzip

    return gzip.compress(files()[name], mtime=0)


async def static(request: Request) -> Response:
    """One file, for ever: the address has the version of all of them."""
    name = request.path_params["name"]
    if name not in files():
        return Response("there is no such file\n", 404, media_type="text/plain")
    # a page of an older version asks by its old address, and is told not to keep what it gets
    keep = _YEAR if request.path_params["version"] == version() else "no-cache"
    headers = {"cache-control": keep, "vary": "accept-encoding"}
    kind = KINDS[os.path.splitext(name)[1]]
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(_packed(name), headers={**headers, "content-encoding": "gzip"}, media_type=kind)
    return Response(files()[name], headers=headers, media_type=kind)
