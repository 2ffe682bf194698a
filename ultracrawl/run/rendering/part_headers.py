"""Which headers of a page's request for a part are sent: those that its scripts set, to its own site."""

from __future__ import annotations

from collections.abc import Mapping

ACCEPT_ANY = "*/*"
"""The `Accept` of a script's request that names nothing (Fetch, "main fetch"); a document is asked for as a page is."""
CREDENTIALS = "authorization"
"""A header that scripts may set, and that is not stored."""
_FOR_ALL_HOSTS = frozenset({"accept", "accept-language", "origin", "x-requested-with"})
_OF_THE_CONNECTION = frozenset(
    {
        "accept-charset",
        "accept-encoding",
        "cache-control",
        "connection",
        "content-length",
        "cookie",
        "date",
        "dnt",
        "expect",
        "host",
        "keep-alive",
        "pragma",
        "priority",
        "purpose",
        "range",
        "referer",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
        "x-client-data",
    }
)
"""What the crawl, or the browser, says of itself: mostly names that no script can set (Fetch, 2.2.2)."""
_OF_THE_CONNECTION_TOO = ("access-control-", "if-", "proxy-", "sec-")


def headers_of_scripts(written: Mapping[str, str], *, posts: bool = False) -> dict[str, str]:
    """Return the headers of a request of the browser that its scripts have set, by names in small letters."""
    own = {name.lower(): value for name, value in written.items()}
    return {
        name: value
        for name, value in own.items()
        if name not in _OF_THE_CONNECTION
        and not name.startswith(_OF_THE_CONNECTION_TOO)
        and (posts or name != "content-type")
    }


def sent_to_others(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those of the headers of scripts that another origin gets, too."""
    return {name: value for name, value in headers.items() if name in _FOR_ALL_HOSTS}
