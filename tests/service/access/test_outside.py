"""Users whom a proxy signs in: who is believed, and what their groups show them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from service.access.conftest import Browser, Service, csrf_token_of

from ultracrawl.service.access.accounts import Accounts
from ultracrawl.service.access.outside import MAX_GROUPS, OutsideUser, all_groups, outside_user
from ultracrawl.service.access.requester import RequesterKind, Role
from ultracrawl.service.access.seen import requester_named
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.sources import load_project
from ultracrawl.sources.sections.sign_in import SignInSection

PROXY, STRANGER = "10.1.0.7", "10.1.0.8"
SIGN_IN = {
    "proxy": {"networks": PROXY, "header": "X-User", "groups_header": "X-Groups"},
    "roles": {"administrator": "operators", "editor": "web"},
    "groups": {"ringers": ["staff"]},
}


def define(service: Service, **changes: object) -> None:
    service.define(sign_in={**SIGN_IN, **changes})


def sent(*groups: str, name: str = "ida") -> dict[str, str]:
    return {"X-User": name, **({"X-Groups": ",".join(groups)} if groups else {})}


def found(browser: Browser, headers: object) -> int:
    """Return how many documents have a word; all three do, and one is for `staff` only."""
    answer = browser.get("/?q=heron", headers=headers)
    assert answer.status_code == 200, answer.text
    return sum(
        name in answer.text for name in ("lake.example/heron", "lake.example/ring", "sea.example/gull")
    )


@pytest.fixture(params=["whoosh", "tantivy"])
def proxied(request: pytest.FixtureRequest, tmp_path: Path) -> Service:
    made = Service(tmp_path, request.param)
    define(made)
    return made


def test_groups_show_documents_for_as_long_as_they_are_named(proxied: Service) -> None:
    browser = Browser(proxied, PROXY)
    assert found(browser, sent("staff")) == 3
    assert found(browser, sent("ringers")) == 3, "a group within a group"
    assert found(browser, sent("others")) == 2
    assert found(browser, sent()) == 2, "the group was removed"
    assert found(browser, sent("staff")) == 3
    define(proxied, groups={})
    assert found(browser, sent("ringers")) == 2


@pytest.mark.parametrize(
    "headers",
    [
        [("X-User", "ida"), ("X-User", "ben")], [("X-User", "")], [("X-User", " ")], [("X-User", "a" * 257)],
        [("X-User", "a\tb")], [("X-Forwarded-User", "ida")], [("X-Groups", "operators")],
    ],
)  # fmt: skip
def test_a_header_that_names_nobody_signs_nobody_in(service: Service, headers: list[tuple[str, str]]) -> None:
    define(service)
    assert Browser(service, PROXY).get("/", headers=headers).status_code == 303


@pytest.mark.parametrize(
    "groups", [[("X-Groups", "staff"), ("X-Groups", "others")], [("X-Groups", "a" * 1001)], []]
)
def test_groups_that_cannot_be_known_are_none(service: Service, groups: list[tuple[str, str]]) -> None:
    define(service)
    assert found(Browser(service, PROXY), [("X-User", "ida"), *groups]) == 2


@pytest.mark.parametrize("address", [STRANGER, "192.0.2.1", "::1", "no address"])
def test_a_header_from_elsewhere_is_ignored(service: Service, address: str) -> None:
    define(service)
    browser = Browser(service, address)
    assert browser.get("/", headers=sent("operators")).status_code == 303
    assert browser.get("/api/v1/sources", headers=sent("operators")).status_code == 401
    browser.log_in()
    assert browser.get("/admin", headers=sent(name="ida")).text.count("anna"), "the session counts"


def test_who_claims_the_address_of_the_proxy_is_not_the_proxy(service: Service) -> None:
    define(service)
    service.restart(ApiOptions(behind_proxy=True))
    headers = {**sent("operators"), "X-Forwarded-For": PROXY}
    assert Browser(service, STRANGER).get("/admin", headers=headers).status_code == 303
    assert Browser(service, PROXY).get("/admin", headers=headers).status_code == 200


def test_an_address_of_ipv6_may_hold_one_of_ipv4(service: Service) -> None:
    define(service)
    assert Browser(service, f"::ffff:{PROXY}").get("/", headers=sent()).status_code == 200


def test_without_the_option_the_header_is_ignored(service: Service) -> None:
    assert Browser(service, PROXY).get("/", headers={"X-Forwarded-User": "ida"}).status_code == 303


@pytest.mark.parametrize(
    ("group", "statuses"), [("operators", [200, 200]), ("web", [200, 403]), ("staff", [403, 403])]
)
def test_groups_give_roles(service: Service, group: str, statuses: list[int]) -> None:
    define(service)
    browser = Browser(service, PROXY)
    assert [
        browser.get(f"/admin{path}", headers=sent(group)).status_code for path in ("", "/audit")
    ] == statuses
    define(service, roles={})
    assert browser.get("/admin", headers=sent(group)).status_code == 403


def test_changes_need_a_csrf_token_and_are_recorded(service: Service) -> None:
    define(service)
    browser, headers, path = Browser(service, PROXY), sent("operators"), "/api/v1/sources/lake/start"
    assert browser.ask("POST", path, headers=headers).status_code == 403
    token = csrf_token_of(browser.get("/", headers=headers).text)
    assert browser.ask("POST", path, headers={**headers, "X-CSRF-Token": token}).status_code == 202
    other = sent("operators", name="ben")
    assert browser.ask("POST", path, headers={**other, "X-CSRF-Token": token}).status_code == 403
    assert ("proxy:ida", "crawl", "done") in [
        (row["who"], row["action"], row["result"]) for row in service.audit
    ]


def test_the_first_request_from_an_address_is_recorded_as_a_log_in(service: Service) -> None:
    define(service)
    for address in (PROXY, PROXY, STRANGER):
        Browser(service, address).get("/", headers=sent())
    assert [(row["who"], row["from"], row["action"]) for row in service.audit] == [
        ("proxy:ida", PROXY, "log-in")
    ]


def test_a_name_is_no_group(service: Service) -> None:
    define(service)
    assert found(Browser(service, PROXY), sent(name="staff")) == 2
    define(service, user_prefix="")
    assert found(Browser(service, PROXY), sent(name="staff")) == 3


@pytest.mark.parametrize(
    ("prefix", "name", "principals"),
    [
        ("user:", "ida", {"user:ida"}),
        ("", "ida", {"user:ida", "ida"}),
        ("", "group:staff", {"user:group:staff"}),
        ("", "user:root", {"user:user:root"}),
        ("ext-", "ida", {"ext-ida"}),
    ],
)
def test_a_user_is_no_group_and_nobody_else(prefix: str, name: str, principals: set[str]) -> None:
    section = SignInSection(user_prefix=prefix)
    asked = OutsideUser(name).requester(RequesterKind.PROXIED, "proxy", section)
    assert set(asked.principals or ()) == principals


def test_a_group_is_no_user_whatever_it_is_called() -> None:
    section = SignInSection(groups={"ringers": ["staff"]})
    user = OutsideUser("ida", ("ringers", "user:root", "group:staff", "root"))
    asked = user.requester(RequesterKind.PROXIED, "proxy", section)
    assert set(asked.principals or ()) == {
        "user:ida", "group:ringers", "ringers", "group:staff", "staff", "group:root", "root",
        "group:user:root", "group:group:staff",
    }  # fmt: skip


def test_who_is_asked_about_by_principals_is_in_groups_and_is_users(service: Service) -> None:
    define(service)
    accounts = Accounts(lambda: service.project)
    asked = requester_named(accounts, service.project, "user:games; ringers; group:web")
    assert set(asked.principals or ()) == {
        "user:games", "group:ringers", "ringers", "group:staff", "staff", "group:web", "web",
    }  # fmt: skip


def test_a_user_of_the_service_with_the_same_name_is_somebody_else(service: Service) -> None:
    service.add("ida", Role.ADMINISTRATOR)
    define(service)
    assert Browser(service, PROXY).get("/admin", headers=sent()).status_code == 403


def test_groups_in_a_circle_have_an_end() -> None:
    assert all_groups(["a"], {"a": ["b"], "b": ["c", "a"], "c": ["a"]}) == ("a", "b", "c")


@pytest.mark.parametrize("groups", [None, 5, {"staff": 1}, [{"name": "staff"}], ["x"] * (MAX_GROUPS + 1)])
def test_groups_of_another_kind_are_none(groups: object) -> None:
    user = outside_user("ida", groups)
    assert user is not None
    assert user.groups == ()


def test_what_is_no_network_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "ultracrawl.yaml"
    path.write_text("sign_in: {proxy: {networks: proxy.example.com}, roles: {owner: [staff]}}\n")
    assert len(load_project(path).findings) == 2


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ({"ldap": {"url": "ldaps://l.example", "users": "ou=a", "groups": "ou=b"}, "roles": {"reader": "staff"}},
         ["sign_in.ldap", "sign_in.roles"]),
        ({"groups": {"north": ["staff"]}, "oidc": {"label": "Corp"}}, ["sign_in.groups", "sign_in.oidc"]),
        ({"proxy": {"header": "X-User"}}, ["sign_in.proxy"]),
        ({"proxy": {"networks": PROXY}, "roles": {"reader": "staff"}, "ldap": {"bind_dn": "cn=a", "password": "${P}"}},
         ["sign_in.ldap"]),
        (SIGN_IN, []),
        ({"oidc": {"issuer": "https://l.example", "client_id": "a", "client_secret": "hidden-word"}},
         ["sign_in.oidc.client_secret"]),
        ({"proxy": {"networks": PROXY}, "ldap": {"url": "ldaps://l.example", "users": "ou=a", "groups": "ou=b",
                                                "bind_dn": "cn=a", "password": "hidden-word"}},
         ["sign_in.ldap.password"]),
    ],
)  # fmt: skip
def test_options_without_effect_and_secrets_in_clear_text_are_hints(
    tmp_path: Path, section: object, keys: list[str]
) -> None:
    path = tmp_path / "ultracrawl.yaml"
    sources = {"lake": {"start_urls": ["https://lake.example/"]}}
    path.write_text(yaml.safe_dump({"sources": sources, "sign_in": section}))
    findings = load_project(path).findings
    assert sorted((one.key, one.fatal) for one in findings) == [(key, False) for key in keys]
    assert "hidden-word" not in repr(findings)
