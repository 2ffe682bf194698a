"""Root certificates and pinned keys of a source, at a server of nginx with a certificate of the test."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from support.certificates import Authority
from support.fast import fast_xml
from support.project import LOOPBACK, Workspace
from support.tls_site import secured

pytestmark = pytest.mark.servers  # nginx

OTHER_PIN = "sha256//" + b64encode(bytes(32)).decode()


def pin_of(certificate: Path) -> str:
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    digest = sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    return "sha256//" + b64encode(digest).decode()


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    folder = workspace.directory / "tls"
    folder.mkdir()
    return folder


@pytest.fixture
def authority(folder: Path) -> Authority:
    return Authority(folder)


@pytest.fixture
def address(folder: Path, authority: Authority) -> Iterator[str]:
    with secured(folder, authority, 'return 200 "needle";') as (_, address):
        yield address


def crawl(workspace: Workspace, address: str, **http: object) -> list[str]:
    workspace.define(
        f"{address}/page",
        boundary=LOOPBACK,
        types=["text/plain"],
        robots={"obey": False},
        http=http,
    )
    assert workspace.crawl(code=None).code != 2
    return workspace.search("needle")


def test_the_roots_of_a_source_replace_those_of_the_machine(workspace: Workspace, address: str) -> None:
    assert crawl(workspace, address) == []
    assert crawl(workspace, address, ca="tls/ca.pem") == ["/page"]


def test_other_roots_do_not_vouch_for_the_server(workspace: Workspace, address: str, folder: Path) -> None:
    (folder / "other").mkdir()
    Authority(folder / "other", "Other CA")
    assert crawl(workspace, address, ca="tls/other/ca.pem") == []


@pytest.mark.parametrize("right", [True, False])
def test_a_server_with_another_key_than_the_pinned_one_is_not_talked_to(
    workspace: Workspace, address: str, folder: Path, right: bool
) -> None:
    pins = [OTHER_PIN, *([pin_of(folder / "server.pem")] if right else [])]
    assert crawl(workspace, address, ca="tls/ca.pem", pins={"127.0.0.1": pins}) == (
        ["/page"] if right else []
    )


def test_pins_of_other_hosts_change_nothing(workspace: Workspace, address: str) -> None:
    assert crawl(workspace, address, ca="tls/ca.pem", pins={"a.example": OTHER_PIN}) == ["/page"]


@pytest.mark.parametrize("content", [None, "nonsense"])
def test_roots_that_cannot_be_read_end_the_crawl_before_a_request(
    workspace: Workspace, address: str, content: str | None
) -> None:
    if content is not None:
        (workspace.directory / "roots.pem").write_text(content)
    workspace.define(f"{address}/page", boundary=LOOPBACK, http={"ca": "roots.pem"})
    ended = workspace.command("crawl")
    assert ended.code == 2
    assert "http.ca" in ended.err


def test_roots_lie_beside_the_file_of_a_fast_collection(
    workspace: Workspace, address: str, authority: Authority
) -> None:
    options = {"start_uris": (f"{address}/page",), "allowed_types": ("text/plain",), "robots": False}
    (workspace.directory / "collection.xml").write_text(fast_xml({**options, "delay": 0.0}))

    def found() -> list[str]:
        workspace.command("crawl", "-c", "collection.xml")
        hits = workspace.command("search", "--json", "--as-typed", "-c", "collection.xml", "needle").json[
            "hits"
        ]
        return [hit["url"] for hit in hits]

    assert found() == []
    (workspace.directory / "ca.pem").write_bytes(authority.file.read_bytes())
    assert found() == [f"{address}/page"]
