"""What `lint` checks of each source beside its options: settings and classes it names, extras and programs it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import partial
from importlib.util import find_spec

from scrapy.settings import default_settings

from ultracrawl.content.converters.registry import converter_for
from ultracrawl.content.html import articles
from ultracrawl.errors import AdvisedError, MissingExtraError, UserError
from ultracrawl.index.engines import check_engine
from ultracrawl.index.writing.project_outputs import cache_folder, former_indexes
from ultracrawl.model.finding import FindingCode
from ultracrawl.rules.access.credentials import NTLM_SCHEMES
from ultracrawl.run import rendering
from ultracrawl.run.auth.ntlm import ntlm_installed
from ultracrawl.run.reading.language_detection import languages_of
from ultracrawl.run.reading.language_focus import focus_of
from ultracrawl.settings.ineffective import REPLACEMENTS, replacement_advice
from ultracrawl.sources import DataSource, PathFinding, Project
from ultracrawl.sources.checking.access_checks import check_readers, check_variables
from ultracrawl.sources.compilation.source import compile_focus
from ultracrawl.sources.kinds import find_kind, watched_sources
from ultracrawl.sources.sections.project import FurtherIndex, IndexSection
from ultracrawl.spiders.loader import base_class

_SETTINGS = frozenset(name for name in dir(default_settings) if name.isupper()) | REPLACEMENTS.keys()
"""The names of Scrapy's settings."""
_LANGUAGE_OPTIONS = ("languages", "detect_language", "focused")
"""The options that may need the language of texts to be detected."""
_ALIKE = 0.85
"""Similarity from which on an unknown setting is a misspelt one; others are those of third-party components."""


def check_locally(project: Project, source: DataSource) -> Iterator[PathFinding]:
    """Yield what is wrong with what a source names outside of its definition, and what it lacks on this machine."""
    yield from check_readers(source)
    yield from check_variables(source)
    yield from check_settings(source)
    yield from _check_class(source)
    yield from _check_extras(source)
    yield from check_watching(project, source)
    yield from _former_destinations(project, source)


def check_project_locally(project: Project) -> Iterator[tuple[str, str, str]]:
    """Yield option, problem and advice for what the options of a project lack on this machine."""
    further = {f"indexes.{name}": index for name, index in project.indexes.items()}
    indexes: dict[str, IndexSection | FurtherIndex] = {"index": project.index, **further}
    for option, index in indexes.items():
        has_options = any(index.given_options())
        for found in _failures(partial(check_engine, index.engine, has_options=has_options)):
            yield f"{option}.engine", *found
        if index.auth == "aws" and find_spec("botocore") is None:
            error = MissingExtraError("`auth: aws`", "s3")
            yield f"{option}.auth", error.problem, error.instead
    for name, channel in project.notices.to.items():
        if channel.url is not None and find_spec("apprise") is None:
            error = MissingExtraError("a notice by Apprise", "notices")
            yield f"notices.to.{name}.url", error.problem, error.instead
    if project.sign_in.oidc.issuer and find_spec("joserfc") is None:
        error = MissingExtraError("signing in with OpenID Connect", "oidc")
        yield "sign_in.oidc", error.problem, error.instead
    if project.sign_in.ldap.url and find_spec("ldap3") is None:
        error = MissingExtraError("groups of an LDAP directory", "ldap")
        yield "sign_in.ldap", error.problem, error.instead


def check_settings(source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint for each Scrapy setting without effect, or with a name that is probably misspelt."""
    for name, value in source.settings.items():
        path = ("settings", name)
        if written := replacement_advice(source, name, value):
            yield PathFinding(path, "this changes nothing", written, fatal=False)
        elif name not in _SETTINGS and (close := get_close_matches(name, _SETTINGS, 1, _ALIKE)):
            written = replacement_advice(source, close[0], value) or f"write `{close[0]}`"
            yield PathFinding(path, f"Scrapy has no setting `{name}`", written, fatal=False)


def _check_class(source: DataSource) -> Iterator[PathFinding]:
    if source.spider_class is not None and find_kind(source.type) is None:
        for found in _failures(lambda: base_class(source)):
            yield PathFinding(("class",), *found)


def _check_extras(source: DataSource) -> Iterator[PathFinding]:
    """Yield the extras and programs that the options of a source need and that are missing."""
    if source.runs_scripts:
        for found in _failures(lambda: rendering.browser_program(source.javascript.browser)):
            fatal = source.javascript.browser is not None
            yield PathFinding(("javascript",), *found, fatal, None if fatal else FindingCode.UNCOUNTED)
    if find_spec("py3langid") is None:
        for found in _failures(lambda: focus_of(source, compile_focus(source), languages_of(source))):
            written = (name for name in _LANGUAGE_OPTIONS if name in source.model_fields_set)
            yield PathFinding((next(written, _LANGUAGE_OPTIONS[0]),), *found)
    if source.content.extracts_articles:
        for found in _failures(articles.check_extractor):
            yield PathFinding(("content",), *found)
    if not ntlm_installed():
        for path, entry in source.password_entries:
            if entry.scheme in NTLM_SCHEMES:
                error = MissingExtraError("authentication with NTLM", "ntlm")
                yield PathFinding(path, error.problem, error.instead)
    for name in source.types if "types" in source.model_fields_set else ():
        converter = converter_for(name)
        if converter is not None and not all(map(find_spec, converter.needs)):
            problem = f"documents of the type `{name}` are not read: the extra for them is not installed"
            instead = f'install it with: pip install "{converter.install}"'
            yield PathFinding(("types",), problem, instead, False, FindingCode.UNCOUNTED)


def _failures(check: Callable[[], object]) -> Iterator[tuple[str, str]]:
    """Yield the problem and the advice of the mistake that a check raises."""
    try:
        check()
    except (AdvisedError, MissingExtraError) as error:
        yield error.problem, error.instead
    except UserError as error:
        yield str(error), "correct it"


def check_watching(project: Project, source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint if a source cannot be watched because the extra `watch` is not installed."""
    if find_spec("watchfiles") is None and watched_sources([source], project.base):
        problem = (
            "changes are not noticed: the extra `watch` is not installed; schedules crawl it all the same"
        )
        instead = 'install it with: pip install "ultracrawl[watch]"'
        yield PathFinding(("watch",), problem, instead, fatal=False)


def _former_destinations(project: Project, source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint for each former destination of a source that its definition no longer names."""
    for index in former_indexes(project, source):
        folder = cache_folder(project, source.name)
        problem = (
            f"the index `{index}` got documents of this source before, and gets none now; those in it stay"
        )
        instead = f"name it again, or remove what is left of it below {folder}"
        yield PathFinding(("feeding", "destinations"), problem, instead, fatal=False)


def check_shown(source: DataSource) -> Iterator[PathFinding]:
    """Yield a hint if hits of local files lead to `file:` URLs, to which browsers follow no link of a page."""
    if getattr(source, "folders", ()) and not getattr(source, "display_url", True):
        problem = "hits lead to `file:` URLs, which open in no browser"
        instead = "write where a server has the files: `display_url: {file:///srv/docs/: https://files.example.com/}`"
        yield PathFinding(("display_url",), problem, instead, False, FindingCode.UNCOUNTED)
