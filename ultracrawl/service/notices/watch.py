"""Checks conditions that cause no events: low disks, stale sources, and certificates that expire."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

from cryptography.x509 import load_der_x509_certificate

from ultracrawl.model.dates import as_text
from ultracrawl.rules.boundary.addresses import AddressPolicy
from ultracrawl.run.transport.host_addresses import addresses_of, seed_addresses
from ultracrawl.run.traps.recognition import known_traps
from ultracrawl.service.metrics.holdings import last_failed, last_success, read_holdings
from ultracrawl.service.metrics.machine import free_bytes
from ultracrawl.service.notices.notice import Notice
from ultracrawl.sources import DataSource, Project
from ultracrawl.sources.sections.notices import NoticeKind

DAY = 86_400.0
_TIMEOUT = 10.0

CertificateEnd = Callable[[str, int, AddressPolicy], float | None]
"""Returns the expiry of the certificate of a host and port; None if it is unknown."""


class ServiceWatch:
    """Checks the conditions of a project."""

    def __init__(self, project: Callable[[], Project], certificate_end: CertificateEnd | None = None) -> None:
        self._project = project
        self._certificate_end = certificate_end or certificate_end_of
        self._since: dict[str, float] = {}
        """First check of each source without a successful run."""
        self._certificates_at = 0.0

    def notices(self, now: float) -> Iterator[Notice]:
        """Yield the present notices; reads files, and checks certificates of sites once a day."""
        project = self._project()
        yield from self._low_disks(project, now)
        yield from self._stale_sources(project, now)
        if project.notices.certificate_days and abs(now - self._certificates_at) >= DAY:
            self._certificates_at = now
            yield from self._certificates(project, now)

    def held_back(self, name: str, now: float) -> list[Notice]:
        """Return a notice each if documents of a source wait for `approve-deletions` or `approve-changes`."""
        numbers = read_holdings(self._project(), name).numbers
        leaving, held = numbers["leaving"], numbers["held_back"]
        notices = []
        if leaving:
            text = f"{leaving:,} documents wait for deletion; review them with `ultracrawl approve-deletions {name}`"
            notices.append(Notice(NoticeKind.DELETIONS_HELD, name, text, now))
        if held:
            text = f"{held:,} documents would lose their words; review them with `ultracrawl approve-changes {name}`"
            notices.append(Notice(NoticeKind.CHANGES_HELD, name, text, now))
        return notices

    def new_traps(self, name: str, since: float, now: float) -> list[Notice]:
        """Return a notice for each pattern of a source that was found to be a crawler trap `since` a time."""
        project = self._project()
        source = project.known_sources.get(name)
        traps = known_traps(project, source) if source is not None else []
        return [
            Notice(NoticeKind.TRAP_FOUND, name, str(one), now)
            for one in traps
            if one.bounded and one.since >= since
        ]

    def failed_sources(self) -> set[str]:
        """Return the sources whose last crawl failed."""
        project = self._project()
        return {name for name in project.sources if last_failed(project, name)}

    def _low_disks(self, project: Project, now: float) -> Iterator[Notice]:
        least = project.notices.disk_free
        free = {path: free_bytes(path) for path in (project.state.path, project.index.path)}
        low = {path: left for path, left in free.items() if left < least}
        if low:
            path, left = min(low.items(), key=lambda one: one[1])
            text = f"the disk of {path} has {left / 1e9:.2f} GB free, less than {least / 1e9:.2f} GB"
            yield Notice(NoticeKind.DISK_LOW, "", text, now)

    def _stale_sources(self, project: Project, now: float) -> Iterator[Notice]:
        for name, source in project.sources.items():
            interval = interval_of(project, source, now)
            if interval is None:
                continue
            since = last_success(project, name) or self._since.setdefault(name, now)
            if now - since > project.notices.stale_after * interval:
                age = _duration(now - since)
                text = f"its last successful run ended {age} ago, its interval is {_duration(interval)}"
                yield Notice(NoticeKind.SOURCE_STALE, name, text, now)

    def _certificates(self, project: Project, now: float) -> Iterator[Notice]:
        seen = set[tuple[str, int]]()
        for name, source in project.sources.items():
            policy = AddressPolicy.for_source(
                seed_addresses(source.start_urls), map(str, source.boundary.networks)
            )
            for url in source.start_urls:
                parts = urlsplit(url)
                site = parts.hostname or "", parts.port or 443
                if parts.scheme != "https" or site in seen:
                    continue
                seen.add(site)
                end = self._certificate_end(*site, policy)
                if end is not None and end - now < project.notices.certificate_days * DAY:
                    text = f"the certificate of {site[0]}:{site[1]} expires {as_text(end)}"
                    yield Notice(NoticeKind.CERTIFICATE_EXPIRES, name, text, now)


def interval_of(project: Project, source: DataSource, now: float) -> float | None:
    """Return the seconds between two crawls of a source; None if it is crawled manually or on another machine."""
    name = project.schedule_of(source.name)
    if not name:
        return source.refresh.interval or project.default_interval_of(source)
    schedule = project.schedules[name]
    if not schedule.enabled or schedule.profile:
        return None
    following = schedule.times.next_after(now)
    return schedule.times.next_after(following) - following


def certificate_end_of(host: str, port: int, policy: AddressPolicy) -> float | None:
    """Return the expiry of the certificate of a server, trusted or not; None if no server responds."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # only reads the certificate, and sends nothing
    for address in addresses_of(host):
        if policy.refuses(address) is not None:
            continue
        with (
            suppress(OSError, ValueError),
            socket.create_connection((address, port), _TIMEOUT) as opened,
            context.wrap_socket(opened, server_hostname=host) as secured,
        ):
            certificate = secured.getpeercert(binary_form=True)
            if certificate is not None:
                return load_der_x509_certificate(certificate).not_valid_after_utc.timestamp()
    return None


def _duration(seconds: float) -> str:
    for size, unit in ((DAY, "d"), (3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"
