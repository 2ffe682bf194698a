"""Bodies of POST requests by URL (FAST 5.28)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ultracrawl.rules.urls.canonical import UrlPolicy

PREFIX = "prefix:"
"""Prefix of the name of a body for all URLs that begin with the rest of the name."""
WEB = frozenset({"http", "https"})
"""Schemes of URLs to which a body can be sent."""


class Payloads:
    """Finds the body for a canonical URL: an exact URL wins, then the longest prefix.

    The keys of `bodies` are URLs, or `prefix:` and a URL prefix, brought into canonical form by `policy`;
    so the prefix `https://h` is `https://h/` and matches no other host. A scheme that is not crawled is allowed: its
    bodies are never sent. Raises `ValueError` for an invalid URL.
    """

    def __init__(self, bodies: Mapping[str, str], policy: UrlPolicy) -> None:
        self._exact: dict[str, bytes] = {}
        prefixes: dict[str, bytes] = {}
        policy = replace(policy, schemes=WEB)
        for name, body in bodies.items():
            table = prefixes if name.startswith(PREFIX) else self._exact
            url = policy.canonical(name.removeprefix(PREFIX).strip())
            if url is None:
                raise ValueError(f"{name!r} is no URL that a body can be sent to")
            table[url] = body.encode()
        self._prefixes = sorted(prefixes.items(), key=lambda item: -len(item[0]))

    def __bool__(self) -> bool:
        return bool(self._exact or self._prefixes)

    def of(self, url: str) -> bytes | None:
        """Return the body for a URL, None if it is requested by GET."""
        body = self._exact.get(url)
        if body is None and self._prefixes:
            body = next((payload for prefix, payload in self._prefixes if url.startswith(prefix)), None)
        return body
