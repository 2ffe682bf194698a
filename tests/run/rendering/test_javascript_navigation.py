"""Pages whose scripts lead elsewhere: the page itself is indexed, with its own links, and the target is a link."""

from __future__ import annotations

import shutil

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

PAGES = {
    "href": "<script>location.href = '/target?href'</script>",
    "replace": "<script>location.replace('/target?replace')</script>",
    "reload": "<script>location.reload()</script>",
    "late": "<script>setTimeout(() => location.href = '/target?late', 100)</script>",
    "loaded": "<script>addEventListener('load', () => location.href = '/target?loaded')</script>",
    "form": "<form action=/target><input name=form></form><script>document.forms[0].submit()</script>",
    "post": "<form action=/posted method=post></form><script>document.forms[0].submit()</script>",
    "click": "<a id=a href='/target?click'>x</a><script>document.getElementById('a').click()</script>",
    "blank": "<a id=a href='/target?blank' target=_blank>x</a>"
    "<script>document.getElementById('a').click()</script>",
    "window": "<script>window.open('/target?window').focus()</script>",
    "windows": "<script>for (let i = 0; i < 1000; i++) window.open('/target?windows')</script>",
    "frame": """<iframe srcdoc="<script>top.location = '/target?frame'</script>"></iframe>""",
    "sandbox": """<iframe sandbox="allow-scripts allow-top-navigation"
        srcdoc="<script>top.location = '/target?sandbox'</script>"></iframe>""",
    "blob": "<script>location.href = URL.createObjectURL(new Blob(['<p>made'], {type: 'text/html'}))</script>",
    "cookie": "<script>if (!/seen/.test(document.cookie)) "
    "{ document.cookie = 'seen=1'; location.reload() }</script>",
    "pushed": "<script>history.pushState(0, '', '/deep/pushed')</script>"
    "<script>document.write('<a href=relative>x</a>')</script>",
}
TARGETS = {
    f"/target?{name}{'=' if name == 'form' else ''}"
    for name in PAGES.keys() - {"reload", "post", "blob", "cookie", "pushed"}
}


@pytest.mark.parametrize("options", [{}, {"keep_html": True}], ids=["links only", "whole"])
def test_a_page_that_leads_elsewhere_keeps_its_words_and_links(
    site: Site, url: str, workspace: Workspace, options: dict[str, bool]
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    for name, script in PAGES.items():
        body = f"<title>{name}</title><p>the own words of {name}</p><a href=/of/{name}>x</a>{script}<p>behind"
        site.file(f"/{name}", body.encode(), "text/html")
    site.page("/", links=[f"/{name}" for name in PAGES])
    site.dynamic(
        "/target*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode())
    )
    site.dynamic("/of/*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode()))
    site.page("/deep/relative", text="relative to the pushed address")
    workspace.define(f"{url}/", javascript={"use": True, **options})
    run = workspace.crawl().run
    pages = {f"/{name}" for name in PAGES}
    assert "javascript failed" not in run["rejected_by"]
    assert set(workspace.search("own words behind")) == pages
    assert set(workspace.indexed()) == {"/", *pages, *(f"/of{page}" for page in pages), *TARGETS} | {
        "/deep/relative"
    }
    assert workspace.search("blocked") == []
    asked = site.page_paths()
    assert not any(path.startswith("/posted") for path in asked), "a form that is posted is no link"
