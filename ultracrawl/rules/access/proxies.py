"""The choice of the proxy for a request: round robin among those that work and have a free connection."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ultracrawl.dataclass import dataclass, field


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy; `authorization` is the value of Proxy-Authorization, empty for none."""

    name: str
    """Its name in logs and reports."""
    url: str
    authorization: str = field(default="", repr=False)
    connections: int | None = None
    """Maximum number of concurrent requests; None is no limit (FAST 5.1 D26)."""


class ProxyPool:
    """Counts the requests through each proxy and tracks failed proxies. Times are seconds of one clock."""

    def __init__(self, proxies: Iterable[Proxy], rest: float) -> None:
        self._proxies = list(proxies)
        self._rest = rest
        self._running = dict.fromkeys((proxy.name for proxy in self._proxies), 0)
        self._rests_until: dict[str, float] = {}
        self._answered: dict[str, float] = {}

    def acquire_proxy(self, now: float, without: Collection[str] = ()) -> Proxy | None:
        """Return the next proxy in turn and count a request; None if no proxy has a free connection.

        Proxies that failed recently come last, so that a single one is tried again and again.
        """
        free = [p for p in self._proxies if p.name not in without and self._has_connection(p)]
        chosen = min(free, key=lambda proxy: self._wait(proxy, now), default=None)
        if chosen is not None:
            self._running[chosen.name] += 1
            self._proxies.remove(chosen)
            self._proxies.append(chosen)
        return chosen

    def has_other(self, without: Collection[str]) -> bool:
        """Return whether there is a further proxy, with or without a free connection."""
        return any(proxy.name not in without for proxy in self._proxies)

    def release_proxy(self, proxy: Proxy) -> None:
        """Note that a request has ended."""
        self._running[proxy.name] -= 1

    def note_failure(self, proxy: Proxy, now: float) -> bool:
        """Put a failed proxy last for a time; returns whether it had worked until now."""
        had_worked = self._wait(proxy, now) == 0
        self._rests_until[proxy.name] = now + self._rest
        return had_worked

    def note_answer(self, proxy: Proxy, now: float) -> None:
        """Note that a response came through a proxy: it works."""
        self._rests_until.pop(proxy.name, None)
        self._answered[proxy.name] = now

    def is_silent(self, proxy: Proxy, since: float) -> bool:
        """Return whether no response came through a proxy since a time: time-outs are then its fault."""
        return self._answered.get(proxy.name, float("-inf")) < since

    def _has_connection(self, proxy: Proxy) -> bool:
        return proxy.connections is None or self._running[proxy.name] < proxy.connections

    def _wait(self, proxy: Proxy, now: float) -> float:
        return max(self._rests_until.get(proxy.name, 0.0) - now, 0.0)
