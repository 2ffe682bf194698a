"""Stored login sessions, for later runs and for other sources with the same login."""

from __future__ import annotations

import json
from http.cookiejar import Cookie
from typing import TYPE_CHECKING

from ultracrawl.stores.port.site_store import StoredSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ultracrawl.rules.access.cipher import SessionCipher
    from ultracrawl.rules.access.login import Login
    from ultracrawl.stores.port.site_store import SiteStore


class KeptSession:
    """The encrypted cookies of one login in the site store; only sources with an identical login can read them.

    Methods raise `StateError`.
    """

    def __init__(
        self, sites: Callable[[], SiteStore], cipher: SessionCipher, login: Login, clock: Callable[[], float]
    ) -> None:
        """`sites` returns the store once the crawl has opened it; `clock` returns seconds since the epoch."""
        self._sites = sites
        self._cipher = cipher
        self._ttl = login.ttl
        self._clock = clock
        self._name = cipher.name_of(login.identity)
        self._since = 0.0
        """Time of the login whose session this crawl uses; 0 for none."""

    def load_newer(self) -> tuple[float, list[Cookie]] | None:
        """Return age (seconds) and cookies of a stored session; None if it is expired, or not newer than ours."""
        stored = self._sites().get_session(self._name)
        if stored is None or stored.since <= self._since:
            return None
        age = max(self._clock() - stored.since, 0.0)
        text = self._cipher.unseal(stored.sealed, self._name)
        if text is None or (self._ttl and age >= self._ttl):
            return None
        self._since = stored.since
        return age, [_cookie(**values) for values in json.loads(text)]

    def store_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Store the cookies of a login that was just made."""
        self._since = self._clock()
        text = json.dumps([vars(cookie) for cookie in cookies])
        self._sites().put_session(self._name, StoredSession(self._since, self._cipher.seal(text, self._name)))


def _cookie(_rest: dict[str, str], **values: object) -> Cookie:
    return Cookie(**values, rest=_rest)  # type: ignore[arg-type]  # as `store_cookies` wrote them
