"""Pages as sent and as their scripts left them, put together."""

import pytest

from ultracrawl.content.html.page import parse_html
from ultracrawl.content.html.rendered import merge_rendered
from ultracrawl.model import Page

URL = "http://h/d/page"
WRITTEN = "<meta http-equiv=refresh content='0;url={}'>"


def read(html: str) -> Page:
    return parse_html(html.encode(), url=URL, content_type="text/html; charset=utf-8")


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("seconds", [0, 1])
def test_a_refresh_that_scripts_write_is_a_link_and_replaces_no_page(seconds: int, kept: bool) -> None:
    left = read(f"<meta http-equiv=refresh content='{seconds};url=/target'><p>own")
    merged = merge_rendered(read("<p>own"), left, [], url=URL, kept=kept)
    assert merged.refresh is None
    assert {link.href for link in merged.links} == {"/target"}
    assert merged.text == "own"


@pytest.mark.parametrize("left", ["<p>left", WRITTEN.format("/other")], ids=["removed", "replaced"])
def test_the_refresh_of_the_server_stays_whatever_scripts_do_to_it(left: str) -> None:
    merged = merge_rendered(read(WRITTEN.format("next")), read(left), [], url=URL, kept=True)
    assert merged.refresh == (0.0, "next")
    pushed = merge_rendered(
        read(WRITTEN.format("next")), read(left), [], url=URL, rendered_url="http://h/e/", kept=True
    )
    assert pushed.refresh == (0.0, "http://h/d/next")


def test_the_canonical_link_of_the_server_counts_where_scripts_write_none() -> None:
    sent, written = "<link rel=canonical href=sent>", "<link rel=canonical href=written>"
    assert merge_rendered(read(sent), read("<p>x"), [], url=URL, kept=True).canonical == "sent"
    assert merge_rendered(read(sent), read(written), [], url=URL, kept=True).canonical == "written"
    pushed = merge_rendered(read(sent), read("<p>x"), [], url=URL, rendered_url="http://h/e/", kept=True)
    assert pushed.canonical == "http://h/d/sent"
