"""Fixtures: a server of each scheme, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.sftp import PASSWORD, SftpSite

SITES = {"sftp": SftpSite}


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FILES_PASSWORD", PASSWORD)


@pytest.fixture(params=SITES)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SftpSite]:
    """A server with no files yet."""
    root = tmp_path / "served"
    root.mkdir()
    with SITES[request.param](root).serve() as served:
        yield served
