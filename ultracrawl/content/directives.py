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

    `meta` holds only values meant for us. A header value may carry agents (`otherbot: noindex, nofollow`),
    which hold up to the next agent; parts for other agents are passed over. Unknown directives are kept in
    `others`.
    """
    found = [word for value in meta for word in _words(value)]
    for value in x_robots_tag:
        found.extend(_for_agent(_words(value), name.lower()))
    if not found:
        return ALLOW_ALL
    words = dict.fromkeys(found)
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
            waiting = word  # the date itself holds a comma: `Wed, 03 Dec 2025 ...`
        elif word:
            yield word
    if waiting:
        yield waiting


def _for_agent(words: Iterable[str], name: str) -> Iterator[str]:
    mine = True
    for word in words:
        head, colon, rest = word.partition(":")
        if not colon or head.strip() in _WITH_VALUE:
            directive = word
        else:
            mine = head.strip() in {name, "*"}
            directive = rest.strip()
        if mine and directive:
            yield directive
