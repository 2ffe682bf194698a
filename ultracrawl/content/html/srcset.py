"""The image candidates of a `srcset` attribute (HTML Standard, "parse a srcset attribute")."""

from __future__ import annotations

import re

_SKIP = re.compile(r"[ \t\n\f\r,]*")
_URL = re.compile(r"[^ \t\n\f\r]+")
_DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]*(?:\)|$))*")


def parse_srcset(value: str) -> list[str]:
    """Return the URLs of all candidates, in order, as written.

    Descriptors (`2x`, `480w`) are passed over unread: a browser uses them to choose one image, a crawler
    wants all, and a mistake in a descriptor does not make the URL a wrong one.
    """
    urls: list[str] = []
    position = 0
    while True:
        skipped = _SKIP.match(value, position)
        found = _URL.match(value, skipped.end() if skipped else position)
        if found is None:
            return urls
        url, position = found[0], found.end()
        urls.append(url.rstrip(","))
        if not url.endswith(",") and (rest := _DESCRIPTORS.match(value, position)):
            position = rest.end()
