"""What has to hold before any test runs, and before each."""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

pytest.register_assert_rewrite("support")  # or a failure there tells no values

from support import cheaper, clock, tiers  # noqa: E402
from support.requirement import note_markers  # noqa: E402

if TYPE_CHECKING:
    from support.crawled import CrawledProjects
    from support.project import Workspace
    from support.site import Site

LONG_SECONDS = 600
"""Seconds after which a test of processes or servers hangs."""

clock.install_both()  # before anything of ours is imported that keeps hold of them
cheaper.install()
gc.set_threshold(
    100_000, 10, 10
)  # with 15,000 tests in memory, looking for garbage takes a seventh of the time
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")  # other work on the machine must not fail properties


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run be of one tier."""
    tiers.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Count what cases take, and pick those of the tier."""
    tiers.register(config)


def pytest_sessionstart() -> None:
    """Stop with a line if the installation tells of other plug-ins of ours than `pyproject.toml`."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    for group, written in project["entry-points"].items():
        installed = {one.name: one.value for one in entry_points(group=group)}
        if missing := {name: value for name, value in written.items() if installed.get(name) != value}:
            pytest.exit(
                f"the installation does not know {', '.join(missing)} of {group}: run `make venv`, "
                "or `pip install --no-deps --no-build-isolation --editable .`",
                returncode=2,
            )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give tests of processes and servers the time that they need where others take most of the machine."""
    for item in items:
        if any(
            map(item.get_closest_marker, ("processes", "servers", "night"))
        ) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))


def pytest_collection_finish() -> None:
    """Leave the tests that were collected, and the modules, out of every search for garbage: they stay."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell `require` which test begins; whatever leaps the one before made, it is as late as it is."""
    clock.take_back_leaps()
    note_markers(item)


@pytest.fixture
def processes(request: pytest.FixtureRequest) -> bool:
    """Whether the commands of the test have processes of their own, and its site a server."""
    return any(map(request.node.get_closest_marker, ("processes", "servers")))


@pytest.fixture
def site(processes: bool) -> Site:
    """A site, which answers in this process without sockets unless the test is about processes."""
    from support.network import NetworkSite
    from support.site import Site

    return Site() if processes else NetworkSite()


@pytest.fixture
def workspace(processes: bool, tmp_path: Path) -> Workspace:
    """A project whose commands run in this process unless the test is about processes."""
    from support.in_process import InProcessWorkspace
    from support.project import Workspace

    return Workspace(tmp_path) if processes else InProcessWorkspace(tmp_path)


@pytest.fixture(scope="session")
def crawled_projects(tmp_path_factory: pytest.TempPathFactory) -> CrawledProjects:
    """Crawls what many tests look at once; its site is served at `support.crawled.PORT`."""
    from support.crawled import CrawledProjects

    return CrawledProjects(tmp_path_factory)


@pytest.fixture
def url(request: pytest.FixtureRequest, site: Site) -> Iterator[str]:
    """Serve the site of the test; gives its address, the same one for each test that `crawled_projects` helps.

    A site on sockets has a port of its own: tests run beside each other.
    """
    from support.crawled import PORT
    from support.network import NetworkSite

    is_same = "crawled_projects" in request.fixturenames and isinstance(site, NetworkSite)
    with site.serve(port=PORT if is_same else 0) as address:
        yield address


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """Run one PostgreSQL for all tests of the session that ask for it; gives the URL of its database."""
    from support.postgresql import postgresql_server

    with postgresql_server() as url:
        yield url
