"""The page or section that documents a name is before lists, headers, tutorials and titles that mention it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, Reading, SearchQuery
from ultracrawl.model.page import Section

FILLER = " ".join(f"filler{number}" for number in range(300))


def page(
    path: str, title: str, text: str, *parts: tuple[str, str, str], links: Sequence[str] = ()
) -> IndexDocument:
    """Return a page with parts, each with anchor, heading and text."""
    sections = [Section(0, 1, "", title)]
    text = f"{title}\n{text}\n"
    for anchor, heading, said in parts:
        sections.append(Section(len(text), 2, anchor, heading))
        text += f"{heading}\n{said}\n"
    return IndexDocument("s", f"http://h/{path}", title, text, sections=tuple(sections), anchors=tuple(links))


CONTAINER = [
    page(
        "boost/container/allocator.html",
        "Class template allocator",
        "boost::container::allocator In header boost/container/allocator.hpp.",
        ("idp1", "Synopsis", "boost { container { class allocator; } }"),
        links=["allocator"],
    ),
    page(
        "header/container.html",
        "Header <boost/container/allocator.hpp>",
        "boost { container { class allocator; boost::container::allocator } }",
    ),
    page(
        "container/tutorial.html",
        "Boost.Container: extended allocators",
        "boost::container::allocator is used here. " * 4 + FILLER,
        ("ext", "boost::container::allocator and others", "boost container allocator " * 4),
    ),
    page(
        "boost/container/vector.html",
        "Class template vector",
        "boost::container vector with allocator allocator. " * 3,
    ),
    page(
        "boost/interprocess/allocator.html",
        "Class template allocator",
        "boost::interprocess::allocator In header.",
        links=["allocator"],
    ),
]
FEATURES = [
    page("tag/mean.html", "Struct mean", "boost::accumulators::tag::mean Synopsis. " + FILLER),
    page("as_mean_1.html", "Struct as_feature<tag::mean>", "as_feature tag::mean mean mean."),
    page("as_mean_2.html", "Struct as_feature<tag::mean(lazy)>", "as_feature tag::mean mean."),
]
SQLITE = [
    page(
        "c3ref/deserialize.html",
        "Deserialize a database",
        "int sqlite3_deserialize(sqlite3 *db); " + FILLER,
        links=["sqlite3_deserialize()"],
    ),
    page(
        "c3ref/c_freeonclose.html",
        "Flags for sqlite3_deserialize()",
        "#define SQLITE_FREEONCLOSE flags to sqlite3_deserialize(P,F).",
        links=["flags for sqlite3_deserialize"],
    ),
    page(
        "c3ref/serialize.html",
        "Serialize a database",
        "sqlite3_serialize, and sqlite3_deserialize does the reverse.",
    ),
    page("release.html", "Release 3.36", "sqlite3_deserialize() is enabled. " + FILLER),
]
KERNEL = [
    page(
        "sysctl/kernel.html",
        "Documentation for /proc/sys/kernel/",
        FILLER,
        ("panic", "panic", FILLER),
        ("tainted", "tainted", "Non-zero if the kernel has been tainted."),
        ("watchdog", "nmi_watchdog", "It controls the NMI watchdog."),
    ),
    page(
        "tainted-kernels.html",
        "Tainted kernels",
        "The kernel is tainted. kernel.tainted is read. " * 3,
        ("more", "More detailed explanation for tainting", "tainted kernel " * 5),
    ),
    page(
        "params.html",
        "The kernel's command-line parameters",
        FILLER,
        ("", "Boot parameters", "nmi_watchdog= boot parameter, a parameter at boot."),
    ),
    page(
        "lockup.html",
        "Softlockup detector and nmi_watchdog",
        "The nmi_watchdog of each boot is a parameter. " * 4,
    ),
]


@pytest.mark.parametrize(
    ("documents", "text", "url"),
    [
        (CONTAINER, "boost::container::allocator", "boost/container/allocator.html"),
        (CONTAINER, "boost::interprocess::allocator", "boost/interprocess/allocator.html"),
        (FEATURES, "mean", "tag/mean.html"),
        (SQLITE, "sqlite3_deserialize", "c3ref/deserialize.html"),
        (KERNEL, "kernel.tainted", "sysctl/kernel.html"),
        (KERNEL, "nmi_watchdog", "sysctl/kernel.html"),
    ],
)
def test_what_a_name_is_the_name_of_is_first(
    engine: IndexEngine, documents: list[IndexDocument], text: str, url: str
) -> None:
    engine.apply([*documents, *(page(f"other{n}.html", f"Other {n}", f"{FILLER} {n}") for n in range(8))])
    hits = engine.search(SearchQuery(text, reading=Reading.PARTS)).hits
    assert hits[0].url.removeprefix("http://h/") == url
    assert len(hits) > 1
