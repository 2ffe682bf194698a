"""Connections of the API: a request must arrive within seconds, and silent connections give way to new ones.

uvicorn bounds neither; its own limit counts connections that have sent nothing.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ultracrawl.service.api.problems import problem_answer

MAX_CONNECTIONS = 400
"""Open connections; above it, the one that has waited longest with an incomplete request or none is closed."""
HEAD_TIMEOUT = 10.0
"""Seconds for the head of a request to arrive, from the beginning of the connection or of the request."""
BODY_TIMEOUT = 20.0
"""Seconds for the body of a request to arrive, from its head."""
READ_TIMEOUT = 60.0
"""Seconds for a client to read on when what was sent to it fills all buffers."""
_RECEIVING: dict[Any, tuple[float, str]] = {
    h11.IDLE: (HEAD_TIMEOUT, f"the head of the request did not arrive within {HEAD_TIMEOUT:.0f} s"),
    h11.SEND_BODY: (BODY_TIMEOUT, f"the body of the request did not arrive within {BODY_TIMEOUT:.0f} s"),
}
"""The states of a client that has not sent its whole request: the limit, and what is said when it is over."""


class BoundedConnection(H11Protocol):
    """A connection with time limits for head, body and the reading of responses."""

    _awaited: Any = None
    """The state of the client that `_deadline` ends."""
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether no complete request of the client is being answered."""
        return self.conn.their_state in _RECEIVING

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        """Begin to wait for a request; above `MAX_CONNECTIONS`, close the connection that has waited longest."""
        super().connection_made(transport)
        self._began = self.loop.time()
        self._watch()
        others = self.connections - {self}
        if len(others) >= MAX_CONNECTIONS:
            waiting = [one for one in others if isinstance(one, BoundedConnection) and one.is_waiting]
            oldest = min(waiting, key=lambda one: one._began, default=self)
            self.connections.discard(oldest)
            oldest.transport.abort()

    def handle_events(self) -> None:
        """Act on what came."""
        super().handle_events()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all clocks."""
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._unread = self.loop.call_later(READ_TIMEOUT, self.transport.abort)

    def resume_writing(self) -> None:
        """End the wait for a client that reads on."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; what its client does not read is dropped."""
        super().timeout_keep_alive_handler()
        self._unread = self.loop.call_later(READ_TIMEOUT, self.transport.abort)

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP."""
        self._refuse(400, msg)

    def _watch(self) -> None:
        """Set the time limit for what the client has to send next."""
        state = self.conn.their_state
        if state is self._awaited:
            return
        self._awaited = state
        if self._deadline is not None:
            self._deadline.cancel()
        limit, detail = _RECEIVING.get(state, (None, ""))
        if limit is not None:
            self._deadline = self.loop.call_later(limit, self._expire, detail)

    def _expire(self, detail: str) -> None:
        """End a request that did not arrive; a connection without a byte is closed without a word."""
        if self.transport.is_closing():
            return
        if self._awaited is h11.SEND_BODY or self.conn.trailing_data[0]:
            self._refuse(408, detail)
        self.transport.close()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _refuse(self, status: int, detail: str) -> None:
        """Send a problem object, unless a response has begun, and close the connection."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.close()
            return
        answer = problem_answer(status, detail, {"Connection": "close"})
        for event in (
            h11.Response(status_code=status, headers=answer.raw_headers, reason=HTTPStatus(status).phrase),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
