"""Public keys, which stand in pages of other sites: what they find, to whom they answer, and what they refuse."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from ultracrawl.cli.main import cli
from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.service.access.rates import TokenBuckets
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sites import origin_of
from ultracrawl.service.api import public_keys
from ultracrawl.service.pages.app import add_pages

if TYPE_CHECKING:
    import httpx
    from service.api.conftest import Api
    from support.in_process import InProcessWorkspace

DOCS = "https://docs.example.com"
FOREIGN = "https://evil.example"
PRIVATE = ("payroll", "secret-group", "Eve", "salaries", "kingfisher", "members")
DOCUMENTS = [
    IndexDocument("guide", "https://docs.example.com/heron", "Heron", "the heron waits", {"Author": ["Ann"]}),
    IndexDocument("guide", "https://docs.example.com/staff", "Staff heron", "heron members", acl=("staff",)),
    IndexDocument("payroll", "https://p.example/heron", "Heron salaries", "heron kingfisher", {"Author": ["Eve"]}),
    IndexDocument("area", "https://area.example/heron", "Heron members", "heron members", acl=("members",)),
]  # fmt: skip


class Keyed:
    """An API with a public source beside private ones, asked by public keys."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.key = api.store.create_token("docs", None, sites=[DOCS, "http://127.0.0.1:8000"])

    def ask(self, path: str = "search", /, *, origin: str | None = DOCS, **params: Any) -> httpx.Response:
        headers = {} if origin is None else {"Origin": origin}
        params = {"key": self.key, "q": "heron", **params}
        return self.api.ask("GET", f"/api/v1/{path}", role=None, headers=headers, params=params)


@pytest.fixture(params=["whoosh", "tantivy"])
def keyed(request: pytest.FixtureRequest, workspace: InProcessWorkspace) -> Keyed:
    from service.api.conftest import Api

    logins = {"a": {"page": "https://area.example/login", "fields": {"u": "x", "pw": "${PW}"}}}
    workspace.write(
        {
            "index": {"engine": request.param, "path": "var/index"},
            "search": {"group_names": {"guides": {"en": "Guides", "de": "Anleitungen"}}},
            "sources": {
                "guide": {"start_urls": [DOCS], "public": True, "groups": ["guides", "all"]},
                "payroll": {"start_urls": ["https://p.example/"], "groups": ["all", "secret-group"]},
                "area": {
                    "start_urls": ["https://area.example/"], "public": True, "acl": ["members"], "logins": logins,
                },
            },
        }
    )  # fmt: skip
    api = Api(workspace)
    index = open_index(api.project)
    index.apply(DOCUMENTS)
    index.close()
    return Keyed(api)


def test_a_key_finds_public_documents_of_public_sources_and_shows_no_more_than_a_box_needs(
    keyed: Keyed,
) -> None:
    answer = keyed.ask(language="en").json()
    assert answer.keys() == {"query", "total", "hits", "suggestion", "corrected"}
    (hit,) = answer["hits"]
    assert (answer["total"], hit["title"], hit["url"]) == (1, "Heron", "https://docs.example.com/heron")
    assert hit.keys() == {"title", "url", "snippet_html", "sections", "label"}
    assert hit["label"] == "Guides"
    assert keyed.ask(language="de").json()["hits"][0]["label"] == "Anleitungen"
    assert not any(name in json.dumps(answer) for name in PRIVATE)


def test_a_log_in_area_is_not_found_by_a_key(keyed: Keyed) -> None:
    for text in ("members", "heron members", "mem*", "area.example", "https://area.example/heron"):
        answer = keyed.ask(q=text).json()
        assert not any("area.example" in hit["url"] for hit in answer["hits"])
        assert not any("members" in json.dumps(hit) for hit in answer["hits"])
    assert keyed.ask("suggest", q="memb").json()["completions"] == []


