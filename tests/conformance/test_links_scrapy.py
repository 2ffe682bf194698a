"""Scrapy's link extraction cases as far as they find links: filters are the boundary's business."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from ultracrawl.content.html.page import parse_html
from ultracrawl.model import LinkKind

CASES = Path(__file__).parent / "tables" / "links_scrapy.jsonl"
_OUT_OF_SCOPE = frozenset(
    {
        "allow",
        "deny",
        "allow_domains",
        "deny_domains",
        "restrict_xpaths",
        "restrict_css",
        "restrict_text",
        "canonicalize",
    }
    | {"unique", "process_value", "tags", "attrs", "deny_tags", "deny_attrs", "deny_extensions"}
)
DIFFERENCES: dict[tuple[str, int], str] = {
    ("test_ignored_extensions", 338): "file name endings are excluded by a rule of the source, not unseen",
    ("test_skip_bad_links", 851): "a port that is no number is excluded by the URL rules, with a reason",
}


def test_scrapy_links_differ_only_where_listed() -> None:
    cases = [json.loads(line) for line in CASES.read_text().splitlines()]
    finding = [case for case in cases if not _OUT_OF_SCOPE & case["kw"].keys()]
    assert len(finding) >= 14
    wrong = {(case["test"], case["line"]): _diff(case) for case in finding if _diff(case)}
    assert wrong.keys() == DIFFERENCES.keys(), wrong


def _diff(case: dict[str, Any]) -> Any:
    page = parse_html(
        case["html"].encode(case["encoding"], "xmlcharrefreplace"),
        url=case["base"],
        content_type=f"text/html; charset={case['encoding']}",
        link_kinds=frozenset({LinkKind.A, LinkKind.AREA}),
    )
    base = page.base or case["base"]
    found = {(url, link.nofollow) for link in page.links if (url := _joined(base, link.href))}
    expected = {
        (_joined(case["base"], url), nofollow) for url, _text, _fragment, nofollow in case["expected"]
    }
    return found ^ expected


def _joined(base: str, href: str) -> str:
    try:
        url = urljoin(base, href).partition("#")[0]
    except ValueError:
        return ""
    return url.replace(" ", "%20") if url.startswith(("http", "ftp")) else ""
