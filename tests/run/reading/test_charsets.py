"""Pages whose character set is missing, wrong, contradictory or mixed: in a crawl, their words are found."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from support.in_process import InProcessWorkspace
from support.network import NetworkSite

from ultracrawl.index.searching import Searcher

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю вместе с нами сегодня вечером. "
GREEK = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία και γράφω ένα μεγάλο κείμενο για τη βιβλιοθήκη. "
JAPANESE = "図書館には古い本がたくさんあります。子供たちは毎日そこで本を読みます。"
CHINESE = "图书馆里有很多旧书。孩子们每天都在那里看书。我们也喜欢那个地方。"
KOREAN = "도서관에는 오래된 책이 많이 있습니다. 아이들은 매일 그곳에서 책을 읽습니다."
POLISH = "Zażółć gęślą jaźń, książki leżą w bibliotece, a źródła są wśród wzgórz. "


class Case(NamedTuple):
    body: bytes
    header: str
    """What the server says behind `text/html`."""
    word: str


def page(text: str, charset: str, meta: str = "", prolog: str = "") -> bytes:
    """Return a page in a character set; `meta` is what it declares, if anything."""
    declared = f"<meta charset={meta}>" if meta else ""
    return f"{prolog}<html>{declared}<title>x</title><p>{text}</p></html>".encode(charset)


BOTH = page("Växjöbor", "utf-8").replace(b"</p>", " und Möhren</p>".encode("latin-1"))
CASES: dict[str, Case] = {
    # missing
    "missing, UTF-8": Case(page("Växjöbor", "utf-8"), "", "Växjöbor"),
    "missing, the default ISO-8859-1": Case(page("Växjöbor", "latin-1"), "", "Växjöbor"),
    "missing, windows-1251": Case(page(RUSSIAN * 3, "cp1251"), "", "французских"),
    "missing, KOI8-R": Case(page(RUSSIAN * 4, "koi8-r"), "", "булок"),
    "missing, ISO-8859-7": Case(page(GREEK * 3, "iso8859-7"), "", "βιβλιοθήκη"),
    "missing, Shift_JIS": Case(page(JAPANESE * 3, "shift_jis"), "", "図書館"),
    "missing, EUC-JP": Case(page(JAPANESE * 4, "euc_jp"), "", "子供"),
    "missing, GB 18030": Case(page(CHINESE * 3, "gb18030"), "", "图书馆"),
    "missing, EUC-KR": Case(page(KOREAN * 3, "euc_kr"), "", "도서관"),
    "missing, UTF-16": Case(page("Växjöhus", "utf-16-le"), "", "Växjöhus"),
    # wrong
    "UTF-8 called ISO-8859-1 by the header": Case(
        page("Grünkohl", "utf-8"), "; charset=ISO-8859-1", "Grünkohl"
    ),
    "UTF-8 called windows-1251 by META": Case(
        page("Rotkohlgemüse", "utf-8", "windows-1251"), "", "Rotkohlgemüse"
    ),
    "ISO-8859-1 called UTF-8 by META": Case(page("Weißkohl", "latin-1", "utf-8"), "", "Weißkohl"),
    "windows-1251 called UTF-8 by the header": Case(
        page(RUSSIAN * 3 + "Вторая", "cp1251"), "; charset=utf-8", "Вторая"
    ),
    "Shift_JIS called UTF-8": Case(page(JAPANESE * 3 + "第二", "shift_jis", "utf-8"), "", "第二"),
    "unknown name": Case(page("Blaukrautkörbe", "utf-8"), "; charset=no-such-thing", "Blaukrautkörbe"),
    "dangerous name": Case(page("Blumenkörbe", "utf-8", "utf-7"), "; charset=hex", "Blumenkörbe"),
    "empty name": Case(page("Obstkörbe", "utf-8"), "; charset=", "Obstkörbe"),
    # contradictory
    "header against META": Case(page(POLISH, "iso8859-2", "koi8-r"), "; charset=iso-8859-2", "książki"),
    "byte order mark against header and META": Case(
        b"\xef\xbb\xbf" + page("Brötchenkörbe", "utf-8", "koi8-r"), "; charset=iso-8859-5", "Brötchenkörbe"
    ),
    "two METAs": Case(
        page("Nuß", "cp1252", "windows-1252").replace(b"<title>", b"<meta charset=koi8-r><title>"), "", "Nuß"
    ),
    "XML declaration against META": Case(
        page("Käseglöckchen", "cp1252", "windows-1252", '<?xml version="1.0" encoding="koi8-r"?>'),
        "",
        "Käseglöckchen",
    ),
    # mixed
    "UTF-8 with a piece of ISO-8859-1, its first part": Case(BOTH, "; charset=utf-8", "Växjöbor"),
    "UTF-8 with a piece of ISO-8859-1, its other part": Case(BOTH + b"<p>2", "; charset=utf-8", "Möhren"),
    "UTF-8 with quotation marks of windows-1252": Case(
        page("Süßwarenläden", "utf-8").replace(b"</p>", b" \x93Lakritz\x94 \x96 ja</p>"), "", "Lakritz"
    ),
    "UTF-8 that is cut off in a character": Case(
        page("Apfelgelées", "utf-8")[:-11] + b"\xc3", "", "Apfelgelées"
    ),
    "zero bytes and controls": Case(page("Pflau\x01men\x00mus", "utf-8"), "; charset=utf-8", "Pflau"),
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    site, workspace = NetworkSite(), InProcessWorkspace(tmp_path_factory.mktemp("charsets"))
    for number, case in enumerate(CASES.values()):
        site.file(f"/{number}", case.body, f"text/html{case.header}")
    site.page("/", title="Home", links=[f"/{number}" for number in range(len(CASES))])
    with site.serve() as url:
        workspace.define(f"{url}/", duplicates={"detect": False})
        workspace.crawl()
    with Searcher.open(workspace.directory / "ultracrawl.yaml") as searcher:
        yield searcher


@pytest.mark.parametrize("name", CASES)
def test_its_words_are_found(found: Searcher, name: str) -> None:
    number = list(CASES).index(name)
    pages = {hit.url.rsplit("/", 1)[1] for hit in found.search(CASES[name].word, limit=50).hits}
    assert str(number) in pages