def test_a_source_without_a_label_has_none(keyed: Keyed) -> None:
    definition = keyed.api.workspace.directory / "ultracrawl.yaml"
    definition.write_text(
        definition.read_text().replace("group_names", "attribute_names").replace("guides", "Author")
    )
    assert all("label" not in hit for hit in keyed.ask().json()["hits"])


@pytest.mark.parametrize("path", ["search", "suggest"])
def test_sources_and_groups_cannot_be_enumerated(keyed: Keyed, path: str) -> None:
    refusals = [
        keyed.ask(path, **{name: value})
        for name, value in [
            ("source", "payroll"), ("source", "no-such"), ("group", "secret-group"), ("group", "no-such"),
            ("index", "no-such"), ("index", "archive"),
        ]
    ]  # fmt: skip
    assert {answer.status_code for answer in refusals} == {400}
    assert len({answer.text for answer in refusals}) == 1
    assert keyed.ask(path, source="guide").status_code == 200
    assert keyed.ask(path, group="guides").status_code == 200


def test_a_group_with_private_sources_finds_the_public_ones(keyed: Keyed) -> None:
    assert [hit["url"] for hit in keyed.ask(group="all").json()["hits"]] == ["https://docs.example.com/heron"]
    assert [one["text"] for one in keyed.ask("suggest", q="her", group="all").json()["completions"]] == [
        "Heron"
    ]


def test_suggestions_tell_nothing_of_private_sources(keyed: Keyed) -> None:
    assert keyed.ask(q="kingfishre").json()["suggestion"] == ""
    assert keyed.ask(q="heorn").json()["suggestion"] == "heron"
    completions = keyed.ask("suggest", q="heron").json()["completions"]
    assert [one.keys() for one in completions] == [{"text", "url"}]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/documents?source=guide&url=https://docs.example.com/heron", "/api/v1/sources",
        "/api/v1/sources/guide/explain?url=https://docs.example.com/heron", "/api/v1/sources/guide/urls",
        "/api/v1/schedules", "/api/v1/openapi.json", "/metrics", "/", "/?q=heron",
    ],
)  # fmt: skip
def test_a_key_may_only_search(keyed: Keyed, path: str) -> None:
    add_pages(keyed.api.app)
    assert keyed.api.ask("GET", path, role=None, token=keyed.key).status_code == 403
    joined = f"{path}{'&' if '?' in path else '?'}key={keyed.key}"
    assert keyed.api.ask("GET", joined, role=None).status_code in {401, 303, 422}


@pytest.mark.parametrize("name", ["where", "all", "facet", "sort", "like", "explain", "principal"])
def test_other_parameters_are_refused(keyed: Keyed, name: str) -> None:
    assert keyed.ask(**{name: "Author=Eve"}).status_code == 400


@pytest.mark.parametrize(
    "params", [{"q": "a" * 201}, {"limit": 21}, {"offset": 201}, {"source": "x" * 300}, {"limit": 10**30}]
)
def test_large_orders_are_refused(keyed: Keyed, params: dict[str, Any]) -> None:
    assert keyed.ask(**params).status_code == 400


@pytest.mark.parametrize(
    "text", ["LastModifiedDate:abc", "Nothing:x", '"', "((((", "a* b* c* d* e* f*", "\x00", "*", "OR"]
)
def test_odd_and_dear_queries_are_answered_or_refused_without_a_reason(keyed: Keyed, text: str) -> None:
    answer = keyed.ask(q=text)
    assert answer.status_code in {200, 400}
    assert not any(name in answer.text for name in (*PRIVATE, "Author", "Size", "guide"))


def test_an_origin_that_is_named_may_read_the_answer(keyed: Keyed) -> None:
    for origin in (DOCS, "http://127.0.0.1:8000"):
        answer = keyed.ask(origin=origin)
        assert answer.headers["access-control-allow-origin"] == origin
        assert "Origin" in answer.headers["vary"]
        assert "access-control-allow-credentials" not in answer.headers
    refused = keyed.ask(where="x")
    assert refused.headers["access-control-allow-origin"] == DOCS, "the box sees why"
    without = keyed.ask(origin=None)
    assert without.status_code == 200
    assert "access-control-allow-origin" not in without.headers
    assert "Origin" in without.headers["vary"]


