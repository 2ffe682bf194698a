"""docs/portal-robot.md lists every function and every property."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.dialects.portal_robot.properties import PROPERTIES
from ultracrawl.filters import BUILT_IN

TEXT = (Path(__file__).parents[2] / "docs" / "portal-robot.md").read_text()


def test_every_function_and_its_parameters_stand_in_the_table() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in TEXT.splitlines() if line.startswith("| `")}
    for name, function in BUILT_IN.items():
        assert all(f"`{one.name}`" in rows[name] for one in function.parameters), name


def test_every_property_stands_in_the_table() -> None:
    rows = {line.split("|")[1].strip(" `"): line for line in TEXT.splitlines() if line.startswith("| `")}
    for name, known in PROPERTIES.items():
        assert known.effect in rows[name]
        assert ("| no effect: " in rows[name]) is known.idle
