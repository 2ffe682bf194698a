"""Boundary rules: tables from the checklists, and agreement of the hot path with the explained answer."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.sentences import sentence

from ultracrawl.model import LinkKind
from ultracrawl.model.candidate import Candidate
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.boundary.origin import MAX_LEFT_PORTS
from ultracrawl.rules.boundary.paths import UNUSUAL_PORT
from ultracrawl.rules.boundary.rules import (
    Action,
    BoundaryRules,
    Combine,
    CrawlMode,
    DomainRule,
    Kind,
    PathRules,
    PatternError,
    PortRules,
    RuleError,
    UriRule,
)

OUT = Action.EXCLUDE
FOLLOW = Action.FOLLOW_ONLY


def suffix(text: str, action: Action = Action.INCLUDE) -> DomainRule:
    return DomainRule(Kind.SUFFIX, text, action)


ORACLE = BoundaryRules(domains=(suffix("oracle.com"), suffix("uk.oracle.com", OUT)))
EXAMPLE_9_3 = BoundaryRules(
    domains=(suffix("www.oracle.com"), suffix("otn.oracle.com")),
    paths=(
        PathRules("otn.oracle.com", ("/products/database/", "/products/ias/"), ("/products/ias/web_cache/",)),
    ),
)
FAST_7 = BoundaryRules(
    domains=(suffix(".example.com"),),
    uris=(UriRule(Kind.PREFIX, "https://other.example.org/open/"),),
    combine=Combine.ANY,
)
FAST_8 = replace(FAST_7, uris=(*FAST_7.uris, UriRule(Kind.PREFIX, "https://www.example.com/drafts/", OUT)))
ONLY_DOCS = BoundaryRules(paths=(PathRules("*", ("/docs/",), option="only"),))
NO_DOMAIN = "no include domain matches"
NEITHER = "no include domain or uri matches"
UK = "exclude domain suffix uk.oracle.com"
OTN = "no include path of otn.oracle.com matches"
CACHE = "exclude path otn.oracle.com/products/ias/web_cache/"

RULES = [
    ("ultra_search_61 in", ORACLE, "http://otn.oracle.com/", None),
    ("ultra_search_61 out", ORACLE, "http://www.oracle.com.tw/", NO_DOMAIN),
    ("ultra_search_61 plain text", ORACLE, "http://notoracle.com/", None),
    ("ultra_search_62", ORACLE, "http://www.uk.oracle.com/", UK),
    (
        "ultra_search_63 domain",
        BoundaryRules(domains=(suffix("a.b"), suffix("a.b", OUT))),
        "http://a.b/",
        "exclude domain suffix a.b",
    ),
    (
        "ultra_search_63 path",
        BoundaryRules(paths=(PathRules("a.b", ("/x",), ("/x",)),)),
        "http://a.b/x",
        "exclude path a.b/x",
    ),
    ("ultra_search_64", BoundaryRules(domains=(DomainRule(Kind.PREFIX, "www."),)), "http://www.a.b/", None),
    (
        "ultra_search_64 out",
        BoundaryRules(domains=(DomainRule(Kind.PREFIX, "www."),)),
        "http://ww.a.b/",
        NO_DOMAIN,
    ),
    ("ultra_search_65", BoundaryRules(domains=(suffix("x.y", OUT),)), "http://any.example/", None),
    ("ultra_search_66", BoundaryRules(), "http://any.example:8081/", None),
    ("ultra_search_68", EXAMPLE_9_3, "http://www.oracle.com/products/ias/web_cache/", None),
    (
        "ultra_search_69 child",
        BoundaryRules(paths=(PathRules("h", ("/host/doc",)),)),
        "http://h/host/doc/a",
        None,
    ),
    (
        "ultra_search_69 text",
        BoundaryRules(paths=(PathRules("h", ("/host/doc",)),)),
        "http://h/host/document",
        None,
    ),
    (
        "ultra_search_70",
        BoundaryRules(domains=(suffix("a.b"),), paths=(PathRules("c.d", ("/x",)),)),
        "http://c.d/x",
        NO_DOMAIN,
    ),
    ("ultra_search_71 www", EXAMPLE_9_3, "http://www.oracle.com/anything", None),
    ("ultra_search_71 database", EXAMPLE_9_3, "http://otn.oracle.com/products/database/a", None),
    ("ultra_search_71 ias", EXAMPLE_9_3, "http://otn.oracle.com/products/ias/a", None),
    ("ultra_search_71 web_cache", EXAMPLE_9_3, "http://otn.oracle.com/products/ias/web_cache/a", CACHE),
    ("ultra_search_71 other", EXAMPLE_9_3, "http://otn.oracle.com/support", OTN),
    ("the option that people wrote", ONLY_DOCS, "http://h/support", "no path of `only` matches"),
    (
        "ultra_search_72 domain",
        BoundaryRules(domains=(suffix(".*oracle.com"),)),
        "http://www.oracle.com/",
        NO_DOMAIN,
    ),
    ("ultra_search_72 path", BoundaryRules(paths=(PathRules("h", (), ("/a.c",)),)), "http://h/abc", None),
    (
        "path with query",
        BoundaryRules(paths=(PathRules("h", (), ("/a?x=",)),)),
        "http://h/a?x=1",
        "exclude path h/a?x=",
    ),
    ("path case counts", BoundaryRules(paths=(PathRules("h", (), ("/A",)),)), "http://h/a", None),
    (
        "path in any spelling",
        BoundaryRules(paths=(PathRules("H.", (), ("/ü%7e",)),)),
        "http://h/%C3%BC~x",
        "exclude path H./ü%7e",
    ),
    (
        "path of every host",
        BoundaryRules(paths=(PathRules("*", (), ("/tmp/",)),)),
        "http://h/tmp/x",
        "exclude path */tmp/",
    ),
    (
        "own and every host",
        BoundaryRules(paths=(PathRules("*", (), ("/t",)), PathRules("h", ("/a",)))),
        "http://h/t",
        "exclude path */t",
    ),
    ("port included", BoundaryRules(ports=(PortRules("h", frozenset({80})),)), "http://h/", None),
    (
        "port not included",
        BoundaryRules(ports=(PortRules("h", frozenset({80})),)),
        "http://h:81/",
        "no include port of h matches",
    ),
    (
        "port excluded",
        BoundaryRules(ports=(PortRules("h", exclude=frozenset({443})),)),
        "https://h/",
        "exclude port h:443",
    ),
    ("port of another host", BoundaryRules(ports=(PortRules("h", frozenset({80})),)), "http://g:81/", None),
    ("scheme", BoundaryRules(schemes=frozenset({"HTTP"})), "https://h/", "schemes http"),
    ("ftp", BoundaryRules(), "ftp://h/x", "schemes http https"),
    ("file", BoundaryRules(schemes=frozenset({"file"})), "file:///etc/passwd", None),
    (
        "fast_vector_4 tar",
        BoundaryRules(exclude_extensions=(".png", "zip, .TAR")),
        "http://h/a/b.tar?x=1",
        "exclude extension .tar",
    ),
    (
        "fast_vector_4 png",
        BoundaryRules(exclude_extensions=(".png", "zip, .TAR")),
        "http://h/A.PNG",
        "exclude extension .png",
    ),
    (
        "fast_vector_4 inside",
        BoundaryRules(exclude_extensions=(".png", "zip, .TAR")),
        "http://h/a.png/b",
        None,
    ),
    (
        "extension of two",
        BoundaryRules(exclude_extensions=("tar.gz",)),
        "http://h/x.1.tar.gz",
        "exclude extension .tar.gz",
    ),
    ("extension in the query", BoundaryRules(exclude_extensions=("png",)), "http://h/x?f=.png", None),
    ("fast_vector_5", BoundaryRules(max_uri_recursion=1), "http://h/widget/widget", "max_uri_recursion 1"),
    ("fast_vector_7 domain", FAST_7, "https://www.example.com/x", None),
    ("fast_vector_7 uri", FAST_7, "https://other.example.org/open/1", None),
    ("fast_vector_7 neither", FAST_7, "https://other.example.org/x", NEITHER),
    ("fast_vector_7 no label", FAST_7, "https://example.com/", NEITHER),
    (
        "fast_vector_8",
        FAST_8,
        "https://www.example.com/drafts/1",
        "exclude uri prefix https://www.example.com/drafts/",
    ),
    (
        "all: uri also needed",
        replace(FAST_7, combine=Combine.ALL),
        "https://www.example.com/x",
        "no include uri matches",
    ),
    (
        "fast_vector_9 in",
        BoundaryRules(domains=(DomainRule(Kind.REGEXP, r"www\..*\.com"),)),
        "http://www.a.com/",
        None,
    ),
    (
        "fast_vector_9 longer",
        BoundaryRules(domains=(DomainRule(Kind.REGEXP, r"www\..*\.com"),)),
        "http://www.a.com.example/",
        NO_DOMAIN,
    ),
    (
        "fast_vector_9 before",
        BoundaryRules(domains=(DomainRule(Kind.REGEXP, r"WWW\..*\.com"),)),
        "http://xwww.a.com/",
        NO_DOMAIN,
    ),
    (
        "host case and dot",
        BoundaryRules(domains=(DomainRule(Kind.EXACT, "WWW.Example.COM."),)),
        "http://www.example.com/",
        None,
    ),
    (
        "international host",
        BoundaryRules(domains=(suffix(".bücher.example"),)),
        "http://a.xn--bcher-kva.example/",
        None,
    ),
    ("domain itself", BoundaryRules(domains=(DomainRule(Kind.DOMAIN, "*.a.b"),)), "http://a.b/", None),
    ("domain below", BoundaryRules(domains=(DomainRule(Kind.DOMAIN, "a.b"),)), "http://x.a.b:81/", None),
    (
        "domain at a label",
        BoundaryRules(domains=(DomainRule(Kind.DOMAIN, "a.b"),)),
        "http://xa.b/",
        NO_DOMAIN,
    ),
    ("uri exact, normalised", BoundaryRules(uris=(UriRule(Kind.EXACT, "HTTP://H:80#x"),)), "http://h/", None),
    (
        "uri exact only",
        BoundaryRules(uris=(UriRule(Kind.EXACT, "http://h/"),)),
        "http://h/a",
        "no include uri matches",
    ),
    (
        "uri prefix, normalised",
        BoundaryRules(uris=(UriRule(Kind.PREFIX, "HTTP://H:80/ü"),)),
        "http://h/%C3%BCx",
        None,
    ),
    (
        "uri prefix, half a host",
        BoundaryRules(uris=(UriRule(Kind.PREFIX, "http://WWW."),)),
        "http://www.x/",
        None,
    ),
    (
        "uri suffix",
        BoundaryRules(uris=(UriRule(Kind.SUFFIX, "/print.html", OUT),)),
        "http://h/a/print.html",
        "exclude uri suffix /print.html",
    ),
    (
        "uri suffix and query",
        BoundaryRules(uris=(UriRule(Kind.SUFFIX, "/print.html", OUT),)),
        "http://h/print.html?a",
        None,
    ),
    (
        "uri regexp",
        BoundaryRules(uris=(UriRule(Kind.REGEXP, ".*[?&]print=1.*", OUT),)),
        "http://h/?a&print=1",
        "exclude uri regexp .*[?&]print=1.*",
    ),
    (
        "uri regexp covers all",
        BoundaryRules(uris=(UriRule(Kind.REGEXP, "print", OUT),)),
        "http://h/print",
        None,
    ),
    (
        "address mask of a literal",
        BoundaryRules(domains=(DomainRule(Kind.IPMASK, "192.0.2.0/24", OUT),)),
        "http://192.0.2.7/",
        "exclude domain ipmask 192.0.2.0/24",
    ),
    (
        "address mask, IPv6 literal",
        BoundaryRules(domains=(DomainRule(Kind.IP6MASK, "2001:db8::/32", OUT),)),
        "http://[2001:db8::1]/",
        "exclude domain ip6mask 2001:db8::/32",
    ),
    (
        "address mask, unknown host",
        BoundaryRules(domains=(DomainRule(Kind.IPMASK, "192.0.2.0/24"),)),
        "http://h/",
        NO_DOMAIN,
    ),
    (
        "follow only includes",
        BoundaryRules(domains=(suffix("a.b"), suffix("c.d", FOLLOW))),
        "http://c.d/",
        None,
    ),
]


@pytest.mark.parametrize(("rules", "url", "rule"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_rules(rules: BoundaryRules, url: str, rule: str | None) -> None:
    boundary = Boundary(rules)
    assert boundary.rejects(url) == rule
    decision = boundary.check(url)
    assert decision.accept is (rule is None)
    if rule is not None:
        assert decision.rule == rule
    assert boundary.rejects(url) == rule, "the second time, with the site remembered"


def test_expressions_of_hosts_keep_their_letters() -> None:
    """An upper-case class of an expression is not the lower-case one."""
    letters = Boundary(BoundaryRules(domains=(DomainRule(Kind.REGEXP, r"\D+"),)))
    assert letters.rejects("http://a.example/") is None
    assert letters.rejects("http://a1.example/") is not None


def test_decisions_are_about_a_start_page_if_no_depth_is_given() -> None:
    boundary = Boundary(BoundaryRules(mode=CrawlMode(depth=0)))
    assert all(one.accept for one in boundary.decisions("http://a.example/"))
    assert not all(one.accept for one in boundary.decisions("http://a.example/", 1))


def test_acceptance_names_the_including_rule() -> None:
    assert Boundary(ORACLE).check("http://otn.oracle.com/").rule == "include domain suffix oracle.com"
    path = Boundary(EXAMPLE_9_3).check("http://otn.oracle.com/products/ias/x")
    assert path.rule == "include path otn.oracle.com/products/ias/"
    assert Boundary(FAST_7).check("https://other.example.org/open/").rule.startswith("include uri prefix")
    assert Boundary().check("http://a.example/").accept


def test_ultra_search_28_seeds_are_exempt_from_domain_rules() -> None:
    boundary = Boundary(ORACLE)
    assert boundary.rejects("http://seed.example/", seed=True) is None
    assert boundary.check("http://www.uk.oracle.com/", seed=True).accept
    assert boundary.rejects("http://seed.example/") == NO_DOMAIN
    assert boundary.rejects("ftp://seed.example/", seed=True) == "schemes http https"
    strict = Boundary(replace(ORACLE, seeds_exempt=False))
    assert strict.rejects("http://seed.example/", seed=True) == NO_DOMAIN
    assert Boundary(replace(FAST_7, seeds_exempt=False)).rejects("http://seed.example/", seed=True) == NEITHER


USUAL = BoundaryRules(
    domains=(DomainRule(Kind.EXACT, "h"),),
    ports=(PortRules("g", exclude=frozenset({22})),),
    usual_ports=frozenset({80, 443, 8080}),
)


def test_only_usual_ports_are_requested_whatever_leads_there() -> None:
    boundary = Boundary(USUAL)
    for url in ("http://h/", "https://h/", "http://h:8080/"):
        assert boundary.rejects(url) is None
        assert boundary.exclusion(url) is None
        assert boundary.rejects_redirect(url, "http://h/") is None
    assert boundary.left_ports == []
    assert boundary.rejects("http://h:22/", seed=True) == UNUSUAL_PORT
    assert boundary.left_ports == ["h:22"]
    for judged in (
        boundary.rejects_exempt("http://x:23/"),
        boundary.exclusion("http://x:24/"),
        boundary.rejects_redirect("http://x:25/", "http://h/"),
    ):
        assert judged == UNUSUAL_PORT
    hop = Candidate("http://x:25/", hop=True)
    assert [one.stage for stage in boundary.stages if (one := stage.judge(hop)) and not one.accept] == [
        "port"
    ]
    assert boundary.rejects("http://x:26/") == "no include domain matches"
    assert boundary.left_ports == ["h:22", "x:24", "x:25"]


def test_rules_of_a_host_take_the_place_of_the_usual_ports() -> None:
    boundary = Boundary(replace(USUAL, domains=()))
    assert boundary.rejects("http://g:9/") is None
    assert boundary.rejects("http://g:22/") == "exclude port g:22"
    assert boundary.rejects("http://h:9/") == UNUSUAL_PORT
    open_to_all = replace(USUAL, ports=(PortRules("*"),))
    assert Boundary(open_to_all).rejects("http://h:9/") is None


def test_ports_that_were_left_are_noted_up_to_a_number() -> None:
    boundary = Boundary(USUAL)
    for port in range(1, 50):
        boundary.rejects(f"http://h:{port}/")
    assert len(boundary.left_ports) == MAX_LEFT_PORTS


def test_the_port_of_an_admitted_host_becomes_usual() -> None:
    boundary = Boundary(USUAL)
    boundary.admit("x", 9000)
    assert boundary.rejects("http://x:9000/") is None
    assert boundary.rejects("http://x:9001/") == UNUSUAL_PORT
    boundary.admit("y", 80)
    assert boundary.left_ports == ["x:9001"], "what was noted before stays"


def test_ultra_search_67_ports_in_and_out_for_one_host_are_refused() -> None:
    with pytest.raises(RuleError, match=r"port rules of h: .*one of the two"):
        PortRules("h", frozenset({80}), frozenset({81}))
    with pytest.raises(RuleError, match="one of the two"):
        Boundary(
            BoundaryRules(ports=(PortRules("h", frozenset({80})), PortRules("H", exclude=frozenset({81}))))
        )
    with pytest.raises(RuleError, match="70000 is no port"):
        PortRules("h", frozenset({70000}))


def test_ultra_search_75_76_depth_counts_for_every_site() -> None:
    boundary = Boundary(BoundaryRules(mode=CrawlMode(depth=2)))
    for url in ("http://a.example/", "http://b.example/"):
        assert boundary.rejects(url, 2) is None
        assert boundary.rejects(url, 3) == "depth 2"
    assert Boundary().rejects("http://a.example/", 10**9) is None
    assert boundary.depends_on_route("depth 2")
    assert not boundary.depends_on_route(NO_DOMAIN)


def test_ultra_search_109_dynamic_pages_are_followed_only() -> None:
    boundary = Boundary(BoundaryRules(index_dynamic=False))
    decision = boundary.check("http://h/a?x")
    assert (decision.accept, decision.index) == (True, False)
    assert boundary.rejects("http://h/a?x") is None
    assert boundary.follow_only("http://h/a?x") == sentence("boundary.dynamic_pages")
    assert boundary.follow_only("http://h/a") is None
    assert Boundary().check("http://h/a?x").index


@pytest.mark.parametrize(
    ("rules", "url", "rule"),
    [
        (BoundaryRules(domains=(suffix("a.b", FOLLOW),)), "http://a.b/", "follow only domain suffix a.b"),
        (
            BoundaryRules(paths=(PathRules("h", ("/a",), (), ("/toc",)),)),
            "http://h/toc/1",
            "follow only path h/toc",
        ),
        (
            BoundaryRules(uris=(UriRule(Kind.SUFFIX, "/toc", FOLLOW),)),
            "http://h/toc",
            "follow only uri suffix /toc",
        ),
    ],
    ids=["domain", "path", "uri"],
)
def test_third_verdict_follow_only(rules: BoundaryRules, url: str, rule: str) -> None:
    boundary = Boundary(rules)
    decision = boundary.check(url)
    assert (decision.accept, decision.index, decision.rule) == (True, False, rule)
    assert boundary.rejects(url) is None
    assert boundary.follow_only(url) == rule
    assert boundary.check("http://h/a").index


def test_crawl_mode_over_hosts() -> None:
    boundary = Boundary(BoundaryRules(mode=CrawlMode(fwdlinks=False, fwdredirects=True)))
    assert boundary.rejects("http://b/", 1, parent="http://a/x") == "fwdlinks no"
    assert boundary.rejects("http://a:81/", 1, parent="http://a/x") is None
    assert boundary.rejects("http://b/", 0, kind=LinkKind.REDIRECT, parent="http://a/") is None
    assert boundary.rejects("http://b/", seed=True) is None
    assert boundary.depends_on_route("fwdlinks no")
    stays = Boundary(BoundaryRules(mode=CrawlMode(fwdredirects=False)))
    assert stays.rejects("http://b/", 0, kind=LinkKind.META_REFRESH, parent="http://a/") == "fwdredirects no"
    assert stays.rejects("http://b/", 0, parent="http://a/") is None


def test_fast_vectors_20_21_reset_level() -> None:
    counting = Boundary(BoundaryRules(mode=CrawlMode(depth=1)))
    resetting = Boundary(BoundaryRules(mode=CrawlMode(depth=1, reset_level=True)))
    depth = counting.link_depth("http://b/3", "http://a/2", 1)
    assert (depth, counting.rejects("http://b/3", depth)) == (2, "depth 1")
    depth = resetting.link_depth("http://b/3", "http://a/2", 1)
    assert (depth, resetting.rejects("http://b/3", depth)) == (0, None)
    assert resetting.link_depth("http://b/4", "http://b/3", 0) == 1
    assert counting.link_depth("http://a/3", "http://a/2", 1, LinkKind.REDIRECT) == 1


def test_address_masks_ask_for_the_addresses_of_a_host() -> None:
    asked: list[str] = []

    def addresses(host: str) -> list[str]:
        asked.append(host)
        return {"in.example": ["198.51.100.1", "192.0.2.9"]}.get(host, [])

    rules = BoundaryRules(domains=(DomainRule(Kind.IPMASK, "192.0.2.0/24"), suffix("named.example")))
    boundary = Boundary(rules, addresses=addresses)
    assert boundary.rejects("http://in.example/") is None
    assert boundary.rejects("http://in.example/a") is None
    assert boundary.rejects("http://out.example/") == NO_DOMAIN
    assert boundary.rejects("http://named.example/") is None
    assert asked == ["in.example", "out.example"]


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (BoundaryRules(domains=(suffix(" "),)), "no text"),
        (BoundaryRules(domains=(suffix("http://a.b/x"),)), "write a.b alone"),
        (BoundaryRules(domains=(DomainRule(Kind.IPMASK, "192.0.2.0/33"),)), "/33 is not a number"),
        (BoundaryRules(uris=(UriRule(Kind.EXACT, "/a"),)), "not an absolute URL"),
        (BoundaryRules(uris=(UriRule(Kind.DOMAIN, "a.b"),)), sentence("boundary.exact_prefix_suffix_regexp")),
        (BoundaryRules(paths=(PathRules("http://h/", ("/a",)),)), "not a host name"),
        (BoundaryRules(paths=(PathRules("h", ("",)),)), "no text"),
    ],
)
def test_unusable_rules_are_refused(rules: BoundaryRules, problem: str) -> None:
    with pytest.raises(RuleError, match=problem):
        Boundary(rules)


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("a[z-a]", 2), ("(a", 0), ("*a", 0), ("\ud800", -1)],
)
def test_expressions_of_no_engine_are_refused_with_their_position(pattern: str, position: int) -> None:
    with pytest.raises(PatternError) as caught:
        Boundary(BoundaryRules(uris=(UriRule(Kind.REGEXP, pattern),)))
    assert caught.value.pattern == pattern
    assert caught.value.position == position


def test_hostile_url_against_a_nested_expression_takes_linear_time() -> None:
    boundary = Boundary(BoundaryRules(uris=(UriRule(Kind.REGEXP, "(a+)+$", OUT),)))
    assert boundary.rejects("http://h/" + "a" * 50_000 + "!") is None


def test_remembered_sites_are_bounded() -> None:
    boundary = Boundary()
    for number in range(45_000):
        boundary.rejects(f"http://h{number}/")
    assert len(boundary._origins) <= 20_000


HOSTS = st.sampled_from(["a.b", "x.a.b", "xa.b", "c.d", "a.b:81", "[::1]", "", "A.b."])
TEXTS = st.sampled_from(["a.b", ".b", "x", "a", "c.d", "b"])
PATHS = st.sampled_from(["/", "/a", "/a/a/a", "/a.png", "/b?q", "/b/c"])
ACTIONS = st.sampled_from(Action)
NUMBERS = st.frozensets(st.sampled_from([80, 81]))
PORTS = st.one_of(
    st.builds(PortRules, st.sampled_from(["a.b", "*"]), NUMBERS),
    st.builds(PortRules, st.sampled_from(["a.b", "*"]), exclude=NUMBERS),
)
DOMAINS = st.builds(
    DomainRule,
    st.sampled_from([Kind.EXACT, Kind.PREFIX, Kind.SUFFIX, Kind.DOMAIN, Kind.REGEXP]),
    TEXTS,
    ACTIONS,
)
URIS = st.builds(
    UriRule,
    st.sampled_from([Kind.PREFIX, Kind.SUFFIX, Kind.REGEXP]),
    st.sampled_from(["http://a", "http://a.b/", "http://.*", "/b", ".*a", "q"]),
    ACTIONS,
)
ANY_RULES = st.builds(
    BoundaryRules,
    domains=st.lists(DOMAINS, max_size=3).map(tuple),
    uris=st.lists(URIS, max_size=3).map(tuple),
    paths=st.lists(
        st.builds(PathRules, st.sampled_from(["a.b", "*"]), *[st.lists(PATHS, max_size=2)] * 3)
    ).map(tuple),
    exclude_extensions=st.sampled_from([(), ("png",)]),
    max_uri_recursion=st.integers(0, 2),
    mode=st.builds(CrawlMode, st.sampled_from([None, 1]), st.booleans(), st.booleans()),
    combine=st.sampled_from(Combine),
    ports=st.lists(PORTS, max_size=1).map(tuple),
    usual_ports=st.sampled_from([frozenset[int](), frozenset({81})]),
    index_dynamic=st.booleans(),
    seeds_exempt=st.booleans(),
)


URLS = st.builds("http://{}{}".format, HOSTS, PATHS)


@given(ANY_RULES, URLS, st.integers(0, 2), st.sampled_from(["", "http://c.d/"]), st.booleans())
def test_hot_path_and_explained_answer_agree(
    rules: BoundaryRules, url: str, depth: int, parent: str, seed: bool
) -> None:
    boundary = Boundary(rules)
    rule = boundary.rejects(url, depth, parent=parent, seed=seed)
    decision = boundary.check(url, depth, parent=parent, seed=seed)
    assert decision.accept is (rule is None)
    if rule is None:
        assert decision.index is (boundary.follow_only(url) is None)
    else:
        assert decision.rule == rule


@given(ANY_RULES, URLS)
def test_exclusions_hold_for_what_need_not_be_included(rules: BoundaryRules, url: str) -> None:
    boundary = Boundary(rules)
    refusals = (one for one in boundary.decisions(url) if not one.accept)
    excluding = (
        one.rule
        for one in refusals
        if one.stage == "scheme" or one.rule.startswith(("exclude ", UNUSUAL_PORT))
    )
    assert boundary.exclusion(url) == next(excluding, None)


@given(st.text())
def test_any_string_gets_an_answer(text: str) -> None:
    boundary = Boundary(replace(FAST_8, exclude_extensions=("png",), max_uri_recursion=2))
    assert isinstance(boundary.rejects(text), str)
    assert not boundary.check(text).accept


def test_without_rules_about_domains_nothing_is_said_of_seeds() -> None:
    answers = {seed: Boundary().decisions("http://a.example/", seed=seed) for seed in (False, True)}
    told = {seed: {one.stage: one.rule for one in found}["domain"] for seed, found in answers.items()}
    assert told == {False: "no rule refuses it", True: "seed"}
