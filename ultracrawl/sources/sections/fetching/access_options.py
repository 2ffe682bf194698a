"""The options of a source for access: authentication, logins, proxies, headers, cookies, certificates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from ultracrawl.sources.sections.fetching.authentication import AuthenticationEntry, EntryName, LoginEntry
from ultracrawl.sources.sections.fetching.proxy import ProxySection
from ultracrawl.sources.sections.fetching.request import (
    CertificateEntry,
    CookiesSection,
    HttpSection,
    RequestHeader,
    SiteHeadersEntry,
)
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import HeaderText


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

    @property
    def login_options(self) -> tuple[str, ...]:
        """The options in use by which requests carry secrets, or what was received for them."""
        named = ("logins", "authentication", "client_certificates", "site_headers")
        used = [name for name in named if getattr(self, name)]
        return (*used, *(["cookies.enabled"] if self.cookies.enabled else []))
