"""What a site asks of robots, and how strictly it is followed.

`RobotsRules` (the part of one robots.txt that concerns us), `RobotsRule` (one Allow or Disallow line),
`RobotsPolicy` (what an answer, an error or a time-out for robots.txt means), `origin_of` (the key under which
rules are kept), `IndexPermission` (whether a page lets itself be indexed; `expiry` is a reason against
it), `Reservation` and `reservations_of` (uses that an owner reserves), `first_reserved` (the reservation that counts).
"""
