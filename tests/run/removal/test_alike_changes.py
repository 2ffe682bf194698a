"""Known documents that become one page: a wall, a log-in page, maintenance. The former versions stay in the index."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from support.crawled import CrawledProjects
from support.named import named
from support.project import Workspace, kill_group
from support.sentences import sentence
from support.site import Site
from support.until import until

NAMES = [f"/p{number}" for number in range(30)]
WORDS = [
    "heron",
    "marsh",
    "reed",
    "otter",
    "willow",
    "bank",
    "current",
    "pebble",
    "heath",
    "moor",
    "lapwing",
    "curlew",
    "ditch",
    "meadow",
    "hedge",
    "barn",
    "owl",
    "vole",
    "stoat",
    "thistle",
    "clover",
    "bramble",
    "hawthorn",
    "elder",
    "rowan",
    "birch",
    "alder",
    "fen",
    "mere",
    "tarn",
]

Wall = Callable[[str], tuple[str, str]]
"""Title and text that a path gets."""


def story(name: str) -> str:
    chosen = random.Random(name)
    return f"needle {name} " + " ".join(chosen.choices(WORDS, k=25)) + f" tale{name[1:]}"


def serve_stories(site: Site) -> None:
    site.page("/", title="Home", text="needle home", links=NAMES)
    for name in NAMES:
        site.page(name, title=f"Story of {name[1:]}", text=story(name))


def serve_wall(site: Site, wall: Wall, names: list[str] = NAMES) -> None:
    for name in names:
        title, text = wall(name)
        site.page(name, title=title, text=text)


def ray(name: str) -> str:
    return f"{random.Random('ray' + name).getrandbits(64):016x}"


WALLS: dict[str, Wall] = {
    "Ray ID": lambda name: (
        "Just a moment…",
        f"Verifying you are human. This may take a few seconds. Ray ID: {ray(name)} Performance and security",
    ),
    "log-in with the path": lambda name: (
        "Intranet",
        f"Your session has ended. Sign in to continue to {name}",
    ),
    "URL in the title": lambda name: (f"Sign in – {name}", "Please sign in with your account"),
    "a time": lambda name: (
        "Maintenance",
        f"We are back soon. 2026-11-23 14:03:{name[2:]:0>2} UTC, request {ray(name)}",
    ),
    "German": lambda name: ("Anmeldung", f"Bitte melden Sie sich an, um fortzufahren nach {name}"),
    "five words": lambda name: ("", f"Please log in first, {name}"),
    "consent": lambda name: (
        "Before you continue",
        "We and our partners store and use cookies to measure visits. Accept all or reject all. "
        f"You return to http://example.com{name} afterwards",
    ),
    "all equal": lambda name: ("Maintenance", "The site is down for maintenance, please come back later"),
    "title of the page": lambda name: (
        f"Story of {name[1:]}",
        f"This page is for members, please log in {name}",
    ),
}


@pytest.fixture
def stories(site: Site, url: str, workspace: Workspace, crawled_projects: CrawledProjects) -> Site:
    """A home page and thirty stories, all indexed by a first crawl."""
    serve_stories(site)
    workspace.define(f"{url}/")
    crawled_projects.crawl(workspace, site)
    return site


@pytest.mark.parametrize("wall", WALLS.values(), ids=WALLS)
def test_no_page_that_stands_for_all_replaces_a_document(
    stories: Site, workspace: Workspace, wall: Wall
) -> None:
    serve_wall(stories, wall)
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert (run["outcomes"], run["indexed"]) == ({"HELD_BACK": 30, "NOT_MODIFIED": 1}, 0)
        assert len(run["problems"]) == 1
        assert len(workspace.search("needle")) == 31
    serve_stories(stories)
    run = workspace.crawl().run
    assert (run["problems"], run["indexed"]) == ([], 0)
    assert run["outcomes"] == {"NOT_MODIFIED": 31}, "the validators of the documents were kept"
    (row,) = workspace.command("status", "--json").json["sources"]
    assert row["held_back"] == 0


def test_the_problem_says_how_many_why_and_what_to_do(stories: Site, workspace: Workspace) -> None:
    serve_wall(stories, WALLS["Ray ID"])
    (problem,) = workspace.crawl(code=1).run["problems"]
    assert named(problem) == [
        "30",
        "30",
        "31",
        "Just a moment…",
        "5",
        "ultracrawl approve-changes site",
        "modification: {percent: 100}",
    ]


def restyled(name: str) -> tuple[str, str]:
    navigation = (
        "Welcome to our new home. Products Services About Contact Imprint Careers Press Support Blog Shop"
    )
    return (
        f"Story of {name[1:]} – Nature Tales",
        f"{navigation} {story(name)} Follow us on all channels, sign up now",
    )


HARMLESS: dict[str, Wall] = {
    "a redesign": restyled,
    "a banner": lambda name: (
        f"Story of {name[1:]}",
        f"{story(name)} Our office is closed between the years",
    ),
    "new stories": lambda name: (f"Story of {name[1:]}", story(f"{name}-again")),
    "one title for all": lambda name: ("Nature Tales", f"Nature Tales. {story(name)}"),
}


@pytest.mark.parametrize("change", HARMLESS.values(), ids=HARMLESS)
def test_documents_that_keep_a_text_of_their_own_are_updated(
    stories: Site, workspace: Workspace, change: Wall
) -> None:
    serve_wall(stories, change)
    run = workspace.crawl().run
    assert (run["outcomes"], run["indexed"], run["problems"]) == ({"MODIFIED": 30, "NOT_MODIFIED": 1}, 30, [])
    assert workspace.crawl().run["outcomes"] == {"NOT_MODIFIED": 31}


# ---- approval


def test_what_is_approved_replaces_the_former_versions(stories: Site, workspace: Workspace) -> None:
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    assert "30" in named(workspace.command("status").out)
    listed = workspace.command("approve-changes", "site", "--list", "--json").json
    assert (listed["done"], len(listed["documents"])) == ("held", 30)
    assert workspace.urls()["/p0"]["reason"] == sentence("removal.alike_many_others")
    done = workspace.command("approve-changes", "site")
    assert (done.code, named(done.out.splitlines()[0])) == (0, ["30"])
    assert len(workspace.search("moment")) == 30
    assert workspace.search("needle") == ["/"]
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"NOT_MODIFIED": 31}, [])
    serve_wall(stories, lambda name: WALLS["Ray ID"](f"{name}x"))
    run = workspace.crawl().run
    assert (run["outcomes"], run["problems"]) == ({"MODIFIED": 30, "NOT_MODIFIED": 1}, []), "alike before"
    serve_stories(stories)
    assert workspace.crawl().run["outcomes"] == {"MODIFIED": 30, "NOT_MODIFIED": 1}
    assert len(workspace.search("needle")) == 31


def test_what_is_discarded_is_held_back_when_it_is_found_again(stories: Site, workspace: Workspace) -> None:
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    assert named(workspace.command("approve-changes", "site", "--discard").out)[0] == "30"
    assert named(workspace.command("approve-changes", "site").out)[0] == "0"
    assert workspace.urls()["/p0"]["outcome"] == "UNMODIFIED"
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == 30
    both = workspace.command("approve-changes", "site", "--list", "--discard")
    assert both.code == 2


# ---- how many


GUARDS: dict[str, tuple[dict[str, float], int, int]] = {
    "by default, six": ({}, 6, 6),
    "by default, five": ({}, 5, 0),
    "more percent": ({"percent": 20}, 6, 0),
    "fewer always": ({"always": 3}, 4, 4),
    "more always": ({"always": 30}, 30, 0),
    "off": ({"percent": 100}, 30, 0),
}


@pytest.mark.parametrize(("changes", "walls", "held"), GUARDS.values(), ids=GUARDS)
def test_the_guard_is_set_by_the_definition(
    stories: Site, url: str, workspace: Workspace, changes: dict[str, float], walls: int, held: int
) -> None:
    workspace.define(f"{url}/", modification=changes)
    serve_wall(stories, WALLS["Ray ID"], NAMES[:walls])
    run = workspace.crawl(code=None).run
    assert (run["outcomes"].get("HELD_BACK", 0), run["outcomes"].get("MODIFIED", 0)) == (held, walls - held)
    assert len(workspace.search("moment")) == walls - held


def test_walls_of_several_kinds_count_together(stories: Site, workspace: Workspace) -> None:
    serve_wall(stories, WALLS["Ray ID"], NAMES[:4])
    serve_wall(stories, WALLS["German"], NAMES[4:8])
    assert workspace.crawl(code=1).run["outcomes"]["HELD_BACK"] == 8


def test_duplicates_of_a_known_page_count_with_the_others(
    stories: Site, url: str, workspace: Workspace
) -> None:
    """A log-in page that is indexed, and some pages with exactly its text: these would leave as duplicates."""
    stories.page("/", title="Home", text="needle home", links=[*NAMES, "/a"])
    stories.page("/a", title="Log in", text="Please log in with your account, needle")
    workspace.crawl()
    serve_wall(stories, lambda _: ("Log in", "Please log in with your account, needle"), NAMES[:4])
    serve_wall(
        stories, lambda name: ("Log in", f"Please log in with your account to read {name}"), NAMES[4:8]
    )
    workspace.define(f"{url}/", deletion={"always": 5})
    run = workspace.crawl(code=1).run
    assert (run["outcomes"].get("HELD_BACK"), run["outcomes"].get("DUPLICATE"), run["deleted"]) == (
        8,
        None,
        0,
    )
    assert len(workspace.search("needle")) == 32


def test_a_page_that_comes_back_is_no_longer_held(stories: Site, workspace: Workspace) -> None:
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    for name in NAMES[:28]:
        stories.page(name, title=f"Story of {name[1:]}", text=story(name))
    for _ in range(2):
        run = workspace.crawl(code=1).run
        assert run["outcomes"] == {"NOT_MODIFIED": 29, "HELD_BACK": 2}, (
            "a wall is a wall once it was held back"
        )
    assert len(workspace.search("needle")) == 31
    for name in NAMES[28:]:
        stories.remove(name)
    run = workspace.crawl().run
    assert (run["outcomes"]["GONE"], run["problems"]) == (2, [])
    assert workspace.command("approve-changes", "site").out.startswith("site: 0 documents")


# ---- other runs


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
def test_five_runs_leave_the_index_as_it_was(site: Site, url: str, workspace: Workspace, engine: str) -> None:
    serve_stories(site)
    workspace.define(f"{url}/")
    definition = yaml.safe_load((workspace.directory / "ultracrawl.yaml").read_text())
    workspace.write({"index": {"engine": engine}, **definition})
    workspace.crawl()
    for number in range(5):
        serve_wall(site, lambda name, number=number: WALLS["Ray ID"](f"{name}-{number}"))  # type: ignore[misc]
        run = workspace.crawl(code=1).run
        assert (run["outcomes"], run["indexed"]) == ({"HELD_BACK": 30, "NOT_MODIFIED": 1}, 0)
    assert (len(workspace.search("needle")), workspace.search("moment")) == (31, [])
    (row,) = workspace.command("status", "--json").json["sources"]
    assert (row["held_back"], row["indexed"]) == (30, 31)
    workspace.command("approve-changes", "site")
    assert len(workspace.search("moment")) == 30


def test_a_wall_in_the_middle_of_a_run_replaces_nothing(stories: Site, workspace: Workspace) -> None:
    """Some pages have changed and are in the index before the first wall comes."""
    for name in NAMES[:8]:
        stories.page(name, title=f"Story of {name[1:]}", text=story(name) + " and more")
    serve_wall(stories, WALLS["log-in with the path"], NAMES[8:])
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NOT_MODIFIED": 1, "MODIFIED": 8, "HELD_BACK": 22}
    assert len(workspace.search("needle")) == 31
    assert len(workspace.search("more")) == 8


@pytest.mark.parametrize("mode", ["append", "scratch", "soft", "adaptive"])
def test_held_back_documents_are_asked_for_again_in_every_refresh_mode(
    stories: Site, url: str, workspace: Workspace, mode: str
) -> None:
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    serve_stories(stories)
    stories.change("/", links=[])
    refresh = {"mode": mode, "interval": "24 h", "adaptive": {"coverage_min": 1}}
    workspace.define(f"{url}/", refresh=refresh, sitemaps={"use": False})
    if mode != "adaptive":
        assert workspace.command("plan", "--json").json["sources"][0]["scheduled"] == 31
    run = workspace.crawl().run
    assert (run["problems"], run["outcomes"]["NOT_MODIFIED"]) == ([], 30)
    assert workspace.command("status", "--json").json["sources"][0]["held_back"] == 0


def test_a_sitemap_that_says_unchanged_does_not_keep_a_change_held(
    stories: Site, url: str, workspace: Workspace
) -> None:
    stories.sitemap("/sitemap.xml", ["/", *NAMES])
    workspace.crawl()
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl("--force", code=1)
    serve_stories(stories)
    assert workspace.crawl().run["problems"] == []
    assert workspace.command("status", "--json").json["sources"][0]["held_back"] == 0


def test_stored_responses_are_those_of_the_documents_in_the_index(
    stories: Site, url: str, workspace: Workspace
) -> None:
    workspace.define(f"{url}/", storage={"keep": True})
    workspace.crawl("--force")
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    assert workspace.command("reindex", "site").code == 0
    assert (len(workspace.search("needle")), workspace.search("moment")) == (31, [])
    serve_stories(stories)
    workspace.crawl()
    serve_wall(stories, HARMLESS["new stories"])
    workspace.crawl()
    assert workspace.command("reindex", "site").code == 0
    assert len(workspace.search("needle")) == 31
    assert len(workspace.search("p0-again")) == 1, "a version that had to wait is stored, too"


def test_what_is_approved_is_stored_by_the_next_crawl(stories: Site, url: str, workspace: Workspace) -> None:
    workspace.define(f"{url}/", storage={"keep": True})
    workspace.crawl("--force")
    serve_wall(stories, WALLS["Ray ID"])
    workspace.crawl(code=1)
    workspace.command("approve-changes", "site")
    workspace.crawl()
    assert workspace.command("reindex", "site").code == 0
    assert len(workspace.search("moment")) == 30


@pytest.mark.processes
@pytest.mark.parametrize("walls", [30, 5], ids=["held", "let in"])
def test_a_killed_run_decides_when_it_is_resumed(
    stories: Site, url: str, workspace: Workspace, walls: int
) -> None:
    serve_wall(stories, WALLS["Ray ID"], NAMES[:walls])
    last = stories.hold(NAMES[-1])
    workspace.define(f"{url}/", politeness={"delay": 0, "concurrency": 1})
    before = len(stories.requests)
    process = workspace.start("crawl", "--json")
    state = workspace.directory / "var" / "state"
    until(lambda: len(stories.requests) - before >= 30 and _number_of_deferred(state) >= 4, process)
    kill_group(process)
    last.set()
    run = workspace.crawl(code=1 if walls == 30 else 0).run
    assert run["resumed"]
    held = 30 if walls == 30 else 0
    assert list(workspace.outcomes().values()).count("HELD_BACK") == held
    assert len(workspace.search("moment")) == walls - held
    assert len(workspace.search("needle")) == 31 - walls + held


def _number_of_deferred(state: Path) -> int:
    (file,) = state.glob("*.sqlite")
    with closing(sqlite3.connect(file)) as db:
        ((deferred,),) = db.execute("SELECT count(*) FROM deferred")
        ((held,),) = db.execute("SELECT count(*) FROM held")
    return int(deferred + held)


def test_a_content_that_moves_is_fetched_at_its_new_place_in_the_same_run(
    stories: Site, workspace: Workspace
) -> None:
    """The former holder has a new text, which had to wait; the copy of its former text takes its place."""
    stories.page("/", title="Home", text="needle home", links=[*NAMES, "/archive/p0"])
    stories.page("/archive/p0", title="Story of p0", text=story("/p0"))
    stories.page("/p0", title="Story of the day", text="quite another tale of the sea and its gulls")
    run = workspace.crawl().run
    assert run["problems"] == []
    assert workspace.search("gulls") == ["/p0"]
    assert "/archive/p0" in workspace.indexed()


@pytest.mark.parametrize("status", [301, 302])
def test_pages_that_redirect_each_to_its_own_log_in_page_lose_nothing(
    stories: Site, workspace: Workspace, status: int
) -> None:
    stories.page("/login", title="Log in", text="please log in")
    for name in NAMES:
        stories.redirect(name, f"/login?next={name}", status=status)
        stories.page(f"/login?next={name}", title="Log in", text=f"please log in to read {name}")
    run = workspace.crawl(code=1).run
    assert run["outcomes"] == {"NOT_MODIFIED": 1, "FAILED": 30}
    assert (run["deleted"], len(workspace.search("needle"))) == (0, 31)


@pytest.mark.parametrize("status", [301, 302])
def test_pages_that_redirect_each_to_its_own_consent_page_lose_nothing(
    stories: Site, workspace: Workspace, status: int
) -> None:
    for name in NAMES:
        stories.redirect(name, f"/consent?for={name}", status=status)
        stories.page(f"/consent?for={name}", title="Consent", text=f"please agree before you read {name}")
    run = workspace.crawl(code=1).run
    assert any("of 31 would be deleted" in problem for problem in run["problems"])
    assert (run["deleted"], len(workspace.search("needle"))) == (0, 31)
