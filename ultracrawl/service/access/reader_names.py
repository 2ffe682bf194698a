"""Names of readers in definitions beside those that users and tokens have: what is alike, and never matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from ultracrawl.rules.access.readers import is_typed, without_type
from ultracrawl.service.access.tokens import Token, TokenStore
from ultracrawl.service.access.users import User, UserStore
from ultracrawl.sources import DataSource, Project


def defined_readers(project: Project) -> tuple[str, ...]:
    """Return the readers that definitions name in `acl` and `acl_paths`, by name."""
    return tuple(sorted({name for source in project.known_sources.values() for name in _readers_of(source)}))


def has_outside_users(project: Project) -> bool:
    """Return whether another system signs users in, whose principals are not known here."""
    section = project.sign_in
    return bool(section.oidc.issuer or section.ldap.url or section.proxy.networks)


def given_principals(users: Iterable[User], tokens: Iterable[Token]) -> set[str]:
    """Return the principals of these users and tokens; those that see all documents have none."""
    return {
        *chain(*(one.principals or () for one in users)),
        *chain(*(one.principals or () for one in tokens)),
    }


def near_misses(principals: Sequence[str], readers: Sequence[str]) -> list[tuple[str, str]]:
    """Return each principal that is no reader, with a reader from which only its type sets it apart."""
    return [
        (name, reader)
        for name in principals
        if name not in readers
        for reader in readers
        if without_type(reader) == without_type(name) and not (is_typed(name) and is_typed(reader))
    ]


def readers_of_nobody(
    project: Project, users: UserStore, tokens: TokenStore
) -> Iterator[tuple[str, str, str]]:
    """Yield source, reader and the principal of another type, for readers without a type that nobody has so.

    Nothing where another system has users and groups, or where nobody has the name at all. Raises `WorkError`.
    """
    if has_outside_users(project):
        return
    principals = sorted(given_principals(users.all_users(), tokens.all_tokens()))
    for name, source in project.known_sources.items():
        untyped = [one for one in _readers_of(source) if not is_typed(one)]
        for reader, principal in near_misses(untyped, principals):
            yield name, reader, principal


def _readers_of(source: DataSource) -> list[str]:
    """Return the readers that `acl` and `acl_paths` name, each once; those with blanks around them match nobody."""
    named = dict.fromkeys(chain(source.acl, *source.acl_paths.values()))
    return [name for name in named if name.strip() == name]
