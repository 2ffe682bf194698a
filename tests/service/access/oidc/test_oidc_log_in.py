"""Log-ins with a provider of OpenID Connect, and everything with which nobody gets in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from lxml.html import fromstring
from service.access.conftest import Browser, Service, cheap_hashes, csrf_token_of
from support.oidc import CLIENT, SECRET, Provider

from ultracrawl.service.access.requester import Role
from ultracrawl.service.api.app import ApiOptions
from ultracrawl.service.api.middleware.cookies import Cookies
from ultracrawl.sources import load_project

__all__ = ["cheap_hashes"]
PAST, FUTURE = 1_000_000_000, 4_000_000_000


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as started:
        yield started


class Signed:
    """A service whose users sign in with a provider, and a browser."""

    def __init__(self, folder: Path, provider: Provider, engine: str = "whoosh") -> None:
        self.provider = provider
        self.service = Service(folder, engine)
        self.define()
        self.browser = Browser(self.service)

    def define(self, **changes: object) -> None:
        oidc = {"issuer": self.provider.issuer, "client_id": CLIENT, "client_secret": SECRET}
        groups = {"roles": {"administrator": "operators"}, "groups": {"ringers": ["staff"]}}
        self.service.define(sign_in={"oidc": {**oidc, **changes}, **groups})

    def begin(self, path: str = "/login/oidc") -> str:
        """Return where the browser is led to."""
        answer = self.browser.get(path)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    def sign_in(self, next_: str = "/") -> httpx.Response:
        back = self.provider.sign_in(self.begin(f"/login/oidc?next={next_}"))
        return self.browser.get(back)


@pytest.fixture
def signed(tmp_path: Path, provider: Provider) -> Signed:
    return Signed(tmp_path, provider)


def shows(signed: Signed, word: str) -> bool:
    """Return whether a search finds the document that is for `staff` only."""
    answer = signed.browser.get(f"/?q={word}")
    assert answer.status_code == 200, answer.text
    return "lake.example/ring" in answer.text


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_groups_show_documents_until_the_provider_names_them_no_longer(
    tmp_path: Path, provider: Provider, engine: str
) -> None:
    signed = Signed(tmp_path, provider, engine)
    provider.claims = {"groups": ["ringers"]}
    answer = signed.sign_in("/?q=ringed")
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=ringed")
    assert shows(signed, "ringed")
    provider.claims = {"groups": []}
    assert shows(signed, "ringed"), "the provider was not asked again yet"
    signed.define(expiry="0.001 s")
    again = signed.browser.get("/?q=ringed")
    assert again.headers["location"] == "/login/oidc?next=%2F%3Fq%3Dringed", "it is asked at once"
    signed.define()
    address = signed.begin(again.headers["location"])
    assert signed.browser.get(provider.sign_in(address)).headers["location"] == "/?q=ringed"
    assert not shows(signed, "ringed")


def test_definitions_decide_what_a_group_gives(signed: Signed, provider: Provider) -> None:
    provider.claims = {"groups": ["operators"]}
    signed.sign_in()
    assert signed.browser.get("/admin/audit").status_code == 200
    signed.service.define(sign_in={"oidc": {"issuer": provider.issuer, "client_id": CLIENT}})
    assert signed.browser.get("/admin/audit").status_code == 403
    signed.service.define()
    assert signed.browser.get("/").headers["location"] == "/login?next=%2F", (
        "without the provider the session ends"
    )
    assert signed.browser.get("/login/oidc").status_code == 404


def test_a_session_outlives_the_service_and_ends_by_a_log_out(signed: Signed) -> None:
    signed.sign_in()
    signed.service.restart()
    token = csrf_token_of(signed.browser.get("/").text)
    assert signed.browser.ask("POST", "/logout", data={"csrf_token": token}).status_code == 303
    assert signed.browser.get("/").headers["location"] == "/login?next=%2F"
    assert [(row["who"], row["action"]) for row in signed.service.audit] == [
        ("oidc:ida", "log-in"),
        ("oidc:ida", "log-out"),
    ]


def logged_out(signed: Signed) -> httpx.Response:
    """Log out by the button of the search page; nothing of the session is left."""
    browser = signed.browser
    token = csrf_token_of(browser.get("/").text)
    copy = httpx.Cookies(browser.cookies)
    assert browser.ask("POST", "/logout", data={"csrf_token": "another"}).status_code == 403
    answer = browser.ask("POST", "/logout", data={"csrf_token": token})
    assert browser.get("/").headers["location"] == "/login?next=%2F"
    browser.cookies = copy
    assert browser.get("/").headers["location"] == "/login?next=%2F", "nor for who kept the cookie"
    return answer


def test_a_log_out_leads_to_the_provider_that_ends_its_session(signed: Signed, provider: Provider) -> None:
    provider.ends_sessions = True
    signed.sign_in()
    answer = logged_out(signed)
    (refresh,) = fromstring(answer.text).cssselect("meta[http-equiv=refresh]")
    (link,) = fromstring(answer.text).cssselect("main a[rel=noreferrer]")
    address = link.get("href")
    assert refresh.get("content") == f"0;url={address}"
    assert address.partition("?")[0] == f"{provider.issuer}/log-out"
    query = dict(parse_qsl(urlsplit(address).query))
    assert (query["client_id"], query["post_logout_redirect_uri"]) == (CLIENT, "http://127.0.0.1:8480/")
    assert jwt.decode(query["id_token_hint"], provider.key).claims["sub"] == "ida"
    assert answer.headers["content-security-policy"].count("form-action 'self'") == 1


def test_of_a_long_token_nothing_is_kept_and_the_log_out_works(signed: Signed, provider: Provider) -> None:
    provider.ends_sessions, provider.claims = True, {"groups": [f"{at:0100}" for at in range(90)]}
    signed.sign_in()
    answer = logged_out(signed)
    assert "client_id=" in answer.text
    assert "id_token_hint" not in answer.text
    path = signed.service.project.state.path / "service" / "sessions.json"
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("way", ["none", "gone", "other", "unsafe"])
def test_a_log_out_ends_the_session_here_whatever_the_provider_is(
    signed: Signed, provider: Provider, way: str
) -> None:
    provider.ends_sessions = way != "none"
    provider.metadata = {"end_session_endpoint": "http://login.example/"} if way == "unsafe" else {}
    signed.sign_in()
    if way == "gone":
        signed.service.restart()
        provider.metadata = {"issuer": None}
    if way == "other":
        signed.define(label="changed")
        provider.metadata = {"issuer": None}
    answer = logged_out(signed)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_session_that_waits_for_its_provider_is_ended_too(signed: Signed, provider: Provider) -> None:
    signed.sign_in()
    token = csrf_token_of(signed.browser.get("/").text)
    signed.define(expiry="0.001 s")
    assert signed.browser.get("/").headers["location"].startswith("/login/oidc?")
    assert signed.browser.ask("POST", "/logout", data={"csrf_token": token}).headers["location"] == "/"
    assert signed.browser.get("/").headers["location"] == "/login?next=%2F", "nobody is signed in anew"
    assert signed.service.audit[-1]["who"] == "oidc:ida"


def test_a_user_of_the_service_with_the_same_name_is_somebody_else(signed: Signed) -> None:
    signed.service.add("ida", Role.ADMINISTRATOR)
    signed.sign_in()
    assert signed.browser.get("/admin").status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "http://127.0.0.1:1"}, {"iss": None}, {"aud": "another"}, {"aud": None}, {"aud": []},
        {"aud": [CLIENT, "another"]}, {"aud": [CLIENT, "another"], "azp": "another"}, {"azp": "another"},
        {"exp": PAST}, {"exp": None}, {"exp": "soon"}, {"iat": FUTURE}, {"iat": None},
        {"nbf": FUTURE}, {"nonce": "another"}, {"nonce": None}, {"sub": None}, {"sub": ["ida"]}, {"sub": " "},
    ],
    ids=str,
)  # fmt: skip
def test_a_token_that_is_not_for_this_log_in_signs_nobody_in(
    signed: Signed, provider: Provider, claims: dict[str, Any]
) -> None:
    provider.claims = claims
    assert signed.sign_in().status_code == 403
    assert signed.browser.get("/").status_code == 303
    assert [(row["who"], row["result"]) for row in signed.service.audit] == [("unknown", "refused")]


def test_one_of_several_audiences_is_enough_if_the_token_was_issued_to_this_client(
    signed: Signed, provider: Provider
) -> None:
    provider.claims = {"aud": [CLIENT, "another"], "azp": CLIENT}
    assert signed.sign_in().status_code == 303


def with_no_signature(provider: Provider) -> None:
    provider.algorithm = "none"


def with_the_secret(provider: Provider) -> None:
    provider.algorithm, provider.signer = "HS256", OctKey.import_key(SECRET, {"kid": "one"})


def with_a_key_of_somebody_else(provider: Provider) -> None:
    provider.signer = provider.new_key("one")


def with_an_unknown_key(provider: Provider) -> None:
    provider.signer = provider.new_key("other")


@pytest.mark.parametrize(
    "sign", [with_no_signature, with_the_secret, with_a_key_of_somebody_else, with_an_unknown_key]
)
def test_a_token_without_a_signature_of_the_provider_signs_nobody_in(
    signed: Signed, provider: Provider, sign: Callable[[Provider], None]
) -> None:
    sign(provider)
    assert signed.sign_in().status_code == 403
    assert signed.browser.get("/").status_code == 303


def test_a_new_key_of_the_provider_is_read(signed: Signed, provider: Provider) -> None:
    signed.sign_in()
    provider.rotate()
    assert signed.sign_in().status_code == 303
    assert provider.asked.count("/keys") == 2
    signed.sign_in()
    assert provider.asked.count("/keys") == 2


def test_a_log_in_ends_once(signed: Signed, provider: Provider) -> None:
    address = signed.begin()
    cookies = httpx.Cookies(signed.browser.cookies)
    assert signed.browser.get(provider.sign_in(address)).status_code == 303
    stranger = Browser(signed.service)
    stranger.cookies = cookies
    assert stranger.get(provider.sign_in(address)).status_code == 403, "the same state with a new code"
    assert stranger.get("/").status_code == 303


def test_a_log_in_ends_in_the_browser_that_began_it(signed: Signed, provider: Provider) -> None:
    back = provider.sign_in(signed.begin())
    assert Browser(signed.service).get(back).status_code == 403
    victim = Browser(signed.service)
    victim.get("/login/oidc")
    assert victim.get(back).status_code == 403, "a log-in of its own is another one"
    assert victim.get("/").status_code == 303


@pytest.mark.parametrize(
    "change",
    [
        {"state": "another"}, {"state": ""}, {"code": ""}, {"code": "another"}, {"iss": "http://127.0.0.1:1"},
        {"error": "access_denied"}, {"state": "é"},
    ],
    ids=str,
)  # fmt: skip
def test_what_comes_back_has_to_fit(signed: Signed, provider: Provider, change: dict[str, str]) -> None:
    back = httpx.URL(provider.sign_in(signed.begin())).copy_merge_params(change)
    assert signed.browser.get(str(back)).status_code == 403
    assert signed.browser.get("/").status_code == 303


def test_a_cookie_that_was_not_signed_here_is_worth_nothing(signed: Signed, provider: Provider) -> None:
    back = provider.sign_in(signed.begin())
    (name,) = (name for name in signed.browser.cookies if "sign_in" in name)
    signed.browser.cookies.set(name, signed.browser.cookies[name] + "x")
    assert signed.browser.get(back).status_code in (403, 303)
    assert signed.browser.get("/").status_code == 303


@pytest.mark.parametrize(
    "next_", ["//evil.example/", "https://evil.example/", "/login/oidc", "/login", "/\\evil"]
)
def test_a_log_in_leads_to_this_service(signed: Signed, next_: str) -> None:
    assert signed.sign_in(next_).headers["location"] == "/"


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "http://127.0.0.1:1"}, {"authorization_endpoint": "http://login.example/"},
        {"authorization_endpoint": "javascript:alert(1)"}, {"authorization_endpoint": None}, {"issuer": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_configuration_of_somebody_else_leads_nowhere(
    signed: Signed, provider: Provider, metadata: dict[str, Any]
) -> None:
    provider.metadata = metadata
    assert signed.browser.get("/login/oidc").status_code == 503


def test_a_provider_that_is_gone_shuts_nobody_else_out(signed: Signed) -> None:
    signed.service.add("ben")
    signed.define(issuer="http://127.0.0.1:1")
    answer = signed.browser.get("/login/oidc")
    assert answer.status_code == 503
    assert signed.browser.log_in("ben").status_code == 303


def test_names_and_groups_come_from_the_claims_of_the_definition(signed: Signed, provider: Provider) -> None:
    signed.define(user_claim="email", groups_claim="realm_access.roles")
    provider.claims = {"email": "ida@example.com", "realm_access": {"roles": ["staff"]}}
    assert signed.sign_in().status_code == 403, "the address is not verified"
    provider.claims["email_verified"] = True
    assert signed.sign_in().status_code == 303
    assert shows(signed, "ringed")
    provider.claims["realm_access"] = {"roles": {"staff": True}}
    signed.sign_in()
    assert not shows(signed, "ringed"), "groups of another kind are none"


def test_groups_that_the_token_lacks_are_those_of_userinfo(signed: Signed, provider: Provider) -> None:
    provider.userinfo = {"sub": "ida", "groups": ["staff"]}
    signed.sign_in()
    assert shows(signed, "ringed")
    provider.claims = {"groups": []}
    signed.sign_in()
    assert not shows(signed, "ringed"), "what the token has counts"
    assert provider.asked.count("/userinfo") == 1


def test_a_name_that_the_token_lacks_is_that_of_userinfo(signed: Signed, provider: Provider) -> None:
    signed.define(user_claim="email")
    provider.claims = {"groups": [], "email_verified": True}
    provider.userinfo = {"sub": "ida", "email": "ida@example.com"}
    assert signed.sign_in().status_code == 403, "each of the two speaks for its own address"
    provider.userinfo["email_verified"] = True
    assert signed.sign_in().status_code == 303
    assert signed.service.audit[-1]["who"] == "oidc:ida@example.com"


@pytest.mark.parametrize(
    "said",
    [
        {"sub": "ben", "groups": ["staff"]}, {"groups": ["staff"]}, {"sub": "ida", "groups": {"staff": True}},
        {"sub": "ida"}, ["staff"], "staff", 7,
    ],
    ids=str,
)  # fmt: skip
def test_groups_of_another_user_and_what_are_no_groups_are_none(
    signed: Signed, provider: Provider, said: Any
) -> None:
    provider.userinfo = said
    assert signed.sign_in().status_code == 303
    assert not shows(signed, "ringed")


def test_without_an_answer_of_userinfo_the_user_is_in_no_group(signed: Signed, provider: Provider) -> None:
    provider.metadata = {"userinfo_endpoint": f"{provider.issuer}/lost"}
    assert signed.sign_in().status_code == 303
    assert not shows(signed, "ringed")


TOO_MANY = {
    "_claim_names": {"groups": "src1"},
    "_claim_sources": {"src1": {"endpoint": "http://127.0.0.1:1/groups", "access_token": "x"}},
}


def test_groups_that_a_large_directory_leaves_out_are_none_and_administrators_know(
    signed: Signed, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    provider.claims = TOO_MANY
    signed.sign_in()
    assert not shows(signed, "ringed")
    assert signed.service.audit[-1]["groups"] == "left-out"
    assert len([one for one in caplog.records if "_claim_names" in one.getMessage()]) == 1
    signed.service.add("anna", Role.ADMINISTRATOR)
    anna = Browser(signed.service)
    anna.log_in()
    (row,) = fromstring(anna.get("/admin/access").text).cssselect('[aria-labelledby="log-ins"] td.bad')
    assert row.text_content() != "done"
    provider.userinfo = {"sub": "ida", "groups": ["staff"]}
    signed.service.restart()
    signed.sign_in()
    assert shows(signed, "ringed"), "unless userinfo has them"
    assert "groups" not in signed.service.audit[-1]


def test_the_form_offers_the_provider_and_the_way_there_is_bound_to_the_browser(signed: Signed) -> None:
    signed.service.restart(ApiOptions(cookies=Cookies(443, is_secure=True)))
    signed.define(label="<b>Corp</b>")
    form = signed.browser.get("/login?next=/?q=heron")
    assert "/login/oidc?next=%2F%3Fq%3Dheron" in form.text
    assert "<b>" not in form.text
    answer = signed.browser.get("/login/oidc")
    assert "redirect_uri=https%3A%2F%2F127.0.0.1" in answer.headers["location"]
    cookie = answer.headers["set-cookie"].lower()
    assert cookie.startswith("__host-")
    assert {"httponly", "secure", "samesite=lax"} <= {part.strip() for part in cookie.split(";")}


@pytest.mark.parametrize(
    "written",
    [
        "{issuer: 'http://login.example.com', client_id: a}", "{issuer: 'https://u@login.example.com', client_id: a}",
        "{issuer: 'https://login.example.com'}", "{client_id: a}",
        "{issuer: 'https://login.example.com', client_id: a, scopes: profile}",
    ],
)  # fmt: skip
def test_a_provider_that_cannot_be_used_is_a_mistake(tmp_path: Path, written: str) -> None:
    path = tmp_path / "ultracrawl.yaml"
    path.write_text(f"sign_in: {{oidc: {written}}}\n")
    assert len(load_project(path).findings) == 1
