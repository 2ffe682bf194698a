"""Which cases run in `make test`, which wait for `make ci`, and which for `make night`: each is of one tier.

`--tier` picks those of a tier. What decides, the first that holds:

* a case marked `night` is of the night;
* a case marked `servers` is of `ci`, because `make test` needs Python alone;
* a case marked `essential` is of `test`, however long it takes;
* a case whose test is long according to `tests/times.json` is of `ci`; a new one is not, until `make times` counts it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import pytest

from support import times
from support.requirement import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NIGHT = "night"
ESSENTIAL = "essential"


class Tier(StrEnum):
    """Where a case runs."""

    TEST = "test"
    CI = "ci"
    NIGHT = "night"


PROMISED = {Tier.TEST: 520.0}
"""Maximum processor seconds of all cases of a tier, as they are stored: two processors need five minutes for that,
with what pytest takes itself."""
CEILING = 30.0
"""Maximum processor seconds of a case of `make test` that is not known to be long: far above what load adds, and above
what the first case needs that imports a package or starts the host of commands."""


def tier_of(item: pytest.Item, rows: times.Rows) -> Tier:
    """Return where a case runs."""
    if item.get_closest_marker(NIGHT):
        return Tier.NIGHT
    if item.get_closest_marker(SERVERS):
        return Tier.CI
    if item.get_closest_marker(ESSENTIAL):
        return Tier.TEST
    return Tier.CI if times.is_long(rows, item.nodeid) else Tier.TEST


def complaints(tier: Tier, counted: Mapping[str, float], rows: times.Rows) -> Iterable[str]:
    """Yield why the cases of a tier that ran, with what was counted of them, do not fit into it."""
    stored = sum(times.seconds(rows, nodeid) for nodeid in counted)
    if stored > (promised := PROMISED.get(tier, stored)):
        yield (
            f"the cases of `make {tier}` take {stored:.0f} processor seconds according to tests/times.json, "
            f"and {promised:.0f} are promised"
        )
    if tier is Tier.TEST:
        for nodeid, spent in counted.items():
            if spent > CEILING and not times.is_long(rows, nodeid):
                yield f"{nodeid} took {spent:.1f} processor seconds: `make times ARGS={nodeid.partition('::')[0]}`"


class Tiers:
    """Leaves the cases of the tier that was asked for, and tells what they took."""

    def __init__(self, config: pytest.Config) -> None:
        name = config.getoption("tier")
        self._tier = Tier(name) if name else None
        self._rows = times.read(times.FILE)
        self._stores = bool(config.getoption("store_times"))
        self._collecting = times.Collecting()
        self._complaints: list[str] = []
        if not hasattr(config, "workerinput"):
            config.pluginmanager.register(self._collecting)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave the cases of the tier."""
        if self._tier is None:
            return
        kept: list[pytest.Item] = []
        others: list[pytest.Item] = []
        for item in items:
            (kept if tier_of(item, self._rows) is self._tier else others).append(item)
        if others:
            config.hook.pytest_deselected(items=others)
            items[:] = kept

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Store what was counted, or let the run fail if its tier does not keep its promise."""
        counted = self._collecting.counted
        if not counted:
            return
        if self._stores:
            times.write(
                times.merged(self._rows, counted, self._collecting.subtests, session.config.rootpath),
                times.FILE,
            )
        elif self._tier is not None:
            self._complaints = list(complaints(self._tier, counted, self._rows))
            if self._complaints and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what the cases took together."""
        if counted := self._collecting.counted:
            stored = sum(times.seconds(self._rows, nodeid) for nodeid in counted)
            terminalreporter.write_line(
                f"{len(counted)} cases took {sum(counted.values()):.0f} processor seconds; stored are {stored:.0f}"
            )
        for one in self._complaints:
            terminalreporter.write_line(f"FAILED {one}", red=True)


def add_options(parser: pytest.Parser) -> None:
    """Add `--tier` and `--store-times`."""
    parser.addoption("--tier", choices=list(Tier), help="run the cases of this tier alone")
    parser.addoption("--store-times", action="store_true", help="write tests/times.json from this run")


def register(config: pytest.Config) -> None:
    """Count in each process that runs cases, pick and tell in the one that was started."""
    config.pluginmanager.register(times.Counting())
    config.pluginmanager.register(Tiers(config))
