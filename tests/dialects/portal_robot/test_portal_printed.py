"""The directives that the manual prints, as it prints them: with each one its text holds, and without it it does not.

Names are those of the checklist. Every case runs the two filters of a filter.conf over the same resources twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from typing import Any

import pytest
from support.project import Workspace
from support.robot import RobotFiles
from support.site import Site

from ultracrawl.model import Page
from ultracrawl.run.filters.filtering import Filtering
from ultracrawl.sources.sections.scope.filters import FiltersSection

NOW = 1_700_000_000.0  # 2023-11-14
LINKS = "".join(f'<a href="/{number}">x</a>' for number in range(1100))
TEXT = "The quick brown fox jumps over the lazy dog while nobody looks. " * 8
HTML = (
    '<html><head><title>Jewels</title><meta name="author" content="Jordan"><meta name="keywords" content="a, b">'
    f'<meta name="long" content="{"x" * 300}"></head><body><h1>One</h1><p>{TEXT}</p><h3>Three</h3><h4>Four</h4>'
    f"<!-- stopindex -->hidden<!-- startindex -->{LINKS}</body></html>"
).encode()
PLAIN = "".join(f"URL: http://h/{number}\n" for number in range(1100)).encode()
RULES = """<FilterRule name=archives>
   Match source=path by=ends-with string=.zip
</FilterRule>
<Site name=siroe.com kind=domain>
   Start url=http://www.siroe.com/
   Use rule=archives
</Site>
"""

Sent = tuple[str, dict[str, str], bytes]
RESOURCES: dict[str, Sent] = {
    "html": ("http://www.siroe.com/a.html", {"content-type": "text/html; charset=utf-8"}, HTML),
    "copy": ("http://home.siroe.com/b.html", {"content-type": "text/html"}, HTML),
    "text": ("http://www.siroe.com/a.txt", {"content-type": "text/plain"}, PLAIN),
    "image": ("http://www.siroe.com/a.png", {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n"),
    "pdf": ("http://www.siroe.com/a.pdf", {"content-type": "application/pdf"}, b"%PDF-1.4"),
    "rtf": ("http://www.siroe.com/a.rtf", {"content-type": "application/rtf"}, b"{\\rtf1}"),
    "untyped": ("http://www.siroe.com/a", {}, b"\x00\x01\x02\x03"),
    "archive": ("http://www.siroe.com/a.zip", {"content-type": "application/zip"}, b"PK\x03\x04"),
    "gov": ("http://www.nasa.gov/", {"content-type": "text/html"}, b"<title>Nasa</title>"),
    "large": ("http://www.siroe.com/large", {"content-type": "text/html", "content-length": "1048577"}, b"x"),
    "ftp": ("ftp://ftp.siroe.com/file", {"content-type": "text/plain"}, b"file"),
    "dated": (
        "http://www.siroe.com/dated",
        {"content-type": "text/html", "expires": "Wed, 01 Jan 2031 00:00:00 GMT"},
        b"<title>Dated</title>",
    ),
}


@dataclass
class Observed:
    """What both filters did: descriptions, and links of what they allowed."""

    described: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)

    def value(self, name: str, key: str) -> list[str]:
        """Return a field of a description, none if there is none."""
        return self.described.get(name, {}).get(key, [])


Look = Callable[[Observed], Any]


@dataclass(frozen=True)
class Printed:
    """Lines of the manual for the generation (`g`) or the enumeration filter (`e`), what they show, and what they need.

    `given` stands before them and `then` behind them, with and without the lines.
    """

    lines: str
    look: Look
    expected: Any
    kind: str = "g"
    given: str = ""
    then: str = ""


def run(folder: Path, printed: Printed, lines: str) -> Observed:
    """Run filters with the case's lines, or without."""
    text = f"{printed.given}\n{lines}\n{printed.then}"
    g, e = (text, "") if printed.kind == "g" else ("", text)
    e = e or "Enumerate fn=enumerate-urls"
    (folder / "filter.conf").write_text(
        f'<Filter name="e">\n{e}\n</Filter>\n<Filter name="g">\n{g}\nGenerate fn=extract-source src=url\n</Filter>\n'
    )
    section = FiltersSection(file=folder / "filter.conf", enumeration="e", generation="g", instance=folder)
    filtering, observed = Filtering(section, lambda: NOW), Observed()
    filtering.start()
    for name, (url, headers, body) in RESOURCES.items():
        views = filtering.judge(url, 3)
        if views.denied:
            continue
        needed = filtering.needs_conversion(views, headers, body)
        page = Page(title="Converted", text="words of the document") if needed else None
        result = filtering.use(views, headers, body, page)
        observed.links[name] = result.links
        if result.rd is not None:
            observed.described[name] = result.rd
    filtering.release()
    return observed


def missing(observed: Observed) -> set[str]:
    """Return the resources that have no description."""
    return RESOURCES.keys() - observed.described.keys()


