"""Filters as a whole: phases, order, what is refused when they are read (portal robot checklist 1 to 48)."""

from __future__ import annotations

import pytest
from support.filters import Filters, page
from support.named import named
from support.sentences import sentence

from ultracrawl.model import CauseCode, Decision
from ultracrawl.rules.filters.custom import own_function
from ultracrawl.rules.filters.function import Robot
from ultracrawl.rules.filters.phase import Answer, FilterKind, Phase
from ultracrawl.rules.filters.resource import Resource, View

E, G = FilterKind.ENUMERATION, FilterKind.GENERATION
LINKS = '<title>Home</title><a href="/b">b</a>'


def test_portal_robot_1_2_3_6_each_filter_decides_for_itself() -> None:
    filters = Filters()
    resource = page(LINKS)
    deny = "MetaData fn=filter-by-exact src=path deny=/a.html\n"
    links, meta = "Enumerate fn=enumerate-urls", "Generate fn=extract-html-meta"
    for enumeration, generation, found, fields in [
        (links, meta, ["/b"], {"title": ["Home"]}),
        (links, deny + meta, ["/b"], {}),
        (deny + links, meta, [], {"title": ["Home"]}),
        (deny + links, deny + meta, [], {}),
    ]:
        (first,) = filters.run(enumeration, resource, kind=E)
        (second,) = filters.run(generation, resource, kind=G)
        assert (first.links, second.rd) == (found, fields)


def test_portal_robot_4_a_denied_resource_is_not_touched_again() -> None:
    text = """
    Data fn=filter-by-exact src=type deny=text/html
    Data fn=assign-source dst=seen value=yes
    Generate fn=extract-source src=seen
    """
    (view,) = Filters().run(text, page())
    assert (view.rd, view.value("seen")) == ({}, "")
    assert (view.cause.code, view.cause.detail) == (CauseCode.FILTER, "filter-by-exact src=type")


def test_portal_robot_13_phases_run_in_their_order_whatever_the_order_of_lines() -> None:
    text = """
    Generate fn=extract-source src=mark
    Data fn=assign-source dst=mark value=data
    MetaData fn=assign-source dst=mark value=metadata
    """
    (view,) = Filters().run(text, page())
    assert view.rd == {"mark": ["data"]}


def test_portal_robot_14_directives_of_a_phase_run_in_file_order() -> None:
    text = """
    Data fn=assign-source dst=mark value=first
    Data fn=assign-source dst=mark value=second
    Generate fn=extract-source src=mark
    """
    (view,) = Filters().run(text, page())
    assert view.rd == {"mark": ["second"]}


def test_sources_of_one_filter_are_not_seen_by_the_other() -> None:
    filters, resource = Filters(), page()
    filters.run("Data fn=assign-source dst=mark value=x", resource, kind=E)
    (view,) = filters.run("Generate fn=extract-source src=mark", resource, kind=G)
    assert view.rd == {}


def test_portal_robot_7_8_9_10_how_often_each_phase_runs() -> None:
    calls: list[str] = []

    def note(pb: dict[str, str], csf: object, csr: object) -> int:
        calls.append(pb["what"])
        return 0

    from ultracrawl.rules.filters.custom import own_function

    filters = Filters()
    filters.functions = {**filters.functions, "note": own_function("note", note)}
    text = "\n".join(
        f"{phase.value} fn=note what={phase.value}" for phase in Phase if phase is not Phase.ENUMERATE
    )
    program = filters.program(text)
    for number in range(3):
        filters.visit(program, page(url=f"http://h/{number}"))
    program.stop()
    assert calls == ["Setup", *["MetaData", "Data", "Generate"] * 3, "Shutdown"]


