"""`ultracrawl admin`: collections in an XML file are added, changed, removed and exported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.fast import fast_options, fast_xml
from support.named import named
from support.project import Workspace
from support.site import Site
from support.until import stays, until

from ultracrawl.dialects.fast_xml.notices import Notices
from ultracrawl.dialects.fast_xml.reader import read_scopes
from ultracrawl.dialects.fast_xml.verbs import admin as verbs
from ultracrawl.dialects.fast_xml.writing import collections_xml

pytestmark = pytest.mark.processes

START = {"start_uris": ("http://a.example/",)}


def login(name: str) -> str:
    options = (
        '<attrib name="site" type="string">l.example</attrib><attrib name="form" type="string">/in</attrib>'
    )
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
    assert admin(collections, "list").startswith("handbook: s (sub-collection), A (login)\n")
    exported = admin(collections, "export", "handbook")
    assert "s3cret" not in exported
    assert "robot:****" in exported
    assert "<member> http://user:****@proxy.example:3128 </member>" in exported
    assert "s3cret" in (collections.directory / "all.xml").read_text(), "the file itself keeps them"
    told = admin(collections, "export", "x", code=2)
    assert ("x" in named(told), told.rstrip().endswith("handbook")) == (True, True)
    assert admin(collections, "remove", "handbook", "--yes").splitlines()[-1] == "handbook: removed"
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
    assert admin(collections, "list").startswith("handbook: s (sub-collection), A (login)\n")


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
    assert workspace.command("admin", "verify", "-c", "all.xml").code == 0
    assert "is not being crawled" in admin(workspace, "suspend", "handbook", code=2)


def two_sites(site: Site, url: str) -> tuple[str, ...]:
    site.page("/", title="Home", text="needle", links=["/docs/a"])
    site.page("/docs/a", title="A", text="needle")
    return f"{url}/", url.replace("127.0.0.1", "127.0.0.2") + "/"


def found(workspace: Workspace) -> list[str]:
    hits = workspace.command("search", "needle", "--json", "-c", "all.xml").json["hits"]
    return sorted(hit["url"] for hit in hits)


@pytest.mark.parametrize("one_site", [False, True], ids=["the collection", "a site of it"])
def test_items_are_processed_again_from_the_store(site: Site, workspace: Workspace, one_site: bool) -> None:
    with site.serve(host="0.0.0.0") as address:
        first, second = two_sites(site, address.replace("0.0.0.0", "127.0.0.1"))
        part = (
            f'<SubDomain name="docs">{fast_options({"include_uris/prefix": (f"{first}docs/",)})}</SubDomain>'
        )
        options = {"start_uris": (first, second), "delay": 0.0, "diffcheck": False}
        (workspace.directory / "all.xml").write_text(fast_xml(options, inside=part))
        admin(workspace, "refresh", "handbook")
        before = found(workspace)
        assert before == sorted([first, f"{first}docs/a", second, f"{second}docs/a"])
        shutil.rmtree(workspace.directory / "var/index")
        site.reset()
        host = first.split("/")[2]
        words = ("--site", host) if one_site else ()
        runs = workspace.command("admin", "reprocess", "handbook", *words, "--json", "-c", "all.xml").json[
            "runs"
        ]
    assert site.requests == []
    assert [run["source"] for run in runs] == ["handbook", "handbook.docs"]
    assert found(workspace) == ([url for url in before if host in url] if one_site else before)


def test_processing_a_site_that_nobody_knows_again_is_an_error(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.page("/", title="Home", text="needle")
    (workspace.directory / "all.xml").write_text(fast_xml({"start_uris": (f"{url}/",), "delay": 0.0}))
    assert "handbook" in admin(workspace, "reprocess", "handbook", code=2)
    admin(workspace, "refresh", "handbook")
    ended = workspace.command("admin", "reprocess", "handbook", "--site", "other.example", "-c", "all.xml")
    assert ended.code == 1
    assert "other.example" in ended.err


def test_suspend_and_resume_act_on_the_part_that_is_being_crawled(
    site: Site, url: str, workspace: Workspace
) -> None:
    """The collection itself is done by then; its sub-collection has many pages and a delay."""
    site.page("/", title="Home", links=[f"/docs/{number}" for number in range(200)])
    for number in range(200):
        site.page(f"/docs/{number}", title=str(number))
    rules = fast_options({"include_uris/prefix": (f"{url}/docs/",), "delay": 0.1})
    options = {"start_uris": (f"{url}/",), "delay": 0.0}
    text = fast_xml(options, inside=f'<SubDomain name="docs">{rules}</SubDomain>')
    (workspace.directory / "all.xml").write_text(text)
    process = workspace.start("admin", "refresh", "handbook", "-c", "all.xml")
    try:
        until(lambda: "/docs/1" in site.paths(), process)
        assert "handbook.docs" in admin(workspace, "suspend", "handbook")
        stays(lambda: len(site.requests))
        asked = len(site.requests)
        assert "handbook.docs" in admin(workspace, "resume", "handbook")
        until(lambda: len(site.requests) > asked, process)
    finally:
        process.terminate()
        process.communicate(timeout=100)


def test_a_password_is_encrypted_with_the_key_beside_the_file(collections: Workspace) -> None:
    words = ("admin", "encrypt", "--stdin", "-c", "all.xml")
    without = collections.command(*words, stdin="s3cret\n")
    assert without.code == 2
    assert "ultracrawl secret new-key password.key" in named(without.err)
    assert collections.command("secret", "new-key", "password.key").code == 0
    text = collections.command(*words, stdin="s3cret\n").out.strip()
    assert "s3cret" not in text
    change = fast_xml({"passwd/http://a.example/x/": f"robot:{text}"})
    (collections.directory / "change.xml").write_text(change)
    admin(collections, "add", "change.xml")
    verified = collections.command("admin", "verify", "all.xml")
    assert verified.code == 0, verified.err


def test_lists_are_json_too_and_say_what_a_collection_is_about(collections: Workspace) -> None:
    row = collections.command("admin", "list", "--json", "-c", "all.xml").json
    assert row == {
        "name": "handbook",
        "info": "two\nlines & <more>",
        "sub_collections": ["s"],
        "logins": ["A"],
    }
    assert "  two\n  lines & <more>\n" in admin(collections, "list")


def test_every_command_has_an_example(subtests: pytest.Subtests) -> None:
    for name in sorted(verbs.command.commands):
        with subtests.test(name):
            text = verbs.command.commands[name].help or ""
            assert f"ultracrawl admin {name}" in text


@pytest.mark.parametrize("name", ["export", "refresh", "reprocess", "remove", "suspend", "resume"])
def test_a_collection_that_is_not_there_is_exit_code_2(collections: Workspace, name: str) -> None:
    words = ("--yes",) if name == "remove" else ()
    assert "`nobody`" in admin(collections, name, "nobody", *words, code=2).replace("'", "`")
