"""Every kind of metadata that docs/content.md names becomes a search attribute in a crawl."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support import files
from support.project import LOOPBACK, Workspace
from support.site import Site

HEAD = """
<link rel="canonical" href="/the-page">
<meta name="author" content="Ann Author"><meta name="description" content="what it is about">
<meta name="subject" content="harbours"><meta name="keywords" content="pump, tide gate">
<meta name="generator" content="a hand"><meta name="date" content="2024-02-01">
<meta name="last-modified" content="2024-02-02"><meta name="citation_publication_date" content="2024/02/03">
<meta name="DC.Creator" content="Dora Core"><meta name="DC.Title" content="Core title">
<meta name="dc.date" content="2024-02-04"><meta name="DC.subject" content="core subject">
<meta name="DCTERMS.modified" content="2024-02-05">
<meta property="og:title" content="Graph title"><meta property="og:description" content="graph words">
<meta property="og:type" content="article"><meta property="og:image" content="https://x.example/i.png">
<meta property="article:published_time" content="2024-02-06T10:00:00+02:00">
<meta property="article:author" content="Otto Graph"><meta name="twitter:title" content="Bird title">
<meta http-equiv="content-language" content="sv">
<script type="application/ld+json">{"@context": "https://schema.org", "@graph": [{"@type": "NewsArticle",
"headline": "Linked headline", "datePublished": "2024-02-07", "inLanguage": "da",
"author": [{"@type": "Person", "name": "Jason Linked"}], "keywords": ["one", "two"],
"publisher": {"@type": "Organization", "name": "The Paper"}, "isAccessibleForFree": "yes"}]}</script>
"""

PAGE = {
    "author": "Ann Author",
    "description": "what it is about",
    "subject": "harbours",
    "keywords": "pump, tide gate",
    "generator": "a hand",
    "date": "2024-02-01",
    "last-modified": "2024-02-02",
    "citation_publication_date": "2024/02/03",
    "dc.creator": "Dora Core",
    "dc.title": "Core title",
    "dc.date": "2024-02-04",
    "dc.subject": "core subject",
    "dcterms.modified": "2024-02-05",
    "og:title": "Graph title",
    "og:description": "graph words",
    "og:type": "article",
    "og:image": "https://x.example/i.png",
    "article:published_time": "2024-02-06T10:00:00+02:00",
    "article:author": "Otto Graph",
    "twitter:title": "Bird title",
    "content-language": "sv",
    "jsonld.headline": "Linked headline",
    "jsonld.type": "NewsArticle",
    "jsonld.datepublished": "2024-02-07",
    "jsonld.author.name": "Jason Linked",
    "jsonld.keywords": "one two",
    "jsonld.publisher.name": "The Paper",
    "canonical": "/the-page",
    "title": "The title",
    "language": "nl",
    "mimetype": "text/html",
    "x-department": "harbour office",
    "content-type": "text/html; charset=utf-8",
    "header.content-type": "text/html; charset=utf-8",
    "server": "",
}
"""Document attribute and its value, of a page."""


def mapped(workspace: Workspace, url: str, names: Mapping[str, str]) -> dict[str, str]:
    """Map each name to a search attribute of its own, crawl, and return what searches show."""
    attributes = {f"A{number}": "string" for number in range(len(names))}
    source = {
        "start_urls": [url],
        "boundary": LOOPBACK,
        "types": ["text/html", "documents"],
        "attributes": dict(zip(names, attributes, strict=True)),
    }
    workspace.write({"attributes": attributes, "sources": {"site": source}})
    workspace.crawl()
    (hit,) = workspace.command("search", "--json", "--as-typed", "").json["hits"]
    found = {name: " ".join(hit["attributes"].get(own, ())) for name, own in source["attributes"].items()}  # type: ignore[union-attr]
    words = zip(names, attributes, strict=True)
    assert all(workspace.search("", "--where", f"{own}={found[name]}") for name, own in list(words)[:3])
    return found


def test_ultra_search_47_every_documented_name_of_a_page(site: Site, url: str, workspace: Workspace) -> None:
    site.page(
        "/d", title="The title", text="text", head=HEAD, lang="nl", headers={"X-Department": "harbour office"}
    )
    found = mapped(workspace, f"{url}/d", {**PAGE, "size": ""})
    size = found.pop("size")
    assert found.pop("canonical").endswith("/the-page")
    assert found == {name: value for name, value in PAGE.items() if name != "canonical"}
    assert 1500 < int(size) < 5000


@pytest.mark.parametrize(
    ("name", "body", "properties"),
    [
        pytest.param(
            "a.pdf",
            files.pdf(title="T", author="Ann Author"),
            {
                "title": "T",
                "author": "Ann Author",
                "subject": "Testing",
                "keywords": "alpha beta gamma",
                "created": "2024-03-01T12:00:00+01:00",
                "application": "a hand",
                "producer": "a test",
                "pages": "1",
                "language": "de-DE",
                "mimetype": "application/pdf",
            },
            id="PDF",
        ),
        pytest.param(
            "a.docx",
            files.docx_with_properties({"Cost Centre": "C-17", "Reviewed": "yes"}),
            {
                "title": "T",
                "author": "Ann Author",
                "subject": "Testing",
                "keywords": "alpha beta",
                "created": "2024-03-01T12:00:00Z",
                "language": "fr",
                "custom.cost centre": "C-17",
                "custom.reviewed": "yes",
            },
            id="Word",
        ),
        pytest.param(
            "a.odt",
            files.odt(own={"Cost Centre": "C-18"}),
            {"title": "T", "author": "Ann Author", "keywords": "alpha", "custom.cost centre": "C-18"},
            id="OpenDocument",
        ),
    ],
)
def test_properties_of_documents(
    site: Site, url: str, workspace: Workspace, name: str, body: bytes, properties: dict[str, str]
) -> None:
    site.file(f"/{name}", body, "application/octet-stream")
    assert mapped(workspace, f"{url}/{name}", properties) == properties


def test_values_that_do_not_fit_their_type_are_left_out_and_counted(
    site: Site, url: str, workspace: Workspace
) -> None:
    head = '<meta name="price" content="cheap"><meta name="price" content="7">'
    site.page("/d", title="x", text="words", head=head)
    source = {"start_urls": [f"{url}/d"], "boundary": LOOPBACK, "attributes": {"price": "Price"}}
    workspace.write({"attributes": {"Price": "number"}, "sources": {"site": source}})
    assert workspace.crawl().run["dropped_values"] == 1
    assert workspace.search("Price:7") == ["/d"]
