"""URL prefixes for settings that apply to a URL and everything below it."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.urls.canonical import DEFAULT_PORTS, UrlPolicy, split

_FORM = UrlPolicy(max_length=65_536)


@dataclass(frozen=True, slots=True)
class UrlPrefix:
    """Scheme, host, port and path; `https://a.example/staff` covers `/staff/x` and `/staff?x`, not `/staffroom`."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str) -> UrlPrefix:
        """Parse an absolute URL of http or https. Raises `ValueError`, whose text does not repeat the URL."""
        canonical = _FORM.canonical(text)
        authority = text.partition("://")[2].partition("/")[0]
        if canonical is None:
            raise ValueError("it is not an absolute URL of http or https")
        if "@" in authority:
            raise ValueError("it holds a user name or password")
        return cls(*split(canonical))

    def covers(self, url: str) -> bool:
        """Return whether a URL is the prefix or below it; segments such as `..` are resolved first."""
        parts = split(_FORM.canonical(url) or "")
        own = self.path
        if (parts.scheme, parts.host, parts.port) != (self.scheme, self.host, self.port):
            return False
        if not parts.path.startswith(own):
            return False
        return own.endswith("/") or "?" in own or parts.path[len(own) : len(own) + 1] in {"", "/", "?"}

    @property
    def site(self) -> UrlPrefix:
        """The prefix of the whole site."""
        return UrlPrefix(self.scheme, self.host, self.port, "/")

    def __len__(self) -> int:
        return len(self.path)

    def __str__(self) -> str:
        port = "" if self.port == DEFAULT_PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.path}"
