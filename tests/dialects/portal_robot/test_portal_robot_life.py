"""A robot as a process: its states, what comes after a run, its logs, clearing its database."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from support.project import Ended, Workspace, kill_group
from support.robot import RobotFiles
from support.sentences import sentence
from support.site import Site
from support.until import PATIENCE, until

from ultracrawl.dialects.portal_robot.service import control as robot_control
from ultracrawl.dialects.portal_robot.service.control import RobotState
from ultracrawl.errors import WorkError
from ultracrawl.sources import Project
from ultracrawl.stores.control_channel import Command, CrawlStatus, Phase, crawl_status
from ultracrawl.stores.file_notes import FileNotes, notes_beside

pytestmark = pytest.mark.servers  # much time

HOOK = """#!/bin/sh
echo "$ULTRACRAWL_SOURCE $ULTRACRAWL_REGISTERED $*" >> hook.txt
exit 3
"""


class Life:
    """A robot with a site of three pages, started in the foreground of a process of its own."""

    def __init__(self, files: RobotFiles, site: Site, url: str) -> None:
        self.files, self.site = files, site
        self.process: Popen[str] | None = None
        site.page("/", title="Home", text="needle", links=["/a", "/b"])
        site.page("/a", title="A", text="needle in a")
        site.page("/b", title="B", text="needle in b")
        files.site(f"{url}/")

    def set(self, **properties: object) -> None:
        self.files.properties(**properties)

    def start(self) -> None:
        self.process = self.files.workspace.start("robot", "start", "-c", "config/robot.conf")

    def tell(self, *words: str) -> Ended:
        return self.files.command("robot", *words)

    def status(self) -> dict[str, Any]:
        ended = self.tell("status", "--json")
        assert ended.code == 0, ended.err
        found = ended.json
        assert isinstance(found, dict)
        return found

    def phase(self) -> Phase | None:
        files = list(self.files.workspace.directory.glob("**/robot.sqlite"))
        if not files:
            return None  # it runs, and has not got as far as its first crawl
        found = crawl_status(notes_beside(*files))
        return found.phase if found else None

    def becomes(self, state: str) -> None:
        until(lambda: self.status()["state"] == state)

    def ended(self) -> Ended:
        assert self.process is not None
        out, err = self.process.communicate(timeout=PATIENCE)
        return Ended(self.process.returncode, out, err)

    def log(self, name: str = "robot") -> str:
        path = self.files.workspace.directory / f"robot/var/log/robot.{name}.log"
        return path.read_text() if path.exists() else ""

    def hook(self, script: str = HOOK) -> str:
        path = self.files.workspace.directory / "hook.sh"
        path.write_text(script)
        path.chmod(0o755)
        return str(path)

    def hooked(self) -> list[str]:
        path = self.files.workspace.directory / "hook.txt"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def life(workspace: Workspace, site: Site, url: str) -> Iterator[Life]:
    one = Life(RobotFiles(workspace), site, url)
    yield one
    if one.process is not None and one.process.stdout and not one.process.stdout.closed:
        kill_group(one.process)


def test_portal_robot_133_134_idle_keeps_the_process_which_is_paused_resumed_restarted_stopped(
    life: Life,
) -> None:
    life.set(onCompletion="idle")
    assert life.status()["state"] == "Off"
    refused = life.tell("stop")
    assert (refused.code, sentence("robot.is_off") in refused.err) == (2, True)
    life.start()
    life.becomes("Idle")
    assert life.tell("resume").code == 2, "Idle offers stop and pause"
    assert life.tell("start").code == 2
    assert life.tell("pause").out == "robot: Paused\n"
    assert life.tell("resume").out == "robot: Idle\n"
    assert life.site.count("/a") == 1
    assert life.tell("restart").code == 0
    life.becomes("Idle")
    assert life.site.count("/a") == 2
    assert life.tell("stop").out == "robot: Off\n"
    ended = life.ended()
    assert (ended.code, ended.out.splitlines()[0]) == (0, "Starting Points: 1 defined")
    assert [line[11:] for line in life.log().splitlines() if "Robot" in line or "Workload" in line] == [
        "Robot is idle....",
        "Restart Robot.",
        "Robot is idle....",
        "Workload complete.",
    ]
    assert re.match(r"\[\d\d:\d\d:\d\d\] ", life.log())


def test_portal_robot_135_139_quit_ends_after_the_hook_ran_once(life: Life) -> None:
    hook = life.hook()
    life.set(onCompletion="quit", cmd_hook=f"{hook} 'two words'")
    life.start()
    assert life.ended().code == 0
    assert life.hooked() == ["robot 3 two words"], "its exit status is ignored"
    reported = [line[11:] for line in life.log().splitlines() if "cmd" in line or "Workload" in line]
    assert reported == [
        f"Run cmd: {hook} 'two words'",
        f"Complete cmd: {hook} 'two words' (exit status 3)",
        "Workload complete.",
    ]
    assert life.status()["state"] == "Off"


def test_portal_robot_136_138_loop_runs_the_hook_each_time_that_something_was_registered(life: Life) -> None:
    life.set(onCompletion="loop", cmd_hook=life.hook())
    life.start()
    until(lambda: life.site.count("/a") >= 2, life.process)
    life.site.page("/a", title="A", text="needle in another a")
    until(lambda: len(life.hooked()) >= 2, life.process)
    assert life.tell("stop").out == "robot: Off\n"
    assert life.hooked() == ["robot 3 ", "robot 1 "], "the run in between registered nothing"
    assert life.log().count("Restart Robot.") >= 2
    assert re.search(r"Filter log started - loop 2$", life.log("filter"), re.M)


def test_portal_robot_65_a_robot_that_loops_describes_one_of_equal_pages_in_every_loop(life: Life) -> None:
    copies = ["/dup1", "/dup2", "/dup3"]
    life.site.page("/", title="Home", text="start", links=copies)
    for path in copies:
        life.site.page(path, title="Twin", text="the same needle", etag=False, modified=False)
    life.set(onCompletion="loop")
    life.start()
    until(lambda: life.site.count("/dup3") >= 5, life.process)
    assert life.tell("stop").out == "robot: Off\n"
    (hit,) = life.files.found("needle")
    assert str(hit["url"]).endswith("/dup1")


def test_portal_robot_133_a_running_robot_is_paused_and_goes_on(life: Life) -> None:
    answer = life.site.hold("/")
    life.set(onCompletion="quit")
    life.start()
    life.becomes("Running")
    pausing = life.files.workspace.start("robot", "pause", "-c", "config/robot.conf")
    until(lambda: life.phase() is Phase.PAUSING, pausing)  # which waits for what is in flight
    answer.set()
    assert pausing.communicate(timeout=100)[0] == "robot: Paused\n"
    assert life.site.count("/a") == 0
    assert life.status()["state"] == "Paused"
    answer = life.site.hold("/a")
    assert life.tell("resume").out == "robot: Running\n"
    answer.set()
    assert life.ended().code == 0
    assert life.site.count("/a") == 1


def test_portal_robot_133_a_robot_may_end_before_it_is_seen_to_obey(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    project = Project(sources={}, base=tmp_path)
    monkeypatch.setattr(robot_control, "robot_process_status", lambda *_: CrawlStatus("robot", 1))
    monkeypatch.setattr(robot_control, "robot_notes", lambda *_: FileNotes(tmp_path, "robot."))
    monkeypatch.setattr(robot_control, "running_crawl_status", lambda *_: None)

    def reported(command: Command, *states: RobotState) -> RobotState:
        seen = iter(states)
        monkeypatch.setattr(robot_control, "robot_state", lambda *_: next(seen))
        return robot_control.order_robot(project, "robot", command, timeout=30.0, sleep=lambda _: None)

    assert reported(Command.RESUME, RobotState.PAUSED, RobotState.PAUSED, RobotState.OFF) is RobotState.OFF
    with pytest.raises(WorkError, match=sentence("robot.robot_ended_before_could_pause")):
        reported(Command.PAUSE, RobotState.RUNNING, RobotState.RUNNING, RobotState.OFF)


SETUP = """Setup fn=load-modules module="counting" funcs="begin"
<Filter name="enumeration-default">
   Setup fn=begin
