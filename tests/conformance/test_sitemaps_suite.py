"""Published sitemap files with what they hold."""

import base64
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from ultracrawl.content.feeds.sitemap import Sitemap, SitemapUrl, parse_sitemap

CASES = Path(__file__).parent / "tables" / "sitemaps_crawler_commons.jsonl"
DIFFERENCES = {
    (
        "testSitemapXXEWithDocTypeAllowed",
        175,
    ): "a DTD with entities is refused as a whole; there is no switch for it",
    ("testSitemapParserBrokenXml", 429): "the entries before the break are kept, the mistake is reported",
    ("testRSSPubDate", 720): "a date with an unknown zone name is read as UTC, not dropped",
    ("testLenientParser", 605): "which paths a sitemap may speak for is the boundary's decision",
    ("testSitemapWithWrongNamespace", 250): "there is no strict namespace mode",
    ("testMobileSitemap", 293): "the case keeps only entries of its mobile extension; we keep all pages",
}


def test_sitemaps_suite_differs_only_where_listed() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    assert len(cases) >= 58
    assert {(case["test"], case["line"]) for case in cases if not _as_published(case)} == set(DIFFERENCES)


def _as_published(case: dict[str, Any]) -> bool:
    sitemap = parse_sitemap(base64.b64decode(case["content_b64"]), case["url"], case["ctype"])
    expected = case["expected"]
    if isinstance(expected, str):
        return bool(sitemap.problem) and not sitemap.urls and not sitemap.children
    return expected["urls"] == _shown(sitemap, expected["index"])


def _shown(sitemap: Sitemap, index: bool) -> list[list[object]]:
    if index:
        return [[child.loc, _iso(child.lastmod)] for child in sitemap.children]
    return [
        [page.loc, _iso(page.lastmod), page.changefreq.upper() or None, _priority(page)]
        for page in sitemap.urls
    ]


def _priority(page: SitemapUrl) -> float:
    return 0.5 if page.priority is None else page.priority


def _iso(moment: datetime | None) -> str | None:
    return moment and moment.strftime("%Y-%m-%dT%H:%M:%SZ")
