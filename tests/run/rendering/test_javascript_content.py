"""What is read of a page after its scripts: words and links, wherever they put them."""

from __future__ import annotations

import shutil

import pytest
from support.project import Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

WRITTEN = "<p>written words</p><a href=/target>x</a>"
SHADOW = f"this.attachShadow({{mode: 'open'}}).innerHTML = `{WRITTEN}`"


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.mark.parametrize(
    "body",
    [
        f"<x-y></x-y><script>customElements.define('x-y', class extends HTMLElement "
        f"{{ connectedCallback() {{ {SHADOW} }} }})</script>",
        f"<x-y><template shadowrootmode=open>{WRITTEN}</template></x-y><script>1</script>",
        f"<p id=p></p><script>const inner = `<x-y id=z></x-y>`; let root = p.attachShadow({{mode: 'open'}});"
        f"root.innerHTML = inner;"
        f"root.getElementById('z').attachShadow({{mode: 'open'}}).innerHTML = `{WRITTEN}`</script>",
        f"<body onload='document.body.innerHTML = `{WRITTEN}`'>",
    ],
    ids=["shadow root", "declarative shadow root", "nested shadow roots", "onload"],
)
@pytest.mark.parametrize("keep", [True, False], ids=["whole", "links only"])
def test_words_and_links_are_read(site: Site, url: str, workspace: Workspace, body: str, keep: bool) -> None:
    site.file("/", f"<html lang=de><title>t</title><body>{body}".encode(), "text/html")
    site.page("/target", text="target")
    workspace.define(f"{url}/", javascript={"use": True, "keep_html": keep})
    workspace.crawl()
    assert workspace.indexed() == ["/", "/target"]
    if keep:
        assert workspace.search("written words") == ["/"]
