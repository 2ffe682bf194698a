"""Converts passwords and proxies of a `robot.conf` to options of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from ultracrawl.dialects.portal_robot.properties import PROPERTIES, RobotProperties
from ultracrawl.model import Finding
from ultracrawl.rules.filters.rules import SiteDefinition, StartingPoint

_WEB = ("http", "https")


def authentication(
    properties: RobotProperties, sites: Iterable[SiteDefinition], starts: Iterable[StartingPoint]
) -> dict[str, Any]:
    """Return the entries of `authentication`: user and password for the robot's own sites only."""
    if not properties["password"]:
        return {}
    origins = dict.fromkeys(
        [*_start_origins(starts), *(url for site in sites if site.enabled for url in _site_origins(site))]
    )
    return {
        f"site {number}": {"url": url, "user": properties["username"], "password": properties["password"]}
        for number, url in enumerate(origins, 1)
    }


def schemes(starts: Iterable[StartingPoint]) -> list[str]:
    """Return the schemes that a robot follows; FTP only if one of its starting points is on an FTP server."""
    return [*_WEB, *(["ftp"] if any(_ftp_hosts(starts)) else [])]


def ftp(properties: RobotProperties, starts: Iterable[StartingPoint]) -> dict[str, Any]:
    """Return the section `ftp`: user and password for the hosts of FTP starting points only."""
    section: dict[str, Any] = {}
    if properties.is_set("email"):
        section["email"] = properties["email"]
    if properties["password"]:
        hosts = dict.fromkeys(_ftp_hosts(starts))
        section["accounts"] = {
            f"site {number}": {
                "host": host,
                "user": properties["username"],
                "password": properties["password"],
            }
            for number, host in enumerate(hosts, 1)
        }
    return section


def _ftp_hosts(starts: Iterable[StartingPoint]) -> Iterator[str]:
    for start in starts:
        parts = urlsplit(start.url)
        if parts.scheme == "ftp" and parts.hostname:
            yield parts.hostname


def _start_origins(starts: Iterable[StartingPoint]) -> Iterator[str]:
    for start in starts:
        parts = urlsplit(start.url)
        if parts.scheme in _WEB and parts.hostname:
            yield f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"


def _site_origins(site: SiteDefinition) -> Iterator[str]:
    for host in site.hosts:
        port = f":{host.port}" if host.port else ""
        yield from (f"{protocol}://{host.name}{port}/" for protocol in host.protocols if protocol in _WEB)


def proxy(properties: RobotProperties) -> dict[str, Any]:
    """Return the section `proxy` for `auto-proxy`; empty if that is a script, or `proxy-type` is `direct`.

    The address may contain user and password.
    """
    address = properties["auto-proxy"]
    if not address or properties["proxy-type"] == "direct" or _is_script(address):
        return {}
    parts = urlsplit(address)
    server = {"url": parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()}
    if parts.username and parts.password:
        server |= {"user": unquote(parts.username), "password": unquote(parts.password)}
    return {"servers": {"robot": server}}


def _is_script(address: str) -> bool:
    """Whether an address is that of an auto-configuration file: the address of a proxy has no path."""
    return urlsplit(address).path not in ("", "/")


def ineffective_properties(properties: RobotProperties) -> Iterator[Finding]:
    """Yield a warning for each property without effect."""
    for name, why, instead in _without_effect(properties):
        line = properties.lines.get(name, 0)
        yield Finding(properties.file, line, name, f"has no effect{why}", instead, False)


def _without_effect(properties: RobotProperties) -> Iterator[tuple[str, str, str]]:
    for name in ("enable-rdm-probe", "remote-access"):
        if properties[name]:
            yield name, f": {PROPERTIES[name].effect}", "remove it"
    address = properties["auto-proxy"]
    if address and properties["proxy-type"] != "direct" and _is_script(address):
        why = ": an auto-configuration file is a program of another party, which is not run"
        yield "auto-proxy", why, "write the address of the proxy itself, as http://proxy.example.com:3128/"
    elif address and not properties.is_set("proxy-type"):
        yield "auto-proxy", ": proxy-type is not set, so it is `direct`", "write proxy-type=manual"
    elif properties["proxy-type"] != "direct" and not address:
        yield "proxy-type", " without auto-proxy", "name the proxy there"
