"""Parser for the `srcset` attribute (HTML Standard, "parse a srcset attribute")."""

from __future__ import annotations

import re

_SKIP = re.compile(r"[ \t\n\f\r,]*")
_URL = re.compile(r"[^ \t\n\f\r]+")
_DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]*(?:\)|$))*")


def parse_srcset(value: str) -> list[str]:
    """Return the URLs of all image candidates, in order, as written.

    Descriptors (`2x`, `480w`) are ignored, because a crawler needs all candidates; an invalid one does not invalidate
    its URL.
    """
    urls: list[str] = []
    position = 0
    while True:
        skipped = _SKIP.match(value, position)
        match = _URL.match(value, skipped.end() if skipped else position)
        if match is None:
            return urls
        url, position = match[0], match.end()
        urls.append(url.rstrip(","))
        if not url.endswith(",") and (rest := _DESCRIPTORS.match(value, position)):
            position = rest.end()
