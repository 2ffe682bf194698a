"""Authentication of requests by bearer token, and authorisation by role."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ultracrawl.errors import WorkError
from ultracrawl.service.api.guard import FAILURE_WINDOW, MAX_FAILED_LOGINS
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.api.tokens import Role, Token
from ultracrawl.stores.audit_log import REFUSED, Actor, record_action

logger = logging.getLogger(__name__)
UNREADABLE = "the tokens cannot be read; the log of the service says why"

_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="`ultracrawl token create` makes one."
)


def state_of(request: Request) -> ApiState:
    """Return the state shared by all requests."""
    state = request.app.state.api
    assert isinstance(state, ApiState)
    return state


def authenticate(
    request: Request,
    state: Annotated[ApiState, Depends(state_of)],
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Token:
    """Return the token of a request. Raises status 401 without a valid token, 429 after too many failed log-ins."""
    address = request.client.host if request.client else ""
    try:
        token = state.tokens.find_token(shown.credentials) if shown is not None else None
    except WorkError as error:  # the message has a path, which unauthenticated clients must not see
        logger.warning("%s", error)
        raise HTTPException(503, UNREADABLE) from None
    if token is not None:
        request.state.token, request.state.project = token, state.project
        return token
    if state.failed_logins.too_many(address):
        headers = {"Retry-After": f"{FAILURE_WINDOW:.0f}"}
        detail = f"{MAX_FAILED_LOGINS} log-ins failed within {FAILURE_WINDOW:.0f} s"
        raise HTTPException(429, detail, headers)
    if state.failed_logins.note_failure(address):
        record_action(state.project, Actor("unknown", address), "log-in", result=REFUSED)
    detail = "the token is not known" if shown is not None else "send a token: `Authorization: Bearer TOKEN`"
    raise HTTPException(401, detail, {"WWW-Authenticate": 'Bearer realm="ultracrawl"'})


def _at_least(needed: Role) -> Callable[[Token], Token]:
    def check_role(token: Annotated[Token, Depends(authenticate)]) -> Token:
        if not token.role.allows(needed):
            raise HTTPException(403, f"the role {needed.value} is needed; this token has {token.role.value}")
        return token

    return check_role


State = Annotated[ApiState, Depends(state_of)]
Reader = Annotated[Token, Depends(_at_least(Role.READER))]
Editor = Annotated[Token, Depends(_at_least(Role.EDITOR))]
Administrator = Annotated[Token, Depends(_at_least(Role.ADMINISTRATOR))]
