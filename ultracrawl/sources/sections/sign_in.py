"""The `sign_in` section of a project: users whom another system signs in, what their groups allow, and sessions."""

import ipaddress
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.sources.durations import Interval, NeededInterval
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.secrets import Secret
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import Network, PrincipalNames, one_or_list

HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,100}$")]
Scope = Annotated[str, Field(pattern=r"^[\x21\x23-\x5b\x5d-\x7e]{1,200}$")]
AttributeName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,99}$")]
RoleName = Literal["reader", "editor", "administrator"]


def _check_issuer(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:  # `https://[`
        parts = urlsplit("")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_NAMES)
    if not is_safe or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise mistake(
            "this is not the address of a provider of OpenID Connect",
            "write `issuer` as its configuration has it, as `https://login.example.com/realms/main`",
        )
    return url


class OidcSignIn(Section):
    """A provider of OpenID Connect with which users sign in."""

    issuer: Annotated[str, AfterValidator(_check_issuer)] | None = Field(
        default=None, examples=["https://login.example.com/realms/main"]
    )
    """The address of the provider. Its ID tokens name it exactly so."""
    client_id: str = Field(default="", max_length=1000, examples=["ultracrawl"])
    """The name under which the provider knows this service."""
    client_secret: Secret | None = Field(default=None, examples=["${OIDC_SECRET}"])
    """The secret of `client_id`. None: the provider knows the service as a public client."""
    label: str = Field(default="", max_length=100, examples=["Example Corp"])
    """What the log-in page calls the provider. None: its host."""
    scopes: Annotated[tuple[Scope, ...], one_or_list(Scope)] = Field(
        default=("openid", "profile"), examples=[["openid", "profile", "groups"]]
    )
    """What is asked for; `openid` has to be among them."""
    user_claim: str = Field(default="sub", min_length=1, max_length=100, examples=["preferred_username"])
    """The claim with the name of the user, which users must not be able to change. `email` counts if it is verified."""
    groups_claim: str = Field(default="groups", min_length=1, max_length=100, examples=["realm_access.roles"])
    """The claim with the groups of the user; a point leads into a claim that has others."""
    expiry: Interval = Field(default=3600.0, examples=["15 min"])
    """After this time the provider is asked again who the user is, and in which groups."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.issuer is None) is bool(self.client_id):
            given, missing = ("issuer", "client_id") if self.issuer else ("client_id", "issuer")
            raise mistake(f"`{given}` has no effect without `{missing}`", f"add `{missing}`")
        if "openid" not in self.scopes:
            raise mistake("`scopes` has no `openid`", "add `openid`")
        return self


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


def _check_directory(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("ldap", "ldaps") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or parts.username or parts.path.strip("/") or parts.query or parts.fragment:
        raise mistake(
            "this is not the address of an LDAP directory",
            "write `ldaps://HOST`, or `ldap://HOST`, which is encrypted by StartTLS",
        )
    return url


class LdapGroups(Section):
    """An LDAP directory that names the groups of the users whom another system signs in."""

    url: Annotated[str, AfterValidator(_check_directory)] | None = Field(
        default=None, examples=["ldaps://ldap.example.com"]
    )
    """The directory. With `ldap:` the connection is encrypted by StartTLS, unless the directory is on this machine."""
    bind_dn: str = Field(default="", max_length=1000, examples=["cn=search,dc=example,dc=com"])
    """The entry that reads in the directory. None: nobody in particular."""
    password: Secret | None = Field(default=None, examples=["${LDAP_PASSWORD}"])
    """The password of `bind_dn`."""
    users: str = Field(default="", max_length=1000, examples=["ou=people,dc=example,dc=com"])
    """The entry below which users are."""
    user_attribute: AttributeName = Field(default="uid", examples=["sAMAccountName"])
    """The attribute with the name of the user, as the other system sends it. Case does not matter."""
    groups: str = Field(default="", max_length=1000, examples=["ou=groups,dc=example,dc=com"])
    """The entry below which groups are."""
    group_attribute: AttributeName = Field(default="cn", examples=["dn"])
    """The attribute with the name of a group; `dn` for the name of its entry, which no other group has."""
    member_attribute: AttributeName = Field(default="member", examples=["uniqueMember"])
    """The attribute of a group with the entries of its members. `memberUid` has their names, and no groups."""
    expiry: Interval = Field(default=900.0, examples=["5 min"])
    """After this time the directory is asked again for the groups of a user."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        given = [name for name in ("url", "users", "groups") if getattr(self, name)]
        missing = [name for name in ("url", "users", "groups") if name not in given]
        if given and missing:
            raise mistake(f"`{given[0]}` has no effect without `{missing[0]}`", f"add `{missing[0]}`")
        if bool(self.bind_dn) is (self.password is None):  # a name without a password binds as nobody
            present, absent = ("bind_dn", "password") if self.bind_dn else ("password", "bind_dn")
            raise mistake(f"`{present}` has no effect without `{absent}`", f"add `{absent}`")
        return self


class SessionLimits(Section):
    """How long a session of a browser lasts, whoever signed its user in."""

    expiry: NeededInterval = Field(default=30 * 86_400.0, examples=["12 h"])
    """After this time a session ends, and the user has to log in again."""
    idle_timeout: NeededInterval = Field(default=3 * 86_400.0, examples=["30 min"])
    """After this time without a request a session ends."""


class SignInSection(Section):
    """Users of the service whom another system signs in, and sessions of all users."""

    proxy: ProxySignIn = Field(default=ProxySignIn.by_default(), examples=[{"networks": ["10.1.0.7"]}])
    """A reverse proxy that says in a header who its user is."""
    oidc: OidcSignIn = Field(
        default=OidcSignIn.by_default(),
        examples=[{"issuer": "https://login.example.com/realms/main", "client_id": "ultracrawl"}],
    )
    """A provider of OpenID Connect with which users sign in (needs the extra `oidc`)."""
    ldap: LdapGroups = Field(
        default=LdapGroups.by_default(),
        examples=[
            {
                "url": "ldaps://ldap.example.com",
                "users": "ou=people,dc=example",
                "groups": "ou=groups,dc=example",
            }
        ],
    )
    """An LDAP directory that names the groups of these users (needs the extra `ldap`)."""
    sessions: SessionLimits = Field(default=SessionLimits.by_default(), examples=[{"expiry": "12 h"}])
    """How long a log-in lasts, of the users of the service too."""
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
    taking its name. Files of the user `ann` are for `user:ann`. Empty: the user is `user:NAME`, and the bare name as
    well."""
