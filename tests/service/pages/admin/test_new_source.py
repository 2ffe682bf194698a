"""A source that is added in the administration: by a URL, after a look at it, and taken back."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from lxml.html import HtmlElement, document_fromstring
from service.pages.admin.conftest import Administration, led_to, texts
from service.pages.test_page_attacks import QUOTES, SCRIPT, assert_harmless

from ultracrawl.service.access.requester import Role

NEW = "/admin/definitions/new"
PUBLIC = "192.0.43.7"
PLACE = f"/admin/sources/{PUBLIC}/definition"


def form_of(page: HtmlElement) -> dict[str, str]:
    lines = page.cssselect("textarea")[0].text.removeprefix("\n")
    return {"lines": lines, "revision": page.cssselect("[name=revision]")[0].get("value")}


def test_a_source_is_added_by_its_url_and_taken_back(administration: Administration) -> None:
    file = administration.workspace.directory / "ultracrawl.yaml"
    before = file.read_text()
    assert administration.get("/admin").cssselect(f"a[href='{NEW}']")
    assert administration.get(NEW).cssselect("form[action='/admin/definitions/new'] [name=url]")
    led = administration.browser().get(f"{NEW}?url=http://{PUBLIC}/docs/&name=")
    place = urlsplit(led.headers["location"])
    assert (led.status_code, place.path) == (303, PLACE)
    assert parse_qs(place.query) == {"start_url": [f"http://{PUBLIC}/docs/"]}
    page = administration.get(led.headers["location"])
    assert texts(page, ".difference .added code") == [f"{PUBLIC}:", f"start_urls: ['http://{PUBLIC}/docs/']"]
    (save,) = page.cssselect("[formaction]")
    assert save.get("formaction") == PLACE
    assert file.read_text() == before, "nothing is saved by looking"
    answer = administration.send(PLACE, **form_of(page))
    assert (answer.status_code, led_to(answer)) == (303, PLACE)
    assert administration.project.sources[PUBLIC].start_urls == (f"http://{PUBLIC}/docs/",)
    (undo,) = administration.get(PLACE).cssselect(f"form[action='{PLACE}/undo'] [name=revision]")
    taken = administration.send(f"{PLACE}/undo", revision=undo.get("value"))
    assert (taken.status_code, led_to(taken)) == (303, "/admin/definitions")
    assert file.read_text() == before


def test_the_host_may_stand_alone_and_names_the_source(administration: Administration) -> None:
    led = administration.browser().get(f"{NEW}?url=www.docs.example.com")
    assert led.headers["location"] == (
        "/admin/sources/docs.example.com/definition?start_url=https%3A%2F%2Fwww.docs.example.com"
    )


@pytest.mark.parametrize(
    ("text", "name", "at"),
    [
        ("file:///etc/passwd", "", "url"),
        ("javascript:alert(1)", "", "url"),
        ("http://", "", "url"),
        ("http://[", "", "url"),
        (f"http://{PUBLIC}/", "site", "name"),
        (f"http://{PUBLIC}/", "../evil", "name"),
        (f"http://{PUBLIC}/", SCRIPT, "name"),
        (SCRIPT, QUOTES, "url"),
    ],
)
def test_what_is_no_url_or_no_name_is_said_and_kept(
    administration: Administration, text: str, name: str, at: str
) -> None:
    answer = administration.browser().ask("GET", NEW, params={"url": text, "name": name})
    assert answer.status_code == 400
    page = document_fromstring(answer.text)
    assert page.cssselect("[role=alert]")
    assert [one.get("value") for one in page.cssselect(".fields input")] == [text, name]
    (field,) = page.cssselect("[aria-invalid]")
    assert field.get("name") == at, "it stands at its field"
    assert page.cssselect(f"#{field.get('aria-describedby')}[role=alert]")
    assert_harmless(page)


@pytest.mark.parametrize(
    "text", [SCRIPT, QUOTES, "http://a.example/\n  evil: {class: x}", "*x", "http://a/?{{7*7}}"]
)
def test_what_a_url_says_is_text(administration: Administration, text: str) -> None:
    answer = administration.browser().ask("GET", "/admin/sources/new/definition", params={"start_url": text})
    assert answer.status_code == 200
    page = document_fromstring(answer.text)
    assert_harmless(page)
    assert len(page.cssselect("textarea")[0].text.strip().splitlines()) == 2, (
        "one start URL, whatever it says"
    )


def test_a_private_site_is_refused_with_the_reason(administration: Administration) -> None:
    page = administration.get("/admin/sources/new/definition?start_url=http://10.1.2.3/")
    assert "10.1.2.3" in " ".join(texts(page, ".findings .mistake"))
    assert not page.cssselect("[formaction]")
    before = (administration.workspace.directory / "ultracrawl.yaml").read_text()
    assert administration.send("/admin/sources/new/definition", **form_of(page)).status_code == 400
    assert (administration.workspace.directory / "ultracrawl.yaml").read_text() == before


def test_between_braces_there_is_a_text_to_copy(administration: Administration) -> None:
    file = administration.workspace.directory / "ultracrawl.yaml"
    file.write_text(json.dumps(yaml.safe_load(file.read_text())))
    before = file.read_text()
    answer = administration.browser().get(f"{NEW}?url=http://{PUBLIC}/docs/&name=docs")
    assert answer.status_code == 400
    (text,) = [one.text for one in document_fromstring(answer.text).cssselect("pre.code")]
    assert administration.status("/admin/sources/docs/definition?start_url=http://a.example/") == 404
    assert file.read_text() == before
    assert before.endswith("}}}"), "the source, the sources, the file"
    file.write_text(f"{before[:-2]}, {text}{before[-2:]}")
    assert administration.project.sources["docs"].start_urls == (f"http://{PUBLIC}/docs/",)
    assert set(administration.project.sources) == {"site", "docs"}


def test_the_first_schedule_begins_with_an_example(administration: Administration) -> None:
    path = "/admin/definitions/schedules"
    assert administration.get("/admin/definitions").cssselect(f"a[href='{path}']")
    fields: dict[str, Any] = form_of(administration.get(path))
    assert "sources: [site]" in fields["lines"]
    file = administration.workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("    refresh:\n      interval: 1 h\n", ""))
    before = file.read_text()
    assert administration.send(path, **fields).status_code == 303
    assert administration.project.schedule_of("site") == "nightly"
    revision = form_of(administration.get(path))["revision"]
    assert led_to(administration.send(f"{path}/undo", revision=revision)) == path
    assert file.read_text() == before


def test_only_administrators_add_sources(administration: Administration) -> None:
    for role, status in ((None, 303), (Role.READER, 403), (Role.EDITOR, 403)):
        assert administration.status(f"{NEW}?url=http://{PUBLIC}/", role) == status
        assert administration.status(f"{PLACE}?start_url=http://{PUBLIC}/", role) == status
        if role is not None:
            assert not administration.get("/admin", role).cssselect(f"a[href='{NEW}']")
