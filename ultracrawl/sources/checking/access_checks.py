"""What types alone cannot say about the options of access: secrets that others can read, or infer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import SecretStr

from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.access.credentials import Scheme
from ultracrawl.sources.checking.written_values import written_values
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.reading.tree import OptionPath, PathFinding
from ultracrawl.sources.secrets import INSTEAD, is_clear_text
from ultracrawl.sources.sections.fetching.request import SECRET_HEADERS

PASSWORD_FIELD = re.compile(r"pass|secret|pw|pin|token", re.IGNORECASE)
"""Names of form fields that are for secrets."""
PASSWORD_IN_URL = re.compile(r"://[^/@:]*:[^/@]+@")
"""What makes the URL of a database a secret."""


def check_secrets(options: object) -> Iterator[PathFinding]:
    """Yield a hint for each secret that is written in clear text: of a source, or of the project."""
    for path, secret in written_values(options):
        if isinstance(secret, SecretStr) and _is_secret(path, secret) and is_clear_text(secret):
            problem = "the secret stands here for everybody to read"
            yield PathFinding(path, problem, INSTEAD, False, FindingCode.SECRET_IN_CLEAR)


def check_access(source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint for each secret that is written in clear text, or that eavesdroppers can infer."""
    yield from check_secrets(source)
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


def check_kept_sessions(source: DataSource, *, has_key: bool) -> Iterator[PathFinding]:
    """Yield the logins whose sessions are to be kept in a project without a key to encrypt them with."""
    for name, login in source.logins.items():
        if login.keep_session and not has_key:
            problem = "sessions are kept encrypted, and the project has no `key_file`"
            instead = (
                "make a key with `ultracrawl secret new-key FILE`, and write `key_file: FILE` at the top"
            )
            yield PathFinding(("logins", name, "keep_session"), problem, instead)


def _is_secret(path: OptionPath, secret: SecretStr) -> bool:
    """Return whether an option that may be a secret is one: headers, webhooks and fields of forms need not be."""
    name = str(path[-1])
    if path[0] == "logins":
        return PASSWORD_FIELD.search(name) is not None
    if name == "webhook":
        return False
    if path[0] == "connection":
        return PASSWORD_IN_URL.search(secret.get_secret_value()) is not None
    return path[-2:-1] != ("headers",) or name.lower() in SECRET_HEADERS
