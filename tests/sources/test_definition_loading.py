from ipaddress import ip_network
from pathlib import Path

import pytest
from pydantic import ValidationError

from ultracrawl.rules.boundary.rules import Kind
from ultracrawl.sources import DataSource, load_project, require

EXAMPLES = Path(__file__).parents[2] / "examples"


def project_of(tmp_path, text):
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(text)
    return require(load_project(file))


def source_of(tmp_path, options=""):
    lines = "".join(f"    {line}\n" for line in options.splitlines())
    return project_of(tmp_path, f"sources:\n  a:\n    start_urls: [https://a.example/]\n{lines}").sources["a"]


def test_the_example_is_without_findings():
    loaded = load_project(EXAMPLES / "intranet.yaml")
    assert loaded.findings == ()
    assert set(require(loaded).sources) == {"handbook", "wiki"}


def test_defaults_are_polite_and_safe(tmp_path):
    source = source_of(tmp_path)
    assert source.type == "web"
    assert source.depth is None
    assert (source.robots.obey, source.robots.meta, source.robots.name) == (True, True, "ultracrawl")
    assert (source.politeness.delay, source.politeness.concurrency) == (0.5, 2)
    assert (source.limits.max_size, source.limits.timeout, source.limits.redirects) == (32 << 20, 30, 10)
    assert source.limits.pages is None
    assert source.boundary.networks == ()
    assert source.redirects == "follow-temporary"
    assert source.default_charset == "iso-8859-1"
    assert source.user_agent.startswith("ultracrawl/")


def test_data_lie_beside_the_file_unless_said_otherwise(tmp_path):
    project = project_of(tmp_path, "sources: {a: {start_urls: [https://a.example/]}}")
    assert project.base == tmp_path
    assert project.index.path == tmp_path / "var/index"
    assert project.state.path == tmp_path / "var/state"
    assert (project.cache.path, project.cache.size) == (tmp_path / "var/cache", 20 << 20)


def test_ultra_search_4_the_cache_holds_20_mb_unless_changed(tmp_path):
    text = "cache: {size: 3 KB}\nsources: {a: {start_urls: [https://a.example/]}}"
    assert project_of(tmp_path, text).cache.size == 3072


def test_short_and_long_storage_forms(tmp_path):
    text = "index: /data/i\nstate: {engine: memory}\nsources: {a: {start_urls: [https://a.example/]}}"
    project = project_of(tmp_path, text)
    assert (project.index.engine, project.index.path) == ("whoosh", Path("/data/i"))
    assert project.state.engine == "memory"


def test_ultra_search_26_sources_override_defaults_option_by_option(tmp_path):
    text = """
defaults:
  depth: 5
  robots: {name: Ultra Search, meta: false}
  limits: {pages: 10, timeout: 7}
  attributes: {author: Author}
  boundary: {exclude_extensions: [.png], paths: {"*": {exclude: [/tmp/]}}}
sources:
  a:
    start_urls: [https://a.example/]
    robots: {meta: true}
    limits: {pages: null}
    attributes: {creator: Author}
    boundary: {exclude_extensions: [.gif], paths: {a.example: {include: [/x]}}}
  b:
    start_urls: [https://b.example/]
    depth: FULL
    robots:
"""
    sources = project_of(tmp_path, text).sources
    a, b = sources["a"], sources["b"]
    assert (a.depth, b.depth) == (5, None)
    assert (a.robots.name, a.robots.meta) == ("Ultra Search", True)
    assert b.robots.meta is False
    assert (a.limits.pages, a.limits.timeout, b.limits.pages) == (None, 7, 10)
    assert a.attributes == {"author": "Author", "creator": "Author"}
    assert a.boundary.exclude_extensions == (".gif",)
    assert set(a.boundary.paths) == {"*", "a.example"}


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("https://a.example/ https://b.example/", id="blank"),
        pytest.param('"https://a.example/\\thttps://b.example/"', id="tab"),
        pytest.param("'https://a.example/,https://b.example/'", id="comma"),
        pytest.param("|\n      https://a.example/\n      https://b.example/", id="newline"),
        pytest.param("[https://a.example/, https://b.example/]", id="list"),
    ],
)
def test_ultra_search_27_start_urls_as_a_list_or_one_text(tmp_path, value):
    source = project_of(tmp_path, f"sources:\n  a:\n    start_urls: {value}\n").sources["a"]
    assert source.start_urls == ("https://a.example/", "https://b.example/")


