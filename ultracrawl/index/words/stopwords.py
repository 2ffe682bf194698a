"""Stop words by language; only queries use them, the index contains all words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import cache

from ultracrawl.index.words.analysis import fold

MIN_STOP_WORDS = 2
"""Stop words that identify the language of a query; for English, or the language of the searcher, one is enough."""

_LISTS = {
    "ar": "أن أنا أو أي أين إذا إلى إن التي الذي بعد بين ثم حتى ذلك على عن عند في قبل قد كان كل كم كيف لا لم "
    "لماذا لن ما ماذا متى مع من هذا هذه هل هو هي يمكن",
    "da": "af alle at blev de den denne der det dette dig din du efter eller en er et for fra han har have hun "
    "hvad hvem hvilke hvilken hvor hvordan hvorfor hvornår ikke jeg kan kunne man med mig min mit når og "
    "om op på sig sin skal som så til ud var ved vi vil",
    "de": "aber als am an auch auf aus bei beim bin bis bist da damit dann das dass dein dem den denn der des "
    "die dies diese diesem diesen dieser dieses du durch ein eine einem einen einer eines er es für gibt "
    "habe haben hat hier ich ihr im in ist kann kein keine können man mein meine mich mir mit muss müssen "
    "nach nicht noch nur ob oder ohne sein sich sie sind so soll sollte um und unter vom von vor wann "
    "warum was welche welchem welchen welcher welches wenn wer werden weshalb wie wieso wird wo woher "
    "wohin womit zu zum zur über",
    "en": "a about am an and are arent as at be been being but by can cannot cant could couldnt did didnt do "
    "does doesnt doing dont for from had hadnt has hasnt have havent having he her here his how i if im "
    "in into is isnt it its ive me might must my no not of on onto or our please shall she should "
    "shouldnt so than that thats the their them then there theres these they this those to us versus vs was "
    "wasnt we were werent what whats when where wheres which while who whom whose why will with wont would "
    "wouldnt you your",
    "es": "a al algo como con cual cuando cuál cuáles cuándo cómo de del desde donde dónde el ella en entre es "
    "ese eso esta este esto está están ha han hay la las le les lo los me mi mis muy no nos o para pero "
    "por porque puedo que quién qué se ser si sin sobre son su sus también te tiene tu un una unas uno "
    "unos y ya yo",
    "fi": "ei että he hän ja joka jos jotka kanssa koska kuin kuinka kuka kun me miksi mikä millainen milloin "
    "minkä minä missä mistä miten mitä mutta myös ne niin nyt oli olla on ovat se sekä sen siitä sinä tai "
    "tämä vai voi voin",
    "fr": "au aux avec ce ces cet cette comment dans de des du elle elles en est et il ils je la le les leur "
    "leurs lui ma mais me mes moi mon ne nos notre nous ont ou où par pas peut peux pour pourquoi puis qu "
    "quand que quel quelle quelles quels qui quoi sa sans se ses si son sont sur ta te tes toi ton tu un "
    "une vos votre vous y à été être",
    "hu": "a akkor amely ami az azt be csak de egy el ez ezt ha hogy hogyan hol honnan hova is kell ki lehet "
    "meg melyik mennyi mert mi mikor milyen mint mit miért nem nincs s szerint tud tudok vagy van vannak "
    "és",
    "it": "a ad agli ai al alla alle anche c che chi ci come con cosa da dai dal dalla dei del della delle di "
    "dove e ed gli ha ho i il in io la le lei lo loro lui ma mi mio ne nei nel nella no noi non o per "
    "perché più posso qual quale quali quando quanto questa questo se si sono su sua sul sulla suo ti tra "
    "tu un una uno vi voi è",
    "nl": "aan al als bij dan dat de deze die dit door een en er ga had heb hebben heeft het hij hoe hun ik in "
    "is je kan kunnen maar me met mijn moet naar niet nog of om onder ons ook op over te tot tussen u uit "
    "van veel voor waar waarom wanneer wat we welk welke wie wij worden wordt zal ze zich zij zijn zo "
    "zonder",
    "no": "alle at av ble de deg den denne der det dette din du eller en er et etter for fra ha han har hun hva "
    "hvem hvilke hvilken hvor hvordan hvorfor ikke jeg kan med meg min mitt når og om opp på seg sin skal "
    "som så til ut var ved vi vil å",
    "pt": "a ao aos as até com como da das de dela dele do dos e ela ele em entre era essa esse esta este está "
    "eu foi há isso isto já lhe mais mas me meu minha muito na nas nem no nos não o onde os ou para pela "
    "pelo por porque posso quais qual quando que quem se sem ser seu sua são só também te tem um uma você "
    "é",
    "ro": "a această acest acesta ai al ale am ar are au care ce cel cine cu cum când cât că cărei da de din "
    "după e ea ei el este eu fi fie fost la le lor lui mai mea meu mi nu o pe pentru poate pot prin sau "
    "se sunt să un una unde unei unor unui va îmi în și",
    "ru": "а без более бы был была были было быть в вам вас во вот все всё вы где для до его ее если есть еще "
    "ещё её же за и из или им их к как какая какие какой когда кто куда ли лучше меня мне может можно мы "
    "на над надо не него нет ни но о об он она они от откуда по под почему при про с сколько со так также "
    "то того тоже только у уже чего чем что чтобы это этого этой этот я",
    "sv": "alla att av blev den denna dessa det dig din du där då efter eller en ett från för ha han har hon "
    "hur här inte jag kan man med men mig min mitt mot nu när och om på sig sin ska som så till upp ut "
    "vad var varför vem vi vid vilka vilken vilket vill är",
}
"""Function and question words; contractions are listed without their apostrophe."""

_LETTERS = {
    "ぁ-ゖ": "ja", "ァ-ヺ": "ja", "가-힣": "ko", "ก-ฮ": "th", "א-ת": "he", "α-ω": "el", "ß": "de", "ñ¿¡": "es",
    "őű": "hu", "șț": "ro", "œ": "fr", "ыэ": "ru", "їєґ": "uk", "ةأإ": "ar", "پچژگ": "fa",
}  # fmt: skip
"""Letters, and ranges of them, that identify one of the widely used languages."""


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the folded stop words of a language; empty without a list."""
    return frozenset(map(fold, _LISTS.get(language, "").split()))


def query_languages(text: str, words: Collection[str], named: str = "") -> tuple[str, ...]:
    """Return the likely languages of a query, by its letters or its folded words; several if equally likely."""
    if by_letters := _language_of_letters(text.lower()):
        return (by_letters,)
    found: Counter[str] = Counter()
    for language in _LISTS:
        held = len(set(words) & stop_words(language))
        if held >= MIN_STOP_WORDS or (held and language in ("en", named)):
            found[language] = held
    most = max(found.values(), default=0)
    likely = tuple(language for language, held in found.items() if held == most)
    return (named,) if named in likely else likely


def stop_words_among(words: Collection[str], languages: Iterable[str]) -> frozenset[str]:
    """Return the folded words that are stop words of one of the languages."""
    return frozenset(words).intersection(frozenset().union(*map(stop_words, languages)))


def _language_of_letters(text: str) -> str:
    if text.isascii():
        return ""
    for letters, language in _LETTERS.items():
        first, last = (letters[0], letters[2]) if letters[1:2] == "-" else ("", "")
        if any(first <= letter <= last if first else letter in letters for letter in text):
            return language
    return ""
