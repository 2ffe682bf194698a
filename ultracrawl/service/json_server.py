"""A server that is asked for JSON, over HTTP or HTTPS."""

from __future__ import annotations

import json
import ssl
from http.client import HTTPException, HTTPResponse
from typing import Any, cast
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from ultracrawl.errors import WorkError
from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.settings.trust import trusted_roots

_LARGEST_ANSWER = 256 << 20


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: what is sent is for one server."""

    def redirect_request(self, *_: object) -> None:
        """Return that it is not followed."""


class JsonServer:
    """A server that answers in JSON: its certificate is checked, redirects are not followed.

    A proxy that the environment names is for other machines only.
    """

    def __init__(self, host: str, shown: str, kind: str, timeout: float) -> None:
        """Name it in errors as `shown`, which should answer as a `kind` does."""
        self._shown, self._kind, self._timeout = shown, kind, timeout
        file, folder = trusted_roots()
        context = ssl.create_default_context(cafile=file or None, capath=folder or None)
        direct = [ProxyHandler({})] if host in LOOPBACK_NAMES else []
        self._opener = build_opener(_NoRedirect, HTTPSHandler(context=context), *direct)

    def open_answer(self, request: Request) -> HTTPResponse:
        """Send a request and return the answer, unread. Raises `OSError`, `HTTPException`."""
        return cast(HTTPResponse, self._opener.open(request, timeout=self._timeout))

    def read_answer(self, request: Request) -> Any:
        """Send a request and return what is answered. Raises `HTTPError` if that is a refusal, else `WorkError`."""
        try:
            with self.open_answer(request) as answer:
                return json.loads(answer.read(_LARGEST_ANSWER))
        except HTTPError:
            raise
        except URLError as error:
            reason = getattr(error.reason, "strerror", None) or error.reason
            raise WorkError(f"{self._shown} cannot be asked: {reason}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise WorkError(f"{self._shown} did not answer as a {self._kind} does: {error}") from None
