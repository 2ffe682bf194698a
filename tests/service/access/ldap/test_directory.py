"""Groups of a real directory: nested, in circles, over TLS, and what a directory that errs shows: nothing."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from service.access.conftest import Browser, Service
from support.certificates import Authority
from support.free_port import free_port
from support.slapd import ADMIN, BASE, PASSWORD, Directory, directory_server

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.access.ldap import directory as directory_module
from ultracrawl.service.access.ldap.directory import Directory as Reader
from ultracrawl.service.access.ldap.lookup import GroupLookup
from ultracrawl.service.access.outside import MAX_GROUPS
from ultracrawl.service.access.seen import requester_named
from ultracrawl.sources.sections.sign_in import LdapGroups

pytestmark = pytest.mark.servers
ELSEWHERE = "127.0.0.2"
"""An address that does not count as this machine."""
IDA, BEN = f"uid=ida,{BASE}", f"uid=ben,{BASE}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))


@pytest.fixture(scope="module")
def server() -> Iterator[Directory]:
    """Ida rings birds; those who ring are staff, those are people, and people ring: a circle."""
    with directory_server() as running:
        running.add("ida", "Ida (north)", mail="ida@example.com")
        running.add("ben", "Ben")
        running.add_group("ringers", IDA)
        running.add_group("staff", f"cn=ringers,{BASE}")
        people = running.add_group("people", f"cn=staff,{BASE}", BEN)
        running.set_members("ringers", IDA, people)
        yield running


def options(url: str, **changes: object) -> LdapGroups:
    return LdapGroups.model_validate({"url": url, "users": BASE, "groups": BASE, **changes})


def groups(url: str, name: str = "ida", **changes: object) -> set[str]:
    return set(Reader(options(url, **changes), None).groups_of(name))


def test_groups_within_groups_count_and_circles_end(server: Directory) -> None:
    assert groups(server.url) == {"ringers", "staff", "people"}
    assert groups(server.url, "ben") == {"people", "ringers", "staff"}
    assert groups(server.url, "nobody") == set()


def test_names_do_not_hang_on_case(server: Directory) -> None:
    assert groups(server.url, "IDA") == groups(server.url, "ida")


def test_other_attributes_name_users_and_groups(server: Directory) -> None:
    assert groups(server.url, "ida@example.com", user_attribute="mail") == groups(server.url)
    assert f"cn=staff,{BASE}" in groups(server.url, group_attribute="dn")
    assert groups(server.url, member_attribute="uniqueMember") == set()


def test_groups_of_names_have_no_groups(server: Directory) -> None:
    server.add_entry(f"cn=web,{BASE}", ["posixGroup"], gidNumber=5, memberUid=["ben", "ringers"])
    assert groups(server.url, "ben", member_attribute="memberUid") == {"web"}
    assert groups(server.url, "ida", member_attribute="memberUid") == set()


@pytest.mark.parametrize(
    "name",
    ["*", "i*", "ida)(uid=*", "*)(objectClass=*", "ida)(|(uid=*", "\\69da", "ida\x00", "id\\", "(", "ida\u00ad",
     "ⅰda", " ida", "ida ", "", "é" * 300],
)  # fmt: skip
def test_no_character_of_a_name_is_part_of_the_question(server: Directory, name: str) -> None:
    assert groups(server.url, name) == set()


def test_a_name_with_characters_of_filters_is_found(server: Directory) -> None:
    server.add_entry(f"uid=a*(b)\\5c,{BASE}", ["inetOrgPerson"], cn="A", sn="A")
    server.add_group("odd (group) *", f"uid=a*(b)\\5c,{BASE}")
    server.add_group("odd people", f"cn=odd (group) *,{BASE}")
    assert groups(server.url, "a*(b)\\") == {"odd (group) *", "odd people"}


def test_of_two_users_with_one_name_nobody_is_known(server: Directory) -> None:
    server.add("twin", "Twin")
    server.add_group("twins", f"uid=twin,{BASE}")
    assert groups(server.url, "twin") == {"twins"}
    server.add_entry(f"cn=two,{BASE}", ["inetOrgPerson"], sn="Two", uid="twin")
    assert groups(server.url, "twin") == set()


def test_too_many_groups_are_none_and_others_keep_theirs(
    server: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_module, "MAX_GROUPS", 2)
    assert MAX_GROUPS > 2
    server.add("eve", "Eve")
    server.add_group("evening", f"uid=eve,{BASE}")
    lookup = GroupLookup(Reader(options(server.url), None).groups_of, 900.0)
    assert [lookup.groups_of(name) for name in ("ida", "eve")] == [(), ("evening",)]


def test_members_in_several_questions_and_answers_in_several_pages(
    server: Directory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory_module, "_AT_ONCE", 1)
    monkeypatch.setattr(directory_module, "_PAGE", 1)
    assert groups(server.url) == {"ringers", "staff", "people"}


@pytest.mark.parametrize(
    "changes",
    [
        {"bind_dn": ADMIN, "password": "wrong"}, {"bind_dn": f"cn=nobody,{BASE}", "password": PASSWORD},
        {"users": "dc=elsewhere,dc=org"}, {"groups": f"ou=none,{BASE}"}, {"groups": "no name"},
    ],
)  # fmt: skip
def test_what_the_directory_refuses_is_an_error(server: Directory, changes: dict[str, str]) -> None:
    assert groups(server.url, bind_dn=ADMIN, password=PASSWORD)
    with pytest.raises(WorkError):
        groups(server.url, **changes)


def test_an_empty_password_is_refused_here(server: Directory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory would take it as nobody in particular, and let them read what everybody may."""
    monkeypatch.setenv("LDAP_PASSWORD", "")
    with pytest.raises(UserError):
        groups(server.url, bind_dn=ADMIN, password=SecretStr("${LDAP_PASSWORD}"))


