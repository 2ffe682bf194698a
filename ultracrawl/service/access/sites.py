"""The sites of a public key: their origins, as browsers send them."""

from __future__ import annotations

from ada_url import URL

from ultracrawl.service.access.refusals import Refusal, RefusedError

_SCHEMES = frozenset({"http:", "https:"})


def origin_of(site: str) -> str:
    """Return the origin of a site as browsers write it in `Origin` (RFC 6454): scheme, host, port if not the usual one.

    Raises `RefusedError` for what is no site, or more than one: a path, a query, a user, a wildcard.
    """
    example = "write scheme and host alone, as https://docs.example.com"
    if not site.isprintable() or " " in site or "*" in site:
        raise RefusedError(Refusal.SITE, f"--site {site!r} is no site; {example}")
    try:
        url = URL(site)
    except ValueError:
        raise RefusedError(Refusal.SITE, f"--site {site} is no site; {example}") from None
    if url.protocol not in _SCHEMES or not url.hostname:
        raise RefusedError(Refusal.SITE, f"--site {site} is no site of http or https; {example}")
    if url.username or url.password or url.search or url.hash or "?" in site or "#" in site:
        raise RefusedError(Refusal.SITE, f"--site {site} has more than scheme, host and port; {example}")
    if url.pathname != "/":
        problem = f"--site {site} has a path, and a key is for all pages of a site; write {url.origin}"
        raise RefusedError(Refusal.SITE, problem)
    return str(url.origin)
