"""`ultracrawl init`: the file that it writes is crawled and searched by the commands that it prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.project import Ended, Workspace
from support.site import Site
from support.tty import at_a_terminal

from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for

pytestmark = pytest.mark.processes

QUICK = ("--yes", "--delay", "0")


def written(workspace: Workspace, file: str = "ultracrawl.yaml") -> dict[str, Any]:
    """Return the only source of the file."""
    found = yaml.safe_load((workspace.directory / file).read_text())
    (source,) = found["sources"].values()
    assert isinstance(source, dict)
    return source


def steps(ended: Ended) -> list[list[str]]:
    """Return the commands that were printed, as a shell reads them."""
    lines = ended.out.splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("  ultracrawl ")]


@pytest.fixture
def manual(site: Site) -> Site:
    """Return a site with a manual in a folder, beside other pages."""
    site.page("/", title="Company", links=["/manual/", "/jobs"], text="company")
    site.page("/jobs", title="Jobs", text="jobs")
    site.page("/manual/", title="The Pumps", links=["/manual/a", "/manual/b", "/jobs"], text="pumps manual")
    site.page("/manual/a", title="Seals", text="how seals are exchanged")
    site.page("/manual/b", title="Valves", text="valves")
    return site


@pytest.mark.parametrize("file", ["ultracrawl.yaml", "my file.yaml", "sources/manual.yaml"])
def test_what_it_prints_as_next_steps_works(manual: Site, url: str, workspace: Workspace, file: str) -> None:
    (workspace.directory / "sources").mkdir()
    ended = workspace.command("init", f"{url}/manual/", "-o", file, *QUICK)
    assert (ended.code, ended.err) == (0, "")
    assert workspace.command("lint", "--strict", file).code == 0
    crawl, search = steps(ended)
    assert (crawl[0], search[0]) == ("crawl", "search")
    crawled = workspace.command(*crawl, "--json")
    assert (crawled.code, crawled.run["outcomes"]) == (0, {"NEW": 3})
    hits = workspace.command(*search, "--json").json["hits"]
    assert [hit["url"] for hit in hits] == [f"{url}/manual/"]


def test_it_asks_what_no_option_says(manual: Site, url: str, tmp_path: Path) -> None:
    with at_a_terminal(tmp_path, "init", "--delay", "0") as person:
        person.sees("URL of the site")
        person.type("ftp://files.example.com/")
        person.sees("URL of the site")
        person.type(f"{url}/manual/")
        assert "The Pumps" in person.sees("pages below")
        person.sees("[/manual/]")
        person.type("manual")
        person.sees("pages below")
        person.type("/")
        assert "4 pages" in person.sees("Crawl again after")
        person.type("sometimes")
        person.sees("Crawl again after")
        person.type("2 d")
        person.sees("Index engine")
        person.type("grep")
        person.sees("Index engine")
        person.type("")
        code, shown = person.sees_the_end()
    assert (code, "ultracrawl crawl" in shown) == (0, True)
    source = written(Workspace(tmp_path))
    assert "only" not in source
    assert source == {
        "start_urls": [f"{url}/manual/"],
        "politeness": {"delay": 0},
        "refresh": {"interval": "2 d"},
    }


def test_it_asks_nothing_that_an_option_says(manual: Site, url: str, tmp_path: Path) -> None:
    answers = (
        "--path",
        "/manual/",
        "--every",
        "never",
        "--engine",
        "whoosh",
        "--delay",
        "0",
        "--name",
        "pumps",
    )
    with at_a_terminal(tmp_path, "init", f"{url}/", *answers) as person:
        code, shown = person.sees_the_end()
    assert (code, "3 pages" in shown) == (0, True)
    definition = yaml.safe_load((tmp_path / "ultracrawl.yaml").read_text())
    assert definition["processes"] == {"default_interval": None}
    assert definition["sources"]["pumps"]["start_urls"] == [f"{url}/manual/"]
    assert Workspace(tmp_path).command("lint").code == 0


def test_nothing_is_written_if_the_questions_are_not_answered(manual: Site, url: str, tmp_path: Path) -> None:
    with at_a_terminal(tmp_path, "init", f"{url}/manual/", "--delay", "0") as person:
        person.sees("pages below")
        person.type("\x04")
        code, _ = person.sees_the_end()
    assert (code, list(tmp_path.iterdir())) == (1, [])


def test_without_a_terminal_it_says_that_it_takes_the_defaults(
    manual: Site, url: str, workspace: Workspace
) -> None:
    ended = workspace.command("init", f"{url}/", "--delay", "0")
    assert (ended.code, ended.err.count("\n")) == (0, 1)
    assert workspace.command("init", "-o", "other.yaml").code == 2
    assert written(workspace)["refresh"] == {"interval": "24 h"}


def test_an_existing_file_is_kept(manual: Site, url: str, workspace: Workspace) -> None:
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text("mine")
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert (ended.code, ended.out, ended.err.count("\n"), file.read_text()) == (2, "", 1, "mine")
    assert manual.page_paths() == set(), "nobody asked the site"
    assert workspace.command("init", f"{url}/", *QUICK, "--force").code == 0
    assert written(workspace)["start_urls"] == [f"{url}/"]


def test_json(manual: Site, url: str, workspace: Workspace) -> None:
    ended = workspace.command("init", f"{url}/manual/", "--json", "--delay", "0")
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    assert (found["file"], found["title"], found["url"]) == ("ultracrawl.yaml", "The Pumps", f"{url}/manual/")
    assert found["pages"] == {"number": 3, "sampled": False, "minimum": False, "in_sitemaps": False}
    assert found["options"] == written(workspace)


WORDS = "many words " * 200
FORM = """<title>Log in</title><form action="/login" method="post"><input name="account">
<input type="password" name="pass-word"><button>Log in</button></form>"""


@pytest.mark.parametrize("is_redirected", [True, False])
def test_a_site_behind_a_log_in_keeps_its_start_url_and_gets_an_example(
    site: Site, url: str, workspace: Workspace, *, is_redirected: bool
) -> None:
    form = "/login" if is_redirected else "/members/"
    site.file(form, FORM.encode(), "text/html")
    if is_redirected:
        site.redirect("/members/", "/login", status=302)
    ended = workspace.command("init", f"{url}/members/", *QUICK, "--json")
    assert (ended.code, ended.json["login"], ended.json["pages"]) == (0, f"{url}{form}", None)
    assert written(workspace)["start_urls"] == [f"{url}/members/"]
    file = workspace.directory / "ultracrawl.yaml"
    file.write_text(file.read_text().replace("# logins:", "logins:"))
    fields = {"account": "${SITE_ACCOUNT}", "pass-word": "${SITE_PASS_WORD}"}
    assert written(workspace)["logins"] == {"site": {"page": f"{url}{form}", "fields": fields}}
    variables = {"SITE_ACCOUNT": "ada", "SITE_PASS_WORD": "s3cret"}
    assert workspace.command("lint", **variables).code == 0


def test_a_front_page_with_a_box_for_a_password_is_no_log_in(
    site: Site, url: str, workspace: Workspace
) -> None:
    site.file("/", f"{FORM}<p>{WORDS}".encode(), "text/html")
    ended = workspace.command("init", f"{url}/", *QUICK, "--json")
    assert (ended.code, ended.json["login"]) == (0, None)
    assert "# logins" not in (workspace.directory / "ultracrawl.yaml").read_text()


def test_an_empty_front_page_is_pointed_out(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="", text="")
    assert advice_for(Cause(CauseCode.EMPTY)) in workspace.command("init", f"{url}/", *QUICK).out
    site.page("/", title="Home", text="words")
    told = workspace.command("init", f"{url}/", *QUICK, "--force").out
    assert advice_for(Cause(CauseCode.EMPTY)) not in told


def test_a_site_that_nobody_looks_at_gets_no_request(manual: Site, url: str, workspace: Workspace) -> None:
    ended = workspace.command("init", f"{url}/manual/", "--no-look", *QUICK)
    assert (ended.code, manual.page_paths()) == (0, set())
    assert [step[0] for step in steps(ended)] == ["crawl", "search"]
    assert workspace.command("lint", "--strict").code == 0


MISTAKES = {
    "no path": ("--path", "manual"),
    "no length of time": ("--every", "sometimes"),
    "no name": ("--name", "a: b"),
    "no engine": ("--engine", "grep"),
    "no delay": ("--delay", "-1"),
    "no number": ("--depth", "x"),
}


@pytest.mark.parametrize("words", MISTAKES.values(), ids=list(MISTAKES))
def test_mistakes_are_reported_before_the_site_is_asked(
    manual: Site, url: str, workspace: Workspace, words: tuple[str, str]
) -> None:
    ended = workspace.command("init", f"{url}/", "--yes", *words)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert (manual.page_paths(), list(workspace.directory.iterdir())) == (set(), [])


@pytest.mark.parametrize("word", ["my-sources", "", "https://", "http://[", "http://h:99999/"])
def test_a_word_that_is_no_url(workspace: Workspace, word: str) -> None:
    ended = workspace.command("init", word, "--yes")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ("startproject" in ended.err) == (word == "my-sources"), "it made a project in earlier checkouts"


def unreadable(site: Site, what: str) -> None:
    """Make the front page one that cannot be read."""
    site.page("/", text="start")
    match what:
        case "error":
            site.page("/", status=500)
        case "missing":
            site.page("/", status=404)
        case "log-in":
            site.page("/", status=401)
        case "forbidden":
            site.robots("User-agent: *\nDisallow: /\n")
        case "robots.txt broken":
            site.robots("", status=503)
        case "hangs up":
            site.raw("/", b"")
        case "nonsense":
            site.raw("/", b"\x00\xff nonsense\r\n\r\n")
        case "circle":
            site.redirect("/", "/a")
            site.redirect("/a", "/")
        case "endless":
            site.dynamic("/*", lambda request: reply_of(f"{request.path}x"))
            site.redirect("/", "/x")
        case "refused address":
            site.redirect("/", "http://127.0.0.2:9/")
        case "no web":
            site.redirect("/", "file:///etc/passwd")


def reply_of(target: str) -> Any:
    from support.resource import Reply

    return Reply(302, (("Location", target),), b"")


@pytest.mark.parametrize(
    "what",
    [
        "error", "missing", "log-in", "forbidden", "robots.txt broken", "hangs up", "nonsense", "circle", "endless",
        "refused address", "no web",
    ],
)  # fmt: skip
def test_a_site_that_cannot_be_read_is_one_line_and_no_file(
    site: Site, url: str, workspace: Workspace, what: str
) -> None:
    unreadable(site, what)
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert list(workspace.directory.iterdir()) == []
    assert len(site.page_paths()) < 20
    typed = next(words for words in ended.err.split("`") if words.startswith("ultracrawl init "))
    assert (typed.split()[-1], workspace.command(*typed.split()[1:]).code) == (f"{url}/", 0)


def test_a_redirect_is_where_the_crawl_begins(site: Site, url: str, workspace: Workspace) -> None:
    site.redirect("/", "/en/", status=302)
    site.page("/en/", head='<meta http-equiv="refresh" content="0; url=latest/">')
    site.page("/en/latest/", title="Guide", text="guide", links=["/en/latest/a"])
    site.page("/en/latest/a", title="Part", text="part")
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert (ended.code, written(workspace)["start_urls"]) == (0, [f"{url}/en/latest/"])
    assert workspace.command(*steps(ended)[0]).code == 0


def number_of_pages(ended: Ended) -> int:
    """Return the number of pages of an estimate that is said to be one."""
    (found,) = re.findall(r"(?m)^  size +about ([\d,]+) pages \(sampled\)", ended.out)
    return int(found.replace(",", ""))


def test_an_index_of_many_sitemaps_is_sampled(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Large", text="large")
    site.robots(f"User-agent: *\nDisallow:\nSitemap: {url}/index.xml\n")
    parts = "".join(f"<sitemap><loc>{url}/part{part}.xml</loc></sitemap>" for part in range(250))
    index = f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{parts}</sitemapindex>'
    site.file("/index.xml", index.encode(), "application/xml")
    for part in range(250):
        site.sitemap(f"/part{part}.xml", [f"/{part}/{page}" for page in range(200)])
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert (ended.code, number_of_pages(ended)) == (0, 50_000)
    assert sum(site.count(f"/part{part}.xml") for part in range(250)) < 10


def test_a_sitemap_that_is_too_long_is_read_in_part(site: Site, url: str, workspace: Workspace) -> None:
    site.page("/", title="Large", text="large")
    site.sitemap("/sitemap.xml", [f"/page/{number:06}" for number in range(50_000)])
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert (ended.code, 45_000 <= number_of_pages(ended) <= 55_000) == (0, True)


def test_without_a_sitemap_some_pages_are_read(site: Site, url: str, workspace: Workspace) -> None:
    for number in range(60):
        links = [f"/{2 * number + 1}", f"/{2 * number + 2}"]
        site.page(f"/{number}" if number else "/", title="Tree", links=links, text="tree")
    found = workspace.command("init", f"{url}/", "--json", "--delay", "0").json["pages"]
    assert (found["minimum"], 10 <= found["number"] <= 60) == (True, True)
    assert len(site.page_paths()) <= 10


def test_an_application_without_text_suggests_rendering(site: Site, url: str, workspace: Workspace) -> None:
    shell = b"<title>App</title><div id=app></div><script src=/app.js></script>"
    site.file("/", shell, "text/html")
    ended = workspace.command("init", f"{url}/", *QUICK)
    text = (workspace.directory / "ultracrawl.yaml").read_text()
    (line,) = [line.strip() for line in text.splitlines() if "javascript: auto" in line]
    lint = workspace.command("lint", "--strict")
    assert (ended.code, lint.code, lint.out) == (0, 0, "")
    assert line.startswith(("javascript: auto", "# javascript: auto")), (
        "a comment where no browser is installed"
    )


GENERATORS = {
    "Sphinx": ("", "<script src=_static/documentation_options.js></script>", "_sources/a.rst.txt"),
    "MkDocs": ("mkdocs-1.6.1, mkdocs-material-9.5.42", "", "search.html"),
    "Docusaurus": ("Docusaurus v3.5.2", "", "tags/x"),
    "Hugo": ("Hugo 0.135.0", "", "tags/"),
    "WordPress": ("WordPress 6.6.2", "", "wp-json/wp/v2/posts"),
    "MediaWiki": ("MediaWiki 1.42.1", "", "Special:RecentChanges"),
    "Drupal": ("Drupal 10 (https://www.drupal.org)", "", "user/login"),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_what_a_known_generator_adds_is_left_out(
    site: Site, url: str, workspace: Workspace, name: str
) -> None:
    meta, head, out = GENERATORS[name]
    head += f'<meta name="generator" content="{meta}">' if meta else ""
    site.page("/docs/", title="Guide", head=head, text="guide", links=[f"/docs/{out}", "/docs/a"])
    site.page("/docs/a", title="Chapter", text="chapter")
    site.page(f"/docs/{out}", title="Index", text="index")
    found = workspace.command("init", f"{url}/docs/", "--json", "--delay", "0").json
    assert (found["generator"], found["pages"]["number"]) == (name, 2)
    assert workspace.command("lint", "--strict").code == 0
    run = workspace.command(*shlex.split(found["next"][0])[1:], "--json").run
    assert run["outcomes"] == {"NEW": 2}
    assert f"/docs/{out}" not in site.page_paths()


HOSTILE = 'x\n  evil: {start_urls: [http://evil.example/]}\n# "]} \u2028 \x85 &a *a !!python/object:os.system'


def test_nothing_that_a_site_sends_becomes_yaml(site: Site, url: str, workspace: Workspace) -> None:
    target = "/a'%22%5D%7D,%0A%23%20b:%20%7Bc/index.html?x=%5B1%5D&y=%27"
    site.redirect("/", target)
    site.page(
        target,
        title=HOSTILE,
        text=HOSTILE,
        head=f'<meta name="generator" content="{HOSTILE.replace(chr(34), "")}">',
    )
    ended = workspace.command("init", f"{url}/", *QUICK)
    assert ended.code == 0, ended.err
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    assert list(definition) == ["sources"]
    assert set(written(workspace)) == {"start_urls", "politeness", "refresh"}
    assert "evil" not in (workspace.directory / "ultracrawl.yaml").read_text()
    assert "\x1b" not in ended.out
    for words in steps(ended):
        assert workspace.command(*words).code == 0


@pytest.mark.parametrize(
    "path", ["/a'b/", '/a"b/', "/a: b/", "/a#b/", "/{a}/", "/ä/", "/*a/", "/&a/", "/a\tb/"]
)
def test_any_path_is_written_as_it_is(manual: Site, url: str, workspace: Workspace, path: str) -> None:
    assert workspace.command("init", f"{url}/", "--path", path, "--no-look", *QUICK).code == 0
    assert written(workspace)["only"] == [path]
    assert workspace.command("lint").code == 0
