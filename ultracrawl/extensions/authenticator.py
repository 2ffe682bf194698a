"""Users and passwords on their way to servers: sent where they belong, and given up where they are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ultracrawl.access import (
    Challenge,
    Credential,
    CredentialBook,
    DigestSession,
    Scheme,
    basic_answer,
    challenges_in,
)
from ultracrawl.errors import WorkError
from ultracrawl.extensions.headers import values_of
from ultracrawl.extensions.outgoing import Send, send_with
from ultracrawl.urls.parts import path_of, site_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

REFUSALS = 3
"""Refusals without an acceptance between them, after which an entry is not sent any more in this run."""

_UNAUTHORISED = 401
_HEADER = "Authorization"
_USABLE = frozenset({Scheme.BASIC, Scheme.DIGEST})


class _Account:
    """One credential in this run: whether a server has taken it, and how often one has not."""

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.proven = False
        self.refusals = 0
        self.digests: dict[str, DigestSession] = {}
        """The latest nonce of each site."""
        self.one_at_a_time = asyncio.Lock()

    @property
    def given_up(self) -> bool:
        return self.refusals >= REFUSALS


class Authenticator:
    """Answers 401 for the URLs that a credential is for, at most once a URL.

    Basic entries without a realm go out at once, Digest again at once after the first challenge of a site. Until a
    server has taken a credential, only one request at a time carries it: a wrong password costs an account no more
    than `REFUSALS` attempts. Each URL is looked at by itself, so no redirect can carry anything elsewhere.
    """

    def __init__(self, book: CredentialBook, note: Callable[[WorkError], None]) -> None:
        self._book = book
        self._note = note
        self._accounts: dict[str, _Account] = {}

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with what belongs to its URL, and return the answer, which may still be 401."""
        accounts = self._accounts_for(request)
        if not accounts:
            return await send(request)
        first = accounts[0]
        early = self._unasked(first, request)
        if early is None:
            return await self._when_asked(request, send, accounts, await send(request))
        response = await self._try(first, request, send, early)
        if response is None:
            return await send(request)
        stale = response.status == _UNAUTHORISED and first.credential.scheme is not Scheme.BASIC
        return await self._when_asked(request, send, accounts, response) if stale else response

    def _accounts_for(self, request: Request) -> list[_Account]:
        if _HEADER in request.headers:
            return []
        found = map(self._account, self._book.covering(request.url))
        return [account for account in found if not account.given_up]

    def _account(self, credential: Credential) -> _Account:
        account = self._accounts.get(credential.name)
        if account is None:
            account = self._accounts[credential.name] = _Account(credential)
        return account

    def _unasked(self, account: _Account, request: Request) -> str | None:
        """Return what may be sent before the server asks."""
        credential = account.credential
        if credential.unasked:
            return basic_answer(credential.user, credential.password)
        known = account.digests.get(site_of(request.url))
        return _digest(known, request) if known else None

    async def _when_asked(
        self, request: Request, send: Send, accounts: list[_Account], response: Response
    ) -> Response:
        """Answer the challenge of a response, if it is one that somebody may answer."""
        if response.status != _UNAUTHORISED:
            return response
        offered = challenges_in(values_of(response)("WWW-Authenticate"))
        for account in accounts:
            challenge = account.credential.challenge(offered, _USABLE)
            if challenge is not None:
                answer = self._answer(account, challenge, request)
                return await self._try(account, request, send, answer, fresh=True) or response
        return response

    def _answer(self, account: _Account, challenge: Challenge, request: Request) -> str:
        credential = account.credential
        if challenge.scheme == Scheme.BASIC:
            return basic_answer(credential.user, credential.password)
        session = DigestSession(challenge, credential.user, credential.password)
        account.digests[site_of(request.url)] = session
        return _digest(session, request)

    async def _try(
        self, account: _Account, request: Request, send: Send, answer: str, *, fresh: bool = False
    ) -> Response | None:
        """Send an answer and learn from what comes; None if the account was given up while this one waited."""
        async with AsyncExitStack() as stack:
            if not account.proven:
                await stack.enter_async_context(account.one_at_a_time)
            if account.given_up:
                return None
            response = await send_with(request, send, {_HEADER: answer})
            self._learn(account, response, fresh=fresh)
            return response

    def _learn(self, account: _Account, response: Response, *, fresh: bool) -> None:
        if response.status != _UNAUTHORISED:
            account.proven, account.refusals = True, 0
        elif (fresh or account.credential.unasked) and not _stale(response):
            self._refused(account)

    def _refused(self, account: _Account) -> None:
        account.proven = False
        account.refusals += 1
        if account.refusals == REFUSALS:
            name = account.credential.name
            self._note(
                WorkError(
                    f"authentication {name}: the server refused user and password {REFUSALS} times; "
                    "they are not sent any more in this run"
                )
            )


def _digest(session: DigestSession, request: Request) -> str:
    return session.answer(request.method, path_of(request.url), request.body)


def _stale(response: Response) -> bool:
    """Whether only the nonce was too old, which says nothing against the password (RFC 7616, 3.3)."""
    offered = challenges_in(values_of(response)("WWW-Authenticate"))
    return any(one.parameters.get("stale", "").lower() == "true" for one in offered)
