"""`ultracrawl probe` of a site that answers with nonsense: a finding for each, and no traceback."""

from __future__ import annotations

import pytest
from support.project import Workspace
from support.site import Site

pytestmark = pytest.mark.processes


@pytest.mark.parametrize(
    "location",
    ["http://h:99999/", "http://[", "http://\u2603.example:x/", "file:///etc/passwd", "/caf\u00e9 x"],
)
def test_a_redirect_to_no_url(site: Site, url: str, workspace: Workspace, location: str) -> None:
    site.redirect("/", location.encode().decode("latin-1"))
    ended = workspace.command("probe", f"{url}/", "--no-dns")
    assert f"301 {url}/" in ended.out
    assert ended.code == ("answer       404" in ended.out)
    assert bool(ended.err) == bool(ended.code)
