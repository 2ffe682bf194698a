from pathlib import Path
from typing import ClassVar

import pytest
from support.named import named

from ultracrawl.content.html.main_content import rule_for
from ultracrawl.errors import UserError
from ultracrawl.model import Document, Page, RobotsDirectives
from ultracrawl.rules.robots.policy import RobotsPolicy
from ultracrawl.sources import DataSource, adhoc_project, compile_source, load_project, require
from ultracrawl.sources.catalog import Catalog
from ultracrawl.sources.compilation.access import credentials_without_passwords
from ultracrawl.sources.sections.fetching.access_options import AccessOptions
from ultracrawl.sources.sections.scope.boundary import BoundarySection
from ultracrawl.sources.sections.section import Section


def compiled(tmp_path, options="", start="[https://a.example/]"):
    file = tmp_path / "ultracrawl.yaml"
    lines = "".join(f"    {line}\n" for line in options.splitlines())
    file.write_text(f"attributes: {{Price: number}}\nsources:\n  a:\n    start_urls: {start}\n{lines}")
    project = require(load_project(file))
    return compile_source(project.sources["a"], project)


BOUNDARIES = {
    "hosts of the start URLs": ("", "https://a.example/x", True),
    "80 and 443": ("", "http://a.example/x", True),
    "no other ports": ("", "http://a.example:8080/x", False),
    "that of a scheme": ("boundary: {schemes: [https, ftp]}", "ftp://a.example/x", True),
    "ultra_search_66 all ports": ("boundary: {ports: {'*': {exclude: []}}}", "http://a.example:8080/x", True),
    "not the hosts below": ("", "https://b.a.example/", False),
    "ultra_search_65 every host": ("boundary: {domains: {include: '*'}}", "https://b.example/", True),
    "excluding keeps default": ("boundary: {domains: {exclude: b.example}}", "https://a.example/", True),
    "domain": ("boundary: {domains: {include: .example}}", "https://b.example/", True),
    "label-safe": ("boundary: {domains: {include: .b.example}}", "https://ab.example/", False),
    "ultra_search_61 in": (
        "boundary: {domains: {include: {suffix: oracle.com}}}",
        "https://otn.oracle.com/",
        True,
    ),
    "ultra_search_61 out": (
        "boundary: {domains: {include: {suffix: oracle.com}}}",
        "https://www.oracle.com.tw/",
        False,
    ),
    "ultra_search_62 63": (
        "boundary: {domains: {include: {suffix: oracle.com}, exclude: {suffix: uk.oracle.com}}}",
        "https://www.uk.oracle.com/",
        False,
    ),
    "ultra_search_64": ("boundary: {domains: {include: 'www.*'}}", "https://www.b.example/", True),
    "address mask": ("boundary: {domains: {include: {mask: 192.0.2.0/24}}}", "https://192.0.2.7/", True),
    "ultra_search_69": (
        "boundary: {paths: {a.example: {include: /doc, exclude: /doc/private}}}",
        "https://a.example/document",
        True,
    ),
    "excluded path": (
        "boundary: {paths: {a.example: {include: /doc, exclude: /doc/private}}}",
        "https://a.example/doc/private/1",
        False,
    ),
    "port": ("boundary: {ports: {a.example: {include: 443}}}", "https://a.example:8443/", False),
    "scheme": ("boundary: {schemes: https}", "http://a.example/", False),
    "extension": ("boundary: {exclude_extensions: .ZIP}", "https://a.example/x.zip?y", False),
    "uri": ("boundary: {uris: {exclude: {regexp: '.*print=1'}}}", "https://a.example/?print=1", False),
    "depth": ("depth: 1", "https://a.example/x", True),
}


def test_boundary(tmp_path, subtests):
    for name, (options, url, inside) in BOUNDARIES.items():
        with subtests.test(name):
            assert (compiled(tmp_path, options).boundary.rejects(url) is None) == inside


