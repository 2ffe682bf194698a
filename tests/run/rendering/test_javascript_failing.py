"""Pages on which the browser fails: they are opened again, in the same run or in the next one."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from pathlib import Path

import psutil
import pytest
from support.chromium import end_network_process
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS, Browser
from ultracrawl.run.rendering.not_rendered import NotRendered, RenderingError
from ultracrawl.run.rendering.open_page import Rendered
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

pytestmark = pytest.mark.servers

PAGES = 8
SCRIPT = """fetch('/next?' + location.pathname.slice(2)).then(answer => answer.text()).then(next => {
  if (next) document.body.insertAdjacentHTML('beforeend', `<a href="${next}">on</a> written`);
})"""


class Killer:
    """A browser whose processes can be killed, and a chain of pages each of which a script links to the next."""

    def __init__(self, site: Site, directory: Path) -> None:
        chromium = next(filter(None, map(shutil.which, PROGRAMS)))
        self.program = directory / "browser"
        self._pids = directory / "pids"
        self._chromium = chromium
        self.fail_starts(0)
        self.program.chmod(0o755)
        self.doomed: dict[int, int] = {}
        """How often the browser is yet to be killed while it has a page open, by the number of the page."""
        self.kills_network = False
        """Whether it is only the process that is killed by which pages get their answers; another one is started."""
        for number in range(PAGES):
            site.file(f"/p{number}", f"<p>p {number}</p><script>{SCRIPT}</script>".encode(), "text/html")
        site.dynamic("/next*", self._next)

    def fail_starts(self, number: int) -> None:
        """Have the browser fail at its first `number` starts."""
        fails = f'[ $(wc -l < "{self._pids}") -le {number} ] && exit 1\n'
        self.program.write_text(f'#!/bin/sh\necho $$ >> "{self._pids}"\n{fails}exec {self._chromium} "$@"\n')

    def kill_starts(self, *seconds: float) -> None:
        """Have the browser killed after its first starts, each after so many seconds."""
        cases = "".join(f"{number}) after={after};; " for number, after in enumerate(seconds, 1))
        kills = f'case $(wc -l < "{self._pids}") in {cases}*) exec {self._chromium} "$@";; esac\n'
        kills += "(sleep $after; kill -9 $$) > /dev/null 2>&1 &\n"
        self.program.write_text(f'#!/bin/sh\necho $$ >> "{self._pids}"\n{kills}exec {self._chromium} "$@"\n')

    @property
    def started(self) -> int:
        return len(self.pids)

    @property
    def pids(self) -> list[str]:
        """The processes of the browser that were started."""
        return self._pids.read_text().split()

    def _next(self, request: Request) -> Reply:
        number = int(request.path.partition("?")[2].rstrip("="))
        if self.doomed.get(number, 0):
            self.doomed[number] -= 1
            self._kill(int(self.pids[-1]))
        following = f"/p{number + 1}" if number + 1 < PAGES else ""
        return Reply(200, (("Content-Type", "text/plain"),), following.encode())

    def _kill(self, browser: int) -> None:
        if not self.kills_network:
            os.kill(browser, signal.SIGKILL)
            return
        end_network_process(psutil.Process(browser))


@pytest.fixture
def killer(site: Site, url: str, workspace: Workspace) -> Killer:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    made = Killer(site, workspace.directory)
    workspace.define(
        f"{url}/p0", javascript={"use": True, "keep_html": True, "browser": str(made.program), "timeout": 60}
    )
    return made


ALL = [f"/p{number}" for number in range(PAGES)]


def test_pages_that_the_browser_died_on_are_opened_again_in_the_run(
    killer: Killer, workspace: Workspace
) -> None:
    killer.doomed = {2: 1, 5: 3}
    run = workspace.crawl().run
    assert workspace.indexed() == ALL
    assert sorted(workspace.search("written")) == ALL[:-1]
    assert run["javascript"]["unrendered"] == {}
    assert killer.started == 5


def test_pages_whose_answers_were_lost_are_opened_again_in_the_run(
    killer: Killer, workspace: Workspace
) -> None:
    killer.kills_network, killer.doomed = True, {2: 1, 5: 3}
    run = workspace.crawl().run
    assert workspace.indexed() == ALL
    assert sorted(workspace.search("written")) == ALL[:-1]
    assert run["javascript"]["unrendered"] == {}
    assert (killer.started, killer.doomed) == (1, {2: 0, 5: 0})
    again = workspace.crawl().run
    assert again["outcomes"] == {"NOT_MODIFIED": PAGES}
    assert again["javascript"] == {"opened": 0, "parts": PAGES, "unrendered": {}}


@pytest.mark.timeout(300)
def test_pages_that_a_browser_took_down_with_another_one_are_opened_again_in_the_run(
    killer: Killer, workspace: Workspace, site: Site, url: str
) -> None:
    others = [f"/other{number}" for number in range(6)]
    for number, path in enumerate(others):
        script = f"fetch('/held{number}').then(() => document.body.append('held{number}'))"
        site.file(path, f"<p>{path}</p><script>{script}</script>".encode(), "text/html")
        site.respond(f"/held{number}", delay=0.5)
    site.page("/", links=["/p0", *others])
    killer.doomed = {0: 1, 2: 1, 3: 1}
    workspace.define(
        f"{url}/",
        javascript={
            "use": True,
            "keep_html": True,
            "browser": str(killer.program),
            "pages": 4,
            "timeout": 60,
            "max_wait": 20,
        },
    )
    run = workspace.crawl(timeout=250).run
    assert run["javascript"]["unrendered"] == {}
    assert workspace.indexed() == ["/", *others, *ALL]
    assert sorted(workspace.search("written")) == ALL[:-1]
    for number, path in enumerate(others):
        assert workspace.search(f"held{number}") == [path]


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param((0.2, 0.4), marks=pytest.mark.night),
        (0.6, 0.8, 1.0),
        pytest.param((1.2, 1.5, 2.0), marks=pytest.mark.night),
    ],
)
def test_a_browser_that_is_killed_at_any_moment_costs_no_page(
    killer: Killer, workspace: Workspace, seconds: tuple[float, ...]
) -> None:
    killer.kill_starts(*seconds)
    run = workspace.crawl(timeout=110).run
    assert run["javascript"]["unrendered"] == {}
    assert workspace.indexed() == ALL


@pytest.mark.timeout(300)
@pytest.mark.parametrize("failing", [3, 1000])
def test_a_browser_that_does_not_start_is_started_again_but_not_for_ever(
    killer: Killer, workspace: Workspace, failing: int
) -> None:
    killer.fail_starts(failing)
    run = workspace.crawl(code=1 if failing == 1000 else 0).run
    if failing == 1000:
        assert run["cause"] == "unrendered"
        assert workspace.indexed() == ["/p0"]
        assert run["javascript"]["unrendered"] == {"browser": 1}
        killer.fail_starts(0)
        run = workspace.crawl().run
    assert workspace.indexed() == ALL
    assert run["javascript"]["unrendered"] == {}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("more", [{}, {"filters": True}], ids=["documents", "filters"])
def test_a_page_that_could_not_be_opened_is_opened_in_the_next_run_though_it_is_as_it_was(
    killer: Killer, workspace: Workspace, url: str, more: dict[str, bool]
) -> None:
    if more:
        (workspace.directory / "filter.conf").write_text(
            "<Filter name=e>\nEnumerate fn=enumerate-urls\n</Filter>\n"
            "<Filter name=g>\nGenerate fn=extract-html-text\n</Filter>\n"
        )
        workspace.define(
            f"{url}/p0",
            javascript={"use": True, "keep_html": True, "browser": str(killer.program), "timeout": 60},
            filters={"file": "filter.conf", "enumeration": "e", "generation": "g"},
        )
    killer.doomed = {4: 99}
    run = workspace.crawl(timeout=250).run
    assert run["rejected_by"]["javascript failed"] == 1
    assert run["javascript"]["unrendered"] == {"browser": 1}
    assert workspace.indexed() == ALL[:5]
    assert "scripts were not run" in workspace.urls()["/p4"]["reason"]
    assert "scripts were not run" in workspace.command("explain", f"{url}/p4").out
    workspace.crawl(timeout=250)
    assert workspace.indexed() == ALL[:5], "the browser died again"
    assert workspace.urls()["/p4"]["outcome"] == "UNMODIFIED"
    killer.doomed = {}
    workspace.crawl()
    assert workspace.indexed() == ALL
    assert sorted(workspace.search("written")) == ALL[:-1]
    assert workspace.urls()["/p4"]["reason"] == ""
    last = workspace.crawl().run
    assert last["outcomes"] == {"NOT_MODIFIED": PAGES}, "all that their scripts ask for is as it was"


def test_a_browser_whose_driver_died_is_started_anew_and_leaves_no_files(
    killer: Killer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def opened(browser: Browser) -> Rendered:
        async def nothing(_: object) -> None:
            return None

        headers = {"Content-Type": "text/html"}
        return await browser.render("http://127.0.0.1/", b"<p>x", headers, nothing, JavascriptSection())

    async def scenario(place: Path) -> None:
        browser = Browser(str(killer.program), "test", JavascriptSection())
        others = children()
        try:
            await opened(browser)
            made = [path.name for path in place.glob("*/*")]
            assert sum("profile" in name or "Chromium" in name for name in made) == 2, made
            for driver in children() - others:
                os.kill(driver, signal.SIGKILL)
            with pytest.raises(RenderingError) as raised:
                await opened(browser)
            assert raised.value.fault is NotRendered.BROWSER
            assert "x" in (await opened(browser)).html
            os.kill(int(killer.pids[-1]), signal.SIGKILL)
        finally:
            await browser.close()

    with tempfile.TemporaryDirectory() as place:  # its name is short enough for the sockets of Chromium
        monkeypatch.setattr(tempfile, "tempdir", place)
        asyncio.run(scenario(Path(place)))
        assert list(Path(place).iterdir()) == []


def children() -> set[int]:
    """Return the processes that this one has started."""
    return {
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
    }
