"""Downloader middlewares: thin adapters between Scrapy and the rules.

Four can be used in a project without definitions: `RobotsMiddleware` (robots.txt), `RewriterMiddleware` (rewrites
URLs; only there), `RedirectBoundaryMiddleware` (redirects out of the boundary) and `ConditionalMiddleware`
(validators, unchanged pages). In the crawl of a source, requests pass `FilterMiddleware`, robots.txt,
`StatusMiddleware` (errors, retries, vanished pages), redirects, conditional requests and `AcceptanceMiddleware` (which
responses become pages), in this order; responses pass them in reverse.
"""

from ultracrawl.middlewares.conditional import ConditionalMiddleware
from ultracrawl.middlewares.redirect import RedirectBoundaryMiddleware
from ultracrawl.middlewares.rewriter import RewriterMiddleware
from ultracrawl.middlewares.robots import RobotsMiddleware

__all__ = [
    "ConditionalMiddleware",
    "RedirectBoundaryMiddleware",
    "RewriterMiddleware",
    "RobotsMiddleware",
]
