"""Which hosts belong together: named clusters, or all hosts of a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping


class Grouping:
    """Gives the group of a host (FAST 5.26, 5.1 C19): a cluster it is in, else its domain, else the host itself.

    A group shares its cookies, and is what one worker would get. Delay and concurrency stay with the site.
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
        found = self._clusters.get(host)
        if found is None:
            found = host if self._domain_of is None else self._domain_of(host)
        return found
