"""A client for servers that respond in JSON, over HTTP or HTTPS."""

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

_MAX_RESPONSE_BYTES = 256 << 20


class _NoRedirect(HTTPRedirectHandler):
    """Refuses redirects, so that credentials are sent to one server only."""

    def redirect_request(self, *_: object) -> None:
        """Refuse to follow the redirect."""


class UntrustedServerError(WorkError):
    """The certificate of a server is of no authority that is trusted here, or for another host."""


class JsonClient:
    """Sends requests to one server: verifies its certificate, and follows no redirects.

    A proxy from the environment is used for other machines only, not for this one.
    """

    def __init__(self, host: str, label: str, kind: str, timeout: float) -> None:
        """`label` and `kind` name the server and its expected type in errors; `timeout` is in seconds."""
        self._label, self._kind, self._timeout = label, kind, timeout
        file, folder = trusted_roots()
        context = ssl.create_default_context(cafile=file or None, capath=folder or None)
        direct = [ProxyHandler({})] if host in LOOPBACK_NAMES else []
        self._opener = build_opener(_NoRedirect, HTTPSHandler(context=context), *direct)

    def open_response(self, request: Request) -> HTTPResponse:
        """Send a request and return the unread response. Raises `OSError`, `HTTPException`."""
        return cast(HTTPResponse, self._opener.open(request, timeout=self._timeout))

    def read_json(self, request: Request) -> Any:
        """Send a request and return the parsed response.

        Raises `HTTPError` for error statuses, `UntrustedServerError` for the certificate, else `WorkError`.
        """
        try:
            with self.open_response(request) as response:
                return json.loads(response.read(_MAX_RESPONSE_BYTES))
        except HTTPError:
            raise
        except URLError as error:
            if isinstance(error.reason, ssl.SSLCertVerificationError):
                why = error.reason.verify_message
                raise UntrustedServerError(
                    f"the certificate of {self._label} is not trusted: {why}"
                ) from None
            reason = getattr(error.reason, "strerror", None) or error.reason
            raise WorkError(f"{self._label} cannot be reached: {reason}") from None
        except (OSError, HTTPException, ValueError) as error:
            raise WorkError(f"{self._label} did not respond as a {self._kind} does: {error}") from None
