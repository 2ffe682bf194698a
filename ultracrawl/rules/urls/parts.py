"""The parts of a canonical URL, cut out by position: nothing is decoded and nothing is checked again."""

from __future__ import annotations

from typing import NamedTuple

import ada_url

DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}


class UrlParts(NamedTuple):
    """Scheme, host, port and path of a URL.

    `host` has no port and, for IPv6, keeps its brackets; `port` is the scheme's default where the URL names
    none, 0 for schemes without ports; `path` begins with `/` and includes the query.
    """

    scheme: str
    host: str
    port: int
    path: str


def _authority(url: str) -> tuple[str, str]:
    start = url.find("://") + 3
    if start == 2:
        return "", ""
    end = url.find("/", start)
    return (url[start:end], url[end:]) if end >= 0 else (url[start:], "/")


def _host_and_port(authority: str) -> tuple[str, str]:
    colon = authority.rfind(":")
    if colon < 0 or authority.endswith("]"):
        return authority, ""
    return authority[:colon], authority[colon + 1 :]


def split(url: str) -> UrlParts:
    """Cut a canonical URL into its parts.

    Other strings never raise; what is missing is empty, a port that is no number is 0.
    """
    authority, path = _authority(url)
    scheme = url.partition(":")[0]
    host, port = _host_and_port(authority)
    if port:
        return UrlParts(scheme, host, int(port) if port.isdecimal() else 0, path)
    return UrlParts(scheme, host, DEFAULT_PORTS.get(scheme, 0), path)


def site_of(url: str) -> str:
    """Return the site of a canonical URL: `host`, or `host:port` where the port is not the scheme's default.

    The site is what a politeness delay and a queue belong to; http and https of one host on their default
    ports are one site.
    """
    start = url.find("://") + 3
    end = url.find("/", start)
    return url[start:end] if end >= 0 and start > 2 else _authority(url)[0]


def on_site(url: str, site: str) -> str:
    """Return a canonical URL with another site."""
    start = url.find("://") + 3
    return url[:start] + site + url[start + len(site_of(url)) :]


def host_of(url: str) -> str:
    """Return the host of a canonical URL, without its port."""
    return _host_and_port(site_of(url))[0]


def port_of(url: str) -> int:
    """Return the port of a canonical URL; the scheme's default where it names none."""
    return split(url).port


def path_of(url: str) -> str:
    """Return path and query of a canonical URL."""
    return _authority(url)[1]


def display_url(url: str) -> str:
    """Return a canonical URL with an international host name in its own script, for people to read.

    It is for showing only: two such names may look alike.
    """
    host = host_of(url)
    if "xn--" not in host:
        return url
    readable: str = ada_url.idna.decode(host)
    return url.replace(host, readable, 1) if readable else url
