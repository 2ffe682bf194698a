"""The corpora: manuals with their packages, crawled pages and questions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from judging.packages import unpack
from judging.truth import (
    Question,
    Truth,
    descriptions,
    directives,
    docbook,
    javadoc,
    questions,
    sphinx,
    summaries,
    translated,
)

DEVELOPMENT, TEST = "development", "test"
Asked = Callable[[Path], list[Question]]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A manual; paths are relative to its folder, `exclude` are expressions that match whole paths."""

    name: str
    half: str
    package: str
    folder: str
    sets: dict[str, Asked]
    starts: tuple[str, ...] = ("index.html",)
    exclude: tuple[str, ...] = ()
    language: str = "en"
    only_by_name: bool = False
    """Whether it is skipped unless it is named, because it takes long."""

    def manual(self, packages: Path) -> Path | None:
        """Return the folder of the manual, unpacked if necessary; None if it is not available."""
        for root in (Path("/"), packages / self.package):
            if (root / self.folder / self.starts[0]).exists():
                return root / self.folder
        root = unpack(self.package, packages)
        return root / self.folder if root and (root / self.folder / self.starts[0]).exists() else None


def terms(truth: Truth, manual: Path) -> list[Question]:
    """Return the terms of the manual's own index as questions."""
    return questions(truth(manual))


def judged(name: str, _manual: Path) -> list[Question]:
    """Return the questions of a file, with pages judged by people."""
    path = Path(__file__).with_name("questions") / f"{name}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Question(row["query"], row["pages"]) for row in rows]


def sample(questions: list[Question], most: int) -> list[Question]:
    """Return a random sample, always the same; 0 means all."""
    return random.Random(16).sample(questions, most) if 0 < most < len(questions) else questions


def in_languages(truth: Truth, languages: tuple[str, ...], said: bool, manual: Path) -> list[Question]:
    """Return the terms of several languages of Apache's manual."""
    return [question for language in languages for question in translated(manual, truth, language, said=said)]


_APACHE = "usr/share/doc/apache2-doc/manual"
_LISTS_OF_APACHE = ("mod/(quickreference|directives|overrides).html",)


def _apache(language: str, half: str) -> Corpus:
    sets = {"terms": partial(terms, directives), "descriptions": partial(terms, descriptions)}
    return Corpus(
        f"apache-{language}",
        half,
        "apache2-doc",
        f"{_APACHE}/{language}",
        sets,
        exclude=_LISTS_OF_APACHE,
        language=language,
    )


def _java(name: str, *exclude: str, by_name: bool = False) -> Corpus:
    sets = {"terms": partial(terms, javadoc), "descriptions": partial(terms, summaries)}
    lists = (
        "(index-files|resources|script-dir|legal)/.*",
        "(all(classes|packages)-index|overview-tree|constant-values|serialized-form).html",
        "(deprecated|new|preview)-list.html",
    )
    folder = "usr/share/doc/openjdk-17-jre-headless/api"
    return Corpus(
        name, TEST, "openjdk-17-doc", folder, sets, exclude=(*lists, *exclude), only_by_name=by_name
    )


def _handbook(language: str, folder: str) -> Corpus:
    name, package = f"handbook-{language}", "debian-handbook"
    sets = {"questions": partial(judged, name)}
    return Corpus(name, TEST, package, f"usr/share/doc/{package}/html/{folder}", sets, language=language)


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "postgresql",
            DEVELOPMENT,
            "postgresql-doc-15",
            "usr/share/doc/postgresql-doc-15/html",
            {"terms": partial(terms, docbook), "questions": partial(judged, "postgresql")},
            exclude=("bookindex.html",),
        ),
        _apache("en", DEVELOPMENT),
        Corpus(
            "python",
            TEST,
            "python3.11-doc",
            "usr/share/doc/python3.11/html",
            {"terms": partial(terms, sphinx), "questions": partial(judged, "python")},
            exclude=("genindex.*", "py-modindex.html", "search.html", "_(sources|static|downloads)/.*"),
        ),
        _java(
            "java",
            ".*/class-use/.*",
            ".*/package-(use|tree).html",
            "(?!java.(base|logging|net.http|sql)/)[^/]+/.*",
        ),
        _java("java-all", by_name=True),
        _apache("fr", TEST),
        _apache("ja", TEST),
        Corpus(
            "apache-languages",
            TEST,
            "apache2-doc",
            _APACHE,
            {
                "terms": partial(in_languages, directives, ("en", "fr", "ja"), True),
                "descriptions": partial(in_languages, descriptions, ("fr", "ja"), False),
            },
            starts=("en/index.html", "fr/index.html", "ja/index.html"),
            exclude=(".*/mod/(quickreference|directives|overrides).html", "(?!(en|fr|ja)/)[^/]+/.*"),
        ),
        _handbook("de", "de-DE"),
        _handbook("ja", "ja-JP"),
    )
}
