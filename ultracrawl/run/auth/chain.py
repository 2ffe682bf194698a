"""The chain of authentication and proxy layers around a download handler."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ultracrawl.errors import MissingExtraError
from ultracrawl.rules.access.cipher import SessionCipher
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.run import auth
from ultracrawl.run.auth.access_watch import NEGOTIATING, AccessWatch
from ultracrawl.run.auth.authenticator import AskCredential, Authenticator
from ultracrawl.run.auth.cookie_jars import CookieJars
from ultracrawl.run.auth.first_page import FirstPage, LetInMemory
from ultracrawl.run.auth.ntlm import ntlm_installed
from ultracrawl.run.auth.proxy_selector import ProxySelector
from ultracrawl.run.auth.site_headers import SiteCertificates, SiteHeaders
from ultracrawl.run.transport.libcurl import require_libcurl
from ultracrawl.run.transport.outgoing import ANONYMOUS, Send
from ultracrawl.run.transport.own_redirects import OwnRedirects
from ultracrawl.sources.compilation.access import (
    compile_certificates,
    compile_credentials,
    compile_logins,
    compile_proxies,
    compile_site_headers,
    proxy_addresses,
    sites_of,
)
from ultracrawl.sources.compilation.ftp import FtpAccess, compile_ftp
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.stores.project_stores import source_notes

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.rules.access.login import Login
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.sources import DataSource
    from ultracrawl.stores.port.notes import Notes


class Layer(Protocol):
    """One step between the crawl and the network, which may change requests and responses."""

    async def fetch(self, request: Request, send: Send) -> Response:
        """Return the response to a request; `send` is the next layer."""


class AuthChain:
    """Holds all secrets of one crawl. Raises `UserError` if one cannot be read."""

    def __init__(
        self,
        context: CrawlContext,
        last: Layer | None = None,
        *,
        lanes: bool = True,
        ask: AskCredential | None = None,
    ) -> None:
        """`last` is the innermost layer; it sees requests with everything that was added.

        `ask` returns credentials that are not configured. `lanes`: whether connections can be reserved for one user,
        which NTLM requires.
        """
        source, rules = context.source, context.rules
        secrets = SecretReader(os.environ, context.project.key_file)
        own = rules.trusted_urls
        policy = rules.url_policy
        self._auth_layers: list[Layer] = [OwnRedirects(policy)] if policy.normalises else []
        """Layers that identify the crawler, outermost first."""
        self._network_layers: list[Layer] = []
        """Layers that every request passes."""
        self.certificates = compile_certificates(source, own, secrets)
        """The client certificate of each https site, by host and port."""
        logins = compile_logins(source, secrets)
        jars = _cookie_jars(context, logins)
        note = context.run.note_problem
        memory = LetInMemory(partial(_notes, context), note, context.clock, partial(_has_documents, context))
        if logins:
            kept = _kept_sessions(context, logins, secrets)

            def open_session(login: Login) -> auth.LoginSession:
                first = FirstPage(memory, f"logins.{login.name}", rules.headers, login.covers)
                return auth.LoginSession(login, jars, note, first, kept=kept.get(login.name))

            self._auth_layers.append(auth.FormLogin(logins, open_session))
        watched = [] if context.run.inspection else [*_watched(source, rules.trusted_urls, logins)]
        if watched:
            self._auth_layers.append(AccessWatch(watched, rules.headers, memory, note))
        if source.site_headers:
            self._auth_layers.append(SiteHeaders(compile_site_headers(source, secrets)))
        if logins or source.cookies.enabled:
            self._auth_layers.append(jars)
        schemes = {entry.scheme for _, entry in source.password_entries}
        uses_ntlm = not NTLM_SCHEMES.isdisjoint(schemes)
        if uses_ntlm and not ntlm_installed():
            raise MissingExtraError("authentication with NTLM", "ntlm")
        if schemes or ask is not None:
            credentials = compile_credentials(source, own, secrets)
            self._auth_layers.append(Authenticator(credentials, note, lanes=lanes, ask=ask))
        if self.certificates:
            self._auth_layers.append(SiteCertificates(self.certificates))
        if any(url.startswith("https:") for url in proxy_addresses(source)):
            require_libcurl(f"source {source.name}: speaking TLS with a proxy")
        if source.proxy.servers:
            pool, bypass = compile_proxies(source, secrets)
            self._network_layers.append(ProxySelector(pool, bypass, rules.addresses))
        if last is not None:
            self._network_layers.append(last)

    def around(self, send: Send) -> Send:
        """Return `send` wrapped in all layers; `send` itself if there are none."""
        bare = _wrap(self._network_layers, send)
        if not self._auth_layers:
            return bare
        authenticated = _wrap(self._auth_layers, bare)

        async def send_request(request: Request) -> Response:
            return await (bare if ANONYMOUS in request.meta else authenticated)(request)

        return send_request


def _wrap(layers: Sequence[Layer], send: Send) -> Send:
    for layer in reversed(layers):
        send = partial(layer.fetch, send=send)
    return send


def _notes(context: CrawlContext) -> Notes | None:
    inspects = context.run.inspection or context.run.replay
    return None if inspects else source_notes(context.project, context.source.name)


def _has_documents(context: CrawlContext) -> bool:
    return context.store.records.count_urls().documents > 0


def _watched(
    source: DataSource, own: Iterable[str], logins: Sequence[Login]
) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Yield the headers and certificates that may let the crawl in, each with the URLs for which it is used.

    Those of a log-in are left to it: it renews a session whose pages look as to visitors.
    """

    def beside_logins(covers: Callable[[str], bool]) -> Callable[[str], bool]:
        return lambda url: covers(url) and not any(login.covers(url) for login in logins)

    for name, headers in source.site_headers.items():
        if not all(header.lower().startswith(NEGOTIATING) for header in headers.headers):
            yield f"site_headers.{name}", beside_logins(UrlPrefix.parse(headers.url).covers)
    for name, entry in source.client_certificates.items():
        sites = (UrlPrefix.parse(entry.url).site,) if entry.url else tuple(sites_of(own))
        yield f"client_certificates.{name}", beside_logins(partial(_covers, sites))


