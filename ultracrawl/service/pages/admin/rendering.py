"""Makes pages of the administration from templates in `templates/admin`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any

from fastapi import Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from ultracrawl.service.metrics.run_history import RunNumbers
from ultracrawl.service.metrics.run_plots import sparkline
from ultracrawl.service.pages.rendering import admin_url, render

OVERVIEW_TEMPLATES = (
    "base.html",
    "menu.html",
    "account.html",
    "admin/layout.html",
    "admin/live_scripts.html",
    "admin/overview.html",
    "admin/parts.html",
    "admin/need.html",
    "admin/now.html",
)
"""The templates of the overview, which compile for longer than it takes to answer."""
_RECT = Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}"/>')


def render_admin(
    request: Request, template: str, status: int = 200, *, section: str, **context: Any
) -> Response:
    """Return a page; `section` is the part of the menu that it belongs to.

    Where a form leads to a page, the parameter `done` names what was done (`leads_to`), and the page says it.
    """
    done = request.query_params.get("done", "")
    return render(request, template, status, section=section, done=done, sparkline=_sparkline, **context)


def leads_to(request: Request, path: str, done: str, query: Sequence[tuple[str, str]] = ()) -> Response:
    """Return the answer to a form: the page that says what was done."""
    return RedirectResponse(admin_url(request, path, [*query, ("done", done)]), HTTPStatus.SEE_OTHER)


@lru_cache(maxsize=2048)
def _sparkline(runs: tuple[RunNumbers, ...], number: int, live: int = 0) -> Markup:
    """Return the rectangles of a sparkline, which stay the same until a run has read more."""
    return Markup().join(
        _RECT.format(bar.kind, bar.x, bar.y, bar.width, bar.height) for bar in sparkline(runs, number, live)
    )
