"""Attributes made by rules can be searched."""

from support.project import LOOPBACK, Workspace
from support.site import Site


def test_ultra_search_47_53_extracted_values_are_found_by_a_query(
    site: Site, url: str, workspace: Workspace
) -> None:
    body = b'<title>Blue kettle</title><p>boils water</p><p class="price">12.50</p>'
    site.file("/products/kettle", body, "text/html")
    site.page("/", title="Shop", links=["/products/kettle"], text="all we have")
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0},
        "extract": {
            "Department": "=Sales",
            "Product": {"regexp": r"/products/(\w+)"},
            "Price": {"css": ".price", "urls": [f"{url}/products/"]},
        },
    }
    attributes = {"Department": "string", "Product": "string", "Price": "number"}
    workspace.write({"attributes": attributes, "sources": {"shop": source}})
    workspace.crawl()
    assert workspace.search("Price:12.5") == ["/products/kettle"]
    assert workspace.search("", "--where", "Product=kettle") == ["/products/kettle"]
    assert sorted(workspace.search("", "--where", "Department=Sales")) == ["/", "/products/kettle"]
    source["extract"] = {"Department": "=Support"}
    workspace.write({"attributes": attributes, "sources": {"shop": source}})
    workspace.crawl()
    assert sorted(workspace.search("", "--where", "Department=Support")) == ["/", "/products/kettle"]


def test_the_date_of_a_page_is_not_that_of_its_fetch(site: Site, url: str, workspace: Workspace) -> None:
    now = {"Date": "Sat, 28 Nov 2026 18:00:12 GMT"}
    dated = '<meta name="date" content="2025-04-10">'
    site.page("/", title="Home", text="pump", head=dated, links=["/none"], headers=now)
    site.page("/none", title="None", text="pump", headers=now)
    attributes = {"date": "Published", "header.date": "Fetched"}
    source = {"start_urls": [f"{url}/"], "boundary": LOOPBACK, "attributes": attributes}
    workspace.write({"attributes": dict.fromkeys(attributes.values(), "date"), "sources": {"s": source}})
    workspace.crawl()
    assert workspace.search("pump", "--where", "Published>2025-06") == []
    assert workspace.search("pump", "--where", "Published>2025-03") == ["/"]
    assert sorted(workspace.search("pump", "--where", "Fetched>2026-10")) == ["/", "/none"]


def test_rules_see_headers_json_ld_and_the_size_without_a_mapping(
    site: Site, url: str, workspace: Workspace
) -> None:
    body = b'<title>T</title><script type="application/ld+json">{"author": {"name": "Ann"}}</script><p>text'
    site.file("/", body, "text/html", headers={"X-Team": "blue-7"})
    source = {
        "start_urls": [f"{url}/"],
        "boundary": LOOPBACK,
        "extract": {
            "Team": {"regexp": r"(\w+)-", "of": "X-Team"},
            "By": "{jsonld.author.name}, {size} bytes",
        },
    }
    workspace.write({"attributes": {"Team": "string", "By": "string"}, "sources": {"s": source}})
    workspace.crawl()
    assert workspace.search("", "--where", "Team=blue") == ["/"]
    assert workspace.search("", "--where", f"By=Ann, {len(body)} bytes") == ["/"]
