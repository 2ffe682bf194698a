"""The options of a source about access: what it shows to servers that do not let everybody in."""

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
    """What `SourceOptions` has of options about access; none of them changes what becomes of a page."""

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
    """HTML forms that are filled in before a site is crawled, by names of your own."""
    proxy: ProxySection = Field(
        default=ProxySection.by_default(),
        repr=False,
        examples=[{"servers": {"main": {"url": "http://proxy.example.com:3128"}}}],
    )
    """Through which proxies requests go."""
    headers: Mapping[RequestHeader, HeaderText] = Field(
        default={}, examples=[{"Accept-Language": "de, en;q=0.5"}]
    )
    """Headers that every request has, to whatever server it goes."""
    site_headers: Mapping[EntryName, SiteHeadersEntry] = Field(
        default={},
        repr=False,
        examples=[{"api": {"url": "https://api.example.com/", "headers": {"X-Api-Key": "${API_KEY}"}}}],
    )
    """Headers that only a part of the web gets, by names of your own."""
    cookies: CookiesSection = Field(default=CookiesSection.by_default(), examples=[{"enabled": True}])
    """Whether cookies are taken and sent back."""
    client_certificates: Mapping[EntryName, CertificateEntry] = Field(
        default={},
        repr=False,
        examples=[{"staff": {"url": "https://www.example.com/", "certificate": "tls/client.pem"}}],
    )
    """Certificates that prove to https sites who asks, by names of your own."""
    http: HttpSection = Field(default=HttpSection.by_default(), examples=[{"compression": False}])
    """The version of HTTP, and whether answers may be compressed."""
