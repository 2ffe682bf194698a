"""The requests of one form login: preload, form, answer. Secrets appear in no text that anybody sees."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode, urljoin

from scrapy import Request
from scrapy.http import Response

from ultracrawl.crawl.download_errors.kinds import LoginFailedError
from ultracrawl.crawl.transport.headers import header_of
from ultracrawl.crawl.transport.outgoing import FRESH, Send
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.access.login import Form, Login, login_form
from ultracrawl.rules.urls.canonical import split

MOST_REDIRECTS = 10
"""Redirects that are followed after a form was sent."""
LARGEST = 4 << 20
"""Bytes of an answer that is read."""


class LoginRequest(Request):
    """A request that shows its URL without the query, which may hold a password."""

    def __str__(self) -> str:
        return f"<{self.method} {self.url.partition('?')[0]}>"

    __repr__ = __str__


class LoginRequests:
    """Carries one login out. Raises `LoginFailedError`."""

    def __init__(self, login: Login, headers: Mapping[str, str], send: Send) -> None:
        self._login = login
        # Answers are read here as they come, so they must not be compressed.
        self._headers = {**headers, "Accept-Encoding": "identity"}
        self._send = send

    async def run(self) -> None:
        """Fetch what has to be fetched, send the form, and judge the answer."""
        login = self._login
        if login.preload:
            await self._follow(await self._ask(login.preload))
        form = await self._form()
        action = login.action or form.action
        if not login.action and not login.may_receive(action):
            raise LoginFailedError(
                "the form is for another site than its page; name that as `action` if it is right"
            )
        method = login.method or (form.method if login.autofill and login.page else "POST")
        answer = await self._ask(action, method, urlencode(form.filled(login.values)))
        self._judge(await self._follow(answer, action, form))

    async def _form(self) -> Form:
        """Return the form to fill in; an empty one if nothing is taken from a page."""
        login = self._login
        if not login.page or not login.autofill:
            return Form(login.action or "", "POST", ())
        page = await self._follow(await self._ask(login.page))
        if page.status >= 400:
            raise LoginFailedError(f"the page with the form was answered with {page.status}")
        form = login_form(page.body, page.url, getattr(page, "encoding", None))
        if form is None:
            raise LoginFailedError(f"30188 no login form given: {login.page}")
        return form

    async def _ask(self, url: str, method: str = "GET", data: str = "") -> Response:
        headers, body = dict(self._headers), ""
        if data:
            # Some servers compare it with the token of the form.
            headers["Referer"] = self._login.page or url
        if data and method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = data
        elif data:
            url = f"{url}{'&' if '?' in url else '?'}{data}"
        meta = {"download_timeout": self._login.timeout, "download_maxsize": LARGEST}
        if data:  # by GET, too, a form is to be sent once
            meta[FRESH] = True
        return await self._sent(LoginRequest(url, method=method, headers=headers, body=body, meta=meta))

    async def _sent(self, request: Request) -> Response:
        """Send a request, once: nobody knows whether a server that did not answer has counted it as an attempt."""
        try:
            return await self._send(request)
        except Exception as error:  # whatever a handler raises
            raise _unanswered(error) from None

    async def _follow(self, response: Response, sent_to: str = "", form: Form | None = None) -> Response:
        """Follow redirects with GET among the hosts of the login; what is filled in is never sent again."""
        for _ in range(MOST_REDIRECTS):
            location = header_of(response, "Location")
            if response.status not in REDIRECTS or not location:
                break
            if sent_to and response.status in {307, 308}:
                raise LoginFailedError("the server wants the form sent to another URL; name that as `action`")
            target = urljoin(response.url, location)
            if split(target).host not in self._login.own_hosts or not target.startswith(
                ("http://", "https://")
            ):
                break
            if response.url.startswith("https:") and target.startswith("http:"):
                break
            response = await self._ask(target)
        else:
            raise LoginFailedError(f"more than {MOST_REDIRECTS} redirects")
        if form is not None and form.fields and _shows_again(response, form):
            raise LoginFailedError("the server shows the form again")
        return response

    def _judge(self, response: Response) -> None:
        if response.status >= 400:
            raise LoginFailedError(f"the server answered {response.status}")
        text = self._login.failed_text
        if text and text in _text(response):
            raise LoginFailedError("the page after it has the text of `failed_text`")


def _unanswered(error: Exception) -> LoginFailedError:
    """Return what is told of an error; its own text may hold the URL, and that the password."""
    return LoginFailedError(f"no answer to a request of the login ({type(error).__name__})")


def _shows_again(response: Response, form: Form) -> bool:
    again = login_form(response.body, response.url, getattr(response, "encoding", None))
    return again is not None and again.action == form.action


def _text(response: Response) -> str:
    return response.body.decode(getattr(response, "encoding", None) or "utf-8", "replace")
