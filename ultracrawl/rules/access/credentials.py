"""User names and passwords with the URLs and realms that they are for, the Basic scheme, and client certificates."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Container, Iterable
from enum import StrEnum

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.access.challenge import Challenge
from ultracrawl.rules.access.digest import best_digest
from ultracrawl.rules.access.prefix import UrlPrefix
from ultracrawl.rules.urls.canonical import site_of
from ultracrawl.rules.urls.site_table import NO_SITES, SiteTable


class Scheme(StrEnum):
    """An authentication scheme (FAST 5.19)."""

    AUTO = "auto"
    BASIC = "basic"
    DIGEST = "digest"
    NTLM = "ntlm"
    NTLM_V1 = "ntlmv1"


NTLM_SCHEMES = frozenset({Scheme.NTLM, Scheme.NTLM_V1})
_BY_STRENGTH = (Scheme.NTLM, Scheme.DIGEST, Scheme.BASIC)


@dataclass(frozen=True, slots=True)
class Credential:
    """One entry: valid below each of its prefixes and, if it has a realm, only for that realm."""

    name: str
    """Its name in logs and reports."""
    prefixes: tuple[UrlPrefix, ...]
    scheme: Scheme
    user: str
    password: str = field(repr=False)
    realm: str = ""
    by_realm: bool = False
    """Whether the entry has only a realm; its prefixes are then the sites of the start URLs."""
    option: str = ""
    """The path of its option in the definition."""

    def length(self, url: str) -> int:
        """Return the length of the longest prefix that covers a URL, 0 if none does."""
        return max((len(prefix) for prefix in self.prefixes if prefix.covers(url)), default=0)

    @property
    def is_preemptive(self) -> bool:
        """Whether it is sent without a challenge of the server."""
        return self.scheme is Scheme.BASIC and not self.realm

    def challenge(self, offered: Iterable[Challenge], usable: frozenset[Scheme]) -> Challenge | None:
        """Return the strongest challenge that this credential may answer, None if there is none."""
        offers = [c for c in offered if not self.realm or c.realm == self.realm or c.scheme == "ntlm"]
        for scheme in _BY_STRENGTH if self.scheme is Scheme.AUTO else (self.scheme,):
            if scheme not in usable:
                continue
            if scheme is Scheme.DIGEST:
                challenge = best_digest(offers)
            else:
                name = Scheme.NTLM if scheme in NTLM_SCHEMES else scheme  # servers do not name the version
                challenge = next((offer for offer in offers if offer.scheme == name), None)
            if challenge is not None:
                return challenge
        return None


class CredentialStore:
    """The credentials of a source; the longest prefix comes first, entries with only a realm come last.

    `overlays` has those of single sites, which come before those whose prefix is a whole site. By plain http they are
    only sent to `http_sites`.
    """

    def __init__(
        self,
        credentials: Iterable[Credential],
        overlays: SiteTable[tuple[Credential, ...]] = NO_SITES,
        http_sites: Container[str] = frozenset(),
    ) -> None:
        self._credentials = tuple(credentials)
        self._overlays = overlays
        self._http_sites = http_sites

    def covering(self, url: str) -> list[Credential]:
        """Return the credentials that may be sent to a URL, in the order in which to try them."""
        matches = [(False, -1, credential) for credential in self._at_site(url)]
        matches += [(c.by_realm, -length, c) for c in self._credentials if (length := c.length(url))]
        return [credential for _, _, credential in sorted(matches, key=lambda match: match[:2])]

    def _at_site(self, url: str) -> tuple[Credential, ...]:
        site = site_of(url) if self._overlays else ""
        own = self._overlays.find(site)
        return own if own and (url.startswith("https:") or site in self._http_sites) else ()


def basic_answer(user: str, password: str) -> str:
    """Return the value of an Authorization header, in UTF-8."""
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """Paths of two PEM files, which may be the same, and the password of the key (empty for none)."""

    certificate: str
    key: str
    password: str = field(default="", repr=False)