def _covers(sites: Sequence[UrlPrefix], url: str) -> bool:
    return any(site.scheme == "https" and site.covers(url) for site in sites)


def _cookie_jars(context: CrawlContext, logins: Sequence[Login]) -> CookieJars:
    options = context.source.cookies
    lasting = frozenset(auth.cookie_group(login) for login in logins)
    groups = _groups(context, logins)
    return CookieJars(groups, options.session_age, lasting=lasting, across_ports=options.across_ports)


def _groups(context: CrawlContext, logins: Sequence[Login]) -> Callable[[str], str | None]:
    """Return a function from host to the group of hosts with which it shares cookies; None: it has no cookies."""
    by_host: dict[str, str] = {}
    for login in logins:
        for host in login.own_hosts:
            by_host.setdefault(host, auth.cookie_group(login))
    others = context.rules.grouping.of if context.source.cookies.enabled else None

    def group_of(host: str) -> str | None:
        return by_host.get(host) or (others(host) if others else None)

    return group_of


def _kept_sessions(
    context: CrawlContext, logins: Sequence[Login], secrets: SecretReader
) -> dict[str, auth.KeptSession]:
    """Return the sessions to keep for later runs, by login name. Raises `UserError` without a key."""
    kept = [login for login in logins if login.keep_session]
    if not kept:
        return {}
    cipher = SessionCipher(secrets.read_key(f"logins.{kept[0].name}.keep_session"))
    return {
        login.name: auth.KeptSession(lambda: context.sites, cipher, login, context.clock) for login in kept
    }


def ftp_access_of(source: DataSource, key_file: Path | None) -> FtpAccess:
    """Return options and passwords for FTP servers; `key_file` decrypts passwords.

    Raises `UserError` if the source crawls FTP servers but libcurl is missing.
    """
    if "ftp" not in source.boundary.schemes:
        return FtpAccess()
    require_libcurl(f"source {source.name}: crawling FTP servers")
    return compile_ftp(source, SecretReader(os.environ, key_file))
