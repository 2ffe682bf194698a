"""Options of other crawlers, and what to write here: for people who come from them."""

from __future__ import annotations

import re

_ZONE = 'at the top of the file `schedules: {nightly: {sources: [NAME], cron: "0 3 * * *", timezone: Europe/Berlin}}`'
_WORDS = {
    # Scrapy: class attributes and settings
    "allowed_domains": "boundary: {domains: {include: [www.example.com]}}",
    "custom_settings": "settings: {LOG_LEVEL: INFO}",
    "denied_domains": "boundary: {domains: {exclude: [private.example.com]}}",
    "download_delay": "politeness: {delay: 0.5}",
    "download_timeout": "limits: {timeout: 30}",
    "download_maxsize": "limits: {max_size: 10 MB}",
    "concurrent_requests": "politeness: {concurrency: 2}",
    "concurrent_requests_per_domain": "politeness: {concurrency: 2}",
    "depth_limit": "depth: 10",
    "closespider_pagecount": "limits: {pages: 1000}",
    "cookies_enabled": "cookies: {enabled: true}",
    "robotstxt_obey": "in the source `robots: {obey: false}` to ignore robots.txt, which is obeyed by default",
    "start_url": "start_urls: [https://www.example.com/]",
    "url": "start_urls: [https://www.example.com/]",
    "user_agent_string": "user_agent: mybot",
    # wget, HTTrack
    "accept": "boundary: {uris: {include: [{suffix: .html}]}}",
    "reject": "boundary: {uris: {exclude: [{suffix: .zip}]}}",
    "domains": "boundary: {domains: {include: [www.example.com]}}",
    "exclude_domains": "boundary: {domains: {exclude: [private.example.com]}}",
    "exclude_directories": "exclude: [/archive/]",
    "include_directories": "only: [/docs/]",
    "level": "depth: 10",
    "limit_rate": "politeness: {delay: 0.5}",
    "max_rate": "politeness: {delay: 0.5}",
    "mirror": "refresh: {interval: 24 h}",
    "no_parent": "only: [/docs/]",
    "quota": "limits: {bytes: 1 GB}",
    "timeout": "limits: {timeout: 30}",
    "wait": "politeness: {delay: 0.5}",
    # Nutch, Heritrix, StormCrawler
    "seeds": "start_urls: [https://www.example.com/]",
    "seed_urls": "start_urls: [https://www.example.com/]",
    "max_hops": "depth: 10",
    "fetcher_server_delay": "politeness: {delay: 0.5}",
    "db_fetch_interval_default": "refresh: {interval: 24 h}",
    "url_filter": "boundary: {uris: {exclude: [{regexp: '.*print=.*'}]}}",
    "http_agent_name": "user_agent: mybot",
    # Norconex, Elastic's crawler, documentation search
    "crawl_delay": "politeness: {delay: 0.5}",
    "crawl_rules": "boundary: {uris: {exclude: [{prefix: https://www.example.com/old/}]}}",
    "max_depth": "depth: 10",
    "max_crawl_depth": "depth: 10",
    "max_documents": "limits: {documents: 10000}",
    "num_threads": "politeness: {concurrency: 2}",
    "purge_crawl_enabled": "orphans: {delete: true}",
    "reference_filters": "boundary: {uris: {exclude: [{regexp: '.*print=.*'}]}}",
    "selectors": "content: {include: article}",
    "sitemap": "sitemaps: {urls: [https://www.example.com/sitemap.xml]}",
    "sitemap_url": "sitemaps: {urls: [https://www.example.com/sitemap.xml]}",
    "sitemap_urls": "sitemaps: {urls: [https://www.example.com/sitemap.xml]}",
    "sitemap_alternate_links": "sitemaps: {use: true}",
    "start_urls_file": "start_url_files: [seeds.txt]",
    "stop_urls": "exclude: [/archive/]",
    # what belongs elsewhere in the file
    "schedule": 'at the top of the file `schedules: {nightly: {sources: [NAME], cron: "0 3 * * *"}}`',
    "cron": 'at the top of the file `schedules: {nightly: {sources: [NAME], cron: "0 3 * * *"}}`',
    "time_zone": _ZONE,
    "timezone": _ZONE,
    "interval": "refresh: {interval: 24 h}",
    "include": "only: [/docs/]",
}
"""What to write in a source, by the name of the option elsewhere (lower case, words joined by underscores)."""


_RATES = frozenset({"limit_rate", "max_rate"})
"""Options whose numbers mean something else than those of the option to write."""
_LARGEST = 1_000_000
"""Up to here a number is meant as one."""


def advice_for(name: str, value: object = None) -> str:
    """Return what to write instead of an option of another crawler, with its number; empty if it is not known."""
    word = name.strip().lower().replace("-", "_").replace(".", "_").removeprefix("--")
    written = _WORDS.get(word, "")
    if not written:
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _LARGEST
    if is_number and word not in _RATES:  # elsewhere 0 is often no limit
        written = re.sub(r"(?<= )[\d.]+(?=\}*$)", str(value), written)
    return f"write {written}" if "`" in written else f"write in the source `{written}`"
