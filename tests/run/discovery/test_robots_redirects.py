"""Where a redirect of robots.txt leads: in the one form by which addresses are judged, whatever a site writes."""

from __future__ import annotations

import pytest

from ultracrawl.run.discovery.site_files import _target


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        (b"/x", "http://h.example/x"),
        (b"http://0x7f.1/", "http://127.0.0.1/"),
        (b"http://2130706433:8080/", "http://127.0.0.1:8080/"),
        (b"http://LOCALHOST./", "http://localhost/"),
        (b"http://user:word@10.0.0.1/", "http://10.0.0.1/"),
        (b"http:\\\\10.0.0.1\\", "http://10.0.0.1/"),
        (b"file:///etc/passwd", ""),
        (b"http://[", ""),
        (b"http://h:99999/", ""),
        (b"http://\xff\xfe/", ""),
    ],
    ids=lambda value: f"p1 {value[:20]!r}" if isinstance(value, bytes) else "",
)
def test_p1_a_redirect_of_robots_txt_is_a_canonical_url(location: bytes, expected: str) -> None:
    assert _target("http://h.example/robots.txt", location) == expected
