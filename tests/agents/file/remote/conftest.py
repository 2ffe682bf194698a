"""Fixtures: a server of each scheme, on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.remote_site import PASSWORD, RemoteSite
from support.requirement import SERVERS
from support.s3 import S3Site
from support.samba import SambaSite
from support.sftp import SftpSite
from support.webdav import WebdavSite

SITES: dict[str, Callable[[Path], RemoteSite]] = {
    "sftp": SftpSite,
    "s3": lambda root: S3Site(),
    "webdav": WebdavSite,
    "smb": lambda root: SambaSite(),
}
_MARKS = {"smb": getattr(pytest.mark, SERVERS)}


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_PASSWORD", PASSWORD)


@pytest.fixture(params=[pytest.param(name, marks=_MARKS.get(name, ())) for name in SITES])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RemoteSite]:
    """A server with no files yet."""
    root = tmp_path / "served"
    root.mkdir()
    with SITES[request.param](root).serve() as served:
        yield served