SOURCES = {
    "portal_robot_33-csid": ("MetaData", "csid", "x-catalog://h:80/j"),
    "portal_robot_33-depth": ("MetaData", "depth", "3"),
    "portal_robot_33-enumeration filter": ("MetaData", "enumeration-filter", "e1"),
    "portal_robot_33-generation filter": ("MetaData", "Generation Filter", "g1"),
    "portal_robot_33-host": ("MetaData", "host", "www.siroe.com"),
    "portal_robot_33-IP": ("MetaData", "IP", "198.51.100.6"),
    "portal_robot_33-protocol": ("MetaData", "protocol", "http"),
    "portal_robot_33-path": ("MetaData", "path", "/A/b.html?q=1"),
    "portal_robot_33-URL": ("MetaData", "URL", "http://WWW.siroe.com:80/A/b.html?q=1"),
    "portal_robot_35-charset": ("Data", "content-charset", "utf-8"),
    "portal_robot_35-encoding": ("Data", "content-encoding", "gzip"),
    "portal_robot_35-length": ("Data", "content-length", "77"),
    "portal_robot_35-type": ("Data", "content-type", "text/html; charset=utf-8"),
    "portal_robot_35-expires": ("Data", "expires", "Thu, 01 Jan 2026 00:00:00 GMT"),
    "portal_robot_35-last-modified": ("Data", "last-modified", "Wed, 01 Jan 2025 00:00:00 GMT"),
    "portal_robot_36-META": ("Data", "author", "Jordan"),
    "portal_robot_37-Generate sees the same": ("Generate", "author", "Jordan"),
    "portal_robot_38-META does not replace a header": ("Data", "Content-Length", "77"),
    "portal_robot_39-type without an assignment": ("Data", "type", "text/html"),
}


@pytest.mark.parametrize(("phase", "name", "expected"), SOURCES.values(), ids=SOURCES)
def test_sources(phase: str, name: str, expected: str) -> None:
    body = "<meta name=Author content=Jordan><meta name=content-length content=5>"
    resource = page(
        body,
        "http://WWW.siroe.com:80/A/b.html?q=1",
        "text/html; charset=utf-8",
        3,
        content_length="77",
        content_encoding="gzip",
        expires="Thu, 01 Jan 2026 00:00:00 GMT",
        last_modified="Wed, 01 Jan 2025 00:00:00 GMT",
    )
    resource.robot = {**resource.robot, "enumeration filter": "e1", "generation filter": "g1"}
    seen = f'fn=generate-by-regex dst=found value=yes src="{name}" match=".*"'
    copied = f'{phase} fn=assign-source dst=found src="{name}"' if phase != "Generate" else f"Generate {seen}"
    source = "found" if phase != "Generate" else f"{name}->found"
    (view,) = Filters().run(f'{copied}\nGenerate fn=extract-source src="{source}"', resource)
    assert view.rd["found"] == [expected]


def test_portal_robot_34_in_setup_there_is_no_resource() -> None:
    view = View(Resource(""))
    assert [view.value(name) for name in ("url", "host", "path", "type", "content-type")] == [""] * 5


def test_portal_robot_40_without_a_content_type_the_type_is_unknown() -> None:
    (view,) = Filters().run("Generate fn=extract-source src=type", page("\x00\x01\x02", content_type=""))
    assert view.rd == {"type": ["unknown"]}


UNTYPED = {
    "it is what its bytes say": "Data fn=filter-by-prefix src=type allow=text",
    "and unknown, too": "Data fn=filter-by-exact src=type allow=unknown",
    "an empty source takes nothing away": "Data fn=assign-source dst=type src=content-type",
    "unknown becomes HTML": "Data fn=convert-to-html type=unknown",
}


@pytest.mark.parametrize("line", UNTYPED.values(), ids=UNTYPED)
def test_a_page_whose_type_the_server_did_not_name_is_what_its_bytes_say(line: str) -> None:
    filters, told = Filters(), []
    filters.robot.log = told.append
    lines = f"{line}\nGenerate fn=extract-source src=type\nGenerate fn=extract-html-text type=text/html"
    (view,) = filters.run(lines, page("<html><p>words", content_type=""))
    assert (str(view.cause), view.rd) == ("", {"type": ["text/html"], "partial-text": ["words"]})
    assert told == []


@pytest.mark.parametrize("line", ["deny=unknown", "deny=text/html"])
def test_either_name_of_a_type_that_the_server_did_not_name_denies(line: str) -> None:
    (view,) = Filters().run(f"Data fn=filter-by-exact src=type {line}", page("<html>", content_type=""))
    assert view.cause


