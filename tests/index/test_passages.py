"""A hit whose best passage is the page of another hit is folded beneath that: one-page versions of a manual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ultracrawl.index import IndexDocument, IndexEngine, SearchQuery, SearchResult
from ultracrawl.index.hits.ties import RERANK_LIMIT
from ultracrawl.index.stored_fields import STORED_TEXT_LIMIT
from ultracrawl.model.page import Section

BIRDS = ("heron", "egret", "stork", "crane")
FRAME = "home menu about documentation download support purchase search small fast reliable choose any three"
WHOLE = "/all.html"


def said_of(bird: str, words: int = 40) -> str:
    return " ".join(f"{bird}{number}" for number in range(words)) + f" needle of the {bird}."


def document(
    path: str, title: str, text: str, sections: Sequence[Section] = (), **others: int
) -> IndexDocument:
    return IndexDocument("s", f"http://h{path}", title, text, sections=tuple(sections), **others)


def page_of(bird: str, text: str = "") -> IndexDocument:
    """Return the page about a bird, within the frame of the site."""
    return document(f"/{bird}.html", f"The {bird}", f"{FRAME}\n{text or said_of(bird)}")


def one_page(
    birds: Sequence[str] = BIRDS, path: str = WHOLE, texts: Sequence[str] = (), title: str = "All birds"
) -> IndexDocument:
    """Return a page with a section for each bird."""
    text, sections = f"{FRAME}\n", []
    for bird, said in zip(birds, texts or map(said_of, birds), strict=True):
        sections.append(Section(len(text), 2, f"the-{bird}", f"The {bird}"))
        text += f"The {bird}\n{said}\n"
    return document(path, title, text, sections)


def others(number: int = 12) -> list[IndexDocument]:
    """Return pages that nothing is sought of; they have the frame, too."""
    return [document(f"/other{n}.html", f"Other {n}", f"{FRAME}\nother{n}") for n in range(number)]


def search(engine: IndexEngine, text: str, **options: object) -> SearchResult:
    return engine.search(SearchQuery(text, **{"fold_copies": True, **options}))  # type: ignore[arg-type]


def listed(result: SearchResult) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (hit.url.removeprefix("http://h"), tuple(url.removeprefix("http://h") for url in hit.also_at))
        for hit in result.hits
    ]


def test_a_one_page_version_is_beneath_the_page_of_its_own(engine: IndexEngine) -> None:
    engine.apply([*map(page_of, BIRDS), one_page(), *others()])
    result = search(engine, "heron7 needle")
    assert (listed(result), result.total) == ([("/heron.html", ("/all.html#the-heron",))], 1)


@pytest.mark.parametrize("is_better", [False, True])
def test_the_page_of_its_own_is_the_hit_whichever_is_better(engine: IndexEngine, is_better: bool) -> None:
    """A page that is many links from the start is behind."""
    page = replace(page_of("heron"), depth=200 * (not is_better))
    engine.apply([page, replace(one_page(), depth=200 * is_better), *others()])
    plain = search(engine, "heron7 needle", fold_copies=False)
    assert (plain.hits[0].url.endswith(WHOLE), plain.total) == (not is_better, 2)
    folded = search(engine, "heron7 needle")
    assert listed(folded) == [("/heron.html", ("/all.html#the-heron",))]
    assert folded.hits[0].score == plain.hits[0].score, "it has the place of the better one"


def test_a_page_far_behind_is_beneath_the_one_page_version(engine: IndexEngine) -> None:
    between = [document(f"/n{n}.html", "Heron7 needle", f"heron7 needle {n}") for n in range(7)]
    page, whole = replace(page_of("heron"), depth=100_000), replace(one_page(), anchors=("heron7 needle",))
    engine.apply([page, whole, *(replace(one, depth=1000) for one in between), *others()])
    assert listed(search(engine, "heron7 needle"))[0] == (WHOLE, ("/heron.html",))


def test_several_one_page_versions_are_beneath_one_page(engine: IndexEngine) -> None:
    better, worse = one_page(), replace(one_page(BIRDS[:3], "/more.html"), depth=400)
    engine.apply([better, replace(page_of("heron"), depth=200), worse, *others()])
    assert listed(search(engine, "heron7 needle")) == [
        ("/heron.html", ("/all.html#the-heron", "/more.html#the-heron"))
    ]


def test_only_the_best_passage_counts(engine: IndexEngine) -> None:
    """Of pages in the one-page version, the one that its best passage is; another one stays a hit."""
    engine.apply([*map(page_of, BIRDS), one_page(), *others()])
    assert sorted(listed(search(engine, "needle stork3 OR stork4 OR egret1"))) == [
        ("/egret.html", ()),
        ("/stork.html", ("/all.html#the-stork",)),
    ]


def test_a_sub_section_is_in_the_part(engine: IndexEngine) -> None:
    whole = one_page()
    inner = Section(whole.text.index("heron20"), 3, "inner", "heron20")
    engine.apply(
        [*map(page_of, BIRDS), replace(whole, sections=(whole.sections[0], inner, *whole.sections[1:]))]
    )
    assert listed(search(engine, "heron20")) == [("/heron.html", ("/all.html#the-heron",))]


def test_a_part_behind_the_stored_text_is_found(engine: IndexEngine) -> None:
    filler = " ".join(f"filler{number}" for number in range(STORED_TEXT_LIMIT // 10))
    whole = one_page(("filler", *BIRDS), texts=(filler, *map(said_of, BIRDS)))
    assert whole.sections[1].offset > STORED_TEXT_LIMIT
    engine.apply([*map(page_of, BIRDS), whole, *others()])
    assert listed(search(engine, "crane9 needle")) == [("/crane.html", ("/all.html#the-crane",))]


LICENCE = " ".join(f"licence{number}" for number in range(60))


def with_licence(bird: str) -> IndexDocument:
    text = f"{FRAME}\n{bird}\n{said_of(bird)}\n"
    sections = [Section(len(FRAME) + 1, 2, bird, bird), Section(len(text), 2, "licence", "Licence")]
    return document(f"/{bird}.html", bird, f"{text}Licence\n{LICENCE}", sections)


def with_menu(bird: str) -> IndexDocument:
    text = f"Menu\n{LICENCE}\n"
    sections = [Section(0, 2, "menu", "Menu"), Section(len(text), 2, bird, bird)]
    return document(f"/{bird}.html", bird, f"{text}{bird}\n{said_of(bird)}", sections)


OTHERS = [said_of(bird) for bird in BIRDS[1:]]
BARE = document("/heron.html", "The heron", "The heron\nlicence3")
NOT_FOLDED = {
    "a licence of three pages": [*map(with_licence, BIRDS[:3])],
    "a licence, and its page": [*map(with_licence, BIRDS[:3]), document("/licence.html", "Licence", LICENCE)],
    "a short page with a licence": [with_licence("heron"), document("/egret.html", "egret", f"egret1 {LICENCE}")],
    "a navigation": [*map(with_menu, BIRDS)],
    "a navigation, and its page": [*map(with_menu, BIRDS), document("/menu.html", "Menu", LICENCE)],
    "a quotation": [page_of("heron", f"{LICENCE} {said_of('more')}"), one_page(texts=[LICENCE, *OTHERS])],
    "too little": [BARE, one_page(texts=["licence3", *OTHERS])],
    "all of a page": [replace(page_of("heron", LICENCE), depth=200), one_page(BIRDS[:2], texts=[LICENCE, "egret"])],
    "hidden text": [page_of("heron", LICENCE), replace(one_page(texts=[LICENCE, *OTHERS]), secret_text=True)],
    "a hidden page": [replace(page_of("heron", LICENCE), secret_text=True), one_page(texts=[LICENCE, *OTHERS])],
    "another source": [page_of("heron", LICENCE), replace(one_page(texts=[LICENCE, *OTHERS]), source="t")],
}  # fmt: skip


@pytest.mark.parametrize("documents", NOT_FOLDED.values(), ids=NOT_FOLDED)
def test_what_has_no_page_of_its_own_is_not_folded(
    engine: IndexEngine, documents: list[IndexDocument]
) -> None:
    engine.apply([*documents, *others(3)])
    result = search(engine, "licence3")
    assert len(result.hits) == result.total == len(documents)
    assert not any(hit.also_at for hit in result.hits)


def test_nobody_learns_of_a_page_that_they_may_not_see(engine: IndexEngine) -> None:
    staff = {"acl": ("staff",)}
    engine.apply([*map(page_of, BIRDS[1:]), page_of("heron"), replace(one_page(), **staff), *others()])
    assert listed(search(engine, "heron7 needle", principals=())) == [("/heron.html", ())]
    assert listed(search(engine, "heron7 needle", principals=("staff",))) == [
        ("/heron.html", ("/all.html#the-heron",))
    ]
    engine.apply([replace(page_of("heron"), **staff), one_page()])
    assert listed(search(engine, "heron7 needle", principals=())) == [(WHOLE, ())]


def test_pages_of_results_fit_together(engine: IndexEngine) -> None:
    """Whatever the length of the pages, hits are neither missing nor shown twice."""
    birds = [f"bird{number}" for number in range(20)]
    pages = [replace(page_of(bird), depth=50 * (n % 7)) for n, bird in enumerate(birds)]
    whole = [one_page(birds[n : n + 4], f"/all{n}.html") for n in range(0, 20, 4)]
    engine.apply([*pages, *whole, *others()])
    everything = search(engine, "needle", limit=100)
    assert everything.total == len(everything.hits) < len(birds) + len(whole)
    for length in (1, 3, 8):
        shown = [search(engine, "needle", limit=length, offset=start).hits for start in range(0, 30, length)]
        assert [hit.url for hits in shown for hit in hits] == [hit.url for hit in everything.hits]


def test_only_the_first_matches_are_compared(engine: IndexEngine) -> None:
    best = [document(f"/n{n}.html", "Heron7 needle", f"heron7 needle {n}") for n in range(RERANK_LIMIT)]
    engine.apply([*map(page_of, BIRDS), one_page(), *best])
    assert search(engine, "heron7 needle", limit=100).total == RERANK_LIMIT + 2
