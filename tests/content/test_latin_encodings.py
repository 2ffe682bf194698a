"""Texts in Latin script that declare no encoding, or a wrong one, are read with their own letters."""

import pytest

from ultracrawl.content.charset.decoding import decode, find_charset, latin_codec

TEXTS = {
    "Catalan": ("cp1252", "Això és una pàgina: les paraules són fàcils, però no totes. Què més?"),
    "Danish": ("cp1252", "På en ø går der får; når det blæser, løber de små på græsset. Så kører vi også."),
    "Dutch": ("cp1252", "België en Italië hebben coöperaties; één idee, categorieën, ruïne."),
    "Finnish": ("cp1252", "Tämä on hyvä päivä, ja sää on lämmin. Menemme myöhemmin järvelle pesemään käsiämme."),
    "French": ("cp1252", "« L'été, les élèves à l'école », où êtes-vous ? Noël, le français, peut-être, là-bas."),
    "German": ("cp1252", "Grüße aus Köln: die größere Straße, schöne Mädchen, übermäßig heiß, für alle."),
    "Icelandic": ("cp1252", "Það er gott að vera úti þegar veðrið er svona, og við förum á fjöll í ágúst."),
    "Italian": ("cp1252", "Perché la città è così? Più o meno già lo sapeva; però la verità è un'altra, e così sarà."),
    "Portuguese": ("cp1252", "Ação, coração, não, você está, português, às três; informações são úteis e lições."),
    "Spanish": ("cp1252", "El niño español comió mañana, ¿cómo estás? ¡Sí! Los años también son más difíciles aquí."),
    "Swedish": ("cp1252", "Räksmörgås på ön, älgar över sjön, för många år sedan; små båtar går också där när det är."),
    "Croatian": ("cp1250", "Što će biti kad čovjek dođe kući? Želim naučiti više riječi, vrlo često."),
    "Czech": ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy; může být, že ještě něco přijde, když není večer."),
    "Hungarian": ("cp1250", "Az időjárás jó, és a hűvös estéken ők is kijönnek; később a gyűlésről beszélünk, örülök."),
    "Polish": ("cp1250", "Dzień dobry, proszę się nie śmiać: już są książki, które będą potrzebne. Źle?"),
    "Slovak": ("cp1250", "Dobrý deň, môžete mi povedať, kde je najbližšia ľudová reštaurácia? Ďakujem, ešte žiadna."),
    "Turkish": ("cp1254", "Pijamalı hasta yağız şoföre çabucak güvendi; bugün dışarı çıkmayacağız, öğle arası yok."),
    "Lithuanian": ("cp1257", "Šiandien graži diena, ir žmonės eina į ežerą; kąsnį duonos ėmė ir dėjo į krepšį, daug."),
}  # fmt: skip


def test_undeclared_texts(subtests: pytest.Subtests) -> None:
    for language, (codec, text) in TEXTS.items():
        with subtests.test(language):
            assert find_charset(text.encode(codec)) == codec
            assert decode(f"<title>T</title><p>{text}".encode(codec))[0].endswith(text)


@pytest.mark.parametrize("language", ["Croatian", "Czech", "Hungarian", "Polish", "Slovak"])
def test_undeclared_texts_of_unix(language: str) -> None:
    text = TEXTS[language][1]
    assert decode(text.encode("iso8859-2"))[0] == text


@pytest.mark.parametrize("language", ["French", "Portuguese", "Polish", "Turkish"])
def test_texts_that_are_wrongly_called_utf_8(language: str) -> None:
    codec, text = TEXTS[language]
    assert decode(text.encode(codec), "text/html; charset=utf-8") == (text, codec)


OTHER_SCRIPTS = [
    ("Съешь же ещё этих мягких французских булок", "cp1251"),
    ("Съешь же ещё этих мягких французских булок", "koi8-r"),
    ("Η γρήγορη καφέ αλεπού πηδάει πάνω από το σκυλί", "cp1253"),
    ("שלום עולם זה טקסט בעברית", "cp1255"),
    ("مرحبا بالعالم هذا نص باللغة العربية", "cp1256"),
    ("日本語の文章です。とても短いです。", "cp932"),
    ("日本語の文章です。とても短いです。", "euc_jp"),
    ("联合国大会第一届会议通过的决议", "gb18030"),
    ("聯合國大會第一屆會議通過的決議", "big5"),
    ("한국어 문서입니다. 안녕하세요.", "cp949"),
]


def test_other_scripts_are_left_to_the_detector(subtests: pytest.Subtests) -> None:
    for text, codec in OTHER_SCRIPTS:
        with subtests.test(codec, text=text):
            assert latin_codec(text.encode(codec)) == ""


@pytest.mark.parametrize(
    "text", ["“Quoted” — and ‘so’ on…", "12 m³ and 3 m³, 40 m³, 9 m³, 1 m³, 2 m³, 4 m³, 8 m³", "« »"]
)
def test_signs_alone_mean_western_text(text: str) -> None:
    assert latin_codec(text.encode("cp1252")) == "cp1252"


RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (RUSSIAN, "cp866"),
        (RUSSIAN, "iso8859-5"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        ("สวัสดีครับ นี่คือเอกสารภาษาไทย ขอบคุณมาก ยินดีต้อนรับสู่เว็บไซต์ของเรา " * 3, "cp874"),
    ],
)
def test_other_scripts_that_declare_nothing(text: str, codec: str) -> None:
    assert find_charset(text.encode(codec)) == codec


def test_bytes_in_pairs_everywhere_are_east_asian_however_short_the_words() -> None:
    text = "ア イ ウ エ オ カ キ ク ケ コ サ シ ス"
    assert decode(text.encode("euc_jp")) == (text, "euc_jp")


JAPANESE, CHINESE = "日本語の文章です。", "联合国大会第一届会议通过的决议"


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("gb2312", CHINESE),
        ("big5", CHINESE),
        ("euc-jp", JAPANESE),
        ("shift_jis", JAPANESE),
        ("euc-kr", "한국어"),
    ],
)
def test_utf_8_that_is_called_an_encoding_of_east_asia(declared: str, text: str) -> None:
    assert decode(text.encode(), f"text/html; charset={declared}") == (text, "utf-8")
    assert decode(f"<meta charset={declared}>{text}".encode())[1] == "utf-8"


def test_a_few_characters_that_are_utf_8_by_chance_are_what_was_declared() -> None:
    body = "妈".encode("gb18030")  # C2 E8
    assert decode(body, "text/html; charset=gb2312") == ("妈", "gb18030")
    chance = b"\xc2\xa8\xc4\xa1"
    assert chance.decode("utf-8")
    assert decode(chance, "text/html; charset=gb2312")[1] == "gb18030"
