"""Hosts that stand in for one another: when a main host is given up, its next copy is asked instead (FAST 5.1 B10)."""

from __future__ import annotations

from collections.abc import Mapping

from ultracrawl.rules.urls.canonical import host_of, on_site, site_of


class Mirrors:
    """Which host is asked for the URLs of a main host, by its aliases in the order of the definition.

    Queue, clock, keys and records stay those of the main host; only the request, and the robots.txt that counts for
    it, are those of the stand-in. Sites are hosts with their port; an alias has the port of its main host.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._main = dict(aliases)
        self._copies: dict[str, list[str]] = {}
        for alias, main in aliases.items():
            self._copies.setdefault(main, []).append(alias)
        self._stand_ins: dict[str, str] = {}

    def stand_in(self, site: str) -> str:  # word: the key of `status SITE`
        """Return the site that is asked instead of a site, empty if it is asked itself."""
        return self._stand_ins.get(site, "")

    def switch(self, site: str) -> str:
        """Go on to the next copy of a site; returns it, empty if there is none left."""
        main = _host(site)
        copies = self._copies.get(main, [])
        present = self._stand_ins.get(site)
        place = 0 if present is None else copies.index(_host(present)) + 1
        if place >= len(copies):
            return ""
        self._stand_ins[site] = copies[place] + site[len(main) :]
        return self._stand_ins[site]

    def recall(self, site: str, stand_in: str) -> None:
        """Take up what was so before a restart; what the definition no longer names is forgotten."""
        if _host(stand_in) in self._copies.get(_host(site), []):
            self._stand_ins[site] = stand_in

    def url(self, url: str) -> str:
        """Return the URL under which a document is asked for."""
        if not self._stand_ins:
            return url
        site = site_of(url)
        return on_site(url, self._stand_ins[site]) if site in self._stand_ins else url

    def queue_of(self, site: str) -> str:
        """Return the site whose queue and clock a site shares: that of its main host, else itself."""
        host = _host(site)
        return self._main[host] + site[len(host) :] if host in self._main else site


def _host(site: str) -> str:
    return host_of(f"http://{site}/")
