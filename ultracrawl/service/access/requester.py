"""Who sends a request, and what that allows."""

from __future__ import annotations

from enum import StrEnum

from ultracrawl.dataclass import dataclass


class Role(StrEnum):
    """The role of a token or a user; each includes the rights of those before it."""

    READER = "reader"
    """Search, documents, status of sources and schedules, metrics."""
    EDITOR = "editor"
    """Also known URLs, starting and stopping crawls, approvals."""
    ADMINISTRATOR = "administrator"
    """Also orders for schedules, and reloading definitions."""

    def allows(self, needed: Role) -> bool:
        """Return whether this role includes the rights of another one."""
        order = list(Role)
        return order.index(self) >= order.index(needed)


class RequesterKind(StrEnum):
    """How a request shows who sends it."""

    TOKEN = "token"  # noqa: S105 - no secret
    USER = "user"
    PROXIED = "proxy"
    """A user whom a proxy names with each request."""
    KEY = "key"
    """The public key of a site."""
    PUBLIC = "public"
    """Nobody in particular, where the search page is public."""


@dataclass(frozen=True, slots=True)
class Requester:
    """Who sends a request: a token, a signed-in user, the public key of a site, or anybody."""

    name: str
    """Unique, for fairness and the audit log: `token:portal`, `user:anna`, `proxy:anna`, `key:docs`, `public`."""
    kind: RequesterKind
    role: Role | None
    """None: may only search."""
    principals: tuple[str, ...] | None
    """Users and groups whose documents are shown, beside public ones; None: all documents."""
    sources: tuple[str, ...] | None = None
    """The only sources in which it finds documents; None: all. A role is not limited by it."""

    @property
    def uses_forms(self) -> bool:
        """Whether its browser is known by what it sends by itself, so that changes need a CSRF token as well."""
        return self.kind in (RequesterKind.USER, RequesterKind.PROXIED)

    def finds_in(self, source: str) -> bool:
        """Return whether it finds documents of a source, as far as their readers allow."""
        return self.sources is None or source in self.sources

    def allows(self, needed: Role) -> bool:
        """Return whether it has the rights of a role."""
        return self.role is not None and self.role.allows(needed)
