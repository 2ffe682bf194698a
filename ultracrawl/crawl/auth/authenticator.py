"""Users and passwords on their way to servers: sent where they belong, and given up where they are refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ultracrawl.crawl.auth.ntlm import NtlmConnections, ntlm_installed
from ultracrawl.crawl.transport.headers import values_of
from ultracrawl.crawl.transport.outgoing import Send, send_with
from ultracrawl.errors import WorkError
from ultracrawl.rules.access.basic import basic_answer
from ultracrawl.rules.access.challenge import Challenge, challenges_in
from ultracrawl.rules.access.credentials import NTLM_SCHEMES, Credential, CredentialStore, Scheme
from ultracrawl.rules.access.digest import DigestSession
from ultracrawl.rules.urls.canonical import host_of, path_of, site_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

REFUSALS = 3
"""Refusals without an acceptance between them, after which an entry is not sent any more in this run."""

_UNAUTHORISED = 401
_HEADER = "Authorization"
_EVERYWHERE = frozenset({Scheme.BASIC, Scheme.DIGEST})


AskCredential = Callable[[str, str, str], Awaitable[tuple[str, str] | None]]
"""Gives user and password for host, realm and URL of a server that asks for them; None if there are none."""
_Way = Callable[["Request", Send], Awaitable["Response"]]
"""Sends a request with proof of who asks."""


class _Account:
    """One credential in this run: whether a server has taken it, and how often one has not."""

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.proven = False
        self.refusals = 0
        self.basic: set[str] = set()
        """The sites that asked for Basic."""
        self.digests: dict[str, list[DigestSession]] = {}
        """The nonces of each site that no request is using: servers may insist on the order of their counts."""
        self.ntlm: dict[str, NtlmConnections] = {}
        """The connections to each site that asked for NTLM."""
        self.one_at_a_time = asyncio.Lock()

    def free_digest(self, site: str) -> DigestSession | None:
        """Take a nonce that no request is using."""
        free = self.digests.get(site)
        return free.pop() if free else None

    @property
    def given_up(self) -> bool:
        return self.refusals >= REFUSALS


class Authenticator:
    """Answers 401 for the URLs that a credential is for, at most once a URL.

    Basic entries without a realm go out at once, others at once after the first challenge of a site. Until a
    server has taken a credential, only one request at a time carries it: a wrong password costs an account no more
    than `REFUSALS` attempts. Each URL is looked at by itself, so no redirect can carry anything elsewhere.
    """

    def __init__(
        self,
        credentials: CredentialStore,
        note: Callable[[WorkError], None],
        *,
        lanes: bool = True,
        ask: AskCredential | None = None,
    ) -> None:
        """Without `lanes`, connections of one user's own, NTLM is not answered.

        `ask` is asked once for each site that wants to know who asks, and for which nothing is written.
        """
        self._credentials = credentials
        self._ask = ask
        self._asked: dict[str, asyncio.Task[tuple[str, str] | None]] = {}
        self._given: dict[str, Credential] = {}
        self._note = note
        self._accounts: dict[str, _Account] = {}
        self._usable = _EVERYWHERE | NTLM_SCHEMES if lanes and ntlm_installed() else _EVERYWHERE

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with what belongs to its URL, and return the answer, which may still be 401."""
        accounts = self._accounts_for(request)
        if not accounts:
            answer = await send(request)
            if answer.status != _UNAUTHORISED or not await self._ask_for(request, answer):
                return answer
            return await self._when_asked(request, send, self._accounts_for(request), answer)
        first = accounts[0]
        session = first.free_digest(site_of(request.url))
        early = self._unasked(first, request) if session is None else _by_digest(first, session)
        if early is None:
            return await self._when_asked(request, send, accounts, await send(request))
        response = await self._try(first, early, request, send, certain=session is None)
        if response is None:
            return await send(request)
        return await self._when_asked(request, send, accounts, response) if session else response

    def _accounts_for(self, request: Request) -> list[_Account]:
        if _HEADER in request.headers:
            return []
        given = self._given.get(site_of(request.url))
        known = [*self._credentials.covering(request.url), *([] if given is None else [given])]
        found = map(self._account, known)
        return [account for account in found if not account.given_up]

    async def _ask_for(self, request: Request, response: Response) -> bool:
        """Ask for user and password of a site that refused a request; returns whether there are any."""
        url, site = request.url, site_of(request.url)
        if self._ask is None or _HEADER in request.headers:
            return False
        if site not in self._asked:
            offered = challenges_in(values_of(response)("WWW-Authenticate"))
            realm = next((one.realm for one in offered if one.realm), "")
            self._asked[site] = asyncio.ensure_future(self._ask(host_of(url), realm, url))
        found = await self._asked[site]
        if found is not None:
            self._given[site] = Credential(f"of {site}", (), Scheme.AUTO, *found)
        return found is not None

    def _account(self, credential: Credential) -> _Account:
        account = self._accounts.get(credential.name)
        if account is None:
            account = self._accounts[credential.name] = _Account(credential)
        return account

    def _unasked(self, account: _Account, request: Request) -> _Way | None:
        """Return how to send a request with a credential before the server asks for it."""
        credential, site = account.credential, site_of(request.url)
        if credential.unasked or site in account.basic:
            return _with(basic_answer(credential.user, credential.password))
        return account.ntlm[site].fetch if site in account.ntlm else None

    async def _when_asked(
        self, request: Request, send: Send, accounts: list[_Account], response: Response
    ) -> Response:
        """Answer the challenge of a response, if one of the accounts may answer it."""
        if response.status != _UNAUTHORISED:
            return response
        offered = challenges_in(values_of(response)("WWW-Authenticate"))
        for account in accounts:
            challenge = account.credential.challenge(offered, self._usable)
            if challenge is not None:
                way = self._way(account, challenge, request)
                return await self._try(account, way, request, send) or response
        return response

    def _way(self, account: _Account, challenge: Challenge, request: Request) -> _Way:
        """Return how to send a request with the answer to a challenge."""
        credential, site = account.credential, site_of(request.url)
        if challenge.scheme == Scheme.NTLM:
            account.ntlm[site] = account.ntlm.get(site) or NtlmConnections(credential, site)
            return account.ntlm[site].fetch
        if challenge.scheme == Scheme.BASIC:
            account.basic |= set() if credential.realm else {site}
            return _with(basic_answer(credential.user, credential.password))
        return _by_digest(account, DigestSession(challenge, credential.user, credential.password))

    async def _try(
        self, account: _Account, way: _Way, request: Request, send: Send, *, certain: bool = True
    ) -> Response | None:
        """Send a request in a way and learn from what comes; None if the account was given up while this one waited.

        If it is not `certain`, 401 may come from a nonce that is too old.
        """
        async with AsyncExitStack() as stack:
            if not account.proven:
                await stack.enter_async_context(account.one_at_a_time)
            if account.given_up:
                return None
            response = await way(request, send)
            self._learn(account, response, certain=certain)
            return response

    def _learn(self, account: _Account, response: Response, *, certain: bool) -> None:
        if response.status != _UNAUTHORISED:
            account.proven, account.refusals = True, 0
        elif certain and not _stale(response):
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


def _with(answer: str) -> _Way:
    """Return the way to send a request with an Authorization header."""
    return lambda request, send: send_with(request, send, {_HEADER: answer})


def _by_digest(account: _Account, session: DigestSession) -> _Way:
    """Return the way to send a request with the next count of a nonce, which is free again once that is accepted."""

    async def way(request: Request, send: Send) -> Response:
        answer = session.answer(request.method, path_of(request.url), request.body)
        response = await send_with(request, send, {_HEADER: answer})
        if response.status != _UNAUTHORISED:
            account.digests.setdefault(site_of(request.url), []).append(session)
        return response

    return way


def _stale(response: Response) -> bool:
    """Whether only the nonce was too old, which says nothing against the password (RFC 7616, 3.3)."""
    offered = challenges_in(values_of(response)("WWW-Authenticate"))
    return any(one.parameters.get("stale", "").lower() == "true" for one in offered)
