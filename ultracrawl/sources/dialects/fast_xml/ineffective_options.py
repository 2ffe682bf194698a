"""Reports options without effect, each once per file."""

from __future__ import annotations

from collections.abc import Iterator

from ultracrawl.sources.dialects.fast_xml.collection import Scope
from ultracrawl.sources.dialects.fast_xml.notices import Code, Notices
from ultracrawl.sources.dialects.fast_xml.values import Setting


def report_ineffective_options(collection: Scope, node: str, notices: Notices) -> None:
    """Add a notice for each ineffective option that a collection sets in its own file."""
    for setting in _settings(collection):
        if setting.place.file == notices.file and not setting.spec.sets:
            _report(setting, notices)
    if collection.nodes and node not in collection.nodes:
        problem = f"none of the nodes is this one (`{node}`); their options are ignored"
        place = collection.place._replace(line=min(scope.line for scope in collection.nodes.values()))
        notices.add_once("node", Code.CLUSTER, place, problem, "set ULTRACRAWL_NODE to be one of them")


def _report(setting: Setting, notices: Notices) -> None:
    spec = setting.spec
    if spec.no_effect:
        code = Code.CLUSTER if spec.group == "CLUSTER" else Code.TUNING
        problem = f"has no effect here: {spec.no_effect}"
        notices.add_once(spec.path, code, setting.place, problem, "leave it as it is")
    elif setting.value != spec.default:
        problem = f"has no effect yet: {spec.not_yet}"
        notices.add_once(spec.path, Code.MISSING, setting.place, problem, "do not rely on it")


def _settings(scope: Scope) -> Iterator[Setting]:
    yield from scope.settings.values()
    for part in (*scope.logins.values(), *scope.subs.values(), *scope.nodes.values()):
        yield from _settings(part)
