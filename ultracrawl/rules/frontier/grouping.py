"""Groups of hosts: named clusters, or all hosts of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping


class Grouping:
    """Determines the group of a host (FAST 5.26, 5.1 C19): its cluster, else its domain, else the host itself.

    The hosts of a group share cookies, and one worker would crawl them all. Delay and concurrency stay per site.
    """

    def __init__(
        self,
        clusters: Mapping[str, Iterable[str]] | None = None,
        domain_of: Callable[[str], str] | None = None,
    ) -> None:
        self._domain_of = domain_of
        self._clusters: dict[str, str] = {}
        for label, hosts in (clusters or {}).items():
            for host in hosts:
                self._clusters.setdefault(host.lower(), f"cluster {label}")

    def __bool__(self) -> bool:
        return bool(self._clusters or self._domain_of)

    def of(self, host: str) -> str:
        """Return the key of the group of a host; a host in two clusters belongs to the first."""
        group = self._clusters.get(host)
        if group is None:
            group = host if self._domain_of is None else self._domain_of(host)
        return group
