"""Whatever a crawl has started ends with it, however that ends."""

from __future__ import annotations

import shutil

import pytest
from support.family import all_end, descendants
from support.project import Workspace
from support.requirement import require
from support.site import Site
from support.until import until

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers


@pytest.mark.parametrize("javascript", [False, True], ids=["index-and-conversion", "browser-too"])
def test_nothing_outlives_a_crawl_that_is_killed(
    site: Site, url: str, workspace: Workspace, javascript: bool
) -> None:
    if javascript:
        require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    site.file("/", b"<a href=/table>1</a> <script>document.body.append('heron')</script>", "text/html")
    site.file("/table", b"a,b\n" * 1000, "text/csv")
    site.page("/waits", title="W")
    site.hold("/waits")
    options = {"javascript": {"use": True}} if javascript else {}
    workspace.define(
        f"{url}/",
        start_urls=[f"{url}/", f"{url}/table", f"{url}/waits"],
        types=["text/html", "text/csv"],
        **options,
    )
    crawl = workspace.start("crawl", PYTHONUNBUFFERED="1")  # really started
    started = 4 if javascript else 2
    until(lambda: len(descendants(crawl.pid)) >= started, crawl)
    family = descendants(crawl.pid)
    crawl.kill()
    crawl.communicate()
    all_end(family)
