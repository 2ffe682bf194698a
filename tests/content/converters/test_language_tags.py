"""What documents declare as their language becomes one tag of BCP 47 or none, in every kind of document."""

from collections.abc import Callable

import pytest
from scrapy.http import HtmlResponse
from support import files

from ultracrawl.content.converters.conversion import Budget, ConversionLimits, Sink
from ultracrawl.content.html.page import parse_html
from ultracrawl.content.languages import language_tag
from ultracrawl.model import Conversion, Page
from ultracrawl.run.reading.language_detection import DocumentLanguages

TAGS = {
    "en": "en",
    " EN-us ": "en-US",
    "de_AT": "de-AT",
    "de_DE.UTF-8": "de-DE",
    "ca_ES@valencia": "ca-ES",
    "deu": "de",
    "GER-ch": "de-CH",
    "English": "en",
    "Northern Sami": "se",
    "German (Austria)": "de",
    "fr, en": "fr",
    "de;q=0.8": "de",
    "de/en": "de",
    "nb-no": "nb-NO",
    "zh-hans-cn": "zh-Hans-CN",
    "zh-CHS": "zh-Hans",
    "sr-latn": "sr-Latn",
    "es-419": "es-419",
    "de-1996": "de-1996",
    "sl-rozaj-biske": "sl-rozaj-biske",
    "iw": "he",
    "in-ID": "id-ID",
    "cmn": "zh",
    "fil": "fil",
    "en-UK": "en-GB",
    "en-GB-oed": "en-GB",
    "en-x-own": "en",
    "en-": "en",
}
NO_TAGS = [
    "",
    " ",
    "und",
    "zxx",
    "mul",
    "xx",
    "jp",
    "C",
    "POSIX",
    "x-default",
    "i-klingon",
    "1031",
    "{{lang}}",
]
NO_TAGS += ["e", "en<b>", "-", "unbekannt", "en-" + "abcdefgh-" * 9, "ab" * 40_000, "\x00", "ü"]


def test_a_declared_language_is_one_tag(subtests: pytest.Subtests) -> None:
    for declared, tag in TAGS.items():
        with subtests.test(declared):
            assert language_tag(declared) == tag
            assert language_tag(tag) == tag, "a tag stays as it is"


def test_what_names_no_language_is_none(subtests: pytest.Subtests) -> None:
    for declared in NO_TAGS:
        with subtests.test(declared=declared):
            assert language_tag(declared) == ""


def _page(html: str) -> str:
    return parse_html(html.encode(), url="http://h.example/").language


def _header(value: str) -> str:
    response = HtmlResponse("http://127.0.0.1/", headers={"Content-Language": value})
    return DocumentLanguages("declared", None).of(Page(), response)


def _converted(said: str) -> str:
    sink = Sink(Budget(ConversionLimits()))
    sink.set_language("und")
    sink.set_language(said)
    sink.set_language("fi")
    return sink.language


WHERE: dict[str, Callable[[str], str]] = {
    "html": lambda said: _page(f"<html lang='{said}'>"),
    "xhtml": lambda said: _page(f"<html xml:lang='{said}'>"),
    "pragma": lambda said: _page(f"<meta http-equiv=content-language content='{said}'>"),
    "unknown, then pragma": lambda said: _page(
        f"<html lang=und><meta http-equiv=content-language content='{said}'>"
    ),
    "header": _header,
    "converter": _converted,
}


def test_all_places_read_alike(subtests: pytest.Subtests) -> None:
    for where, read in WHERE.items():
        with subtests.test(where):
            assert read("DEU_at, en") == "de-AT"


ALIKE: dict[str, tuple[bytes, str]] = {
    "mail": (b"Content-Language: DEU_at\nSubject: x\n\nwords\n", "message/rfc822"),
    "markdown": (b"---\nlang: DEU_at\n---\nwords\n", "text/markdown"),
    "xml": (b'<doc xml:lang="DEU_at"><p>words</p></doc>', "application/xml"),
    "pdf": (files.pdf(["words"]).replace(b"(de-DE)", b"(DEU_at)"), "application/pdf"),
}


def test_documents_are_read_alike(converted: Callable[..., Conversion], subtests: pytest.Subtests) -> None:
    for name, (body, media_type) in ALIKE.items():
        with subtests.test(name):
            assert converted(body, media_type).language == "de-AT"
