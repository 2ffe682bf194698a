"""Files of DocSearch scrapers, in the forms that are written: what each option does with URLs and pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from ultracrawl.content.reader import PageHeaders
from ultracrawl.model import Document, Page
from ultracrawl.sources import CompiledSource, Loaded, compile_source, load_project, require
from ultracrawl.sources.dialects import read_definitions

SITE = "https://docs.example.com"
PAGE = """<html><head><title>Pumps | Docs</title><meta name="docsearch:version" content="2.1"></head><body>
<nav class="menu"><a>Other</a> <a class="active">Guide.</a></nav>
<article><h1 id="pumps">Pumps:</h1><p>Water is moved.</p>
<h2 id="seals">Seals</h2><p>Rubber ages. <span class="ad">Buy now</span></p><ul><li>Replace it</li></ul>
<div class="term"><a name="valve"></a>Valve</div><p>It closes.</p></article><footer>Imprint</footer></body></html>"""
SELECTORS = {"lvl0": "h1", "lvl1": "h2", "text": "article p, article li"}


def write(tmp_path: Path, **options: Any) -> Path:
    file = tmp_path / "docsearch.json"
    whole = {"index_name": "docs", "start_urls": [f"{SITE}/"], "selectors": SELECTORS, **options}
    written = {key: value for key, value in whole.items() if value is not None}
    file.write_text(json.dumps(written, indent="\t"))
    return file


class Read:
    """A file that was read, with what becomes of URLs and pages."""

    def __init__(self, loaded: Loaded) -> None:
        self.project = require(loaded)
        (self.source,) = self.project.sources.values()
        self.rules: CompiledSource = compile_source(self.source, self.project)

    def inside(self, *urls: str) -> list[str]:
        return [url for url in urls if self.rules.boundary.rejects(SITE + url) is None]

    def page(self, url: str = "/a", html: str = PAGE) -> Page:
        page = self.rules.reader.read(html.encode(), SITE + url, "text/html", PageHeaders("text/html"))
        assert page is not None
        return page

    def sections(self, url: str = "/a", html: str = PAGE) -> list[tuple[int, str, str]]:
        return [(one.level, one.anchor, one.title) for one in self.page(url, html).sections]

    def attributes(self, url: str = "/a", html: str = PAGE) -> dict[str, Any]:
        page = self.page(url, html)
        found = {**page.meta, **page.picked}
        whole = Document(
            SITE + url, SITE + url, "docs", page.title, page.text, "en", "text/html", attributes=found
        )
        return dict(self.rules.attributes.map(whole).values)

    def boost(self, url: str) -> float:
        factor = 1.0
        for prefix, each in self.project.index.boosts.items():
            factor *= each if (SITE + url).startswith(prefix.removesuffix("*")) else 1
        return factor


def read(tmp_path: Path, **options: Any) -> Read:
    return Read(read_definitions(write(tmp_path, **options)))


# ---- start URLs


def test_a_plain_file(tmp_path: Path) -> None:
    found = read(tmp_path, start_urls=[f"{SITE}/guide/"])
    assert found.source.name == "docs"
    assert found.rules.seeds == (f"{SITE}/guide/",)
    assert found.inside("/guide/x", "/guide/", "/blog/", "/") == ["/guide/x", "/guide/"]
    assert found.rules.boundary.rejects("http://docs.example.com/guide/y") is None, "the scheme plays no part"
    assert found.sections() == [(1, "pumps", "Pumps"), (2, "seals", "Seals")]
    assert found.page().text == "Pumps\nWater is moved\nSeals\nRubber ages. Buy now\nReplace it\nIt closes"


def test_a_start_url_may_be_a_text_in_place_of_a_list(tmp_path: Path) -> None:
    assert read(tmp_path, start_urls=f"{SITE}/x").rules.seeds == (f"{SITE}/x",)


def test_variables_make_start_urls_and_attributes(tmp_path: Path) -> None:
    pattern = f"{SITE}/(?P<lang>.*?)/(?P<release>.*?)/"
    variables = {"lang": ["en", "de"], "release": ["v1", "v2"]}
    found = read(tmp_path, start_urls=[{"url": pattern, "variables": variables}])
    assert found.rules.seeds == tuple(
        f"{SITE}/{lang}/{version}/" for lang in ("en", "de") for version in ("v1", "v2")
    )
    assert found.inside("/en/v1/a", "/en/v3/a", "/fr/v1/a") == ["/en/v1/a"]
    attributes = found.attributes("/de/v2/a")
    assert (attributes["lang"], attributes["release"]) == (["de"], ["v2"])


def test_expressions_decide_about_links_and_are_not_fetched(tmp_path: Path) -> None:
    found = read(tmp_path, start_urls=[f"{SITE}/", f"{SITE}/api/v[0-9]+/", f"{SITE}/faq/$"][:3])
    assert found.rules.seeds == (f"{SITE}/", f"{SITE}/faq/")
    found = read(tmp_path, start_urls=[f"{SITE}/start$", rf"{SITE}/api/v[0-9]+/(list|get)"])
    assert found.inside("/api/v1/list/x", "/api/vx/list", "/start", "/start/x") == [
        "/api/v1/list/x",
        "/start",
    ]


def test_the_rank_of_a_page_is_an_attribute_and_a_boost(tmp_path: Path) -> None:
    starts = [{"url": f"{SITE}/", "page_rank": 1}, {"url": f"{SITE}/guide/", "page_rank": 5}, f"{SITE}/old/"]
    starts.append({"url": f"{SITE}/blog/", "page_rank": -3})
    found = read(tmp_path, start_urls=starts)
    ranks = [found.attributes(url).get("page_rank") for url in ("/guide/a", "/x", "/blog/a", "/old/a")]
    assert ranks == [[5.0], [1.0], [-3.0], None]
    factors = [found.boost(url) for url in ("/guide/a", "/x", "/old/a", "/blog/a")]
    assert factors == pytest.approx([1.61, 1.1, 1.0, 0.75], abs=0.01)


def test_tags_are_those_of_the_most_precise_start_url(tmp_path: Path) -> None:
    starts = [
        f"{SITE}/",
        {"url": f"{SITE}/guide/", "tags": ["guide", "all"]},
        {"url": f"{SITE}/guide/api", "tags": ["api"]},
    ]
    found = read(tmp_path, start_urls=starts)
    tags = [found.attributes(url).get("tags") for url in ("/x", "/guide/x", "/guide/api/x")]
    assert tags == [None, ["guide", "all"], ["api"]]


def test_further_attributes_of_a_start_url(tmp_path: Path) -> None:
    extra = {"product": "pump", "public": True}
    found = read(tmp_path, start_urls=[{"url": f"{SITE}/", "extra_attributes": extra}])
    assert found.attributes()["product"] == ["pump"]
    assert found.attributes()["public"] == ["true"]


def test_keys_of_selectors_hold_for_the_pages_of_a_start_url(tmp_path: Path) -> None:
    selectors = {"default": SELECTORS, "term": {"lvl0": "h1", "lvl1": ".term", "text": "li"}}
    starts = [f"{SITE}/", {"url": f"{SITE}/terms/", "selectors_key": "term"}]
    found = read(tmp_path, start_urls=starts, selectors=selectors)
    assert [title for _, _, title in found.sections("/a")] == ["Pumps", "Seals"]
    assert found.sections("/terms/a") == [(1, "pumps", "Pumps"), (2, "valve", "Valve")]
    assert found.page("/terms/a").text == "Pumps\nReplace it\nValve"


def test_a_rank_may_be_any_number(tmp_path: Path) -> None:
    for rank in (1e300, -1e300):
        assert read(tmp_path, start_urls=[{"url": f"{SITE}/", "page_rank": rank}]).sections()


def test_start_pages_may_be_read_for_their_links_only(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in ["scrape_start_urls", "scrap_start_urls"]:
        with subtests.test(name):
            found = read(tmp_path, **{name: False})
            assert found.rules.boundary.follow_only(f"{SITE}/")
            assert not found.rules.boundary.follow_only(f"{SITE}/a")
            assert not read(tmp_path, **{name: True}).rules.boundary.follow_only(f"{SITE}/")


# ---- scope


def test_stop_urls_are_urls_or_expressions(tmp_path: Path) -> None:
    found = read(tmp_path, stop_urls=[f"{SITE}/old", "/print$", "\\?lang=(fr|es)", "draft"])
    urls = ("/a", "/old/x", "/a/print", "/a/printer", "/a?lang=fr", "/a?lang=en", "/x/draft-1")
    assert found.inside(*urls) == ["/a", "/a/printer", "/a?lang=en"]


def test_allowed_domains(tmp_path: Path) -> None:
    found = read(tmp_path, allowed_domains=["example.com"], start_urls=[f"{SITE}/", "https://other.example/"])
    assert found.rules.boundary.rejects("https://docs.example.com/a") is None
    assert found.rules.boundary.rejects("https://other.example/a") is not None


def test_without_sitemaps_none_is_read(tmp_path: Path) -> None:
    assert not read(tmp_path).source.sitemaps.use
    found = read(tmp_path, sitemap_urls=[f"{SITE}/sitemap.xml"])
    assert found.source.sitemaps.urls == (f"{SITE}/sitemap.xml",)
    assert not found.source.sitemaps.discover


def test_pages_of_sitemaps_may_be_let_in_by_expressions(tmp_path: Path) -> None:
    sitemap = {"sitemap_urls": [f"{SITE}/sitemap.xml"], "start_urls": [f"{SITE}/guide/"]}
    assert read(tmp_path, **sitemap).inside("/blog/a") == []
    assert read(tmp_path, **sitemap, sitemap_urls_regexs=["/blog/"]).inside("/blog/a", "/x") == ["/blog/a"]
    forced = read(tmp_path, **sitemap, force_sitemap_urls_crawling=True)
    assert forced.inside("/blog/a", "/x") == ["/blog/a", "/x"]
    assert forced.source.sitemaps.only


def test_a_sitemap_is_enough_to_begin_with(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for starts in [None, [], [""]]:
        with subtests.test(starts=starts):
            found = read(tmp_path, start_urls=starts, sitemap_urls=[f"{SITE}/sitemap.xml"])
            assert found.rules.seeds == (f"{SITE}/",)
            assert found.inside("/any/page") == ["/any/page"]


def test_queries_may_be_removed(tmp_path: Path) -> None:
    found = read(tmp_path, remove_get_params=True)
    assert found.rules.url_policy.canonical(f"{SITE}/a?x=1") == f"{SITE}/a"


# ---- selectors


def test_a_level_of_the_whole_page_is_an_attribute(tmp_path: Path) -> None:
    lvl0 = {"selector": ".menu .active", "global": True, "default_value": "Documentation"}
    found = read(tmp_path, selectors={**SELECTORS, "lvl0": lvl0, "lvl2": ".term"})
    assert found.attributes()["lvl0"] == ["Guide"]
    assert found.attributes(html="<article><p>x</p></article>")["lvl0"] == ["Documentation"]
    assert found.sections() == [(2, "seals", "Seals"), (3, "valve", "Valve")]


def test_xpath(tmp_path: Path) -> None:
    path = "(//nav[contains(@class,'menu')]//a[contains(@class,'active')]/text())[last()]"
    lvl0 = {"selector": path, "type": "xpath", "global": True, "default_value": "Docs"}
    lvl1 = {"selector": "//article/h1", "type": "xpath"}
    lvl2 = {"selector": "//div[@class='term']", "type": "xpath"}
    text = {"selector": "//article//p | //article//li[not(@class)]", "type": "xpath"}
    found = read(tmp_path, selectors={"lvl0": lvl0, "lvl1": lvl1, "lvl2": lvl2, "text": text})
    assert found.attributes()["lvl0"] == ["Guide"]
    assert found.sections() == [(2, "pumps", "Pumps"), (3, "valve", "Valve")]


def test_xpath_of_another_part_of_the_page_is_an_attribute(tmp_path: Path) -> None:
    lvl0 = {"selector": "//h1/preceding::a[contains(@class,'active')]", "type": "xpath"}
    found = read(tmp_path, selectors={**SELECTORS, "lvl0": lvl0})
    assert found.attributes()["lvl0"] == ["Guide"]
    assert found.sections() == [(2, "seals", "Seals")]


def test_a_constant_level(tmp_path: Path) -> None:
    found = read(
        tmp_path, selectors={**SELECTORS, "lvl0": {"selector": "", "default_value": "Manual"}, "lvl1": "h1"}
    )
    assert found.attributes()["lvl0"] == ["Manual"]
    assert found.sections() == [(2, "pumps", "Pumps")]


def test_a_default_stands_for_headings_that_a_page_lacks(tmp_path: Path) -> None:
    found = read(tmp_path, selectors={**SELECTORS, "lvl1": {"selector": "h2", "default_value": "Chapter"}})
    assert found.attributes()["lvl1"] == ["Chapter"], "records take it where no heading is above"
    assert found.attributes(html="<article><h1>A</h1><p>x</p></article>")["lvl1"] == ["Chapter"]


def test_other_names_are_attributes(tmp_path: Path) -> None:
    found = read(tmp_path, selectors={**SELECTORS, "company": {"selector": "footer", "global": True}})
    assert found.attributes()["company"] == ["Imprint"]
    assert found.attributes()["version"] == ["2.1"], "from META"


def test_every_meta_of_scrapers_is_an_attribute(tmp_path: Path) -> None:
    meta = {
        "docsearch:version": "1.0, next",
        "docsearch:docusaurus_tag": "docs",
        "docs-scraper:language": "en",
    }
    head = "".join(f'<meta name="{name}" content="{value}">' for name, value in meta.items())
    found = read(tmp_path).attributes(html=f"{head}<meta name=robots-note content=x>{PAGE}")
    assert found["version"] == ["1.0", "next", "2.1"]
    assert found["docusaurus_tag"] == ["docs"]
    assert found["RD_Fields"] == ["language=en"]


def test_characters_are_stripped(tmp_path: Path) -> None:
    assert read(tmp_path, strip_chars="Ps").sections()[0] == (1, "pumps", "umps:")
    assert read(tmp_path, strip_chars="").sections()[0] == (1, "pumps", "Pumps:")
    of_its_level = {**SELECTORS, "lvl0": {"selector": "h1", "strip_chars": "P"}}
    assert read(tmp_path, selectors=of_its_level).sections() == [(1, "pumps", "umps:"), (2, "seals", "Seals")]
    own = {**SELECTORS, "lvl0": {"selector": "footer", "global": True, "strip_chars": "It"}}
    assert read(tmp_path, selectors=own).attributes()["lvl0"] == ["mprin"]


def test_elements_may_be_excluded(tmp_path: Path) -> None:
    text = read(tmp_path, selectors_exclude=[".ad", "footer"]).page().text
    assert "Rubber ages" in text
    assert "Buy" not in text


ASKED_FOR: list[tuple[dict[str, Any], str, bool]] = [
    ({}, "<article><h1>Only</h1></article>", True),
    ({}, "<div>Nothing</div>", False),
    ({"min_indexed_level": 1}, "<article><h1>Only</h1></article>", False),
    ({"min_indexed_level": 1}, "<article><h1>A</h1><h2>B</h2></article>", True),
    ({"min_indexed_level": {"default": 2}}, "<article><h1>A</h1><h2>B</h2></article>", False),
    ({"min_indexed_level": 2}, "<article><h1>A</h1><p>text</p></article>", True),
    ({"only_content_level": True}, "<article><h1>A</h1><h2>B</h2></article>", False),
    ({"only_content_level": True}, "<article><p>text</p></article>", True),
]


def test_pages_without_what_is_asked_for_are_not_indexed(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for options, html, has in ASKED_FOR:
        with subtests.test(options=options, html=html):
            assert read(tmp_path, **options).page(html=html).has_content is has


# ---- requests


def test_scripts_run_if_asked_for(tmp_path: Path) -> None:
    assert read(tmp_path).source.javascript.use is False
    javascript = read(tmp_path, js_render=True, js_wait=1.5).source.javascript
    assert (javascript.use, javascript.keep_html, javascript.wait) == (True, True, 1.5)


def test_headers_and_user_agent(tmp_path: Path) -> None:
    found = read(tmp_path, user_agent="Docs bot", headers={"X-Key": "v"}, download_timeout=60)
    assert found.source.limits.timeout == 60
    assert found.rules.headers["User-Agent"] == "Docs bot"
    assert found.rules.headers["X-Key"] == "v"


# ---- findings and conversion


SCRIPTED = {"url": f"{SITE}/(?P<v>.*?)/", "variables": {"v": {"url": "x", "js": "y"}}}


def findings(tmp_path: Path, **options: Any) -> list[tuple[int, str, bool]]:
    file = write(tmp_path, **options)
    lines = file.read_text().splitlines()
    found = read_definitions(file).findings
    assert all(finding.file == str(file) for finding in found)
    assert all(finding.instead for finding in found)
    for finding in found:
        if finding.key not in (
            "start_urls",
            "selectors_exclude",
            "stop_urls",
        ):  # a member is in a line of its own
            assert finding.key.split(".")[-1] in lines[finding.line - 1]
    return [(finding.line, finding.key, finding.fatal) for finding in found]


def test_a_sound_file_has_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path) == []


def test_options_without_a_meaning_here_are_hints(tmp_path: Path) -> None:
    options = {
        "nb_hits": 12,
        "custom_settings": {"synonyms": {}},
        "conversation_id": ["1"],
        "stop_content": ["x"],
    }
    found = findings(tmp_path, **options)
    assert [(key, fatal) for _, key, fatal in found] == [(name, False) for name in options]


MISTAKES: list[tuple[dict[str, Any], str, bool]] = [
    ({"selector_exclude": []}, "selector_exclude", False),
    ({"start_urls": [{"url": f"{SITE}/", "page_ranks": 3}]}, "start_urls.page_ranks", False),
    ({"start_urls": [{"url": f"{SITE}/", "page_rank": "high"}]}, "start_urls.page_rank", True),
    ({"start_urls": [{"url": f"{SITE}/(?P<lang>.*?)/"}]}, "start_urls", True),
    ({"start_urls": [SCRIPTED]}, "start_urls.variables", True),
    ({"start_urls": ["docs.example.com"]}, "start_urls", True),
    ({"start_urls": [{"url": f"{SITE}/", "selectors_key": "none"}]}, "start_urls.selectors_key", False),
    ({"selectors": {"lvl0": "h1", "text": "p["}}, "selectors.text", True),
    ({"selectors": {"lvl0": {"selector": "//h1/preceding::h3[1]", "type": "xpath"}}}, "selectors.lvl0", False),
    ({"selectors": {"lvl0": "h1", "text": {"selector": "//p/..", "type": "xpath"}}}, "selectors.text", True),
    ({"selectors": {"lvl0": {"selector": "//h1[", "type": "xpath", "global": True}}}, "selectors.lvl0", True),
    ({"selectors": {"lvl0": {"select": "h1"}}}, "selectors.lvl0.select", False),
    ({"selectors_exclude": ["p["]}, "selectors_exclude", True),
    ({"stop_urls": ["(open"]}, "stop_urls", True),
    ({"js_wait": 2}, "js_wait", False),
    ({"scrape_start_urls": 1}, "scrape_start_urls", True),
    ({"only_content_level": "true"}, "only_content_level", True),
    ({"js_render": "false"}, "js_render", True),
    ({"remove_get_params": 0}, "remove_get_params", True),
    ({"sitemap_urls": [f"{SITE}/s.xml"], "force_sitemap_urls_crawling": "no"}, "force_sitemap_urls_crawling", True),
    ({"sitemap_alternate_links": "yes"}, "sitemap_alternate_links", True),
    ({"start_urls": [{"url": f"{SITE}/", "scrape": "no"}]}, "start_urls.scrape", True),
    ({"selectors": {"lvl0": {"selector": "h1", "global": 7}}}, "selectors.lvl0.global", True),
    ({"strip_chars": 3}, "strip_chars", True),
    ({"selectors": {"lvl0": {"selector": "h1", "strip_chars": [1]}}}, "selectors.lvl0.strip_chars", True),
    ({"min_indexed_level": True}, "min_indexed_level", True),
    ({"min_indexed_level": {"default": "two"}}, "min_indexed_level", True),
    ({"start_urls": [{"url": f"{SITE}/", "extra_attributes": {"a b": 1}}]}, "start_urls", False),
    ({"selectors": {**SELECTORS, "a-b": "footer"}}, "selectors.a-b", False),
    ({"min_indexed_level": "inf"}, "min_indexed_level", True),
    ({"start_urls": [{"url": f"{SITE}/", "page_rank": "nan"}]}, "start_urls.page_rank", True),
]  # fmt: skip


def test_mistakes_have_their_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for options, key, fatal in MISTAKES:
        with subtests.test(options=options, key=key):
            found = findings(tmp_path, **options)
            assert (key, fatal) in [(each, is_fatal) for _, each, is_fatal in found]
            assert all(line > 0 for line, _, _ in found)


NO_JSON = ['{"index_name": "x",\n "start_urls": [}', '{"index_name": "x", "a": "\\ud800"']


def test_a_file_that_is_no_json_is_one_finding(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for text in NO_JSON:
        with subtests.test(text):
            file = tmp_path / "docsearch.json"
            file.write_text(text)
            (finding,) = read_definitions(file).findings
            assert finding.fatal
            assert finding.line == text.count("\n") + 1


def test_lines_are_those_of_the_members_however_they_are_written(tmp_path: Path) -> None:
    file = tmp_path / "docsearch.json"
    starts = '"start_urls": ["https://a.example/",\n\n{"url":\n"b"} , 3]'
    file.write_text('\ufeff{"index_uid": "a\\/b", ' + starts + ',\n"selectors": {"lvl0": "h1"},"x":\t1}')
    found = [(finding.line, finding.key) for finding in read_definitions(file).findings]
    assert found == [(3, "start_urls"), (4, "start_urls"), (5, "x")]


def test_the_converted_file_says_the_same(tmp_path: Path) -> None:
    from ultracrawl.sources import definition_text

    lvl0 = {"selector": ".active", "global": True, "default_value": "Docs"}
    selectors = {"default": {**SELECTORS, "lvl0": lvl0}, "term": {"lvl0": ".term", "text": "li"}}
    starts = [f"{SITE}/", {"url": f"{SITE}/t/", "selectors_key": "term", "tags": ["t"], "page_rank": 2}]
    file = write(
        tmp_path, start_urls=starts, selectors=selectors, stop_urls=["/x$"], sitemap_urls=[f"{SITE}/s.xml"]
    )
    project = require(read_definitions(file))
    text = definition_text(project, tmp_path)
    (tmp_path / "ultracrawl.yaml").write_text(text)
    again = require(load_project(tmp_path / "ultracrawl.yaml"))
    assert again.sources == project.sources
    assert again.index.boosts == project.index.boosts
    assert yaml.safe_load(text)["attributes"]["page_rank"] == "number"


ODD: list[Any] = [
    None,
    3,
    "x",
    "",
    True,
    [],
    {},
    [1],
    [None],
    [[]],
    {"a": 1},
    {"default": {"lvl0": 3}},
    "http://[",
    ["http://["],
]


OTHER_TYPES = [
    "index_name",
    "start_urls",
    "stop_urls",
    "sitemap_urls",
    "sitemap_urls_regexs",
    "selectors",
    "selectors_exclude",
    "strip_chars",
    "min_indexed_level",
    "only_content_level",
    "scrape_start_urls",
    "allowed_domains",
    "js_render",
    "js_wait",
    "user_agent",
    "headers",
    "remove_get_params",
    "download_timeout",
    "force_sitemap_urls_crawling",
    "custom_settings",
]


def test_values_of_other_types_are_findings(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for key in OTHER_TYPES:
        with subtests.test(key):
            for value in ODD:
                loaded = read_definitions(write(tmp_path, **{"sitemap_urls": [f"{SITE}/s.xml"], key: value}))
                assert loaded.project is not None or any(finding.fatal for finding in loaded.findings), value


OTHER_TYPES_IN_START_URLS = [
    "url",
    "page_rank",
    "tags",
    "selectors_key",
    "variables",
    "extra_attributes",
]


def test_values_of_other_types_in_a_start_url_are_findings(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for key in OTHER_TYPES_IN_START_URLS:
        with subtests.test(key):
            for value in ODD:
                start = {"url": f"{SITE}/(?P<v>.*?)/", "variables": {"v": ["1"]}, key: value}
                loaded = read_definitions(write(tmp_path, start_urls=[start]))
                assert loaded.project is not None or any(finding.fatal for finding in loaded.findings), value
