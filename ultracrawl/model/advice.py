"""What to do about a cause: one sentence each, to be read after the sentence of the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.model.cause import Cause, CauseCode
from ultracrawl.model.status import StatusCode

if TYPE_CHECKING:
    from ultracrawl.model.record import UrlRecord

_IN_A_BROWSER = (
    "look at it in a browser: the server may want another `user_agent`, a cookie (`cookies`) or a log-in "
    "(`logins`)"
)
_ADDRESS = "check the address, and whether it opens in a browser"
_LATER = "nothing is deleted, and the next run tries again"
_SERVER_FAULT = f"the fault is the server's; {_LATER}"
_AT_WALL = "have its owner let your `user_agent` pass, or run scripts (`javascript`)"
_COOKIE_FIRST = "if the site sets a cookie first, write `cookies: {enabled: true}`, or log in (`logins`)"
_SLOWER = "ask it more slowly: raise `politeness.delay`"
_ADVICE: dict[CauseCode, str] = {
    CauseCode.REDIRECT: _COOKIE_FIRST,
    CauseCode.REDIRECT_REFUSED: _COOKIE_FIRST,
    CauseCode.REDIRECT_OUTSIDE: "to follow it, write its host into `boundary.domains`",
    CauseCode.ROBOTS: "for a site of your own write `robots: {obey: false}`",
    CauseCode.ROBOTS_UNKNOWN: f"without its robots.txt no page of a site is asked for; {_LATER}",
    CauseCode.NOINDEX: "for a site of your own write `robots: {meta: false}`",
    CauseCode.TYPE: "write its type into `types`",
    CauseCode.TYPE_NOT_CONVERTED: "write its type into `types`, and allow its conversion (`conversion`)",
    CauseCode.BINARY_AS_TEXT: "the server declares a wrong type for it; write the type that was found into `types`",
    CauseCode.WALL: f"log in (`logins`), {_AT_WALL}",
    CauseCode.EMPTY: _IN_A_BROWSER,
    CauseCode.NO_TEXT: _IN_A_BROWSER,
    CauseCode.NO_CONTENT: "compare `content.required` with the page",
    CauseCode.TIMEOUT: f"{_LATER}; if the server is always slow, raise `limits.timeout`",
    CauseCode.CONNECTION_REFUSED: "check that the server runs, and the port of the address",
    CauseCode.CONNECTION_BROKEN: f"{_LATER}; if it happens again, try `https://`, or open it in a browser",
    CauseCode.TLS_FAILED: "if the server has no TLS at this port, begin the address with `http://`",
    CauseCode.CERTIFICATE: "for a server of your own write its authority into `http.ca`",
    CauseCode.ANSWER_MALFORMED: "check the port: it may speak another protocol than HTTP",
    CauseCode.BODY_BROKEN: _LATER,
    CauseCode.HOST_UNKNOWN: "check the spelling of the host, and whether this machine resolves names",
    CauseCode.LOGIN_FAILED: "check user and password (`logins`, `authentication`); try them in a browser",
    CauseCode.PROXY_LOGIN: "check user and password of the proxy (`proxy`)",
    CauseCode.NOT_CONVERTED: f"see whether it opens in its own program; {_LATER}",
    CauseCode.TOO_LARGE: "raise `limits.max_size`",
    CauseCode.SCHEME: "begin the address with `http://` or `https://`",
    CauseCode.ADDRESS: "to allow a private address, write it into `boundary.networks`",
    CauseCode.IO_ERROR: _LATER,
    CauseCode.FTP_REPLY: _LATER,
}
_STATUS_ADVICE: dict[int, str] = {
    401: "give user and password (`authentication`), or log in by a form (`logins`)",
    403: "the server refuses this crawler: it may want a log-in (`authentication`, `logins`) or another `user_agent`",
    StatusCode.NOT_FOUND: _ADDRESS,
    StatusCode.GONE: _ADDRESS,
    StatusCode.PROXY_LOGIN: "check user and password of the proxy (`proxy`)",
    429: _SLOWER,
    503: f"{_SERVER_FAULT}; if it comes often, raise `politeness.delay`",
}


def advice_at_wall(*, has_logins: bool) -> str:
    """Return what to do about a wall; where there is a log-in, another one is no advice."""
    return _AT_WALL if has_logins else _ADVICE[CauseCode.WALL]


def advice_for(cause: Cause) -> str:
    """Return what to do about a cause; empty if nothing is to be done, or if its sentence says it."""
    if cause.code is CauseCode.STATUS:
        status = int(cause.subject)
        return _STATUS_ADVICE.get(status, _SERVER_FAULT if 500 <= status < 600 else "")
    code = CauseCode(cause.detail) if cause.code is CauseCode.ROBOTS_UNKNOWN and cause.detail else cause.code
    return _ADVICE.get(code, "")


def with_advice(problem: str, cause: Cause) -> str:
    """Return what has happened, and what to do about its cause, in one line."""
    return "; ".join(filter(None, (problem, advice_for(cause))))


def advice_for_record(record: UrlRecord) -> str:
    """Return what to do so that a URL gives a document; empty if it does, and if it only leads to another one."""
    return "" if record.indexed or record.redirects_to else advice_for(record.cause)
