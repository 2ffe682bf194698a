"""Client certificates for the download handlers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """Paths of two PEM files, which may be the same, and the password of the key (empty for none)."""

    certificate: str
    key: str
    password: str = field(default="", repr=False)
