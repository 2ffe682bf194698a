"""The options of connections to remote file systems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Seconds, one_or_list

Fingerprint = Annotated[str, Field(pattern=r"^SHA256:[A-Za-z0-9+/]{43}=?$")]


class ConnectionSection(Section):
    """How a server of remote files is connected to."""

    FETCH_OPTIONS: ClassVar = frozenset(
        {"user", "password", "private_key", "passphrase", "known_hosts", "host_keys", "timeout"}
    )

    user: str | None = Field(default=None, min_length=1, examples=["reader"])
    """The user, if the URL in `paths` names none."""
    password: Secret | None = Field(default=None, examples=["${FILES_PASSWORD}"])
    """The password of the user."""
    private_key: Secret | None = Field(default=None, examples=["file:/etc/ultracrawl/id_ed25519"])
    """The private key of the user, in the format of OpenSSH or PEM; with `file:` the file that contains it."""
    passphrase: Secret | None = Field(default=None, examples=["${KEY_PASSPHRASE}"])
    """What the private key is encrypted with."""
    known_hosts: Path | None = Field(default=None, examples=["known_hosts"])
    """A file of trusted host keys in the format of OpenSSH. Default: `~/.ssh/known_hosts`."""
    host_keys: Annotated[tuple[Fingerprint, ...], one_or_list(Fingerprint)] = Field(
        default=(), examples=["SHA256:uNiVztksCsDhcc0u9e8BrqzabPvtHnELxEq3bD4RPBk"]
    )
    """The fingerprints of the trusted host keys; instead of `known_hosts`."""
    timeout: Seconds = Field(default=30.0, gt=0, examples=[10])
    """Seconds after which an operation that has not been answered counts as a lost connection."""