"""
COUNTING = """
from ultracrawl.rules.filters import REQ_PROCEED


def begin(pb, csf, csr):
    with open("setup.txt", "a") as file:
        file.write("setup\\n")
    return REQ_PROCEED
"""


def test_portal_robot_7_a_running_robot_takes_changed_files_and_goes_on_with_its_queue(life: Life) -> None:
    life.site.page("/", title="Home", text="needle", links=["/a", "/b", "/skipped", "/app.zip"])
    for path in ("/skipped", "/other/"):
        life.site.page(path, title=path, text=f"needle of {path}")
    (life.files.workspace.directory / "counting.py").write_text(COUNTING)
    text = life.files.text("filter.conf")
    enumeration = re.search(r'<Filter name="?enumeration-default"?>\n', text)
    assert enumeration is not None
    life.files.write("filter.conf", text.replace(enumeration.group(), SETUP, 1))
    life.set(onCompletion="idle")
    answer = life.site.hold("/")
    life.start()
    until(lambda: life.site.count("/") == 1, life.process)
    rules = life.files.text("filterrules.conf")
    life.files.write("filterrules.conf", rules.replace("</Site>", "   Use rule=gone\n</Site>"))
    assert life.tell("reload").code == 2, "the files have a mistake"
    assert life.tell("restart").code == 2
    block = """<FilterRule name=skipped>
   Match source=path by=is string=/skipped
