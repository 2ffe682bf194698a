"""The page on which a user of the service changes the own password, and sees and ends the own sessions."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import NotFoundError
from ultracrawl.service.access.logins import TooManyLoginsError
from ultracrawl.service.access.passwords import MAX_CHARACTERS, MIN_CHARACTERS, WeakPasswordError
from ultracrawl.service.access.requester import RequesterKind
from ultracrawl.service.access.sessions import Session
from ultracrawl.service.access.users import User
from ultracrawl.service.api.access import LOG_IN, Form, State, Visitor
from ultracrawl.service.api.audit import address_of
from ultracrawl.service.api.middleware.cookies import CookieKind
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.account.login import begin_session
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import page_url, render

ACCOUNT = "/account"
OTHERS = "others"
"""What the form sends for all sessions but the one that it is sent in."""
router = APIRouter(prefix=ACCOUNT, route_class=PageRoute)


async def own_session(request: Request, requester: Visitor) -> Session:
    """Return the session of a user with a password. Raises status 401 for nobody, `NotFoundError` for others."""
    session: Session | None = getattr(request.state, "session", None)
    if session is None and requester.kind is RequesterKind.PUBLIC:
        raise HTTPException(HTTPStatus.UNAUTHORIZED, LOG_IN)
    if session is None or not session.has_password:
        raise NotFoundError("this page is for those who log in here, by a name and a password")
    return session


OwnSession = Annotated[Session, Depends(own_session)]


@router.get("")
def account_page(request: Request, state: State, session: OwnSession, done: str = "") -> Response:
    """Return the page."""
    return _page(request, state, session, done=done)


@router.post("/password", name="user password")
async def change_password(request: Request, state: State, form: Form, session: OwnSession) -> Response:
    """Change the password, which ends all sessions but this one."""
    new = form.get("new", "")
    if new != form.get("again", ""):
        return _page(request, state, session, HTTPStatus.BAD_REQUEST, "different")
    user = await _confirmed(request, state, form, session)
    if isinstance(user, Response):
        return user
    try:
        changed = await state.accounts.logins.change_password(user, new)
    except WeakPasswordError as error:
        return _page(request, state, session, HTTPStatus.BAD_REQUEST, error.weakness.value)
    if changed is None:
        return _page(request, state, session, HTTPStatus.BAD_REQUEST, "wrong")
    target = page_url(request, ACCOUNT, [("done", "password")])
    return begin_session(request, state, changed.name, changed, target)


@router.post("/sessions", name="session end")
async def end_sessions(request: Request, state: State, form: Form, session: OwnSession) -> Response:
    """End another session of this user, or all others."""
    user = await _confirmed(request, state, form, session, "sessions")
    if isinstance(user, Response):
        return user
    which = form.get("session", "")
    state.accounts.sessions.end_others(session, "" if which == OTHERS else which)
    return RedirectResponse(page_url(request, ACCOUNT, [("done", "sessions")]), HTTPStatus.SEE_OTHER)


async def _confirmed(
    request: Request, state: ApiState, form: dict[str, str], session: Session, part: str = "password"
) -> User | Response:
    """Return the user of a session if a form has the password, or else the page."""
    try:
        user = await confirmed_user(request, state, session, form.get("password", ""))
    except TooManyLoginsError as error:
        answer = _page(request, state, session, HTTPStatus.TOO_MANY_REQUESTS, "many", part)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    return user or _page(request, state, session, HTTPStatus.BAD_REQUEST, "wrong", part)


async def confirmed_user(request: Request, state: ApiState, session: Session, password: str) -> User | None:
    """Return the user of a session whose password this is; None if it is not, which counts as a failed log-in.

    Raises `TooManyLoginsError`, `WorkError`.
    """
    address = address_of(request.scope)
    device = state.cookies.value_of(request, CookieKind.DEVICE)
    user = await state.accounts.logins.check(session.user, password, address, device)
    if user is None or user.number != session.number:
        state.accounts.failed_logins.note_failure(address)
        return None
    return user


def _page(
    request: Request,
    state: ApiState,
    session: Session,
    status: int = HTTPStatus.OK,
    problem: str = "",
    part: str = "password",
    done: str = "",
) -> Response:
    """Return the page, with what was wrong in a part of it, or what is done."""
    sessions = [
        one
        for one in state.accounts.sessions.open_sessions()
        if one.has_password and (one.user, one.number) == (session.user, session.number)
    ]
    return render(
        request,
        "own_account.html",
        status,
        here=ACCOUNT,
        name=session.user,
        own=session.handle,
        sessions=sorted(sessions, key=lambda one: (one.handle != session.handle, -one.seen)),
        problem=problem,
        part=part,
        done=done,
        least=MIN_CHARACTERS,
        most=MAX_CHARACTERS,
        others=OTHERS,
    )
