"""Fixtures: a server of each scheme, on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.remote_site import PASSWORD, RemoteSite
from support.s3 import S3Site
from support.sftp import SftpSite
from support.webdav import WebdavSite

SITES: dict[str, Callable[[Path], RemoteSite]] = {
    "sftp": SftpSite,
    "s3": lambda root: S3Site(),
    "webdav": WebdavSite,
}


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_PASSWORD", PASSWORD)


@pytest.fixture(params=SITES)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RemoteSite]:
    """A server with no files yet."""
    root = tmp_path / "served"
    root.mkdir()
    with SITES[request.param](root).serve() as served:
        yield served
