"""The `sign_in` section of a project: users whom another system signs in, and what their groups let them do."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Network, PrincipalNames, one_or_list

HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]
RoleName = Literal["reader", "editor", "administrator"]


class ProxySignIn(Section):
    """A reverse proxy that signs users in, and says in headers who they are."""

    networks: Annotated[tuple[Network, ...], one_or_list(Network)] = Field(
        default=(), examples=[["10.1.0.7", "127.0.0.1"]]
    )
    """The addresses of proxies that sign users in. Headers from all others are ignored."""
    header: HeaderName = Field(default="X-Forwarded-User", examples=["X-Remote-User"])
    """The header with the name of the user. The proxy has to remove it from what clients send."""
    groups_header: HeaderName | None = Field(default=None, examples=["X-Forwarded-Groups"])
    """The header with the groups of the user, separated by `groups_separator`. None: users have no groups."""
    groups_separator: Literal[",", ";", "|"] = Field(default=",", examples=[";"])
    """What stands between two groups in `groups_header`."""

    def trusts(self, address: str) -> bool:
        """Return whether an address is that of one of the proxies."""
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        plain = getattr(found, "ipv4_mapped", None) or found
        return any(plain in network for network in self.networks)


class SignInSection(Section):
    """Users of the service whom another system signs in."""

    proxy: ProxySignIn = Field(default=ProxySignIn.by_default(), examples=[{"networks": ["10.1.0.7"]}])
    """A reverse proxy that says in a header who its user is."""
    roles: Mapping[RoleName, PrincipalNames] = Field(
        default={}, examples=[{"administrator": ["operators"], "reader": ["staff"]}]
    )
    """The groups whose members have a role in the administration. Others may only search."""
    groups: Mapping[Annotated[str, Field(min_length=1, max_length=1000)], PrincipalNames] = Field(
        default={}, examples=[{"north": ["staff"], "operators": ["staff"]}]
    )
    """Groups within groups: whoever is in a group is in these, too."""
    user_prefix: str = Field(default="user:", max_length=100, examples=[""])
    """What stands before the name of a user where it is a principal, so that nobody gets the documents of a group by
    taking its name."""
