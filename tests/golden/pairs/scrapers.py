"""Files of DocSearch scrapers, as JSON."""

from __future__ import annotations

import json

from golden.pair import Change, pair
from golden.stage import Stage


@pair(config="docsearch.json", kill_at=5, look=("/docs/a", "/blog/x", "/docs/forbidden"))
def docsearch(on: Stage) -> Change:
    """Start URLs with rank, tags and selectors of their own, excluded URLs, a sitemap, levels as sections."""
    active = {"selector": ".active", "global": True, "default_value": "Documentation"}
    levels = {"lvl0": active, "lvl1": "h1", "lvl2": "h2", "text": "p"}
    starts = [
        f"{on.url}/docs/",
        {"url": f"{on.url}/docs/api/", "page_rank": 3, "tags": ["api"], "selectors_key": "api"},
    ]
    data = {
        "index_name": "manual",
        "start_urls": starts,
        "stop_urls": ["/old/", f"{on.url}/docs/draft"],
        "sitemap_urls": [f"{on.url}/docs.xml"],
        "selectors": {"default": levels, "api": {**levels, "lvl2": ".call"}},
        "selectors_exclude": [".ad"],
        "min_indexed_level": 2,
        "scrape_start_urls": False,
    }
    on.file("docsearch.json", json.dumps(data, indent=2))
    site = on.site
    site.robots("User-agent: *\nDisallow: /docs/forbidden\n")
    links = [
        "/docs/a",
        "/docs/api/b",
        "/docs/old/x",
        "/docs/draft1",
        "/blog/x",
        "/docs/forbidden",
        "/docs/bare",
    ]
    site.write("/docs/", "Start", "page", links)
    site.write(
        "/docs/a",
        "A",
        "page about pumps",
        ["/docs/c"],
        body="<h2 id=s>Seals</h2><p>rubber</p><p class=ad>buy</p>",
    )
    site.write("/docs/api/", "API", "page", ["/docs/api/b"])
    site.write(
        "/docs/api/b", "B", "page", body="<b class=active>Calls</b><div class=call id=f>f()</div><p>calls</p>"
    )
    site.write("/docs/c", "C", "page")
    site.file("/docs/bare", b"<title>Bare</title><h1>Bare</h1>", "text/html")
    site.write("/docs/hidden", "Hidden", "page that only the sitemap names")
    site.sitemap("/docs.xml", ["/docs/hidden", "/blog/y"])

    def change() -> None:
        site.write(
            "/docs/a", "A", "page about valves", ["/docs/new"], body="<h2 id=v>Valves</h2><p>brass</p>"
        )
        site.write("/docs/new", "New", "page")
        site.gone("/docs/c")

    return change