@pytest.mark.parametrize(
    "origin", [FOREIGN, "null", "https://docs.example.com.evil.example", "http://docs.example.com",
               "https://docs.example.com:8443", "https://DOCS.example.com", "*", "https://sub.docs.example.com"],
)  # fmt: skip
def test_a_site_that_was_not_named_is_refused_and_logged_once(
    keyed: Keyed, origin: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger=public_keys.__name__)
    for _ in range(3):
        answer = keyed.ask(origin=origin)
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers
        assert "hits" not in answer.text
    assert len([one for one in caplog.records if one.name == public_keys.__name__]) == 1
    assert keyed.key not in caplog.text


def test_preflight_is_answered_to_named_sites_alone(keyed: Keyed) -> None:
    def preflight(origin: str, path: str = "/api/v1/search") -> httpx.Response:
        headers = {
            "Origin": origin, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization",
        }  # fmt: skip
        return keyed.api.ask("OPTIONS", path, role=None, headers=headers)

    allowed = preflight(DOCS)
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == DOCS
    assert allowed.headers["access-control-allow-methods"] == "GET"
    assert allowed.headers["access-control-allow-headers"].lower() == "authorization"
    for refused in (preflight(FOREIGN), preflight("null"), preflight("")):
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers
    for path in ("/api/v1/sources", "/api/v1/documents", "/"):
        assert "access-control-allow-origin" not in preflight(DOCS, path).headers


def test_the_header_works_as_the_parameter_does(keyed: Keyed) -> None:
    asked = {"Authorization": f"Bearer {keyed.key}", "Origin": DOCS}
    answer = keyed.api.ask("GET", "/api/v1/search?q=heron", role=None, headers=asked)
    assert answer.json()["total"] == 1
    assert answer.headers["access-control-allow-origin"] == DOCS


def test_a_token_never_goes_in_the_url_and_no_other_site_reads_its_answers(keyed: Keyed) -> None:
    token = keyed.api.secrets[Role.READER]
    assert keyed.ask(key=token).status_code == 401
    headers = {"Authorization": f"Bearer {token}", "Origin": DOCS}
    answer = keyed.api.ask("GET", "/api/v1/search?q=heron", role=None, headers=headers)
    assert answer.json()["total"] > 1
    assert "access-control-allow-origin" not in answer.headers


def test_a_revoked_or_unknown_key_is_refused_and_shuts_nobody_out(keyed: Keyed) -> None:
    keyed.api.store.revoke_token("docs")
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/api/v1/search", {"params": {"q": "heron", "key": key}})
        for key in [keyed.key, "x", "uc_1_2"] * 10
    ]
    assert {one.status_code for one in keyed.api.ask_all(requests, role=None)} == {401}
    assert keyed.api.ask("GET", "/api/v1/sources", role=None).status_code == 401, "and not 429"


@pytest.mark.parametrize(("limit", "bucket"), [("of_addresses", "127.0.0.1"), ("of_keys", "docs")])
def test_one_address_and_one_key_are_limited(keyed: Keyed, limit: str, bucket: str) -> None:
    assert keyed.ask().status_code == 200
    buckets: TokenBuckets = getattr(keyed.api.app.state.api.public_keys, limit)
    for _ in range(700):
        buckets.take_token(bucket)
    answer = keyed.ask()
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["access-control-allow-origin"] == DOCS


def test_a_bucket_empties_and_fills_again() -> None:
    now = [0.0]
    buckets = TokenBuckets(3, 2.0, lambda: now[0], most=2)
    for _ in range(3):
        assert buckets.wait_of("a") == 0
        buckets.take_token("a")
    assert buckets.wait_of("a") == pytest.approx(0.5)
    assert buckets.wait_of("b") == 0
    now[0] = 0.5
    assert buckets.wait_of("a") == 0
    now[0] = 100
    for _ in range(3):
        buckets.take_token("a")
    assert buckets.wait_of("a") > 0, "it never holds more than its burst"
    for name in ("b", "c"):
        buckets.take_token(name)
    assert buckets.wait_of("a") == 0, "the longest unused one was forgotten"


