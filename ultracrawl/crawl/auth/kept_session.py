"""The session of a log-in, kept for later runs and for other sources that log in with the same."""

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
    """The cookies of one log-in in the store of sites, sealed; whoever logs in with anything else never sees them.

    Methods raise `StateError`.
    """

    def __init__(
        self, sites: Callable[[], SiteStore], cipher: SessionCipher, login: Login, clock: Callable[[], float]
    ) -> None:
        """`sites` returns the store when the crawl has it open; `clock` tells seconds since the epoch."""
        self._sites = sites
        self._cipher = cipher
        self._ttl = login.ttl
        self._clock = clock
        self._name = cipher.name_of(login.identity)
        self._since = 0.0
        """When the log-in was with which this crawl goes on; 0 for none."""

    def take_later(self) -> tuple[float, list[Cookie]] | None:
        """Return age (seconds) and cookies of a later log-in, of another crawl or an earlier run, unless it is over."""
        stored = self._sites().get_session(self._name)
        if stored is None or stored.since <= self._since:
            return None
        age = max(self._clock() - stored.since, 0.0)
        text = self._cipher.unseal(stored.sealed, self._name)
        if text is None or (self._ttl and age >= self._ttl):
            return None
        self._since = stored.since
        return age, [_cookie(**one) for one in json.loads(text)]

    def keep_cookies(self, cookies: Iterable[Cookie]) -> None:
        """Keep the cookies of a log-in that was made just now."""
        self._since = self._clock()
        text = json.dumps([vars(one) for one in cookies])
        self._sites().put_session(self._name, StoredSession(self._since, self._cipher.seal(text, self._name)))


def _cookie(_rest: dict[str, str], **values: object) -> Cookie:
    return Cookie(**values, rest=_rest)  # type: ignore[arg-type]  # as they were written
