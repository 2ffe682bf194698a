"""A package that brings a plug-in of each kind is installed as any other, and each has its effect in a crawl."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.project import LOOPBACK, ROOT, Workspace
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site

STUB = Path(__file__).parent / "stub_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the search path for modules with the package on it."""
    sources, target = tmp_path_factory.mktemp("stub") / "package", tmp_path_factory.mktemp("packages")
    shutil.copytree(STUB, sources)  # what is built beside the sources must not be seen by other tests
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(sources)]
    subprocess.run(command, check=True)
    return f"{ROOT}:{target}"


@pytest.fixture
def site() -> Site:
    return Site()


def test_each_plug_in_has_its_effect(site: Site, url: str, tmp_path: Path, installed: str) -> None:
    site.page("/", links=["/Upper"], text="start")
    site.page("/upper", text="lower")
    site.page("/listed", text="listed", links=["/heron.card"])
    site.file("/heron.card", b"Heron\nstands in water\nsee /seen\n", content_type="application/x-card")
    site.page("/seen", text="behind a card")
    workspace, titles = Workspace(tmp_path), tmp_path / "titles.txt"
    workspace.write(
        {
            "index": {"engine": "shelf", "path": "index"},
            "state": {"engine": "shelf", "path": "state"},
            "destinations": {"titles": {"type": "list", "options": {"file": str(titles)}}},
            "sources": {
                "site": {
                    "type": "catalogue",
                    "options": {"pages": [f"{url}/listed"]},
                    "start_urls": [url],
                    "types": ["text/html", "application/x-card"],
                    "urls": {"rewriter": "lower-case"},
                    "feeding": {
                        "destinations": {"index": {"primary": True}, "file": {"destination": "titles"}}
                    },
                    "boundary": LOOPBACK,
                    "politeness": {"delay": 0},
                }
            },
        }
    )
    run = workspace.crawl(PYTHONPATH=installed).run
    assert (run["outcomes"], run["problems"]) == ({"NEW": 5}, [])
    assert site.page_paths() == {"/", "/listed", "/upper", "/heron.card", "/seen"}, (
        "none is asked for as /Upper"
    )
    assert (tmp_path / "state" / "site.shelf").exists()
    assert list((tmp_path / "index" / "shelf").glob("*.seg"))
    assert "Heron" in titles.read_text().splitlines()
    (hit,) = workspace.command("search", "--json", "--as-typed", "water", PYTHONPATH=installed).json["hits"]
    assert (hit["title"], hit["url"]) == ("Heron", f"{url}/heron.card")
    gone = workspace.command("search", "water")
    assert gone.code == 2
    for number, problem in enumerate(
        (
            "index engine `shelf`",
            "state store `shelf`",
            "type of destination `list`",
            "type of source `catalogue`",
            "URL rewriter `lower-case`",
        )
    ):
        line = gone.err.splitlines()[number]
        assert f"there is no {problem}" in line
        assert sentence("plugins.install_the_package") in line


def test_a_dialect_a_stage_a_log_and_a_verb_of_one_package_work_together(
    site: Site, url: str, tmp_path: Path, installed: str
) -> None:
    site.page("/", links=["/old/a", "/new"], text="start")
    site.page("/old/a", text="kept by nobody")
    site.page("/new", text="kept")
    workspace = Workspace(tmp_path)

    def define(**options: object) -> None:
        source = {"start_urls": [f"{url}/"], "boundary": {**LOOPBACK, **options}}
        workspace.write({"sources": {"site": {**source, "features": {"visit-log": {"file": "visits.csv"}}}}})

    define()
    workspace.crawl(PYTHONPATH=installed)
    define(stages={"closed-folders": {"folders": ["old"]}})
    explained = workspace.command("explain", f"{url}/old/a", "--json", PYTHONPATH=installed).json
    (step,) = [one for one in explained["decisions"] if one["stage"] == "closed folders"]
    assert (step["accept"], step["rule"]) == (False, "closed folder old")
    assert workspace.crawl(PYTHONPATH=installed).run["outcomes"] == {"UNMODIFIED": 2}
    found = workspace.command("search", "--json", "--as-typed", "kept", PYTHONPATH=installed).json["hits"]
    assert [hit["url"] for hit in found] == [f"{url}/new"]
    site.reset()
    assert workspace.crawl(PYTHONPATH=installed).run["outcomes"] == {"NOT_MODIFIED": 2}
    assert site.page_paths() == {"/", "/new"}
    rows = [line.rpartition(",") for line in (tmp_path / "visits.csv").read_text().splitlines()]
    assert [outcome for path, _, outcome in rows if path == f"{url}/new"] == [
        "NEW",
        "UNMODIFIED",
        "NOT_MODIFIED",
    ]
    assert "  count " in workspace.command("--help", PYTHONPATH=installed).out
    (tmp_path / "mine.txt").write_text("# bookmarks\nhttps://a.example/\n")
    counted = workspace.command("count", "mine.txt", PYTHONPATH=installed)
    assert (counted.code, counted.out) == (0, "1\n")
    gone = workspace.command("crawl")
    assert (gone.code, len(gone.err.splitlines())) == (2, 2), "the stage and the feature are not installed"
    assert workspace.command("count", "mine.txt").code == 2


def test_a_function_of_a_package_describes_what_a_robot_finds(
    site: Site, url: str, tmp_path: Path, installed: str
) -> None:
    site.page("/", title="Home", text="needle")
    robot = RobotFiles(Workspace(tmp_path))
    robot.write(
        "filter.conf",
        "<Filter name=e>\nEnumerate fn=enumerate-urls\n</Filter>\n"
        "<Filter name=g>\nGenerate fn=extract-html-text\nGenerate fn=shelve shelf=birds\n</Filter>\n",
    )
    robot.properties(enumeration_filter="e", generation_filter="g")
    robot.site(f"{url}/")
    words = ["-c", "config/robot.conf"]
    ended = robot.workspace.command("crawl", "--json", *words, PYTHONPATH=installed)
    assert (ended.code, ended.run["outcomes"]) == (0, {"NEW": 1}), ended.err
    (hit,) = robot.workspace.command(
        "search", "--json", "--as-typed", "needle", *words, PYTHONPATH=installed
    ).json["hits"]
    assert hit["attributes"]["Keywords"] == ["birds"]
    lacking = robot.command("crawl")
    assert (lacking.code, sentence("plugins.no_such_function") in lacking.err) == (2, True)
