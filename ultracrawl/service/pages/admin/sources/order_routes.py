"""Forms that give orders for the crawls of a source; each leads to the page that says what was done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from ultracrawl.run.inspection.submission import SubmissionCode, submit_url
from ultracrawl.service.api.access import Editor, Form, State
from ultracrawl.service.api.approvals import ApprovalOrder, Decision, decide
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, without_folders
from ultracrawl.service.api.sources import carried_out
from ultracrawl.service.orders import Supervision
from ultracrawl.service.pages.account.login import local_path
from ultracrawl.service.pages.admin.rendering import leads_to, render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute

router = APIRouter(prefix=f"{ADMIN}/sources", route_class=PageRoute)
_URL_PAGE = f"{ADMIN}/sources/{{}}/url"
_ORDERS: dict[str, Callable[[Supervision, str], Awaitable[None]]] = {
    "stop": lambda supervisor, name: supervisor.stop_source(name),
    "pause": lambda supervisor, name: supervisor.pause_source(name),
    "resume": lambda supervisor, name: supervisor.resume_source(name),
}


@router.post("/{name}/start", name="start")
async def start(request: Request, state: State, _requester: Editor, name: str, form: Form) -> Response:
    """Crawl a source now; with the field `force` every page is fetched and indexed again."""
    state.valid_source(name)
    await carried_out(state.supervisor.start_source(name, force=bool(form.get("force"))))
    return _back_to_source(request, name, "start")


@router.post("/{name}/submit", name="submit")
def submit(
    request: Request, state: State, _requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Let the next crawl, or the present one, fetch a URL; with the field `again` also one that is known.

    A URL that is refused comes back with the reason, on a page that has nothing else of the source: it must say the
    same whatever is behind an address.
    """
    url, again = form.get("url", "").strip(), bool(form.get("again"))
    answer = submit_url(state.project, url, [state.valid_source(name)], again=again)
    details["urls"] = 1
    if answer.code is not SubmissionCode.OK:
        return render_admin(
            request,
            "admin/submit.html",
            HTTPStatus.CONFLICT,
            section="overview",
            source=name,
            submitted=url,
            again=again,
            problem=without_folders(request, Conflict(answer.text)),
        )
    return leads_to(request, _URL_PAGE.format(quote(name, "")), "submit", [("url", url)])


@router.post("/{name}/remove", name="remove")
def remove(
    request: Request, state: State, _requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Remove a URL for good, or with the field `restore` let the next crawl fetch it again.

    Leads back to `next`, which says what was removed; to the page of the URL without it, and if a running crawl carries
    the order out.
    """
    decision = Decision.RESTORE if form.get("restore") else Decision.REMOVE
    order = ApprovalOrder(decision=decision, urls=(form.get("url", "").strip(),))
    answer = decide(state, name, order, details)
    if form.get("next") and not answer["kept"]:
        target = local_path(request, form["next"])
        removed = urlencode({"removed": order.urls[0], "removed_from": name})
        return RedirectResponse(f"{target}{'&' if '?' in target else '?'}{removed}", HTTPStatus.SEE_OTHER)
    return leads_to(request, _URL_PAGE.format(quote(name, "")), decision.value, [("url", order.urls[0])])


def _add_order(order: str, give: Callable[[Supervision, str], Awaitable[None]]) -> None:
    @router.post(f"/{{name}}/{order}", name=order)
    async def ordered(request: Request, state: State, _requester: Editor, name: str) -> Response:
        state.known_source(name)
        await carried_out(give(state.supervisor, name))
        return _back_to_source(request, name, order)


for _order, _give in _ORDERS.items():
    _add_order(_order, _give)


def _back_to_source(request: Request, name: str, done: str) -> Response:
    return leads_to(request, f"{ADMIN}/sources/{quote(name, '')}", done)
