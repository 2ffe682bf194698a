"""What a client asks one server with, over HTTP or HTTPS."""

from __future__ import annotations

import ssl
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, ProxyHandler, build_opener

from ultracrawl.rules.boundary.masks import LOOPBACK_NAMES
from ultracrawl.settings.trust import trusted_roots


class _NoRedirect(HTTPRedirectHandler):
    """Follows nothing: what is sent is for one server."""

    def redirect_request(self, *_: object) -> None:
        """Return that it is not followed."""


def opener_of(host: str) -> OpenerDirector:
    """Return what asks a server: certificates are checked, redirects are not followed.

    A proxy that the environment names is for other machines only.
    """
    file, folder = trusted_roots()
    context = ssl.create_default_context(cafile=file or None, capath=folder or None)
    direct = [ProxyHandler({})] if host in LOOPBACK_NAMES else []
    return build_opener(_NoRedirect, HTTPSHandler(context=context), *direct)
