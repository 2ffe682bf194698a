"""The `ftp` section of a source: connections, accounts, links in documents."""

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
    """A user and a password, and the URLs they are for (FAST 5.20)."""

    host: HostName = Field(examples=["ftp.example.com"])
    """The only host to which user and password are sent, on any port."""
    path: UrlPath = Field(default="/", examples=["/private/"])
    """Use the account only for URLs with this path prefix. Of several matching accounts, the one with the longest
    path applies."""
    user: User = Field(examples=["mirror"])
    """The user."""
    password: Secret = Field(examples=["${FTP_PASSWORD}"])
    """The password: `${NAME}` of the environment, `file:PATH`, encrypted, or as it is."""


class FtpSection(Section):
    """Connections to FTP servers. `ftp` must be in `boundary.schemes`."""

    FETCH_OPTIONS: ClassVar = frozenset({"passive", "email", "accounts"})

    passive: bool = Field(default=True, examples=[False])
    """Passive mode: the crawler opens data connections. If off, the server opens them."""
    search_links: bool = Field(default=True, examples=[False])
    """Follow links in documents of FTP servers. Directories are always followed."""
    email: Email = Field(default="anonymous@example.com", examples=["crawler@example.com"])
    """The password of anonymous logins: an address at which server owners can reach you."""
    accounts: Mapping[EntryName, FtpAccountEntry] = Field(
        default={},
        repr=False,
        examples=[{"mirror": {"host": "ftp.example.com", "user": "mirror", "password": "${FTP_PASSWORD}"}}],
    )
    """Users and passwords, by names of your own. Without a matching one the login is anonymous."""
