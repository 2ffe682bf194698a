"""How a crawl speaks to FTP servers: passwords are read when it begins."""

from __future__ import annotations

import os
from pathlib import Path

from ultracrawl.crawl.auth.libcurl import require_libcurl
from ultracrawl.sources import DataSource
from ultracrawl.sources.compilation.ftp import FtpAccess, compile_ftp
from ultracrawl.sources.secrets import SecretReader


def ftp_access_of(source: DataSource, key_file: Path | None) -> FtpAccess:
    """Return how a source speaks to FTP servers; `key_file` is for encrypted passwords.

    Raises `UserError` if it is to and cannot.
    """
    if "ftp" not in source.boundary.schemes:
        return FtpAccess()
    require_libcurl(f"source {source.name}: crawling FTP servers")
    return compile_ftp(source, SecretReader(os.environ, key_file))