HOST_PATTERNS = [
    ("Docs.Example.com", Kind.EXACT, "docs.example.com"),
    (".example.com", Kind.DOMAIN, ".example.com"),
    ("'www.*'", Kind.PREFIX, "www."),
    ("{suffix: example.com}", Kind.SUFFIX, "example.com"),
    ("{prefix: www.}", Kind.PREFIX, "www."),
    ("{exact: a.example}", Kind.EXACT, "a.example"),
    ("{domain: example.com}", Kind.DOMAIN, "example.com"),
    ("{regexp: 'w+\\.example'}", Kind.REGEXP, "w+\\.example"),
    ("{mask: 192.0.2.0/24}", Kind.IPMASK, "192.0.2.0/24"),
]


def test_host_patterns(tmp_path, subtests):
    for written, kind, text in HOST_PATTERNS:
        with subtests.test(written):
            (pattern,) = source_of(
                tmp_path, f"boundary: {{domains: {{include: {written}}}}}"
            ).boundary.domains.include
            assert (pattern.kind, pattern.text) == (kind, text)


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("1000", 1000),
        ("1KB", 1024),
        ("'1.5 MB'", 1_572_864),
        ("2 gb", 2 << 30),
        ("20 MiB", 20 << 20),
        ("7 B", 7),
    ],
)
def test_sizes(tmp_path, written, size):
    assert source_of(tmp_path, f"limits: {{max_size: {written}}}").limits.max_size == size


def test_single_values_stand_for_lists_of_one(tmp_path):
    source = source_of(
        tmp_path,
        "types: TEXT/HTML\n"
        "boundary:\n"
        "  exclude_extensions: ZIP\n"
        "  networks: 10.1.0.0/16\n"
        "  schemes: https\n"
        "  uris: {exclude: https://a.example/x}\n"
        "  paths: {a.example: {include: /docs/}}\n"
        "  ports: {a.example: {include: 443}}\n",
    )
    assert source.types == ("text/html",)
    assert source.boundary.exclude_extensions == (".zip",)
    assert source.boundary.networks == (ip_network("10.1.0.0/16"),)
    assert source.boundary.ports["a.example"].include == {443}
    assert source.boundary.uris.exclude[0].kind is Kind.PREFIX


def test_anchors_and_merge_keys_are_allowed(tmp_path):
    text = """
sources:
  a: &a
    start_urls: [https://a.example/]
    limits: &limits {pages: 5}
  b:
    <<: *a
    start_urls: [https://b.example/]
    limits: {<<: *limits, timeout: 9}
"""
    b = project_of(tmp_path, text).sources["b"]
    assert (b.start_urls, b.limits.pages, b.limits.timeout) == (("https://b.example/",), 5, 9)


def test_numbers_and_words_that_yaml_reads_its_own_way_stay_texts(tmp_path):
    text = "sources:\n  2024:\n    start_urls: [https://a.example/]\n    boundary: {paths: {no: {include: [/x]}}}\n"
    project = project_of(tmp_path, text)
    assert list(project.sources) == ["2024"]
    assert list(project.sources["2024"].boundary.paths) == ["no"]


def test_a_folder_with_a_project_file_takes_in_its_source_files(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "b.yaml").write_text("start_urls: https://b.example/\n")
    (tmp_path / "sources" / "more.yml").write_text("sources:\n  c: {start_urls: https://c.example/}\n")
    (tmp_path / "ultracrawl.yaml").write_text(
        "defaults: {depth: 1}\nsources: {a: {start_urls: https://a.example/}}\n"
    )
    for location in (tmp_path, tmp_path / "ultracrawl.yaml"):
        project = require(load_project(location))
        assert list(project.sources) == ["a", "b", "c"]
        assert {source.depth for source in project.sources.values()} == {1}
        assert project.base == tmp_path


def test_a_folder_of_source_files(tmp_path):
    (tmp_path / "a.yaml").write_text("start_urls: https://a.example/\n")
    (tmp_path / "b.yaml").write_text("type: web\nstart_urls: https://b.example/\n")
    assert list(require(load_project(tmp_path)).sources) == ["a", "b"]


