"""Prefixes, challenges, Digest answers, the choice of credentials, encrypted passwords."""

from __future__ import annotations

import pytest
from requests.auth import HTTPDigestAuth
from support.sentences import sentence

from ultracrawl.errors import UserError
from ultracrawl.rules.access.challenge import Challenge, challenges_in
from ultracrawl.rules.access.cipher import PasswordCipher, new_key
from ultracrawl.rules.access.credentials import Credential, CredentialStore, Scheme, basic_answer
from ultracrawl.rules.access.digest import DigestSession, best_digest
from ultracrawl.rules.access.prefix import UrlPrefix

ALL = frozenset(Scheme)


@pytest.mark.parametrize(
    ("prefix", "url", "covered"),
    [
        pytest.param("https://a.example/staff/", "https://a.example/staff/", True, id="at"),
        pytest.param("https://a.example/staff/", "https://a.example/staff/x?y", True, id="below"),
        pytest.param("https://a.example/staff/", "https://a.example/staff", False, id="above"),
        pytest.param("https://a.example/staff", "https://a.example/staff?x", True, id="query"),
        pytest.param("https://a.example/staff", "https://a.example/staff/x", True, id="below-no-slash"),
        pytest.param(
            "https://a.example/staff", "https://a.example/staffroom", False, id="not-a-beginning-of-a-name"
        ),
        pytest.param("https://a.example", "https://a.example/x", True, id="host"),
        pytest.param("https://a.example/", "https://a.example:443/x", True, id="default-port"),
        pytest.param("https://A.example/", "https://a.EXAMPLE/x", True, id="case-of-host"),
        pytest.param("https://a.example/", "http://a.example/x", False, id="P4-scheme-downgrade"),
        pytest.param("https://a.example/", "https://a.example:8443/x", False, id="P4-port"),
        pytest.param("https://a.example/", "https://a.example.evil.example/", False, id="P4-longer-host"),
        pytest.param("https://a.example/", "https://b.a.example/", False, id="P4-subdomain"),
        pytest.param("https://a.example/", "https://a.example@evil.example/", False, id="P4-user-info"),
        pytest.param("https://a.example/s/", "https://a.example/s/../public", False, id="P4-dots"),
        pytest.param(
            "https://a.example/s/", "https://a.example/s/%2e%2E/public", False, id="P4-written-dots"
        ),
        pytest.param(
            "https://a.example/s/", "https://a.example\\s/x", True, id="backslash-as-browsers-read-it"
        ),
        pytest.param("http://[::1]:8080/", "http://[::1]:8080/x", True, id="ipv6"),
        pytest.param("https://a.example/x?a=1", "https://a.example/x?a=12", True, id="prefix-with-query"),
        pytest.param("https://a.example/", "not a url", False, id="no-url"),
    ],
)
def test_fast_177_what_a_prefix_covers(prefix: str, url: str, covered: bool) -> None:
    assert UrlPrefix.parse(prefix).covers(url) is covered


@pytest.mark.parametrize("text", ["", "staff", "ftp://a.example/", "https://u:p@a.example/", "//a.example/"])
def test_what_is_no_prefix(text: str) -> None:
    with pytest.raises(ValueError, match="it ") as caught:
        UrlPrefix.parse(text)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        pytest.param(['Basic realm="Staff"'], [("basic", {"realm": "Staff"}, "")], id="basic"),
        pytest.param(["NTLM", "Negotiate"], [("ntlm", {}, ""), ("negotiate", {}, "")], id="bare"),
        pytest.param(["NTLM TlRMTVNTUAAC=="], [("ntlm", {}, "TlRMTVNTUAAC==")], id="token"),
        pytest.param(["Negotiate abc="], [("negotiate", {}, "abc=")], id="token-like-a-parameter"),
        pytest.param(
            ['Digest realm="a, b=\\"c\\"", nonce=xyz,qop="auth,auth-int" , Basic realm=simple'],
            [
                ("digest", {"realm": 'a, b="c"', "nonce": "xyz", "qop": "auth,auth-int"}, ""),
                ("basic", {"realm": "simple"}, ""),
            ],
            id="several-in-one",
        ),
        pytest.param(['Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"'],
            [
                ("newauth", {"realm": "apps", "type": "1", "title": 'Login to "apps"'}, ""),
                ("basic", {"realm": "simple"}, ""),
            ], id="rfc9110-11.6.1"),
        pytest.param(["", ",,", "=x", '"', 'realm="x"'], [], id="none"),
        pytest.param(['Basic realm="a", realm="b"'], [("basic", {"realm": "a"}, "")], id="first-counts"),
    ],
)  # fmt: skip
def test_challenges(headers: list[str], expected: list[tuple[str, dict[str, str], str]]) -> None:
    assert [(one.scheme, dict(one.parameters), one.token) for one in challenges_in(headers)] == expected


