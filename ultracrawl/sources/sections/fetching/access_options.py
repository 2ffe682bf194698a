"""The options of a source for access: authentication, logins, proxies, headers, cookies, certificates."""

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.authentication import AuthenticationEntry, EntryName, LoginEntry
from ultracrawl.sources.sections.fetching.request import (
    CertificateEntry,
    CookiesSection,
    HttpSection,
    RequestHeader,
    SiteHeadersEntry,
)
from ultracrawl.sources.sections.scope.boundary import HostPatterns
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import HeaderText, Seconds

_ADDRESS = re.compile(r"https?://[A-Za-z0-9._-]+(:[0-9]{1,5})?/?|https?://\[[0-9a-fA-F:.]+\](:[0-9]{1,5})?/?")
_DEFAULT_PORT = re.compile(r":([0-9]+)$")


def _check_address(text: str) -> str:
    written = text.strip()
    address = written if "://" in written else f"http://{written}"
    if address.lower().startswith(("socks", "ftp")):
        raise mistake("only HTTP proxies are supported", "name one as `http://proxy.example.com:3128`")
    if not _ADDRESS.fullmatch(address):
        raise mistake(
            "this is not the address of a proxy",
            "write it as `http://proxy.example.com:3128`, with user and password as options of their own",
        )
    address = address.removesuffix("/")
    if port := _DEFAULT_PORT.search(address):
        if not 0 < int(port[1]) < 65_536:
            raise mistake(f"there is no port {port[1]}", "write the port of the proxy, from 1 to 65535")
        return address
    return address + (":80" if address.startswith("http:") else ":443")


ProxyAddress = Annotated[str, AfterValidator(_check_address)]


class ProxyServer(Section):
    """One proxy (FAST 5.1 D25, D26)."""

    url: ProxyAddress = Field(examples=["http://proxy.example.com:3128"])
    """The address of the proxy. The default port is 80. `https://` uses TLS to the proxy."""
    user: str = Field(default="", examples=["crawler"])
    """The user, if the proxy requires one (Basic)."""
    password: Secret | None = Field(default=None, examples=["${PROXY_PASSWORD}"])
    """The password of the user."""
    connections: int | None = Field(default=None, ge=1, examples=[20])
    """Maximum concurrent requests through the proxy. Further ones wait. None: no limit."""

    @model_validator(mode="after")
    def _has_both(self) -> Self:
        if bool(self.user) != (self.password is not None):
            raise mistake("user and password go together", "write both `user` and `password`, or neither")
        return self


class ProxySection(Section):
    """The proxies for all requests of a source, robots.txt and logins included."""

    servers: Mapping[EntryName, ProxyServer] = Field(
        default={}, examples=[{"main": {"url": "http://proxy.example.com:3128"}}]
    )
    """Proxies by names of your own, used in turn. None: direct connections."""
    bypass: HostPatterns = Field(default=(), examples=[[".intranet.example.com"]])
    """Hosts to connect to directly."""
    rest: Seconds = Field(default=60.0, examples=[300])
    """Seconds for which a failed proxy is not used while another one works."""


class AccessOptions(Section):
    """The part of `SourceOptions` for access; it does not affect documents."""

    FETCH_OPTIONS: ClassVar = frozenset({
        "authentication", "logins", "proxy", "headers", "site_headers", "cookies", "client_certificates", "http",
    })  # fmt: skip

    authentication: Mapping[EntryName, AuthenticationEntry] = Field(
        default={},
        repr=False,
        examples=[
            {"staff": {"url": "https://www.example.com/staff/", "user": "crawler", "password": "${PW}"}}
        ],
    )
    """Users and passwords of web servers, by names of your own."""
    logins: Mapping[EntryName, LoginEntry] = Field(
        default={},
        repr=False,
        examples=[
            {"members": {"page": "https://www.example.com/login", "fields": {"user": "u", "pw": "${PW}"}}}
        ],
    )
    """HTML login forms that are submitted before a site is crawled, by names of your own."""
    proxy: ProxySection = Field(
        default=ProxySection.by_default(),
        repr=False,
        examples=[{"servers": {"main": {"url": "http://proxy.example.com:3128"}}}],
    )
    """Through which proxies requests go."""
    headers: Mapping[RequestHeader, HeaderText] = Field(
        default={}, examples=[{"Accept-Language": "de, en;q=0.5"}]
    )
    """Headers of all requests to all servers."""
    site_headers: Mapping[EntryName, SiteHeadersEntry] = Field(
        default={},
        repr=False,
        examples=[{"api": {"url": "https://api.example.com/", "headers": {"X-Api-Key": "${API_KEY}"}}}],
    )
    """Headers of requests to certain URLs only, by names of your own."""
    cookies: CookiesSection = Field(default=CookiesSection.by_default(), examples=[{"enabled": True}])
    """Whether cookies are accepted and sent back."""
    client_certificates: Mapping[EntryName, CertificateEntry] = Field(
        default={},
        repr=False,
        examples=[{"staff": {"url": "https://www.example.com/", "certificate": "tls/client.pem"}}],
    )
    """Client certificates for https sites, by names of your own."""
    http: HttpSection = Field(default=HttpSection.by_default(), examples=[{"compression": False}])
    """The version of HTTP, and whether responses may be compressed."""
