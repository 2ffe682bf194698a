"""Folders of WebDAV servers: certificates, redirects, and answers that are none."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.certificates import Authority
from support.webdav import WebdavSite

from ultracrawl.agents.file.lister import FileLister
from ultracrawl.agents.file.section import FileSection
from ultracrawl.agents.port import Batch, Complete, KindSetup, Listed, Partial
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.secrets import SecretReader


@pytest.fixture
def site(tmp_path: Path) -> WebdavSite:
    root = tmp_path / "served"
    root.mkdir()
    site = WebdavSite(root)
    site.put("docs/a.txt")
    return site


def listed(site: WebdavSite, limits: dict[str, Any] | None = None, **connection: Any) -> list[Listed]:
    setup = KindSetup(
        FileSection(**site.options(**connection)),
        DataSource.model_validate({"name": "s", "limits": limits or {}}),
        Path("/"),
        SecretReader({"FILES_PASSWORD": "open-sesame-5"}),
    )
    lister = FileLister(setup)
    found = list(lister.list_entries("", ""))
    lister.close()
    return found


def end_of_listing(
    site: WebdavSite, limits: dict[str, Any] | None = None, **connection: Any
) -> Complete | Partial:
    last = listed(site, limits, **connection)[-1]
    assert isinstance(last, Complete | Partial)
    return last


def test_a_certificate_has_to_be_signed_by_a_trusted_authority(site: WebdavSite, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    site.ssl_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    site.ssl_context.load_cert_chain(certificate, key)
    asked: list[bytes] = []
    site.before_listing = asked.append
    with site.serve():
        refused = end_of_listing(site)
        assert isinstance(refused, Partial)
        assert refused.mistake
        assert "certificate" in refused.reason
        assert asked == []
        assert isinstance(end_of_listing(site, ca=str(authority.file)), Complete)


def answering(status: str, headers: list[tuple[str, str]], body: bytes) -> Callable[..., Iterator[bytes]]:
    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response(status, [*headers, ("Content-Length", str(len(body)))])
        return iter([body])

    return application


MULTISTATUS = b'<multistatus xmlns="DAV:"><response><href>/docs/</href></response>'


@pytest.mark.parametrize(
    ("status", "headers", "body", "mistake"),
    [
        ("302 Found", [("Location", "http://127.0.0.1:1/docs/")], b"", False),
        ("200 OK", [], b"<html>no</html>", True),
        ("405 Method Not Allowed", [], b"", True),
        ("207 Multi-Status", [], MULTISTATUS, False),
        ("207 Multi-Status", [], b'<!DOCTYPE a [<!ENTITY b "c">]>' + MULTISTATUS + b"</multistatus>", False),
        ("207 Multi-Status", [], MULTISTATUS.replace(b"docs", b"other") + b"</multistatus>", False),
        ("503 Service Unavailable", [], b"", False),
        ("403 Forbidden", [], b"", True),
    ],
)
def test_an_answer_that_is_no_listing_makes_a_listing_partial(
    site: WebdavSite, status: str, headers: list[tuple[str, str]], body: bytes, mistake: bool
) -> None:
    site.application = answering(status, headers, body)
    with site.serve():
        end = end_of_listing(site)
    assert isinstance(end, Partial)
    assert end.mistake == mistake


def test_a_member_without_an_address_costs_itself_and_what_is_known_of_it_stays(site: WebdavSite) -> None:
    folder = "<response><href>/docs/</href><collection/></response>"
    addresses = ["/docs/a.txt", "http://[/docs/b.txt", "/docs/c.txt"]
    members = "".join(f"<response><href>{one}</href></response>" for one in addresses)

    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        described = folder + (members if environ.get("HTTP_DEPTH") == "1" else "")
        body = f'<multistatus xmlns="DAV:">{described}</multistatus>'.encode()
        return answering("207 Multi-Status", [], body)(environ, start_response)

    site.application = application
    with site.serve():
        *batches, last = listed(site)
    assert isinstance(last, Partial)
    assert not last.mistake
    names = [entry.name for batch in batches if isinstance(batch, Batch) for entry in batch.entries]
    assert names == ["a.txt", "c.txt"]


def test_folders_in_folders_without_end_are_left_with_a_short_line(site: WebdavSite) -> None:
    def application(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        path = environ["PATH_INFO"].rstrip("/")
        members = [f"{path}/", f"{path}/one/", f"{path}/two/"][: 3 if environ.get("HTTP_DEPTH") == "1" else 1]
        described = "".join(f"<response><href>{one}</href><collection/></response>" for one in members)
        body = f'<multistatus xmlns="DAV:">{described}</multistatus>'.encode()
        return answering("207 Multi-Status", [], body)(environ, start_response)

    site.application = application
    with site.serve():
        end = end_of_listing(site, limits={"urls_per_site": 500})
    assert isinstance(end, Partial)
    assert end.reason.count("/one") + end.reason.count("/two") < 100
    assert len(end.reason) < 1000