def test_connections_are_encrypted(authority: Authority, trusted: None) -> None:
    with directory_server(authority.issue("server"), ELSEWHERE) as running:
        running.add("ida", "Ida")
        running.add_group("staff", IDA)
        assert groups(running.url, bind_dn=ADMIN, password=PASSWORD) == {"staff"}, "StartTLS"
        assert groups(running.secure_url, bind_dn=ADMIN, password=PASSWORD) == {"staff"}
        os.environ.pop("SSL_CERT_FILE")
        for url in (running.url, running.secure_url):
            with pytest.raises(WorkError):
                groups(url)


def test_a_certificate_for_another_host_is_refused(authority: Authority, trusted: None) -> None:
    with directory_server(authority.issue("server", addresses=["127.0.0.9"]), ELSEWHERE) as running:
        for url in (running.url, running.secure_url):
            with pytest.raises(WorkError):
                groups(url)


def test_without_encryption_a_directory_elsewhere_gets_no_password() -> None:
    with directory_server(None, ELSEWHERE) as running:
        running.add("ida", "Ida")
        with pytest.raises(WorkError):
            groups(running.url, bind_dn=ADMIN, password=PASSWORD)


@pytest.mark.parametrize("scheme", ["ldap", "ldaps"])
def test_a_silent_directory_costs_a_few_seconds(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_module, "TIMEOUT", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(WorkError):
        groups(f"{scheme}://127.0.0.1:{silent.getsockname()[1]}")


def test_a_lost_directory_is_an_error() -> None:
    with pytest.raises(WorkError):
        groups(f"ldap://127.0.0.1:{free_port()}")


@pytest.mark.parametrize(
    "sends",
    [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x30\x84\xff\xff\xff\xff", b"\x30\x03\x02\x01\x07", b"\0" * 99],
)
def test_what_is_no_directory_is_an_error(sends: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory_module, "TIMEOUT", 1)
    with socket.create_server(("127.0.0.1", 0)) as strange:

        def answer() -> None:
            peer, _ = strange.accept()
            with peer:
                peer.recv(1000)
                peer.sendall(sends)
                peer.recv(1000)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with pytest.raises(WorkError):
            groups(f"ldap://127.0.0.1:{strange.getsockname()[1]}")


PROXY = "10.1.0.7"


def found(service: Service, name: str = "ida") -> int:
    """Return how many of three documents somebody finds; one is for `staff` alone."""
    answer = Browser(service, PROXY).get("/?q=heron", headers={"X-Forwarded-User": name})
    assert answer.status_code == 200, answer.text
    return sum(one in answer.text for one in ("lake.example/heron", "lake.example/ring", "sea.example/gull"))


def test_searches_show_what_groups_of_the_directory_may_see(tmp_path: Path) -> None:
    service = Service(tmp_path)
    with directory_server() as running:
        running.add("ida", "Ida")
        running.add_group("ringers", IDA)
        running.add_group("staff", f"cn=ringers,{BASE}")

        def define(expiry: object) -> None:
            ldap = {"url": running.url, "users": BASE, "groups": BASE, "expiry": expiry}
            roles = {"editor": "staff"}
            service.define(sign_in={"proxy": {"networks": PROXY}, "ldap": ldap, "roles": roles})

        define(900)
        assert (found(service), found(service, "ben")) == (3, 2)
        headers = {"X-Forwarded-User": "ida"}
        assert Browser(service, PROXY).get("/admin", headers=headers).status_code == 200, "a role of a group"
        running.set_members("ringers", BEN)
        assert found(service) == 3, "until the expiry"
        define("0.000001 s")
        assert found(service) == 2, "the group was taken away"
        running.set_members("ringers", IDA)
        assert found(service) == 3
    assert found(service) == 2, "the directory is gone, and searches go on"


@pytest.mark.parametrize("way", ["oidc", "proxy"])
def test_who_is_asked_about_has_the_groups_of_the_directory(
    tmp_path: Path, server: Directory, way: str
) -> None:
    service = Service(tmp_path)
    service.define(sign_in={"ldap": {"url": server.url, "users": BASE, "groups": BASE}})
    asked = requester_named(Accounts(lambda: service.project), service.project, f"{way}:ida")
    assert (asked.name, asked.sources) == (f"{way}:ida", None)
    assert set(asked.principals or ()) == {
        "user:ida",
        *(f"{kind}{name}" for kind in ("", "group:") for name in ("ringers", "staff", "people")),
    }