def numbers(*names: str) -> Look:
    return lambda observed: [len(observed.links.get(name, ())) for name in names]


def values(name: str, *keys: str) -> Look:
    return lambda observed: [observed.value(name, key) for key in keys]


def holders(key: str) -> Look:
    """Return what each resource has in a field, without those that have nothing."""
    return lambda observed: {name: rd[key] for name, rd in observed.described.items() if key in rd}


SETUP = 'Setup fn=filterrules-setup config="./config/filterrules.conf"'
PRINTED = {
    "5.4 on": Printed(
        "Enumerate enable=true fn=enumerate-urls max=1024 type=text/html",
        numbers("html", "text"),
        [1024, 0],
        "e",
    ),
    "30 off": Printed(
        "Enumerate enable=false fn=enumerate-urls-from-text max=1024 type=text/plain\n"
        "Enumerate fn=enumerate-urls max=10 type=text/html",
        numbers("html", "text"),
        [10, 0],
        "e",
        then="Shutdown fn=filterrules-shutdown",
    ),
    "49": Printed("Data fn=filter-by-exact src=type deny=text/plain", missing, {"text", "ftp"}),
    "51": Printed(
        "Data fn=filter-by-prefix src=type allow=text",
        missing,
        {"image", "pdf", "rtf", "untyped", "archive"},
    ),
    "53": Printed(r"MetaData fn=filter-by-regex src=host deny=\\*.gov", missing, {"gov"}),
    "20 57 60": Printed("MetaData fn-filter-by-max src=depth value=2", missing, set(RESOURCES)),
    "61": Printed("Data fn-filter-by-max src=content-length value=1024", missing, {"large"}),
    "62 65 80": Printed("Data fn=generate-md5\nData fn=filter-by-md5", missing, {"copy"}),
    "67": Printed(
        "MetaData fn=filterrules-process\nData fn=filterrules-process",
        missing,
        {"archive", "gov"},
        given=SETUP,
    ),
    "44 45": Printed(
        'Setup fn=filterrules-setup config="./config/filterrules.conf" logtype=normal\nMetaData fn=filterrules-process',
        missing,
        {"archive", "gov"},
    ),
    "68": Printed(
        "Data fn=assign-source dst=type src=content-type",
        values("html", "type"),
        [["text/html"]],
        given="Data fn=clear-source src=type",
        then="Generate fn=extract-source src=type",
    ),
    "48 70": Printed(
        "MetaData fn=assign-type-by-extension",
        missing,
        {"html", "copy"},
        given='Setup fn=setup-type-by-extension file="./config/mime.types"',
        then="MetaData fn=filter-by-exact src=type deny=text/html",
    ),
    "71": Printed(
        "MetaData fn=clear-source src=path",
        values("html", "path"),
        [[]],
        then="Generate fn=extract-source src=path",
    ),
    "72 73": Printed(
        "Data fn=convert-to-html type=application/pdf\nData fn=convert-to-html type=application/rtf\n"
        "Data fn=convert-to-html type=application/x-mif\nData fn=convert-to-html type=unknown",
        lambda observed: {
            name for name, title in holders("title")(observed).items() if title == ["Converted"]
        },
        {"pdf", "rtf", "untyped"},
        then="Generate fn=extract-html-meta",
    ),
    "74 75": Printed(
        "Generate fn=copy-attribute src=partial-text dst=description truncate=200 clean=true",
        lambda observed: [
            (len(text) <= 200, text.split()[-1] in TEXT.split())
            for text in observed.value("html", "description")
        ],
        [(True, True)],
        given='Generate fn=extract-html-text truncate=4096 type="text/html"',
    ),
    "76 25": Printed(
        'Generate fn="generate-by-exact" match="www.siroe.com:80" src="host" value="Siroe" dst="classification"',
        lambda observed: {name: RESOURCES[name][0][:20] for name in holders("classification")(observed)},
        {
            name: "http://www.siroe.com"
            for name, (url, _, _) in RESOURCES.items()
            if url.startswith("http://www.siroe.com")
        },
    ),
    "77": Printed(
        'Generate fn=generate-by-prefix match=http src=protocol value="World Wide Web" dst=classification',
        lambda observed: RESOURCES.keys() - holders("classification")(observed).keys(),
        {"ftp"},
    ),
    "78": Printed(
        r"Generate fn=generate-by-regex match=\\*.siroe.com src=host value=Siroe dst=classification",
        lambda observed: RESOURCES.keys() - holders("classification")(observed).keys(),
        {"gov"},
    ),
    "81 82 83": Printed(
        "Generate fn=generate-rd-expires",
        lambda observed: (
            [observed.value(name, "rd-expires")[0][5:16] for name in ("html", "dated")]
            if observed.value("html", "rd-expires")
            else []
        ),
        ["14 Feb 2024", "01 Jan 2031"],
        then="Generate fn=extract-source src=rd-expires",
    ),
    "84": Printed(
        "Generate fn=generate-rd-last-modified",
        lambda observed: [text[5:16] for text in observed.value("html", "rd-last-modified")],
        ["14 Nov 2023"],
    ),
    "85": Printed(
        "Generate fn=generate-last-modified",
        lambda observed: [text[5:16] for text in observed.value("html", "rd-last-modified")],
        ["14 Nov 2023"],
    ),
    "86": Printed(
        'Generate fn=rename-attribute src="author->author-name"',
        values("html", "author", "author-name"),
        [[], ["Jordan"]],
        given="Generate fn=extract-html-meta",
    ),
    "87 89": Printed("Enumerate fn=enumerate-urls type=text/html", numbers("html", "text"), [1024, 0], "e"),
    "91": Printed(
        "Enumerate fn=enumerate-urls-from-text",
        lambda observed: [len(observed.links["text"]), *observed.links["text"][:2]],
        [1024, "http://h/0", "http://h/1"],
        "e",
    ),
    "93": Printed(
        "Generate fn=extract-full-text",
        lambda observed: [
            TEXT.strip() in text and "hidden" not in text for text in observed.value("html", "full-text")
        ],
        [True],
    ),
    "94": Printed(
        'Generate fn=extract-html-meta truncate=255 type="text/html"',
        values("html", "title", "author", "keywords", "long"),
        [["Jewels"], ["Jordan"], ["a, b"], ["x" * 255]],
    ),
    "95 96": Printed(
        'Generate fn=extract-html-text truncate=255 type="text/html" skip-headings=true',
        lambda observed: [
            (text.startswith("The quick"), len(text.encode()) <= 255, len(text.encode()) > 200)
            for text in observed.value("html", "partial-text")
        ],
        [(True, True, True)],
    ),
    "97": Printed(
        "Generate fn=extract-html-toc truncate=255 level=3",
        lambda observed: [
            [word in text for word in ("One", "Three", "Four")] for text in observed.value("html", "toc")
        ],
        [[True, True, False]],
    ),
    "98 99": Printed(
        'Generate fn=extract-source src="md5,depth,rd-expires,rd-last-modified,type->content-type"',
        values("html", "md5", "depth", "rd-expires", "content-type"),
        [[md5(HTML, usedforsecurity=False).hexdigest()], ["3"], [], ["text/html"]],
        given="Data fn=generate-md5",
    ),
    "101": Printed(
        "Generate fn-harvest-summarizer summarizer=HTML.sum", values("html", "abstract"), [["a summary"]]
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an instance with rules, types, and the program of a summarizer in PATH."""
    config, programs = tmp_path / "config", tmp_path / "lib" / "gatherer"
    config.mkdir()
    programs.mkdir(parents=True)
    (config / "filterrules.conf").write_text(RULES)
    (config / "mime.types").write_text("type=text/html exts=htm,html\n")
    summarizer = programs / "HTML.sum"
    summarizer.write_text("#!/bin/sh\nprintf 'abstract{9}:\\ta summary\\n'\n")
    summarizer.chmod(0o755)
    monkeypatch.setenv("HARVEST_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    return tmp_path


@pytest.mark.parametrize("printed", PRINTED.values(), ids=[f"portal_robot_{name}" for name in PRINTED])
def test_a_printed_line_does_what_its_text_says(folder: Path, printed: Printed) -> None:
    assert printed.look(run(folder, printed, printed.lines)) == printed.expected
    assert printed.look(run(folder, printed, "")) != printed.expected, "it holds without the line"


SAMPLE = """<Filter name="enumeration1>
   Setup fn=filterrules-setup config=./config/filterrules.conf
#  Process the rules
   MetaData fn=filterrules-process
#  Filter by type and process rules again
   Data fn=assign-source dst=type src=content-type
   Data fn=filterrules-process
#  Perform the enumeration on HTML only
   Enumerate enable=true fn=enumerate-urls max=1024 type=text/html
#  Cleanup
   Shutdown fn=filterrules-shutdown
</Filter>
"""


@pytest.mark.parametrize("printed", [True, False])
def test_portal_robot_19_103_the_printed_filter_enumerates(
    site: Site, url: str, workspace: Workspace, printed: bool
) -> None:
    """The manual's sample, with the quote that it lacks, in a crawl; without its Enumerate line no link is followed."""
    site.page("/", title="Home", text="needle", links=["/a", "/b.zip"])
    site.page("/a", title="A", text="needle")
    robot = RobotFiles(workspace)
    robot.site(f"{url}/", rules="   Use rule=archive-files\n")
    kept = (
        SAMPLE
        if printed
        else "".join(line for line in SAMPLE.splitlines(True) if "enumerate-urls" not in line)
    )
    robot.write("filter.conf", kept + robot.text("filter.conf"))
    robot.properties(enumeration_filter="enumeration1")
    robot.crawl()
    assert {path: site.count(path) for path in ("/", "/a", "/b.zip")} == {
        "/": 1,
        "/a": int(printed),
        "/b.zip": 0,
    }
