"""Navigation is not found by a search, is followed all the same, and a definition says what else is none."""

from typing import Any

from support.project import LOOPBACK, Workspace
from support.site import Site

PAGE = """<title>Herons</title><header>Rookery <a href="/nests">Nests</a></header><main><p>Herons wait for fish.</p>
<p class="share">Share this</p></main><footer>Imprint</footer>"""


def test_what_belongs_to_the_site_is_not_found_and_its_links_are_followed(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/", PAGE.encode(), "text/html")
    site.page("/nests", title="Nests", text="made of twigs")
    source: dict[str, Any] = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    workspace.write({"sources": {"birds": source}})
    workspace.crawl()
    assert workspace.search("fish") == workspace.search("share") == ["/"]
    assert workspace.search("twigs") == ["/nests"]
    assert workspace.search("imprint") == workspace.search("rookery") == []
    source["content"] = {"exclude": ".share", "pages": [{"urls": f"{url}/nests", "include": "#absent"}]}
    workspace.write({"sources": {"birds": source}})
    workspace.crawl()
    assert workspace.search("fish") == ["/"]
    assert workspace.search("share") == []
    source["content"] = {"main": "off"}
    workspace.write({"sources": {"birds": source}})
    workspace.crawl()
    assert workspace.search("imprint") == workspace.search("share") == ["/"]


def test_pages_without_a_required_element_are_followed_but_not_indexed(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/", b"<title>Birds</title><p>List</p><a href=/herons>Herons</a>", "text/html")
    herons = b"<title>Herons</title><div class=docs><h4 id=food>Food:</h4><p>They wait for fish.</p></div>"
    site.file("/herons", herons, "text/html")
    source: dict[str, Any] = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "politeness": {"delay": 0}}
    source["content"] = {"required": ".docs", "levels": [".docs h4"], "strip": ":"}
    workspace.write({"sources": {"birds": source}})
    workspace.crawl()
    assert workspace.search("list") == []
    assert workspace.search("fish") == ["/herons"]
    causes = {path: one["cause"] for path, one in workspace.urls().items()}
    assert causes == {"/": "no-content", "/herons": None}
