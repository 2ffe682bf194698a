"""The language of documents: declared, recognised in the text, or the default; it decides how words are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import files
from support.project import ROOT, Workspace
from support.site import Site

GERMAN = "Die Bibliotheken öffneten gestern ihre Türen für alle Besucher der Stadt und für deren Kinder."
FRENCH = "Les bibliothèques ouvraient hier leurs portes à tous les visiteurs de la ville et à leurs enfants."


def languages(workspace: Workspace) -> dict[str, str]:
    hits = workspace.command("search", "--json", "--as-typed", "--limit", "50", "").json["hits"]
    return {"/" + hit["url"].rsplit("/", 1)[1]: hit["attributes"]["Language"][0] for hit in hits}


@pytest.fixture
def mixed(site: Site) -> Site:
    site.page(
        "/", title="1 2", text="12 34", links=["/says", "/header", "/text", "/lies", "/a.pdf"], lang=None
    )
    site.page("/says", title="x", text=GERMAN, lang="fr-CH")
    site.page(
        "/header",
        title="x",
        text=f"{GERMAN} Hier steht noch mehr.",
        lang=None,
        headers={"Content-Language": "it, en"},
    )
    site.page("/text", title="Bibliotheken", text=f"{GERMAN} Das war alles.", lang=None)
    site.page("/lies", title="x", text=FRENCH, lang="und")
    site.file("/a.pdf", files.pdf([FRENCH.replace("è", "e").replace("à", "a")]).replace(b"/Lang (de-DE)", b""),
              "application/pdf")  # fmt: skip
    return site


@pytest.mark.parametrize(
    ("options", "told"),
    [
        pytest.param({}, {"/text": "en", "/lies": "en", "/a.pdf": "en"}, id="ultra_search_41-default-en"),
        pytest.param(
            {"default_language": "sv"},
            {"/": "sv", "/text": "sv", "/lies": "sv", "/a.pdf": "sv"},
            id="ultra_search_41-default-changed",
        ),
        pytest.param(
            {"detect_language": True, "default_language": "sv"},
            {"/": "sv", "/text": "de", "/lies": "fr", "/a.pdf": "fr"},
            id="detected, and the default where the text tells nothing",
        ),
    ],
)
def test_a_document_that_names_no_language(
    mixed: Site, url: str, workspace: Workspace, options: dict[str, object], told: dict[str, str]
) -> None:
    workspace.define(f"{url}/", **options)
    workspace.crawl()
    found = languages(workspace)
    assert found["/says"] == "fr-CH"
    assert found["/header"] == "it"
    assert {path: found[path] for path in told} == told


def test_words_are_found_by_the_rules_of_the_configured_language(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="x", text=GERMAN, lang=None)
    workspace.define(f"{url}/")
    workspace.crawl()
    assert workspace.search("Bibliothek") == []
    workspace.define(f"{url}/", detect_language=True)
    workspace.crawl()
    assert workspace.search("Bibliothek") == ["/"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        pytest.param({"detect_language": True}, "`detect_language`", id="detect_language"),
        pytest.param({"languages": {"trust": "both"}}, "`languages: {trust: both}`", id="trust"),
    ],
)
@pytest.mark.processes
def test_without_the_extra_the_message_names_the_install_line_of_detection(
    site: Site, url: str, workspace: Workspace, tmp_path: Path, options: dict[str, object], named: str
) -> None:
    site.page("/", title="x")
    workspace.define(f"{url}/", **options)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "py3langid.py").write_text("raise ImportError('not here')\n")
    ended = workspace.crawl(code=2, hosted=False, PYTHONPATH=f"{hidden}:{ROOT}")
    assert 'pip install "ultracrawl[language]"' in ended.err
    assert named in ended.err
