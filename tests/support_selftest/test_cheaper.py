"""What is spared in the process of the tests has the same result."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from scrapy.settings import BaseSettings, Settings
from support import cheaper

from ultracrawl.system import plugins


def test_a_copy_of_settings_shares_nothing_that_can_change():
    settings = Settings({"OF_THE_TEST": {"a": [1]}, "NESTED": BaseSettings({"b": 1})}, priority="cmdline")
    copied = settings.copy()
    copied["OF_THE_TEST"]["a"].append(2)
    copied["NESTED"].set("b", 2, "cmdline")
    copied.set("BOT_NAME", "another", "cmdline")
    assert settings["OF_THE_TEST"] == {"a": [1]}
    assert settings["NESTED"]["b"] == 1
    assert settings["BOT_NAME"] != "another"
    assert copied.getpriority("OF_THE_TEST") == settings.getpriority("OF_THE_TEST")


def test_a_level_counts_at_once_for_loggers_below():
    above, below = logging.getLogger("of.the.test"), logging.getLogger("of.the.test.below")
    for level, is_enabled in ((logging.INFO, True), (logging.ERROR, False), ("ERROR", False), ("INFO", True)):
        above.setLevel(level)
        assert below.isEnabledFor(logging.INFO) is is_enabled


def test_a_package_in_the_folder_of_a_project_is_found_each_time(tmp_path):
    assert list(plugins._entry_points((str(tmp_path),))) == []
    entries = Path(tmp_path, "one-1.dist-info", "entry_points.txt")
    entries.parent.mkdir()
    entries.write_text("[ultracrawl.converters]\none = one:CONVERTERS\n")
    assert [package for package, _ in plugins._entry_points((str(tmp_path),))] == [entries.parent]


def test_installed_packages_are_found_as_without_it():
    path = tuple(sys.path)
    found = list(plugins._entry_points(path))
    assert found == list(plugins._entry_points(path)) == list(cheaper._entry_points(path))
    assert found
