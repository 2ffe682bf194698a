"""What a collection's file may say and how, and which damage is forgiven with a notice (FAST 2, 5, 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.fast import fast_xml
from support.sentences import sentence

from ultracrawl.sources import DataSource, Loaded
from ultracrawl.sources.dialects import read_definitions

START = '<attrib name="start_uris" type="list-string"><member>http://a.example/</member></attrib>\n'


def load(folder: Path, inside: str, name: str = "handbook") -> Loaded:
    file = folder / "collection.xml"
    file.write_text(fast_xml(inside=START + inside, name=name))
    return read_definitions(file)


def codes(loaded: Loaded) -> list[str]:
    return [finding.problem.partition(":")[0] for finding in loaded.findings]


def only(loaded: Loaded) -> DataSource:
    assert loaded.project, [str(finding) for finding in loaded.findings]
    (source,) = loaded.project.sources.values()
    return source


def value(loaded: Loaded, path: str) -> Any:
    found: Any = only(loaded)
    for step in (one.replace(";", ".") for one in path.split(".")):
        found = found[step] if isinstance(found, dict) else getattr(found, step)
    return found


def attrib(name: str, kind: str, text: str) -> str:
    return f'<attrib name="{name}" type="{kind}">{text}</attrib>\n'


def members(name: str, *texts: str, kind: str = "list-string") -> str:
    return attrib(name, kind, "".join(f"<member>{text}</member>" for text in texts))


def section(name: str, inside: str) -> str:
    return f'<section name="{name}">{inside}</section>\n'


ERRORS = "errors.http.408"
CASES: dict[str, tuple[str, str, Any, list[str]]] = {
    "fast_vector_1-white space around everything": (
        '<attrib\n  name="\n delay "\n type="\treal ">\n 7.5 </attrib>', "politeness.delay", 7.5, []),
    "fast_vector_2-another spelling": (
        attrib("hmtl_redir_threshold", "integer", "7"), "links.refresh_seconds", 7, ["N-ALIAS"]),
    "fast_7_9-the usual spelling counts": (
        attrib("html_redir_thresh", "integer", "5") + attrib("html_redir_threshold", "integer", "7"),
        "links.refresh_seconds", 5, ["N-ALIAS", "N-DUPLICATE"]),
    "fast_7_9-the usual spelling counts, though last": (
        attrib("html_redir_threshold", "integer", "7") + attrib("html_redir_thresh", "integer", "5"),
        "links.refresh_seconds", 5, ["N-ALIAS", "N-DUPLICATE"]),
    "fast_vector_3-empty is off": (attrib("max_inter_docs", "integer", ""), "sites.max_inter_docs", None, []),
    "empty where that has no meaning": (attrib("delay", "real", " "), "politeness.delay", 60, ["N-EMPTY"]),
    "yes": (attrib("truncate", "boolean", "no"), "truncate", False, []),
    "yes in another case": (attrib("truncate", "boolean", "NO"), "truncate", False, ["N-CASE"]),
    "true for yes": (attrib("sort_query_params", "boolean", "true"), "urls.normalise", ("query_order",), ["N-RANGE"]),
    "off for no": (attrib("truncate", "boolean", "Off"), "truncate", False, ["N-RANGE"]),
    "an integer with a point": (attrib("max_pending", "integer", "4.0"), "politeness.concurrency", 4, ["N-TYPE"]),
    "a real without a point": (attrib("delay", "real", "60"), "politeness.delay", 60.0, []),
    "a real with an exponent": (attrib("delay", "real", "+1.5e1"), "politeness.delay", 15.0, []),
    "another type": (attrib("delay", "string", "5"), "politeness.delay", 5.0, ["N-TYPE"]),
    "no type": ('<attrib name="delay">5</attrib>', "politeness.delay", 5.0, ["N-TYPE"]),
    "below the bound": (attrib("max_pending", "integer", "0"), "politeness.concurrency", 1, ["N-RANGE"]),
    "above the bound": (attrib("max_uri_recursion", "integer", "101"), "urls.max_uri_recursion", 100, ["N-RANGE"]),
    "negative": (section("adaptive", section("weights", attrib("sitemap", "real", "-1"))),
        "refresh.adaptive.weights.sitemap", 0, ["N-RANGE"]),
    "fast_41-no cut-off": (attrib("cut_off", "integer", "0"), "cut_off", None, ["N-RANGE"]),
    "a word in another case": (attrib("refresh_mode", "string", "SOFT"), "refresh.mode", "soft", ["N-CASE"]),
    "an unknown word": (attrib("refresh_mode", "string", "sof"), "refresh.mode", "scratch", ["N-RANGE"]),
    "fast_7_8-schemes in capitals": (members("allowed_schemes", "HTTP", "HTTPS"),
        "boundary.schemes", ("http", "https"), []),
    "an unknown scheme": (members("allowed_schemes", "http", "gopher"), "boundary.schemes", ("http",), ["N-MEMBER"]),
    "a list without members": (attrib("uri_search_mime", "list-string", "text/html"),
        "links.types", ("text/html",), ["N-MEMBER"]),
    "text beside members": (attrib("uri_search_mime", "list-string", "x<member>text/html</member>"),
        "links.types", ("text/html",), ["N-MEMBER"]),
    "empty and double members": (members("uri_search_mime", "", "text/html", " ", "text/html"),
        "links.types", ("text/html",), ["N-MEMBER"]),
    "fast_2_5-an empty list that means the default": (attrib("allowed_schemes", "list-string", ""),
        "boundary.schemes", ("http",), ["N-EMPTY"]),
    "fast_7_5-one member for a single value": (members("delay", "7", kind="real"),
        "politeness.delay", 7.0, ["N-TYPE"]),
    "the last one is used": (attrib("delay", "real", "5") + attrib("delay", "real", "6"),
        "politeness.delay", 6.0, ["N-DUPLICATE"]),
    "a section twice is merged": (
        section("limits", attrib("max_doc", "integer", "5")) + section("limits", attrib("disk_free", "integer", "6")),
        "limits.documents", 5, ["N-DUPLICATE"]),
    "unknown option": (attrib("dely", "real", "5"), "politeness.delay", 60, ["N-UNKNOWN"]),
    "name in another case": (attrib("Delay", "real", "5"), "politeness.delay", 60, ["N-UNKNOWN"]),
    "unknown section": (section("foo", attrib("a", "string", "b")), "politeness.delay", 60, ["N-UNKNOWN"]),
    "section in a wrong place": (section("weights", attrib("sitemap", "real", "1")),
        "refresh.adaptive.weights.sitemap", 10, ["N-CONTEXT"]),
    "unknown element": ("<attribute name='delay'>5</attribute>", "politeness.delay", 60, ["N-UNKNOWN"]),
    "unknown attribute": ('<attrib name="delay" type="real" unit="s">5</attrib>',
        "politeness.delay", 5, ["N-UNKNOWN"]),
    "fast_7-option of a section outside of it": (attrib("fwdlinks", "boolean", "no"),
        "boundary.other_hosts.links", True, ["N-UNKNOWN"]),
    "fast_vector_4_6-extensions": (members("exclude_exts", ".png", "zip, .TAR"),
        "boundary.exclude_extensions", (".png", ".zip", ".tar"), []),
    "fast_vector_35-types": (members("allowed_types", "text/*", "*/html"), "types", ("text/*",), ["N-MEMBER"]),
    "fast_39_7_14-names that servers do not send": (members("allowed_types", "application/msexcel"),
        "types", ("application/msexcel", "application/vnd.ms-excel"), []),
    "fast_140_29-patterns, codes, separators": (
        section("http_errors", attrib("40X", "string", "DELETE:2、RETRY") + attrib("408", "string", "keep:0")),
        ERRORS, "keep:0", []),
    "fast_146-defaults stay": (
        section("ftp_errors", attrib("421", "string", "KEEP")), "errors.ftp.ttl", "DELETE:3", []),
    "fast_200-FULL": (section("crawlmode", attrib("mode", "string", "FULL")), "depth", None, []),
    "fast_200-in another case": (section("crawlmode", attrib("mode", "string", "full")), "depth", None, ["N-CASE"]),
    "fast_200-depth in another case": (section("crawlmode", attrib("mode", "string", "depth:3")), "depth", 3, []),
    "fast_39-masks with blanks": (
        section("include_domains", members("ipmask", "192.0.2.0 /24") + members("exact", "a.example")),
        "boundary.domains.include.__len__", None, []),
    "fast_149-a level that does not exist": (
        section("workqueue_priority", attrib("default", "integer", "4") + attrib("levels", "integer", "2")),
        "priority.default", 2, ["N-RANGE"]),
    "fast_148-a section beyond the levels": (
        section("workqueue_priority", attrib("levels", "integer", "2") + section("9", attrib("share", "integer", "4"))),
        "priority.levels", 2, ["N-RANGE"]),
    "fast_180-suspend": (section("variable_delay", attrib("Wed:12.30-Wed:13", "string", "suspend")),
        "politeness.variable_delay.Wed:12;30-Wed:13", "suspend", []),
    "fast_24-robots are asked by the User-Agent": (
        members("headers", "User-Agent: ExampleBot/1.0 (+http://a.example/)"), "robots.name", "ExampleBot", []),
    "fast_24-a header without a colon": (members("headers", "nonsense"), "robots.name", "ultracrawl", ["N-MEMBER"]),
    "defaults": ("", "limits.pages_per_site", 100_000, []),
}  # fmt: skip


def test_reading(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (inside, path, expected, told) in CASES.items():
        with subtests.test(name):
            loaded = load(tmp_path, inside)
            assert [code for code in codes(loaded) if code != "N-SCHEME" and code[1] == "-"] == told
            assert all(finding.line > 2 for finding in loaded.findings)
            if not path.endswith("__len__"):
                assert value(loaded, path) == expected


WRONG = {
    "a word for a number": (attrib("max_sites", "integer", "many"), "E-VALUE", sentence("fast.not_whole_number")),
    "fast_11-more digits than a number": (
        attrib("max_doc", "integer", "9" * 20), "E-VALUE", sentence("fast.too_large_number"),
    ),
    "a comma": (attrib("delay", "real", "1,5"), "E-VALUE", "is not a number"),
    "maybe": (attrib("robots", "boolean", "maybe"), "E-VALUE", "neither yes nor no"),
    "several members": (members("delay", "1", "2", kind="real"), "E-VALUE", "has 2 members"),
    "fast_135-no action": (section("http_errors", attrib("404", "string", "DROP")), "", "is no action"),
    "fast_140-no code": (section("http_errors", attrib("4040", "string", "KEEP")), "", "is no error"),
    "fast_180-malformed span": (section("variable_delay", attrib("Mon-Tue", "string", "5")), "", "span of the week"),
    "fast_7-a rule that does not compile": (members("rewrite_rules", "@a(@b@", "@x@y@"), "", "cannot be used"),
    "fast_7-a rule without its separators": (members("rewrite_rules", "@only@", "@x@y@"), "", "three times"),
    "fast_12-an endless number": (attrib("delay", "real", "1e400"), "E-VALUE", sentence("fast.too_large_number")),
    "fast_180-no number": (
        section("variable_delay", attrib("Mon:1-Mon:2", "string", "nan")), "E-VALUE", "neither a delay"),
    "fast_180-below zero": (
        section("variable_delay", attrib("Mon:1-Mon:2", "string", "-5")), "E-VALUE", "neither a delay"),
    "fast_180-no delay": (
        section("variable_delay", attrib("Mon:1-Mon:2", "string", "x")), "E-VALUE", "neither a delay"),
    "fast_200-no mode": (section("crawlmode", attrib("mode", "string", "DEEP")), "E-VALUE", "is no mode"),
    "an option without a name": ('<attrib type="real">5</attrib>', "E-NAME", "`attrib` has no name"),
    "a section without a name": ("<section/>", "E-NAME", "`section` has no name"),
    "fast_3-a file that is not there": (members("start_uri_files", "none.txt"), "", sentence("values.no_such_file")),
    "fast_75-a rule file that is not there": (
        section("include_domains", members("file", "none.txt")), "", sentence("values.no_such_file")),
}  # fmt: skip


def test_what_cannot_be_used_has_its_line(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (inside, code, problem) in WRONG.items():
        with subtests.test(name):
            loaded = load(tmp_path, "\n" + inside)
            assert loaded.project is None
            (finding,) = loaded.fatal
            assert finding.problem.startswith(code)
            assert problem in finding.problem
            assert finding.line == 6
            assert finding.key.startswith("handbook")


def test_fast_7_5_several_collections_and_none(tmp_path: Path) -> None:
    one, two = fast_xml(inside=START), fast_xml(inside=START + attrib("delay", "real", "7"), name="two")
    body = [text.partition("<CrawlerConfig>")[2].partition("</CrawlerConfig>")[0] for text in (one, two, one)]
    (tmp_path / "a.xml").write_text(f"<CrawlerConfig>{''.join(body)}</CrawlerConfig>")
    loaded = read_definitions(tmp_path / "a.xml")
    assert loaded.project
    assert [(name, one.politeness.delay) for name, one in loaded.project.sources.items()] == [
        ("handbook", 60), ("two", 7)]  # fmt: skip
    assert "N-DUPLICATE" in codes(loaded)
    (tmp_path / "b.xml").write_text("<CrawlerConfig>\n</CrawlerConfig>")
    empty = read_definitions(tmp_path / "b.xml")
    assert empty.project is None
    assert codes(empty)[0] == "N-EMPTY"


def test_a_name_that_cannot_be_one_of_a_source(tmp_path: Path) -> None:
    loaded = load(tmp_path, "", name=" Hand book/1 ")
    assert loaded.project
    assert list(loaded.project.sources) == ["Hand-book-1"]
    assert codes(loaded) == ["N-RANGE"]


def test_a_defaults_file_lies_beneath(tmp_path: Path) -> None:
    defaults = (
        attrib("delay", "real", "3")
        + attrib("max_pending", "integer", "9")
        + members("uri_search_mime", "a/b")
    )
    defaults += section("http_errors", attrib("404", "string", "DELETE:9")) + attrib("foo", "real", "1")
    (tmp_path / "crawlercollectiondefaults.xml").write_text(fast_xml(inside=defaults, name="x"))
    own = attrib("delay", "real", "4") + members("uri_search_mime", "c/d")
    loaded = load(tmp_path, own + section("http_errors", attrib("405", "string", "KEEP")))
    source = only(loaded)
    assert (source.politeness.delay, source.politeness.concurrency, source.links.types) == (4, 9, ("c/d",))
    assert {"404": "DELETE:9", "405": "KEEP", "5xx": "DELETE:10"}.items() <= source.errors.http.items()
    assert [(Path(one.file).name, one.line) for one in loaded.findings] == [
        ("crawlercollectiondefaults.xml", 9)
    ]


DEFAULTS = {
    "a mode": (section("crawlmode", attrib("mode", "string", "DEEP")), True),
    "an account": (section("ftp_acct", attrib("a.example", "string", "nobody")), True),
    "a header": (members("headers", "nonsense"), False),
    "a level": (section("workqueue_priority", attrib("default", "integer", "4")), False),
}


def test_a_mistake_in_the_defaults_is_reported_with_their_file(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    for name, (inside, fatal) in DEFAULTS.items():
        with subtests.test(name):
            beneath = tmp_path / "crawlercollectiondefaults.xml"
            beneath.write_text(fast_xml(inside=inside, name="x"))
            (finding,) = load(tmp_path, "").findings
            assert (finding.file, finding.line, finding.fatal) == (str(beneath), 4, fatal)


NODE = '<Node name="crawler_b"><attrib name="max_sites" type="integer">8</attrib>'
NODE += '<section name="limits"><attrib name="disk_free" type="integer">20</attrib></section></Node>'


def test_fast_5_33_a_node_goes_before_all_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for node, sites, told in [("crawler_b", 8, []), ("other", 4, ["N-CLUSTER"])]:
        with subtests.test(node):
            monkeypatch.setenv("ULTRACRAWL_NODE", node)
            loaded = load(tmp_path, NODE + attrib("max_sites", "integer", "4"))
            assert (only(loaded).sites.max_sites, codes(loaded)) == (sites, told)


def test_fast_vector_38_https_is_added_where_nothing_says_what_is_crawled(tmp_path: Path) -> None:
    loaded = load(tmp_path, members("start_uris", "https://b.example/"))
    assert only(loaded).boundary.schemes == ("http", "https")
    assert "N-SCHEME" in codes(loaded)
    assert only(load(tmp_path, "")).boundary.schemes == ("http",)


HTTPS = {
    "a file": members("start_uri_files", "seeds.txt"),
    "a feed": section("rss", members("start_uris", "https://b.example/feed")),
    "a file of feeds": section("rss", members("start_uri_files", "seeds.txt")),
}


def test_fast_vector_38_every_kind_of_start_uri_adds_https(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, inside in HTTPS.items():
        with subtests.test(name):
            (tmp_path / "seeds.txt").write_text("# seeds\nhttp://a.example/x\n HTTPS://b.example/x\n")
            loaded = load(tmp_path, inside)
            assert only(loaded).boundary.schemes == ("http", "https")
            assert "N-SCHEME" in codes(loaded)


def test_each_notice_is_reported_once(tmp_path: Path) -> None:
    sections = "".join(
        f'</DomainSpecification><DomainSpecification name="n{number}">{START}{attrib("mufilter", "integer", "9")}'
        for number in range(5)
    )
    assert codes(load(tmp_path, sections)) == ["N-CLUSTER"]


def test_fast_2_9_a_collection_without_a_start_uri_is_not_crawled(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(fast_xml({"delay": 1.0}))
    loaded = read_definitions(tmp_path / "a.xml")
    assert (codes(loaded), loaded.project) == (["N-NOSTART"], None)


def test_fast_2_9_the_others_are_crawled_though_one_has_no_start_uri(tmp_path: Path) -> None:
    body = [
        fast_xml(options, name=name).partition("<CrawlerConfig>")[2].partition("</CrawlerConfig>")[0]
        for name, options in (("idle", {"delay": 1.0}), ("busy", {"start_uris": ("http://a.example/",)}))
    ]
    (tmp_path / "a.xml").write_text(f"<CrawlerConfig>{''.join(body)}</CrawlerConfig>")
    loaded = read_definitions(tmp_path / "a.xml")
    assert loaded.project
    assert list(loaded.project.sources) == ["busy"]
    assert [(one.key, one.fatal, one.problem.partition(":")[0]) for one in loaded.findings] == [
        ("idle", False, "N-NOSTART")
    ]