</FilterRule>
"""
    more = rules.replace("</Site>", "   Start url=http://{host}/other/\n   Use rule=skipped\n</Site>")
    (start,) = re.findall(r"Start url=http://([^/]+)/\n", rules)
    life.files.write("filterrules.conf", block + more.replace("{host}", start))
    reloading = life.files.workspace.start("robot", "reload", "-c", "config/robot.conf")
    until(lambda: life.phase() is Phase.STOPPING, reloading)
    answer.set()
    reloading.communicate(timeout=100)
    assert reloading.returncode == 0
    life.becomes("Idle")
    assert {path: life.site.count(path) for path in ("/", "/b", "/skipped", "/other/")} == {
        "/": 1,
        "/b": 1,
        "/skipped": 0,
        "/other/": 1,
    }
    assert (life.files.workspace.directory / "setup.txt").read_text().splitlines() == ["setup"]
    life.files.write("filterrules.conf", rules)
    assert life.tell("reload").code == 0
    assert (life.status()["state"], life.site.count("/")) == ("Idle", 1), "it takes them for its next run"
    assert life.tell("restart").code == 0
    life.becomes("Idle")
    assert (life.site.count("/"), life.site.count("/skipped")) == (2, 1)
    assert life.tell("stop").code == 0
    assert life.ended().code == 0


def during_the_last_page(life: Life, *words: str) -> None:
    """Give an order while one page of the run is on its way and nothing else is left."""
    answer = life.site.hold("/a")
    life.start()
    until(lambda: life.site.count("/a") == 1 and life.site.count("/b") == 1, life.process)
    order = life.files.workspace.start("robot", *words, "-c", "config/robot.conf")
    until(lambda: life.phase() is Phase.STOPPING, order)
    answer.set()
    order.communicate(timeout=100)
    assert order.returncode == 0


def test_portal_robot_138_a_reload_that_ends_a_run_begins_no_other(life: Life) -> None:
    life.set(onCompletion="idle", cmd_hook=life.hook())
    during_the_last_page(life, "reload")
    life.becomes("Idle")
    assert life.tell("stop").code == 0
    assert {path: life.site.count(path) for path in ("/", "/a", "/b")} == {"/": 1, "/a": 1, "/b": 1}
    assert life.hooked() == ["robot 3 "]


def test_portal_robot_138_a_stop_that_ends_a_run_runs_the_hook(life: Life) -> None:
    life.set(onCompletion="idle", cmd_hook=life.hook())
    during_the_last_page(life, "stop")
    assert life.ended().code == 0
    assert life.hooked() == ["robot 3 "]


def test_portal_robot_138_the_hook_counts_what_was_registered_before_a_stop(life: Life) -> None:
    life.site.page("/b", title="B", text="needle", head='<meta name="robots" content="noindex">')
    life.set(onCompletion="quit", cmd_hook=life.hook(), max_concurrent=1, site_max_concurrent=1)
    answer = life.site.hold("/a")
    life.start()
    until(lambda: life.site.count("/a") == 1, life.process)
    order = life.files.workspace.start("robot", "stop", "-c", "config/robot.conf")
    until(lambda: life.phase() is Phase.STOPPING, order)
    answer.set()
    order.communicate(timeout=100)
    life.ended()
    assert life.hooked() == [], "the run is not over"
    assert life.site.count("/b") == 0
    life.start()
    assert life.ended().code == 0
    assert (life.site.count("/b"), life.hooked()) == (1, ["robot 2 "]), "the rest registers nothing"


def test_portal_robot_132_a_robot_is_started_in_the_background(life: Life) -> None:
    life.set(onCompletion="idle")
    ended = life.tell("start", "--background")
    try:
        assert (ended.code, ended.out.splitlines()[0]) == (0, "Starting Points: 1 defined")
        life.becomes("Idle")
    finally:
        assert life.tell("stop").out == "robot: Off\n"


def test_portal_robot_135_the_hook_of_a_plain_crawl(life: Life) -> None:
    life.set(onCompletion="idle", cmd_hook=life.hook())
    life.files.crawl()
    assert life.hooked() == ["robot 3 "]
    life.files.crawl()
    assert life.hooked() == ["robot 3 "], "portal_robot_138: nothing was registered"


@pytest.mark.parametrize(
    ("hook", "reported"),
    [("/no/such/program", "could not be run"), ("true; echo", "could not be run")],
    ids=["no program", "no shell"],
)
def test_a_hook_that_cannot_be_run_is_reported(life: Life, hook: str, reported: str) -> None:
    life.set(cmd_hook=hook)
    life.files.crawl()
    assert reported in life.log()


def test_portal_robot_149_150_the_database_is_cleared_only_while_the_robot_is_off(life: Life) -> None:
    life.set(onCompletion="idle")
    life.start()
    life.becomes("Idle")
    refused = life.tell("clear", "--yes")
    assert (refused.code, "the robot is Idle" in refused.err) == (2, True)
    life.tell("stop")
    assert life.tell("clear", "--yes").out == "robot: 3 URLs forgotten\n"
    status = life.status()
    assert (status["known"], status["indexed"]) == (0, 3)
    (row,) = life.files.command("status", "--json").json["sources"]
    assert (row["known"], row["indexed"]) == (0, 3)
    assert len(life.files.found("needle")) == 3, "descriptions stay in the index"
    life.set(onCompletion="quit")
    assert life.files.crawl().run["outcomes"] == {"NEW": 3}
    assert len(life.files.found("needle")) == 3


def test_portal_robot_151_excluded_urls_by_reason(life: Life) -> None:
    links = ["/a", "/gone", "/x.zip", "http://127.0.0.9/", "/b", "/twin"]
    life.site.page("/", title="Home", text="needle", links=links)
    life.site.page("/twin", title="B", text="needle in b")
    rules = life.files.text("filterrules.conf").replace("</Site>", "   Use rule=archive-files\n</Site>")
    life.files.write("filterrules.conf", rules)
    life.files.crawl()
    found = {row["reason"]: row["count"] for row in life.tell("report", "excluded", "--json").lines}
    assert found == {"file not found": 1, "filter rules": 1, "site not allowed": 1, "duplication": 1}
    listed = life.tell("report", "excluded", "--reason", "filter rules").out
    assert listed.endswith("/x.zip  (filter rules: 127.0.0.1: archive-files)\n")
    assert life.status()["excluded"] == 4


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (0, {"error"}),
        (1, {"error", "generated"}),
        (2, {"error", "generated", "enumerated"}),
        (3, {"error", "generated", "enumerated", "denied"}),
        (4, {"error", "generated", "enumerated", "denied", "spawned"}),
        (5, {"error", "generated", "enumerated", "denied", "spawned", "retrieved"}),
    ],
    ids=[f"portal_robot_127 level {level}" for level in range(6)],
)
def test_log_levels(life: Life, level: int, words: set[str]) -> None:
    life.site.page("/", title="Home", text="needle", links=["/a", "/gone", "http://127.0.0.9/"])
    life.set(loglevel=level)
    life.files.crawl()
    assert {line[11:].partition(":")[0] for line in life.log().splitlines()} == words


@pytest.mark.parametrize(
    ("amount", "denied", "allowed", "passed"),
    [("terse", 2, 0, False), ("normal", 2, 6, False), ("verbose", 2, 6, True)],
    ids=["portal_robot_45 terse", "normal", "verbose"],
)
def test_the_filter_log_says_as_much_as_logtype(
    life: Life, amount: str, denied: int, allowed: int, passed: bool
) -> None:
    life.site.page("/", title="Home", text="needle", links=["/a", "/b", "http://127.0.0.9/"])
    text = life.files.text("filter.conf").replace("logtype=normal", f"logtype={amount}")
    life.files.write("filter.conf", text)
    life.files.crawl()
    lines = life.log("filter").splitlines()
    assert lines[0].endswith("Filter log started - loop 1")
    assert sum(" denied: site not allowed" in line for line in lines) == denied
    assert sum(line.endswith(" allowed") for line in lines) == allowed
    assert any(" passed" in line for line in lines) == passed


def test_portal_robot_81_an_expired_description_leaves_unless_it_is_renewed(life: Life) -> None:
    day = "Wed, 01 Jan 2020 00:00:00 GMT"
    life.site.page("/a", title="A", text="needle in a", head=f'<meta name="expires" content="{day}">')
    life.files.crawl()
    status = life.status()
    assert (status["indexed"], status["expired"], status["next_expiry"] is None) == (3, 1, False)
    life.files.crawl()
    assert len(life.files.found("needle")) == 3, "it was found again"
    assert [one.headers.get("if-none-match") for one in life.site.requests if one.path == "/a"] == [None] * 2
    life.site.respond("/a", status=500, headers={}, body="")
    life.files.crawl()
    titles = {hit["title"] for hit in life.files.found("needle")}
    assert titles == {"Home", "B"}
    assert life.status()["expired"] == 0