def test_a_file_with_one_source_is_named_after_the_file(tmp_path):
    (tmp_path / "news.yaml").write_text("start_urls: https://a.example/\n")
    assert list(require(load_project(tmp_path / "news.yaml")).sources) == ["news"]


def test_the_same_name_in_two_files_is_a_finding(tmp_path):
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "a.yaml").write_text("start_urls: https://b.example/\n")
    (tmp_path / "ultracrawl.yaml").write_text("sources: {a: {start_urls: https://a.example/}}\n")
    (finding,) = load_project(tmp_path).findings
    assert "defined already at" in finding.problem
    assert finding.problem.endswith("ultracrawl.yaml:1")


def test_definitions_in_a_package(tmp_path, monkeypatch):
    package = tmp_path / "lab_definitions"
    (package / "defs").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "defs" / "a.yaml").write_text("start_urls: https://a.example/\n")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(tmp_path)
    project = require(load_project("lab_definitions:defs"))
    assert (list(project.sources), project.base) == (["a"], home)
    (finding,) = load_project("lab_definitions:none").findings
    assert "no folder `none`" in finding.problem


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path):
    file = tmp_path / "ultracrawl.yaml"
    file.write_bytes(b"\xef\xbb\xbfsources:\r\n  a:\r\n    start_urls: [https://a.example/]\r\n")
    assert list(require(load_project(file)).sources) == ["a"]


def test_ultra_search_53_own_search_attributes(tmp_path):
    head = "attributes: {Product: String, Price: number}\n"
    text = head + "sources: {a: {start_urls: https://a.example/, attributes: {p: Price}}}"
    schema = project_of(tmp_path, text).schema_attributes
    assert list(schema)[:2] == ["Title", "Author"]
    assert {name: schema[name].type.value for name in ("Product", "Price")} == {
        "Product": "string",
        "Price": "number",
    }


def test_sources_are_frozen_and_their_repr_shows_no_values(tmp_path):
    source = source_of(tmp_path, "settings: {API_TOKEN: s3cret}\nuser_agent: me")
    with pytest.raises(ValidationError):
        source.depth = 3
    assert "s3cret" not in f"{source!r} {source}"
    assert str(source) == "a (web, start URLs: 1)"


def test_a_source_can_be_made_in_python():
    source = DataSource(name="a", start_urls=("https://a.example/",), depth=2)
    assert source.depth == 2
    with pytest.raises(ValidationError):
        DataSource(name="a b", start_urls=())


def test_a_thousand_sources(tmp_path):
    sources = "".join(
        f"  s{i}:\n    start_urls: [https://h{i}.example/]\n    depth: {i % 9}\n    boundary:\n"
        f"      paths: {{h{i}.example: {{exclude: [/private/]}}}}\n"
        for i in range(1000)
    )
    project = project_of(tmp_path, f"defaults: {{robots: {{name: bot}}}}\nsources:\n{sources}")
    assert len(project.sources) == 1000
    assert project.sources["s999"].start_urls == ("https://h999.example/",)
    assert [project.sources[f"s{i}"].depth for i in range(0, 1000, 100)] == [
        i % 9 for i in range(0, 1000, 100)
    ]
    assert {source.robots.name for source in project.sources.values()} == {"bot"}


SERVERS = "engine: opensearch, url: 'https://search.example.com:9200'"


@pytest.mark.parametrize(
    ("head", "is_mistake"),
    [
        ("index: var/index\nindexes: {archive: ./var/index}", True),
        ("indexes: {archive: var/index}", True),
        ("indexes: {one: var/one, two: var/one}", True),
        (f"index: {{{SERVERS}}}\nindexes: {{archive: {{{SERVERS}}}}}", True),
        (f"index: {{{SERVERS}}}\nindexes: {{archive: {{{SERVERS}, name: archive}}}}", False),
        ("indexes: {one: {engine: whoosh}, two: {engine: whoosh}}", False),
    ],
)
def test_two_indexes_in_one_place_are_a_mistake(tmp_path, head, is_mistake):
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(f"{head}\nsources: {{a: {{start_urls: [https://a.example/]}}}}\n")
    assert any(finding.fatal for finding in load_project(file).findings) == is_mistake
