"""A hosted command cannot be told from one that was started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.family import all_end, descendants
from support.hosted import HOSTED, HostedCommand
from support.later import later
from support.project import ROOT, Workspace, kill_group
from support.site import Site
from support.until import until

pytestmark = pytest.mark.servers  # much time

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}


def started(directory: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ultracrawl", *words],
        cwd=directory,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def hosted(directory: Path, *words: str) -> subprocess.Popen[str]:
    return HostedCommand(words, directory, ENVIRONMENT)


@pytest.mark.parametrize(
    "words",
    [
        ("--version",),
        ("--help",),
        ("crawl", "--help"),
        ("lint",),
        ("crawl",),
        ("no-such-verb",),
        ("urls", "x", "--json"),
    ],
    ids=" ".join,
)
def test_output_and_exit_code(tmp_path: Path, words: tuple[str, ...]) -> None:
    one, other = (begin(tmp_path, *words) for begin in (started, hosted))
    assert one.communicate(timeout=60) == other.communicate(timeout=60)
    assert one.returncode == other.returncode


CLOCK = """
import json, time
from ultracrawl.spiders import SourceSpider
from ultracrawl.stores.sqlite.answers.spider_state import SpiderState

def reported():
    kept = SpiderState.__init__.__defaults__[0]
    return time.time(), kept(), time.localtime(time.time()).tm_hour, __import__("os").environ.get("OWN")

class Own(SourceSpider):
    print(json.dumps(reported()))
"""


def test_variables_the_time_zone_and_a_clock_that_is_ahead(tmp_path: Path) -> None:
    """Whatever has the clock from long ago, as a default of a function, has the one that is ahead."""
    (tmp_path / "own.py").write_text(CLOCK)
    Workspace(tmp_path).define("http://127.0.0.1:9/", **{"class": "own.Own"})
    for environment in ({}, {"OWN": "word", "TZ": "XXX-07:00:00", **later(tmp_path, 7200)}):
        process = Workspace(tmp_path).start("crawl", **environment)
        assert isinstance(process, HostedCommand) is HOSTED
        out, err = process.communicate(timeout=60)
        assert out, err
        moment, kept, hour, word = json.loads(out.splitlines()[0])
        ahead = 7200 if environment else 0
        assert ahead <= moment - time.time() + 60 < ahead + 60
        assert abs(kept - moment) < 1
        assert word == environment.get("OWN")
        if environment:
            assert hour == time.gmtime(moment + 7 * 3600).tm_hour


def test_variables_of_python_itself_have_a_command_really_started(tmp_path: Path) -> None:
    process = Workspace(tmp_path).start("--version", PYTHONUNBUFFERED="1")
    assert not isinstance(process, HostedCommand)
    assert process.communicate(timeout=60)[0]


def crawl(directory: Path, url: str) -> HostedCommand:
    (directory / "own.py").write_text(
        "from ultracrawl.spiders import SourceSpider\nclass Own(SourceSpider): pass\n"
    )
    source = {"start_urls": [url], "class": "own.Own", "boundary": {"networks": ["127.0.0.0/8"]}}
    (directory / "ultracrawl.yaml").write_text(json.dumps({"sources": {"site": source}}))
    return HostedCommand(("crawl", "--json"), directory, ENVIRONMENT)


def test_it_finds_classes_in_its_directory_and_leads_a_session(tmp_path: Path) -> None:
    site = Site()
    site.page("/", text="words")
    with site.serve() as url:
        process = crawl(tmp_path, url)
        assert os.getsid(process.pid) == process.pid
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert json.loads(out)["runs"][0]["outcomes"] == {"NEW": 1}


@pytest.mark.parametrize("how", ["interrupt", "kill"])
def test_signals(tmp_path: Path, how: str) -> None:
    site = Site()
    site.page("/", text="words")
    answer = site.hold("/")
    with site.serve() as url:
        process = crawl(tmp_path, url)
        while "/" not in site.paths():
            assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.1)
        if how == "kill":
            kill_group(process)
            assert process.returncode == -signal.SIGKILL
        else:
            process.send_signal(signal.SIGINT)
            answer.set()
            out, _ = process.communicate(timeout=60)
            assert json.loads(out)["runs"][0]["interrupted"] is True


@pytest.mark.parametrize("broken", [False, True], ids=["index", "no index"])
def test_its_index_process_equals_one_that_was_started(tmp_path: Path, broken: bool) -> None:
    site = Site()
    site.page("/", text="words")
    reported = []
    with site.serve() as url:
        for name, begin in (("started", started), ("hosted", hosted)):
            directory = tmp_path / name
            directory.mkdir()
            source = {"start_urls": [url], "boundary": {"networks": ["127.0.0.0/8"]}}
            (directory / "ultracrawl.yaml").write_text(json.dumps({"sources": {"site": source}}))
            if broken:
                (directory / "var").mkdir()
                (directory / "var/index").write_text("no folder")
            process = begin(directory, "crawl", "--json")
            out, err = process.communicate(timeout=60)
            (run,) = json.loads(out)["runs"]
            problems = [problem.replace(str(directory), "") for problem in run["problems"]]
            words = [line.partition("[")[2].replace(str(directory), "") for line in err.splitlines()]
            reported.append((process.returncode, words, run["indexed"], problems))
    assert reported[0] == reported[1]
    assert reported[0][2] == (not broken)


BEGIN = """
import sys, time
from pathlib import Path
from support.project import Workspace
process = Workspace(Path(sys.argv[1])).start("crawl")
print(process.pid, flush=True)
time.sleep(600)
"""


def test_nothing_outlives_tests_that_are_killed(tmp_path: Path) -> None:
    site = Site()
    site.page("/", title="Home")
    site.hold("/")
    with site.serve() as url:
        Workspace(tmp_path).define(f"{url}/")
        program = [sys.executable, "-c", BEGIN, str(tmp_path)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), str(ROOT)])}
        with subprocess.Popen(program, env=env, stdout=subprocess.PIPE, text=True) as tests:
            assert tests.stdout is not None
            assert tests.stdout.readline()
            until(lambda: site.count("/") == 1)
            family = descendants(tests.pid)
            tests.kill()
        assert len(family) >= 3
        all_end(family)
