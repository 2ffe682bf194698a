"""Cookies of one crawl in memory, by the rules of RFC 6265."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from http.cookiejar import Cookie, DefaultCookiePolicy
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response
from scrapy.http.cookies import CookieJar

from ultracrawl.rules.boundary.masks import parse_address
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.rules.urls.registrable import widest_own_domain
from ultracrawl.run.transport.outgoing import MORE_COOKIES, VISITOR, Send, send_with

MAX_COOKIE_LENGTH = 4096
"""Characters of name and value together (RFC 6265, 6.1)."""
MAX_COOKIES_PER_DOMAIN = 180
"""Further cookies of a domain are ignored."""
_PORT_BY_SCHEME = {"http": "80", "https": "443"}
_DEFAULT_PORTS = "80,443"
"""A site that changes from http to https is one server."""


class CookieJars:
    """One cookie jar for each group of hosts and each port; hosts without a group have no cookies.

    A host may set cookies for itself and, unless it is an address, for its parent domains down to the registrable
    one. Session cookies expire `session_age` seconds after they were set (FAST 5.1 I57), except those of `lasting`
    groups, which last as long as the run. RFC 6265 shares the cookies of a host among its ports; here only
    `across_ports` does, because another port may be another server.
    """

    def __init__(
        self,
        group_of: Callable[[str], str | None],
        session_age: float,
        clock: Callable[[], float] = time.time,
        lasting: Collection[str] = (),
        *,
        across_ports: bool = False,
    ) -> None:
        self._group_of = group_of
        self._lasting = lasting
        self._session_age = session_age
        self._clock = clock
        self._across_ports = across_ports
        self._jars: dict[str, dict[str, CookieJar]] = {}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with the cookies of its group, and store those of the response."""
        group = self._group_of(host_of(request.url))
        if group is None or VISITOR in request.meta:
            return await send(request)
        ports = self._ports_of(request.url)
        jar = self._jar(group, ports)
        cookies = _cookies_for(jar, request)
        response = await (send_with(request, send, {"Cookie": cookies}) if cookies else send(request))
        if "Set-Cookie" in response.headers:
            self._store(jar, request, response, ages=group not in self._lasting)
        return response

    def cookies(self, group: str) -> Iterator[Cookie]:
        """Yield the cookies of a group; their `port` is that of their jar."""
        for ports, jar in self._jars.get(group, {}).items():
            for cookie in jar:
                found = copy(cookie)
                found.port = ports or None
                yield found

    def adopt_cookies(self, group: str, cookies: Iterable[Cookie]) -> None:
        """Replace the cookies of a group by those that `cookies` once yielded."""
        self.forget(group)
        for cookie in cookies:
            ports = "" if self._across_ports else cookie.port or _DEFAULT_PORTS
            cookie.port = None
            self._jar(group, ports).set_cookie(cookie)

    def _ports_of(self, url: str) -> str:
        """Return the ports with which a URL shares its cookies; empty for all."""
        if self._across_ports:
            return ""
        parts = urlsplit(url)
        try:
            port = str(parts.port or "")
        except ValueError:
            port = ""
        return _DEFAULT_PORTS if port in ("", _PORT_BY_SCHEME.get(parts.scheme)) else port

    def _jar(self, group: str, ports: str) -> CookieJar:
        jars = self._jars.setdefault(group, {})
        if ports not in jars:
            # Otherwise Python sends cookies without a Domain attribute to subdomains, too.
            policy = DefaultCookiePolicy(strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain)
            jars[ports] = CookieJar(policy)
        return jars[ports]

    def forget(self, group: str) -> None:
        """Delete the cookies of a group."""
        self._jars.pop(group, None)

    def _store(self, jar: CookieJar, request: Request, response: Response, *, ages: bool) -> None:
        host = host_of(request.url)
        encrypted = request.url.startswith("https:")
        for cookie in self._acceptable(jar.make_cookies(_with_bytes(response), request), host):
            if not _satisfies_prefix(cookie, encrypted=encrypted):
                continue
            if cookie.expires is None and ages:
                cookie.expires = int(self._clock() + self._session_age)
            if _count(jar, cookie.domain) < MAX_COOKIES_PER_DOMAIN:
                jar.set_cookie_if_ok(cookie, request)

    @staticmethod
    def _acceptable(cookies: Iterable[Cookie], host: str) -> Iterable[Cookie]:
        own = (
            host if "." in host else f"{host}.local"
        )  # the domain that http.cookiejar gives to hosts without a dot
        for cookie in cookies:
            domain = cookie.domain.removeprefix(".")
            if domain != own and (parse_address(host) or domain not in _domains_of(host)):
                continue
            if len(cookie.name) + len(cookie.value or "") <= MAX_COOKIE_LENGTH:
                yield cookie


def _with_bytes(response: Response) -> Response:
    """Return a response whose cookies decode byte by byte, so that they are sent back unchanged."""
    lines = response.headers.getlist("Set-Cookie")
    if all(line.isascii() for line in lines):
        return response
    headers = response.headers.copy()
    headers["Set-Cookie"] = [line.decode("latin-1").encode() for line in lines]
    return response.replace(headers=headers)


def _satisfies_prefix(cookie: Cookie, *, encrypted: bool) -> bool:
    """Whether a cookie satisfies its name prefix (RFC 6265bis 4.1.3), and a secure one was not set over http."""
    name = cookie.name.lower()
    if cookie.secure and not encrypted:
        return False
    if name.startswith("__host-"):
        return cookie.secure and not cookie.domain_specified and cookie.path == "/"
    return cookie.secure or not name.startswith("__secure-")


def _cookies_for(jar: CookieJar, request: Request) -> bytes:
    """Return the Cookie header for a request; empty if it has one already or no cookie matches.

    The cookies of scripts (`MORE_COOKIES`) do not take the place of the others.
    """
    own = request.headers.get("Cookie")
    if (own is not None and MORE_COOKIES not in request.meta) or not jar._cookies:
        return b""
    copy = request.replace()
    copy.headers.pop("Cookie", None)
    jar.add_cookie_header(copy)
    found = (copy.headers.get("Cookie") or b"").decode().encode("latin-1", "replace")
    return b"; ".join(filter(None, (found, own)))


def _count(jar: CookieJar, domain: str) -> int:
    return sum(map(len, jar._cookies.get(domain, {}).values()))


def _domains_of(host: str) -> set[str]:
    """Return a host and its parent domains, down to the registrable one."""
    lowest = widest_own_domain(host)
    labels = host.split(".")
    above = {".".join(labels[start:]) for start in range(len(labels))}
    return {name for name in above if name == lowest or name.endswith(f".{lowest}")}
