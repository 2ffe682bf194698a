"""URL status codes: those of HTTP below 600, and the crawler's own (Ultra Search 14.1)."""

from __future__ import annotations

from enum import IntEnum

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that redirect to their Location (RFC 9110 15.4).

Not 300, which leaves the choice to the user, not 304, 305 and 306, nor undefined ones.
"""
_HTTP_STATUSES = range(100, 600)
"""What a server may send (RFC 9110 15); anything else could be mistaken for a code of the crawler."""


class StatusCode(IntEnum):
    """The crawler's own codes, and the HTTP statuses that it treats specially."""

    QUEUED = 0
    OK = 200
    NOT_MODIFIED = 304
    NOT_FOUND = 404
    PROXY_LOGIN = 407
    GONE = 410
    READ_TIMEOUT = 902
    CONVERSION_FAILED = 903
    OUT_OF_MEMORY = 904
    IO_ERROR = 905
    CONNECTION_REFUSED = 906
    BIND_ERROR = 907
    CONVERTER_MISSING = 908
    DUPLICATE_DETECTED = 909
    DUPLICATE_IGNORED = 910
    EMPTY = 911
    NOT_CRAWLED = 951
    CRAWLED = 952
    META_REDIRECT = 953
    HTTP_REDIRECT = 954
    BLACKLISTED = 955
    NOT_UNIQUE = 956
    SENTRY = 957
    READ_ERROR = 958
    LOGIN_FAILED = 959
    WRONG_TYPE = 1001
    BROKEN_STREAM = 1002
    NO_LOCATION = 1003
    BAD_RELATIVE_URL = 1004
    HTTP_FAILURE = 1005
    BAD_HEADER = 1006
    BAD_COLUMN = 1007
    NO_DRIVER = 1008
    BINARY_AS_TEXT = 1009
    BAD_DISPLAY_URL = 1010


_TEXTS: dict[int, str] = {
    0: "queued, not yet processed",
    200: "URL OK",
    304: "not modified",
    400: "bad request",
    401: "authorisation required",
    402: "payment required",
    403: "access forbidden",
    404: "not found",
    405: "method not allowed",
    406: "not acceptable",
    407: "proxy authentication required",
    408: "request timeout",
    409: "conflict",
    410: "gone",
    414: "request URI too large",
    429: "too many requests",
    500: "internal server error",
    501: "not implemented",
    502: "bad gateway",
    503: "service unavailable",
    504: "gateway timeout",
    505: "HTTP version not supported",
    902: "timeout reading document",
    903: "conversion failed",
    904: "out of memory",
    905: "I/O error while processing the URL",
    906: "connection refused",
    907: "socket bind error",
    908: "converter not available",
    909: "duplicate document detected",
    910: "duplicate document ignored",
    911: "empty document",
    951: "URL not crawled",
    952: "URL crawled, not yet indexed",
    953: "META-tag redirection",
    954: "HTTP redirection",
    955: "black-list URL",
    956: "URL is not unique",
    957: "sentry URL (a place holder)",
    958: "document read error",
    959: "log-in failed",
    1001: "data type is not accepted",
    1002: "broken network data stream",
    1003: "HTTP redirect location does not exist",
    1004: "bad relative URL",
    1005: "HTTP error",
    1006: "error parsing HTTP header",
    1007: "invalid URL column name",
    1008: "database driver not available",
    1009: "binary document reported as text document",
    1010: "invalid display URL",
}


def http_status(code: int) -> str:
    """Return a code as text if it is a status of HTTP; an empty text for the crawler's own codes."""
    return str(code) if code in _HTTP_STATUSES else ""


def recorded_status(status: int) -> int:
    """Return the code to record for an HTTP status: `HTTP_FAILURE` for one outside 100 to 599."""
    return status if status in _HTTP_STATUSES else StatusCode.HTTP_FAILURE


def http_status_text(status: int) -> str:
    """Return the text of an HTTP status; one outside 100 to 599 is not taken for a code of the crawler."""
    return status_text(status) if status in _HTTP_STATUSES else f"HTTP status {status}"


def status_text(code: int) -> str:
    """Return the text of a status code, `HTTP status <code>` for an unknown one."""
    return _TEXTS.get(code, f"HTTP status {code}")
