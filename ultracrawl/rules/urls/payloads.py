"""Bodies that are sent by POST to some URLs (FAST 5.28)."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.rules.urls.canonical import UrlPolicy

PREFIX = "prefix:"
"""Begins the name of a body that is for all URLs which begin so."""


class Payloads:
    """Finds the body for a canonical URL: an exact URL wins, then the longest beginning.

    `bodies` are by URL or `prefix:` and the beginning of URLs, each brought into canonical form by `policy`;
    so the beginning `https://h` is `https://h/`, and no other host begins so. Raises ValueError for what is no URL.
    """

    def __init__(self, bodies: Mapping[str, str], policy: UrlPolicy) -> None:
        self._exact: dict[str, bytes] = {}
        prefixes: dict[str, bytes] = {}
        for name, body in bodies.items():
            where = prefixes if name.startswith(PREFIX) else self._exact
            url = policy.canonical(name.removeprefix(PREFIX).strip())
            if url is None or not url.startswith("http"):
                raise ValueError(f"{name!r} is no URL that a body can be sent to")
            where[url] = body.encode()
        self._prefixes = sorted(prefixes.items(), key=lambda one: -len(one[0]))

    def __bool__(self) -> bool:
        return bool(self._exact or self._prefixes)

    def of(self, url: str) -> bytes | None:
        """Return the body for a URL, None if it is asked for without one."""
        body = self._exact.get(url)
        if body is None and self._prefixes:
            body = next((one for prefix, one in self._prefixes if url.startswith(prefix)), None)
        return body
