"""What a site asks of robots, and how strictly it is followed.

`RobotsRules` (the part of one robots.txt that concerns us), `RobotsRule` (one Allow or Disallow line),
`RobotsPolicy` (what an answer, an error or a time-out for robots.txt means), `origin_of` (the key under which
rules are kept), `IndexPermission` (whether a page lets itself be indexed; `NOINDEX` and `expiry` are reasons against
it), `Reservation` and `reservations_of` (uses that an owner reserves), `first_reserved` (the reservation that counts).
"""

from ultracrawl.rules.robots.permission import NOINDEX, IndexPermission, expiry
from ultracrawl.rules.robots.policy import RobotsPolicy, origin_of
from ultracrawl.rules.robots.reservations import Reservation, first_reserved, reservations_of
from ultracrawl.rules.robots.rules import RobotsRule, RobotsRules

__all__ = [
    "NOINDEX",
    "IndexPermission",
    "Reservation",
    "RobotsPolicy",
    "RobotsRule",
    "RobotsRules",
    "expiry",
    "first_reserved",
    "origin_of",
    "reservations_of",
]
