"""HTML in many languages and character sets, crawled and then searched for inflected forms.

Nineteen languages come from the installation guide that Debian ships, five from its FAQ, the others from pages of our
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import samples
from support.nginx import nginx_site
from support.project import LOOPBACK, Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.index.searching import Searcher

pytestmark = [pytest.mark.servers, pytest.mark.timeout(300)]

FAQ = Path("/usr/share/doc/debian/FAQ")

BY_DEBIAN = {
    "de": ["Architektur", "Programms", "kompatible", "Kompatibilitätsfrage"],
    "fr": ["architectures", "programme", "problème", "compatibles"],
    "ru": ["архитектура", "программами", "система", "пакета"],
    "ko": ["아키텍처", "프로그램"],
    "zh-cn": ["硬件", "源代码", "内核"],
}
"""Words, mostly in forms other than those in the text, that the FAQ of each language answers."""

IN_THE_GUIDE = {
    "ca": ("ca", "organització voluntaris programari"),
    "cs": ("cs", "dobrovolnická organizace věnující"),
    "da": ("da", "frivillige organisationer idealet"),
    "de": ("de", "Organisationen Freiwilliger"),
    "el": ("el", "εθελοντικος οργανισμος"),
    "en": ("en", "volunteers organizations"),
    "es": ("es", "organizaciones voluntario dedicado"),
    "fr": ("fr", "organisations bénévole promouvoir"),
    "id": ("id", "organisasi sukarelawan"),
    "it": ("it", "organizzazioni volontario ideale"),
    "ja": ("ja", "有志 団体"),
    "ko": ("ko", "자원자 조직"),
    "nl": ("nl", "vrijwilliger organisatie"),
    "pt": ("pt", "organizações voluntário"),
    "ro": ("ro", "organizații voluntariat idealuri"),
    "ru": ("ru", "организации добровольцы"),
    "sv": ("sv", "frivilligorganisationen engagerade"),
    "vi": ("vi", "tổ chức tình nguyện"),
    "zh_CN": ("zh", "自愿者 自由软件基金会"),
}
"""By folder of the guide: the language, and words that its page about Debian answers, many in other forms."""

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
    beginning = word[: max(2, len(word) // 2)].lower()
    for hit in hits[:3]:  # where a title has the word, the snippet goes on behind it
        titles = f"{hit.title} {hit.section.title if hit.section else ''}".lower()
        assert "\x02" in hit.snippet or beginning in titles, hit.url


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


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Crawl the first chapter in every language into one source; the pages themselves name no language."""
    for folder in IN_THE_GUIDE:
        samples.installation_guide(folder, "ch01s01.html")
    workspace = Workspace(tmp_path_factory.mktemp("guide"))
    with nginx_site(samples.GUIDE) as server:
        start = server.url.rstrip("/")
        workspace.define(
            start_urls=[f"{start}/{folder}/ch01.html" for folder in IN_THE_GUIDE],
            depth=1,
            detect_language=True,
            default_language="sw",
        )
        workspace.crawl()
    with Searcher.open(workspace.directory / "ultracrawl.yaml") as searcher:
        yield searcher


@pytest.mark.parametrize("folder", IN_THE_GUIDE)
def test_a_query_in_each_of_19_languages_finds_its_page_in_one_mixed_corpus(
    guide: Searcher, folder: str
) -> None:
    language, words = IN_THE_GUIDE[folder]
    hits = guide.search(words, limit=5).hits
    pages = [hit.url.split("/", 3)[3] for hit in hits]
    assert f"{folder}/ch01s01.html" in pages[:3], pages
    (hit,) = (hit for hit in hits if hit.url.endswith(f"/{folder}/ch01s01.html"))
    assert hit.attributes["Language"] == [language]
    assert "\x02" in hit.snippet


def test_the_language_of_nearly_every_page_of_the_guide_is_recognised(guide: Searcher) -> None:
    """Told by the text alone, over pages of some hundred words each; short ones may have the default."""
    wrong = total = 0
    for hit in guide.search("", limit=1000).hits:
        folder = hit.url.split("/")[3]
        total += 1
        wrong += hit.attributes["Language"] != [IN_THE_GUIDE[folder][0]]
    assert total > 150
    assert wrong / total < 0.05
