"""Records requests that change something, and failed log-ins, in the audit log of the project."""

from __future__ import annotations

from typing import Annotated, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.stores.audit_log import DONE, FAILED, REFUSED, Actor, record_action

_MUTATING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_REFUSED_FROM, _FAILED_FROM = 400, 500
"""Status codes."""
_UNRECORDED = frozenset({"click", "ask_what_if", "ask_what_if_scheduled"})
"""Routes that change statistics only, which know no users and no addresses, or nothing at all."""
_ACTIONS = {
    "start": "crawl",
    "delete": "approve-deletions",
    "accept": "approve-changes",
    "save_lines": "save-definition",
    "undo": "undo-definition",
    "save_schedules": "save-schedules",
    "undo_schedules": "undo-schedules",
}
"""The verb of the command line for a route, or what the log calls it, where the names differ."""


class AuditTrail:
    """Middleware that records each request that changes something, with who sent it and its result.

    Requests of nobody who may send them are not recorded here, but as failed log-ins.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._writing = CapacityLimiter(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        if scope["type"] != "http" or scope["method"] not in _MUTATING:
            await self._app(scope, receive, send)
            return
        status = _FAILED_FROM
        noted: dict[str, Any] = scope.setdefault("state", {})

        async def send_watched(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        finally:
            if "requester" in noted and scope["route"].name not in _UNRECORDED:
                await to_thread.run_sync(_record, scope, noted, status, limiter=self._writing)


def _record(scope: Scope, noted: dict[str, Any], status: int) -> None:
    result = DONE if status < _REFUSED_FROM else REFUSED if status < _FAILED_FROM else FAILED
    actor = Actor(noted["requester"].name, address_of(scope))
    details = noted.get("details", {})
    given = dict(scope["path_params"])
    action = _ACTIONS.get(scope["route"].name, scope["route"].name)
    if "order" in given:
        action = f"schedule {given.pop('order')}"
    targets = [*given.values(), *noted.get("targets", ())]
    record_action(noted["project"], actor, action, targets, result, status=status, **details)


def note_target(request: Request, name: str) -> None:
    """Add what a request changes to its line, where its path does not name it."""
    request.scope["state"].setdefault("targets", []).append(name)


def address_of(scope: Scope) -> str:
    """Return the address of the client of a request."""
    client = scope.get("client")
    return str(client[0]) if client else ""


async def details_of(request: Request) -> dict[str, Any]:
    """Return the details that are recorded of a request; routes add theirs."""
    details: dict[str, Any] = request.scope["state"].setdefault("details", {})
    return details


Details = Annotated[dict[str, Any], Depends(details_of)]