def test_repeated_meta_tags_give_several_values() -> None:
    (view,) = Filters().run(
        "Generate fn=extract-source src=k", page("<meta name=k content=1><meta name=K content=2>")
    )
    assert view.rd == {"k": ["1", "2"]}


ENABLED = {
    "portal_robot_29-true": ("true", True),
    "portal_robot_29-false": ("false", False),
    "portal_robot_29-on": ("on", True),
    "portal_robot_29-off": ("OFF", False),
    "portal_robot_31-absent": (None, True),
}


@pytest.mark.parametrize(("text", "expected"), ENABLED.values(), ids=ENABLED)
def test_enable(text: str | None, expected: bool) -> None:
    switch = f"enable={text}" if text else ""
    (view,) = Filters().run(f"Data {switch} fn=filter-by-exact src=type deny=text/html", page())
    assert bool(view.cause) is expected


MISTAKES = {
    "portal_robot_18-Enumerate in a generation filter": (
        "Enumerate fn=enumerate-urls",
        G,
        "is not allowed in",
    ),
    "portal_robot_18-Generate in an enumeration filter": (
        "Generate fn=extract-html-meta",
        E,
        "is not allowed in",
    ),
    "portal_robot_28-unknown function": (
        "Data fn=filter-by-exac src=a deny=b",
        G,
        "no function `filter-by-exac`",
    ),
    "portal_robot_32-enable=maybe": ("Data enable=maybe fn=generate-md5", G, "`maybe`"),
    "portal_robot_44-config missing": ("Setup fn=filterrules-setup", G, "lacks config"),
    "portal_robot_45-logtype": ("Setup fn=filterrules-setup config=x logtype=loud", G, "none of verbose"),
    "portal_robot_48-types by extension without setup": (
        "Data fn=assign-type-by-extension",
        G,
        "needs setup-type",
    ),
    "portal_robot_56-neither allow nor deny": (
        "Data fn=filter-by-exact src=type",
        G,
        "neither allow nor deny",
    ),
    "portal_robot_59-two filter-by-max": (
        "MetaData fn=filter-by-max src=depth value=1\nData fn=filter-by-max src=hosts value=1",
        G,
        "used twice",
    ),
    "portal_robot_62-filter-by-md5 without generate-md5": ("Data fn=filter-by-md5", G, "needs generate-md5"),
    "portal_robot_63-filter-by-md5 under MetaData": (
        "MetaData fn=filter-by-md5",
        G,
        sentence("filters.not_allowed_under_metadata"),
    ),
    "portal_robot_64-two filter-by-md5": (
        "Data fn=generate-md5\nData fn=filter-by-md5\nData fn=filter-by-md5",
        G,
        "used twice",
    ),
    "portal_robot_69-both value and src": (
        "Data fn=assign-source dst=a value=b src=c",
        G,
        "both value and src",
    ),
    "neither value nor src": ("Data fn=assign-source dst=a", G, "neither value nor src"),
    "portal_robot_101-summarizers not in PATH": (
        "Generate fn=harvest-summarizer summarizer=HTML.sum",
        G,
        "not in PATH",
    ),
    "rules before their setup": ("Data fn=filterrules-process", G, "needs filterrules-setup"),
    "no function named": ("Data src=type", G, "names no function"),
    "unknown directive": ("Dada fn=generate-md5", G, "no directive"),
    "unknown parameter": ("Data fn=generate-md5 src=x", G, "takes no parameter `src`"),
    "no number": ("Setup fn=setup-regex-cache cache-size=many", G, "not a whole number"),
    "too small a number": ("Setup fn=setup-regex-cache cache-size=0", G, "less than 1"),
    "no expression": ("Data fn=filter-by-regex src=type deny=(", G, "expression '('"),
    "mapping without an arrow": ("Generate fn=rename-attribute src=a", G, "maps no names"),
    "file that is not there": ("Setup fn=setup-type-by-extension file=none", G, "cannot be read"),
    "rules that are not there": ("Setup fn=filterrules-setup config=none", G, "cannot be read"),
}


