"""Who somebody is by the name that a person writes, and why they see a document, or do not."""

from __future__ import annotations

from enum import StrEnum
from itertools import chain

from ultracrawl.rules.access.readers import NOBODY, group_principals, is_user, without_type
from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.access.outside import OIDC, PROXY, all_groups, outside_user
from ultracrawl.service.access.reader_names import (
    defined_readers,
    given_principals,
    has_outside_users,
    near_misses,
)
from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.sources import Project

PUBLIC = "public"
SEPARATOR = ";"
"""Between two principals: names of LDAP directories have commas."""


class Sight(StrEnum):
    """Why somebody sees a document of the index, or does not."""

    SEES = "sees"
    NOT_INDEXED = "not-indexed"
    NOT_PUBLIC = "not-public"
    """Anybody sees public sources only."""
    NO_READERS = "no-readers"
    """Nothing names readers, and the source denies by default."""
    OTHER_READERS = "other-readers"
    """The definition names others."""
    NEAR_MISS = "near-miss"
    """A principal has the name of a reader of the definition, and another type, or none."""
    OTHER_SOURCES = "other-sources"
    """They find documents of other sources only."""
    UNKNOWN = "unknown"
    """Nobody has this name, and no definition names it."""
    OWN_READERS = "own-readers"
    """The document itself names others than the definition does."""


def requester_named(accounts: Accounts, project: Project, text: str) -> Requester:
    """Return who is meant: a user, `token:NAME`, `key:NAME`, `public`, or else principals. Raises `WorkError`.

    A user is `user:NAME`, or the bare name. Principals count as groups unless they are `user:NAME`, so that those come
    with them in which they are. `oidc:NAME` and `proxy:NAME` have the groups of the directory, but not those that a
    provider or a proxy sends.
    """
    kind, _, name = text.strip().partition(":")
    user = accounts.users.find_user(name if kind == "user" else text)
    if user is not None:
        return user.requester
    tokens = accounts.tokens.all_tokens() if kind in ("token", "key") else []
    for requester in (one.requester for one in tokens):
        if requester.name == text.strip() and requester.role is not None:
            return requester
    if kind in (PUBLIC, "", "key"):
        return Requester(PUBLIC, RequesterKind.PUBLIC, None, (), project.public_sources)
    outside = outside_user(name, ()) if kind in (OIDC, PROXY) and project.sign_in.ldap.url else None
    if outside is not None:
        return accounts.outside_requester(outside, RequesterKind.USER, kind)
    names = [one.strip() for one in text.split(SEPARATOR) if one.strip()]
    users = tuple(filter(is_user, names))
    groups = all_groups((without_type(one) for one in names if not is_user(one)), project.sign_in.groups)
    return Requester(text.strip(), RequesterKind.USER, None, (*users, *group_principals(groups)))


def is_unknown(accounts: Accounts, project: Project, text: str) -> bool:
    """Return whether nobody and nothing is called so; False where another system has users. Raises `WorkError`."""
    if has_outside_users(project):
        return False
    users, tokens = accounts.users.all_users(), accounts.tokens.all_tokens()
    given = chain(defined_readers(project), project.sign_in.groups, given_principals(users, tokens))
    known = set(map(without_type, given))
    known |= {PUBLIC, *(one.name for one in users), *(one.requester.name for one in tokens)}
    names = [one.strip() for one in text.split(SEPARATOR)]
    return known.isdisjoint((*names, *map(without_type, names)))


def why_unseen(requester: Requester, readers: tuple[str, ...]) -> Sight:
    """Return why somebody does not see an indexed document; `readers` are those of the definition."""
    if not readers or set(readers) & set(requester.principals or ()):
        return Sight.OWN_READERS
    if near_misses(requester.principals or (), readers):
        return Sight.NEAR_MISS
    return Sight.NO_READERS if readers == (NOBODY,) else Sight.OTHER_READERS
