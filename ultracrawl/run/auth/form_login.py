"""Form logins: before the first page of their sites, and again when a session is lost."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from http.cookiejar import Cookie
from typing import TYPE_CHECKING

from ultracrawl.errors import StateError, WorkError
from ultracrawl.rules.access.login import Login
from ultracrawl.rules.urls.canonical import host_of, path_of
from ultracrawl.run.auth.login_requests import LoginRequests
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.transport.headers import header_of
from ultracrawl.run.transport.outgoing import Send, send_with
from ultracrawl.stores.port.site_store import SiteStore, StoredSession

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ultracrawl.rules.access.cipher import SessionCipher
    from ultracrawl.run.auth.cookie_jars import CookieJars

logger = logging.getLogger(__name__)

MAX_FAILED_LOGINS = 3
"""Failed logins in a row after which requests no longer wait for the next one."""
MAX_USELESS_LOGINS = 3
"""Consecutive logins after which pages still require a login; then such pages are accepted as they are."""


def cookie_group(login: Login) -> str:
    """Return the name of the cookie group of a login."""
    return f"login {login.name}"


class FormLogin:
    """Logs in before the sites of a login are requested. robots.txt needs no login."""

    def __init__(
        self,
        logins: Iterable[Login],
        headers: Mapping[str, str],
        jars: CookieJars,
        note: Callable[[WorkError], None],
        kept: Mapping[str, KeptSession],
    ) -> None:
        """`kept` are the sessions that are kept for later runs, by login name."""
        self._sessions: dict[str, LoginSession] = {}
        for login in logins:
            session = LoginSession(login, headers, jars, note, kept=kept.get(login.name))
            for host in login.hosts:
                self._sessions.setdefault(host, session)

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request in the session of its site. Raises `LoginFailedError`."""
        session = self._sessions.get(host_of(request.url))
        if session is None or path_of(request.url) == "/robots.txt":
            return await send(request)
        return await session.fetch(request, send)


class LoginSession:
    """The session of one login and the attempts to renew it."""

    def __init__(
        self,
        login: Login,
        headers: Mapping[str, str],
        jars: CookieJars,
        note: Callable[[WorkError], None],
        clock: Callable[[], float] = time.monotonic,
        kept: KeptSession | None = None,
    ) -> None:
        self._login = login
        self._headers = headers
        self._jars = jars
        self._note = note
        self._clock = clock
        self._kept = kept
        self._lock = asyncio.Lock()
        self._tried = 0.0
        """Time of the last login attempt; 0 for none."""
        self._failure: LoginFailedError | None = None
        self._failures = 0
        """Number of failed logins in a row."""
        self._count = 0
        """Number of sessions so far."""
        self._useless = 0

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request after the login; if the response shows that the session is lost, log in and send it again."""
        count = await self._log_in_if_due(send)
        response = await self._send_request(request, send)
        if not self._is_lost(response) or self._failure is not None or self._useless >= MAX_USELESS_LOGINS:
            return response
        async with self._lock:
            if self._count == count and self._failure is None:
                logger.info("The session of login %s is lost", self._login.name)
                await self._log_in(send)
        self._raise_if_needed()
        response = await self._send_request(request, send)
        self._useless = self._useless + 1 if self._is_lost(response) else 0
        return response

    async def _send_request(self, request: Request, send: Send) -> Response:
        if not self._login.lost_text:
            return await send(request)
        return await send_with(request, send, {"Accept-Encoding": "identity"})

    async def _log_in_if_due(self, send: Send) -> int:
        """Log in if that is due; returns the number of the current session. Raises `LoginFailedError`."""
        if self._is_due():
            async with self._lock:
                if self._is_due():
                    await self._log_in(send)
        self._raise_if_needed()
        return self._count

    def _raise_if_needed(self) -> None:
        if self._failure is not None and self._login.required:
            raise LoginFailedError(str(self._failure), self._seconds_to_next())

    def _seconds_to_next(self) -> float | None:
        """Return the seconds to the login that follows a failed one; None if requests do not wait for it."""
        login = self._login
        if not login.ttl or not login.relogin_if_failed or self._failures >= MAX_FAILED_LOGINS:
            return None
        return max(self._tried + login.ttl - self._clock(), 0.0)

    def _is_due(self) -> bool:
        if not self._tried:
            return True
        ttl = self._login.ttl
        if not ttl or (self._failure is not None and not self._login.relogin_if_failed):
            return False
        return self._clock() - self._tried >= ttl

    def _adopt_stored(self) -> bool:
        """Adopt a newer stored session of another crawl or an earlier run; returns whether there is one."""
        stored = self._kept.load_newer() if self._kept else None
        if stored is None:
            return False
        age, cookies = stored
        group = cookie_group(self._login)
        self._jars.adopt_cookies(group, cookies)
        self._tried, self._failure = self._clock() - age, None
        self._count += 1
        logger.info("Reusing the stored session of login %s", self._login.name)
        return True

    async def _log_in(self, send: Send) -> None:
        name = self._login.name
        try:
            if self._adopt_stored():
                return
        except StateError as error:
            self._note(error)
        self._jars.forget(cookie_group(self._login))
        first = self._failure is None
        try:
            await LoginRequests(self._login, self._headers, send).run()
        except LoginFailedError as error:
            self._failure = error
            self._failures += 1
            if first:
                self._note(WorkError(f"login {name}: {error}"))
        else:
            self._failure, self._failures = None, 0
            self._count += 1
            logger.info("Logged in: %s", name)
            try:
                if self._kept is not None:
                    self._kept.store_cookies(self._jars.cookies(cookie_group(self._login)))
            except StateError as error:
                self._note(error)
        self._tried = self._clock()

    def _is_lost(self, response: Response) -> bool:
        login = self._login
        if login.leads_to_form(response.status, header_of(response, "Location"), response.url):
            return True
        return bool(login.lost_text) and login.lost_text.encode(_encoding(response)) in response.body


def _encoding(response: Response) -> str:
    return getattr(response, "encoding", None) or "utf-8"


class KeptSession:
    """The encrypted cookies of one login in the site store; only sources with an identical login can read them.

    Methods raise `StateError`.
    """

    def __init__(
        self, sites: Callable[[], SiteStore], cipher: SessionCipher, login: Login, clock: Callable[[], float]
    ) -> None:
        """`sites` returns the store once the crawl has opened it; `clock` returns seconds since the epoch."""
        self._sites = sites
        self._cipher = cipher
        self._ttl = login.ttl
        self._clock = clock
        self._name = cipher.name_of(login.identity)
        self._since = 0.0
        """Time of the login whose session this crawl uses; 0 for none."""

    def load_newer(self) -> tuple[float, list[Cookie]] | None:
        """Return age (seconds) and cookies of a stored session; None if it is expired, or not newer than ours."""
        stored = self._sites().get_session(self._name)
        if stored is None or stored.since <= self._since:
            return None
        age = max(self._clock() - stored.since, 0.0)
        text = self._cipher.unseal(stored.sealed, self._name)
        if text is None or (self._ttl and age >= self._ttl):
            return None
        self._since = stored.since
        return age, [_cookie(**values) for values in json.loads(text)]

    def store_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Store the cookies of a login that was just made."""
        self._since = self._clock()
        text = json.dumps([vars(cookie) for cookie in cookies])
        self._sites().put_session(self._name, StoredSession(self._since, self._cipher.seal(text, self._name)))


def _cookie(_rest: dict[str, str], **values: object) -> Cookie:
    return Cookie(**values, rest=_rest)  # type: ignore[arg-type]  # as `store_cookies` wrote them
