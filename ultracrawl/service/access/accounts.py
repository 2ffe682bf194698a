"""Everything with which somebody shows the service who they are."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256

from ultracrawl.service.access.failed_logins import FailedLogins, RecentCounts
from ultracrawl.service.access.ldap.directory import Directory
from ultracrawl.service.access.ldap.lookup import GroupLookup
from ultracrawl.service.access.logins import LoginChecker
from ultracrawl.service.access.oidc.attempts import Attempts
from ultracrawl.service.access.oidc.provider import OidcProvider
from ultracrawl.service.access.outside import OIDC, OutsideUser, outside_user
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.sessions import Session, SessionStore
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.sources import Project

DAY = 86_400.0
"""Seconds for which a user whom a proxy names counts as logged in."""


class Accounts:
    """The tokens, users and sessions of a project, and the log-ins that failed."""

    def __init__(self, project_now: Callable[[], Project]) -> None:
        """`project_now` returns the project by the present definitions."""
        self._project_now, project = project_now, project_now()
        self.tokens = TokenStore.of_project(project)
        self.users = UserStore.of_project(project)
        self.sessions = SessionStore.of_project(project_now)
        self.failed_logins = FailedLogins()
        self.logins = LoginChecker(self.users, self.failed_logins, self.sessions.secret)
        self.attempts = Attempts(self.sessions.secret)
        self._provider: OidcProvider | None = None
        self._directory: tuple[Directory, GroupLookup] | None = None
        self._proxied = RecentCounts(DAY, 1, time.monotonic)

    def waits_for_provider(self, identifier: str) -> bool:
        """Return whether a session shows nothing until its provider has said anew who the user is."""
        session, section = self.sessions.find(identifier), self._project_now().sign_in
        return session is not None and bool(session.issuer) and session.issuer == section.oidc.issuer

    def provider(self) -> OidcProvider | None:
        """Return the provider with which users sign in; None without one. Raises `MissingExtraError`."""
        project = self._project_now()
        options, known = project.sign_in.oidc, self._provider
        if options.issuer is None:
            return None
        if known is None or known.options != options:
            self._provider = known = OidcProvider(options, project.key_file)
        return known

    def outside_requester(self, user: OutsideUser, kind: RequesterKind, way: str) -> Requester:
        """Return who sends a request of a user whom another system signs in, with the groups of the directory.

        `way` tells apart users of equal names.
        """
        section = self._project_now().sign_in
        groups = (*user.groups, *self._groups_of(user.name)) if section.ldap.url else user.groups
        return replace(user, groups=groups).requester(kind, way, section)

    def _groups_of(self, name: str) -> tuple[str, ...]:
        project, known = self._project_now(), self._directory
        options = project.sign_in.ldap
        if known is None or known[0].options != options:
            directory = Directory(options, project.key_file)
            self._directory = known = directory, GroupLookup(directory.groups_of, options.expiry or 0.0)
        return known[1].groups_of(name)

    def _provided(self, session: Session) -> Requester | None:
        """Return the user of a provider, by the definitions of now; None once the provider has to be asked again."""
        section = self._project_now().sign_in
        is_old = session.began + (section.oidc.expiry or 0.0) <= time.time()
        if is_old or session.issuer != section.oidc.issuer:
            return None
        user = outside_user(session.user.removeprefix(f"{OIDC}:"), session.groups)
        return self.outside_requester(user, RequesterKind.USER, OIDC) if user is not None else None

    def is_new(self, requester: Requester, address: str) -> bool:
        """Return whether a user whom a proxy names was not seen at an address within a day; notes it."""
        key = f"{requester.name} {address}"
        if self._proxied.count_of(key):
            return False
        self._proxied.add(key)
        return True

    def csrf_token_of(self, requester: Requester) -> str:
        """Return what the forms of a user without a session have to send; the secret of the sessions signs it."""
        return hmac.new(self.sessions.secret.encode(), f"forms {requester.name}".encode(), sha256).hexdigest()

    def session_of(self, identifier: str) -> tuple[Requester, Session] | None:
        """Return whose session an identifier has, and the session; None if one is no more. Raises `WorkError`."""
        session = self.sessions.find(identifier)
        if session is None:
            return None
        requester = self.requester_of(session)
        if requester is None and not session.issuer:
            self.sessions.end_session(identifier)
        return (requester, session) if requester is not None else None

    def requester_of(self, session: Session) -> Requester | None:
        """Return who sends requests in a session; None if nobody may any more. Raises `WorkError`."""
        if session.issuer:
            return self._provided(session)
        if not session.number:
            return Requester(f"user:{session.user}", RequesterKind.USER, Role.ADMINISTRATOR, None)
        user = self.users.find_user(session.user)
        return user.requester if user is not None and user.number == session.number else None
