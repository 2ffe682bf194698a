"""The rules of a tdmrep.json: which URLs of a site its owner reserves from text and data mining (W3C TDMRep 6.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby

from ultracrawl.rules.robots.lines import RobotsLine
from ultracrawl.rules.robots.permission import tdm_value
from ultracrawl.rules.robots.rules import RobotsRules

TDM_PATH = "/.well-known/tdmrep.json"


class TdmRules:
    """Rules in the order of the file; the first whose location matches a URL decides.

    Locations are paths with `*` and a final `$`, read like those of robots.txt.
    """

    __slots__ = ("_rules",)

    def __init__(self, rules: Iterator[tuple[str, bool]]) -> None:
        """Initialise from pairs of a location and whether it is reserved."""
        # Neighbours with the same value are matched at once: most files have one value.
        self._rules = [
            (_matcher(location for location, _ in group), reserved)
            for reserved, group in groupby(rules, lambda rule: rule[1])
        ]

    @classmethod
    def parse(cls, body: bytes) -> TdmRules:
        """Parse a tdmrep.json; never raises, entries without a location or with another value are skipped."""
        try:
            content = json.loads(body)
        except (ValueError, RecursionError):
            content = []
        return cls(_rules_of(content if isinstance(content, list) else [content]))

    def reserves(self, url: str) -> bool:
        """Return whether `url` is reserved."""
        return next((reserved for matcher, reserved in self._rules if matcher.blocks(url)), False)


def _rules_of(content: list[object]) -> Iterator[tuple[str, bool]]:
    for entry in content:
        if isinstance(entry, dict) and isinstance(location := entry.get("location"), str):
            reserved = tdm_value(entry.get("tdm-reservation"))
            if reserved is not None and location.strip():
                yield location.strip(), reserved


def _matcher(locations: Iterator[str]) -> RobotsRules:
    disallowed = (RobotsLine(0, "disallow", location) for location in locations)
    return RobotsRules((RobotsLine(0, "user-agent", "*"), *disallowed), name="")


NOTHING_RESERVED = TdmRules(iter(()))
