"""Makes pages of the administration from templates in `templates/admin`."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from ultracrawl.service.access.requester import Requester, Role
from ultracrawl.service.metrics.run_plots import sparkline
from ultracrawl.service.pages.rendering import render


def render_admin(
    request: Request, template: str, status: int = 200, *, section: str, **context: Any
) -> Response:
    """Return a page; `section` is the part of the menu that it belongs to. Buttons follow the role of who asks."""
    requester: Requester = request.state.requester
    return render(
        request,
        template,
        status,
        section=section,
        is_editor=requester.allows(Role.EDITOR),
        is_administrator=requester.allows(Role.ADMINISTRATOR),
        sparkline=sparkline,
        **context,
    )
