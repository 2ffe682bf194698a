"""Compiles the `ftp` section. Reads the secrets in it."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.urls.canonical import host_of, path_of
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class FtpAccount:
    """A user and a password for the URLs of a host (on any port) whose path begins with `path`."""

    host: str
    path: str
    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class FtpAccess:
    """The mode of data connections and the accounts for FTP servers."""

    passive: bool = True
    email: str = "anonymous@example.com"
    accounts: tuple[FtpAccount, ...] = field(default=(), repr=False)

    def login(self, url: str) -> tuple[str, str]:
        """Return user and password for a canonical URL; anonymous if no account matches."""
        host, path = host_of(url), path_of(url)
        matching = [
            account for account in self.accounts if account.host == host and path.startswith(account.path)
        ]
        if not matching:
            return ANONYMOUS, self.email
        account = max(matching, key=lambda account: len(account.path))
        return account.user, account.password


def compile_ftp(source: DataSource, secrets: SecretReader) -> FtpAccess:
    """Return the FTP access of a source. Raises `UserError` for a secret that cannot be read."""
    section = source.ftp
    accounts = (
        FtpAccount(
            entry.host, entry.path, entry.user, secrets.read(entry.password, f"ftp.accounts.{name}.password")
        )
        for name, entry in section.accounts.items()
    )
    return FtpAccess(section.passive, section.email, tuple(accounts))
