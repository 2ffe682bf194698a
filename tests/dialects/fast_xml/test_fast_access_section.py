"""Headers, proxies, passwords, accounts, certificates and logins of FAST collections (FAST 5.1 D, 5.19, 5.20, 5.30)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import attrib, fast_xml
from support.named import named
from support.sentences import sentence

from ultracrawl.sources import DataSource, Loaded
from ultracrawl.sources.dialects import read_definitions

START = {"start_uris": ("http://a.example/",)}


def load(folder: Path, options: dict[str, Any], inside: str = "") -> Loaded:
    (folder / "collection.xml").write_text(fast_xml({**START, **options}, inside=inside))
    return read_definitions(folder / "collection.xml")


def only(loaded: Loaded) -> DataSource:
    assert loaded.project, [str(finding) for finding in loaded.findings]
    return loaded.project.sources["handbook"]


def codes(loaded: Loaded) -> list[str]:
    return [finding.problem.partition(":")[0] for finding in loaded.findings]


CREDENTIALS = {
    "fast_vector_30-Basic": ("http://a.example/x/", "u:p", ("u", "p", "", "basic", "http://a.example/x/")),
    "fast_vector_30-Digest": (
        "http://a.example/x/",
        "u:a:b:realm:digest",
        ("u", "a:b", "realm", "digest", "http://a.example/x/"),
    ),
    "fast_vector_30-auto": ("http://a.example/", "u:p::auto", ("u", "p", "", "auto", "http://a.example/")),
    "fast_177-NTLM": (
        "http://a.example/",
        "u:p::ntlmv2",
        ("u", "p", "", "ntlm", "http://a.example/"),
    ),
    "fast_7_35-a realm": ("Example Realm", "u:p:x:y", ("u", "p:x:y", "Example Realm", "basic", None)),
}


@pytest.mark.parametrize(("name", "value", "expected"), CREDENTIALS.values(), ids=CREDENTIALS)
def test_credentials(tmp_path: Path, name: str, value: str, expected: tuple[object, ...]) -> None:
    loaded = load(tmp_path, {}, f'<section name="passwd">{attrib(name, f"passwd/{name}", value)}</section>')
    (entry,) = only(loaded).authentication.values()
    assert (entry.user, entry.password.get_secret_value(), entry.realm, entry.scheme, entry.url) == expected
    assert codes(loaded) == ["N-SECRET"]
    assert value not in "".join(map(str, loaded.findings))


def test_fast_177_ntlmv1_is_kept_and_advised_against(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"passwd/http://a.example/": "u:${P}::ntlmv1"})
    (entry,) = only(loaded).authentication.values()
    assert entry.scheme == "ntlmv1"
    assert ["NTLM version 1" in finding.problem for finding in loaded.findings] == [True]


def test_fast_25_a_proxy_of_another_kind_keeps_the_crawl_from_starting(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"proxy": ("socks5://a.example:1080", "b.example")})
    assert [(finding.fatal, named(finding.problem)) for finding in loaded.findings] == [(True, ["socks5"])]


@pytest.mark.parametrize("bad", ["a@b@c", "no proxy!", "a.example:99999"])
def test_fast_25_a_list_without_a_proxy_that_can_be_used_lets_nothing_out(tmp_path: Path, bad: str) -> None:
    loaded = load(tmp_path, {"proxy": (bad,)})
    found = {(one.fatal, one.problem.partition(":")[0]) for one in loaded.findings}
    assert found == {(False, "N-MEMBER"), (True, "E-VALUE")}
    assert loaded.project is None
    assert load(tmp_path, {"proxy": (bad, "b.example")}).project, "one that can be used is enough"


def test_an_encrypted_password_is_no_open_secret(tmp_path: Path) -> None:
    value = "u:{aes}AAAA"
    loaded = load(tmp_path, {"passwd/http://a.example/": value})
    (entry,) = only(loaded).authentication.values()
    assert entry.password.get_secret_value() == "{aes}AAAA"
    assert codes(loaded) == []


PROXIES = {
    "host": ("proxy.example", ("http://proxy.example:80", "", None)),
    "host and port": ("proxy.example:3128", ("http://proxy.example:3128", "", None)),
    "everything": ("http://u:p@w@proxy.example:1", ("http://proxy.example:1", "u", "p@w")),
}


@pytest.mark.parametrize(("text", "expected"), PROXIES.values(), ids=[f"fast_25-{name}" for name in PROXIES])
def test_proxies(tmp_path: Path, text: str, expected: tuple[object, ...]) -> None:
    (server,) = only(load(tmp_path, {"proxy": (text,)})).proxy.servers.values()
    password = server.password.get_secret_value() if server.password else None
    assert (server.url, server.user, password, server.connections) == (*expected, None)


def test_fast_26_a_bound_for_each_proxy(tmp_path: Path) -> None:
    source = only(load(tmp_path, {"proxy": ("a.example", "b.example"), "proxy_max_pending": 7}))
    assert [one.connections for one in source.proxy.servers.values()] == [7, 7]


def test_fast_25_a_proxy_that_is_none_is_dropped(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"proxy": ("no proxy!", "b.example")})
    assert [one.url for one in only(loaded).proxy.servers.values()] == ["http://b.example:80"]
    assert codes(loaded) == ["N-MEMBER"]


def test_fast_24_headers(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"headers": ("Accept-Language: en", "Cookie: a=b", "User-Agent: Bot/1 (x)")})
    source = only(loaded)
    assert (dict(source.headers), source.user_agent, source.robots.name) == (
        {"Accept-Language": "en"}, "Bot/1 (x)", "Bot")  # fmt: skip
    assert codes(loaded) == ["N-MEMBER"], "a cookie is nobody else's"


def test_fast_178_accounts(tmp_path: Path) -> None:
    loaded = load(tmp_path, {"ftp_acct/FTP.example": "mirror:a:b"})
    (account,) = only(loaded).ftp.accounts.values()
    assert (account.host, account.user, account.password.get_secret_value()) == (
        "ftp.example",
        "mirror",
        "a:b",
    )


WRONG = {
    "fast_27_28-a key alone": ({"key_file": "k.pem"}, "", "go together"),
    "fast_27_28-a certificate alone": ({"cert_file": "c.pem"}, "", "go together"),
    "fast_27_28-files that are not there": (
        {"key_file": "k.pem", "cert_file": "c.pem"},
        "",
        sentence("fast.c_pem_cannot_read_no"),
    ),
    "fast_177-no password": ({"passwd/http://a.example/": "user"}, "", sentence("fast.not_user_password")),
    "fast_178-no password": ({"ftp_acct/a.example": "user:"}, "", sentence("fast.not_user_password")),
    "fast_222-autofill without a page": (
        {},
        '<Login name="x"><attrib name="autofill" type="boolean">yes</attrib></Login>',
        "`autofill` needs `html_form`",
    ),
    "fast_221-no URL": (
        {},
        '<Login name="x"><attrib name="html_form" type="string">http://[</attrib>'
        '<attrib name="autofill" type="boolean">yes</attrib></Login>',
        sentence("fast.not_absolute_url_http_https"),
    ),
    "fast_217-no form": (
        {},
        '<Login name="x"><attrib name="site" type="string">l.example</attrib></Login>',
        sentence("fast.login_no_form"),
    ),
    "fast_216-no site": (
        {},
        '<Login name="x"><attrib name="form" type="string">/in</attrib></Login>',
        sentence("fast.login_no_site"),
    ),
}


def test_what_cannot_be_used(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (options, inside, problem) in WRONG.items():
        with subtests.test(name):
            loaded = load(tmp_path, options, inside)
            assert loaded.project is None
            assert any(problem in finding.problem and finding.line > 3 for finding in loaded.fatal)


SCRIPTS = {
    "fast_50-absent": ({}, 0, []),
    "fast_7_12-empty": ({"javascript_delay": None}, None, []),
    "fast_50-seconds": ({"javascript_delay": 2.0}, 2, []),
    "fast_7_11-kept without scripts": ({"javascript_keep_html": True}, 0, ["N-CONFLICT"]),
}


@pytest.mark.parametrize(("options", "delay", "told"), SCRIPTS.values(), ids=SCRIPTS)
def test_scripts(tmp_path: Path, options: dict[str, Any], delay: float | None, told: list[str]) -> None:
    loaded = load(tmp_path, options)
    assert (only(loaded).javascript.delay, codes(loaded)) == (delay, told)


LOGIN = """<{tag} name="members area">
<attrib name="preload" type="string"> https://l.example/hello </attrib>
<attrib name="scheme" type="string"> https </attrib>
<attrib name="site" type="string"> l.example </attrib>
<attrib name="form" type="string"> /session/new </attrib>
<attrib name="html_form" type="string"> https://l.example/session </attrib>
<attrib name="sites" type="list-string"><member>m.example</member><member>f.example</member></attrib>
<attrib name="ttl" type="integer"> 3600 </attrib>
<attrib name="autofill" type="boolean"> yes </attrib>
<attrib name="relogin_if_failed" type="boolean"> yes </attrib>
<section name="parameters"><attrib name="account" type="string"> robot </attrib>
<attrib name="secret" type="string"> s3cret </attrib></section>
</{tag}>"""
FORMS = {
    "fast_214_224-element": LOGIN.format(tag="Login"),
    "fast_214_224-section": f'<section name="logins">{LOGIN.format(tag="section")}</section>',
}


@pytest.mark.parametrize("inside", FORMS.values(), ids=FORMS)
def test_logins(tmp_path: Path, inside: str) -> None:
    loaded = load(tmp_path, {"login_timeout": 45, "login_failed_ignore": True}, inside)
    ((name, login),) = only(loaded).logins.items()
    assert name == "members area"
    assert (login.preload, login.page) == ("https://l.example/hello", "https://l.example/session")
    assert (login.action, login.method, login.autofill) == ("https://l.example/session/new", None, True)
    assert (login.sites, login.ttl, login.relogin_if_failed) == (("m.example", "f.example"), 3600, True)
    assert (login.timeout, login.required) == (45, False)
    assert [login.fields[field].get_secret_value() for field in ("account", "secret")] == ["robot", "s3cret"]
    assert codes(loaded) == ["N-SECRET"]


def test_fast_218_post_is_the_default(tmp_path: Path) -> None:
    inside = (
        '<Login name="x"><attrib name="site" type="string">l.example</attrib>'
        '<attrib name="form" type="string">in</attrib>'
        '<section name="parameters"><attrib name="u" type="string">v</attrib></section></Login>'
    )
    (login,) = only(load(tmp_path, {}, inside)).logins.values()
    assert (login.action, login.method, login.autofill) == ("http://l.example/in", "POST", False)


PAGE = "https://l.example/in"
PLACES = {
    "neither": ({}, None, ()),
    "fast_217-no form": ({"site": "l.example"}, None, ("l.example",)),
    "fast_216-no site": ({"form": "/session"}, "https://l.example/session", ()),
    "fast_215-no site, another scheme": ({"form": "s", "scheme": "http"}, "http://l.example/s", ()),
    "fast_219-hosts with a port": (
        {"site": "l.example", "form": "/s", "sites": ("m.example:81", "f.example")},
        "http://l.example/s",
        ("m.example", "f.example"),
    ),
    "both": ({"site": "other.example:81", "form": "/s"}, "http://other.example:81/s", ("other.example",)),
}


@pytest.mark.parametrize(("own", "action", "sites"), PLACES.values(), ids=PLACES)
def test_fast_222_autofill_finds_what_is_not_said(
    tmp_path: Path, own: dict[str, Any], action: str | None, sites: tuple[str, ...]
) -> None:
    """FAST 5.30: site and form are needed unless autofill finds them; without `sites` the host in `site` needs it."""
    options = "".join(
        attrib(name, f"Login/{name}", text) for name, text in {**own, "html_form": PAGE}.items()
    )
    fields = '<section name="parameters"><attrib name="u" type="string">v</attrib></section>'
    inside = f'<Login name="x">{options}{attrib("autofill", "Login/autofill", True)}{fields}</Login>'
    (login,) = only(load(tmp_path, {}, inside)).logins.values()
    assert (login.page, login.action, login.sites, login.method) == (PAGE, action, sites, None)


def test_fast_224_a_form_may_have_nothing_to_fill_in(tmp_path: Path) -> None:
    """A page whose button is to be pressed, say."""
    options = {"site": "l.example", "form": "/accept", "action": "get"}
    inside = "".join(attrib(name, f"Login/{name}", text) for name, text in options.items())
    loaded = load(tmp_path, {}, f'<Login name="x">{inside}</Login>')
    (login,) = only(loaded).logins.values()
    assert (login.action, login.method, dict(login.fields)) == ("http://l.example/accept", "GET", {})
    assert codes(loaded) == ["N-CASE"]


def test_a_password_in_the_name_of_an_option_is_not_shown(tmp_path: Path) -> None:
    name = "http://robot:s3cret@a.example/"
    loaded = load(tmp_path, {}, f'<section name="passwd">{attrib(name, f"passwd/{name}", "u:p")}</section>')
    assert loaded.project is None
    assert "s3cret" not in "".join(map(str, loaded.findings))
    assert "handbook/passwd/http://a.example/" in "".join(map(str, loaded.findings))
