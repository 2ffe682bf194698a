"""Downloader middlewares: thin adapters that ask the rules.

Four work alone too, in a project without definitions: `RobotsMiddleware` (robots.txt), `RewriterMiddleware` (URLs;
alone only), `RedirectBoundaryMiddleware` (redirects out of the boundary) and `ConditionalMiddleware` (validators, and
pages that did not change). In the crawl of a source requests meet them in this order, with `StatusMiddleware` (errors,
retries, vanished pages) after robots.txt and `AnswerMiddleware` (which answers become pages) as the last; answers meet
them from the last to the first.
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
