"""Which proxy a request goes through: each in turn, as long as it works and has a place."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy; `authorization` is the value of Proxy-Authorization, empty for none."""

    name: str
    """What logs and reports call it."""
    url: str
    authorization: str = field(default="", repr=False)
    connections: int | None = None
    """Requests that may be under way through it; None is no limit (FAST 5.1 D26)."""


class ProxyPool:
    """Counts the requests through each proxy, and knows which proxies failed lately. Times are seconds of one clock."""

    def __init__(self, proxies: Iterable[Proxy], rest: float) -> None:
        self._proxies = list(proxies)
        self._rest = rest
        self._running = dict.fromkeys((one.name for one in self._proxies), 0)
        self._rests_until: dict[str, float] = {}
        self._answered: dict[str, float] = {}

    def acquire_proxy(self, now: float, without: Collection[str] = ()) -> Proxy | None:
        """Take a place at the next proxy in turn; None while no proxy has a free place.

        Proxies that failed lately come last, so that a single one is tried again and again.
        """
        free = [one for one in self._proxies if one.name not in without and self._has_place(one)]
        chosen = min(free, key=lambda one: self._wait(one, now), default=None)
        if chosen is not None:
            self._running[chosen.name] += 1
            self._proxies.remove(chosen)
            self._proxies.append(chosen)
        return chosen

    def knows_other(self, without: Collection[str]) -> bool:
        """Whether there is a proxy beside those, though it may have no place now."""
        return any(one.name not in without for one in self._proxies)

    def give_back(self, proxy: Proxy) -> None:
        """Give a place back."""
        self._running[proxy.name] -= 1

    def note_failure(self, proxy: Proxy, now: float) -> bool:
        """Put a proxy last for a time, because it failed; returns whether it had worked until now."""
        news = self._wait(proxy, now) == 0
        self._rests_until[proxy.name] = now + self._rest
        return news

    def note_answer(self, proxy: Proxy, now: float) -> None:
        """Count a proxy as working again, because an answer came through it."""
        self._rests_until.pop(proxy.name, None)
        self._answered[proxy.name] = now

    def hangs(self, proxy: Proxy, since: float) -> bool:
        """Whether nothing came through a proxy since a time, so that a time-out is its fault, not the server's."""
        return self._answered.get(proxy.name, float("-inf")) < since

    def _has_place(self, proxy: Proxy) -> bool:
        return proxy.connections is None or self._running[proxy.name] < proxy.connections

    def _wait(self, proxy: Proxy, now: float) -> float:
        return max(self._rests_until.get(proxy.name, 0.0) - now, 0.0)
