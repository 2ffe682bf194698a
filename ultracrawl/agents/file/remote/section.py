"""The options of connections to remote file systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from ultracrawl.rules.boundary.masks import parse_address
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import FilePath, Region, Seconds, one_or_list

Fingerprint = Annotated[str, Field(pattern=r"^SHA256:[A-Za-z0-9+/]{43}=?$")]

OPTIONS: Mapping[str, frozenset[str]] = {
    "sftp": frozenset(
        {"user", "password", "private_key", "passphrase", "known_hosts", "host_keys", "timeout"}
    ),
    "s3": frozenset({"user", "password", "endpoint", "region", "ca", "timeout"}),
    "smb": frozenset({"user", "password", "encryption", "timeout"}),
    "webdav": frozenset({"user", "password", "ca", "tls", "timeout"}),
}
"""The options of a connection by the scheme of its URL."""
WITH_READERS = frozenset({"sftp", "smb"})
"""The schemes whose servers say who may read a file."""


def _check_endpoint(value: str) -> str:
    """Accept https, and http for servers of this machine: keys and documents are not sent in clear text."""
    try:
        parts = urlsplit(value)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        parts, host = urlsplit(""), ""
    if not host or parts.scheme not in ("http", "https") or parts.query or parts.fragment or parts.username:
        raise mistake(f"{format_value(value)} is not the URL of a server", "write `https://s3.example.com`")
    if parts.scheme == "http" and not is_loopback(host):
        raise mistake(f"{format_value(value)} would be read in clear text", "write its URL with `https://`")
    return value


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    address = parse_address(host)
    return host == "localhost" if address is None else address.is_loopback


class ConnectionSection(Section):
    """How a server of remote files is connected to."""

    FETCH_OPTIONS: ClassVar = frozenset(
        {
            *("user", "password", "private_key", "passphrase", "known_hosts", "host_keys"),
            *("endpoint", "region", "ca", "tls", "encryption", "timeout"),
        }
    )

    user: str | None = Field(default=None, min_length=1, examples=["reader"])
    """The user, if the URL in `paths` names none."""
    password: Secret | None = Field(default=None, examples=["${FILES_PASSWORD}"])
    """The password of the user."""
    private_key: Secret | None = Field(default=None, examples=["file:/etc/ultracrawl/id_ed25519"])
    """The private key of the user, in the format of OpenSSH or PEM; with `file:` the file that contains it."""
    passphrase: Secret | None = Field(default=None, examples=["${KEY_PASSPHRASE}"])
    """What the private key is encrypted with."""
    known_hosts: FilePath | None = Field(default=None, examples=["known_hosts"])
    """A file of trusted host keys in the format of OpenSSH. Default: `~/.ssh/known_hosts`."""
    host_keys: Annotated[tuple[Fingerprint, ...], one_or_list(Fingerprint)] = Field(
        default=(), examples=["SHA256:uNiVztksCsDhcc0u9e8BrqzabPvtHnELxEq3bD4RPBk"]
    )
    """The fingerprints of the trusted host keys; instead of `known_hosts`."""
    endpoint: Annotated[str, AfterValidator(_check_endpoint)] | None = Field(
        default=None, examples=["https://minio.example.com:9000"]
    )
    """The URL of a server with the interface of S3. Default: that of Amazon for `region`."""
    region: Region | None = Field(default=None, examples=["eu-central-1"])
    """The region of the bucket. Default: `us-east-1`."""
    ca: FilePath | None = Field(default=None, examples=["tls/ca.pem"])
    """A PEM file with the root certificates for the server, in place of the usual ones."""
    tls: bool = Field(default=True, examples=[False])
    """Connect over TLS. Off only for a server of this machine."""
    encryption: bool = Field(default=True, examples=[False])
    """Encrypt what is read from a share (SMB 3). Without it, everything is signed, but files are sent in clear text."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which an operation that has not been answered counts as a lost connection."""
