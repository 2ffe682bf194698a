"""How a crawl speaks to FTP servers: passwords are read when it begins."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from ultracrawl.errors import MissingExtraError
from ultracrawl.sources import DataSource
from ultracrawl.sources.compilation.ftp import FtpAccess, compile_ftp
from ultracrawl.sources.secrets import SecretReader


def ftp_access_of(source: DataSource, key_file: Path | None) -> FtpAccess:
    """Return how a source speaks to FTP servers; `key_file` is for encrypted passwords.

    Raises `UserError` if it is to and cannot.
    """
    if "ftp" not in source.boundary.schemes:
        return FtpAccess()
    if find_spec("pycurl") is None:
        raise MissingExtraError(f"source {source.name}: crawling FTP servers", "fast")
    return compile_ftp(source, SecretReader(os.environ, key_file))
