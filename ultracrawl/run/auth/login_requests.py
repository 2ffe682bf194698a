"""The requests of one form login: preload page, form, submission. No message contains a secret."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy import Request
from scrapy.http import Response

from ultracrawl.content.charset.decoding import find_charset
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.access.login import Form, Login, joined, login_forms
from ultracrawl.rules.urls.canonical import split
from ultracrawl.run.download_errors.kinds import AddressRefusedError, LoginFailedError, failure_of
from ultracrawl.run.transport.headers import header_of, url_in_header
from ultracrawl.run.transport.outgoing import NEW_CONNECTION, LoginRequest, Send

MAX_REDIRECTS = 10
"""Redirects followed by a request of a login."""
MAX_BODY_BYTES = 4 << 20
"""Largest response that is read."""


def forms_of(response: Response, body: bytes, login: Login) -> list[Form]:
    """Return the forms of a page that may be that of a login; `body` is that of the response, or empty."""
    charset = find_charset(body, header_of(response, "Content-Type"))
    return login_forms(body, response.url, charset, login.names)


class LoginRequests:
    """Carries out one login. Raises `LoginFailedError`."""

    def __init__(self, login: Login, headers: Mapping[str, str], send: Send) -> None:
        self._login = login
        # Responses are read here without decompression.
        self._headers = {**headers, "Accept-Encoding": "identity"}
        self._send = send
        self.form: Form | None = None
        """The form that was filled in; None until it is read."""

    async def run(self) -> None:
        """Fetch the preload page and the form, submit the form and check the response."""
        login = self._login
        if login.preload:
            await self._follow(await self._request(login.preload))
        form = self.form = await self._form()
        action = login.action or form.action
        if not login.action and not login.may_receive(action):
            raise LoginFailedError(
                "the form is sent to another site than its page; write its URL as `action` if this is intended"
            )
        method = login.method or (form.method if login.autofill and login.page else "POST")
        response = await self._request(action, method, form.encoded(login.values))
        self._check(await self._follow(response, action, form))

    async def _form(self) -> Form:
        """Return the form to fill in; an empty one if it is not read from a page."""
        login = self._login
        if not login.page or not login.autofill:
            return Form(login.action or "", "POST", ())
        page = await self._follow(await self._request(login.page))
        if page.status >= 400:
            raise LoginFailedError(f"the login page returned status {page.status}")
        forms = forms_of(page, page.body, login)
        if not forms:
            raise LoginFailedError(f"30188 no login form given: {login.page}")
        return forms[0]

    async def _request(self, url: str, method: str = "GET", data: str = "") -> Response:
        headers, body = dict(self._headers), ""
        if data:
            # Some servers require it together with the token of the form.
            headers["Referer"] = self._login.page or url
        if data and method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = data
        elif data:
            url = f"{url}{'&' if '?' in url else '?'}{data}"
        meta = {"download_timeout": self._login.timeout, "download_maxsize": MAX_BODY_BYTES}
        if data:  # a form must be submitted only once, with GET too
            meta[NEW_CONNECTION] = True
        return await self._send_once(LoginRequest(url, method=method, headers=headers, body=body, meta=meta))

    async def _send_once(self, request: Request) -> Response:
        """Send a request without retries: a server that did not answer may have counted it as an attempt."""
        try:
            return await self._send(request)
        except Exception as error:  # whatever a handler raises
            raise _no_response(error, request.url) from None

    async def _follow(self, response: Response, sent_to: str = "", form: Form | None = None) -> Response:
        """Follow redirects by GET among the hosts of the login; form data is never sent again."""
        for _ in range(MAX_REDIRECTS):
            location = url_in_header(response, "Location")
            if response.status not in REDIRECTS or not location:
                break
            if sent_to and response.status in {307, 308}:
                raise LoginFailedError("the server wants the form sent to another URL; name that as `action`")
            target = joined(response.url, location)
            if split(target).host not in self._login.own_hosts or not target.startswith(
                ("http://", "https://")
            ):
                break
            if response.url.startswith("https:") and target.startswith("http:"):
                break
            response = await self._request(target)
        else:
            raise LoginFailedError(f"more than {MAX_REDIRECTS} redirects")
        if form is not None and self._repeats(response, form):
            raise LoginFailedError("the server shows the form again", refused=True)
        return response

    def _repeats(self, response: Response, form: Form) -> bool:
        """Return whether a page has the form that was sent, whatever else is hidden in it."""
        shown = forms_of(response, response.body, self._login)
        return any(self._login.is_form(again, form) for again in shown)

    def _check(self, response: Response) -> None:
        if response.status >= 400:
            raise LoginFailedError(f"the server returned status {response.status}")
        text = self._login.failed_text
        if text and text in _text(response):
            raise LoginFailedError(
                "the page after the login contains the text of `failed_text`", refused=True
            )


def _no_response(error: Exception, url: str) -> LoginFailedError:
    """Return the error with the host, and without texts that may contain the URL and thus the password."""
    cause = failure_of(error).cause
    why = str(cause) if isinstance(error, AddressRefusedError) else cause.heading
    return LoginFailedError(f"no response to a login request to {split(url).host} ({why})")


def _text(response: Response) -> str:
    return response.body.decode(getattr(response, "encoding", None) or "utf-8", "replace")
