"""What to do about a cause: one sentence each, to be read after the sentence of the cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.model.cause import Cause, CauseCode
from ultracrawl.model.status import StatusCode

if TYPE_CHECKING:
    from ultracrawl.model.record import UrlRecord

SCRIPTS = "scripts"
"""The subject of the cause of a page that has no text because its scripts have not run."""
_IN_A_BROWSER = (
    "look at it in a browser: the server may want another `user_agent`, a cookie (`cookies`) or a log-in "
    "(`logins`)"
)
_ADDRESS = "check the address, and whether it opens in a browser"
_LATER = "nothing is deleted, and the next run tries again"
_SERVER_FAULT = "the fault is the server's"
_USER = "`authentication: {s: {url: URL, user: USER, password: '${PASSWORD}'}}`"
_NAME = "`user_agent: mybot/1.0`"
_AT_WALL = "have its owner let your `user_agent` pass, or run its scripts: `javascript: {use: true}`"
_COOKIE_FIRST = "if the site sets a cookie first, write `cookies: {enabled: true}`, or log in (`logins`)"
_RUN_SCRIPTS = "to run them, write `javascript: auto`"
_SLOWER = "ask it more slowly: `politeness: {delay: 5}`, or `ultracrawl crawl URL --delay 5`"
_TYPES = "write `types: [text/html, text/plain, application/xhtml+xml, documents, {type}]`"
_ADVICE: dict[CauseCode, str] = {
    CauseCode.REDIRECT: _COOKIE_FIRST,
    CauseCode.REDIRECT_REFUSED: _COOKIE_FIRST,
    CauseCode.REDIRECT_OUTSIDE: "to follow it, write its host into `boundary.domains`",
    CauseCode.ROBOTS: "for a site of your own write `robots: {obey: false}`",
    CauseCode.ROBOTS_UNKNOWN: "without its robots.txt no page of a site is asked for",
    CauseCode.NOINDEX: "for a site of your own write `robots: {meta: false}`",
    CauseCode.TYPE: _TYPES,
    CauseCode.TYPE_NOT_CONVERTED: f"{_TYPES}, and allow its conversion (`conversion`)",
    CauseCode.BINARY_AS_TEXT: "the server declares a wrong type for it; write the type that was found into `types`",
    CauseCode.WALL: f"log in (`logins`), {_AT_WALL}",
    CauseCode.EMPTY: _IN_A_BROWSER,
    CauseCode.NO_TEXT: _IN_A_BROWSER,
    CauseCode.NO_CONTENT: "compare `content.required` with the page",
    CauseCode.TIMEOUT: "if the server is always slow, raise `limits.timeout`",
    CauseCode.CONNECTION_REFUSED: "check that the server runs, and the port of the address",
    CauseCode.CONNECTION_BROKEN: "if it happens again, try `https://`, or open it in a browser",
    CauseCode.TLS_FAILED: "if the server has no TLS at this port, begin the address with `http://`",
    CauseCode.CERTIFICATE: "for a server of your own name the file of its authority: `http: {ca: /path/ca.pem}`",
    CauseCode.ANSWER_MALFORMED: "check the port: it may speak another protocol than HTTP",
    CauseCode.HOST_UNKNOWN: "check the spelling of the host, and whether this machine resolves names",
    CauseCode.LOGIN_FAILED: "check user and password (`logins`, `authentication`); try them in a browser",
    CauseCode.PROXY_LOGIN: "check user and password of the proxy (`proxy`)",
    CauseCode.PROXY_UNREACHABLE: "check that the proxy runs, and its address in `proxy`",
    CauseCode.NOT_CONVERTED: "see whether it opens in its own program",
    CauseCode.TOO_LARGE: "raise `limits.max_size`",
    CauseCode.SCHEME: "begin the address with `http://` or `https://`",
    CauseCode.ADDRESS: "to allow a private address, write it into `boundary.networks`",
}
_TRIED_AGAIN = frozenset(
    {
        CauseCode.ROBOTS_UNKNOWN,
        CauseCode.TIMEOUT,
        CauseCode.CONNECTION_BROKEN,
        CauseCode.BODY_BROKEN,
        CauseCode.NOT_CONVERTED,
        CauseCode.IO_ERROR,
        CauseCode.FTP_REPLY,
    }
)
"""Causes that may be over when the next run comes."""
_STATUS_ADVICE: dict[int, str] = {
    401: f"give user and password: {_USER}; or log in by a form (`logins`)",
    403: f"the server refuses this crawler: it may want another name, {_NAME}, or a log-in, {_USER}",
    StatusCode.NOT_FOUND: _ADDRESS,
    StatusCode.GONE: _ADDRESS,
    StatusCode.PROXY_LOGIN: "check user and password of the proxy (`proxy`)",
    429: _SLOWER,
    503: f"{_SERVER_FAULT}; if it comes often, raise `politeness.delay`",
}


def advice_at_wall(*, has_logins: bool, lacks: str = "") -> str:
    """Return what to do about a wall; where there is a log-in, another one is no advice.

    `lacks` is what to install before scripts can be run.
    """
    return _with_browser(_AT_WALL if has_logins else _ADVICE[CauseCode.WALL], lacks)


def advice_on_scripts(lacks: str) -> str:
    """Return what to do about a page that its scripts write; `lacks` is what to install before they can be run."""
    return _with_browser(_RUN_SCRIPTS, lacks)


def _with_browser(advice: str, lacks: str) -> str:
    return f"{advice}; the browser is missing: {lacks}" if lacks else advice


def advice_for(cause: Cause, *, in_run: bool = True) -> str:
    """Return what to do about a cause; empty if nothing is to be done, or if its sentence says it.

    What the next run does is only said of a run.
    """
    if cause.code is CauseCode.STATUS:
        status = int(cause.subject)
        is_tried_again = 500 <= status < 600
        advice = _STATUS_ADVICE.get(status, _SERVER_FAULT if is_tried_again else "")
    else:
        of_robots = cause.code is CauseCode.ROBOTS_UNKNOWN and cause.detail
        code = CauseCode(cause.detail) if of_robots else cause.code
        is_tried_again = code in _TRIED_AGAIN
        if cause.subject == SCRIPTS:
            return _RUN_SCRIPTS
        advice = _ADVICE.get(code, "").replace("{type}", cause.subject)
    return "; ".join(filter(None, (_LATER if in_run and is_tried_again else "", advice)))


def with_advice(problem: str, cause: Cause, *, in_run: bool = True) -> str:
    """Return what has happened, and what to do about its cause, in one line."""
    return "; ".join(filter(None, (problem, advice_for(cause, in_run=in_run))))


def advice_for_record(record: UrlRecord) -> str:
    """Return what to do so that a URL gives a document; empty if it does, and if it only leads to another one."""
    return "" if record.indexed or record.redirects_to else advice_for(record.cause)