def test_ports_of_start_urls_and_feeds_are_inside(tmp_path):
    rules = compiled(tmp_path, "feeds: {urls: ['http://a.example:8081/f']}", "['http://a.example:8080/']")
    inside = [rules.boundary.rejects(f"http://a.example:{port}/") is None for port in (80, 8080, 8081, 8082)]
    assert inside == [True, True, True, False]


def test_depth(tmp_path):
    rules = compiled(tmp_path, "depth: 2")
    assert rules.depth_limit == 2
    assert rules.boundary.rejects("https://a.example/x", 2) is None
    assert rules.boundary.rejects("https://a.example/x", 3) == "depth 2"


def test_seeds_are_canonical_and_each_once(tmp_path):
    rules = compiled(tmp_path, start="[HTTPS://A.example, 'https://a.example/#top', https://a.example/b]")
    assert rules.seeds == ("https://a.example/", "https://a.example/b")


def test_policies(tmp_path):
    options = (
        "redirects: strict\nrobots: {obey: false, name: Ultra Search}\nlimits: {redirects: 3, url_length: 99}\n"
        "user_agent: me\ntypes: text/plain\nboundary: {networks: 10.1.0.0/16}"
    )
    rules = compiled(tmp_path, options)
    assert (rules.redirects.strict, rules.redirects.max_hops) == (True, 3)
    assert (rules.robots.obey, rules.robots.name) == (False, "Ultra Search")
    assert rules.url_policy.canonical("https://a.example/" + "x" * 100) is None
    assert rules.headers["User-Agent"] == "me"
    assert rules.acceptance.types == ("text/plain",)
    assert rules.addresses.refuses("10.1.2.3") is None
    assert rules.addresses.refuses("10.2.2.3") == "address private"


def test_private_addresses_are_refused_by_default_but_a_seed_that_is_one_is_allowed(tmp_path):
    rules = compiled(tmp_path, start="[http://127.0.0.1:8000/]")
    assert rules.addresses.refuses("127.0.0.1") is None
    assert rules.addresses.refuses("127.0.0.2") == "address loopback"
    assert compiled(tmp_path).addresses.refuses("127.0.0.1") == "address loopback"


OWN = """own_sites: [http://127.0.0.1:8000/, https://b.example/x]
authentication: {staff: {realm: Staff, user: robot, password: "${P}"}}"""


def test_own_sites_are_trusted_like_those_of_the_start_urls(tmp_path):
    rules = compiled(tmp_path, OWN)
    assert rules.seeds == ("https://a.example/",)
    assert rules.trusted_urls == ("https://a.example/", "http://127.0.0.1:8000/", "https://b.example/x")
    assert rules.addresses.refuses("127.0.0.1") is None
    assert rules.addresses.refuses("127.0.0.2") == "address loopback"
    source = require(load_project(tmp_path / "ultracrawl.yaml")).sources["a"]
    book = credentials_without_passwords(source, rules.trusted_urls)
    sites = ("https://a.example/y", "https://b.example/y", "https://c.example/")
    assert [bool(book.covering(url)) for url in sites] == [True, True, False]


def test_an_own_site_that_is_none_is_a_mistake(tmp_path, subtests):
    for wrong in ["b.example", "https://u:s3cret@b.example/", "mailto:a@b.example"]:
        with subtests.test(wrong):
            file = tmp_path / "ultracrawl.yaml"
            file.write_text(
                f"sources:\n  a:\n    start_urls: https://a.example/\n    own_sites: ['{wrong}']\n"
            )
            (finding,) = load_project(file).findings
            assert (finding.key, finding.line, finding.fatal) == ("sources.a.own_sites", 4, True)
            assert "s3cret" not in str(finding)


def test_own_search_attributes_are_mapped(tmp_path):
    rules = compiled(tmp_path, "attributes: {p: Price}")
    document = Document("https://a.example/", "https://a.example/", "a", attributes={"p": ["3"]})
    found = rules.attributes.map(document).values
    assert (found["Price"], found["Language"]) == ([3.0], ["en"])


NOINDEX = Page(robots=RobotsDirectives(index=False))


