"""What types alone cannot say about the options of access: secrets that others can read, or infer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import SecretStr

from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.reading.tree import Path, PathFinding
from ultracrawl.sources.secrets import INSTEAD, stands_in_clear
from ultracrawl.sources.sections.fetching.request import SECRET_HEADERS

PASSWORD_FIELD = re.compile(r"pass|secret|pw|pin|token", re.IGNORECASE)
"""Names of form fields that are for secrets."""


def check_access(source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint for each secret that is written in clear text, or that eavesdroppers can infer."""
    for path, secret in _secrets(source):
        if stands_in_clear(secret):
            problem = "the secret stands here for everybody to read"
            yield PathFinding(path, problem, INSTEAD, False, FindingCode.SECRET_IN_CLEAR)
    for name, entry in source.authentication.items():
        if entry.scheme is Scheme.NTLM_V1:
            yield PathFinding(
                ("authentication", name, "scheme"),
                "from what version 1 of NTLM sends, anybody on the way can work the password out",
                "write `ntlm` for version 2, unless the server knows no other",
                fatal=False,
            )
    if source.proxy.servers and "ftp" in source.boundary.schemes:
        yield PathFinding(
            ("proxy", "servers"),
            "FTP servers are asked directly, not through a proxy",
            "take `ftp` out of `boundary.schemes` if that must not be",
            fatal=False,
        )


def _secrets(source: DataSource) -> Iterator[tuple[Path, SecretStr]]:
    for name, entry in source.authentication.items():
        yield ("authentication", name, "password"), entry.password
    for name, server in source.proxy.servers.items():
        if server.password is not None:
            yield ("proxy", "servers", name, "password"), server.password
    for name, pair in source.client_certificates.items():
        if pair.password is not None:
            yield ("client_certificates", name, "password"), pair.password
    for name, account in source.ftp.accounts.items():
        yield ("ftp", "accounts", name, "password"), account.password
    for name, login in source.logins.items():
        for field, value in login.fields.items():
            if PASSWORD_FIELD.search(field):
                yield ("logins", name, "fields", field), value
    for name, group in source.site_headers.items():
        for header, value in group.headers.items():
            if header.lower() in SECRET_HEADERS:
                yield ("site_headers", name, "headers", header), value
