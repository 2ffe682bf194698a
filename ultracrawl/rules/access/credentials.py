"""User names and passwords, and the URLs and realms that each is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from ultracrawl.rules.access.challenge import Challenge
from ultracrawl.rules.access.digest import best_digest
from ultracrawl.rules.access.prefix import UrlPrefix


class Scheme(StrEnum):
    """How a user proves who it is (FAST 5.19)."""

    AUTO = "auto"
    BASIC = "basic"
    DIGEST = "digest"
    NTLM = "ntlm"
    NTLM_V1 = "ntlmv1"


NTLM_SCHEMES = frozenset({Scheme.NTLM, Scheme.NTLM_V1})
_BY_STRENGTH = (Scheme.NTLM, Scheme.DIGEST, Scheme.BASIC)


@dataclass(frozen=True, slots=True)
class Credential:
    """One entry: valid below each of its prefixes and, if it names a realm, only where the server names it too."""

    name: str
    """What logs and reports call it."""
    prefixes: tuple[UrlPrefix, ...]
    scheme: Scheme
    user: str
    password: str = field(repr=False)
    realm: str = ""
    by_realm: bool = False
    """The entry names a realm alone; its prefixes are the sites of the start URLs."""

    def length(self, url: str) -> int:
        """Return the length of the longest prefix that covers a URL, 0 if none does."""
        return max((len(prefix) for prefix in self.prefixes if prefix.covers(url)), default=0)

    @property
    def unasked(self) -> bool:
        """Whether it is sent before the server asks for it."""
        return self.scheme is Scheme.BASIC and not self.realm

    def challenge(self, offered: Iterable[Challenge], usable: frozenset[Scheme]) -> Challenge | None:
        """Return the strongest challenge that this credential may answer, None if there is none."""
        offers = [one for one in offered if not self.realm or one.realm == self.realm or one.scheme == "ntlm"]
        wanted = _BY_STRENGTH if self.scheme is Scheme.AUTO else (self.scheme,)
        for scheme in wanted:
            if scheme not in usable:
                continue
            if scheme is Scheme.DIGEST:
                found = best_digest(offers)
            else:
                offer = Scheme.NTLM if scheme in NTLM_SCHEMES else scheme  # servers do not name the version
                found = next((one for one in offers if one.scheme == offer), None)
            if found is not None:
                return found
        return None


class CredentialStore:
    """The credentials of a source: the longest prefix comes first, entries that name a realm alone come last."""

    def __init__(self, credentials: Iterable[Credential]) -> None:
        self._credentials = tuple(credentials)

    def covering(self, url: str) -> list[Credential]:
        """Return the credentials that may be sent to a URL, the one to try first at the front."""
        found = [(one.by_realm, -length, one) for one, length in self._lengths(url) if length]
        return [one for _, _, one in sorted(found, key=lambda item: item[:2])]

    def _lengths(self, url: str) -> Iterator[tuple[Credential, int]]:
        return ((one, one.length(url)) for one in self._credentials)
