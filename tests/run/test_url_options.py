"""The `urls` section in real crawls: what is fetched when an option is off, and when it is on."""

from __future__ import annotations

from typing import Any

import pytest
from support.project import Workspace
from support.sentences import sentence
from support.site import Site


def fetched(site: Site) -> set[str]:
    return site.page_paths()


CASES: dict[str, tuple[dict[str, Any], list[str], set[str]]] = {
    "fast_8-parameters as written": ({}, ["/p?b=2&a=1", "/p?a=1&b=2"], {"/p?b=2&a=1", "/p?a=1&b=2"}),
    "fast_8-parameters sorted": (
        {"normalise": "query_order"},
        ["/p?b=2&a=1&b=1", "/p?a=1&b=2&b=1"],
        {"/p?a=1&b=2&b=1"},
    ),
    "parameters kept": ({}, ["/p?sid=1", "/p?sid=2"], {"/p?sid=1", "/p?sid=2"}),
    "parameters removed by name": (
        {"remove_params": ["print", "v_*"]},
        ["/p?print=1", "/p?v_x=2", "/p?a=1&PRINT=1"],
        {"/p", "/p?a=1"},
    ),
    "list of session parameters": ({"normalise": "session_ids"}, ["/p;jsessionid=1A", "/p?sid=2"], {"/p"}),
    "list of tracking parameters": (
        {"normalise": ["tracking"]},
        ["/p?utm_source=x&gclid=1", "/p?sid=2"],
        {"/p", "/p?sid=2"},
    ),
    "session in the path": ({"normalise": "session_ids"}, ["/(S(0a))/p", "/(S(1b))/p"], {"/p"}),
    "double slashes": ({"normalise": ["double_slashes"]}, ["/a//b", "/a/b"], {"/a/b"}),
    "index pages": ({"normalise": "index_pages"}, ["/a/index.html", "/a/", "/a/default.asp"], {"/a/"}),
    "trailing slash": ({"normalise": "trailing_slash"}, ["/a/b/", "/a/b"], {"/a/b"}),
    "order of listings": ({"normalise": "listing_order"}, ["/f/?C=M;O=A", "/f/?C=N;O=D", "/f/"], {"/f/"}),
    "empty query": ({"normalise": "empty_query"}, ["/e?&", "/e", "/e?&a=1&", "/e?a=1"], {"/e", "/e?a=1"}),
    "no step": ({}, ["/a//b", "/a/b/", "/e?&", "/e"], {"/a//b", "/a/b/", "/e?&", "/e"}),
    "fast_9-max_uri_recursion 5 by default": ({}, ["/a/a/a/a/a", "/a/a/a/a/a/a"], {"/a/a/a/a/a"}),
    "fast_9-max_uri_recursion 1": ({"max_uri_recursion": 1}, ["/widget", "/widget/widget"], {"/widget"}),
    "fast_9-max_uri_recursion 2": (
        {"max_uri_recursion": 2},
        ["/a/b/a/b", "/a/b/a/b/a/b", "/a/x/a/x/b/a"],
        {"/a/b/a/b", "/a/x/a/x/b/a"},
    ),
    "fast_9-max_uri_recursion off": ({"max_uri_recursion": 0}, ["/a/a/a/a/a/a"], {"/a/a/a/a/a/a"}),
    "fast_7-rewrite rules off": ({}, ["/old/1", "/x/index.html"], {"/old/1", "/x/index.html"}),
    "fast_7-rewrite rules in order": (
        {"rewrite_rules": ["#/old/#/newer/#", "#/newer/#/new/#", r"@/index\.html$@/@"]},
        ["/old/1", "/x/index.html", "/y"],
        {"/new/1", "/x/", "/y"},
    ),
    "fast_7_8-sorted after rewriting": (
        {"rewrite_rules": "#/old/#/new/#", "normalise": ["query_order"]},
        ["/old/p?b=2&a=1&b=1"],
        {"/new/p?a=1&b=2&b=1"},
    ),
    "fast_7-groups": (
        {"rewrite_rules": [r"@^(https?://[^/]+/.*);sid=[0-9a-f]+@\1@"]},
        ["/p;sid=0a", "/p;sid=ff"],
        {"/p"},
    ),
}


