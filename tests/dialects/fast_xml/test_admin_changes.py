"""What `ultracrawl admin` makes of files that come from an export, are broken, or have names of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fast import fast_options, fast_xml
from support.named import named
from support.project import Ended, Workspace
from support.sentences import sentence
from support.site import Site

pytestmark = pytest.mark.processes

START = {"start_uris": ("http://a.example/",)}
SECRETS = {
    "passwd/http://a.example/x/": "robot:s3:cret:realm:digest",
    "proxy": ("http://user:s3cret@proxy.example:3128",),
    "ftp_acct/ftp.example": "mirror:s3cret",
}
LOGIN = (
    '<Login name="A"><attrib name="site" type="string">l.example</attrib>'
    '<attrib name="form" type="string">/in</attrib>'
    '<section name="parameters"><attrib name="pw" type="string">s3cret</attrib></section></Login>'
)


SUB = '<attrib name="prefix" type="list-string"><member>{url}/a</member></attrib>'


def admin(workspace: Workspace, *words: str, code: int = 0) -> Ended:
    ended = workspace.command("admin", *words, "-c", "all.xml")
    assert ended.code == code, ended.err
    return ended


def write(workspace: Workspace, name: str, text: str) -> Path:
    path = workspace.directory / name
    path.write_text(text)
    return path


@pytest.fixture
def handbook(workspace: Workspace) -> Workspace:
    write(workspace, "all.xml", fast_xml({**START, **SECRETS, "delay": 2.0}, inside=LOGIN))
    return workspace


def test_an_export_that_was_edited_is_added_again_with_its_passwords(handbook: Workspace) -> None:
    """As it is done since ever: print the collection, change a value, load it."""
    exported = admin(handbook, "export", "handbook").out
    assert "s3cret" not in exported
    write(handbook, "new.xml", exported.replace("> 2.0 <", "> 3.0 <"))
    assert admin(handbook, "add", "new.xml").out == "handbook: updated\n"
    text = (handbook.directory / "all.xml").read_text()
    assert "****" not in text
    for secret in ("robot:s3:cret:realm:digest", "user:s3cret@", "mirror:s3cret", "> s3cret <", "> 3.0 <"):
        assert secret in text


def test_an_export_of_elsewhere_needs_its_passwords(handbook: Workspace) -> None:
    exported = admin(handbook, "export", "handbook").out
    write(handbook, "new.xml", exported.replace('"handbook"', '"copy"'))
    before = (handbook.directory / "all.xml").read_bytes()
    told = admin(handbook, "add", "new.xml", code=2).err
    assert told.count(sentence("secrets.masked_password")) == 4
    assert "new.xml:" in told
    assert (handbook.directory / "all.xml").read_bytes() == before


WRONG = {
    "a value": ({"crawlmode/mode": "DEEP"}, "is no mode"),
    "an account": ({"ftp_acct/ftp.example": "nobody"}, sentence("fast.not_user_password")),
    "a file that is not there": ({"start_uri_files": ("none.txt",)}, sentence("values.no_such_file")),
}


@pytest.mark.parametrize(("options", "problem"), WRONG.values(), ids=WRONG)
def test_what_would_make_the_file_unusable_is_not_added(
    handbook: Workspace, options: dict[str, object], problem: str
) -> None:
    """The other collections of the file go on as before."""
    write(handbook, "bad.xml", fast_xml({**START, **options}, name="other"))  # type: ignore[dict-item]
    before = (handbook.directory / "all.xml").read_bytes()
    told = admin(handbook, "add", "bad.xml", code=2)
    assert (told.out, problem in told.err, "bad.xml" in told.err) == ("", True, True)
    assert (handbook.directory / "all.xml").read_bytes() == before
    assert not [path for path in handbook.directory.iterdir() if path.name.startswith("all.xml.")]


def test_a_collection_may_be_added_before_its_start_uris(handbook: Workspace) -> None:
    write(handbook, "later.xml", fast_xml({"delay": 1.0}, name="later"))
    added = admin(handbook, "add", "./later.xml")
    assert added.out == "later: added\n"
    assert "N-NOSTART" in added.err
    assert handbook.command("lint", "all.xml").code == 0


def test_names_as_the_file_has_them(site: Site, url: str, workspace: Workspace) -> None:
    """A collection is found by its name, with blanks in it, and never takes one along whose name begins the same."""
    site.page("/", title="Home", text="needle")
    site.page("/n/", title="News", text="needle")
    part = f'<SubDomain name="front page">{fast_options({"include_uris/prefix": (f"{url}/n/",)})}</SubDomain>'
    options = {"start_uris": (f"{url}/", f"{url}/n/"), "delay": 0.0}
    body = [
        fast_xml(options, name=name, inside=inside)
        .partition("<CrawlerConfig>")[2]
        .partition("</CrawlerConfig>")[0]
        for name, inside in (("my site", part), ("my-site.old", ""))
    ]
    write(workspace, "all.xml", f"<CrawlerConfig>{''.join(body)}</CrawlerConfig>")
    ended = admin(workspace, "refresh", "my site", "--json")
    assert [run["source"] for run in ended.json["runs"]] == ["my-site", "my-site.front-page"]
    told = admin(workspace, "refresh", "my", code=2).err
    assert named(told) == ["my"]
    assert told.endswith("my site, my-site.old\n")


def test_a_file_that_is_a_link_stays_one(handbook: Workspace) -> None:
    (handbook.directory / "all.xml").rename(handbook.directory / "real.xml")
    (handbook.directory / "all.xml").symlink_to("real.xml")
    write(handbook, "new.xml", fast_xml({"delay": 7.0}))
    admin(handbook, "add", "new.xml")
    assert (handbook.directory / "all.xml").is_symlink()
    assert "> 7.0 <" in (handbook.directory / "real.xml").read_text()


def test_a_part_that_was_not_crawled_yet_holds_nobody_up(site: Site, url: str, workspace: Workspace) -> None:
    """A sub-collection is added, and the collection processed again before the next crawl."""
    site.page("/", title="Home", text="needle")
    options = {"start_uris": (f"{url}/",), "delay": 0.0}
    write(workspace, "all.xml", fast_xml(options))
    admin(workspace, "refresh", "handbook")
    part = f'<SubDomain name="news">{fast_options({"include_uris/prefix": (f"{url}/n/",)})}</SubDomain>'
    write(workspace, "new.xml", fast_xml(inside=part))
    admin(workspace, "add", "new.xml")
    ended = admin(workspace, "reprocess", "handbook", "--json")
    assert [run["source"] for run in ended.json["runs"]] == ["handbook"]


def test_a_site_that_one_part_alone_has_is_no_mistake(site: Site, url: str, workspace: Workspace) -> None:
    with site.serve(host="127.0.0.2") as elsewhere:
        site.page("/", title="Home", text="needle")
        rules = fast_options({"include_domains/exact": ("127.0.0.2",)})
        options = {"start_uris": (f"{url}/", f"{elsewhere}/"), "delay": 0.0, "diffcheck": False}
        write(workspace, "all.xml", fast_xml(options, inside=f'<SubDomain name="other">{rules}</SubDomain>'))
        admin(workspace, "refresh", "handbook")
    host = elsewhere.partition("://")[2]
    ended = admin(workspace, "reprocess", "handbook", "--site", host, "--json")
    assert [run["source"] for run in ended.json["runs"]] == ["handbook.other"]


@pytest.mark.parametrize("verb", ["refresh", "reprocess", "suspend", "resume"])
def test_a_collection_without_a_start_uri_is_said_to_have_none(handbook: Workspace, verb: str) -> None:
    write(handbook, "later.xml", fast_xml({"delay": 1.0}, name="later"))
    admin(handbook, "add", "later.xml")
    told = admin(handbook, verb, "later", code=2).err
    assert named(told) == ["later"]


def test_a_collection_that_is_removed_leaves_nothing(
    site: Site, url: str, workspace: Workspace, tmp_path: Path
) -> None:
    site.page("/", title="Home", text="heron", links=["/a"])
    site.page("/a", title="A", text="heron")
    options = {"start_uris": (f"{url}/",), "delay": 0.0}
    inside = f'<SubDomain name="sub"><section name="include_uris">{SUB.format(url=url)}</section></SubDomain>'
    one, two = (fast_xml(options, inside=inside, name=name) for name in ("A", "B"))
    write(workspace, "networks.txt", "127.0.0.0/8\n")
    write(workspace, "all.xml", one)
    admin(workspace, "add", str(write(workspace, "b.xml", two)))
    workspace.crawl("-c", "all.xml")

    def documents() -> dict[str, int]:
        info = workspace.command("index", "info", "--json", "-c", "all.xml").json
        return dict(info["sources"])

    assert set(documents()) == {"A", "A.sub", "B", "B.sub"}
    out = admin(workspace, "remove", "B", "--yes").out
    assert "B: removed" in out
    assert set(documents()) == {"A", "A.sub"}
    workspace.crawl("-c", "all.xml")
    assert set(documents()) == {"A", "A.sub"}
    kept = [
        path.name for path in (workspace.directory / "var").rglob("B*") if not path.name.endswith(".lock")
    ]
    assert kept == []
