"""From the `ftp` section to what a crawl asks; secrets are read here, when a crawl begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from ultracrawl.rules.urls.canonical import host_of, path_of
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class FtpAccount:
    """A user and a password for the URLs of a host (any port) whose path begins with `path`."""

    host: str
    path: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class FtpAccess:
    """How FTP servers are spoken to, and who we are there."""

    passive: bool = True
    email: str = "anonymous@example.com"
    accounts: tuple[FtpAccount, ...] = field(default=(), repr=False)

    def login(self, url: str) -> tuple[str, str]:
        """Return user and password for a canonical URL; anonymous where no account fits."""
        host, path = host_of(url), path_of(url)
        fitting = [one for one in self.accounts if one.host == host and path.startswith(one.path)]
        if not fitting:
            return ANONYMOUS, self.email
        account = max(fitting, key=lambda one: len(one.path))
        return account.user, account.password


def compile_ftp(source: DataSource, secrets: SecretReader) -> FtpAccess:
    """Return how a source speaks to FTP servers. Raises `UserError` for a secret that cannot be read."""
    section = source.ftp
    accounts = (
        FtpAccount(
            entry.host, entry.path, entry.user, secrets.read(entry.password, f"ftp.accounts.{name}.password")
        )
        for name, entry in section.accounts.items()
    )
    return FtpAccess(section.passive, section.email, tuple(accounts))
