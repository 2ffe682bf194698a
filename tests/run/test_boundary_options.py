"""Boundary and limits in real crawls: what is fetched when an option is off, and when it is on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from support.network import NetworkSite
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.sentences import sentence
from support.site import Site

HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")


class Hosts:
    """The same site under several host names and one port; pages link to `{b}/path` for the second host."""

    def __init__(self, stack: ExitStack) -> None:
        self.sites = {name: NetworkSite() for name in "abc"}
        first = stack.enter_context(self.sites["a"].serve())
        self.port = int(first.rpartition(":")[2])
        self.urls = {"a": first}
        for name, host in zip("bc", HOSTS[1:], strict=True):
            self.urls[name] = stack.enter_context(self.sites[name].serve(host=host, port=self.port))

    def page(self, place: str, *links: str, text: str = "needle") -> None:
        """Put a page at a place (`b/path`) that links to others."""
        name, _, path = place.partition("/")
        self.sites[name].page(f"/{path}", title=place, text=text, links=[self.url(link) for link in links])

    def url(self, place: str) -> str:
        name, slash, path = place.partition("/")
        return f"{self.urls[name]}{slash}{path}"

    def fetched(self) -> set[str]:
        """Return all places that were asked for, but robots.txt and the usual sitemap."""
        return {f"{name}{path}" for name, site in self.sites.items() for path in site.page_paths()}

    def reset(self) -> None:
        for site in self.sites.values():
            site.reset()


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    with ExitStack() as stack:
        yield Hosts(stack)


A, B, C = HOSTS
ALL = {"include": [{"prefix": "127.0.0."}]}
Rules = dict[str, Any]

# links of the start page a/, boundary, what is fetched besides it
BOUNDARIES: dict[str, tuple[list[str], Rules, set[str]]] = {
    "hosts of the start URLs by default": (["a/x", "b/x"], {}, {"a/x"}),
    "ultra_search_61-suffix": (["b/x", "c/x"], {"domains": {"include": [A, {"suffix": "0.0.2"}]}}, {"b/x"}),
    "ultra_search_62_63-exclusion wins": (["b/x", "c/x"], {"domains": {**ALL, "exclude": [B]}}, {"c/x"}),
    "ultra_search_64-prefix": (["b/x", "c/x"], {"domains": ALL}, {"b/x", "c/x"}),
    "ultra_search_65-every host": (["b/x"], {"domains": {"include": "*"}}, {"b/x"}),
    "ultra_search_66-all ports": (["a/x"], {"ports": ANY_PORT}, {"a/x"}),
    "ports excluded": (["b/x"], {"domains": ALL, "ports": {B: {"exclude": ["PORT"]}}}, set()),
    "ports included": (["b/x"], {"domains": ALL, "ports": {B: {"include": ["PORT"]}}}, {"b/x"}),
    "ultra_search_68-paths of one host": (
        ["a/p/1", "b/p/1"],
        {"domains": ALL, "paths": {B: {"exclude": ["/p/"]}}},
        {"a/p/1"},
    ),
    "ultra_search_69-paths are beginnings": (
        ["b/host/doc/a", "b/host/document", "b/host/other"],
        {"domains": ALL, "paths": {B: {"include": ["/host/doc"]}}},
        {"b/host/doc/a", "b/host/document"},
    ),
    "ultra_search_70-domain before path": (
        ["b/p/1"],
        {"domains": {"include": [A]}, "paths": {B: {"include": ["/p/"]}}},
        set(),
    ),
    "ultra_search_71-the example": (
        [
            "b/products/database/1",
            "b/products/ias/1",
            "b/products/ias/web_cache/1",
            "b/products/else",
            "a/all",
        ],
        {
            "domains": {"include": [A, B]},
            "paths": {
                B: {
                    "include": ["/products/database/", "/products/ias/"],
                    "exclude": ["/products/ias/web_cache/"],
                }
            },
        },
        {"b/products/database/1", "b/products/ias/1", "a/all"},
    ),
    "ultra_search_72-texts are no expressions": (
        ["a/a.c", "a/abc"],
        {"paths": {A: {"exclude": ["/a.c"]}}},
        {"a/abc"},
    ),
    "fast-combine all": (
        ["b/open/1", "b/x"],
        {"domains": {"include": [A]}, "uris": {"include": [{"regexp": ".*/open/.*"}, {"suffix": "/"}]}},
        set(),
    ),
    "fast_3_2-combine any": (
        ["b/open/1", "b/x", "a/x"],
        {"combine": "any", "domains": {"include": [A]}, "uris": {"include": [{"regexp": ".*/open/.*"}]}},
        {"b/open/1", "a/x"},
    ),
    "links to other hosts": (["a/x", "b/x"], {"domains": ALL}, {"a/x", "b/x"}),
    "fast_201-no links to other hosts": (
        ["a/x", "b/x"],
        {"domains": ALL, "other_hosts": {"links": False}},
        {"a/x"},
    ),
    "fast_201-a base of another host opens no door": (
        ["a/based"],
        {"domains": ALL, "other_hosts": {"links": False}},
        {"a/based"},
    ),
    "redirects to other hosts": (["a/to-b"], {"domains": ALL}, {"a/to-b", "b/x"}),
    "fast_202-no redirects to other hosts": (
        ["a/to-b"],
        {"domains": ALL, "other_hosts": {"redirects": False}},
        {"a/to-b"},
    ),
    "follow only": (
        ["a/x"],
        {"paths": {A: {"include": ["/x", "/to", "/"], "follow_only": ["/x"]}}},
        {"a/x"},
    ),
}


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ({}, set[str]()),
        ({"127.0.0.1": {"include": ["PORT", "OTHER"]}}, {"/linked", "/moved", "/listed", "/sitemap.xml"}),
        (ANY_PORT, {"/linked", "/moved", "/listed", "/sitemap.xml"}),
        ({"127.0.0.1": {"exclude": ["OTHER"]}}, {"/moved"}),
    ],
)
def test_a_crawl_keeps_to_the_ports_of_its_start_urls(
    site: NetworkSite, url: str, workspace: Workspace, ports: Rules, expected: set[str]
) -> None:
    other = NetworkSite()
    with other.serve() as elsewhere:
        for path in ("/linked", "/moved", "/listed"):
            other.page(path, title=path, text=f"words of {path}")
        other.sitemap("/sitemap.xml", ["/listed"])
        site.robots(f"Sitemap: {elsewhere}/sitemap.xml")
        site.page("/", title="Home", text="start", links=[f"{elsewhere}/linked", "/to"])
        site.redirect("/to", f"{elsewhere}/moved", status=302)
        numbers = {"PORT": _port(url), "OTHER": _port(elsewhere)}
        workspace.define(f"{url}/", boundary={"ports": _with_numbers(ports, numbers)})
        workspace.crawl()
    assert {one.path for one in other.requests} - {"/robots.txt"} == expected


@pytest.mark.parametrize(("links", "rules", "expected"), BOUNDARIES.values(), ids=BOUNDARIES)
def test_boundary(
    hosts: Hosts, workspace: Workspace, links: list[str], rules: Rules, expected: set[str]
) -> None:
    hosts.page("a/", *links)
    hosts.page("b/x")
    hosts.sites["a"].redirect("/to-b", hosts.url("b/x"), status=302)
    hosts.sites["a"].page("/based", title="Based", head=f'<base href="{hosts.url("b/")}">', links=["y"])
    workspace.define(hosts.url("a/"), boundary=_with_numbers(rules, {"PORT": hosts.port}))
    workspace.crawl()
    assert hosts.fetched() == expected | {"a/"}


def test_only_and_exclude_are_short_forms_for_all_hosts(site: Site, url: str, workspace: Workspace) -> None:
    for path in ("/docs/", "/docs/a", "/docs/old/b", "/other"):
        site.page(path, title=path, text="words", links=["/docs/a", "/docs/old/b", "/other", "/docs/"])
    workspace.define(f"{url}/docs/", only="/docs/", exclude=["/docs/old/"])
    workspace.crawl()
    assert site.page_paths() == {"/docs/", "/docs/a"}
    told = workspace.command("explain", f"{url}/docs/old/b").out
    assert "exclude path */docs/old/" in told
    workspace.define(f"{url}/docs/", exclude=["/docs/old/"])
    workspace.crawl("--force")
    assert site.page_paths() == {"/docs/", "/docs/a", "/other"}


def test_a_base_that_is_no_url_drops_no_link(site: Site, url: str, workspace: Workspace) -> None:
    """Links and META refresh are joined to the URL of the page then."""
    bad = '<base href="http://a:b/">'
    site.page("/", title="Home", text="start", head=bad, links=["linked", "moved"])
    site.page("/linked", title="Linked", text="first words")
    site.page(
        "/moved",
        title="Moved",
        text="other words",
        head=bad + '<meta http-equiv=refresh content="0;url=target">',
    )
    site.page("/target", title="Target", text="words of the target")
    workspace.define(f"{url}/")
    workspace.crawl()
    assert {"/linked", "/target"} <= set(site.paths())


def test_an_exclude_with_look_around_is_obeyed(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="start", links=["/public/a", "/secret"])
    site.page("/public/a", title="Public", text="words")
    site.page("/secret", title="Secret", text="words")
    workspace.define(f"{url}/", boundary={"uris": {"exclude": [{"regexp": url + "/(?!public/).+"}]}})
    workspace.crawl()
    assert set(site.page_paths()) == {"/", "/public/a"}
    linted = workspace.command("lint")
    assert "slower engine" in linted.out + linted.err


def _port(url: str) -> int:
    return int(url.rpartition(":")[2])


def _with_numbers(rules: Any, numbers: dict[str, int]) -> Any:
    if isinstance(rules, dict):
        return {key: _with_numbers(value, numbers) for key, value in rules.items()}
    if isinstance(rules, list):
        return [_with_numbers(value, numbers) for value in rules]
    return numbers.get(rules, rules) if isinstance(rules, str) else rules


DEPTHS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "no limit": ({}, {"a/", "a/2", "b/3", "b/4", "b/5"}),
    "ultra_search_75_76-every site": ({"depth": 2}, {"a/", "a/2", "b/3"}),
    "fast_case_20-without reset": ({"depth": 1}, {"a/", "a/2"}),
    "fast_case_21-with reset": (
        {"depth": 1, "boundary": {"other_hosts": {"reset_depth": True}}},
        {"a/", "a/2", "b/3", "b/4"},
    ),
}


@pytest.mark.parametrize(("options", "expected"), DEPTHS.values(), ids=DEPTHS)
def test_depth(hosts: Hosts, workspace: Workspace, options: dict[str, Any], expected: set[str]) -> None:
    hosts.page("a/", "a/2")
    hosts.page("a/2", "b/3")
    hosts.page("b/3", "b/4")
    hosts.page("b/4", "b/5")
    boundary = {"domains": ALL, **options.get("boundary", {})}
    workspace.define(hosts.url("a/"), **{**options, "boundary": boundary})
    workspace.crawl()
    assert hosts.fetched() == expected


def test_ultra_search_74_a_link_outside_is_logged_with_30027(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", "b/x", "b/x#again")
    workspace.define(hosts.url("a/"))
    ended = workspace.command("crawl", "-v")
    lines = [line for line in ended.err.splitlines() if "30027" in line]
    assert len(lines) == 1
    assert hosts.url("b/x") in lines[0]
    assert "no include domain matches" in lines[0]


def test_ultra_search_73_another_domain_drops_the_old_one(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", "a/x")
    hosts.page("a/x")
    hosts.page("b/", "b/y")
    hosts.page("b/y")
    workspace.define(hosts.url("a/"))
    workspace.crawl()
    hosts.reset()
    workspace.define(hosts.url("b/"))
    run = workspace.crawl().run
    assert hosts.fetched() == {"b/", "b/y"}, "nothing of the old domain is asked for"
    assert run["deleted"] == 2
    assert sorted(workspace.search("needle")) == ["/", "/y"]
    assert {row["access_url"] for row in workspace.urls().values()} == {hosts.url("b/"), hosts.url("b/y")}


@pytest.mark.parametrize(
    ("rules", "fetched"),
    [
        pytest.param({"domains": {"include": [B]}}, True, id="ultra_search_28-exempt"),
        pytest.param({"domains": {"include": [B]}, "start_urls_exempt": False}, False, id="not exempt"),
        pytest.param({"paths": {A: {"include": ["/docs/"]}}}, False, id="path rules hold for all"),
    ],
)
def test_start_urls_and_the_boundary(hosts: Hosts, workspace: Workspace, rules: Rules, fetched: bool) -> None:
    hosts.page("a/", "b/x")
    workspace.define(hosts.url("a/"), boundary=rules)
    code = 0 if fetched else 1
    run = workspace.crawl(code=code).run
    assert ("a/" in hosts.fetched()) is fetched
    assert sum(run["rejected_by"].values()) == (0 if fetched else 1)
    run = workspace.crawl(code=code).run
    assert (
        "a/" in {row["access_url"].replace(hosts.urls["a"], "a") for row in workspace.urls().values()}
    ) is fetched


@pytest.mark.parametrize("index_dynamic", [True, False])
def test_ultra_search_109_dynamic_pages(hosts: Hosts, workspace: Workspace, index_dynamic: bool) -> None:
    hosts.page("a/", "a/list?page=2")
    hosts.page("a/list?page=2", "a/child")
    hosts.page("a/child")
    workspace.define(hosts.url("a/"), boundary={"index_dynamic": index_dynamic})
    workspace.crawl()
    static = {"/", "/child"}
    assert set(workspace.search("needle")) == (static | {"/list?page=2"} if index_dynamic else static)
    workspace.define(hosts.url("a/"), boundary={"index_dynamic": not index_dynamic})
    workspace.crawl()
    assert set(workspace.search("needle")) == (static if index_dynamic else static | {"/list?page=2"})


# ---- rules in files


def test_rules_in_files(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", "a/x", "b/x", "c/x", "b/print")
    (workspace.directory / "hosts.txt").write_text(f"# ours\n{A}\nprefix 127.0.0.\n\n")
    (workspace.directory / "not.txt").write_text(f"{C}\n")
    (workspace.directory / "urls.txt").write_text("suffix /print\n")
    boundary = {
        "domains": {"include": [{"file": "hosts.txt"}], "exclude": {"file": "not.txt"}},
        "uris": {"exclude": [{"file": "urls.txt"}, {"suffix": "/x/y"}]},
    }
    workspace.define(hosts.url("a/"), boundary=boundary)
    run = workspace.crawl().run
    assert hosts.fetched() == {"a/", "a/x", "b/x"}
    assert run["rejected_by"] == {f"exclude domain exact {C}": 1, "exclude uri suffix /print": 1}
    (workspace.directory / "not.txt").write_text(f"{C}\n{B}\n")
    (planned,) = workspace.command("plan", "--json").json["sources"]
    assert planned["dropped_by"] == {f"exclude domain exact {B}": 1}, "another rule file is another scope"


def test_every_bad_line_is_a_finding_with_its_file_and_line(workspace: Workspace) -> None:
    (workspace.directory / "hosts.txt").write_text("a.example\nregexp (\n# ok\nipmask 1.2.3\n.b.example\n")
    workspace.define("https://a.example/", boundary={"domains": {"include": [{"file": "hosts.txt"}]}})
    ended = workspace.command("lint", "--json")
    assert ended.code == 2
    assert [(finding["file"], finding["line"]) for finding in ended.lines] == [
        ("hosts.txt", 2),
        ("hosts.txt", 4),
        ("hosts.txt", 5),
    ]
    assert "write `domain b.example`" in ended.lines[2]["problem"]


FILES: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, sentence("values.no_such_file")),
    "binary": (b"\x7fELF\0\0\xff", sentence("values.not_text_file")),
    "not UTF-8": (b"caf\xe9.example\n", "is not UTF-8"),
}


@pytest.mark.parametrize(("content", "problem"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("section", ["domains", "uris"])
def test_a_file_that_cannot_be_read_is_one_finding(
    workspace: Workspace, content: bytes | None, problem: str, section: str
) -> None:
    if content is not None:
        (workspace.directory / "rules.txt").write_bytes(content)
    workspace.define("https://a.example/", boundary={section: {"exclude": [{"file": "rules.txt"}]}})
    (finding,) = workspace.command("lint", "--json").lines
    assert finding["key"] == f"sources.site.boundary.{section}.exclude"
    assert "`rules.txt`" in finding["problem"]
    assert problem in finding["problem"]


def test_a_file_without_rules_is_advice(workspace: Workspace) -> None:
    (workspace.directory / "rules.txt").write_text("# nothing yet\n")
    workspace.define("https://a.example/", boundary={"domains": {"exclude": [{"file": "rules.txt"}]}})
    ended = workspace.command("lint", "--json")
    assert ended.code == 0
    (finding,) = ended.lines
    assert (finding["file"], finding["fatal"]) == ("rules.txt", False)


# ---- address masks


def test_masks_look_hosts_up(hosts: Hosts, workspace: Workspace) -> None:
    name = f"http://localhost:{hosts.port}"
    hosts.sites["a"].page(
        "/", title="Home", links=[f"{name}/by-name", hosts.url("b/x"), "http://no.invalid/"]
    )
    boundary = {**LOOPBACK, "domains": {"include": [{"mask": "127.0.0.0-1"}, {"mask": "::1/128"}]}}
    boundary["networks"] = ["127.0.0.0/8", "::1/128"]
    workspace.define(hosts.url("a/"), boundary=boundary)
    ended = workspace.command("lint", "--json")
    assert (ended.code, ended.lines) == (0, [])
    run = workspace.crawl().run
    assert hosts.fetched() == {"a/", "a/by-name"}
    assert run["rejected_by"] == {"no include domain matches": 2}
    explained = workspace.command("explain", f"{name}/by-name", "--json").json
    assert "include domain ipmask 127.0.0.0-1" in [one["rule"] for one in explained["decisions"]]


# ---- limits


def test_limits_pages_ends_the_run_and_the_next_one_goes_on(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", *(f"a/{number}" for number in range(10)))
    for number in range(10):
        hosts.page(f"a/{number}")
    workspace.define(hosts.url("a/"), limits={"pages": 4})
    seen: list[int] = []
    for expected in (4, 4, 3):
        run = workspace.crawl().run
        assert run["fetched"] == expected
        seen.append(sum(run["outcomes"].values()))
        assert run["problems"] == []
    assert seen == [4, 4, 3]
    assert hosts.sites["a"].counts().most_common(1)[0][1] <= 3, "robots.txt once a start, pages once"
    assert len(hosts.fetched()) == 11
    assert len(workspace.search("needle")) == 11
    assert workspace.crawl().run["resumed"] is False


def test_limits_pages_counts_what_was_answered(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", "a/broken", "a/1", "a/2", "a/3")
    hosts.sites["a"].raw("/broken", b"")
    for number in (1, 2, 3):
        hosts.page(f"a/{number}")
    workspace.define(hosts.url("a/"), limits={"pages": 3, "retries": 0})
    run = workspace.crawl().run
    assert run["fetched"] == 3
    assert run["outcomes"] == {"NETWORK_ERROR": 1, "NEW": 3}


def test_without_limits_all_is_fetched(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", *(f"a/{number}" for number in range(10)), "b/x")
    workspace.define(hosts.url("a/"), boundary={"domains": ALL})
    workspace.crawl()
    assert len(hosts.fetched()) == 12


def test_fast_11_pages_per_site(hosts: Hosts, workspace: Workspace) -> None:
    numbers = range(10)
    hosts.page("a/", "a/missing", *(f"a/{number}" for number in numbers), *(f"b/{n}" for n in numbers))
    for number in numbers:
        hosts.page(f"a/{number}", f"a/late{number}")
        hosts.page(f"b/{number}")
    workspace.define(hosts.url("a/"), boundary={"domains": ALL}, limits={"pages_per_site": 3})
    run = workspace.crawl().run
    assert sum(run["outcomes"].values()) == run["scheduled"]
    got = {name: [r for r in hosts.sites[name].requests if r.status == 200] for name in "ab"}
    assert {name: len([r for r in requests if "robots" not in r.path]) for name, requests in got.items()} == {
        "a": 3,
        "b": 3,
    }
    assert run["outcomes"]["NEW"] == 6
    assert run["outcomes"]["REJECTED"] == run["rejected_by"]["pages_per_site 3"]
    assert len(workspace.search("needle")) == 6
    hosts.reset()
    run = workspace.crawl().run
    assert run["outcomes"]["NOT_MODIFIED"] == 6, "the next run counts anew, in the same order"
    assert run["outcomes"].get("NEW", 0) == 0


def test_fast_11_pages_per_site_are_those_of_a_run_in_parts_too(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", *(f"a/{number}" for number in range(9)))
    for number in range(9):
        hosts.page(f"a/{number}")
    workspace.define(hosts.url("a/"), limits={"pages_per_site": 5, "pages": 2})
    runs = [workspace.crawl().run for _ in range(4)]
    assert [run["resumed"] for run in runs] == [False, True, True, False]
    assert [run["outcomes"].get("NEW", 0) for run in runs[:3]] == [2, 2, 1]
    assert runs[2]["outcomes"]["REJECTED"] == 5
    assert runs[3]["outcomes"] == {"NOT_MODIFIED": 2}, "the next run counts anew"


def test_documents_beyond_a_lower_limit_stay_in_the_index(hosts: Hosts, workspace: Workspace) -> None:
    hosts.page("a/", *(f"a/{number}" for number in range(5)))
    for number in range(5):
        hosts.page(f"a/{number}")
    workspace.define(hosts.url("a/"))
    workspace.crawl()
    workspace.define(hosts.url("a/"), limits={"pages_per_site": 2})
    run = workspace.crawl().run
    assert run["outcomes"] == {"NOT_MODIFIED": 2, "REJECTED": 4}
    assert run["deleted"] == 0
    assert len(workspace.search("needle")) == 6
    workspace.define(hosts.url("a/"))
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 6}
