"""`ultracrawl admin`: collections in an XML file are added, changed, removed and exported."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fast import fast_options, fast_xml
from support.project import Workspace
from support.site import Site

from ultracrawl.dialects.fast_xml.notices import Notices
from ultracrawl.dialects.fast_xml.reader import read_scopes
from ultracrawl.dialects.fast_xml.writing import collections_xml

START = {"start_uris": ("http://a.example/",)}


def login(name: str) -> str:
    options = '<attrib name="site" type="string">l.example</attrib>'
    secret = '<section name="parameters"><attrib name="pass" type="string">s3cret</attrib></section>'
    return f'<Login name="{name}">{options}{secret}</Login>'


EVERYTHING = fast_xml(
    {
        **START,
        "info": "two\nlines & <more>",
        "proxy": ("http://user:s3cret@proxy.example:3128", "other.example"),
        "delay": 2.5,
        "max_inter_docs": None,
        "robots": False,
        "http_errors/4xx": "DELETE:2",
        "workqueue_priority/levels": 2,
        "workqueue_priority/1/share": 3,
        "workqueue_priority/1/include_domains/exact": ("a.example",),
        "passwd/http://a.example/x/": "robot:s3cret:realm:digest",
        "adaptive/weights/sitemap": 4.0,
    },
    inside=login("A")
    + f'<SubDomain name="s">{fast_options({"include_uris/prefix": ("http://a.example/n/",)})}</SubDomain>'
    + '<Node name="n"><attrib name="max_sites" type="integer">8</attrib></Node>',
)


def read(path: Path) -> object:
    notices = Notices(str(path))
    found = read_scopes(path, notices)
    assert list(notices) == []
    return [_plain(one) for one in found]


def _plain(scope) -> object:  # type: ignore[no-untyped-def]
    values = {key: setting.value for key, setting in scope.settings.items()}
    parts = [
        {name: _plain(part) for name, part in group.items()}
        for group in (scope.logins, scope.subs, scope.nodes)
    ]
    return scope.name, values, parts


def test_fast_2_8_loading_an_export_gives_the_same(tmp_path: Path) -> None:
    first, second = tmp_path / "a.xml", tmp_path / "b.xml"
    first.write_text(EVERYTHING)
    second.write_text(collections_xml(read_scopes(first, Notices("a"))))
    assert read(second) == read(first)


@pytest.fixture
def collections(workspace: Workspace) -> Workspace:
    (workspace.directory / "new.xml").write_text(EVERYTHING)
    assert admin(workspace, "add", "new.xml") == "handbook: added\n"
    return workspace


def admin(workspace: Workspace, *words: str, code: int = 0) -> str:
    ended = workspace.command("admin", *words, "-c", "all.xml")
    assert ended.code == code, ended.err
    return ended.out if code == 0 else ended.err


def test_add_list_export_remove(collections: Workspace) -> None:
    assert admin(collections, "list") == "handbook: s (sub-collection), A (login)\n"
    exported = admin(collections, "export", "handbook")
    assert "s3cret" not in exported
    assert "robot:****" in exported
    assert "<member> http://user:****@proxy.example:3128 </member>" in exported
    assert "s3cret" in (collections.directory / "all.xml").read_text(), "the file itself keeps them"
    assert "there is no collection `x`; there are handbook" in admin(collections, "export", "x", code=2)
    assert admin(collections, "remove", "handbook", "--yes") == "handbook: removed\n"
    assert admin(collections, "list") == ""


def test_fast_vector_31_an_update_keeps_what_it_does_not_name(collections: Workspace) -> None:
    change = collections.directory / "change.xml"
    change.write_text(fast_xml({"delay": 9.0, "http_errors/5xx": "KEEP"}, inside=login("C")))
    assert admin(collections, "add", "change.xml") == "handbook: updated\n"
    exported = admin(collections, "export", "handbook")
    assert '<attrib name="delay" type="real"> 9.0 </attrib>' in exported
    assert '<attrib name="4xx" type="string"> DELETE:2 </attrib>' in exported
    assert "s (sub-collection), A (login), C (login)" in admin(collections, "list")
    section = login("A").replace("<Login", "<section").replace("</Login>", "</section>")
    change.write_text(fast_xml(inside=f'<section name="logins">{section}</section>'))
    admin(collections, "add", "change.xml")
    assert admin(collections, "list") == "handbook: s (sub-collection), A (login)\n"


def test_a_wrong_file_changes_nothing(collections: Workspace) -> None:
    before = (collections.directory / "all.xml").read_bytes()
    (collections.directory / "bad.xml").write_text("<CrawlerConfig>")
    assert "bad.xml:1 - file - E-XML" in admin(collections, "add", "bad.xml", code=2)
    assert (collections.directory / "all.xml").read_bytes() == before


def test_refresh_statistics_show(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Home", text="needle")
    (workspace.directory / "all.xml").write_text(fast_xml({"start_uris": (f"{url}/",), "delay": 0.0}))
    admin(workspace, "refresh", "handbook")
    assert "handbook" in admin(workspace, "statistics")
    assert "would be crawled" in admin(workspace, "show", f"{url}/")
    assert url.partition("://")[2] in admin(workspace, "show", url.partition("://")[2])
    assert workspace.command("admin", "verify", "all.xml").code == 0
    assert "is not being crawled" in admin(workspace, "suspend", "handbook", code=2)
