"""`ultracrawl robot`, `simulate` and `probe`: a portal robot's tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.named import named
from support.project import Workspace
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site

pytestmark = pytest.mark.processes


@pytest.fixture
def robot(tmp_path: Path) -> RobotFiles:
    return RobotFiles(Workspace(tmp_path))


@pytest.fixture
def site() -> Site:
    return Site()


def rules(robot: RobotFiles) -> str:
    return robot.text("filterrules.conf")


def test_portal_robot_110_113_a_new_site_uses_the_default_rules(robot: RobotFiles) -> None:
    before = rules(robot)
    ended = robot.command("robot", "create-site", "www.siroe.com", "--depth", "5")
    assert (ended.code, named(ended.out)) == (0, ["12"])
    assert rules(robot).startswith(before), "everything else stays as it stands"
    (site,) = robot.command("robot", "list-sites", "--json").lines
    assert (site["kind"], site["starts"], len(site["rules"])) == (
        "server",
        [{"url": "http://www.siroe.com/", "depth": 5, "enabled": True}],
        12,
    )


def test_sites_are_switched_and_deleted(robot: RobotFiles) -> None:
    before = rules(robot)
    robot.command("robot", "create-site", "siroe.com", "--domain", "--start", "http://siroe.com/x")
    robot.command("robot", "disable-sites", "siroe.com")
    assert '<Site name="siroe.com" kind=domain enable=off>' in rules(robot)
    assert robot.command("crawl").code == 2
    robot.command("robot", "enable-sites", "siroe.com")
    assert '<Site name="siroe.com" kind=domain enable=on>' in rules(robot)
    robot.command("robot", "delete-site", "siroe.com", "--yes")
    assert rules(robot).rstrip() == before.rstrip()


def test_portal_robot_113_rules_are_created_switched_and_deleted(robot: RobotFiles) -> None:
    before = rules(robot)
    created = ("--source", "path", "--by", "contains", "--string", '/a "b"', "--include", "--no-default")
    robot.command("robot", "create-rule", "drafts", *created)
    robot.command("robot", "create-site", "h")
    robot.write(
        "filterrules.conf",
        rules(robot).replace('Start url="http://h/"', 'Start url="http://h/"\n   Use rule=drafts'),
    )
    robot.command("robot", "disable-rules", "drafts")
    rule = robot.command("robot", "list-rules", "--json").lines[-1]
    assert rule == {
        "name": "drafts",
        "title": "",
        "enabled": False,
        "default": False,
        "behavior": "include",
        "matches": [{"source": "path", "by": "contains", "string": '/a "b"'}],
        "used_by": ["h"],
    }
    assert robot.command("robot", "delete-rule", "drafts", "--yes").code == 0
    assert "drafts" not in rules(robot)
    robot.command("robot", "delete-site", "h", "--yes")
    assert rules(robot).rstrip() == before.rstrip()


def test_comments_and_switches_without_a_value_survive(robot: RobotFiles) -> None:
    robot.write(
        "filterrules.conf",
        "# one\n<Site name=a> \n# two\n   Start url=http://a/ enable=off\n</Site>\n# three\n",
    )
    robot.command("robot", "disable-sites", "a")
    expected = "# one\n<Site name=a enable=off>\n# two\n   Start url=http://a/ enable=off\n</Site>\n# three\n"
    assert rules(robot).replace("> \n", ">\n") == expected


WRONG = {
    "no such site": (("robot", "delete-site", "x"), sentence("robot.no_site_x")),
    "a URL as a site": (("robot", "create-site", "http://a/"), sentence("values.not_host_name")),
    "a site twice": (("robot", "create-site", "a"), "there is a Site 'a' already"),
    "bad expression": (
        ("robot", "create-rule", "r", "--by", "regex", "--string", "("),
        "invalid expression '('",
    ),
    "bad source": (
        ("robot", "create-rule", "r", "--source", "size", "--string", "1"),
        sentence("robot.not_source_match"),
    ),
}


@pytest.mark.parametrize(("words", "problem"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_done_leaves_the_file_alone(
    robot: RobotFiles, words: tuple[str, ...], problem: str
) -> None:
    robot.write("filterrules.conf", "<Site name=a>\n</Site>\n")
    ended = robot.command(*words)
    assert (ended.code, rules(robot)) == (2, "<Site name=a>\n</Site>\n")
    assert problem in ended.err


# ---- simulator


def test_portal_robot_143_144_145_the_simulator(site: Site, url: str, robot: RobotFiles) -> None:
    robot.site(f"{url}/", rules="   Use rule=archive-files\n")
    ended = robot.command("simulate", "--no-redirects")
    assert ended.out.startswith(f"ACCEPTED  {url}/\n"), "existing sites"
    (found,) = robot.command("simulate", "--no-redirects", f"{url}/a.zip", "--json").lines
    assert (found["verdict"], found["filters"]["enumeration-default"]) == (
        "WARNING",
        [{"directive": "MetaData fn=filterrules-process", "answer": "denied"}],
    )
    assert found["denied"][0] == "enumeration-default: filter rules: 127.0.0.1: archive-files"
    assert site.requests == [], "nothing is fetched"
    assert robot.command("urls", "--json").out == "", "nothing is stored"


EXCLUDED = [
    "/app/run.cgi?x=1",
    "/A.ZIP",
    "/P.JPG",
    "/script.PL",
    "/x.zip?v=1",
    "/tmp/",
    "/i.svg",
    "/i.webp",
    "/v.webm",
    "/v.mkv",
    "/m.flac",
    "/a.xz",
]


def test_the_rules_of_a_new_robot_exclude_files_of_today_in_any_case_and_with_a_query(
    robot: RobotFiles,
) -> None:
    robot.command("robot", "create-site", "www.siroe.com")
    urls = [f"http://www.siroe.com{path}" for path in [*EXCLUDED, "/guide.html", "/a?zip", "/zip"]]
    lines = robot.command("simulate", "--no-redirects", *urls, "--json").lines
    passed = [
        line["url"] for line in lines if line["filters"]["enumeration-default"][-1]["answer"] != "denied"
    ]
    assert [url.removeprefix("http://www.siroe.com") for url in passed] == ["/guide.html", "/a?zip", "/zip"]


def test_the_simulator_asks_the_stages_that_every_url_meets(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    passes = "   MetaData fn=filter-by-prefix src=path deny=/no\n"
    names = ("enumeration-default", "generation-default")
    workspace.write(
        {
            "sources": {
                "s": {
                    "start_urls": ["http://127.0.0.1:9/"],
                    "boundary": {"paths": {"127.0.0.1": {"exclude": ["/private/"]}}},
                    "filters": {"file": "filter.conf"},
                }
            }
        }
    )
    (tmp_path / "filter.conf").write_text(
        "".join(f'<Filter name="{name}">\n{passes}</Filter>\n' for name in names)
    )
    inside, outside = (
        workspace.command("simulate", "--no-dns", "--no-redirects", "--json", f"http://127.0.0.1:9{path}")
        for path in ("/a", "/private/x")
    )
    (accepted,), (refused,) = inside.lines, outside.lines
    assert (accepted["verdict"], {one["accept"] for one in accepted["stages"]}) == ("ACCEPTED", {True})
    assert (refused["verdict"], refused["denied"]) == (
        "WARNING",
        ["path: exclude path 127.0.0.1/private/"],
    )
    assert refused["filters"] == accepted["filters"], "the filters themselves have nothing against it"


def test_a_url_that_the_robot_does_not_follow_is_denied_and_the_others_are_simulated(
    robot: RobotFiles, url: str
) -> None:
    robot.site(f"{url}/")
    urls = ("ftp://www.siroe.com/x", f"{url}/a", "file:///etc/passwd", "http://[/")
    told = robot.command("simulate", "--no-dns", "--no-redirects", *urls, "--json")
    assert told.code == 0
    found = [
        (line["url"], line["verdict"], bool(line["denied"]), bool(line["filters"])) for line in told.lines
    ]
    assert found == [
        (each, "ACCEPTED", False, True) if each.endswith("/a") else (each, "WARNING", True, False)
        for each in urls
    ]
    assert robot.command("simulate", "--no-dns", f"{url}/a", "www.siroe.com").code == 2


def test_portal_robot_146_redirects_are_asked_for_unless_switched_off(
    site: Site, url: str, robot: RobotFiles
) -> None:
    robot.site(f"{url}/")
    site.redirect("/old", "/new")
    site.page("/new", title="New", text="x")
    (found,) = robot.command("simulate", f"{url}/old", "--json").lines
    assert (found["verdict"], found["warnings"]) == ("WARNING", [f"redirects to {url}/new"])
    assert {request.method for request in site.requests} == {"HEAD"}
    (found,) = robot.command("simulate", f"{url}/old", "--json", "--no-redirects").lines
    assert (found["verdict"], found["redirects"]) == ("ACCEPTED", [])


def test_portal_robot_146_hosts_are_looked_up_unless_switched_off(robot: RobotFiles) -> None:
    robot.site("http://nothing.invalid/")
    (found,) = robot.command("simulate", "--json").lines
    assert (found["verdict"], found["addresses"]) == ("WARNING", [])
    assert "nothing.invalid" in found["warnings"][0]
    (found,) = robot.command("simulate", "--json", "--no-dns", "--no-redirects").lines
    assert (found["verdict"], found["addresses"]) == ("ACCEPTED", [])


def test_portal_robot_145_the_starting_points_of_one_site(site: Site, url: str, robot: RobotFiles) -> None:
    robot.site(f"{url}/")
    robot.command("robot", "create-site", "b.test", "--start", "http://b.test/x")
    (found,) = robot.command("simulate", "--sitename", "b.test", "--nodns", "--noredirect", "--json").lines
    assert (found["url"], found["verdict"]) == ("http://b.test/x", "ACCEPTED")
    wrong = robot.command("simulate", "--sitename", "c.test")
    assert (wrong.code, wrong.err.count("\n"), named(wrong.err)[0]) == (2, 1, "c.test")
    assert wrong.err.endswith("127.0.0.1, b.test\n")


def test_a_starting_point_on_an_ftp_server_is_not_asked_for_redirects(robot: RobotFiles) -> None:
    robot.site("ftp://127.0.0.1:9/pub/")
    (found,) = robot.command("simulate", "--json").lines
    assert (found["verdict"], found["redirects"]) == ("ACCEPTED", [])


# ---- a robot from nothing


def test_a_new_robot_has_filters_rules_and_no_site(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    made = workspace.command("robot", "create", "docs", "--email", "me@example.com")
    assert (made.code, made.err) == (0, "")
    config = ("-c", "docs/config/robot.conf")
    nothing = workspace.command("crawl", *config)
    assert (nothing.code, "Starting Points: 0 defined" in nothing.err) == (2, True)
    assert workspace.command("robot", "create-site", "www.siroe.com", *config).code == 0
    clean = workspace.command("lint", "docs/config/robot.conf")
    assert (clean.code, clean.out, clean.err) == (0, "", "1 source, 0 mistakes, 0 hints\n")
    assert workspace.command("robot", "create", "docs").code == 2, "nothing is written over"
    facts = {
        row["name"]: row
        for row in workspace.command("robot", "report", "configuration", *config, "--json").lines
    }
    assert facts["csid"]["value"] == "x-catalog://localhost:80/docs"
    assert (facts["email"]["value"], facts["email"]["given"]) == ("me@example.com", "line 5")
    assert facts["connect-timeout"]["given"] == "default"
    assert facts["site www.siroe.com"]["value"] == sentence("robot.new_robot")
    assert facts["filter enumeration-default"]["given"] == "enumeration"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("robot", "create", "a b"), "cannot name a robot"),
        (("robot", "create", "x", "--email", 'a"@b'), "is no e-mail address"),
        (("robot", "create", "x", "--name", "../y"), "cannot name a robot"),
    ],
    ids=["name", "email", "path"],
)
def test_what_makes_no_robot_is_said(tmp_path: Path, words: tuple[str, ...], problem: str) -> None:
    ended = Workspace(tmp_path).command(*words)
    assert (ended.code, ended.err.count("\n"), problem in ended.err) == (2, 1, True)
    assert not list(tmp_path.iterdir())


def test_the_report_of_versions_hides_nothing_and_that_of_properties_hides_passwords(
    robot: RobotFiles,
) -> None:
    robot.site("http://h/")
    robot.properties(password="boots", auto_proxy="http://me:secret@proxy:3128/", proxy_type="manual")
    names = [row["name"] for row in robot.command("robot", "report", "version", "--json").lines]
    assert names[:4] == ["ultracrawl", "Python", "system", "Scrapy"]
    assert names[-2:] == ["index", "state"]
    shown = robot.command("robot", "report", "configuration").out
    assert "********" in shown
    assert "http://proxy:3128/" in shown
    assert not any(secret in shown for secret in ("boots", "secret"))


# ---- site probe


def test_portal_robot_147_the_probe(site: Site, url: str, robot: RobotFiles) -> None:
    site.redirect("/", "/home")
    site.page("/home", title="Home", text="x")
    site.file("/robots.txt", b"User-agent: *\nDisallow: /x\nSitemap: /s.xml\n", "text/plain")
    (found,) = robot.workspace.command("probe", url, "--json").lines
    assert found["addresses"] == ["127.0.0.1"]
    assert [(one["status"], one["location"]) for one in found["redirects"]] == [
        (301, f"{url}/home"),
        (200, ""),
    ]
    assert (found["robots"], found["sitemaps"]) == ("allows ultracrawl to fetch /", ["/s.xml"])
    assert found["reverse_names"] == {}, "portal_robot_148: only when asked"


def test_portal_robot_148_advanced_dns(url: str, robot: RobotFiles) -> None:
    (found,) = robot.workspace.command("probe", url, "--json", "--advanced-dns").lines
    assert set(found["reverse_names"]) == {"127.0.0.1"}


def test_a_probe_that_fails_says_so(robot: RobotFiles) -> None:
    ended = robot.workspace.command("probe", "http://nothing.invalid/")
    assert (ended.code, "nothing.invalid" in ended.err) == (1, True)
    assert robot.workspace.command("probe", "nothing").code == 2


def test_a_site_on_a_port_is_covered(site: Site, url: str, robot: RobotFiles) -> None:
    site.page("/", title="Home", text="needle")
    assert robot.command("robot", "create-site", url.removeprefix("http://")).code == 0
    assert robot.crawl().run["outcomes"] == {"NEW": 1}


def test_portal_robot_141_times_are_added_and_listed(robot: RobotFiles) -> None:
    words = ("--start", "10:30 pm", "--days", "fri,sat", "--stop", "6:00 am", "--stop-days", "Sat,Sun")
    assert robot.command("robot", "schedule", "add", *words).code == 0
    assert robot.text("schedule.conf") == (
        'Start time="10:30 pm" days=Fri,Sat\nStop time="6:00 am" days=Sun,Sat\n'
    )
    listed = robot.command("robot", "schedule", "list", "--json").lines
    assert [one["time"] for one in listed] == ["10:30 pm Fri,Sat", "6:00 am Sun,Sat"]


def test_the_times_of_a_robot_are_a_schedule_of_the_service(site: Site, url: str, robot: RobotFiles) -> None:
    site.page("/", title="Home", text="needle")
    robot.site(f"{url}/")
    words = ("--start", "10:30 pm", "--days", "Fri,Sat")
    assert robot.command("robot", "schedule", "add", *words).code == 0
    (listed,) = robot.command("schedule", "list", "--json").json["schedules"]
    assert (listed["name"], listed["sources"], listed["status"]) == ("robot", ["robot"], "scheduled")
    assert robot.command("schedule", "launch", "robot").code == 0
    assert robot.urls().keys() == {"/"}
    assert robot.command("schedule", "disable", "robot").code == 0


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("add", "--start", "25:00 pm", "--days", "Sun"), "is no time"),
        (("add", "--start", "1:00 pm", "--days", ""), "no day is given"),
        (("run",), "has no times"),
    ],
    ids=["portal_robot_140 time", "portal_robot_140 day", "nothing to keep"],
)
def test_what_is_no_schedule_is_said(robot: RobotFiles, words: tuple[str, ...], problem: str) -> None:
    ended = robot.command("robot", "schedule", *words)
    assert (ended.code, problem in ended.err) == (2, True)
    assert not (robot.config / "schedule.conf").exists()


EDITED = """# head
<FilterRule name="drafts" title="Old" enable=on default=on behavior=exclude>
   # about drafts
   Match source=path by=contains string="/draft/"
