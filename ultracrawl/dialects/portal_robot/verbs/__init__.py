"""Verbs for portal robots; `ROBOT` and `SIMULATE` are entry points."""

from __future__ import annotations

from ultracrawl.cli.plugin_verbs import PluginVerb

ROBOT = PluginVerb(
    "Control a portal robot; edit its sites and rules.",
    "ultracrawl.dialects.portal_robot.verbs.verb:command",
    "Other crawlers' files",
    changing=frozenset(
        {
            "robot clear",
            "robot import-rds",
            "robot pause",
            "robot reload",
            "robot restart",
            "robot resume",
            "robot stop",
        }
    ),
    long=frozenset({"robot start", "robot schedule run"}),
)
SIMULATE = PluginVerb(
    "Show what the filters of a robot do with URLs.",
    "ultracrawl.dialects.portal_robot.verbs.simulate:command",
    "Other crawlers' files",
)