FORBIDDEN = [
    ("", Page(), [], ""),
    ("", NOINDEX, [], "META robots or X-Robots-Tag: noindex"),
    ("robots: {meta: false}", NOINDEX, ["noai"], ""),
    ("", Page(), ["noai"], ""),
    ("", Page(), ["search=no"], "the page is reserved: search=no"),
    ("robots: {obey_reservations: [ai, tdm]}", Page(), ["noai"], "the page is reserved: noai"),
    ("robots: {obey_reservations: tdm}", Page(), ["search=no"], ""),
    ("robots: {obey_reservations: [search, ai-input]}", Page(), ["ai-train=no"], ""),
    (
        "robots: {obey_reservations: ai-input}",
        Page(),
        ["ai-train=no", "noai"],
        "the page is reserved: noai",
    ),
    ("robots: {obey_reservations: ai-input}", Page(), ["noml"], ""),
    ("robots: {obey_reservations: ai-train}", Page(), ["noml"], "the page is reserved: noml"),
    ("robots: {obey_reservations: ai-train}", Page(), ["ai-input=no"], ""),
    ("robots: {obey_reservations: ai}", Page(), ["ai-input=no"], "the page is reserved: ai-input=no"),
    ("robots: {obey_reservations: ai}", Page(), ["ai-train=no"], "the page is reserved: ai-train=no"),
    ("robots: {obey_reservations: ai}", Page(), ["noimageai", "tdm-reservation", "search=no"], ""),
]


def test_what_a_page_forbids(tmp_path, subtests):
    for options, page, reserved, reason in FORBIDDEN:
        with subtests.test(options, reserved=reserved, robots=page.robots):
            refusal = compiled(tmp_path, options).permission.refusal(page.robots, reserved, 0.0)
            assert str(refusal) == reason


def test_robots_options_reach_the_policy(tmp_path):
    options = "robots: {ttl: 1, timeout: 2, timeout_ignore: true, auth_ignore: false, obey_delay: true}"
    assert compiled(tmp_path, options).robots == RobotsPolicy(
        ttl=1, timeout=2, timeout_ignore=True, auth_ignore=False, obey_delay=True
    )
    assert compiled(tmp_path).robots == RobotsPolicy()
    assert compiled(tmp_path, "limits: {timeout: 7}").robots.timeout == 7


MADE_AGAIN = [
    ("robots: {ttl: 1, timeout: 2, timeout_ignore: true, auth_ignore: false, obey_delay: true}", True),
    ("log: {screened: true}", True),
    ("robots: {obey_reservations: [ai]}", False),
    ("robots: {follow_nofollow_links: true}", False),
    ("links: {img: true}", False),
    ("cut_off: 1 MB", False),
    ("exclude_headers: {X: y}", False),
    ("languages: {}", True),
    ("acl: []", True),
    ("acl: staff", False),
    ("languages: {trust: declared}", False),
    ("content: {main: auto}", True),
    ("content: {exclude: .share}", False),
]


def test_which_options_have_pages_made_into_documents_again(tmp_path, subtests):
    for options, same in MADE_AGAIN:
        with subtests.test(options):
            assert (compiled(tmp_path, options).recipe == compiled(tmp_path).recipe) is same


def test_a_project_in_another_folder_has_the_same_pages_and_documents(tmp_path):
    made = set()
    for name in ("here", "elsewhere"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "filter.conf").write_text("")
        made.add(
            tuple(
                digest
                for options in (
                    "filters: {file: filter.conf}",
                    "filters: {file: filter.conf, instance: robot}",
                )
                for rules in [compiled(folder, options)]
                for digest in (rules.scope, rules.recipe)
            )
        )
    ((_, one, _, other),) = made
    assert one != other


