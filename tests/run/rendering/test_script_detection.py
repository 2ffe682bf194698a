"""Whether a page has scripts that run."""

from __future__ import annotations

import pytest
from support.until import bounded

from ultracrawl.run.rendering.script_detection import has_scripts

SCRIPTS: list[bytes] = [
    b"<script>1</script>",
    b"<SCRIPT SRC=/a.js></SCRIPT>",
    b"<script type=module>1</script>",
    b"<script type=''>1</script>",
    b'<script async type="text/javascript">1</script>',
    b"<script type=application/x-ecmascript>1</script>",
    b'<script type="application/ld+json">{}</script><script>1</script>',
    b"<body\nonload='f()'>",
    b"<body/ONLOAD = f()>",
    b"<link rel=preload href=/a.css onload=1>",
]


def test_scripts_are_found(subtests: pytest.Subtests) -> None:
    for body in SCRIPTS:
        with subtests.test(body=body):
            assert has_scripts(b"<p>x" + body)


@pytest.mark.parametrize(
    "body",
    [
        b"<p>no script</p>",
        b'<script type="application/ld+json">{}</script>',
        b"<script id=t type=text/template><b>x</b></script>",
        b"<button onclick=f()>",
        b"<scripted>",
    ],
)
def test_data_and_handlers_of_users_are_no_scripts(body: bytes) -> None:
    assert not has_scripts(body)


@pytest.mark.parametrize("piece", [b"<script ", b"<script type=x>", b" onloa"])
def test_the_time_grows_with_the_page(piece: bytes) -> None:
    with bounded():
        has_scripts(piece * (1_000_000 // len(piece)))
