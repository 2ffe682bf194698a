"""Form logins: before the first page of their sites, and again when a session is lost."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Callable, Iterable
from http.cookiejar import Cookie
from typing import TYPE_CHECKING

from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.refresh import parse_refresh
from ultracrawl.errors import StateError, WorkError
from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for
from ultracrawl.model.page import LinkKind
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.access.login import Form, Login, joined
from ultracrawl.rules.access.visitors import Likeness
from ultracrawl.rules.urls.canonical import host_of, path_of
from ultracrawl.rules.walls import is_login_redirect, is_short_page
from ultracrawl.run.auth.first_page import FirstPage, html_of, is_refusal, page_of, readable
from ultracrawl.run.auth.login_requests import LoginRequests, forms_of
from ultracrawl.run.download_errors.kinds import LoginFailedError
from ultracrawl.run.transport.headers import header_of, url_in_header
from ultracrawl.run.transport.outgoing import WITHOUT_LOGIN, Send, send_with
from ultracrawl.run.visit import page_visit_of
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
"""Logins in a row after which a page still required a login; then a lost session is not renewed any more."""
MAX_REFRESH = 10.0
"""Seconds after which a page that refreshes itself to the form is a redirect; later that only ends an idle session."""
_HEAD_BYTES = 4096
"""So far from its beginning a page says that it refreshes itself."""
_NO_LINKS = frozenset[LinkKind]()
_PASSWORD = re.compile(rb"""\btype\s*=\s*["']?password""", re.IGNORECASE)
_UNAUTHORISED = 401
_TRANSIENT = frozenset({304, 408, 425, 429})
"""Statuses from 300 to 499 that say nothing about a page."""


def cookie_group(login: Login) -> str:
    """Return the name of the cookie group of a login."""
    return f"login {login.name}"


