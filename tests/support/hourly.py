"""A source that is crawled every hour, with a site of its own of a few pages."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from support.project import LOOPBACK
from support.site import Site


def hourly_source(stack: ExitStack, name: str, pages: int, **options: Any) -> tuple[Site, dict[str, Any]]:
    """Serve a home page with links to so many pages; returns the site and the source, with `options` beside its own."""
    site = Site()
    site.page("/", title="Home", links=[f"/{number}" for number in range(pages)], text=f"of {name}")
    for number in range(pages):
        site.page(f"/{number}", title=f"{name} {number}", text=f"needle {name}{number}")
    source = {
        "start_urls": [f"{stack.enter_context(site.serve())}/"],
        "boundary": LOOPBACK,
        "politeness": {"delay": 0, "concurrency": 1},
        "refresh": {"interval": "1 h"},
    }
    return site, {**source, **options}
