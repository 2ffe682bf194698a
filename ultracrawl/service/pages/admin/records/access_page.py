"""The page of who may do what: users, tokens with their last use and end, and who logged in from where."""

from __future__ import annotations

import time
from itertools import islice

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.dataclass import dataclass
from ultracrawl.model.dates import as_text
from ultracrawl.service.access.requester import Requester, Role
from ultracrawl.service.access.sessions import Session
from ultracrawl.service.access.tokens import Token
from ultracrawl.service.api.access import Administrator, State
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.admin.rendering import leads_to, render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.stores.audit_log import recorded_actions

router = APIRouter(prefix=f"{ADMIN}/access", route_class=PageRoute)
LOG_INS = 50
_MOST_SEARCHED = 50_000
"""Lines of the audit log among which log-ins are looked for."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who may log in, or has."""

    name: str
    """As in the audit log."""
    role: Role | None
    principals: tuple[str, ...] | None
    """None: sees all documents."""
    sources: tuple[str, ...] | None = None
    """The only sources in which searches find something; None: all."""
    since: str = ""
    """When the service got to know its user; empty for others."""
    open_sessions: int = 0
    seen: float = 0.0
    """The last request of these sessions, in seconds since the epoch; 0: none."""


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A token, and when it was last used."""

    token: Token
    used: str
    is_over: bool


@router.get("")
def access_page(request: Request, state: State, _requester: Administrator) -> Response:
    """Return who may do what, and who logged in."""
    tokens, now, uses = state.accounts.tokens, as_text(time.time()), state.accounts.tokens.last_uses()
    rows = [
        TokenRow(one, uses.get(one.name, ""), one.expires is not None and one.expires <= now)
        for one in tokens.all_tokens()
    ]
    log_ins = (
        row
        for row in islice(recorded_actions(state.project), _MOST_SEARCHED)
        if row.get("action") == "log-in"
    )
    return render_admin(
        request,
        "admin/access.html",
        section="access",
        people=_people(state),
        tokens=rows,
        log_ins=list(islice(log_ins, LOG_INS)),
    )


@router.post("/tokens/{name:path}", name="token revoke")
def revoke_token(request: Request, state: State, _requester: Administrator, name: str) -> Response:
    """Refuse a token from now on."""
    state.accounts.tokens.revoke_token(name)
    return leads_to(request, f"{ADMIN}/access", "revoke")


def _people(state: ApiState) -> list[Person]:
    """Return the users of the service, then others whose sessions are open, each by name."""
    sessions: dict[Requester, list[Session]] = {}
    for one in state.accounts.sessions.open_sessions():
        if (requester := state.accounts.requester_of(one)) is not None:
            sessions.setdefault(requester, []).append(one)
    users = [
        _person(one.requester, sessions.pop(one.requester, []), one.created)
        for one in state.accounts.users.all_users()
    ]
    return users + [
        _person(one, found) for one, found in sorted(sessions.items(), key=lambda item: item[0].name)
    ]


def _person(requester: Requester, sessions: list[Session], since: str = "") -> Person:
    seen = max((one.seen for one in sessions), default=0.0)
    rights = requester.role, requester.principals, requester.sources
    return Person(requester.name, *rights, since, len(sessions), seen)
