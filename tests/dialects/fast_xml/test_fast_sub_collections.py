"""Sub-collections, and links that go from one collection to another (FAST 5.32, 5.1 A5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fast import fast_options, fast_xml

from ultracrawl.dialects.fast_xml.options import OPTIONS, RULE_SECTIONS
from ultracrawl.sources import Loaded, compile_source
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.sections.sites import SitesSection

START = ("http://a.example/", "http://a.example/news/")


def sub(name: str = "news", **options: object) -> str:
    named = {key.replace("__", "/"): value for key, value in options.items()}
    return f'<SubDomain name="{name}">\n{fast_options(named)}</SubDomain>\n'  # type: ignore[arg-type]


def load(folder: Path, inside: str, **options: object) -> Loaded:
    named = {key.replace("__", "/"): value for key, value in options.items()}
    file = folder / "collection.xml"
    file.write_text(fast_xml({"start_uris": START, "delay": 0.0, **named}, inside=inside))  # type: ignore[dict-item]
    return read_definitions(file)


def codes(loaded: Loaded) -> list[str]:
    return [finding.problem.partition(":")[0] for finding in loaded.findings]


def whose(loaded: Loaded, url: str) -> list[str]:
    """Return the sources that a URI belongs to."""
    assert loaded.project, [str(finding) for finding in loaded.findings]
    sources = loaded.project.sources.values()
    return [one.name for one in sources if compile_source(one).boundary.rejects(url, 1) is None]


NEWS = ("http://a.example/news/",)


def test_fast_5_32_start_uris_that_a_sub_collection_does_not_cover_are_those_of_its_collection(
    tmp_path: Path,
) -> None:
    (tmp_path / "more.txt").write_text("http://a.example/other/\nhttp://a.example/news/9\n")
    (tmp_path / "feeds.txt").write_text("http://a.example/feed\nhttp://a.example/news/feed\n")
    inside = sub(
        include_uris__prefix=NEWS,
        start_uris=("http://a.example/", "http://a.example/news/1", "http://b.example/"),
        start_uri_files=("more.txt",),
        rss__start_uri_files=("feeds.txt",),
    )
    loaded = load(tmp_path, inside, start_uris=(), include_domains__exact=("a.example",))
    assert loaded.project, loaded.findings
    main, news = loaded.project.sources.values()
    assert main.start_urls == ("http://a.example/", "http://b.example/", "http://a.example/other/")
    assert news.start_urls == ("http://a.example/news/1", "http://a.example/news/9")
    assert main.feeds.urls == ("http://a.example/feed",)
    (outside,) = loaded.findings
    assert (outside.line, outside.fatal) == (line_of(tmp_path, "b.example"), False), "outside of both"


def line_of(folder: Path, text: str) -> int:
    lines = (folder / "collection.xml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_sub_collection_of_hosts_has_the_rules_that_an_override_gives_to_its_sites(tmp_path: Path) -> None:
    inside = sub(include_domains__exact=("b.example",), delay=5.0, max_doc=7, use_javascript=True)
    start = (*START, "http://b.example/")
    loaded = load(tmp_path, inside, start_uris=start, include_domains__suffix=("example",))
    assert loaded.project, loaded.findings
    main, part = loaded.project.sources.values()
    written = {
        "politeness": {"delay": 5},
        "limits": {"pages_per_site": 7},
        "javascript": part.javascript.model_dump(exclude_defaults=True),
    }
    overrides = SitesSection.model_validate({"overrides": {"b.example": written}}).overrides
    sites = main.sites.model_copy(update={"overrides": overrides})
    overlay = compile_source(main.model_copy(update={"sites": sites})).overlay_of("http://b.example/")
    assert overlay is not None
    compiled = compile_source(part)
    for section in ("politeness", "limits", "javascript", "content"):
        assert getattr(overlay.source, section) == getattr(part, section)
    delay = overlay.pace.delay, overlay.pace.concurrency, overlay.pace.backoff
    assert delay == (compiled.pace.delay, compiled.pace.concurrency, compiled.pace.backoff)
    assert (overlay.redirects, overlay.reader) == (compiled.redirects, compiled.reader)


def test_fast_5_32_a_sub_collection_is_a_source_with_options_of_its_own(tmp_path: Path) -> None:
    inside = sub(include_uris__prefix=NEWS, refresh=60.0, delay=5.0, crawlmode__mode="DEPTH:1", cut_off=9)
    loaded = load(tmp_path, inside, max_redirects=3)
    assert loaded.project, loaded.findings
    main, news = loaded.project.sources.values()
    assert (main.name, news.name) == ("handbook", "handbook.news")
    assert (main.politeness.delay, news.politeness.delay) == (0, 5)
    assert (main.refresh.interval, news.refresh.interval) == (90_000, 3600)
    assert (main.depth, news.depth, main.cut_off, news.cut_off) == (None, 1, None, 9)
    assert main.limits.redirects == news.limits.redirects == 3, (
        "what it does not say it has from the collection"
    )
    assert (main.start_urls, news.start_urls) == (START[:1], START[1:])
    assert (main.send_links_to, news.send_links_to) == (("handbook.news",), ("handbook",))
    assert main.takes_links
    assert news.takes_links
    assert loaded.project.groups == {"handbook": ("handbook", "handbook.news")}
    assert codes(loaded) == []


RULES = {
    "host and nothing": (
        {},
        {"include_domains__exact": ("n.example",)},
        "http://n.example/",
        "handbook.news",
    ),
    "host and nothing, outside": (
        {},
        {"include_domains__exact": ("n.example",)},
        "http://b.example/",
        "handbook",
    ),
    "URI and nothing": ({}, {"include_uris__prefix": NEWS}, "http://a.example/news/1", "handbook.news"),
    "URI and host": (
        {"include_domains__suffix": (".example",)},
        {"include_uris__regexp": (r".*/news/.*",)},
        "http://a.example/news/1",
        "handbook.news",
    ),
    "URI and host, outside of the collection": (
        {"include_domains__suffix": (".example",)},
        {"include_uris__regexp": (r".*/news/.*",)},
        "http://a.test/news/1",
        "",
    ),
    "host and URI": (
        {"include_uris__suffix": (".html",)},
        {"include_domains__exact": ("a.example",)},
        "http://a.example/x.html",
        "handbook.news",
    ),
    "host and URI, outside of the collection": (
        {"include_uris__suffix": (".html",)},
        {"include_domains__exact": ("a.example",)},
        "http://a.example/x",
        "",
    ),
    "URI and host, the rest of the collection": (
        {"include_domains__suffix": (".example",)},
        {"include_uris__regexp": (r".*/news/.*",)},
        "http://a.example/x",
        "handbook",
    ),
    "host and URI, the rest of the collection": (
        {"include_uris__suffix": (".html",)},
        {"include_domains__exact": ("a.example",)},
        "http://b.example/x.html",
        "handbook",
    ),
    "exclude rules alone, what they leave": (
        {},
        {"exclude_uris__prefix": NEWS},
        "http://a.example/x",
        "handbook.news",
    ),
    "exclude rules alone, what they exclude": ({}, {"exclude_uris__prefix": NEWS}, NEWS[0], "handbook"),
    "excluded hosts alone": ({}, {"exclude_domains__suffix": (".example",)}, "http://a.example/", "handbook"),
    "exclude rules alone, outside of the collection": (
        {"include_domains__exact": ("a.example",)},
        {"exclude_uris__prefix": NEWS},
        "http://b.example/x",
        "",
    ),
    "an exclusion from a host": (
        {},
        {"include_domains__exact": ("a.example",), "exclude_uris__prefix": NEWS},
        NEWS[0],
        "handbook",
    ),
    "an exclusion from a host, the rest of it": (
        {},
        {"include_domains__exact": ("a.example",), "exclude_uris__prefix": NEWS},
        "http://a.example/x",
        "handbook.news",
    ),
    "an excluded host from URIs": (
        {},
        {"include_uris__regexp": (r".*/news/.*",), "exclude_domains__exact": ("b.example",)},
        "http://b.example/news/1",
        "handbook",
    ),
    "excluded from the collection": (
        {"exclude_uris__suffix": ("/secret",)},
        {"include_uris__prefix": NEWS},
        "http://a.example/news/secret",
        "",
    ),
}


def test_fast_5_32_each_uri_has_one_owner(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (whole, part, url, owner) in RULES.items():
        with subtests.test(name):
            assert whose(load(tmp_path, sub(**part), **whole), url) == ([owner] if owner else [])


def test_fast_5_32_the_first_that_covers_a_uri_has_it(tmp_path: Path) -> None:
    inside = sub(include_uris__prefix=NEWS) + sub("second", include_domains__exact=("a.example",))
    loaded = load(tmp_path, inside)
    assert whose(loaded, "http://a.example/news/1") == ["handbook.news"]
    assert whose(loaded, "http://a.example/x") == ["handbook.second"]
    assert whose(loaded, "http://b.example/") == ["handbook"]


def test_fast_5_32_what_the_first_excludes_is_for_the_next(tmp_path: Path) -> None:
    first = sub("first", include_domains__exact=("a.example",), exclude_uris__prefix=NEWS)
    loaded = load(tmp_path, first + sub("second", include_domains__suffix=(".example",)))
    assert whose(loaded, NEWS[0]) == ["handbook.second"]
    assert whose(loaded, "http://a.example/x") == ["handbook.first"]
    assert whose(loaded, "http://other.org/") == ["handbook"]


def test_a_collection_and_its_sub_collections_crawl_any_port(tmp_path: Path) -> None:
    loaded = load(tmp_path, sub(include_uris__prefix=("http://a.example:8001/",)))
    assert whose(loaded, "http://a.example:8000/") == ["handbook"]
    assert whose(loaded, "http://a.example:8001/x") == ["handbook.news"]


def test_explain_names_the_owner(tmp_path: Path) -> None:
    loaded = load(tmp_path, sub(include_uris__prefix=NEWS))
    assert loaded.project
    boundary = compile_source(loaded.project.sources["handbook"]).boundary
    decision = boundary.check(NEWS[0], 1)
    assert (decision.accept, decision.stage, decision.rule) == (False, "area", "belongs to handbook.news")
    assert boundary.rejects(NEWS[0], 1) == "belongs to handbook.news"


def test_every_option_that_a_sub_collection_may_set_differs_from_the_collection(tmp_path: Path) -> None:
    """FAST 5.32: fifteen options and three sections; those that work by host need rules about hosts."""
    set_there: dict[str, object] = {
        "accept_compression": False,
        "allowed_schemes": ("http", "https"),
        "cut_off": 9,
        "delay": 5.0,
        "ftp_passive": False,
        "headers": ("User-Agent: Other/1",),
        "max_doc": 5,
        "proxy": ("p.example:1",),
        "refresh": 60.0,
        "refresh_mode": "soft",
        "start_uris": ("http://n.example/start",),
        "use_http_1_1": False,
        "use_javascript": True,
        "use_sitemaps": True,
        "crawlmode__fwdlinks": False,
        "rss__start_uris": ("http://n.example/feed",),
        "variable_delay__Mon:08-Mon:09": "7",
    }
    plain = load(tmp_path, sub(include_domains__exact=("n.example",)))
    other = load(tmp_path, sub(include_domains__exact=("n.example",), **set_there))
    assert plain.project
    assert other.project
    assert codes(other) == []
    (main, before), (other_main, after) = (
        [source.model_dump(exclude={"own_sites"}) for source in one.sources.values()]
        for one in (plain.project, other.project)
    )
    assert main == other_main, "it has no part in it, but for the sites that all of them trust"
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {
        "http", "boundary", "cut_off", "politeness", "ftp", "user_agent", "robots", "limits", "proxy", "refresh",
        "start_urls", "javascript", "sitemaps", "feeds",
    }  # fmt: skip
    assert {spec.path.replace("/", "__").split("__")[0] for spec in OPTIONS.all if spec.sub} == {
        name.split("__")[0] for name in set_there
    } | {"start_uri_files", *RULE_SECTIONS}


TOLD = {
    "fast_vector_39-an option that does not go with URI rules": (
        sub(include_uris__prefix=NEWS, max_doc=5), ["N-CONTEXT"]),
    "an option that is not allowed": (sub(include_uris__prefix=NEWS, max_sites=5), ["N-CONTEXT"]),
    "a section that is not allowed": (sub(include_uris__prefix=NEWS, limits__max_doc=5), ["N-CONTEXT"]),
    "no rules": (sub(delay=5.0), ["N-CONTEXT"]),
    "refresh is no shorter": (sub(include_uris__prefix=NEWS, refresh=1500.0), ["N-CONFLICT"]),
}  # fmt: skip


@pytest.mark.parametrize(("inside", "told"), TOLD.values(), ids=TOLD)
def test_what_has_no_effect_is_reported(tmp_path: Path, inside: str, told: list[str]) -> None:
    loaded = load(tmp_path, inside)
    assert codes(loaded) == told
    assert loaded.project
    news = loaded.project.sources.get("handbook.news")
    assert news is None or (news.limits.pages_per_site, news.refresh.interval) == (100_000, 90_000)


def test_fast_2_8_a_section_names_all_and_elements_add(tmp_path: Path) -> None:
    rules = {"include_domains/exact": ("n.example",)}
    section = f'<section name="subdomains"><section name="s">{fast_options(rules)}</section></section>'
    (tmp_path / "crawlercollectiondefaults.xml").write_text(
        fast_xml(inside=sub("d", include_uris__prefix=NEWS))
    )
    element = sub("e", include_uris__suffix=("/e",))
    added = load(tmp_path, element)
    assert added.project
    assert list(added.project.sources) == ["handbook", "handbook.d", "handbook.e"]
    replaced = load(tmp_path, element + section)
    assert replaced.project
    assert list(replaced.project.sources) == ["handbook", "handbook.s", "handbook.e"]


def test_fast_5_links_go_to_a_collection_of_the_file_only(tmp_path: Path) -> None:
    loaded = load(tmp_path, "", send_links_to="nowhere")
    assert codes(loaded) == ["N-CONTEXT"]
    assert loaded.project
    assert loaded.project.sources["handbook"].send_links_to == ()


LOGIN = (
    '<Login name="members"><attrib name="site" type="string">n.example</attrib>'
    '<attrib name="form" type="string">/in</attrib>'
    '<section name="parameters"><attrib name="u" type="string">v</attrib></section></Login>'
)


def test_fast_5_32_a_sub_collection_has_the_logins_of_the_collection(tmp_path: Path) -> None:
    loaded = load(tmp_path, LOGIN + sub(include_domains__exact=("n.example",)))
    assert loaded.project, loaded.findings
    main, news = loaded.project.sources.values()
    assert list(main.logins) == list(news.logins) == ["members"]
    assert news.logins["members"].action == main.logins["members"].action


def names(loaded: Loaded) -> list[str]:
    assert loaded.project, [str(finding) for finding in loaded.findings]
    return list(loaded.project.sources)


def test_names_that_would_be_the_same_are_distinguished(tmp_path: Path) -> None:
    parts = [
        sub(name, include_domains__exact=(f"{number}.example",)) for number, name in enumerate(("a b", "a/b"))
    ]
    loaded = load(tmp_path, "".join(parts))
    assert names(loaded) == ["handbook", "handbook.a-b", "handbook.a-b-2"]
    assert whose(loaded, "http://0.example/") == ["handbook.a-b"]
    assert whose(loaded, "http://1.example/") == ["handbook.a-b-2"]


def test_a_collection_does_not_go_where_a_sub_collection_has_its_name(tmp_path: Path) -> None:
    first = fast_xml({"start_uris": START}, name="x.y")
    second = fast_xml({"start_uris": START}, inside=sub("y", include_uris__prefix=NEWS), name="x")
    both = [text.partition("<CrawlerConfig>")[2].partition("</CrawlerConfig>")[0] for text in (first, second)]
    (tmp_path / "a.xml").write_text(f"<CrawlerConfig>{''.join(both)}</CrawlerConfig>")
    assert names(read_definitions(tmp_path / "a.xml")) == ["x.y", "x", "x.y-2"]


SCHEMES = {
    "neither": ("http", "http", ("http",), ("http",)),
    "the collection": ("https", "http", ("http", "https"), ("http", "https")),
    "the sub-collection": ("http", "https", ("http",), ("http", "https")),
}


@pytest.mark.parametrize(("whole", "part", "of_whole", "of_part"), SCHEMES.values(), ids=SCHEMES)
def test_fast_4_https_comes_with_a_start_uri_of_the_collection_or_of_its_part(
    tmp_path: Path, whole: str, part: str, of_whole: tuple[str, ...], of_part: tuple[str, ...]
) -> None:
    inside = sub(include_domains__exact=("n.example",), start_uris=(f"{part}://n.example/",))
    loaded = load(tmp_path, inside, start_uris=(f"{whole}://a.example/",))
    assert loaded.project
    assert [one.boundary.schemes for one in loaded.project.sources.values()] == [of_whole, of_part]


KINDS = {
    "start_uris": "start_urls",
    "start_uri_files": "start_urls",
    "rss__start_uris": "feeds",
    "rss__start_uri_files": "feeds",
}


@pytest.mark.parametrize(("option", "list_"), KINDS.items(), ids=KINDS)
def test_the_scheme_of_a_start_uri_goes_with_it_to_the_collection(
    tmp_path: Path, option: str, list_: str
) -> None:
    url = "https://a.example/"
    (tmp_path / "more.txt").write_text(f"# seeds\n{url}\n")
    written = "more.txt" if option.endswith("files") else url
    inside = sub(include_uris__prefix=NEWS, **{option: (written,)})
    loaded = load(tmp_path, inside, start_uris=("http://b.example/",))
    assert loaded.project, loaded.findings
    main, news = loaded.project.sources.values()
    begun = main.feeds.urls if list_ == "feeds" else main.start_urls
    assert url in begun
    assert main.boundary.schemes == news.boundary.schemes == ("http", "https")
    assert codes(loaded) == ["N-SCHEME"]


def test_the_scheme_of_a_start_uri_stays_when_it_goes_to_a_sub_collection(tmp_path: Path) -> None:
    loaded = load(
        tmp_path, sub(include_uris__prefix=("https://a.example/",)), start_uris=("https://a.example/x",)
    )
    assert loaded.project, loaded.findings
    main, news = loaded.project.sources.values()
    assert (main.start_urls, news.start_urls) == ((), ("https://a.example/x",))
    assert main.boundary.schemes == news.boundary.schemes == ("http", "https")


def test_the_sites_of_all_start_uris_are_those_of_the_collection_and_of_each_part(tmp_path: Path) -> None:
    inside = sub(include_uris__prefix=NEWS, start_uris=("http://a.example/news/1", "http://b.example/"))
    inside += sub("wiki", include_domains__exact=("wiki.example",), start_uris=("http://wiki.example/",))
    loaded = load(tmp_path, inside, start_uris=("http://c.example/",))
    assert loaded.project, loaded.findings
    own = {"http://a.example/", "http://b.example/", "http://c.example/", "http://wiki.example/"}
    assert [set(one.own_sites) for one in loaded.project.sources.values()] == [own] * 3
