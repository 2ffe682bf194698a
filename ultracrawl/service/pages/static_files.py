"""Static files of the pages: read once, compressed once, and cached by browsers until their content changes."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import Response

from ultracrawl.dataclass import dataclass

MEDIA_TYPES = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
"""The media types of static files by the end of their names; files with other names are not served."""
FOR_OTHER_SITES = frozenset({"box.js"})
"""Scripts that pages of other sites load."""
_YEAR, _HOUR = 365 * 86_400, 3600


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file with its version, which is a digest of its content."""

    body: bytes
    compressed: bytes
    media_type: str
    version: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Return the static files by name."""
    found = {}
    for entry in files(__package__).joinpath("static").iterdir():
        media_type = MEDIA_TYPES.get(f".{entry.name.rpartition('.')[2]}")
        if media_type is not None:
            body = entry.read_bytes()
            version = sha256(body).hexdigest()[:12]
            found[entry.name] = StaticFile(body, gzip.compress(body, mtime=0), media_type, version)
    return MappingProxyType(found)


def static_response(request: Request, name: str) -> Response:
    """Return a static file; one that is named with its version may be cached for a year. 404 for unknown names."""
    file = static_files().get(name)
    if file is None:
        return Response(status_code=404)
    is_versioned = request.query_params.get("v") == file.version
    headers = {
        "Cache-Control": f"public, max-age={_YEAR}, immutable" if is_versioned else "public, no-cache",
        "ETag": f'"{file.version}"',
        "Vary": "Accept-Encoding",
    }
    if name in FOR_OTHER_SITES:
        headers |= {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
        if not is_versioned:
            headers["Cache-Control"] = f"public, max-age={_HOUR}, stale-while-revalidate={_YEAR // 52}"
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    body = file.body
    if accepts_gzip(request):
        body, headers["Content-Encoding"] = file.compressed, "gzip"
    return Response(body, headers=headers, media_type=file.media_type)


def accepts_gzip(request: Request) -> bool:
    """Return whether the client accepts responses compressed by gzip."""
    offered = request.headers.get("accept-encoding", "")
    return any(part.split(";")[0].strip() == "gzip" for part in offered.split(","))