class FormLogin:
    """Logs in before the sites of a login are requested. robots.txt needs no login."""

    def __init__(self, logins: Iterable[Login], open_session: Callable[[Login], LoginSession]) -> None:
        """`open_session` makes the session of a login."""
        self._sessions: dict[str, LoginSession] = {}
        for login in logins:
            session = open_session(login)
            for host in login.hosts:
                self._sessions.setdefault(host, session)

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request in the session of its site. Raises `LoginFailedError`."""
        session = self._sessions.get(host_of(request.url))
        if session is None or path_of(request.url) == "/robots.txt":
            return await send(request)
        return await session.fetch(request, send)


class SignsOfVisitors:
    """Tells by an answer that its request had no session: it redirects to the form, shows it, or is as for visitors."""

    def __init__(self, login: Login, first: FirstPage) -> None:
        self._login = login
        self._first = first
        self.form: Form | None = None
        """The form that was filled in, as soon as it is known."""

    def of(self, response: Response) -> Likeness:
        """Return how certain a response shows that there is no session (any more)."""
        response = readable(response)
        if self._is_certain(response):
            return Likeness.SAME
        shows_form = self._shows_form(response)
        if shows_form and is_short_page(response.body) and not self._login.is_at_form(response.url):
            return Likeness.SAME
        likeness = self._first.likeness(response)
        # Some pages show the form beside their text, or are refused, also to those who are let in.
        may_be = shows_form or is_refusal(response)
        return Likeness.PERHAPS if may_be and likeness is Likeness.NONE else likeness

    def refuse_first_page(self, response: Response) -> bool:
        """Return whether a response for the first page shows that there is no session."""
        if self._is_certain(response) or is_refusal(response):
            return True
        if self._first.likeness(response) is not Likeness.NONE:
            return True
        return self._shows_form(response) and is_short_page(response.body)

    def _is_certain(self, response: Response) -> bool:
        text = self._login.lost_text
        if text and text.encode(_encoding(response), "replace") in response.body:
            return True
        return (response.status == _UNAUTHORISED and is_refusal(response)) or self.leads_to_form(response)

    def leads_to_form(self, response: Response) -> bool:
        """Return whether a response redirects to the form, or to another log-in page that leads back."""
        if response.status in REDIRECTS:
            location = url_in_header(response, "Location")
            if self._login.leads_to_form(response.status, location, response.url):
                return True
            return is_login_redirect(response.url, joined(response.url, location))
        return self._login.is_at_form(_refresh_of(response)) and not self._login.is_at_form(response.url)

    def _shows_form(self, response: Response) -> bool:
        body = html_of(response)
        names = self._login.names
        # Few pages have a form; only these are parsed.
        has_password = b"password" in body.lower() and _PASSWORD.search(body) is not None
        if not has_password and not (names and all(name.encode() in body for name in names)):
            return False
        return any(self._login.is_form(form, self.form) for form in forms_of(response, body, self._login))


def _refresh_of(response: Response) -> str:
    """Return the URL to which a page redirects by a quick refresh of its header or META, empty if it does not."""
    base, refresh = response.url, parse_refresh(url_in_header(response, "Refresh"))
    if refresh is None and b"refresh" in html_of(response)[:_HEAD_BYTES].lower():
        page = parse_html(
            response.body,
            url=response.url,
            content_type=header_of(response, "Content-Type"),
            link_kinds=_NO_LINKS,
        )
        base, refresh = page.base or response.url, page.refresh
    seconds, target = refresh or (MAX_REFRESH + 1, "")
    return joined(base, target) if seconds <= MAX_REFRESH else ""


class LoginSession:
    """The session of one login and the attempts to renew it."""

    def __init__(
        self,
        login: Login,
        jars: CookieJars,
        note: Callable[[WorkError], None],
        first: FirstPage,
        clock: Callable[[], float] = time.monotonic,
        kept: KeptSession | None = None,
    ) -> None:
        """`first`: the first page of the login; `kept`: the session that is kept for later runs."""
        self._login = login
        self._jars = jars
        self._note = note
        self._first = first
        self._signs = SignsOfVisitors(login, first)
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
        self._adopted = False
        """Whether the session is a stored one."""
        self._let_in = False
        """Whether a page of this run was answered as to one who is let in."""
        self._useless = 0
        self._doubted = False
        """Whether the first page was not believed, and that was no use."""
        self._told = False
        """Whether the report names a page that stays closed."""
        self._leads_on = (0, True)
        """In which session the page of the form was looked at, and whether it was another page."""

    async def fetch(self, request: Request, send: Send) -> Response:
        """Send a request after the login; if the response shows that the session is lost, log in and send it again.

        Raises `LoginFailedError` for an answer that shows that we are not let in: it is no content.
        """
        count = await self._log_in_if_due(send)
        response = await self._send_request(request, send)
        if self._failure is not None:
            return self._without_login(request, response)
        sign = await self._sign(request, response, send)
        if sign is Likeness.NONE or (sign is Likeness.PERHAPS and self._first.page is None):
            return await self._note_let_in(request, response, send)
        is_alive = False
        for doubt in (False, True):
            async with self._lock:
                is_over = self._count != count or self._failure is not None
                is_alive = is_over or await self._renew(request, sign, send, doubt=doubt)
            self._raise_if_needed()
            if self._failure is not None:
                return self._without_login(request, response)
            is_renewed = self._count != count
            if not is_renewed and (sign is not Likeness.SAME or not is_alive):
                break
            response = await self._send_request(request, send)  # the server may err about one page
            sign = await self._sign(request, response, send)
            if sign is Likeness.NONE:
                self._useless, self._doubted = 0, False
                return await self._note_let_in(request, response, send)
            if is_renewed or sign is not Likeness.SAME or not _is_shown(request):
                break
        return self._refuse(request, response, sign, is_alive=is_alive)

    async def _renew(self, request: Request, sign: Likeness, send: Send, *, doubt: bool) -> bool:
        """Log in again if the session is lost, and return whether there may be one now.

        The login has failed if no page was ever let in with it. With `doubt` the first page is not believed, once: a
        site may greet there whom it lets in nowhere.
        """
        lets_in = None
        if not doubt:
            is_same = sign is Likeness.SAME
            lets_in = await self._first.lets_in(send, self._signs.refuse_first_page, doubt=is_same)
            if lets_in:
                return True
        elif self._doubted:
            return False
        self._doubted = self._doubted or doubt
        if lets_in is None and not (self._let_in or self._adopted or doubt):
            if page_of(request) is not None and self._first.page is None:  # sitemaps, for one, may be closed
                self._fail(LoginFailedError(f"its first page, {request.url}, is refused", refused=True))
        elif self._useless < MAX_USELESS_LOGINS or doubt:
            self._useless += not doubt
            logger.info("The session of login %s is lost", self._login.name)
            await self._log_in(send)
            return True
        return False

    async def _note_let_in(self, request: Request, response: Response, send: Send) -> Response:
        known = self._first.known
        is_page = page_visit_of(request) is not None and response.status < 400
        if is_page and response.status not in REDIRECTS:  # which visitors get, too
            self._let_in = True
            if not known.worked or known.failed:
                known.worked, known.failed = True, 0.0
                self._first.save()
            await self._first.learn(request, response, send)
        return response

    def _refuse(
        self, request: Request, response: Response, sign: Likeness, *, is_alive: bool = True
    ) -> Response:
        """Return the response if a page may look so in a session. Raises `LoginFailedError` if not: it is closed.

        What is in the index stays unless there is a session for certain.
        """
        if sign is Likeness.PERHAPS and (is_alive or not _is_shown(request)):
            return response
        if _is_shown(request) and not self._told:
            self._told = True
            self._note(
                WorkError(f"login {self._login.name}: {request.url} and perhaps others ask to log in again")
            )
        raise LoginFailedError(f"login {self._login.name}: the page asks to log in again")

    async def _sign(self, request: Request, response: Response, send: Send) -> Likeness:
        """Return how certain a response shows that there is no session.

        A redirect to the page of the form is no sign if that page is the form for visitors only, as a front page. A
        page that is in the index stays all the same: who is logged in may be sent to the form as well. Raises
        `LoginFailedError` for it.
        """
        sign, page = self._signs.of(response), self._login.page
        location = url_in_header(response, "Location")
        if page is None or not self._login.leads_to_form(response.status, location, response.url):
            return sign
        if self._leads_on != (self._count, False):
            shown = await self._first.ask(page, send)
            leads_on = shown is not None and shown.status == 200 and self._signs.of(shown) is Likeness.NONE
            self._leads_on = (self._count, leads_on)
        if not self._leads_on[1]:
            return sign
        if not _is_shown(request):
            return Likeness.NONE
        if self._first.page is None:  # nothing else shows whether there is a session
            self._refuse(request, response, sign)
        return sign

    def _without_login(self, request: Request, response: Response) -> Response:
        """Return the response to a request of a site that is crawled although its login failed.

        What the login had shown stays: an answer to visitors neither deletes nor replaces it. Raises
        `LoginFailedError`.
        """
        visit, known, status = page_of(request), self._first.known, response.status
        shown = visit is not None and visit.record.retained and visit.record.first_seen < known.failed
        is_no_page = 300 <= status < 500 and status not in _TRANSIENT
        if (shown and is_no_page) or (status in REDIRECTS and self._signs.leads_to_form(response)):
            raise LoginFailedError(str(self._failure))
        if shown:
            response.flags.append(WITHOUT_LOGIN)
        return response

    async def _send_request(self, request: Request, send: Send) -> Response:
        """Send a request whose response can be read here."""
        offered = request.headers.get("Accept-Encoding") or b""
        coding = "identity" if self._login.lost_text or b"gzip" not in offered else "gzip"
        return await send_with(request, send, {"Accept-Encoding": coding})

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
        self._adopted = True
        logger.info("Reusing the stored session of login %s", self._login.name)
        return True

    async def _log_in(self, send: Send) -> None:
        try:
            if self._adopt_stored():
                return
        except StateError as error:
            self._note(error)
        self._jars.forget(cookie_group(self._login))
        self._adopted = False
        self._first.forget_proof()
        requests = LoginRequests(self._login, self._first.headers, send)
        try:
            await requests.run()
            self._signs.form = requests.form
            await self._check_first_page(send)
        except LoginFailedError as error:
            self._signs.form = requests.form
            self._fail(error)
        else:
            self._failure, self._failures = None, 0
            self._count += 1
            logger.info("Logged in: %s", self._login.name)
            try:
                if self._kept is not None:
                    self._kept.store_cookies(self._jars.cookies(cookie_group(self._login)))
            except StateError as error:
                self._note(error)
        self._tried = self._clock()

    async def _check_first_page(self, send: Send) -> None:
        """Raise `LoginFailedError` if the first page is refused after a login, as to visitors."""
        lets_in = await self._first.lets_in(send, self._signs.refuse_first_page, doubt=True)
        if lets_in:
            self._useless = 0  # whatever a page says that ends sessions
        if lets_in is False and (page := self._first.page) is not None:
            raise LoginFailedError(f"its first page, {page.url}, is refused", refused=True)

    def _fail(self, error: LoginFailedError) -> None:
        """Note a failed login; the report says so once."""
        if self._failure is None:
            advice = f"; {advice_for(Cause(CauseCode.LOGIN_FAILED))}" if error.refused else ""
            self._note(WorkError(f"login {self._login.name}: {error}{advice}"))
        self._failure = error
        self._failures += 1
        known = self._first.known
        if known.worked and not known.failed:
            known.failed = self._first.clock()
        self._first.save()


def _is_shown(request: Request) -> bool:
    """Whether a request is for a page whose document is in the index."""
    visit = page_of(request)
    return visit is not None and visit.record.retained


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
