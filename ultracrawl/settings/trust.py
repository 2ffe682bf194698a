"""The certificates that https servers are checked against."""

from __future__ import annotations

import ssl
from pathlib import Path


def trusted_roots() -> tuple[str, str]:
    """Return a file with the trusted roots, or else a folder of them; empty texts where there are none.

    The machine's own store, where intranets put theirs, else certifi's.
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
