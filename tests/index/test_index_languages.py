"""Words are found in every language and form, on every engine."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ultracrawl.index import IndexEngine, SearchQuery
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.stemming import language_of, stems

from .conftest import document

Found = Callable[..., list[str]]

INFLECTED = [
    (
        "en",
        "The tables are being indexed. It stopped running; committed to planning.",
        ["table", "indexing", "Tables", "stop", "stops", "run", "commit", "committing", "plan", "planned"],
    ),
    ("de", "Die Bücher und die Häuser standen leer.", ["Buch", "haus", "bucher"]),
    ("fr", "Les journaux publiaient des nouvelles intéressantes.", ["publier", "intéressant", "nouvelle"]),
    ("es", "Las instalaciones y los paquetes nuevos", ["instalación", "paquete", "nuevas"]),
    ("it", "I programmi installati dagli utenti", ["programma", "installato", "utente"]),
    ("pt", "Os pacotes instalados pelos usuários", ["pacote", "instalado", "usuario"]),
    ("nl", "De boeken werden gelezen", ["boek", "boeken", "lezen"]),
    ("sv", "Böckerna och bilarna", ["bil", "bilar"]),
    ("da", "Bilerne og husene", ["bil", "hus"]),
    ("nb", "Bilene og husene", ["bil", "hus"]),
    ("fi", "Talossa on autoja", ["talo", "auto"]),
    ("hu", "A házakban könyvek vannak", ["ház", "könyv"]),
    ("ro", "Pachetele instalate", ["pachete", "instalat"]),
    ("ru", "Новые книги лежат на столах", ["книга", "столы", "новая"]),
    ("ar", "المكتبات الكبيرة", ["مكتبة"]),
    ("zh", "全文检索系统的安装手册", ["检索", "安装手册", "册"]),
    ("ja", "東京タワーは高い塔です", ["タワー", "東京", "塔"]),
    ("ko", "한국어 문서를 검색합니다", ["문서", "검색"]),
    ("th", "ระบบค้นหาเอกสาร", ["ค้นหา", "เอกสาร"]),
    ("el", "Η αναζήτηση της οδού", ["αναζητηση", "ΟΔΟΥ", "οδός", "αναζητήσεις"]),
    ("pl", "Źródła są dostępne", ["zrodla", "źródła", "źródło"]),
    ("tr", "İSTANBUL'da ışık, kitaplarımız", ["istanbul", "ışık", "isik", "kitap"]),
    ("hi", "हिन्दी भाषा, किताबें", ["हिन्दी", "भाषा", "किताब"]),
    ("ca", "les taules noves", ["taula"]),
    ("cs", "knihy a stromy", ["kniha", "strom"]),
    ("eo", "du librojn", ["libro"]),
    ("et", "raamatud ja majad", ["raamat", "maja"]),
    ("eu", "liburuak", ["liburu"]),
    ("ga", "tá an bhád ann", ["bád"]),
    ("hy", "մեծ քաղաքներ", ["քաղաք"]),
    ("id", "mereka dimakan harimau", ["makan", "makanan"]),
    ("lt", "senos knygos", ["knyga"]),
    ("ne", "किताबहरू", ["किताब"]),
    ("sr", "нове књиге", ["књига", "knjiga"]),
    ("st", "batho", ["motho"]),
    ("ta", "வீடுகள்", ["வீடு"]),
    ("yi", "געמאַכט", ["מאַכן"]),
    ("he", "שָׁלוֹם עולם", ["שלום", "עולם"]),
    ("fa", "می‌روم به خانه‌ها", ["می‌روم", "میروم", "خانه"]),
    ("vi", "Tiếng Việt", ["tieng", "Việt"]),
]
MIXED = [document(f"/{code}", text, Language=[code]) for code, text, _ in INFLECTED]


@pytest.mark.filled_with(MIXED)
def test_a_mixed_corpus_finds_words_in_each_language(
    engine: IndexEngine, found: Found, subtests: pytest.Subtests
) -> None:
    for language, _, sought in INFLECTED:
        for word in sought:
            with subtests.test(f"{language}: {word}"):
                assert f"/{language}" in found(word)
                result = engine.search(SearchQuery(word, limit=50))
                (hit,) = [hit for hit in result.hits if hit.url == f"/{language}"]
                assert "\x02" in hit.snippet


def test_a_stem_counts_only_in_its_own_language(engine: IndexEngine, found: Found) -> None:
    engine.apply(
        [
            document("/en", "this is not a musical text", Language=["en-GB"]),
            document("/it", "una nota di musica", Language=["it"]),
            document("/none", "note notes noting"),
        ]
    )
    assert set(found("note")) == {"/it", "/none"}
    assert found("noted") == []
    assert set(found("notes")) == {"/none"}


def test_the_word_itself_ranks_above_its_other_forms(engine: IndexEngine, found: Found) -> None:
    engine.apply(
        [
            document(f"/{form}", f"{form} and some other words", Language=["en"])
            for form in ("indexes", "indexing")
        ]
    )
    assert found("indexing") == ["/indexing", "/indexes"]
    assert found("indexes") == ["/indexes", "/indexing"]


EXACT = [
    ("quoted_word", '"table"', []),
    ("quoted_word_itself", '"tables"', ["/en"]),
    ("phrase", '"tables are"', ["/en"]),
    ("phrase_of_other_forms", '"table are"', []),
    ("number", "8080", ["/code"]),
    ("identifier", "max_stack_depth", ["/code"]),
    ("identifier_of_other_number", "max_stack_depths", []),
    ("dotted", "os.path", ["/code"]),
    ("version", "3.11.2", ["/code"]),
    ("cjk_substring_only", "京東", []),
    ("cjk_with_latin", "東京tower", ["/cjk"]),
]


IDENTIFIERS = [
    document("/en", "the tables are set", Language=["en"]),
    document("/code", "max_stack_depth = 8080; import os.path, version 3.11.2", Language=["en"]),
    document("/cjk", "これは東京tower!", Language=["ja"]),
]


@pytest.mark.filled_with(IDENTIFIERS)
def test_phrases_identifiers_and_numbers_are_exact(found: Found, subtests: pytest.Subtests) -> None:
    for name, text, urls in EXACT:
        with subtests.test(name):
            assert found(text) == urls


def test_other_forms_are_marked_in_snippets(engine: IndexEngine) -> None:
    engine.apply([document("/", "Old tabling; new Tables, a table. Café tabular", Language=["en"])])
    (hit,) = engine.search(SearchQuery("table CAFE")).hits
    assert hit.snippet == "Old \x02tabling\x03; new \x02Tables\x03, a \x02table\x03. \x02Café\x03 tabular"


def test_runs_of_pairs_are_marked_as_one(engine: IndexEngine) -> None:
    engine.apply([document("/", "昔の東京タワーと東京")])
    (hit,) = engine.search(SearchQuery("東京タワー")).hits
    assert "\x02東京タワー\x03" in hit.snippet


WORDS = [
    ("accents", "Café NAÏVE", ["cafe", "naive"]),
    ("decomposed", "cafe\u0301", ["cafe"]),
    ("ligature", "ﬁne Straße Æther", ["fine", "strasse", "aether"]),
    ("soft_hyphen", "Silben\u00adtrennung", ["silbentrennung"]),
    ("cyrillic_letters_stay", "мой ёж", ["мой", "еж"]),
    ("full_width", "ＡＢＣ１", ["abc1"]),
    ("pairs", "東京都", ["東京", "京都", "都"]),
    ("one_character", "東", ["東"]),
    ("pairs_and_letters", "x東京y", ["x", "東京", "京", "y"]),
    ("identifier", "__init__ a1_b2", ["__init__", "a1_b2"]),
]


def test_words_of_a_text(subtests: pytest.Subtests) -> None:
    for name, text, cut in WORDS:
        with subtests.test(name):
            assert words(text) == cut


def test_languages_by_tag() -> None:
    tags = {"en": "en", "en-GB": "en", "DE_at": "de", "nb": "no", "ja": "", "": "", "x": ""}
    assert {tag: language_of(tag) for tag in tags} == tags


def test_stems_follow_the_script() -> None:
    assert {language for language, _ in stems("книги")} == {"ru", "sr"}
    assert ("en", "index") in stems("indexing")
    assert "ru" not in {language for language, _ in stems("indexing")}
    assert stems("x_1") == stems("42") == ()
