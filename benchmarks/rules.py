"""Measure the cost of a link before it is queued, and of reading rule files. Prints one JSON object.

Every link passes canonicalization, key, look-up among the known keys and, if new, the boundary,
with 10 and with 10,000 host rules and URI prefixes. CPU seconds; the best of three rounds counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

from ultracrawl.rules.boundary import UrlRewriter
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.lines import parse_domain_lines, parse_uri_lines
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRule, RewriteRules
from ultracrawl.rules.boundary.rewriting.rewriter import apply_rewriter
from ultracrawl.rules.boundary.rewriting.rewriting_policy import RewritingPolicy
from ultracrawl.rules.boundary.rules import Action, BoundaryRules, CrawlMode, DomainRule, Kind, UriRule
from ultracrawl.rules.urls.canonical import UrlPolicy, url_key

BASE = "https://docs.example.com/java/api/index.html"
PAGES = 400
LINKS = 100


def boundary_of(count: int) -> Boundary:
    """Return a boundary with `count` included and excluded hosts each and `count` excluded URI prefixes."""
    hosts = [DomainRule(Kind.SUFFIX, f".host{number}.example.org") for number in range(count)]
    closed = [
        DomainRule(Kind.EXACT, f"closed{number}.example.com", Action.EXCLUDE) for number in range(count)
    ]
    prefixes = [
        UriRule(Kind.PREFIX, f"https://docs.example.com/old/{number}/", Action.EXCLUDE)
        for number in range(count)
    ]
    return Boundary(
        BoundaryRules(
            domains=(DomainRule(Kind.DOMAIN, "example.com"), *hosts, *closed),
            uris=tuple(prefixes),
            exclude_extensions=("png", "jpg", "zip", "css", "js"),
            max_uri_recursion=5,
            mode=CrawlMode(depth=10),
        )
    )


def pages_of(links: int, distinct: bool) -> list[list[str]]:
    """Return the links of `PAGES` pages: each link once, or the same few hundred on every page."""
    return [
        [
            f"../pkg{number % 7}/Class{page * links + number if distinct else number}.html#m"
            for number in range(links)
        ]
        for page in range(PAGES)
    ]


def crawl(boundary: Boundary, pages: list[list[str]]) -> int:
    """Judge all links by the rules as the scheduler does; return how many were admitted."""
    canonical, rejects = UrlPolicy().canonical, boundary.rejects
    seen: set[int] = set()
    admitted = 0
    for page in pages:
        for href in dict.fromkeys(page):
            url = canonical(href, BASE)
            if url is None:
                continue
            key = url_key(url)
            if key not in seen:
                seen.add(key)
                admitted += rejects(url, 3) is None
    return admitted


def rewriting() -> dict[str, float]:
    """Return the extra microseconds per link of three rewrite rules, and of a rewriter that returns it unchanged."""
    rules = [r"@;sid=[0-9a-f]+@@", r"@/index\.html$@/@", "#//old[.]#//new.#"]
    plain = UrlPolicy()
    policy = RewritingPolicy(rules=RewriteRules(map(RewriteRule.parse, rules)))
    hrefs = pages_of(LINKS, True)[0] * 50
    urls = [plain.canonical(href, BASE) or "" for href in hrefs]
    rewriter = UrlRewriter()
    without = best(lambda: [plain.canonical(href, BASE) for href in hrefs])
    with_rules = best(lambda: [policy.canonical(href, BASE) for href in hrefs])
    with_rewriter = best(lambda: [apply_rewriter(rewriter, url) for url in urls])
    return {
        "rewrite_rules_us_per_link": round((with_rules - without) / len(hrefs) * 1e6, 2),
        "rewriter_us_per_link": round(with_rewriter / len(urls) * 1e6, 2),
    }


def best(work: Callable[[], object]) -> float:
    """Return the CPU seconds of the fastest of three runs."""
    rounds = []
    for _ in range(3):
        started = time.process_time()
        work()
        rounds.append(time.process_time() - started)
    return min(rounds)


def main() -> None:
    """Measure and print."""
    result: dict[str, float] = {}
    total = PAGES * LINKS
    for count in (10, 10_000):
        boundary = boundary_of(count)
        for name, distinct in (("repeated", False), ("new", True)):
            pages = pages_of(LINKS, distinct)
            seconds = best(lambda boundary=boundary, pages=pages: crawl(boundary, pages))
            result[f"{name}_links_per_s_{count}_rules"] = round(total / seconds)
        urls = [f"https://docs.example.com/pkg/Class{number}.html" for number in range(20_000)]
        seconds = best(lambda boundary=boundary, urls=urls: [boundary.rejects(url, 3) for url in urls])
        result[f"boundary_us_per_link_{count}_rules"] = round(seconds / len(urls) * 1e6, 2)
    hosts = "\n".join(f"suffix .host{number}.example.org" for number in range(10_000))
    uris = "\n".join(f"prefix https://docs.example.com/old/{number}/" for number in range(10_000))
    patterns = "\n".join(f"regexp https?://[a-z]+\\.host{number}\\.example/.*" for number in range(10_000))
    result["parse_10000_host_lines_s"] = round(best(lambda: parse_domain_lines(hosts)), 3)
    result["parse_10000_uri_lines_s"] = round(best(lambda: parse_uri_lines(uris)), 3)
    result["parse_10000_regexp_lines_s"] = round(best(lambda: parse_uri_lines(patterns)), 3)
    result["compile_30000_rules_s"] = round(best(lambda: boundary_of(10_000)), 3)
    policy = AddressPolicy()
    result["address_check_us"] = round(
        best(lambda: [policy.refuses("8.8.8.8") for _ in range(1000)]) * 1e3, 2
    )
    result.update(rewriting())
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
