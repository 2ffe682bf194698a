"""The `ftp` section of a source: accounts, connections, and what is done with documents of FTP servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from ultracrawl.sources.mistakes import must_match
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.fetching.authentication import EntryName
from ultracrawl.sources.sections.scope.sites import HostName
from ultracrawl.sources.sections.section import Section

User = Annotated[
    str,
    must_match(r"[^\x00-\x20\x7f]+", "is no user of an FTP server", "write the name without blanks"),
]
UrlPath = Annotated[
    str, must_match(r"(?s)/.*", "is no path", "write it with a slash in front, as `/private/`")
]
Email = Annotated[
    str,
    must_match(
        r"[^\s@\x00-\x1f]+@[^\s@\x00-\x1f]+",
        "is no e-mail address",
        "write for example `crawler@example.com`",
    ),
]


class FtpAccountEntry(Section):
    """A user and a password, and where they are sent (FAST 5.20)."""

    host: HostName = Field(examples=["ftp.example.com"])
    """The host that they are sent to, on any port, and to no other."""
    path: UrlPath = Field(default="/", examples=["/private/"])
    """Use them only for URLs whose path begins so; of accounts that fit, the longest path wins."""
    user: User = Field(examples=["mirror"])
    """The user."""
    password: Secret = Field(examples=["${FTP_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""


class FtpSection(Section):
    """How FTP servers are spoken to; `ftp` has to stand among the schemes of the boundary."""

    FETCH_OPTIONS: ClassVar = frozenset({"passive", "email", "accounts"})

    passive: bool = Field(default=True, examples=[False])
    """Open connections for data from here; if not, the server opens them."""
    search_links: bool = Field(default=True, examples=[False])
    """Follow the links in documents of FTP servers; directories are always followed."""
    email: Email = Field(default="anonymous@example.com", examples=["crawler@example.com"])
    """The password of anonymous logins: an address where server owners can reach you."""
    accounts: Mapping[EntryName, FtpAccountEntry] = Field(
        default={},
        repr=False,
        examples=[{"mirror": {"host": "ftp.example.com", "user": "mirror", "password": "${FTP_PASSWORD}"}}],
    )
    """Users and passwords, by names of your own; elsewhere the login is anonymous."""
