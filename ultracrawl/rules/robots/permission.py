"""Whether a page may be in the index, by what it says itself (Ultra Search 11, FAST `check_meta_robots`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ultracrawl.model.cause import NO_CAUSE, Cause, CauseCode
from ultracrawl.model.dates import parse_http_date
from ultracrawl.model.page import RobotsDirectives
from ultracrawl.rules.robots.reservations import Reservation, first_reserved

UNAVAILABLE_AFTER = "unavailable_after"
_NO_SNIPPET = frozenset({"nosnippet", "max-snippet:0", "max-snippet: 0"})


@dataclass(frozen=True, slots=True)
class IndexPermission:
    """What of a page's own wishes is obeyed: its directives (`meta`), and reservations of which uses."""

    meta: bool = True
    reservations: frozenset[Reservation] = frozenset({Reservation.SEARCH})

    def refusal(self, directives: RobotsDirectives, reserved: Iterable[str], now: float) -> Cause:
        """Return why a page stays out of the index, if it does; `now` is in seconds since the epoch."""
        if not self.meta:
            return NO_CAUSE
        if not directives.index:
            return Cause(CauseCode.NOINDEX)
        word = first_reserved(reserved, self.reservations)
        if word:
            return Cause(CauseCode.RESERVED, word)
        end = expiry(directives)
        return NO_CAUSE if end is None or end > now else Cause(CauseCode.UNAVAILABLE_AFTER)

    def hides_text(self, directives: RobotsDirectives) -> bool:
        """Return whether no piece of the page's text may be shown below a hit (`nosnippet`, `max-snippet: 0`)."""
        return self.meta and not _NO_SNIPPET.isdisjoint(directives.others)


def expiry(directives: RobotsDirectives) -> float | None:
    """Return the moment of `unavailable_after` (seconds since the epoch), the earliest if there are several."""
    moments = []
    for word in directives.others:
        name, _, value = word.partition(":")
        if name.rstrip() == UNAVAILABLE_AFTER and (moment := parse_http_date(value.strip())):
            moments.append(moment.timestamp())
    return min(moments, default=None)