</FilterRule>
<FilterRule name=other>
   Match string=x
</FilterRule>

<Site name="a" kind=server>
   Host name=a  # is part of the name, so nothing
   # the front page
   Start url="http://a/" depth=2
   Use rule=other \\
       enable=off
</Site>
# foot
"""

EDITS = {
    "title": (("edit-rule", "drafts", "--title", 'A "new" one'), 'title="Old"', 'title="A \\"new\\" one"'),
    "behavior": (("edit-rule", "drafts", "--include"), "behavior=exclude", "behavior=include"),
    "default": (("edit-rule", "drafts", "--no-default"), "default=on", "default=off"),
    "another test": (
        ("edit-rule", "drafts", "--source", "path", "--by", "ends-with", "--string", ".wip"),
        'string="/draft/"\n',
        'string="/draft/"\n   Match source=path by=ends-with string=".wip"\n',
    ),
    "no test": (
        ("edit-rule", "drafts", "--no-string", "/draft/"),
        '   Match source=path by=contains string="/draft/"\n',
        "",
    ),
    "kind": (("edit-site", "a", "--kind", "domain"), "kind=server", "kind=domain"),
    "a header without it": (
        ("edit-rule", "other", "--title", "T"),
        "<FilterRule name=other>",
        '<FilterRule name=other title="T">',
    ),
    "another start": (
        ("edit-site", "a", "--start", "http://a/b", "--depth", "3"),
        "depth=2\n",
        'depth=2\n   Start url="http://a/b" depth=3\n',
    ),
    "another depth": (("edit-site", "a", "--start", "http://a/", "--depth", "-1"), "depth=2", "depth=-1"),
    "use a rule": (
        ("edit-site", "a", "--use", "drafts"),
        "       enable=off\n",
        '       enable=off\n   Use   rule="drafts"\n',
    ),
    "use no more": (("edit-site", "a", "--no-use", "other"), "   Use rule=other \\\n       enable=off\n", ""),
    "a host": (
        ("edit-site", "a", "--host", "b:8080", "--no-start", "http://a/", "--start", "http://b:8080/"),
        '   # the front page\n   Start url="http://a/" depth=2\n',
        '   Host  name="b" port=8080\n   # the front page\n',
    ),
}


@pytest.mark.parametrize(("words", "old", "new"), EDITS.values(), ids=EDITS)
def test_portal_robot_113_edited_in_place(
    robot: RobotFiles, words: tuple[str, ...], old: str, new: str
) -> None:
    robot.write("filterrules.conf", EDITED.replace("  # is part of the name, so nothing", ""))
    before = rules(robot)
    ended = robot.command("robot", *words)
    assert ended.code == 0, ended.err
    expected = before.replace(old, new, 1)
    if "--host" in words:
        expected = expected.replace("</Site>", '   Start url="http://b:8080/"\n</Site>')
    assert rules(robot) == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("edit-site", "b", "--kind", "domain"), sentence("robot.no_site_b")),
        (("edit-site", "a", "--use", "nothing"), sentence("robot.no_filter_rule_nothing")),
        (("edit-site", "a", "--no-use", "drafts"), "has no Use drafts"),
        (("edit-site", "a", "--depth", "3"), "name it with --start"),
        (("edit-rule", "drafts", "--no-string", "x"), sentence("robot.no_test_x")),
        (("edit-rule", "drafts", "--by", "regex", "--string", "("), "invalid expression '('"),
    ],
)
def test_an_edit_that_cannot_be_done_leaves_the_file_alone(
    robot: RobotFiles, words: tuple[str, ...], problem: str
) -> None:
    robot.write("filterrules.conf", EDITED.replace("  # is part of the name, so nothing", ""))
    before = rules(robot)
    ended = robot.command("robot", *words)
    assert (ended.code, problem in ended.err) == (2, True), ended.err
    assert rules(robot) == before


def test_lint_reads_the_filters_of_a_yaml_definition(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.define("http://h/", filters={"file": "filter.conf", "enumeration": "e", "generation": "g"})
    missing = workspace.command("lint", "ultracrawl.yaml")
    assert (missing.code, "sources.site.filters - " in missing.out) == (2, True)
    (tmp_path / "filter.conf").write_text(
        "<Filter name=e>\n</Filter>\n<Filter name=g>\nData fn=generate-md6\n</Filter>\n"
    )
    wrong = workspace.command("lint", "ultracrawl.yaml")
    assert (wrong.code, "filter.conf:4 - fn - " in wrong.out) == (2, True)
    assert {"generate-md6", "generate-md5"} <= set(named(wrong.out))
    (tmp_path / "filter.conf").write_text("<Filter name=e>\n</Filter>\n<Filter name=g>\n</Filter>\n")
    assert workspace.command("lint", "ultracrawl.yaml").code == 0


def test_the_depth_of_a_starting_point_is_set_and_its_switch_stays(robot: RobotFiles) -> None:
    robot.write("filterrules.conf", '<Site name="a">\n   Start url=http://a/ enable=off\n</Site>\n')
    assert robot.command("robot", "edit-site", "a", "--start", "http://a/", "--depth", "3").code == 0
    assert rules(robot) == '<Site name="a">\n   Start url=http://a/ depth=3 enable=off\n</Site>\n'


def test_hosts_come_and_go(robot: RobotFiles) -> None:
    before = '<Site name="a">\n   Host name=a\n</Site>\n'
    robot.write("filterrules.conf", before)
    hosts = ("--host", "b:8080", "--host", "[::1]:81", "--host", "c")
    assert robot.command("robot", "edit-site", "a", *hosts).code == 0
    (site,) = robot.command("robot", "list-sites", "--json").lines
    assert [(one["name"], one["port"]) for one in site["hosts"]] == [
        ("a", None),
        ("b", 8080),
        ("::1", 81),
        ("c", None),
    ]
    gone = ("--no-host", "b:8080", "--no-host", "[::1]", "--no-host", "c")
    assert robot.command("robot", "edit-site", "a", *gone).code == 0
    assert rules(robot) == before
    for words, problem in {
        ("--no-host", "d"): "has no Host d",
        ("--host", "http://a/"): "is not a host name",
    }.items():
        wrong = robot.command("robot", "edit-site", "a", *words)
        assert (wrong.code, problem in wrong.err) == (2, True), wrong.err


def test_the_configuration_is_that_of_a_robot(robot: RobotFiles) -> None:
    shown = robot.workspace.command("robot", "report", "configuration", "-c", "config/filter.conf", "--json")
    assert shown.lines[0]["value"] == str(robot.config / "robot.conf")
    (robot.workspace.directory / "ultracrawl.yaml").write_text("sources: {a: {start_urls: [http://a/]}}\n")
    wrong = robot.workspace.command("robot", "report", "configuration", "-c", "ultracrawl.yaml")
    assert (wrong.code, "ultracrawl.yaml" in wrong.err) == (2, True)


def test_what_is_no_url_is_not_simulated(robot: RobotFiles) -> None:
    robot.site("http://127.0.0.1/")
    wrong = robot.command("simulate", "foo")
    assert (wrong.code, named(wrong.err), wrong.out) == (2, ["foo"], "")


def test_an_older_file_keeps_its_bytes_when_it_is_edited(robot: RobotFiles) -> None:
    file = robot.config / "filterrules.conf"
    before = '# für alle\r\n\x0c\r\n<Site name="a" enable=on>\r\n</Site>\r\n'.encode("iso-8859-1")
    file.write_bytes(before)
    assert robot.command("robot", "disable-sites", "a").code == 0
    assert file.read_bytes() == before.replace(b"enable=on", b"enable=off")
    assert robot.command("robot", "create-rule", "r", "--title", "Größe", "--string", "x").code == 0
    assert b'title="Gr\xf6\xdfe"' in file.read_bytes()
    assert b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    before = file.read_bytes()
    ended = robot.command("robot", "create-rule", "s", "--title", "日本", "--string", "x")
    assert (ended.code, "日" in named(ended.err)) == (2, True)
    assert file.read_bytes() == before


def test_a_schedule_without_an_end_of_line_goes_on_in_a_new_one(robot: RobotFiles) -> None:
    robot.write("schedule.conf", '# nights\nStop time="6:00 am" days=Sun')
    assert robot.command("robot", "schedule", "add", "--start", "9:00 pm", "--days", "Sat").code == 0
    assert robot.text("schedule.conf") == (
        '# nights\nStop time="6:00 am" days=Sun\nStart time="9:00 pm" days=Sat\n'
    )
