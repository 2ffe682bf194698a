"""Whom a source believes about the language of its documents: what they declare, what their text shows, or both."""

from __future__ import annotations

import pytest
from scrapy.http import HtmlResponse
from support.project import Workspace
from support.sentences import sentence
from support.site import Site

from ultracrawl.model import Page
from ultracrawl.run.reading.language_detection import (
    MIN_PROBABILITY,
    OVERRULING_CHARS,
    OVERRULING_PROBABILITY,
    DocumentLanguages,
    open_detector,
)
from ultracrawl.sources.sections.documents.document_options import Trust

GERMAN = (
    "Die Bibliotheken öffneten gestern ihre Türen für alle Besucher der Stadt und für deren Kinder. Wer ein Buch "
    "entleihen will, braucht einen Ausweis, den er am Eingang bekommt, und muss es nach vier Wochen zurückbringen. "
)
ENGLISH = (
    "The libraries opened their doors yesterday to all visitors of the town and to their children. Whoever wants to "
    "borrow a book needs a card, which is given out at the entrance, and has to bring it back after four weeks. "
)


def indexed_language(
    trust: Trust, text: str, lang: str = "", header: str = "", found: tuple[str, float] | None = None
) -> str:
    """Return what a page is told to be in; `found` is what its text shows, and without it is detected."""
    detect = open_detector("a test") if found is None else lambda _: found
    headers = {"Content-Language": header} if header else {}
    response = HtmlResponse("http://127.0.0.1/", headers=headers)
    return DocumentLanguages(trust, detect).of(Page(text=text, language=lang), response)


@pytest.mark.parametrize(
    ("lang", "header", "declared", "detected", "both"),
    [
        pytest.param("en", "", "en", "de", "de", id="declared wrongly"),
        pytest.param("", "en-GB, fr", "en-GB", "de", "de", id="declared wrongly by the header"),
        pytest.param("de-AT", "en", "de-AT", "de-AT", "de-AT", id="declared rightly, with its region"),
        pytest.param("", "", "de", "de", "de", id="not declared"),
        pytest.param("und", "en", "en", "de", "de", id="declared as unknown, the header is wrong"),
    ],
)
def test_a_long_text_refutes_a_wrong_declaration(
    lang: str, header: str, declared: str, detected: str, both: str
) -> None:
    found = {
        trust: indexed_language(trust, GERMAN, lang, header) for trust in ("declared", "detected", "both")
    }
    assert found == {"declared": declared, "detected": detected, "both": both}


@pytest.mark.parametrize("trust", ["declared", "detected", "both"])
@pytest.mark.parametrize("text", ["", "12 34", "Heron", "int main(void) { return 0; } " * 20])
def test_a_text_that_tells_nothing_leaves_what_is_declared(trust: Trust, text: str) -> None:
    assert indexed_language(trust, text, "fr") == "fr"
    assert indexed_language(trust, text) == ""


@pytest.mark.parametrize(
    ("length", "found", "expected"),
    [
        pytest.param(OVERRULING_CHARS, ("de", OVERRULING_PROBABILITY), "de", id="clearly"),
        pytest.param(OVERRULING_CHARS - 1, ("de", 1.0), "en", id="too short"),
        pytest.param(OVERRULING_CHARS, ("de", OVERRULING_PROBABILITY - 0.001), "en", id="not clearly"),
        pytest.param(OVERRULING_CHARS, ("", MIN_PROBABILITY - 0.1), "en", id="not at all"),
    ],
)
def test_both_believe_the_page_unless_the_text_is_clearly_another_language(
    length: int, found: tuple[str, float], expected: str
) -> None:
    assert indexed_language("both", "x" * length, "en", found=found) == expected
    assert indexed_language("both", "x" * length, found=found) == found[0], "nothing is declared"


def test_half_a_translation_is_not_clearly_another_language() -> None:
    assert indexed_language("detected", ENGLISH + GERMAN, "de") == "en"
    assert indexed_language("both", ENGLISH + GERMAN, "de") == "de"


@pytest.mark.parametrize("lang", ["nb", "nn"])
def test_norwegian_does_not_refute_its_written_forms(lang: str) -> None:
    assert indexed_language("both", "x" * OVERRULING_CHARS, lang, found=("no", 1.0)) == lang


def test_lint_names_the_option_that_has_no_effect_beside_trust(workspace: Workspace) -> None:
    workspace.define(
        "http://127.0.0.1/", languages={"trust": "both"}, focused={"languages": ["en"], "detect": False}
    )
    ended = workspace.command("lint")
    assert sentence("languages.detect_beside_trust") in ended.out


@pytest.mark.servers
@pytest.mark.parametrize(
    ("trust", "stemmed", "kept"),
    [
        pytest.param("declared", [], [], id="declared"),
        pytest.param("detected", ["/"], ["/"], id="detected"),
        pytest.param("both", ["/"], ["/"], id="both"),
    ],
)
def test_attribute_stems_and_focus_go_by_what_is_believed(
    site: Site, url: str, workspace: Workspace, trust: Trust, stemmed: list[str], kept: list[str]
) -> None:
    site.page("/", title="x", text=GERMAN, lang="en")
    workspace.define(f"{url}/", languages={"trust": trust})
    workspace.crawl()
    hits = workspace.command("search", "--json", "--as-typed", "").json["hits"]
    assert [hit["attributes"]["Language"] for hit in hits] == [["de"] if stemmed else ["en"]]
    assert workspace.search("Bibliothek") == stemmed
    workspace.define(f"{url}/", languages={"trust": trust}, focused={"languages": ["german"]})
    workspace.crawl(code=0 if kept else 1)
    assert workspace.indexed() == kept
