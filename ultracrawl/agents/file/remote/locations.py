"""Remote base folders as they are written in `paths`, and the URLs of the files in them."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from ultracrawl.sources.mistakes import format_value, mistake

SCHEMES = frozenset({"sftp", "s3", "smb", "webdav"})
"""The URL schemes of remote file systems."""
_SAFE = "/-._~!$&'()*+,;=:@"


class RemoteLocation(NamedTuple):
    """A folder or file of a remote file system."""

    scheme: str
    host: str
    port: int
    """0: that of the scheme."""
    user: str
    """The user that the URL names; empty: none. It is not part of the URLs of documents."""
    path: bytes
    """Absolute, with a `/` at the end only if it is the root."""

    @property
    def server(self) -> str:
        """The URL of the server, as `sftp://files.example.com:2222`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}" if self.port else f"{self.scheme}://{host}"

    @property
    def url(self) -> str:
        """The URL of the folder or file."""
        return self.url_of(self.path)

    def url_of(self, path: bytes) -> str:
        """Return the URL of a path of the same server."""
        return self.server + quote_from_bytes(path, safe=_SAFE)

    def path_of(self, url: str) -> bytes | None:
        """Return the path of a URL if it is this location or below it, else None."""
        rest = url.removeprefix(self.server)
        if rest == url or not rest.startswith("/") or "?" in rest or "#" in rest:
            return None
        path = unquote_to_bytes(rest)
        return path if is_file_path(path) and self._contains(path) else None

    def holds(self, other: RemoteLocation) -> bool:
        """Whether a location is this one or below it, of the same user unless this one names none."""
        same = self.server == other.server and self.user in ("", other.user)
        return same and self._contains(other.path)

    def _contains(self, path: bytes) -> bool:
        return path == self.path or path.startswith(self.path.rstrip(b"/") + b"/")


def is_file_path(path: bytes) -> bool:
    """Whether a path of a server leads where it seems to."""
    return b"\0" not in path and not {b".", b".."} & set(path.split(b"/"))


def is_remote(text: str) -> bool:
    """Whether a value of `paths` is a URL rather than a local path."""
    return "://" in text


def parse_location(text: str) -> RemoteLocation:
    """Return the location that a URL names. Raises a mistake of the definition, which never shows a password."""
    scheme, _, rest = text.partition("://")
    if scheme.lower() not in SCHEMES:
        names = ", ".join(f"`{name}://`" for name in sorted(SCHEMES))
        raise mistake(f"there are no file systems `{scheme}://`", f"write {names}, or a path of this machine")
    authority = rest.partition("/")[0]
    if ":" in authority.rpartition("@")[0]:
        raise mistake(
            f"the URL of {authority.rpartition('@')[2]} contains a password",
            "write the password in `connections`, as `${NAME}`",
        )
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    path = b"/" + unquote_to_bytes(rest.partition("/")[2]).strip(b"/")
    if not host or "?" in text or "#" in text or b"//" in path or not is_file_path(path):
        raise mistake(
            f"{format_value(text)} is not the URL of a folder",
            "write for example `sftp://reader@files.example.com/srv/docs`; encode `?` and `#` as `%3F` and `%23`",
        )
    user = unquote_to_bytes(parts.username or "").decode("utf-8", "replace")
    return RemoteLocation(scheme.lower(), host, port or 0, user, path)
