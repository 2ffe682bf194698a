"""If a query shows no language, pages in the usual one of their source come first, in every engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index.conftest import DISK_ENGINES

from ultracrawl.index import Deletion, IndexDocument
from ultracrawl.index.project_index import open_index
from ultracrawl.index.searching import Searcher
from ultracrawl.sources import Project, load_project, require

Made = Callable[..., tuple[Project, Searcher]]
LONG = " and more about other things that fill the page" * 5


def page(url: str, language: str, text: str = "", source: str = "manual") -> IndexDocument:
    values = {"Language": [language]} if language else {}
    return IndexDocument(
        source, f"https://m.example/{url}", f"{url} KeepAlive", f"KeepAlive {text}", values, depth=1
    )


def start(language: str, url: str = "https://m.example/") -> IndexDocument:
    return IndexDocument("manual", url, "Manual", "Start", {"Language": [language]} if language else {})


@pytest.fixture(params=DISK_ENGINES)
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Made]:
    opened: list[Searcher] = []

    def make(*documents: IndexDocument, **options: object) -> tuple[Project, Searcher]:
        definition = {
            "index": {"engine": request.param, "path": "var/index"},
            "sources": {
                "manual": {"start_urls": ["https://m.example/"]},
                "guide": {"start_urls": ["https://g.example/"]},
            },
            **options,
        }
        path = tmp_path / "ultracrawl.yaml"
        path.write_text(json.dumps(definition))
        project = require(load_project(path))
        index = open_index(project)
        index.apply(documents)
        index.close()
        opened.append(Searcher(path))
        return project, opened[-1]

    yield make
    for searcher in opened:
        searcher.close()


def found(searcher: Searcher, query: str = "KeepAlive", **options: object) -> list[str]:
    """Return the last parts of the URLs found."""
    return [hit.url.rpartition("/")[2] for hit in searcher.search(query, **options)]  # type: ignore[arg-type]


TRANSLATED = (page("fr", "fr"), page("en", "en-GB", LONG), page("de", "de"))
"""The English page is longer than its translations, so that these have better scores."""


def test_a_shorter_translation_comes_behind_the_language_of_the_start_page(made: Made) -> None:
    _, searcher = made(start("en"), *TRANSLATED)
    assert found(searcher)[0] == "en"
    assert set(found(searcher)) == {"en", "fr", "de"}, "the others are found as well"


def test_the_start_page_decides_against_most_documents(made: Made) -> None:
    others = [page(f"fr{number}", "fr", "autre") for number in range(5)]
    _, searcher = made(start("en"), *TRANSLATED, *others)
    assert found(searcher)[0] == "en"


def test_without_a_language_of_the_start_page_most_documents_decide(made: Made) -> None:
    english = page("further", "en", "Further documents")
    _, searcher = made(start(""), *TRANSLATED, english, page("last", "en", LONG + LONG))
    assert found(searcher, "KeepAlive -further")[0] == "en"


def test_start_pages_of_several_languages_leave_it_to_most_documents(made: Made) -> None:
    _, searcher = made(
        start("fr"),
        start("en", "https://m.example/en/"),
        *TRANSLATED,
        page("last", "en", LONG + LONG),
        sources={"manual": {"start_urls": ["https://m.example/", "https://m.example/en/"]}},
    )
    assert found(searcher)[0] == "en"


def test_a_page_without_a_language_counts_as_one_in_the_usual_language(made: Made) -> None:
    _, searcher = made(start("en"), *TRANSLATED, page("none", "", LONG))
    assert set(found(searcher)[:2]) == {"en", "none"}


def test_the_language_of_the_query_of_the_user_or_of_the_definition_comes_first(made: Made) -> None:
    _, searcher = made(start("en"), *TRANSLATED)
    assert found(searcher, language="de")[0] == "de"
    assert found(searcher, "was ist das KeepAlive und wie")[0] == "de"
    _, searcher = made(search={"language": "fr"})
    assert found(searcher)[0] == "fr"


def test_each_source_has_its_own_language(made: Made) -> None:
    german = [page(f"g{number}", "de", source="guide") for number in range(3)]
    english = page("g-en", "en", source="guide")
    _, searcher = made(start("en"), *TRANSLATED, *german, english)
    assert set(found(searcher, sources=["guide"])[:3]) == {"g0", "g1", "g2"}
    assert found(searcher, sources=["manual"])[0] == "en"
    assert {"g-en", "fr", "de"} == set(found(searcher)[4:]), "these are foreign in their sources"


def test_what_is_usual_follows_the_index(made: Made) -> None:
    project, searcher = made(start(""), page("fr", "fr"), page("en", "en"), page("e", "en", LONG))
    assert found(searcher)[-1] == "fr"
    index = open_index(project)
    index.apply([page(f"f{number}", "fr", LONG + LONG) for number in range(3)])
    index.apply([Deletion("manual", "https://m.example/e")])
    index.close()
    assert found(searcher)[0] == "fr"
    assert found(searcher)[-1] == "en"


def test_sorted_hits_and_counts_are_untouched(made: Made) -> None:
    _, searcher = made(start("en"), *TRANSLATED)
    assert found(searcher, sort="Title") == ["de", "en", "fr"]
    assert searcher.count("KeepAlive") == 3
