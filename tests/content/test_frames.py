"""Documents that frames have in their `srcdoc`: a part of the page that they stand in."""

from __future__ import annotations

import html

import pytest

from ultracrawl.content.html.page import parse_html
from ultracrawl.model.page import Link, LinkKind


def page_with(*documents: str, around: str = "<p>before {} after</p>") -> bytes:
    frames = "".join(f'<iframe srcdoc="{html.escape(document)}">old</iframe>' for document in documents)
    body = around.replace("{}", frames)
    return f"<html><head><title>T</title></head><body>{body}</body></html>".encode()


def test_text_links_and_sections_of_a_frame_are_of_the_page() -> None:
    inner = "<p>in <b>side</b></p><h2 id=part>Head</h2><a href='rel.html'>link</a><script>no()</script>"
    page = parse_html(page_with(inner), url="http://h.example/a/")
    assert page.text == "before in side Head link after"
    assert page.links == (Link("rel.html", LinkKind.A, "link"),)
    assert [section.anchor for section in page.sections] == ["part"]


def test_what_a_frame_says_of_itself_is_not_of_the_page() -> None:
    inner = "<html lang=fr><head><title>inner</title><base href='/x/'><meta name=robots content=noindex>"
    inner += "<meta http-equiv=refresh content='0;url=/y'><link rel=canonical href='/z'></head><p>needle"
    page = parse_html(page_with(inner), url="http://h.example/a/")
    assert page.text == "before needle after"
    assert (page.title, page.base, page.canonical, page.refresh, page.language) == ("T", "", "", None, "")
    assert page.robots.index
    assert page.meta == {}


@pytest.mark.parametrize(
    "inner", ["<div><nav>x", "<!-- x", "<textarea>x", "<script>x", "</body></html>", "</p></div>"]
)
def test_what_is_not_closed_in_a_frame_does_not_hold_the_page(inner: str) -> None:
    page = parse_html(page_with(f"needle {inner}"), url="http://h.example/")
    assert page.text.startswith("before needle")
    assert page.text.endswith("after")


def test_frames_out_of_sight_are_not_read() -> None:
    around = "<nav>{}</nav><!-- {} --><script>'{}'</script><p>text"
    assert parse_html(page_with("<p>needle", around=around), url="http://h.example/").text == "text"


def test_documents_in_frames_are_limited() -> None:
    page = parse_html(page_with("<p>first", "x" * 1_100_000, "<p>last"), url="http://h.example/")
    assert page.text == "before first after"
    inside = "needle"
    for _ in range(6):
        inside = f'<div><iframe srcdoc="{html.escape(inside)}"></iframe>'
    assert parse_html(inside.encode(), url="http://h.example/").text == "needle"
