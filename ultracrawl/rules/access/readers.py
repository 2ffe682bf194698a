"""Who may see a document by the path of its URL: rules that the definition of a source has."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

NOBODY = " nobody"
"""The reader of documents that nobody may see: names of users and groups never begin with a blank."""
_SLASHES = re.compile(r"/{2,}")


def readers_by_path(
    rules: Mapping[str, Sequence[str]], default: Sequence[str], urls: Sequence[str]
) -> tuple[str, ...]:
    """Return who may see a document with several URLs: those who may by each of them. Empty: everybody.

    Of the rules that fit a URL the longest one counts; `default` is for URLs that none fits.
    """
    found = [_of_url(rules, default, url) for url in dict.fromkeys(urls)]
    restricted = [readers for readers in found if readers]
    if not restricted:
        return ()
    common = (name for name in restricted[0] if all(name in readers for readers in restricted[1:]))
    return tuple(common) or (NOBODY,)


def _of_url(rules: Mapping[str, Sequence[str]], default: Sequence[str], url: str) -> Sequence[str]:
    parts = urlsplit(url)
    path = _plain(parts.path or "/")
    whole = f"{parts.scheme}://{parts.netloc}{path}".casefold()
    fitting = [rule for rule in rules if _expression(rule).match(whole if "://" in rule else path.casefold())]
    return rules[max(fitting, key=lambda rule: (len(rule), rule))] if fitting else default


def _plain(path: str) -> str:
    """Return a path as servers understand it: without escapes, and without empty steps."""
    return _SLASHES.sub("/", unquote(path))


@lru_cache(maxsize=1000)
def _expression(rule: str) -> re.Pattern[str]:
    """Return the expression of the beginning of a path or a URL, in which `*` stands for any characters."""
    scheme, mark, rest = rule.rpartition("://")
    return re.compile(
        ".*".join(map(re.escape, (scheme + mark + _plain(rest)).casefold().split("*"))), re.DOTALL
    )
