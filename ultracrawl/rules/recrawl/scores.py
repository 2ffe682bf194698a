"""How much a known URL deserves to be fetched again: the six scorers of adaptive refreshing (FAST 5.24, 5.25)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from ultracrawl.rules.recrawl.history import ChangeHistory
from ultracrawl.rules.urls.parts import path_of

LANDING = (
    "/",
    "/index.html",
    "index.htm",
    "index.php",
    "index.jsp",
    "index.asp",
    "default.html",
    "default.htm",
)
"""How the paths of landing pages end."""

FREQUENCIES: Mapping[str, float] = MappingProxyType(
    {
        "always": 1.0,
        "hourly": 0.64,
        "daily": 0.32,
        "weekly": 0.16,
        "monthly": 0.08,
        "yearly": 0.04,
        "never": 0.0,
        "default": 0.16,
    }
)
"""The value of each `changefreq` of sitemaps; `default` is for URLs without one."""


class KnownPage(NamedTuple):
    """What is known of a URL that may be fetched again."""

    key: int
    url: str
    site: str
    depth: int
    last_fetched: float = 0.0
    """Seconds since the epoch; 0: never, it is a new URL."""
    markup: bool = False
    """Its type is one in which links are looked for."""
    changefreq: str = ""
    priority: float | None = None
    """By its sitemap, from 0 to 1."""
    history: ChangeHistory = ChangeHistory()
    sitemap_lastmod: float = 0.0
    """When it changed last by its sitemap, seconds since the epoch; 0 if that does not say."""

    @property
    def is_outdated(self) -> bool:
        """Whether a sitemap says that it changed since it was fetched."""
        return 0 < self.last_fetched < self.sitemap_lastmod


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What each scorer adds to the score of a URL: its value, from 0 to 1, times its weight."""

    inverse_length: float = 1.0
    inverse_depth: float = 1.0
    is_landing_page: float = 1.0
    is_mime_markup: float = 1.0
    change_history: float = 10.0
    sitemap: float = 10.0

    @property
    def total(self) -> float:
        """The score."""
        return self.worth + self.change_history

    @property
    def worth(self) -> float:
        """The score without the change history: what the place of a page says about it."""
        return (
            self.inverse_length
            + self.inverse_depth
            + self.is_landing_page
            + self.is_mime_markup
            + self.sitemap
        )


DEFAULT_WEIGHTS = ScoreParts()


def inverse_length(url: str) -> float:
    """Return 1 for one slash in the path, 0 for ten or more (185)."""
    return max(0.0, (10 - path_of(url).partition("?")[0].count("/")) / 9)


def inverse_depth(hops: int) -> float:
    """Return 1 for a start URL, 0 for ten link steps or more (186)."""
    return max(0.0, (10 - hops) / 10)


def is_landing_page(url: str) -> float:
    """Return 1 for the page of a folder, by how its path ends; 0 for all others and for URLs with a query (187)."""
    return 1.0 if url.endswith(LANDING) and "?" not in url else 0.0


def change_value(interval: float, cycle: float) -> float:
    """Return R / (R + I) for a page that changes every I seconds, with cycles of R seconds (189)."""
    return cycle / (cycle + interval)


@dataclass(frozen=True, slots=True)
class Scorer:
    """Scores URLs with the weights of a source; `cycle` is the length of a cycle in seconds."""

    cycle: float
    weights: ScoreParts = DEFAULT_WEIGHTS
    frequencies: Mapping[str, float] = field(default_factory=lambda: FREQUENCIES)
    uses_sitemaps: bool = True

    def parts(self, page: KnownPage) -> ScoreParts:
        """Return what each scorer adds for a page."""
        weights = self.weights
        return ScoreParts(
            weights.inverse_length * inverse_length(page.url) if weights.inverse_length else 0.0,
            weights.inverse_depth * inverse_depth(page.depth) if weights.inverse_depth else 0.0,
            weights.is_landing_page * is_landing_page(page.url) if weights.is_landing_page else 0.0,
            weights.is_mime_markup if page.markup else 0.0,
            weights.change_history * change_value(page.history.interval(self.cycle), self.cycle),
            weights.sitemap * self._by_sitemap(page) if self.uses_sitemaps else 0.0,
        )

    def _by_sitemap(self, page: KnownPage) -> float:
        """Return 1 for a page of which a sitemap says that it changed, else what its `changefreq` is worth (190)."""
        if page.is_outdated:
            return 1.0
        return self.frequencies.get(page.changefreq, self.frequencies["default"])
