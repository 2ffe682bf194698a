"""The path of an FTP URL as a server gets it; what could mean another place is not asked for."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

from scrapy.exceptions import IgnoreRequest

_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")


class FtpPathRefusedError(IgnoreRequest):
    """The path of a URL has parts that are no names; nothing is sent."""


def ftp_target(url: str) -> str:
    """Return the URL that libcurl gets for a canonical FTP URL. Raises `FtpPathRefusedError`.

    Each segment is one name below the directory of the login: an escaped slash would lead out of it, a line break
    would be another command. Empty segments are left out, and nothing is a parameter (`;type=`) or a query.
    """
    scheme, _, rest = url.partition("://")
    authority, _, path = rest.partition("/")
    segments = [unquote_to_bytes(part) for part in path.partition("#")[0].split("/")]
    names = [name for name in segments if name]
    for name in names:
        if name in (b".", b"..") or b"/" in name or _CONTROL.search(name):
            raise FtpPathRefusedError("the path holds an escaped slash, `..` or control characters")
    slash = "/" if names and not segments[-1] else ""
    return f"{scheme}://{authority}/{'/'.join(quote(name, safe='') for name in names)}{slash}"
