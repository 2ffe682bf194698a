"""Writes a first definition of a site: a few options, each with the reason why it stands there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ultracrawl.dataclass import dataclass
from ultracrawl.rules.urls.canonical import host_of, path_of
from ultracrawl.run import rendering
from ultracrawl.service.probing.generators import Generator
from ultracrawl.service.probing.survey import Survey
from ultracrawl.settings.adhoc import starts_below
from ultracrawl.sources import Project, SourceTree, load_tree, require

DEFAULT_ENGINE = "whoosh"
NEVER = "never"
"""What is written for a source that is crawled only when somebody says so."""
_HEAD = """\
# Written by `ultracrawl init`. After a change, `ultracrawl lint` checks it, and `ultracrawl plan` shows what it means.
sources:
"""


class _Option(NamedTuple):
    """An option of the file, with its comment; one that cannot be used on this machine is a comment itself."""

    name: str
    value: object
    comment: str = ""
    is_off: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition of one site that is not written yet; a text that is empty leaves its option to the default."""

    name: str
    url: str
    restrictions: Mapping[str, Any]
    """Options of the source that were asked for: `only`, `exclude`, `depth`, `limits`, `public`."""
    delay: float | None = None
    """Seconds between two requests."""
    every: str = ""
    """The interval between two crawls, or `NEVER`."""
    engine: str = ""
    survey: Survey | None = None
    """What was found out about the site; None: nobody looked."""

    @property
    def start_urls(self) -> tuple[str, ...]:
        """Where the crawl begins: where the site leads to, or at the paths that were asked for if it is outside."""
        return starts_below([self.survey.url if self.survey else self.url], self._only)

    @property
    def _only(self) -> tuple[str, ...]:
        return tuple(path for path in self.restrictions.get("only", ()) if path != "/")

    @property
    def options(self) -> dict[str, object]:
        """The options of the source by name."""
        return {one.name: one.value for one in self._options() if not one.is_off}

    def text(self) -> str:
        """Return the text of the file."""
        lines = [f"  {_flow(self.name)}:"]
        lines += [f"    {'# ' if one.is_off else ''}{_line(one)}" for one in self._options()]
        if self.every == NEVER:
            nobody = _Option(
                "processes", {"default_interval": None}, "`ultracrawl serve` crawls nothing by itself"
            )
            lines.append(_line(nobody))
        if self.engine not in ("", DEFAULT_ENGINE):
            lines.append(_line(_Option("index", {"engine": self.engine})))
        return _HEAD + "\n".join(lines) + "\n"

    def project(self, file: Path) -> Project:
        """Return the project that the file will be. Raises `DefinitionError` for options that are wrong."""
        sources = yaml.safe_load(self.text())["sources"]
        return require(load_tree(SourceTree(str(file), sources), file.absolute().parent)[0])

    def _options(self) -> Iterator[_Option]:
        yield _Option("start_urls", list(self.start_urls))
        if self._only:
            yield _Option(
                "only", list(self._only), f"without this line, all of {host_of(self.start_urls[0])}"
            )
        if "depth" in self.restrictions:
            yield _Option("depth", self.restrictions["depth"], "steps from the start URL along links")
        if "limits" in self.restrictions:
            yield _Option("limits", self.restrictions["limits"], "no new pages from this number on")
        if self.restrictions.get("public"):
            yield _Option("public", True, "everybody may search it")
        yield from self._of_generator()
        if self.delay is not None:
            yield _Option(
                "politeness",
                {"delay": int(self.delay) if float(self.delay).is_integer() else self.delay},
                "seconds between two requests",
            )
        if self.survey is not None:
            yield from _of_site(self.survey, self.delay)
        if self.every and self.every != NEVER:
            yield _Option("refresh", {"interval": self.every}, "while `ultracrawl serve` runs")

    def _of_generator(self) -> Iterator[_Option]:
        """Yield what is left out: what somebody asked for, and what a known generator adds to pages."""
        excluded, comment = list(self.restrictions.get("exclude", ())), ""
        known = self.survey.generator if self.survey else None
        if known is not None and self.survey is not None:
            added = [path for path in _excluded_by(known, self.survey) if path not in excluded]
            excluded, comment = (
                [*excluded, *added],
                f"indexes, copies and forms of {known.name}" if added else "",
            )
        if excluded:
            yield _Option("exclude", excluded, comment)
        if known is not None and known.remove_params:
            yield _Option(
                "urls", {"remove_params": list(known.remove_params)}, "the same page under other addresses"
            )


def _excluded_by(known: Generator, survey: Survey) -> Sequence[str]:
    """Return the paths that a definition leaves out of a site; none that its start URL has."""
    folder = path_of(survey.url).partition("?")[0].rpartition("/")[0] + "/"
    paths = (*(folder + path for path in known.exclude), *known.exclude_root)
    return [path for path in paths if not path_of(survey.url).startswith(path)]


def _of_site(survey: Survey, delay: float | None) -> Iterator[_Option]:
    if survey.crawl_delay is not None and survey.crawl_delay > (delay or 0.0):
        comment = f"it asks for {survey.crawl_delay:g} s between two requests"
        yield _Option("robots", {"obey_delay": True}, comment)
    if survey.login:
        comment = f"the site answers with a log-in; set {' and '.join(survey.login.variables)}"
        yield _Option("logins", survey.login.option, comment, is_off=True)
    if survey.lacks:
        comment = f"before its scripts have run, the front page has {survey.lacks}"
        lacking = rendering.what_rendering_lacks()
        yield _Option(
            "javascript",
            "auto",
            comment + (f"; a browser is missing: {lacking}" if lacking else ""),
            is_off=bool(lacking),
        )


def _line(option: _Option) -> str:
    return f"{option.name}: {_flow(option.value)}" + (f"  # {option.comment}" if option.comment else "")


def _flow(value: object) -> str:
    """Return a value on one line of YAML, which nothing in it can end."""
    return str(yaml.safe_dump([value], default_flow_style=True, width=math.inf)).strip()[1:-1]
