"""The same-origin policy for parts of pages: no script reads at another site with the secrets of the crawler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ultracrawl.crawl.transport.headers import values_of
from ultracrawl.rules.robots.policy import origin_of

if TYPE_CHECKING:
    from scrapy.http import Response

    from ultracrawl.crawl.rendering.browser import PartRequest

_READ = frozenset({"fetch", "xhr"})
"""What scripts read the answer of; a script from elsewhere is run, and its text stays unread."""
_FRAME = "document"


@dataclass(frozen=True, slots=True)
class RequestOrigin:
    """The origin for which a part is got; empty for one that is like no other, as that of a sandbox is.

    The browser cannot see to it: answers come to it under the URL that was asked for, redirects and all, and
    Playwright lets every origin read what is answered in place of the network.
    """

    origin: str
    kind: str

    @classmethod
    def of(cls, part: PartRequest) -> RequestOrigin:
        """Return who asks for a part; a frame is asked for by the site that it comes from."""
        if part.kind == _FRAME:
            return cls(origin_of(part.url), part.kind)
        return cls(origin_of(part.headers.get("origin") or part.initiator), part.kind)

    def is_foreign(self, url: str) -> bool:
        """Whether a URL is of another origin: nothing secret goes there."""
        return not self.origin or origin_of(url) != self.origin

    def may_have(self, response: Response) -> bool:
        """Whether an answer of another origin may be handed over (CORS for what is read, no redirected frames)."""
        if self.kind not in _READ:
            return self.kind != _FRAME
        allowed = values_of(response)("Access-Control-Allow-Origin")
        return any(one == "*" or (self.origin and origin_of(one) == self.origin) for one in allowed)
