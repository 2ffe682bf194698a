"""HTML in many languages and character sets, crawled and then searched for inflected forms.

Five languages come from the FAQ that Debian ships, the others from pages of our own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.nginx import nginx_site
from support.project import LOOPBACK, Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.backends import Searcher

pytestmark = [pytest.mark.server, pytest.mark.timeout(300)]

FAQ = Path("/usr/share/doc/debian/FAQ")

BY_DEBIAN = {
    "de": ["Architektur", "Programms", "kompatible", "Kompatibilitätsfrage"],
    "fr": ["architectures", "programme", "problème", "compatibles"],
    "ru": ["архитектура", "программами", "система", "пакета"],
    "ko": ["아키텍처", "프로그램"],
    "zh-cn": ["硬件", "源代码", "内核"],
}
"""Words, mostly in forms other than those in the text, that the FAQ of each language answers."""

OUR_OWN = {
    "en": ("The libraries were being indexed quickly.", "iso-8859-1", ["library", "index"]),
    "es": ("Las bibliotecas públicas ofrecían libros.", "iso-8859-15", ["biblioteca", "libro"]),
    "it": ("Le biblioteche offrivano libri antichi.", "utf-8", ["libro", "antico"]),
    "pt": ("As bibliotecas públicas ofereciam livros.", "windows-1252", ["biblioteca", "livro"]),
    "nl": ("De bibliotheken leenden boeken uit.", "utf-8", ["bibliotheek", "boek"]),
    "sv": ("Biblioteken lånade ut böcker och kartor.", "iso-8859-1", ["bibliotek", "karta"]),
    "da": ("Bibliotekerne havde mange bøger og kortene.", "utf-8", ["bibliotek", "kort"]),
    "no": ("Bibliotekene hadde mange kartene.", "utf-8", ["bibliotek", "kart"]),
    "fi": ("Kirjastossa oli kirjoja.", "utf-8", ["kirjasto", "kirja"]),
    "hu": ("A könyvtárakban könyvek voltak.", "iso-8859-2", ["könyv"]),
    "ro": ("Bibliotecile aveau cărțile.", "utf-8", ["carte"]),
    "pl": ("Biblioteki miały książki.", "iso-8859-2", ["ksiazki", "książki"]),
    "el": ("Οι βιβλιοθήκες είχαν βιβλία.", "iso-8859-7", ["βιβλιοθηκες", "ΒΙΒΛΊΑ"]),
    "ja": ("図書館には古い本があります。", "shift_jis", ["図書館", "本"]),
    "th": ("ห้องสมุดมีหนังสือ", "tis-620", ["หนังสือ"]),
}


@pytest.fixture(scope="module")
def faq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    for code in BY_DEBIAN:
        require((FAQ / code).is_dir(), f"Debian's FAQ in {code}", f"debian-faq-{code}")
    workspace = Workspace(tmp_path_factory.mktemp("faq"))
    with nginx_site(FAQ) as server:
        start = server.url.rstrip("/")
        sources = {
            f"faq-{code}": {
                "start_urls": [f"{start}/{code}/index.{code}.html"],
                "boundary": LOOPBACK,
                "politeness": {"delay": 0, "concurrency": 8},
                "default_language": code,
                "groups": ["faq"],
            }
            for code in BY_DEBIAN
        }
        workspace.write({"sources": sources})
        workspace.crawl()
    with Searcher.open(workspace.directory / "ultracrawl.yaml") as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("code", "word"), [(code, word) for code, words in BY_DEBIAN.items() for word in words]
)
def test_the_faq_answers_in_every_language(faq: Searcher, code: str, word: str) -> None:
    assert f"faq-{code}" in {hit.source for hit in faq.search(word, groups=["faq"], limit=200).hits}
    hits = faq.search(word, sources=[f"faq-{code}"]).hits
    assert all("\x02" in hit.snippet for hit in hits[:3])


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    site = Site()
    site.page("/", links=[f"/{code}.html" for code in OUR_OWN], lang="en")
    for code, (text, charset, _) in OUR_OWN.items():
        page = f"<html lang={code}><meta charset={charset}><title>{code}</title><p>{text}</p></html>"
        site.file(f"/{code}.html", page.encode(charset), "text/html")
    workspace = Workspace(tmp_path_factory.mktemp("own"))
    with site.serve() as url:
        workspace.define(url)
        workspace.crawl()
    with Searcher.open(workspace.directory / "ultracrawl.yaml") as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("code", "word"), [(code, word) for code, (_, _, words) in OUR_OWN.items() for word in words]
)
def test_a_crawled_page_is_found_by_other_forms_of_its_words(own: Searcher, code: str, word: str) -> None:
    assert f"/{code}.html" in {"/" + hit.url.rsplit("/", 1)[1] for hit in own.search(word, limit=20).hits}