LET_IN = {
    "politeness does not count": ("politeness: {delay: 9}", "[https://a.example/]", True),
    "networks do not count": ("boundary: {networks: 10.0.0.0/8}", "[https://a.example/]", True),
    "another start URL on the host": ("", "[https://a.example/x]", True),
    "ultra_search_73 another host": ("", "[https://b.example/]", False),
    "depth": ("depth: 3", "[https://a.example/]", False),
    "domain rule": ("boundary: {domains: {exclude: b.example}}", "[https://a.example/]", False),
    "port rule": ("boundary: {ports: {a.example: {exclude: 80}}}", "[https://a.example/]", False),
    "URL length": ("limits: {url_length: 99}", "[https://a.example/]", False),
    "only": ("only: [/docs/]", "[https://a.example/]", False),
    "exclude": ("exclude: [/old/]", "[https://a.example/]", False),
}


def test_scope_changes_with_what_is_let_in(tmp_path, subtests):
    for name, (options, start, same) in LET_IN.items():
        with subtests.test(name):
            assert (compiled(tmp_path, options, start).scope == compiled(tmp_path).scope) == same


def test_compiling_without_a_project():
    rules = compile_source(DataSource(name="a", start_urls=("https://a.example/",)))
    assert rules.boundary.rejects("https://a.example/") is None


# ---- catalog


def test_adhoc_bounds_a_source_to_the_hosts_of_its_urls(tmp_path):
    project = adhoc_project(["http://127.0.0.1:8000/a", "https://b.example/"], tmp_path)
    (source,) = project.sources.values()
    assert source.name == "127.0.0.1-8000"
    assert project.index.path == tmp_path / "var" / "index"
    rules = compile_source(source, project)
    assert rules.boundary.rejects("https://b.example/x") is None
    assert rules.boundary.rejects("https://c.example/x") is not None
    assert rules.boundary.rejects("http://127.0.0.1:8000/x") is None
    assert rules.boundary.rejects("http://127.0.0.1:8001/x") is not None
    assert rules.boundary.rejects("http://127.0.0.1/x") is not None
    assert rules.boundary.rejects("http://b.example/x") is None, "both default ports are one site"
    assert rules.boundary.rejects("https://b.example:8443/x") is not None


def test_adhoc_bounds_a_source_to_the_port_of_an_address_of_version_6(tmp_path):
    (source,) = adhoc_project(["http://[::1]:8000/a"], tmp_path).sources.values()
    rejects = compile_source(source).boundary.rejects
    assert rejects("http://[::1]:8000/x") is None
    assert rejects("http://[::1]:8001/x") is not None


ADHOC = [
    ("https://www.example.com/", "www.example.com"),
    ("http://[::1]/", "1"),
    ("http://_a.example/", "a.example"),
    ("http://www.example.com/", "www.example.com"),
    ("https://www.example.com:8443/x", "www.example.com-8443"),
    ("http://www.example.com:443/", "www.example.com-443"),
]


def test_adhoc_names(subtests):
    for url, name in ADHOC:
        with subtests.test(url):
            assert list(adhoc_project([url], Path("x")).sources) == [name]


NO_URLS = [[], ["example.com"], ["ftp://a.example/"], ["https://a.example/", "nonsense"]]


def test_adhoc_refuses_what_is_no_url(subtests):
    for urls in NO_URLS:
        with subtests.test(urls), pytest.raises(UserError):
            adhoc_project(urls, Path("x"))


def test_catalog(tmp_path):
    catalog = Catalog(adhoc_project(["https://handbook.example/"], tmp_path))
    assert catalog.find("handbook.example").name == "handbook.example"
    with pytest.raises(Exception, match=r"did you mean 'handbook.example'"):
        catalog.find("handbok.example")


def test_a_catalog_names_all_unknown_sources_at_once(tmp_path):
    catalog = Catalog(adhoc_project(["https://handbook.example/"], tmp_path))
    assert [one.name for one in catalog.select([])] == ["handbook.example"]
    assert len(catalog.select(["handbook.example", "handbook.example"])) == 1
    with pytest.raises(UserError) as raised:
        catalog.select(["handbok.example", "wiki", "handbook.example"])
    assert named(str(raised.value)) == ["handbok.example", "handbook.example", "wiki"]
    assert str(raised.value).endswith(": handbook.example")


