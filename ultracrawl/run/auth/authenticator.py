"""HTTP authentication (Basic, Digest, NTLM) with the credentials of a source."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from scrapy import Request
from scrapy.http import Response

from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for
from ultracrawl.rules.access.challenge import Challenge, challenges_in
from ultracrawl.rules.access.credentials import (
    NTLM_SCHEMES,
    Credential,
    CredentialStore,
    Scheme,
    basic_answer,
)
from ultracrawl.rules.access.digest import DigestSession
from ultracrawl.rules.urls.canonical import host_of, path_of, site_of
from ultracrawl.run.auth.ntlm import NtlmConnections, ntlm_installed
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.transport.headers import values_of
from ultracrawl.run.transport.outgoing import Send, send_with
from ultracrawl.run.visit import page_visit_of, visit_of

MAX_REFUSALS = 3
"""Consecutive refusals after which a credential is no longer sent in this run."""

_UNAUTHORISED = 401
_HEADER = "Authorization"
_ALWAYS_USABLE = frozenset({Scheme.BASIC, Scheme.DIGEST})


AskCredential = Callable[[str, str, str], Awaitable[tuple[str, str] | None]]
"""Returns user and password for host, realm and URL of a server that requires them; None if there are none."""
_Sender = Callable[["Request", Send], Awaitable["Response"]]
"""Sends a request with authentication."""


class _Account:
    """The state of one credential in this run."""

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.accepted = False
        self.refusals = 0
        self.ever_accepted = False
        self.basic: set[str] = set()
        """Sites that required Basic."""
        self.digests: dict[str, list[DigestSession]] = {}
        """Unused nonces by site. One request at a time uses a nonce: servers may require its counts in order."""
        self.ntlm: dict[str, NtlmConnections] = {}
        """Connections to each site that required NTLM."""
        self.lock = asyncio.Lock()
        """Held by the only request that may carry a credential that was not accepted yet."""

    def free_digest(self, site: str) -> DigestSession | None:
        """Remove and return an unused nonce."""
        free = self.digests.get(site)
        return free.pop() if free else None

    def is_sent_unasked(self, site: str) -> bool:
        """Whether requests to a site carry the credential before a challenge, so that guests may get something else."""
        return self.credential.is_preemptive or any(
            site in asked for asked in (self.basic, self.digests, self.ntlm)
        )

    @property
    def given_up(self) -> bool:
        return self.refusals >= MAX_REFUSALS


class Authenticator:
    """Answers 401 responses with the credential that covers the URL, at most once per request.

    Basic credentials without a realm are sent preemptively, others after the first challenge of a site. Until a
    server has accepted a credential, only one request at a time carries it, so that a wrong password costs an account
    at most `MAX_REFUSALS` attempts. Each URL is checked by itself, so that no redirect takes a credential elsewhere.
    """

    def __init__(
        self,
        credentials: CredentialStore,
        note: Callable[[WorkError], None],
        *,
        lanes: bool = True,
        ask: AskCredential | None = None,
    ) -> None:
        """Without `lanes` (connections reserved for one user), NTLM is not used.

        `ask` is called once for each site that requires authentication and has no configured credential.
        """
        self._credentials = credentials
        self._ask = ask
        self._asked: dict[str, asyncio.Task[tuple[str, str] | None]] = {}
        self._given: dict[str, Credential] = {}
        self._note = note
        self._accounts: dict[str, _Account] = {}
        self._usable = _ALWAYS_USABLE | NTLM_SCHEMES if lanes and ntlm_installed() else _ALWAYS_USABLE

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request with the credential of its URL; the response may still be 401.

        Raises `LoginFailedError` if it is one for guests, because the credential was refused.
        """
        accounts = self._accounts_for(request)
        if not accounts:
            response = await send(request)
            if response.status != _UNAUTHORISED:
                return self._as_guest(request, response)
            if not await self._ask_credential(request, response):
                return response
            return await self._answer_challenge(request, send, self._accounts_for(request), response)
        first = accounts[0]
        session = first.free_digest(site_of(request.url))
        preemptive = self._preemptive(first, request) if session is None else _with_digest(first, session)
        if preemptive is None:
            return await self._answer_challenge(request, send, accounts, await send(request))
        reply = await self._try(first, preemptive, request, send, certain=session is None)
        if reply is None:
            return self._as_guest(request, await send(request))
        return await self._answer_challenge(request, send, accounts, reply) if session else reply

    def _accounts_for(self, request: Request) -> list[_Account]:
        return [account for account in self._all_accounts_for(request) if not account.given_up]

    def _all_accounts_for(self, request: Request) -> list[_Account]:
        if _HEADER in request.headers:
            return []
        given = self._given.get(site_of(request.url))
        known = [*self._credentials.covering(request.url), *([] if given is None else [given])]
        return [self._account(credential) for credential in known]

    def _as_guest(self, request: Request, response: Response) -> Response:
        """Return the response to a request without a credential. Raises `LoginFailedError` if one was given up there.

        Servers may have something else for guests.
        """
        url = request.url
        is_foreign = visit_of(request) is None and page_visit_of(request) is None
        if response.status == _UNAUTHORISED or is_foreign or path_of(url) == "/robots.txt":
            return response
        for account in self._all_accounts_for(request):
            if account.given_up and account.is_sent_unasked(site_of(url)):
                name = account.credential.name
                raise LoginFailedError(f"authentication {name}: the server refused user and password")
        return response

    async def _ask_credential(self, request: Request, response: Response) -> bool:
        """Get user and password from `ask` for a site that refused a request; returns whether there are any."""
        url, site = request.url, site_of(request.url)
        if self._ask is None or _HEADER in request.headers:
            return False
        if site not in self._asked:
            offered = challenges_in(values_of(response)("WWW-Authenticate"))
            realm = next((challenge.realm for challenge in offered if challenge.realm), "")
            self._asked[site] = asyncio.ensure_future(self._ask(host_of(url), realm, url))
        reply = await self._asked[site]
        if reply is not None:
            self._given[site] = Credential(f"of {site}", (), Scheme.AUTO, *reply)
        return reply is not None

    def _account(self, credential: Credential) -> _Account:
        account = self._accounts.get(credential.name)
        if account is None:
            account = self._accounts[credential.name] = _Account(credential)
        return account

    def _preemptive(self, account: _Account, request: Request) -> _Sender | None:
        """Return a sender that adds a credential before the server requires it; None if that is not possible."""
        credential, site = account.credential, site_of(request.url)
        if credential.is_preemptive or site in account.basic:
            return _with_header(basic_answer(credential.user, credential.password))
        return account.ntlm[site].fetch if site in account.ntlm else None

    async def _answer_challenge(
        self, request: Request, send: Send, accounts: list[_Account], response: Response
    ) -> Response:
        """Send a request again if one of the accounts can answer the challenge of its response."""
        if response.status != _UNAUTHORISED:
            return response
        offered = challenges_in(values_of(response)("WWW-Authenticate"))
        for account in accounts:
            challenge = account.credential.challenge(offered, self._usable)
            if challenge is not None:
                sender = self._sender(account, challenge, request)
                return await self._try(account, sender, request, send) or response
        return response

    def _sender(self, account: _Account, challenge: Challenge, request: Request) -> _Sender:
        """Return a sender that answers a challenge."""
        credential, site = account.credential, site_of(request.url)
        if challenge.scheme == Scheme.NTLM:
            account.ntlm[site] = account.ntlm.get(site) or NtlmConnections(credential, site)
            return account.ntlm[site].fetch
        if challenge.scheme == Scheme.BASIC:
            account.basic |= set() if credential.realm else {site}
            return _with_header(basic_answer(credential.user, credential.password))
        return _with_digest(account, DigestSession(challenge, credential.user, credential.password))

    async def _try(
        self, account: _Account, sender: _Sender, request: Request, send: Send, *, certain: bool = True
    ) -> Response | None:
        """Send a request and count acceptance or refusal; None if the account was given up while it waited.

        Without `certain`, 401 may be caused by a nonce that is too old.
        """
        async with AsyncExitStack() as stack:
            if not account.accepted:
                await stack.enter_async_context(account.lock)
            if account.given_up:
                return None
            response = await sender(request, send)
            if response.status != _UNAUTHORISED:
                account.accepted, account.ever_accepted, account.refusals = True, True, 0
            elif certain and not _is_stale(response):
                self._count_refusal(account, request)
            return response

    def _count_refusal(self, account: _Account, request: Request) -> None:
        """Count a refusal. It is reported for a page that is in the index, and for the first page of all."""
        account.accepted = False
        account.refusals += 1
        visit = page_visit_of(request)
        concerns = visit is not None and (not account.ever_accepted or visit.record.retained)
        if concerns or account.given_up:
            name = account.credential.name
            self._note(
                WorkError(
                    f"authentication {name}: the server refused user and password; after {MAX_REFUSALS} refusals in a "
                    f"row they are not sent any more in this run; {advice_for(Cause(CauseCode.LOGIN_FAILED))}"
                )
            )


def _with_header(answer: str) -> _Sender:
    """Return a sender that adds an Authorization header."""
    return lambda request, send: send_with(request, send, {_HEADER: answer})


def _with_digest(account: _Account, session: DigestSession) -> _Sender:
    """Return a sender that uses the next count of a nonce, which is free again once it is accepted."""

    async def sender(request: Request, send: Send) -> Response:
        answer = session.answer(request.method, path_of(request.url), request.body)
        response = await send_with(request, send, {_HEADER: answer})
        if response.status != _UNAUTHORISED:
            account.digests.setdefault(site_of(request.url), []).append(session)
        return response

    return sender


def _is_stale(response: Response) -> bool:
    """Whether only the nonce was too old, which says nothing about the password (RFC 7616, 3.3)."""
    offered = challenges_in(values_of(response)("WWW-Authenticate"))
    return any(challenge.parameters.get("stale", "").lower() == "true" for challenge in offered)
