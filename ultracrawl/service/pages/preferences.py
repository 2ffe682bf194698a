"""Stored choices that the server renders: the colours, which follow the system without one, and the line of keys."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ultracrawl.service.api.access import State, is_of_another_site
from ultracrawl.service.pages.account.login import local_path
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import PREFERENCES, page_url

router = APIRouter(route_class=PageRoute)
_YEAR = 365 * 86_400


@router.post("/preferences")
async def set_preferences(request: Request, state: State) -> Response:
    """Store what a form chooses, and lead back to its page. Status 403 for a form of another site."""
    if is_of_another_site(request):
        raise HTTPException(403, "this form belongs to another site")
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=20)
    target = local_path(request, fields.get("next", [""])[-1])
    answer = RedirectResponse(target, 303)
    root = page_url(request)
    for name, (cookie, values) in PREFERENCES.items():
        chosen = fields.get(name, [""])[-1]
        if chosen == values[0]:
            answer.delete_cookie(cookie, root)
        elif chosen in values:
            is_secure = state.cookies.is_secure
            answer.set_cookie(
                cookie, chosen, _YEAR, path=root, secure=is_secure, httponly=True, samesite="lax"
            )
    return answer