@pytest.mark.parametrize(("text", "kind", "problem"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_are_said_with_their_line(text: str, kind: FilterKind, problem: str) -> None:
    filters = Filters()
    filters.program("# a comment\n" + text, kind)
    found = [finding for finding in filters.findings if finding.fatal]
    assert any(problem in finding.problem for finding in found), found
    assert all(finding.line >= 2 and finding.instead for finding in found)


def test_all_mistakes_are_said_at_once() -> None:
    filters = Filters()
    filters.program("Data fn=nothing\nData fn=filter-by-exact\nData fn=generate-md5 enable=perhaps")
    assert [finding.line for finding in filters.findings] == [1, 2, 3]


def test_lines_that_are_off_are_checked_but_do_not_count() -> None:
    filters = Filters()
    filters.program(
        "Data enable=off fn=filter-by-max src=depth value=1\nData fn=filter-by-max src=depth value=1"
    )
    assert not filters.findings
    filters.program("Data enable=off fn=generate-md5\nData fn=filter-by-md5")
    assert "needs generate-md5" in filters.findings.pop().problem
    filters.program("Data enable=off fn=filter-by-max src=depth")
    assert "lacks value" in filters.findings.pop().problem


def test_portal_robot_27_directive_names_in_any_case_26_parameters_not() -> None:
    filters = Filters()
    program = filters.program("DATA fn=generate-md5")
    assert len(program.steps[Phase.DATA]) == 1
    filters.program("Data fn=filter-by-exact SRC=type deny=x")
    assert {finding.key for finding in filters.findings} == {"filter-by-exact", "SRC"}


def test_portal_robot_42_a_source_that_is_not_there_yet_gives_a_warning_and_no_action() -> None:
    filters = Filters()
    program = filters.program("MetaData fn=filter-by-exact src=content-length deny=5")
    assert [(f.fatal, f.key) for f in filters.findings] == [(False, "filter-by-exact")]
    assert program.steps[Phase.METADATA] == []


@pytest.mark.parametrize(
    ("line", "source"),
    [
        ("filter-by-prefix src=type allow=text", "type"),
        ("filter-by-exact src=author deny=Jordan", "author"),
        ("filter-by-regex src=keywords allow=.*news.*", "keywords"),
        ("filter-by-max src=size value=5", "size"),
        ("assign-source dst=x src=description", "description"),
        ("generate-by-prefix dst=x value=y src=type match=text", "type"),
    ],
    ids=["type", "META data", "an expression", "a number", "a copy", "a classification"],
)
def test_a_source_of_the_page_gives_a_hint_and_no_action_before_the_fetch(line: str, source: str) -> None:
    filters = Filters()
    program = filters.program(f"MetaData fn={line}")
    assert [(f.fatal, named(f.problem)) for f in filters.findings] == [(False, [source])]
    assert program.steps[Phase.METADATA] == []


@pytest.mark.parametrize(
    "lines",
    [
        "MetaData fn=filter-by-max src=hosts value=5\nMetaData fn=filter-by-exact src=depth deny=5",
        "MetaData fn=assign-source dst=x value=y\nMetaData fn=filter-by-exact src=x deny=y",
        "MetaData fn=generate-by-exact dst=X value=y src=host match=z\nMetaData fn=filter-by-exact src=x deny=y",
        "Setup fn=setup-type-by-extension file=t\nMetaData fn=assign-type-by-extension\n"
        "MetaData fn=filter-by-prefix src=type deny=text",
        "MetaData fn=own\nMetaData fn=filter-by-exact src=whatever deny=y",
        "MetaData fn=filter-by-exact src=enumeration-filter deny=y\nMetaData fn=filter-by-exact src=IP deny=y",
    ],
    ids=["counts", "assigned", "generated", "by extension", "by a function of one's own", "of the robot"],
)
def test_sources_that_are_there_before_the_fetch_are_used_there(lines: str) -> None:
    filters = Filters()
    filters.robot.read = lambda _: "text/plain txt"
    filters.functions = {**filters.functions, "own": own_function("own", lambda *_: 0)}
    program = filters.program(lines)
    assert [finding for finding in filters.findings if "not known" in finding.problem] == []
    assert len(program.steps[Phase.METADATA]) == lines.count("MetaData")


def test_portal_robot_104_the_thirty_functions() -> None:
    names = [
        "filterrules-setup",
        "setup-regex-cache",
        "setup-type-by-extension",
        "filter-by-exact",
        "filter-by-max",
        "filter-by-md5",
        "filter-by-prefix",
        "filter-by-regex",
        "filterrules-process",
        "assign-source",
        "assign-type-by-extension",
        "clear-source",
        "convert-to-html",
        "copy-attribute",
        "generate-by-exact",
        "generate-by-prefix",
        "generate-by-regex",
        "generate-md5",
        "generate-rd-expires",
        "generate-rd-last-modified",
        "rename-attribute",
        "enumerate-urls",
        "enumerate-urls-from-text",
        "extract-full-text",
        "extract-html-meta",
        "extract-html-text",
        "extract-html-toc",
        "extract-source",
        "harvest-summarizer",
        "filterrules-shutdown",
    ]
    assert len(names) == 30
    assert set(Filters().functions) == {*names, "generate-last-modified"}


@pytest.mark.parametrize(("size", "kept"), [(None, 32), (28, 28)], ids=["portal_robot_46", "portal_robot_47"])
def test_the_regex_cache_keeps_so_many(size: int | None, kept: int) -> None:
    filters = Filters()
    setup = f"Setup fn=setup-regex-cache cache-size={size}\n" if size else ""
    lines = "\n".join(f"Data fn=filter-by-regex src=path deny=/x{number}" for number in range(40))
    (view,) = filters.run(setup + lines, page())
    assert str(view.cause) == ""
    assert filters.robot.cache_of("f").cache_info().currsize == kept


def test_answers_of_the_robot_end_a_phase() -> None:
    robot = Robot()
    robot.count("a")
    robot.count("b")
    robot.count("a")
    assert (len(robot.hosts), robot.objects) == (2, 3)
    assert Filters().program("").judge(View(Resource("http://h/"))) is Answer.PROCEED


@pytest.mark.parametrize("value", ["false", "off"])
def test_portal_robot_30_a_line_that_is_off_is_a_comment(value: str) -> None:
    off = f"Data enable={value} fn=filter-by-md5\nData fn=assign-source dst=x value=y"
    commented = "# Data fn=filter-by-md5\nData fn=assign-source dst=x value=y"
    programs = [Filters().program(text) for text in (off, commented)]
    first, second = [[str(line) for line in one.lines[Phase.DATA]] for one in programs]
    assert first == second == ["Data fn=assign-source dst=x value=y"]


@pytest.mark.parametrize("kind", [E, G])
def test_portal_robot_103_the_rules_are_let_go_at_the_end_of_either_filter(kind: FilterKind) -> None:
    class Rules:
        def judge(self, url: str, media_type: str | None = None) -> Decision:
            return Decision(True, "", "", f"{url} {media_type}")

    filters = Filters(Robot(load_rules=lambda _: Rules()))
    text = "Setup fn=filterrules-setup config=x\nShutdown fn=filterrules-shutdown"
    program = filters.program(text, kind, "f")
    assert not filters.findings
    assert "f" in filters.robot.rules
    program.stop()
    assert "f" not in filters.robot.rules
    filters.program("MetaData fn=filterrules-shutdown", kind)
    assert (filters.findings[-1].key, "MetaData" in filters.findings[-1].problem) == (
        "filterrules-shutdown",
        True,
    )


def test_portal_robot_5_a_directory_gives_its_files_and_no_description() -> None:
    listing = page('<a href="one.txt">one</a><a href="two.txt">two</a>', url="ftp://h/pub/")
    directories = r"MetaData fn=filter-by-regex src=path deny=.*/"
    (links,) = Filters().run("Enumerate fn=enumerate-urls", listing, kind=E)
    (rd,) = Filters().run(f"{directories}\nGenerate fn=extract-html-meta", listing)
    assert (links.links, rd.rd) == (["one.txt", "two.txt"], {})


def test_a_mistake_is_reported_once_and_not_of_the_lines_that_need_its_own() -> None:
    filters = Filters()
    filters.program("Setup fn=setup-type-by-extension file=x kind=y\nData fn=assign-type-by-extension")
    assert [(finding.line, finding.key) for finding in filters.findings] == [(1, "kind")]
