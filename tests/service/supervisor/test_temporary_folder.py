"""The temporary folder of the processes that a command starts goes with its clean end."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from support.project import LOOPBACK, Workspace
from support.site import Site

pytestmark = pytest.mark.processes


def test_a_command_leaves_no_temporary_folder(workspace: Workspace, site: Site, url: str) -> None:
    site.page("/", text="words")
    one = {"type": "web", "start_urls": [f"{url}/"], "boundary": LOOPBACK, "sitemaps": {"use": False}}
    workspace.write({"sources": {"one": one, "two": one}})
    with TemporaryDirectory() as folder:  # a short path: the folder has sockets
        workspace.crawl(hosted=False, TMPDIR=folder)
        assert [left.name for left in Path(folder).iterdir()] == []