def test_p7_a_hostile_challenge_is_read_in_linear_time() -> None:
    hostile = ['Digest realm="' + '\\"' * 200_000, "a=" * 100_000, "," * 200_000, "a " * 100_000]
    assert len(challenges_in(hostile)) < 5


def parameters(answer: str) -> dict[str, str]:
    (challenge,) = challenges_in([answer])
    return dict(challenge.parameters)


MUFASA = {
    "realm": "http-auth@example.org",
    "qop": "auth, auth-int",
    "nonce": "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
    "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
}
JAESOON = {
    "realm": "api@example.org",
    "qop": "auth",
    "algorithm": "SHA-512-256",
    "nonce": "5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK",
    "opaque": "HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS",
    "charset": "UTF-8",
    "userhash": "true",
}


@pytest.mark.parametrize(
    ("given", "cnonce", "expected"),
    [
        pytest.param(
            {**MUFASA, "algorithm": "MD5"},
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
            "8ca523f5e9506fed4657c9700eebdbec",
            id="3.9.1-MD5",
        ),
        pytest.param(
            {**MUFASA, "algorithm": "SHA-256"},
            "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
            "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
            id="3.9.1-SHA-256",
        ),
    ],
)
def test_rfc7616_examples(given: dict[str, str], cnonce: str, expected: str) -> None:
    session = DigestSession(Challenge("digest", given), "Mufasa", "Circle of Life", lambda: cnonce)
    answer = parameters(session.answer("GET", "/dir/index.html"))
    assert answer["response"] == expected
    assert (answer["username"], answer["nc"], answer["qop"]) == ("Mufasa", "00000001", "auth")
    assert answer["opaque"] == given["opaque"]


def test_rfc2617_example_without_a_named_algorithm() -> None:
    given = {
        "realm": "testrealm@host.com",
        "qop": "auth,auth-int",
        "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093",
        "opaque": "5ccc069c403ebaf9f0171e9517f40e41",
    }
    session = DigestSession(Challenge("digest", given), "Mufasa", "Circle Of Life", lambda: "0a4f113b")
    answer = parameters(session.answer("GET", "/dir/index.html"))
    assert answer["response"] == "6629fae49393a05397450978507c4ef1"
    assert "algorithm" not in answer


