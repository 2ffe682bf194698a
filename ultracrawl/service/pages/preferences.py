"""The stored choice of colours, which the server renders; without it pages follow the system."""

from __future__ import annotations

from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ultracrawl.service.api.access import State, is_of_another_site
from ultracrawl.service.pages.account.login import local_path
from ultracrawl.service.pages.page_route import PageRoute
from ultracrawl.service.pages.rendering import THEME_COOKIE, THEMES, page_url

router = APIRouter(route_class=PageRoute)
_YEAR = 365 * 86_400


@router.post("/preferences")
async def set_preferences(request: Request, state: State) -> Response:
    """Store the colours that a form chooses, and lead back to its page. Status 403 for a form of another site."""
    if is_of_another_site(request):
        raise HTTPException(403, "this form belongs to another site")
    fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=20)
    theme = fields.get("theme", [""])[-1]
    target = local_path(request, fields.get("next", [""])[-1])
    answer = RedirectResponse(target, 303)
    root = page_url(request)
    if theme == THEMES[0]:
        answer.delete_cookie(THEME_COOKIE, root)
    elif theme in THEMES:
        is_secure = state.cookies.is_secure
        answer.set_cookie(
            THEME_COOKIE, theme, _YEAR, path=root, secure=is_secure, httponly=True, samesite="lax"
        )
    return answer
