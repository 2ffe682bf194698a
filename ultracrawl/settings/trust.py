"""The CA certificates for https servers."""

from __future__ import annotations

import ssl
from pathlib import Path

CA_SETTING = "ULTRACRAWL_CA_FILE"
"""The PEM file with the root certificates of a source; empty: those of the machine."""
PINS_SETTING = "ULTRACRAWL_PINS"
"""The public keys of https servers by host, each as libcurl's `sha256//BASE64;sha256//BASE64`."""


def tls_context(roots: Path | None) -> ssl.SSLContext:
    """Return a context that checks servers by root certificates; None: by the trusted ones. Raises `OSError`."""
    file, folder = (str(roots), "") if roots else trusted_roots()
    return ssl.create_default_context(cafile=file or None, capath=folder or None)


def trusted_roots() -> tuple[str, str]:
    """Return (file, folder) of the trusted root certificates, of which at most one is not empty.

    The certificate store of the machine, where intranets install theirs, else that of certifi.
    """
    system = ssl.get_default_verify_paths()
    if system.cafile:
        return system.cafile, ""
    if system.capath and any(Path(system.capath).glob("*.0")):
        return "", system.capath
    try:
        import certifi  # noqa: PLC0415 - only where the machine has no roots of its own
    except ImportError:
        return "", ""
    return certifi.where(), ""
