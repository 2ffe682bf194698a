"""A WebDAV server on loopback: wsgidav over a directory."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from wsgidav.wsgidav_app import WsgiDAVApp

from support.remote_site import PASSWORD, USER, DirectorySite, HttpSite


class WebdavSite(HttpSite, DirectorySite):
    """A directory as a WebDAV server shows it to the user `reader`, in clear unless it has an `ssl_context`."""

    url = "webdav://"

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.application = WsgiDAVApp(
            {
                "provider_mapping": {"/": str(root)},
                "simple_dc": {"user_mapping": {"*": True}},
                "logging": {"enable": False},
                "verbose": 0,
                "dir_browser": {"enable": False},
                "lock_storage": False,
            }
        )

    def connection(self) -> dict[str, object]:
        return {} if self.ssl_context else {"tls": False}

    def listed(self, environ: dict[str, Any]) -> str | None:
        is_listing = environ["REQUEST_METHOD"] == "PROPFIND" and environ.get("HTTP_DEPTH") == "1"
        return str(environ["PATH_INFO"]) if is_listing else None

    def read(self, environ: dict[str, Any]) -> str | None:
        return str(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "GET" else None

    def refusal(self, environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes] | None:
        known = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if environ.get("HTTP_AUTHORIZATION") == f"Basic {known}":
            return None
        return "401 Unauthorized", [("WWW-Authenticate", 'Basic realm="files"')], b""
