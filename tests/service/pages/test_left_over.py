"""Sources that no file defines any more: the API names them, and the page finds nothing of them."""

from __future__ import annotations

from lxml.html import document_fromstring
from support.pages import Pages


def test_the_page_leaves_out_what_the_api_calls_left_over(pages: Pages, url: str) -> None:
    assert pages.ask("/api/v1/sources").json()["left_over"] == []
    assert "3" in document_fromstring(pages.ask("/").text).cssselect("#progress")[0].text_content()
    definition = pages.workspace.directory / "ultracrawl.yaml"
    definition.write_text(definition.read_text().replace("site:", "birds:"))
    answer = pages.ask("/api/v1/sources").json()
    (left,) = answer["left_over"]
    assert (left["source"], left["documents"], left["same_start"]) == ("site", 3, ["birds"])
    assert [one["source"] for one in answer["sources"]] == ["birds"]
    assert not document_fromstring(pages.ask("/").text).cssselect("#progress b")
    page = document_fromstring(pages.ask("/?q=heron").text)
    assert not page.cssselect(".hit")
    assert pages.ask("/api/v1/search?q=heron").json()["total"] == 0
    assert not document_fromstring(pages.ask("/suggestions?q=her").text).cssselect("[data-url]")
    for path in ("/?q=heron&source=site", "/api/v1/search?q=heron&source=site"):
        assert pages.ask(path).status_code == 400
    assert pages.ask("/cached", params={"source": "site", "url": f"{url}/heron"}).status_code == 404
