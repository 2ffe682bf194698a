"""Canonical URLs: one form for all spellings of a URL, its parts, and its storage key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

import ada_url
from ada_url import join_url, normalize_url
from xxhash import xxh3_64_intdigest

from ultracrawl.dataclass import dataclass, field, replace
from ultracrawl.model import Decision
from ultracrawl.rules.urls.normalise import NO_STEPS, Normaliser

DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}


class UrlParts(NamedTuple):
    """Scheme, host, port and path of a URL.

    `host` has no port and, for IPv6, keeps its brackets; `port` is the scheme's default where the URL names
    none, 0 for schemes without ports; `path` begins with `/` and includes the query.
    """

    scheme: str
    host: str
    port: int
    path: str


def _authority(url: str) -> tuple[str, str]:
    start = url.find("://") + 3
    if start == 2:
        return "", ""
    end = url.find("/", start)
    return (url[start:end], url[end:]) if end >= 0 else (url[start:], "/")


def _host_and_port(authority: str) -> tuple[str, str]:
    colon = authority.rfind(":")
    if colon < 0 or authority.endswith("]"):
        return authority, ""
    return authority[:colon], authority[colon + 1 :]


def split(url: str) -> UrlParts:
    """Split a canonical URL into its parts.

    Never raises for other strings: missing parts are empty, an invalid port is 0.
    """
    authority, path = _authority(url)
    scheme = url.partition(":")[0]
    host, port = _host_and_port(authority)
    if port:
        return UrlParts(scheme, host, int(port) if port.isdecimal() else 0, path)
    return UrlParts(scheme, host, DEFAULT_PORTS.get(scheme, 0), path)


def site_of(url: str) -> str:
    """Return the site of a canonical URL: `host`, or `host:port` if the port is not the scheme's default.

    The site is the unit of politeness delays and queues; http and https of one host on their default
    ports are one site.
    """
    start = url.find("://") + 3
    end = url.find("/", start)
    return url[start:end] if end >= 0 and start > 2 else _authority(url)[0]


def same_site_ports(port: int) -> frozenset[int]:
    """Return the ports that belong to one site (`site_of`): the port itself; of the default ones both."""
    default = frozenset({DEFAULT_PORTS["http"], DEFAULT_PORTS["https"]})
    return default if port in default else frozenset({port})


def on_site(url: str, site: str) -> str:
    """Return a canonical URL with another site."""
    start = url.find("://") + 3
    return url[:start] + site + url[start + len(site_of(url)) :]


def host_of(url: str) -> str:
    """Return the host of a canonical URL, without its port."""
    return _host_and_port(site_of(url))[0]


def path_of(url: str) -> str:
    """Return path and query of a canonical URL."""
    return _authority(url)[1]


def display_url(url: str) -> str:
    """Return a canonical URL with its international host name in Unicode.

    For display only: two such names may look alike.
    """
    host = host_of(url)
    if "xn--" not in host:
        return url
    readable: str = ada_url.idna.decode(host)
    return url.replace(host, readable, 1) if readable else url


_SIGN = 1 << 63
_MODULUS = 1 << 64


def url_key(url: str) -> int:
    """Return the key of a URL: XXH3-64 of its UTF-8 as a signed 64-bit number, as SQLite stores integers.

    Two URLs may share a key; who makes a record for one compares the URLs (`CrawlRun.note_shared_key`). Any string has
    a key; lone surrogates are encoded with `surrogatepass`.
    """
    try:
        data = url.encode()
    except UnicodeEncodeError:
        data = url.encode("utf-8", "surrogatepass")
    digest: int = xxh3_64_intdigest(data)
    return digest - _MODULUS if digest >= _SIGN else digest


MAX_LENGTH = 2083
"""Default maximum length of a canonical URL in characters: the limit of old browsers and proxies."""

_MAX_ORIGINS = 4096
_PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?@!$&'()*+,;="
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
_ODD = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?@!$&'()*+,;=]")
_UNFETCHABLE = ("javascript:", "mailto:", "data:", "tel:")
_BLANKS = "".join(map(chr, range(0x21)))
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*(?=:)")


class Canonical(NamedTuple):
    """A canonical URL or None, with the decision that explains it."""

    url: str | None
    decision: Decision


class UrlRule(StrEnum):
    """Rules that refuse a link which has no canonical URL."""

    LENGTH = "URL too long"
    MALFORMED = "malformed URL"
    SCHEME = "URL scheme"


class _Refused(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    def __init__(self, rule: UrlRule, reason: str) -> None:
        super().__init__(rule, reason)
        self.rule = rule
        self.reason = reason


class SiteNormalisers(Protocol):
    """The steps of single sites, as a `SiteTable` has them."""

    def find(self, site: str) -> Normaliser | None:
        """Return the steps of a site (as `site_of` returns it); None if it has none of its own."""


@dataclass(frozen=True)
class UrlPolicy:
    """Makes canonical URLs of links, with the settings of one source.

    Parsing follows the WHATWG URL standard. In addition, only `schemes` are accepted; fragment, user info
    and the dot after a host name are dropped; percent-encoding is normalised (RFC 3986 6.2.2: unreserved
    characters decoded, upper-case digits, characters that RFC 3986 does not allow encoded, a stray `%` becomes
    `%25`). An empty query (`/a?`) is kept apart from none (`/a`), as RFC 3986 6.2.3 requires; empty path segments
    are kept.
    """

    normaliser: Normaliser = NO_STEPS
    """Steps after the canonical form is made; none by default."""
    max_length: int = MAX_LENGTH
    """Maximum number of characters of the canonical form; longer URLs are refused."""
    keep_fragment: bool | Literal["routes"] = False
    """Keep fragments; `routes`: only those that are routes of an application (`#/path`, `#!path`)."""
    schemes: AbstractSet[str] = frozenset({"http", "https"})
    """`ftp` and `file` may be added; no other scheme is supported."""
    own_normalisers: SiteNormalisers | None = None
    """The steps of sites that have their own."""
    _origins: set[str] = field(init=False, repr=False, compare=False, default_factory=set)
    """Origins (`https://host:port`) known to be canonical: a bounded cache for the fast path."""

    def canonical(self, href: str, base: str | None = None) -> str | None:
        """Return the canonical URL of a link as written, or None if it cannot be fetched. Never raises.

        `base` is the absolute URL that relative links are resolved against.
        """
        if href.startswith(_UNFETCHABLE):
            return None
        if len(href) > self.max_length:
            return self.canonicalise(href, base).url
        try:
            url: str = normalize_url(href) if base is None else join_url(base, href)
        except ValueError:
            return self.canonicalise(href, base).url
        cut = url.find("#")
        if cut >= 0 and self.keep_fragment is not True:
            url = self._without_fragment(url)
        if (
            url[: url.find("/", 8)] in self._origins
            and not url.encode().translate(None, _PLAIN)
            and len(url) <= self.max_length
            and not self._may_normalise(url)
        ):
            return url
        try:
            return self._finish(url)
        except _Refused:
            return None

    @property
    def without_rewriting(self) -> UrlPolicy:
        """The policy that only makes the canonical form: this one, unless it rewrites."""
        return self

    @property
    def normalises(self) -> bool:
        """Whether it has steps beyond the canonical form."""
        return bool(self.normaliser) or self.own_normalisers is not None

    @property
    def keeps_plain_paths(self) -> bool:
        """Whether a link that is a plain relative path needs only to be joined to its page."""
        return self.own_normalisers is None and self.normaliser.keeps_plain_paths

    def normalising(self, href: str, base: str | None = None) -> Iterator[tuple[str, str]]:
        """Yield the steps that change the canonical form of a link, and the URL after each; for `explain`."""
        url = replace(self, normaliser=NO_STEPS, own_normalisers=None).canonical(href, base)
        if url is not None:
            yield from self._changes(url)

    def _changes(self, url: str) -> Iterator[tuple[str, str]]:
        """Yield the steps that change a canonical URL; where one leads to another site, those of that site follow."""
        form = url
        for step, form in self._normaliser_of(url).changes(url):
            yield step, form
        if self.own_normalisers is not None and site_of(form) != site_of(url):
            yield from self._normaliser_of(form).changes(form)

    def _may_normalise(self, url: str) -> bool:
        if self.own_normalisers is not None:
            return True
        return bool(self.normaliser) and self.normaliser.may_change(url)

    def _normaliser_of(self, url: str) -> Normaliser:
        own = self.own_normalisers.find(site_of(url)) if self.own_normalisers is not None else None
        return self.normaliser if own is None else own

    def canonicalise(self, href: str, base: str | None = None) -> Canonical:
        """Return the canonical URL with the decision that explains it, for `explain` and logs."""
        try:
            url = self._finish(self._join(href, base))
        except _Refused as refused:
            return Canonical(None, Decision(False, "url", refused.rule.value, refused.reason))
        return Canonical(url, Decision(True, "url", "canonical URL", url))

    def _join(self, href: str, base: str | None) -> str:
        href = href.strip(_BLANKS)
        if not self.keep_fragment:
            # The "#" stays for the parser: without it, blanks before it would be stripped as trailing ones.
            href = "".join(href.partition("#")[:2])
        if len(href) > self.max_length + 1:
            raise _Refused(UrlRule.LENGTH, f"{len(href)} characters; {self.max_length} are allowed")
        href = _scalars(href)
        try:
            url: str = normalize_url(href) if base is None else join_url(_scalars(base), href)
        except ValueError:
            needs_base = base is None and not _SCHEME.match(href.lower())
            raise _Refused(
                UrlRule.MALFORMED, "no base to join it to" if needs_base else "not a URL"
            ) from None
        return self._without_fragment(url)

    def _without_fragment(self, url: str) -> str:
        """Return a URL without its fragment, unless that is kept."""
        if self.keep_fragment is True:
            return url
        document, _, fragment = url.partition("#")
        return url if self.keep_fragment and fragment[:1] in ("/", "!") else document

    def _finish(self, url: str) -> str:
        scheme, separator, rest = url.partition("://")
        if scheme not in self.schemes or not separator:
            raise _Refused(UrlRule.SCHEME, f"only {', '.join(sorted(self.schemes))} URLs are accepted")
        authority, _, path = rest.partition("/")
        clean = _clean_authority(authority)
        if authority and not clean:
            raise _Refused(UrlRule.MALFORMED, "the host name has an empty label")
        result = f"{scheme}://{clean}{_unified_tail('/' + path)}"
        if self.normalises:
            result = [result, *(form for _, form in self._changes(result))][-1]
        if len(result) > self.max_length:
            raise _Refused(UrlRule.LENGTH, f"{len(result)} characters; {self.max_length} are allowed")
        if clean == authority and scheme in ("http", "https"):
            self._remember(f"{scheme}://{clean}")
        return result

    def _remember(self, origin: str) -> None:
        if len(self._origins) >= _MAX_ORIGINS:
            self._origins.clear()
        self._origins.add(origin)


def _unified_tail(tail: str) -> str:
    """Return path, query and fragment with canonical percent-encoding."""
    before, hash_sign, fragment = tail.partition("#")
    path, mark, query = before.partition("?")
    return f"{unify(path)}{mark}{unify(query)}{hash_sign}{unify(fragment)}"


def unify(text: str) -> str:
    """Return a part of a URL with canonical percent-encoding; the function is idempotent."""
    return _ODD.sub(_unified, text)


def _unified(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _clean_authority(authority: str) -> str:
    """Return host and port without user info and without the final dot of the host; empty if invalid."""
    authority = authority.rpartition("@")[2]
    host, colon, port = authority, "", ""
    if not authority.endswith("]") and ":" in authority:
        host, colon, port = authority.rpartition(":")
    host = host.removesuffix(".")
    if host.startswith(".") or host.endswith(".") or ".." in host:
        return ""
    return host and f"{host}{colon}{port}"


def _scalars(text: str) -> str:
    """Replace lone surrogates by U+FFFD, as the URL standard does before parsing."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


DEFAULT_POLICY = UrlPolicy()
"""The policy of a source without URL options."""