def test_rfc7616_user_names_are_hashed_on_request() -> None:
    session = DigestSession(Challenge("digest", JAESOON), "Jäsøn Doe", "Secret, or not?")
    answer = parameters(session.answer("GET", "/doe.json"))
    assert answer["userhash"] == "true"
    assert answer["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b"


def of_requests(given: dict[str, str], target: str, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Return answer and client nonce of the library requests."""
    peer = HTTPDigestAuth("user", "päss:word")
    peer.init_per_thread_state()
    peer._thread_local.chal = given
    monkeypatch.setattr("requests.auth.os.urandom", lambda n: b"x" * n)
    header = peer.build_digest_header("GET", f"http://a.example{target}")
    assert header is not None
    answer = parameters(header)
    return answer["response"], answer.get("cnonce", "")


@pytest.mark.parametrize(
    ("algorithm", "qop"),
    [("MD5", "auth"), ("SHA-256", "auth"), ("MD5-SESS", "auth"), (None, "auth"), ("MD5", ""), (None, "")],
)
@pytest.mark.parametrize("target", ["/", "/a/b?c=d&e", "/%C3%A4"])
def test_answers_are_those_of_requests(
    algorithm: str | None, qop: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"realm": "r", "nonce": "n1"}
    given |= {"algorithm": algorithm} if algorithm else {}
    given |= {"qop": qop} if qop else {}
    response, cnonce = of_requests({**given}, target, monkeypatch)
    ours = DigestSession(Challenge("digest", given), "user", "päss:word", lambda: cnonce)
    assert parameters(ours.answer("GET", target))["response"] == response


def test_each_answer_for_a_nonce_counts() -> None:
    session = DigestSession(Challenge("digest", MUFASA), "u", "p")
    counts = [parameters(session.answer("GET", "/"))["nc"] for _ in range(3)]
    assert counts == ["00000001", "00000002", "00000003"]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        pytest.param([{"algorithm": "MD5"}, {"algorithm": "SHA-256"}], "SHA-256", id="strongest"),
        pytest.param([{"algorithm": "SHA-1"}], None, id="unknown-algorithm"),
        pytest.param([{"algorithm": "md5", "qop": "auth-other"}], None, id="unknown-quality"),
        pytest.param([{"algorithm": "SHA-256-sess"}], "SHA-256-sess", id="session"),
        pytest.param([{"algorithm": "MD5", "nonce": None}], None, id="no-nonce"),
    ],
)
def test_which_digest_is_answered(offered: list[dict[str, str | None]], chosen: str | None) -> None:
    def challenge(given: dict[str, str | None]) -> Challenge:
        return Challenge("digest", {k: v for k, v in {"nonce": "n", **given}.items() if v is not None})

    best = best_digest(map(challenge, offered))
    assert (best and best.parameters["algorithm"]) == chosen


def credential(
    name: str, url: str, scheme: str = "auto", realm: str = "", *, by_realm: bool = False
) -> Credential:
    return Credential(name, (UrlPrefix.parse(url),), Scheme(scheme), "u", "p", realm, by_realm)


BOOK = CredentialStore([
    credential("realm", "https://a.example/", realm="Staff", by_realm=True),
    credential("site", "https://a.example/"),
    credential("deep", "https://a.example/staff/reports/"),
    credential("staff", "https://a.example/staff/"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("url", "names"),
    [
        pytest.param(
            "https://a.example/staff/reports/1", ["deep", "staff", "site", "realm"], id="longest-first"
        ),
        pytest.param("https://a.example/staff/", ["staff", "site", "realm"], id="realm-names-last"),
        pytest.param("https://b.example/staff/", [], id="another-host"),
    ],
)
def test_fast_177_the_longest_prefix_wins(url: str, names: list[str]) -> None:
    assert [one.name for one in BOOK.covering(url)] == names


OFFERS = {
    "all": ['Basic realm="R"', 'Digest realm="R", nonce="n"', "NTLM"],
    "basic": ['Basic realm="R"'],
    "digest+basic": ['Basic realm="R"', 'Digest realm="R", nonce="n"'],
    "bearer": ['Bearer realm="R"'],
}


@pytest.mark.parametrize(
    ("scheme", "realm", "offer", "chosen"),
    [
        pytest.param("auto", "", "all", "ntlm", id="fast_177-auto-ntlm-first"),
        pytest.param("auto", "", "digest+basic", "digest", id="fast_177-auto-digest-second"),
        pytest.param("auto", "", "basic", "basic", id="fast_177-auto-basic-last"),
        pytest.param("digest", "", "basic", None, id="no-downgrade-to-basic"),
        pytest.param("basic", "", "all", "basic", id="basic"),
        pytest.param("auto", "R", "basic", "basic", id="ultra_search_104-its-realm"),
        pytest.param("auto", "S", "basic", None, id="ultra_search_104-another-realm"),
        pytest.param("auto", "", "bearer", None, id="unknown-scheme"),
    ],
)
def test_which_challenge_is_answered(scheme: str, realm: str, offer: str, chosen: str | None) -> None:
    found = credential("c", "https://a.example/", scheme, realm).challenge(challenges_in(OFFERS[offer]), ALL)
    assert (found and found.scheme) == chosen


def test_rfc7617_example() -> None:
    assert basic_answer("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert basic_answer("test", "123£") == "Basic dGVzdDoxMjPCow=="


def test_a_credential_does_not_show_its_password() -> None:
    shown = repr(Credential("c", (), Scheme.AUTO, "u", "very-secret"))
    assert "very-secret" not in shown


def test_passwords_are_encrypted_and_decrypted() -> None:
    key = new_key()
    cipher = PasswordCipher.of_text(key + "\n")
    sealed = [cipher.encrypt("geheim: ä") for _ in range(2)]
    assert sealed[0] != sealed[1]
    assert all(text.startswith("{aes}") and "geheim" not in text for text in sealed)
    assert [PasswordCipher.of_text(key).decrypt(text) for text in sealed] == ["geheim: ä"] * 2


@pytest.mark.parametrize("text", ["{aes}", "{aes}AAAA", "{aes}not base64!", "changed", "other-key"])
def test_what_cannot_be_decrypted_says_so_without_the_text(text: str) -> None:
    cipher = PasswordCipher.of_text(new_key())
    sealed = PasswordCipher.of_text(new_key()).encrypt("x") if text == "other-key" else text
    if text == "changed":
        good = cipher.encrypt("x")
        sealed = good[:-3] + ("A" if good[-3] != "A" else "B") + good[-2:]
    with pytest.raises(UserError, match=sentence("access.another_key_text_changed")) as caught:
        cipher.decrypt(sealed)
    assert sealed[5:] not in str(caught.value) or not sealed[5:]


@pytest.mark.parametrize("text", ["", "short", "00" * 15, "zz" * 16, "AAAA"])
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(UserError, match="secret new-key"):
        PasswordCipher.of_text(text)
