"""The options of a source about access: what it shows to servers that do not let everybody in."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from ultracrawl.sources.authentication_section import AuthenticationEntry, EntryName
from ultracrawl.sources.proxy_section import ProxySection
from ultracrawl.sources.section import Section


class AccessOptions(Section):
    """What `SourceOptions` has of options about access; none of them changes what becomes of a page."""

    authentication: Mapping[EntryName, AuthenticationEntry] = Field(
        default={},
        repr=False,
        description="Users and passwords of web servers, by names of your own.",
        examples=[
            {"staff": {"url": "https://www.example.com/staff/", "user": "crawler", "password": "${PW}"}}
        ],
    )
    proxy: ProxySection = Field(
        default=ProxySection(),
        repr=False,
        description="Through which proxies requests go.",
        examples=[{"servers": {"main": {"url": "http://proxy.example.com:3128"}}}],
    )
