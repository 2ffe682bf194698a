"""Everything with which somebody shows the service who they are."""

from __future__ import annotations

import hmac
from hashlib import sha256

from ultracrawl.service.access.failed_logins import FailedLogins
from ultracrawl.service.access.logins import LoginChecker
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.sessions import Session, SessionStore
from ultracrawl.service.access.tokens import TokenStore
from ultracrawl.service.access.users import UserStore
from ultracrawl.sources import Project


class Accounts:
    """The tokens, users and sessions of a project, and the log-ins that failed."""

    def __init__(self, project: Project) -> None:
        self.tokens = TokenStore.of_project(project)
        self.users = UserStore.of_project(project)
        self.sessions = SessionStore.of_project(project)
        self.failed_logins = FailedLogins()
        self.logins = LoginChecker(self.users, self.failed_logins, self.sessions.secret)

    def csrf_token_of(self, requester: Requester) -> str:
        """Return what the forms of a user without a session have to send; the secret of the sessions signs it."""
        return hmac.new(self.sessions.secret.encode(), f"forms {requester.name}".encode(), sha256).hexdigest()

    def session_of(self, identifier: str) -> tuple[Requester, Session] | None:
        """Return whose session an identifier has, and the session; None if one is no more. Raises `WorkError`."""
        session = self.sessions.find(identifier)
        if session is None:
            return None
        if not session.number:
            return Requester(f"user:{session.user}", RequesterKind.USER, Role.ADMINISTRATOR, None), session
        user = self.users.find_user(session.user)
        if user is None or user.number != session.number:
            self.sessions.end_session(identifier)
            return None
        return user.requester, session
