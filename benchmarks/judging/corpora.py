"""The corpora: manuals with their packages, crawled pages and questions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from judging.packages import unpack
from judging.truth import (
    Name,
    Names,
    Question,
    Truth,
    bare_names,
    descriptions,
    directive_names,
    directives,
    docbook,
    docbook_names,
    doxygen_names,
    headed_names,
    javadoc,
    javadoc_names,
    linked_names,
    qualified_names,
    questions,
    rust_names,
    sphinx,
    sphinx_names,
    summaries,
    sysctl_names,
    texinfo_names,
    translated,
    two_words,
)

DEVELOPMENT, TEST = "development", "test"
Asked = Callable[[Path], list[Question]]
Asking = TypeVar("Asking")


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


FORMS: dict[str, Callable[[Iterator[Name]], Iterator[tuple[str, str]]]] = {
    "names": bare_names,
    "qualified": qualified_names,
    "two words": two_words,
}
"""The forms in which the names of a manual are asked."""


def asked_by_name(names: Names, *forms: str) -> dict[str, Asked]:
    """Return a set for each form in which the names of the manual's own index are asked; by default all forms."""
    return {form: partial(named, names, form) for form in forms or FORMS}


def named(names: Names, form: str, manual: Path) -> list[Question]:
    """Return the names of the manual in one form as questions."""
    return questions(FORMS[form](names(manual)))


def judged(name: str, _manual: Path) -> list[Question]:
    """Return the questions of a file, with pages judged by people."""
    path = Path(__file__).with_name("questions") / f"{name}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [Question(row["query"], row["pages"]) for row in rows]


def sample(questions: list[Asking], most: int) -> list[Asking]:
    """Return a random sample, always the same; 0 means all."""
    return random.Random(16).sample(questions, most) if 0 < most < len(questions) else questions


def in_languages(truth: Truth, languages: tuple[str, ...], said: bool, manual: Path) -> list[Question]:
    """Return the terms of several languages of Apache's manual."""
    return [question for language in languages for question in translated(manual, truth, language, said=said)]


def untold(truth: Truth, language: str, manual: Path) -> list[Question]:
    """Return the terms of one language of Apache's manual, without saying that it is that of the user."""
    return [replace(one, language="") for one in in_languages(truth, (language,), True, manual)]


_APACHE = "usr/share/doc/apache2-doc/manual"
_LISTS_OF_APACHE = ("mod/(quickreference|directives|overrides).html",)


def _apache(language: str, half: str) -> Corpus:
    sets: dict[str, Asked] = {
        "terms": partial(terms, directives),
        "descriptions": partial(terms, descriptions),
        **asked_by_name(directive_names, "two words"),
    }
    return Corpus(
        f"apache-{language}",
        half,
        "apache2-doc",
        f"{_APACHE}/{language}",
        sets,
        exclude=_LISTS_OF_APACHE,
        language=language,
    )


_LISTS_OF_SPHINX = ("genindex.*", "py-modindex.html", "search.html", "_(sources|static|downloads)/.*")
_LISTS_OF_JAVADOC = (
    "(index-files|resources|script-dir|legal|jquery)/.*",
    "(all(classes|packages)-index|allclasses|index-all|overview-tree|constant-values|serialized-form).html",
    "(deprecated|new|preview)-list.html",
)
_USES_OF_JAVADOC = (".*/class-use/.*", ".*/package-(use|tree).html")


def _java(name: str, *exclude: str, by_name: bool = False) -> Corpus:
    sets: dict[str, Asked] = {
        "terms": partial(terms, javadoc),
        "descriptions": partial(terms, summaries),
        **asked_by_name(javadoc_names),
    }
    folder = "usr/share/doc/openjdk-17-jre-headless/api"
    return Corpus(
        name,
        TEST,
        "openjdk-17-doc",
        folder,
        sets,
        exclude=(*_LISTS_OF_JAVADOC, *exclude),
        only_by_name=by_name,
    )


