"""What each of the robot's functions does (portal robot checklist 49 to 103)."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace

import pytest
from support.filters import Filters, page
from support.named import named
from support.sentences import sentence

from ultracrawl.model import NO_CAUSE, CauseCode, Page
from ultracrawl.rules.filters import FilterHandle, ResourceHandle
from ultracrawl.rules.filters.custom import own_function
from ultracrawl.rules.filters.functions.describing import cut_characters
from ultracrawl.rules.filters.phase import FilterKind
from ultracrawl.rules.filters.resource import Resource
from ultracrawl.rules.filters.soif import read_soif, write_soif

BODY = "<title>T</title>text"
TYPES = "text/html htm html\ntype=text/plain exts=txt,TEXT # comment\n# none\napplication/pdf .pdf\n"

DECISIONS = {
    "portal_robot_49-equal is denied": (
        "filter-by-exact src=type deny=text/plain",
        page("a", content_type="text/plain"),
        False,
    ),
    "portal_robot_49-another goes on": ("filter-by-exact src=type deny=text/plain", page(), True),
    "portal_robot_50-all": ("filter-by-exact src=type deny=all", page(), False),
    "portal_robot_51-html": ("filter-by-prefix src=type allow=text", page(), True),
    "portal_robot_51-plain": ("filter-by-prefix src=type allow=text", page(content_type="text/plain"), True),
    "portal_robot_51-png": ("filter-by-prefix src=type allow=text", page(content_type="image/png"), False),
    "portal_robot_52-all": ("filter-by-prefix src=host deny=all", page(), False),
    "portal_robot_53-gov": (
        r"filter-by-regex src=host deny=\\*.gov",
        page(url="http://www.nasa.gov/"),
        False,
    ),
    "portal_robot_53-com": (r"filter-by-regex src=host deny=\\*.gov", page(), True),
    "a star that repeats nothing": (
        "filter-by-regex src=host deny=*.gov",
        page(url="http://www.nasa.gov/"),
        False,
    ),
    "a single backslash keeps the star": (
        r"filter-by-regex src=path deny=/a\*",
        page(url="http://h/aaa"),
        True,
    ),
    "portal_robot_54-the whole source": ("filter-by-regex src=path deny=a", page(), True),
    "portal_robot_54-covered": ("filter-by-regex src=path deny=.*a.*", page(), False),
    "portal_robot_55-allow that does not match": ("filter-by-exact src=type allow=text/plain", page(), False),
    "deny is tested before allow": ("filter-by-prefix src=type deny=text/html allow=text", page(), False),
    "portal_robot_41-host": ("filter-by-exact src=host deny=www.siroe.com", page(), False),
    "portal_robot_41-host with its usual port": (
        "filter-by-exact src=host deny=www.siroe.com:80",
        page(),
        False,
    ),
    "portal_robot_41-another port": (
        "filter-by-exact src=host deny=h:8080",
        page(url="http://h:8080/"),
        False,
    ),
    "not with a port that it has not": (
        "filter-by-exact src=host deny=h:80",
        page(url="http://h:8080/"),
        True,
    ),
    "an empty source is an empty text": ("filter-by-exact src=author deny=x", page(), True),
    "portal_robot_57-equal to the limit": ("filter-by-max src=depth value=3", page(depth=3), True),
    "portal_robot_58-greater": ("filter-by-max src=depth value=3", page(depth=4), False),
    "portal_robot_61-1024 KB": (
        "filter-by-max src=content-length value=1024",
        page(content_length="1048576"),
        True,
    ),
    "portal_robot_61-a byte more": (
        "filter-by-max src=content-length value=1024",
        page(content_length="1048577"),
        False,
    ),
}


@pytest.mark.parametrize(("directive", "resource", "passes"), DECISIONS.values(), ids=DECISIONS)
def test_decisions(directive: str, resource: Resource, passes: bool) -> None:
    (view,) = Filters().run(f"Data fn={directive}\nGenerate fn=extract-source src=url", resource)
    assert bool(view.rd) is passes
    assert bool(view.cause) is not passes


@pytest.mark.parametrize("source", ["hosts", "objects"], ids="portal_robot_60-{}".format)
def test_filter_by_max_counts_what_the_robot_took(source: str) -> None:
    filters = Filters()
    program = filters.program(f"MetaData fn=filter-by-max src={source} value=2")
    reasons = []
    for number in range(4):
        reasons.append(str(filters.visit(program, page(url=f"http://h{number}/")).cause))
        if not reasons[-1]:
            filters.robot.count(f"h{number}")
    assert [bool(reason) for reason in reasons] == [False, False, True, True]


def test_portal_robot_60_a_known_host_stays_open_when_no_other_may_come() -> None:
    filters = Filters()
    program = filters.program("MetaData fn=filter-by-max src=hosts value=1")
    filters.robot.count("h0")
    cause = filters.visit(program, page(url="http://h1/")).cause
    assert (cause.code, cause.subject, named(cause.detail)) == (CauseCode.FILTER, "max hosts", ["1"])
    assert not filters.visit(program, page(url="http://h0:8080/x")).cause


def test_portal_robot_60_under_data_a_resource_has_the_number_that_it_was_fetched_with() -> None:
    filters = Filters()
    program = filters.program("Data fn=filter-by-max src=objects value=2")
    taken = [page(url=f"http://h/{number}") for number in range(3)]
    for resource in taken:
        resource.number = filters.robot.count("h")
    causes = [filters.visit(program, resource).cause for resource in taken]
    assert [one.subject for one in causes] == ["", "", "max objects"]
    assert (causes[2].code, named(causes[2].detail)) == (CauseCode.FILTER, ["2"])


CASES = {
    "exact host": "filter-by-exact src=host deny=WWW.Siroe.com",
    "exact host with its port": "filter-by-exact src=Host deny=WWW.SIROE.COM:80",
    "type": "filter-by-exact src=type deny=Text/HTML",
    "prefix of a type": "filter-by-prefix src=type deny=TEXT",
    "expression": r"filter-by-regex src=host deny=.*\.SIROE\.\w+",
    "protocol": "filter-by-exact src=protocol deny=HTTP",
}


@pytest.mark.parametrize("directive", CASES.values(), ids=CASES)
def test_hosts_types_and_protocols_are_compared_without_case(directive: str) -> None:
    (view,) = Filters().run(f"Data fn={directive}", page())
    assert str(view.cause).startswith("filter rules")


def test_paths_are_compared_with_case() -> None:
    (view,) = Filters().run("Data fn=filter-by-exact src=path deny=/A.html", page())
    assert str(view.cause) == ""


def test_generated_values_look_at_hosts_without_case() -> None:
    text = "".join(
        f"Generate fn=generate-by-{how} src=host match={match} dst=classification value={how}\n"
        for how, match in (("exact", "WWW.siroe.com"), ("prefix", "WWW"), ("regex", "*.SIROE.com"))
    )
    (view,) = Filters().run(text, page())
    assert view.rd == {"classification": ["exact", "prefix", "regex"]}


def test_portal_robot_65_66_the_same_bytes_under_another_url() -> None:
    filters = Filters()
    text = "Data fn=generate-md5\nData fn=filter-by-md5\nGenerate fn=extract-source src=md5"
    first, second, other, again = filters.run(
        text,
        page(url="http://h/1"),
        page(url="http://h/2"),
        page("else", url="http://h/3"),
        page(url="http://h/1"),
    )
    assert first.rd == {"md5": [hashlib.md5(BODY.encode()).hexdigest()]}
    assert (second.rd, second.cause.code, second.cause.subject) == ({}, CauseCode.FILTER, "duplication")
    assert "http://h/1" in second.cause.detail
    assert other.rd
    assert again.rd, "a resource is no duplicate of itself"


ASSIGNED = {
    "portal_robot_68-literal": ("Data fn=assign-source dst=a value=v", {"a": ["v"]}),
    "portal_robot_68-copy": ("Data fn=assign-source dst=a src=path", {"a": ["/a.html"]}),
    "a type loses its parameters": (
        "Data fn=assign-source dst=type src=content-type",
        {"type": ["text/html"]},
    ),
    "portal_robot_71-clear": ("Data fn=assign-source dst=a value=v\nData fn=clear-source src=a", {}),
    "portal_robot_76-equal": ("Data fn=generate-by-exact dst=a value=v src=path match=/a.html", {"a": ["v"]}),
    "portal_robot_76-not equal": ("Data fn=generate-by-exact dst=a value=v src=path match=/a", {}),
    "portal_robot_77-begins": (
        "Data fn=generate-by-prefix dst=a value=v src=protocol match=http",
        {"a": ["v"]},
    ),
    "portal_robot_77-does not begin": ("Data fn=generate-by-prefix dst=a value=v src=protocol match=ftp", {}),
    "portal_robot_78-expression": (
        "Data fn=generate-by-regex dst=a value=v src=host match=*.siroe.com",
        {"a": ["v"]},
    ),
    "portal_robot_78-not covered": ("Data fn=generate-by-regex dst=a value=v src=host match=siroe", {}),
    "example with host and port": (
        "Data fn=generate-by-exact dst=a value=v src=host match=www.siroe.com:80",
        {"a": ["v"]},
    ),
}


@pytest.mark.parametrize(("text", "expected"), ASSIGNED.values(), ids=ASSIGNED)
def test_sources_are_made(text: str, expected: dict[str, list[str]]) -> None:
    (view,) = Filters().run(
        f"{text}\nGenerate fn=extract-source src=a,type", page(content_type="text/html; charset=x")
    )
    assert view.rd == {"type": ["text/html"], **expected}


TYPES_BY_EXTENSION = {
    "portal_robot_70-of the path": ("/x/a.HTML", "", "text/html"),
    "portal_robot_70-the query is no extension": ("/x/a.txt?b=c.html", "", "text/plain"),
    "other form of the file": ("/a.text", "", "text/plain"),
    "extension with a dot in the file": ("/a.pdf", "", "application/pdf"),
    "of another source": ("/a.pdf", "src=author", "text/plain"),
    "unknown extension": ("/a.zip", "", ""),
    "none": ("/x.y/a", "", ""),
}


@pytest.mark.parametrize(("path", "source", "expected"), TYPES_BY_EXTENSION.values(), ids=TYPES_BY_EXTENSION)
def test_types_by_extension(path: str, source: str, expected: str) -> None:
    filters = Filters()
    filters.robot.read = {"mime.types": TYPES}.__getitem__
    text = f"""
    Setup fn=setup-type-by-extension file=mime.types
    MetaData fn=assign-source dst=author value=x.txt
    MetaData fn=assign-type-by-extension {source}
    MetaData fn=filter-by-exact src=type allow="{expected}"
    """
    assert filters.run(text, page(url=f"http://h{path}"))[0].cause is NO_CAUSE


CONVERSIONS = {
    "portal_robot_72-of its type": ("application/pdf", "application/pdf", True),
    "portal_robot_72-only of its type": ("application/pdf", "text/rtf", False),
    "portal_robot_73-server named none": ("unknown", "", True),
    "portal_robot_73-server named one": ("unknown", "application/pdf", False),
}


@pytest.mark.parametrize(("wanted", "sent", "converted"), CONVERSIONS.values(), ids=CONVERSIONS)
def test_convert_to_html(wanted: str, sent: str, converted: bool) -> None:
    filters = Filters()
    resource = page("raw", content_type=sent)
    assert resource.fetched is not None
    resource.note_fetched(replace(resource.fetched, converted=Page(title="Paper", text="words")))
    text = f"""
    Data fn=convert-to-html type={wanted}
    Generate fn=extract-html-meta type=text/html
    Generate fn=extract-source src=type
    """
    (view,) = filters.run(text, resource)
    assert (view.rd.get("title") == ["Paper"]) is converted
    assert (view.rd["type"] == ["text/html"]) is converted


def test_a_document_that_cannot_be_converted_stays_as_it_is() -> None:
    filters, told = Filters(), []
    filters.robot.log = told.append
    (view,) = filters.run(
        "Data fn=convert-to-html type=application/pdf\nGenerate fn=extract-source src=type",
        page(content_type="application/pdf"),
    )
    assert view.rd == {"type": ["application/pdf"]}
    assert len(told) == 1


COPIES = {
    "whole": ("", "one two three"),
    "portal_robot_75-not clean by default": ("truncate=5", "one t"),
    "portal_robot_74-clean": ("truncate=5 clean=true", "one"),
    "portal_robot_74-a cut between words": ("truncate=7 clean=true", "one two"),
    "longer than the text": ("truncate=100 clean=true", "one two three"),
    "a single word": ("truncate=2 clean=on", ""),
    "nothing": ("truncate=0", ""),
}


CLEAN_CUTS = {
    "Japanese": ("検索ロボットはページを読みます", "検索ロボットは"),
    "Chinese": ("搜索引擎的机器人阅读网页", "搜索引擎的机器"),
    "Thai, no mark alone": ("กกกกกกก\N{THAI CHARACTER SARA I}กกก", "กกกกกก"),
    "Japanese behind a blank": ("a 検索ロボットはページを", "a 検索ロボッ"),
    "a word behind Japanese": ("検索 crawlers", "検索"),
    "Korean": ("검색 로봇은페이지를 읽습니다", "검색"),
    "a newline": ("one\ntwothree", "one"),
    "a tab": ("one\ttwothree", "one"),
    "a no-break space": ("one\N{NO-BREAK SPACE}twothree", "one"),
}


@pytest.mark.parametrize(("text", "kept"), CLEAN_CUTS.values(), ids=CLEAN_CUTS)
def test_a_clean_cut_knows_where_words_end(text: str, kept: str) -> None:
    lines = f"""
    Data     fn=assign-source dst=a value="{text}"
    Generate fn=extract-source src=a
    Generate fn=copy-attribute src=a dst=b truncate=7 clean=true
    """
    assert cut_characters(text, 7, clean=True) == kept
    if "\n" not in text:
        assert Filters().run(lines, page())[0].rd["b"] == [kept]


def test_nothing_does_not_take_the_place_of_meta_data() -> None:
    text = """
    Generate fn=extract-html-meta
    Generate fn=extract-html-text
    Generate fn=copy-attribute src=partial-text dst=description truncate=5 clean=true
    """
    (view,) = Filters().run(text, page('<meta name=description content="said"><p>incomprehensibilities'))
    assert view.rd["description"] == ["said"]


@pytest.mark.parametrize(("options", "expected"), COPIES.values(), ids=COPIES)
def test_copy_attribute(options: str, expected: str) -> None:
    text = f"""
    Data fn=assign-source dst=a value="one two three"
    Generate fn=extract-source src=a
    Generate fn=copy-attribute src=a dst=b {options}
    """
    (view,) = Filters().run(text, page())
    assert view.rd.get("b") == ([expected] if expected else None)


def test_portal_robot_79_119_classifications_add_up_to_their_maximum() -> None:
    filters = Filters()
    filters.robot.max_classifications = 2
    text = "\n".join(
        f"Generate fn=generate-by-prefix dst=classification value={name} src=protocol match=http"
        for name in "abac"
    )
    assert filters.run(text, page())[0].rd == {"classification": ["a", "b"]}


def test_portal_robot_80_md5_is_that_of_the_body() -> None:
    (view,) = Filters().run("Data fn=generate-md5\nGenerate fn=extract-source src=md5", page("abc"))
    assert view.rd == {"md5": ["900150983cd24fb0d6963f7d28e17f72"]}


DATES = {
    "portal_robot_81-header": (
        "rd-expires",
        {"expires": "Thu, 01 Jan 2026 00:00:00 GMT"},
        "",
        "rd-expires",
        "Thu, 01 Jan 2026 00:00:00 GMT",
    ),
    "portal_robot_81-META": (
        "rd-expires",
        {},
        "<meta name=rd-expires content='2027-05-01'>",
        "rd-expires",
        "Sat, 01 May 2027 00:00:00 GMT",
    ),
    "portal_robot_82-three months": ("rd-expires", {}, "", "rd-expires", "Sun, 28 Feb 2027 12:00:00 GMT"),
    "a header that is no date": (
        "rd-expires",
        {"expires": "0"},
        "",
        "rd-expires",
        "Sun, 28 Feb 2027 12:00:00 GMT",
    ),
    "portal_robot_83-dst": ("rd-expires dst=Until", {}, "", "Until", "Sun, 28 Feb 2027 12:00:00 GMT"),
    "portal_robot_84-now": ("rd-last-modified", {}, "", "rd-last-modified", "Mon, 30 Nov 2026 12:00:00 GMT"),
    "portal_robot_84-dst": ("rd-last-modified dst=seen", {}, "", "seen", "Mon, 30 Nov 2026 12:00:00 GMT"),
    "portal_robot_85-alias": ("last-modified", {}, "", "rd-last-modified", "Mon, 30 Nov 2026 12:00:00 GMT"),
}


@pytest.mark.parametrize(("call", "headers", "body", "field", "expected"), DATES.values(), ids=DATES)
def test_dates(call: str, headers: dict[str, str], body: str, field: str, expected: str) -> None:
    assert Filters().run(f"Generate fn=generate-{call}", page(body, **headers))[0].rd == {field: [expected]}


def test_portal_robot_86_rename() -> None:
    text = 'Generate fn=extract-html-meta\nGenerate fn=rename-attribute src="author->author-name, none->some"'
    assert Filters().run(text, page("<meta name=author content=J><title>T</title>"))[0].rd == {
        "title": ["T"],
        "author-name": ["J"],
    }


def links(number: int) -> str:
    return "".join(f"<a href=/{one}>x</a><a href=/{one}>again</a>" for one in range(number))


ENUMERATED = {
    "portal_robot_87-1024 without max": ("enumerate-urls", page(links(1100)), 1024),
    "portal_robot_88-max": ("enumerate-urls max=10", page(links(1100)), 10),
    "portal_robot_88-max 0": ("enumerate-urls max=0", page(links(3)), 0),
    "portal_robot_89-of another type": (
        "enumerate-urls type=text/html",
        page(links(3), content_type="text/plain"),
        0,
    ),
    "portal_robot_90-every type": ("enumerate-urls", page(links(3), content_type="text/plain"), 3),
    "portal_robot_91-at most 1024": (
        "enumerate-urls-from-text",
        page(" ".join(f"URL:http://h/{one}" for one in range(1100))),
        1024,
    ),
    "a refresh of the page itself": (
        "enumerate-urls",
        page('<meta http-equiv=refresh content="9"><a href=/a></a>'),
        1,
    ),
    "portal_robot_92-type": ("enumerate-urls-from-text type=text/plain", page("URL:http://h/"), 0),
    "case of URL:": ("enumerate-urls-from-text", page("url:http://h/"), 0),
}


@pytest.mark.parametrize(("call", "resource", "number"), ENUMERATED.values(), ids=ENUMERATED)
def test_numbers_of_urls(call: str, resource: Resource, number: int) -> None:
    (view,) = Filters().run(f"Enumerate fn={call}", resource, kind=FilterKind.ENUMERATION)
    assert len(view.links) == number


def test_portal_robot_88_the_first_distinct_urls_in_document_order() -> None:
    (view,) = Filters().run("Enumerate fn=enumerate-urls max=3", page(links(9)), kind=FilterKind.ENUMERATION)
    assert view.links == ["/0", "/1", "/2"]


def test_where_links_are_looked_for() -> None:
    body = """<meta http-equiv=refresh content="9;url=/r"><link rel=x href=/l><a href=/a></a><map><area href=/m></map>
    <iframe src=/i></iframe><img src=/no><script src=/no2></script>"""
    (view,) = Filters().run("Enumerate fn=enumerate-urls", page(body), kind=FilterKind.ENUMERATION)
    assert set(view.links) == {"/r", "/l", "/a", "/m", "/i"}


def test_portal_robot_91_urls_behind_their_mark() -> None:
    text = "see URL:http://a/x, (URL: http://b/y) <URL:http://c/z>. URL:\n URL:ftp://d/e"
    (view,) = Filters().run("Enumerate fn=enumerate-urls-from-text", page(text), kind=FilterKind.ENUMERATION)
    assert view.links == ["http://a/x", "http://b/y", "http://c/z", "ftp://d/e"]


HTML = """<title>Tītle</title><meta name=Author content=Jordan><h1>One</h1><p>first words</p><h2>Two <b>b</b></h2>
<!-- stopindex -->hidden<!-- StartIndex --><h4>Four</h4><p>last</p>"""
EXTRACTED = {
    "portal_robot_93-full text": ("extract-full-text truncate=5 dst=all", {"all": ["One f"]}),
    "portal_robot_93-full text by default": ("extract-full-text truncate=3", {"full-text": ["One"]}),
    "portal_robot_94-meta and title": ("extract-html-meta", {"author": ["Jordan"], "title": ["Tītle"]}),
    "portal_robot_94_100-bytes, no split character": (
        "extract-html-meta truncate=2",
        {"author": ["Jo"], "title": ["T"]},
    ),
    "portal_robot_94-another type": ("extract-html-meta type=text/plain", {}),
    "portal_robot_95-beginning without tags": (
        "extract-html-text truncate=9",
        {"partial-text": ["One first"]},
    ),
    "portal_robot_102-stopindex": (
        "extract-html-text",
        {"partial-text": ["One first words Two b Four last"]},
    ),
    "portal_robot_96-skip headings": (
        "extract-html-text skip-headings=true",
        {"partial-text": ["first words last"]},
    ),
    "portal_robot_97-levels": ("extract-html-toc level=3", {"toc": ["One\nTwo b"]}),
    "all levels": ("extract-html-toc", {"toc": ["One\nTwo b\nFour"]}),
    "toc truncated": ("extract-html-toc truncate=5", {"toc": ["One\nT"]}),
    "truncate 0 stores nothing": ("extract-full-text truncate=0", {}),
    "portal_robot_98-under another name": (
        "extract-source src=type->content-type",
        {"content-type": ["text/html"]},
    ),
    "portal_robot_99-what is not there": ("extract-source src=nothing,depth", {"depth": ["0"]}),
}


@pytest.mark.parametrize(("call", "expected"), EXTRACTED.values(), ids=EXTRACTED)
def test_extraction(call: str, expected: dict[str, list[str]]) -> None:
    assert Filters().run(f"Generate fn={call}", page(HTML))[0].rd == expected


def test_portal_robot_101_a_summarizer_adds_what_it_prints() -> None:
    filters = Filters()
    filters.robot.has_summarizers = True
    printed = {
        "A.sum": "Title{5}:\tPaper\nKeywords{3}:\ta\nb\n",
        "B.sum": "title: Paper\nno field\nkeywords: a",
    }
    filters.robot.summarize = lambda program, body: printed[program] if body == b"raw" else ""
    (view,) = filters.run("Generate fn=harvest-summarizer summarizer=A.sum", page("raw"))
    assert view.rd == {"Title": ["Paper"], "Keywords": ["a\nb"]}
    (view,) = filters.run("Generate fn=harvest-summarizer summarizer=B.sum", page("raw"))
    assert view.rd == {"title": ["Paper"], "keywords": ["a"]}


def test_a_summarizer_that_fails_takes_nothing_away() -> None:
    filters, told = Filters(), []
    filters.robot.has_summarizers, filters.robot.log = True, told.append
    text = "Generate fn=extract-html-meta\nGenerate fn=harvest-summarizer summarizer=A.sum"
    assert filters.run(text, page())[0].rd == {"title": ["T"]}
    assert "A.sum" in told[0]


def _notes(pb: dict[str, str], csf: FilterHandle, csr: ResourceHandle) -> None:
    csr.rd["a"] = [pb["x"], csf.name, csr.source("HOST")]


def _raise(pb: dict[str, str], csf: FilterHandle, csr: ResourceHandle) -> None:
    raise ValueError("one\n  two")


OWN = {
    "proceeds": (_notes, {"a": ["1", "f", "www.siroe.com"], "url": ["http://www.siroe.com/a.html"]}, ""),
    "portal_robot_153-aborted denies": (lambda pb, csf, csr: -1, {}, "own answered REQ_ABORTED"),
    "raises": (
        lambda pb, csf, csr: 1 / 0,
        {},
        "own answered REQ_ABORTED: ZeroDivisionError: division by zero",
    ),
    "raises in several lines": (
        _raise,
        {},
        "own answered REQ_ABORTED: ValueError: one two",
    ),
    "leaves the program": (lambda pb, csf, csr: sys.exit(3), {}, "own answered REQ_ABORTED: SystemExit: 3"),
    "answers nonsense": (
        lambda pb, csf, csr: 17,
        {},
        "own answered REQ_ABORTED: ValueError: 17 is not a valid Answer",
    ),
    "finds what is no URL": (
        lambda pb, csf, csr: csr.spawn(None),
        {},
        "own answered REQ_ABORTED: TypeError: URL: [None] is no list of texts",
    ),
    "assigns what is no text": (
        lambda pb, csf, csr: csr.assign("type", 5),
        {},
        "own answered REQ_ABORTED: TypeError: source type: (5,) is no list of texts",
    ),
    "describes by what is no list": (
        lambda pb, csf, csr: csr.rd.update(department="Sales"),
        {"department": "Sales"},
        "own answered REQ_ABORTED: TypeError: field department: 'Sales' is no list of texts",
    ),
    "portal_robot_154-cannot change its parameters": (
        lambda pb, csf, csr: pb.__setitem__("x", 2),
        {},
        "own answered REQ_ABORTED: AttributeError: 'ParameterBlock' object has no attribute '__setitem__'",
    ),
}


@pytest.mark.parametrize(("call", "expected", "reason"), OWN.values(), ids=OWN)
def test_own_functions(call: object, expected: dict[str, list[str]], reason: str) -> None:
    filters = Filters()
    filters.functions = {**filters.functions, "own": own_function("own", call)}  # type: ignore[arg-type]
    (view,) = filters.run("Data fn=own x=1\nGenerate fn=extract-source src=url", page())
    assert (view.rd, str(view.cause)) == (expected, reason)


def test_soif_gives_back_what_was_written() -> None:
    fields = {"title": ["Tītle\n@x {"], "classification": ["a", "b}"], "empty": [""]}
    data = write_soif("http://h/a?b", fields) + write_soif("http://h/c", {"title": ["x"]})
    assert list(read_soif(data)) == [("http://h/a?b", fields), ("http://h/c", {"title": ["x"]})]


@pytest.mark.parametrize(
    ("url", "read"),
    [
        ("http://h/?q={a}", "http://h/?q={a}"),
        ("http://h/{a}b", "http://h/{a}b"),
        ("http://h/a b\tc", "http://h/a%20b%09c"),
        ("http://h/", "http://h/"),
    ],
)
def test_soif_takes_any_url(url: str, read: str) -> None:
    data = write_soif(url, {"title": ["x"]}) + write_soif(url, {})
    assert list(read_soif(data)) == [(read, {"title": ["x"]}), (read, {})]


@pytest.mark.parametrize("data", [b"@D { http://h/ }\n", b"@D { http://h/}", b"@D {http://h/\n}"])
def test_soif_without_attributes(data: bytes) -> None:
    assert list(read_soif(data)) == [("http://h/", {})]


@pytest.mark.parametrize(
    "data", [b"@D { u\na{9}:\tx\n}\n", b"@D { u\nno attribute\n}\n"], ids=["short", "no attribute"]
)
def test_broken_soif_is_said(data: bytes) -> None:
    with pytest.raises(ValueError, match=sentence("filters.ends_before_size_neither_attribute")):
        list(read_soif(data))


SIROE = "src=host value=Siroe dst=classification"


@pytest.mark.parametrize("match", [r"\\*.siroe.com", r'"\\*.siroe.com"', r'"\\\\*.siroe.com"', "*.siroe.com"])
def test_portal_robot_53_78_anything_is_written_in_many_ways(match: str) -> None:
    (view,) = Filters().run(f"Generate fn=generate-by-regex match={match} {SIROE}", page())
    assert view.rd == {"classification": ["Siroe"]}
