"""META robots values and X-Robots-Tag headers (Ultra Search 11, FAST `check_meta_robots`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ultracrawl.model.page import ALLOW_ALL, RobotsDirectives

_PLAIN = frozenset({"index", "follow", "all"})
_KNOWN = r"(?:all|index|follow|no(?!v\b|vember\b)[a-z]+|max-[a-z-]+|unavailable_after)(?=[ ,;:]|$)"
"""A directive: what ends a date or the name of an agent before it, even if only a blank stands between them."""
_DAYS = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
_ITEMS = re.compile(
    rf"(unavailable_after ?:(?: ?{_DAYS} ?,)?(?:(?! {_KNOWN})[^,;]|,(?= ?\d))*|max-[a-z-]+ ?: ?[^ ,;]*)"
    rf"|({_KNOWN})(?!:| :)"
    rf"|((?! )(?:(?! {_KNOWN})[^,;:]){{1,64}}):"
    r"|([^ ,;]+)"
)
"""In lower case and with single blanks: a directive with a value, one without, an agent, any other word."""


def parse_directives(
    meta: Iterable[str] = (), x_robots_tag: Iterable[str] = (), *, name: str = "ultracrawl"
) -> RobotsDirectives:
    """Combine META values and X-Robots-Tag header values for the robot `name`; the strictest wins.

    Directives are separated by commas, semicolons or blanks; the date of `unavailable_after` may have commas and
    blanks of its own. A value may name agents (`otherbot: noindex, nofollow`), each for the directives up to the next
    agent; those for other agents are ignored. Unknown directives are kept in `others`.
    """
    words = dict.fromkeys(word for value in (*meta, *x_robots_tag) for word in _words(value, name.lower()))
    if not words:
        return ALLOW_ALL
    none = "none" in words
    return RobotsDirectives(
        index=not (none or "noindex" in words),
        follow=not (none or "nofollow" in words),
        others=tuple(
            word for word in words if word not in _PLAIN and word not in {"none", "noindex", "nofollow"}
        ),
    )


def _words(value: str, name: str) -> Iterator[str]:
    """Yield the directives of a value for the robot `name`, in lower case, those with a value as one word."""
    applies = True
    for with_value, plain, agent, other in _ITEMS.findall(" ".join(value.lower().split())):
        if agent:
            applies = agent.strip() in (name, "*")
        elif applies:
            yield with_value.strip() or plain or other