WIKI = """content:
  main: off
  exclude: .share
  pages:
    - {urls: https://a.example/wiki/, include: '#text'}
    - {urls: [https://a.example/wiki/old/, https://a.example/old/], exclude: .x, main: auto}"""


CONTENT_RULES = [
    ("", "", ("", "", True)),
    (WIKI, "", ("", ".share", False)),
    (WIKI, "wiki/old/x", ("#text", "", True)),
    (WIKI, "old/x", ("", ".x", True)),
]


def test_the_first_rule_for_a_page_says_what_its_text_is(tmp_path, subtests):
    for options, path, expected in CONTENT_RULES:
        with subtests.test(f"/{path}", options=options):
            rule = rule_for(f"https://a.example/{path}", compiled(tmp_path, options).reader.content)
            assert (rule.include, rule.exclude, rule.main) == expected


NO_CONTENT = [
    ("content: {include: 'p['}", "include", "`p[` is no CSS selector; write"),
    ("content: {main: on}", "main", "is not a known value; write `auto`, `article` or `off`"),
    ("content: {pages: [{include: p}]}", "pages.urls", "is missing; write"),
    ("content: {pages: [{urls: [], include: p}]}", "pages.urls", "; write"),
]


def test_what_cannot_be_content_is_reported_with_its_line(tmp_path, subtests):
    for options, path, problem in NO_CONTENT:
        with subtests.test(options):
            with pytest.raises(UserError) as raised:
                compiled(tmp_path, options)
            assert f"ultracrawl.yaml:5 - sources.a.content.{path} - " in str(raised.value)
            assert problem in str(raised.value)


class LaterBoundary(BoundarySection):
    """A section of a later version, with an option more."""

    at_night: bool = False


class LaterSource(DataSource):
    """A source of a later version, with options more."""

    FETCH_OPTIONS: ClassVar = frozenset({"patience"})

    boundary: LaterBoundary = LaterBoundary.by_default()
    patience: int = 3
    style: str = "plain"


def test_options_that_nobody_writes_change_no_digest(tmp_path):
    written = {"start_urls": ("http://a.example/",), "detect_types": True}
    before = compile_source(DataSource(name="a", **written))
    later = compile_source(LaterSource(name="a", **written))
    assert (later.scope, later.recipe) == (before.scope, before.recipe)


CHANGED = [
    ({"style": "fancy"}, (False, True)),
    ({"boundary": {"at_night": True}}, (True, False)),
    ({"boundary": {"index_dynamic": False}}, (True, False)),
    ({"boundary": {"networks": ["10.0.0.0/8"]}}, (False, False)),
    ({"boundary": {"intranet_hosts": True}}, (False, False)),
    ({"detect_types": True}, (False, True)),
    ({"patience": 4}, (False, False)),
    ({"robots": {"ttl": 5}}, (False, False)),
    ({"duplicates": {"detect": True}}, (False, False)),
    ({"duplicates": {"detect": False}}, (False, True)),
    ({"feeds": {"discover": True}}, (True, False)),
    ({"feeds": {"follow_links": False}}, (False, False)),
    ({"limits": {"url_length": 99}}, (True, False)),
]


def test_options_change_the_digests_that_they_affect(subtests):
    before = compile_source(LaterSource(name="a", start_urls=("http://a.example/",)))
    for options, changed in CHANGED:
        with subtests.test(str(options)):
            after = compile_source(LaterSource(name="a", start_urls=("http://a.example/",), **options))
            assert (after.scope != before.scope, after.recipe != before.recipe) == changed


def groups_of_options(group=Section):
    for one in group.__subclasses__():
        yield one
        yield from groups_of_options(one)


def test_options_that_only_fetch_are_options():
    groups = list(groups_of_options())
    assert sum(bool(one.FETCH_OPTIONS) for one in groups) > 10
    assert [one for one in groups if not one.fetch_options() <= one.model_fields.keys()] == []
    assert AccessOptions.model_fields.keys() == AccessOptions.FETCH_OPTIONS
