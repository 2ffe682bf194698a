"""META robots values and X-Robots-Tag headers (Ultra Search 11, FAST `check_meta_robots`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ultracrawl.model.page import ALLOW_ALL, RobotsDirectives

_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_PLAIN = frozenset({"index", "follow", "all"})
_DIGIT = re.compile(r"\d")


def parse_directives(
    meta: Iterable[str] = (), x_robots_tag: Iterable[str] = (), *, name: str = "ultracrawl"
) -> RobotsDirectives:
    """Combine META values and X-Robots-Tag header values for the robot `name`; the strictest wins.

    `meta` only has values for this robot. A header value may name agents (`otherbot: noindex, nofollow`), each for the
    directives up to the next agent; those for other agents are ignored. Unknown directives are kept in `others`.
    """
    directives = [word for value in meta for word in _words(value)]
    for value in x_robots_tag:
        directives.extend(_for_agent(_words(value), name.lower()))
    if not directives:
        return ALLOW_ALL
    words = dict.fromkeys(directives)
    none = "none" in words
    return RobotsDirectives(
        index=not (none or "noindex" in words),
        follow=not (none or "nofollow" in words),
        others=tuple(
            word for word in words if word not in _PLAIN and word not in {"none", "noindex", "nofollow"}
        ),
    )


def _words(value: str) -> Iterator[str]:
    waiting = ""
    for part in value.split(","):
        word = " ".join(part.lower().split())
        if waiting:
            word, waiting = f"{waiting}, {word}", ""
        if word.startswith("unavailable_after") and not _DIGIT.search(word):
            waiting = word  # the date contains a comma: `Wed, 03 Dec 2025 ...`
        elif word:
            yield word
    if waiting:
        yield waiting


def _for_agent(words: Iterable[str], name: str) -> Iterator[str]:
    applies = True
    for word in words:
        head, colon, rest = word.partition(":")
        if not colon or head.strip() in _WITH_VALUE:
            directive = word
        else:
            applies = head.strip() in {name, "*"}
            directive = rest.strip()
        if applies and directive:
            yield directive