@pytest.mark.parametrize(
    ("site", "origin"),
    [
        ("https://docs.example.com", "https://docs.example.com"),
        ("https://Docs.Example.com:443/", "https://docs.example.com"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://localhost:80", "http://localhost"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_sites_are_origins_as_browsers_write_them(site: str, origin: str) -> None:
    assert origin_of(site) == origin


@pytest.mark.parametrize(
    "site",
    ["", "docs.example.com", "https://", "*", "https://*.example.com", "null", "https://docs.example.com/guide/",
     "https://docs.example.com?x", "https://docs.example.com#x", "https://u:p@docs.example.com", "ftp://a.example",
     "file:///srv", "javascript:alert(1)", "https://docs.example.com\r\nSet-Cookie: a=b", "https://a.example\n",
     "https://a.example\thttps://b.example", " https://a.example", "https://a.example, https://b.example",
     "https://a.example:99999"],
)  # fmt: skip
def test_what_is_no_site_is_refused(site: str) -> None:
    with pytest.raises(UserError):
        origin_of(site)


def token(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    monkeypatch.chdir(folder)
    (folder / "ultracrawl.yaml").write_text("sources: {a: {start_urls: [https://a.example/], public: true}}")
    return CliRunner().invoke(cli, ["token", *words])


def test_the_command_makes_lists_and_revokes_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = (
        "--site",
        "https://Docs.example.com/",
        "--site",
        "https://b.example",
        "--site",
        "https://b.example:443",
    )
    made = token(tmp_path, monkeypatch, "create", "docs", "--public", *site, "--json")
    answer = json.loads(made.stdout)
    assert (made.exit_code, answer["role"]) == (0, None)
    assert answer["sites"] == ["https://docs.example.com", "https://b.example"]
    listed = json.loads(token(tmp_path, monkeypatch, "list", "--json").stdout)["tokens"]
    assert [(one["name"], one["role"], one["sites"]) for one in listed] == [("docs", None, answer["sites"])]
    assert answer["token"] not in token(tmp_path, monkeypatch, "list").stdout
    again = token(tmp_path, monkeypatch, "create", "docs", "--public", *site)
    assert isinstance(again.exception, UserError)
    assert token(tmp_path, monkeypatch, "revoke", "docs").exit_code == 0
    plain = token(tmp_path, monkeypatch, "create", "docs", "--public", *site)
    assert plain.exit_code == 0
    assert len(plain.stdout.split()) == 1, "what a script reads is the key alone"


@pytest.mark.parametrize(
    "words",
    [
        ["--public"], ["--site", DOCS], [], ["--public", "--site", DOCS, "--role", "reader"],
        ["--public", "--site", DOCS, "--principal", "staff"], ["--public", "--site", DOCS, "--all-principals"],
        ["--public", "--site", "https://a.example\r\nX: y"], ["--public", "--site", "docs.example.com"],
        ["--role", "reader", "--site", DOCS],
    ],
)  # fmt: skip
def test_options_that_do_not_fit_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    refused = token(tmp_path, monkeypatch, "create", "docs", *words)
    assert isinstance(refused.exception, UserError)
    assert refused.stdout == ""
    assert json.loads(token(tmp_path, monkeypatch, "list", "--json").stdout)["tokens"] == []


def test_a_word_that_is_being_typed_finds_those_that_begin_like_it(keyed: Keyed) -> None:
    assert keyed.ask(q="her").json()["total"] == 0
    answer = keyed.ask(q="the her", typing="true").json()
    assert (answer["total"], answer["query"]) == (1, "the her")
    assert keyed.ask(q="heorn", typing="true").json()["suggestion"] == "heron"
