"""A site of numbered pages about a bird, to which its start page leads."""

from __future__ import annotations

from support.site import Site


def numbered_site(pages: int) -> Site:
    """Return a site of so many pages, `/0` and so on, about herons."""
    site = Site()
    site.page("/", title="Start", text="birds", links=[f"/{number}" for number in range(pages)])
    write_numbered(site, pages, "heron")
    return site


def write_numbered(site: Site, pages: int, bird: str) -> None:
    """Write the pages, but for the first one, about another bird."""
    for number in range(pages):
        site.page(f"/{number}", title=f"Page {number}", text=f"{bird} number {number}")
