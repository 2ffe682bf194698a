"""The languages of the pages: every text is in every catalogue, and a visitor gets the language that was asked for."""

from __future__ import annotations

from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po
from support.pages import Pages

from ultracrawl.service.pages.languages import languages, negotiated

TEMPLATES = Path(str(files("ultracrawl.service.pages"))) / "templates"
CATALOGUES = [one for one in (TEMPLATES.parent / "locale").iterdir() if one.suffix == ".po"]


def texts() -> set[str | tuple[str, ...]]:
    """Return all texts of the templates."""
    methods = [("**.html", "jinja2"), ("**.xml", "jinja2")]
    found = extract_from_dir(str(TEMPLATES), methods, {"**.html": {"silent": "false"}})
    return {one[2] for one in found}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.stem)
def test_a_catalogue_has_every_text_and_no_other(path: Path) -> None:
    catalogue = read_po(BytesIO(path.read_bytes()), locale=path.stem, abort_invalid=True)
    translated = {one.id: one for one in catalogue if one.id}
    assert translated.keys() == texts()
    for message in translated.values():
        forms = message.string if isinstance(message.string, tuple) else (message.string,)
        assert all(forms)
        assert not message.fuzzy
        assert not list(message.check(catalogue))


def test_there_are_english_and_german() -> None:
    assert [(one.code, one.name) for one in languages().values()][:2] == [
        ("en", "English"),
        ("de", "Deutsch"),
    ]


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("de", "de"), ("de-AT,en;q=0.5", "de"), ("en;q=0.5,de", "de"), ("fr,de;q=0.3", "de"), ("fr", ""), ("", ""),
        ("de;q=0", ""), ("de;q=x,en", "en"), ("*", ""), ("en-GB", "en"), (";;;,,,=", ""), ("DE", "de"),
    ],
)  # fmt: skip
def test_the_language_of_the_browser(accepted: str, code: str) -> None:
    assert negotiated(accepted) == code


@pytest.mark.parametrize(
    ("params", "accepted", "shown"),
    [({}, "de", "de"), ({"language": "de"}, "en", "de"), ({"language": "en"}, "de", "en"), ({}, "fr", "en"),
     ({"language": "../../x"}, "de", "de")],
)  # fmt: skip
def test_a_link_counts_before_the_browser(
    pages: Pages, params: dict[str, str], accepted: str, shown: str
) -> None:
    answer = pages.ask("/", params={"q": "heron", **params}, headers={"Accept-Language": accepted})
    assert answer.headers["content-language"] == shown
    assert f'<html lang="{shown}"' in answer.text
    assert "Accept-Language" in answer.headers["vary"]


def test_the_choice_of_colours_is_rendered_by_the_server(pages: Pages) -> None:
    chosen = pages.ask("/preferences", method="POST", data={"theme": "dark", "next": "/?q=heron"})
    assert chosen.headers["location"] == "/?q=heron"
    cookie = chosen.headers["set-cookie"]
    assert {"httponly", "samesite=lax"} <= {part.strip().lower() for part in cookie.split(";")}
    page = pages.ask("/", headers={"Cookie": cookie.partition(";")[0]})
    assert 'data-theme="dark"' in page.text
    again = pages.ask("/preferences", method="POST", data={"theme": "system"})
    assert "max-age=0" in again.headers["set-cookie"].lower()
    assert "data-theme" not in pages.ask("/", headers={"Cookie": "ultracrawl-theme=x"}).text
