"""Everything that a source shows to servers which do not let everybody in, around any download handler."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ultracrawl.crawl.auth.authenticator import AskCredential, Authenticator
from ultracrawl.crawl.auth.cookie_jars import CookieJars
from ultracrawl.crawl.auth.form_login import FormLogin, cookie_group
from ultracrawl.crawl.auth.kept_session import KeptSession
from ultracrawl.crawl.auth.ntlm import ntlm_installed
from ultracrawl.crawl.auth.proxy_selector import ProxySelector
from ultracrawl.crawl.auth.site_headers import SiteCertificates, SiteHeaders
from ultracrawl.crawl.transport.libcurl import require_libcurl
from ultracrawl.crawl.transport.outgoing import BARE, Send
from ultracrawl.errors import MissingExtraError
from ultracrawl.rules.access.cipher import SessionCipher
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.sources.compilation.access import (
    compile_certificates,
    compile_credentials,
    compile_logins,
    compile_proxies,
    compile_site_headers,
    proxy_addresses,
)
from ultracrawl.sources.compilation.ftp import FtpAccess, compile_ftp
from ultracrawl.sources.secrets import SecretReader

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.rules.access.login import Login
    from ultracrawl.sources import DataSource


class Layer(Protocol):
    """One step between the crawl and the network; it sees each request on its way out and the answer on its way in."""

    async def fetch(self, request: Request, send: Send) -> Response:
        """Return the answer to a request; `send` is the next step."""


class AuthChain:
    """Holds the secrets of one crawl, and nobody else does. Raises `UserError` if one cannot be read."""

    def __init__(
        self,
        context: CrawlContext,
        last: Layer | None = None,
        *,
        lanes: bool = True,
        ask: AskCredential | None = None,
    ) -> None:
        """`last` sees each request as it goes out, with all that was added to it.

        `ask` gives passwords that are not written. `lanes` tells whether requests may have a connection of their own,
        which NTLM is about.
        """
        source, rules = context.source, context.rules
        secrets = SecretReader(os.environ, context.project.key_file)
        own = rules.trusted_urls
        self._proofs: list[Layer] = []
        """What says who asks, outermost first."""
        self._ways: list[Layer] = []
        """What every request passes on its way."""
        self.certificates = compile_certificates(source, own, secrets)
        """The client certificate of each https site, by host and port."""
        logins = compile_logins(source, secrets)
        lasting = frozenset(map(cookie_group, logins))
        jars = CookieJars(_groups(context, logins), source.cookies.session_age, lasting=lasting)
        if logins:
            kept = _kept_sessions(context, logins, secrets)
            self._proofs.append(FormLogin(logins, rules.headers, jars, context.run.note_problem, kept))
        if source.site_headers:
            self._proofs.append(SiteHeaders(compile_site_headers(source, secrets)))
        if logins or source.cookies.enabled:
            self._proofs.append(jars)
        if (
            any(entry.scheme in NTLM_SCHEMES for entry in source.authentication.values())
            and not ntlm_installed()
        ):
            raise MissingExtraError("authentication with NTLM", "ntlm")
        if source.authentication or ask is not None:
            book = compile_credentials(source, own, secrets)
            self._proofs.append(Authenticator(book, context.run.note_problem, lanes=lanes, ask=ask))
        if self.certificates:
            self._proofs.append(SiteCertificates(self.certificates))
        if any(url.startswith("https:") for url in proxy_addresses(source)):
            require_libcurl(f"source {source.name}: speaking TLS with a proxy")
        if source.proxy.servers:
            roster, bypass = compile_proxies(source, secrets)
            self._ways.append(ProxySelector(roster, bypass, rules.addresses))
        if last is not None:
            self._ways.append(last)

    def around(self, send: Send) -> Send:
        """Return a sender that goes through all that the source needs; `send` itself if that is nothing."""
        bare = self.around_bare(send)
        if not self._proofs:
            return bare
        proven = _through(self._proofs, bare)

        async def chosen(request: Request) -> Response:
            return await (bare if BARE in request.meta else proven)(request)

        return chosen

    def around_bare(self, send: Send) -> Send:
        """Return a sender that goes the way of all requests, and shows nothing that says who asks."""
        return _through(self._ways, send)


def _through(layers: Sequence[Layer], send: Send) -> Send:
    for layer in reversed(layers):
        send = partial(layer.fetch, send=send)
    return send


def _groups(context: CrawlContext, logins: Sequence[Login]) -> Callable[[str], str | None]:
    """Return what gives the group of a host whose hosts share cookies; None for hosts without cookies."""
    by_host: dict[str, str] = {}
    for login in logins:
        for host in login.own_hosts:
            by_host.setdefault(host, cookie_group(login))
    others = context.rules.grouping.of if context.source.cookies.enabled else None

    def group_of(host: str) -> str | None:
        return by_host.get(host) or (others(host) if others else None)

    return group_of


def _kept_sessions(
    context: CrawlContext, logins: Sequence[Login], secrets: SecretReader
) -> dict[str, KeptSession]:
    """Return the sessions that outlive the run, by the name of their login. Raises `UserError` without a key."""
    kept = [login for login in logins if login.keep_session]
    if not kept:
        return {}
    cipher = SessionCipher(secrets.read_key(f"logins.{kept[0].name}.keep_session"))
    return {login.name: KeptSession(lambda: context.sites, cipher, login, context.clock) for login in kept}


def ftp_access_of(source: DataSource, key_file: Path | None) -> FtpAccess:
    """Return how a source speaks to FTP servers; `key_file` is for encrypted passwords.

    Raises `UserError` if it is to and cannot.
    """
    if "ftp" not in source.boundary.schemes:
        return FtpAccess()
    require_libcurl(f"source {source.name}: crawling FTP servers")
    return compile_ftp(source, SecretReader(os.environ, key_file))
