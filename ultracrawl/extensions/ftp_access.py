"""How a crawl speaks to FTP servers: passwords are read when it begins."""

from __future__ import annotations

import os
from importlib.util import find_spec

from ultracrawl.errors import MissingExtraError
from ultracrawl.sources import DataSource
from ultracrawl.sources.compile_ftp import FtpAccess, compile_ftp
from ultracrawl.sources.secrets import SecretReader


def ftp_access_of(source: DataSource) -> FtpAccess:
    """Return how a source speaks to FTP servers; raises `UserError` if it is to and cannot."""
    if "ftp" not in source.boundary.schemes:
        return FtpAccess()
    if find_spec("pycurl") is None:
        raise MissingExtraError(f"source {source.name}: crawling FTP servers", "fast")
    return compile_ftp(source, SecretReader(os.environ))
