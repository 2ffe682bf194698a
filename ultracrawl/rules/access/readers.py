"""Who may see a document: names of users and groups, and what a definition says by the path of a URL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

NOBODY = " nobody"
"""The reader of documents that nobody may see: names of users and groups never begin with a blank."""
BY_HAND = " by-hand"
"""Stands beside readers where the program derives those of other documents: people wrote the names without a type."""
_USER, _GROUP = "user:", "group:"
_SLASHES = re.compile(r"/{2,}")


def user_reader(name: str) -> str:
    """Return the reader, or principal, that is a user, and no group of the same name."""
    return _USER + name


def group_reader(name: str) -> str:
    """Return the reader, or principal, that is a group, and no user of the same name."""
    return _GROUP + name


def is_user(name: str) -> bool:
    """Return whether a name says that it is a user."""
    return name.startswith(_USER)


def is_typed(name: str) -> bool:
    """Return whether a name says that it is a user or a group."""
    return name.startswith((_USER, _GROUP))


def without_type(name: str) -> str:
    """Return the name of a user or group alone."""
    return name.partition(":")[2] if is_typed(name) else name


def group_principals(groups: Iterable[str]) -> tuple[str, ...]:
    """Return the principals of somebody in these groups: as groups, and as the bare names that people write by hand.

    A group whose own name looks like a typed one is never meant by that: else who names a group would become a user.
    """
    names = tuple(dict.fromkeys(groups))
    return (*map(group_reader, names), *(name for name in names if not is_typed(name)))


def with_origin(readers: Iterable[str]) -> tuple[str, ...]:
    """Return readers of a source in which the program derives readers, with `BY_HAND` if one has no type.

    Earlier versions derived names without a type, of users and groups alike; those count no more.
    """
    names = tuple(readers)
    by_hand = any(name != NOBODY and not is_typed(name) for name in names)
    return (*names, BY_HAND) if by_hand else names


def named_readers(readers: Iterable[str]) -> list[str]:
    """Return readers as others understand them, without `BY_HAND`."""
    return [name for name in readers if name != BY_HAND]


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