def _listed(
    name: str,
    half: str,
    package: str,
    folder: str,
    *lists: str,
    starts: tuple[str, ...] = ("index.html",),
    **sets: Names,
) -> Corpus:
    """Return a manual with the names of its own lists, which match `lists`, each asked as it is."""
    asked = {said: partial(named, names, "names") for said, names in sets.items()}
    return Corpus(name, half, package, f"usr/share/{folder}", asked, starts, lists)


def _handbook(language: str, folder: str) -> Corpus:
    name, package = f"handbook-{language}", "debian-handbook"
    sets: dict[str, Asked] = {"questions": partial(judged, name)}
    return Corpus(name, TEST, package, f"usr/share/doc/{package}/html/{folder}", sets, language=language)


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "postgresql",
            DEVELOPMENT,
            "postgresql-doc-15",
            "usr/share/doc/postgresql-doc-15/html",
            {
                "terms": partial(terms, docbook),
                "questions": partial(judged, "postgresql"),
                **asked_by_name(docbook_names),
            },
            exclude=("bookindex.html",),
        ),
        _apache("en", DEVELOPMENT),
        Corpus(
            "django",
            DEVELOPMENT,
            "python-django-doc",
            "usr/share/doc/python-django-doc/html",
            asked_by_name(sphinx_names),
            exclude=_LISTS_OF_SPHINX,
        ),
        Corpus(
            "collections",
            DEVELOPMENT,
            "libcommons-collections4-java-doc",
            "usr/share/doc/libcommons-collections4-java/api",
            asked_by_name(javadoc_names),
            exclude=(*_LISTS_OF_JAVADOC, *_USES_OF_JAVADOC),
        ),
        _listed(
            "zsh",
            DEVELOPMENT,
            "zsh-doc",
            "doc/zsh-common/html",
            ".*Index.html|zsh_(toc|abt).html",
            options=partial(texinfo_names, "Options-Index.html"),
            variables=partial(texinfo_names, "Variables-Index.html"),
        ),
        _listed(
            "nsis",
            DEVELOPMENT,
            "nsis-doc",
            "doc/nsis/Docs",
            "(IndexPage|Contents).html",
            starts=("Chapter4.html", "Chapter1.html"),
            instructions=partial(headed_names, "Chapter4.html"),
        ),
        _listed(
            "postfix",
            TEST,
            "postfix-doc",
            "doc/postfix/html",
            parameters=partial(linked_names, "postconf.5.html"),
        ),
        _listed(
            "xerces",
            TEST,
            "libxerces-c-doc",
            "doc/libxerces-c-doc/html/apiDocs-3",
            "(functions|globals|.*-members|.*_source).*",
            starts=("annotated.html",),
            functions=doxygen_names,
        ),
        Corpus(
            "python",
            TEST,
            "python3.11-doc",
            "usr/share/doc/python3.11/html",
            {
                "terms": partial(terms, sphinx),
                "questions": partial(judged, "python"),
                **asked_by_name(sphinx_names),
            },
            exclude=_LISTS_OF_SPHINX,
        ),
        _java(
            "java",
            *_USES_OF_JAVADOC,
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
                "untold": partial(untold, directives, "en"),
                "descriptions": partial(in_languages, descriptions, ("fr", "ja"), False),
            },
            starts=("en/index.html", "fr/index.html", "ja/index.html"),
            exclude=(".*/mod/(quickreference|directives|overrides).html", "(?!(en|fr|ja)/)[^/]+/.*"),
        ),
        Corpus(
            "rust",
            TEST,
            "rust-doc",
            "usr/share/doc/rust-doc/html",
            asked_by_name(rust_names),
            starts=("std/index.html",),
            exclude=(
                "(?!(std|core|alloc)/).*",
                ".*/all.html",
                "(std|core)/(arch|core_arch|core_simd|simd|intrinsics|os)/.*",
            ),
        ),
        Corpus(
            "linux",
            TEST,
            "linux-doc-6.1",
            "usr/share/doc/linux-doc-6.1/html",
            asked_by_name(sysctl_names),
            exclude=(
                *_LISTS_OF_SPHINX,
                "(?!(admin-guide|core-api|filesystems|networking|mm|process|scheduler|index)).*",
            ),
        ),
        _handbook("de", "de-DE"),
        _handbook("ja", "ja-JP"),
    )
}