@pytest.mark.parametrize(("urls", "links", "expected"), CASES.values(), ids=CASES)
def test_option(
    site: Site, url: str, workspace: Workspace, urls: dict[str, Any], links: list[str], expected: set[str]
) -> None:
    site.page("/", title="Home", links=links)
    workspace.define(f"{url}/", urls=urls)
    run = workspace.crawl().run
    assert fetched(site) == expected | {"/"}
    assert run["scheduled"] == len(expected) + 1


def test_rewrite_rules_hold_for_start_urls_and_redirect_targets(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/start/", title="Home", links=["/moved"])
    site.redirect("/moved", "/old/target")
    site.page("/new/target", title="Target", text="needle")
    workspace.define(f"{url}/begin", urls={"rewrite_rules": ["@/begin$@/start/@", "@/old/@/new/@"]})
    workspace.crawl()
    assert fetched(site) == {"/start/", "/moved", "/new/target"}


def test_the_length_limit_is_counted_under_its_rule(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/short", f"/{'x' * 200}", "mailto:me@example.com"])
    workspace.define(f"{url}/", limits={"url_length": 100})
    run = workspace.crawl().run
    assert fetched(site) == {"/", "/short"}
    assert run["rejected_by"] == {"URL too long": 1}


def test_urls_that_have_another_form_now_leave_and_come_back_in_it(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", links=["/p?sid=1", "/q"])
    site.page("/p?sid=1", title="P", text="needle")
    site.page("/p", title="P", text="needle")
    site.page("/q", title="Q", text="needle")
    workspace.define(f"{url}/")
    workspace.crawl()
    assert sorted(workspace.search("needle")) == ["/p?sid=1", "/q"]
    workspace.define(f"{url}/", urls={"normalise": "session_ids"})
    run = workspace.crawl().run
    assert sorted(workspace.search("needle")) == ["/p", "/q"]
    assert run["rejected_by"] == {sentence("urls.other_canonical_form"): 1}
    assert run["deleted"] == 1
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 3}


def test_a_server_that_wants_the_last_slash_gets_it(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/docs/", "/docs", "/round"])
    site.redirect("/docs", "/docs/")
    site.page("/docs/", title="Docs", text="needle", links=["page"])
    site.page("/docs/page", title="Page", text="needle")
    site.redirect("/round", "/round/")
    site.redirect("/round/", "/round")
    workspace.define(f"{url}/", urls={"normalise": "trailing_slash"})
    first = workspace.crawl().run
    assert sorted(workspace.search("needle")) == ["/docs", "/docs/page"]
    assert first["outcomes"] == {"NEW": 3, "REJECTED": 1}
    assert site.count("/round/") == 1
    for _ in range(2):
        again = workspace.crawl().run
        assert again["outcomes"] == {"NOT_MODIFIED": 3, "REJECTED": 1}
        assert again["deleted"] == 0


def test_single_sites_have_steps_of_their_own(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", links=["/a/?&", "/b?x=1&y=2"])
    host = url.removeprefix("http://")
    own = {
        "other.example": {"urls": {"normalise": "empty_query"}},
        host: {"urls": {"normalise": "trailing_slash"}},
    }
    workspace.define(
        f"{url}/", urls={"normalise": "empty_query", "remove_params": "y"}, sites={"overrides": own}
    )
    workspace.crawl()
    assert fetched(site) == {"/", "/a?&", "/b?x=1"}
    own[host]["urls"] = {"normalise": ["trailing_slash", "empty_query"]}
    workspace.define(f"{url}/", urls={"remove_params": "y"}, sites={"overrides": own})
    run = workspace.crawl().run
    assert run["rejected_by"] == {sentence("urls.other_canonical_form"): 1}
    assert site.count("/a") == 1


def test_steps_that_are_none_are_findings(workspace: Workspace) -> None:
    workspace.define(
        "https://a.example/",
        urls={"normalise": ["trailing_slashes", "www"], "remove_params": ["session", "x"]},
        sites={"overrides": {"a.example": {"urls": {"max_uri_recursion": 1}}}},
    )
    found = {one["key"]: one for one in workspace.command("lint", "--json").lines}
    assert found.keys() == {
        "sources.site.urls.normalise",
        "sources.site.urls.remove_params",
        "sources.site.sites.overrides.a.example.urls.max_uri_recursion",
    }
    assert "trailing_slash" in found["sources.site.urls.normalise"]["instead"]
    assert "session_ids" in found["sources.site.urls.remove_params"]["instead"]


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_documents_stay_until_their_new_form_is_answered(
    site: Site, url: str, workspace: Workspace, engine: str
) -> None:
    names = [f"/p{number}/" for number in range(30)]
    site.page("/", title="Home", links=names)
    for name in names:
        site.page(name, title=name, text=f"needle {name * 2}")

    def define(**urls: Any) -> None:
        workspace.write(
            {"index": {"engine": engine}, "sources": {"site": {"start_urls": [f"{url}/"], **urls}}}
        )

    define()
    workspace.crawl()
    define(urls={"normalise": "trailing_slash"})
    for _ in range(3):  # the server knows no page without the slash
        run = workspace.crawl(code=1).run
        assert run["deleted"] == 0
        assert sorted(workspace.search("needle")) == sorted(names)
    define()
    run = workspace.crawl().run
    assert (run["deleted"], run["problems"]) == (0, [])
    assert sorted(workspace.search("needle")) == sorted(names)
    for name in names:
        site.page(name[:-1], title=name, text=f"needle {name * 2}")
    define(urls={"normalise": "trailing_slash"})
    assert workspace.crawl().run["deleted"] == 30
    assert sorted(workspace.search("needle")) == sorted(name[:-1] for name in names)
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 31}


BAD = {
    "two separators": ("'@a@b'", "separator three times", "'@pattern@replacement@'"),
    "bad expression": ("'@(@b@'", "cannot be used", "RE2"),
    "look-around": ("'@(?=a)@b@'", "cannot be used", "RE2"),
    "no such group": (r"'@(a)@\2@'", "names \\2, the pattern has 1 groups", "RE2"),
    "number": ("5", "is not a rewrite rule", "in quotes"),
}


def test_every_bad_rule_is_a_finding_of_its_own(workspace: Workspace) -> None:
    lines = "".join(f"        - {text}\n" for text, _, _ in BAD.values())
    (workspace.directory / "ultracrawl.yaml").write_text(
        f"sources:\n  a:\n    start_urls: [https://a.example/]\n    urls:\n      rewrite_rules:\n{lines}"
    )
    ended = workspace.command("lint", "--json")
    assert ended.code == 2
    assert [finding["line"] for finding in ended.lines] == list(range(6, 6 + len(BAD)))
    for finding, (_, problem, instead) in zip(ended.lines, BAD.values(), strict=True):
        assert problem in finding["problem"]
        assert instead in finding["instead"]


@pytest.mark.parametrize("name", ["a b", "*", "a=b", "x*y"])
def test_a_bad_parameter_name_is_a_finding(workspace: Workspace, name: str) -> None:
    workspace.define("https://a.example/", urls={"remove_params": ["ok", name]})
    (finding,) = workspace.command("lint", "--json").lines
    assert finding["key"] == "sources.site.urls.remove_params"
    assert f"`{name}`" in finding["problem"]


def test_explain_shows_canonical_form_and_rewriting(site: Site, url: str, workspace: Workspace) -> None:
    workspace.define(
        f"{url}/", urls={"rewrite_rules": ["@/old/@/new/@"], "normalise": ["session_ids"]}, depth=3
    )
    explained = workspace.command("explain", f"{url}/old/x?sid=1", "--json").json
    assert explained["canonical_url"] == f"{url}/new/x"
    assert explained["decisions"][0]["stage"] == "rewrite"
    assert f"becomes {url}/new/x" in explained["decisions"][0]["reason"]
    assert explained["decisions"][1] == {
        "stage": "url",
        "rule": "normalise session_ids",
        "accept": True,
        "reason": f"{url}/new/x",
    }
    assert [one["stage"] for one in explained["decisions"]][2:] == [
        "scheme",
        "recursion",
        "depth",
        "domain",
        "port",
        "address",
        "robots",
    ]
    trap = workspace.command("explain", f"{url}/a/a/a/a/a/a", "--json").json
    assert trap["accept"] is False
    assert "max_uri_recursion 5" in [one["rule"] for one in trap["decisions"] if not one["accept"]]
