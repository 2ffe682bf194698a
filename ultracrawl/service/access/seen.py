"""Who somebody is by the name that a person writes, and why they see a document, or do not."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from ultracrawl.rules.access.readers import NOBODY, group_principals, is_typed, is_user, without_type
from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.access.outside import OIDC, PROXY, all_groups, outside_user
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
    OWN_READERS = "own-readers"
    """The document itself names others than the definition does."""


def requester_named(accounts: Accounts, project: Project, text: str) -> Requester:
    """Return who is meant: `user:NAME`, `token:NAME`, `key:NAME`, `public`, or else principals. Raises `WorkError`.

    Principals count as groups unless they are `user:NAME`, so that those come with them in which they are. `oidc:NAME`
    and `proxy:NAME` have the groups of the directory, but not those that a provider or a proxy sends.
    """
    kind, _, name = text.strip().partition(":")
    user = accounts.users.find_user(name) if kind == "user" else None
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


def why_unseen(requester: Requester, readers: tuple[str, ...]) -> Sight:
    """Return why somebody does not see an indexed document; `readers` are those of the definition."""
    if not readers or set(readers) & set(requester.principals or ()):
        return Sight.OWN_READERS
    return Sight.NO_READERS if readers == (NOBODY,) else Sight.OTHER_READERS


def defined_readers(project: Project) -> tuple[str, ...]:
    """Return the readers that definitions name in `acl` and `acl_paths`, by name."""
    lists = (names for one in project.known_sources.values() for names in (one.acl, *one.acl_paths.values()))
    return tuple(sorted({name for names in lists for name in names if name.strip() == name}))


def near_misses(principals: Sequence[str], readers: Sequence[str]) -> list[tuple[str, str]]:
    """Return each principal that is no reader, with a reader from which only its type sets it apart."""
    return [
        (name, reader)
        for name in principals
        if name not in readers
        for reader in readers
        if without_type(reader) == without_type(name) and not (is_typed(name) and is_typed(reader))
    ]
