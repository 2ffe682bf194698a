"""Users whom another system signs in, with the groups that it names: their role and their principals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.access.readers import group_principals, is_typed, user_reader
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.sources.sections.sign_in import ProxySignIn, SignInSection

OIDC = "oidc"
"""What stands before the names of users who sign in with a provider of OpenID Connect."""
PROXY = "proxy"
"""What stands before the names of users whom a proxy signs in."""
MAX_GROUPS = 2000
"""Groups of a user; whoever has more is in none, because some would have to be left out."""
_LONGEST_NAME, _LONGEST_GROUP = 256, 1000


@dataclass(frozen=True, slots=True)
class OutsideUser:
    """A user as another system names it."""

    name: str
    groups: tuple[str, ...] = ()

    def requester(self, kind: RequesterKind, way: str, section: SignInSection) -> Requester:
        """Return who sends a request of this user; `way` tells apart users of equal names.

        The definitions of now decide, so that a role or a group that they no longer give ends at once.
        """
        groups = all_groups(self.groups, section.groups)
        principals = (*_principals_of(self.name, section.user_prefix), *group_principals(groups))
        return Requester(f"{way}:{self.name}", kind, _highest_role(groups, section), principals)


def _principals_of(name: str, prefix: str) -> tuple[str, ...]:
    """Return the principals that a user is. A prefix of its own keeps these users apart from those of other systems."""
    user = user_reader(name)
    if prefix:
        return (user,) if prefix + name == user else (prefix + name,)
    return (user,) if is_typed(name) else (user, name)


def outside_user(name: object, groups: object) -> OutsideUser | None:
    """Return the user of a name and groups that another system sent; None if that is no name.

    Groups that are not a list of texts are none.
    """
    if not isinstance(name, str) or not _is_name(name.strip(), _LONGEST_NAME):
        return None
    given = [groups] if isinstance(groups, str) else groups
    if not isinstance(given, Sequence) or len(given) > MAX_GROUPS:
        given = ()
    names = [one.strip() for one in given if isinstance(one, str)]
    known = tuple(dict.fromkeys(one for one in names if _is_name(one, _LONGEST_GROUP)))
    return OutsideUser(name.strip(), known)


def proxied_user(peer: str, headers: Mapping[str, Sequence[str]], section: ProxySignIn) -> OutsideUser | None:
    """Return the user whom a proxy at the address `peer` has signed in; None without one.

    `headers` has the values of the headers by name in lower case. A header that came twice names nobody: one of the
    two is the client's.
    """
    names = headers.get(section.header.lower(), ())
    if len(names) != 1 or not section.trusts(peer):
        return None
    groups = headers.get(section.groups_header.lower(), ()) if section.groups_header else ()
    listed = groups[0].split(section.groups_separator) if len(groups) == 1 else ()
    return outside_user(names[0], listed)


def all_groups(groups: Iterable[str], within: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return groups with those that they are in, by `within`, and so on; circles have an end."""
    found = dict.fromkeys(groups)
    waiting = list(found)
    while waiting:
        further = [one for one in within.get(waiting.pop(), ()) if one not in found]
        found.update(dict.fromkeys(further))
        waiting += further
    return tuple(found)


def _highest_role(groups: Sequence[str], section: SignInSection) -> Role | None:
    """Return the highest role of some groups; None without one."""
    members = set(groups)
    return next((role for role in reversed(Role) if members & set(section.roles.get(role.value, ()))), None)


def _is_name(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and text.isprintable()
