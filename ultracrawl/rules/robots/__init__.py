"""What a site asks of robots, and how strictly it is followed.

`RobotsRules` (the part of one robots.txt that concerns us), `RobotsRule` (one Allow or Disallow line),
`RobotsPolicy` (what an answer, an error or a time-out for robots.txt means), `origin_of` (the key under which
rules are kept), `parse_directives` (META robots and X-Robots-Tag), `Reservation` and `reservations_of` (uses that an
owner reserves), `first_reserved` (the reservation that counts).
"""

from ultracrawl.rules.robots.directives import parse_directives
from ultracrawl.rules.robots.policy import RobotsPolicy, origin_of
from ultracrawl.rules.robots.reservations import Reservation, first_reserved, reservations_of
from ultracrawl.rules.robots.rules import RobotsRule, RobotsRules

__all__ = [
    "Reservation",
    "RobotsPolicy",
    "RobotsRule",
    "RobotsRules",
    "first_reserved",
    "origin_of",
    "parse_directives",
    "reservations_of",
]
