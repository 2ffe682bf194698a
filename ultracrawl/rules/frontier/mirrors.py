"""Mirrors: when a main host is given up, its next mirror is requested in its place (FAST 5.1 B10)."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.rules.urls.canonical import host_of, on_site, site_of


class Mirrors:
    """Chooses the host to request for the URLs of a main host among its aliases, in the order of the definition.

    Queue, clock, keys and records stay those of the main host; only the request and the robots.txt are those of the
    mirror. Sites are hosts with their port; an alias has the port of its main host.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._main = dict(aliases)
        self._mirrors: dict[str, list[str]] = {}
        for alias, main in aliases.items():
            self._mirrors.setdefault(main, []).append(alias)
        self._active: dict[str, str] = {}

    def active_mirror(self, site: str) -> str:
        """Return the mirror that is requested in place of a site, empty if there is none."""
        return self._active.get(site, "")

    def switch_mirror(self, site: str) -> str:
        """Switch a site to its next mirror; returns it, empty if there is none left."""
        main = _host(site)
        mirrors = self._mirrors.get(main, [])
        current = self._active.get(site)
        position = 0 if current is None else mirrors.index(_host(current)) + 1
        if position >= len(mirrors):
            return ""
        self._active[site] = mirrors[position] + site[len(main) :]
        return self._active[site]

    def restore_mirror(self, site: str, mirror: str) -> None:
        """Restore the mirror of a site after a restart, unless the definition no longer names it."""
        if _host(mirror) in self._mirrors.get(_host(site), []):
            self._active[site] = mirror

    def request_url(self, url: str) -> str:
        """Return the URL to request for a document."""
        if not self._active:
            return url
        site = site_of(url)
        return on_site(url, self._active[site]) if site in self._active else url

    def queue_site(self, site: str) -> str:
        """Return the site whose queue and clock a site uses: that of its main host, else itself."""
        host = _host(site)
        return self._main[host] + site[len(host) :] if host in self._main else site


def _host(site: str) -> str:
    return host_of(f"http://{site}/")
