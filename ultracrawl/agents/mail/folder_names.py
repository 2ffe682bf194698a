"""Names of folders in the modified UTF-7 of IMAP (RFC 3501, 5.1.3)."""

from __future__ import annotations

import re
from base64 import b64encode

_ENCODED = re.compile(r"[^\x20-\x7e]+")


def encode_folder(name: str) -> str:
    """Return the name of a folder as servers expect it: ASCII, with UTF-16 in base64 for other characters."""
    return _ENCODED.sub(lambda found: f"&{_encode(found[0])}-", name.replace("&", "&-"))


def _encode(text: str) -> str:
    return b64encode(text.encode("utf-16-be")).decode().rstrip("=").replace("/", ",")
