"""Which group of a robots.txt addresses a robot (RFC 9309 section 2.2.1, Ultra Search 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ultracrawl.rules.robots.lines import RobotsGroup

_VERSION = re.compile(r"[/\s]+v?[\d.]+$|/.*$", re.DOTALL)
_COMPATIBLE = re.compile(r"\(compatible;\s*([^;/)]+)", re.IGNORECASE)
_TOKEN = re.compile(r"[a-z0-9_-]*")
_EVERY_ROBOT = re.compile(r"\*(?:\s|$)")


def robot_name(name: str) -> str:
    """Return the name a group has to carry: lower case, blanks folded, without version and asterisk.

    A whole User-Agent header is accepted: the robot is the one behind `(compatible;`, else the first product.
    """
    header = _COMPATIBLE.search(name)
    spoken = header[1] if header else name
    return " ".join(_VERSION.sub("", spoken.strip()).lower().replace("*", "").split())


def groups_for(groups: Iterable[RobotsGroup], name: str) -> list[RobotsGroup]:
    """Return the groups that count for the robot `name` (from `robot_name`), in file order.

    All groups of the longest matching agent count together; without any, all groups of `*`. An agent matches
    if it is the name, or the name up to a hyphen (`news` addresses `news-images` if nothing is more exact).
    """
    best: list[RobotsGroup] = []
    best_score = 0
    for group in groups:
        score = max((_score(agent, name) for agent in group.agents), default=0)
        if score > best_score:
            best, best_score = [group], score
        elif score and score == best_score:
            best.append(group)
    return best


def _score(agent: str, name: str) -> int:
    if _EVERY_ROBOT.match(agent):
        return 1
    if not name:
        return 0
    spoken = agent.replace("*", "").strip()
    for candidate in (spoken, _VERSION.sub("", spoken), _leading_token(spoken)):
        if candidate and _addresses(candidate, name):
            return 1 + len(candidate)
    return 0


def _leading_token(agent: str) -> str:
    token = _TOKEN.match(agent)
    return token[0] if token else ""


def _addresses(candidate: str, name: str) -> bool:
    return candidate == name or (name.startswith(candidate) and name[len(candidate)] == "-")
