"""Patterns of URLs: addresses with wildcards in place of what differs between the pages of one generator.

`#` stands for a number or an identifier, `*` for anything in a segment or a value, `/**` for any further segments.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_VARIABLE = re.compile(r"(?=[a-z_-]*\d)(?:[0-9a-f]{8,}|[0-9a-z_-]{16,})|\d+", re.IGNORECASE)
"""Identifiers and numbers."""
_VALUE = re.compile(r"=[^&]*")
_WILDCARD = re.compile(r"(/\*\*|[*#])")
_EXPRESSIONS = {"/**": "(?:/.*)?", "*": "[^/?]*", "#": r"[\w-]*\d[\w-]*"}
MOST_STARS = 3
"""Wildcards in a row of a pattern; more segments are `**`, any number."""
MOST_PREFIXES = 4
"""Beginnings of a path that have patterns of their own, the shortest ones."""


class UrlPattern(NamedTuple):
    """A pattern of a URL."""

    text: str
    value: str
    """What the URL has where the pattern has its first wildcard for a whole segment or query, else the URL."""


def url_patterns(url: str) -> tuple[UrlPattern, ...]:
    """Return the patterns of a canonical URL, the narrowest first; none is that of a whole site.

    The first has the path and the names of the query. Each further one has `*` for more: for the query, and for all
    segments but the first ones. A path with a segment twice has one pattern (`/**/a/**/a/**`) in place of all these.
    """
    place, _, query = url.partition("?")
    scheme, _, host, *written = place.split("/")
    if "" in written:
        written = [segment for segment in written if segment]
    segments = _VARIABLE.sub("#", "/".join(written)).split("/") if written else []
    names = _names_of(query) if query else ""
    site = f"{scheme}//{host}"
    if len(set(segments)) < len(segments):
        twice = (segment for segment in segments if "#" not in segment and segments.count(segment) > 1)
        if repeated := next(twice, ""):
            return (UrlPattern(f"{site}/**/{repeated}/**/{repeated}/**", url),)
    narrow, any_query = "/".join((site, *segments)), "?*" if names else ""
    patterns = {narrow + names: url}
    if names:
        patterns.setdefault(narrow + any_query, names)
    for number in range(min(len(segments) - 1, MOST_PREFIXES), 0, -1):
        left = len(segments) - number
        stars = "/*" * left if left <= MOST_STARS else "/**"
        patterns.setdefault("/".join((site, *segments[:number])) + stars + any_query, written[number])
    return tuple(map(UrlPattern._make, patterns.items()))


def _names_of(query: str) -> str:
    """Return the names of a query in order, each once."""
    pairs = _VALUE.sub("=*", query).split("&")
    return "?" + "&".join(sorted({_VARIABLE.sub("#", pair) for pair in pairs if pair}))


def pattern_expression(pattern: str) -> str:
    """Return a regular expression for the URLs of a pattern, as `boundary.uris.exclude` takes it.

    The names of a query may come in any order, and some of them may be missing.
    """
    place, _, names = pattern.partition("?")
    path = "".join(_expression_of(part) for part in _WILDCARD.split(place))
    if not names:
        return f"{path}/?"
    if names == "*":
        return rf"{path}/?\?.*"
    either = "|".join(
        "".join(map(_expression_of, _WILDCARD.split(name.partition("=")[0]))) for name in names.split("&")
    )
    return rf"{path}/?\?(?:(?:{either})(?:=[^&]*)?&?)+"


def _expression_of(part: str) -> str:
    return _EXPRESSIONS.get(part) or re.escape(part)
