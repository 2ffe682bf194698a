"""`ultracrawl init`: looks at a site, asks what is not clear, and writes a first definition file."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ultracrawl.cli.mistakes import Mistake, is_path, with_scheme
from ultracrawl.cli.options import json_option, print_json
from ultracrawl.cli.scope_options import scope_options
from ultracrawl.cli.terminal import escape_controls, print_line
from ultracrawl.dataclass import asdict, dataclass, replace
from ultracrawl.errors import UserError, WorkError
from ultracrawl.index.engines import check_engine
from ultracrawl.model import Cause, CauseCode
from ultracrawl.model.advice import advice_for
from ultracrawl.run import rendering
from ultracrawl.service.probing.client import probe_client_of
from ultracrawl.service.probing.draft import NEVER, Draft
from ultracrawl.service.probing.page_count import PageCount
from ultracrawl.service.probing.survey import Survey, UnreadableSiteError, survey
from ultracrawl.service.probing.visitor import Visitor
from ultracrawl.settings.adhoc import AdhocScope, adhoc_options
from ultracrawl.settings.projects import locate_project
from ultracrawl.sources import PROJECT_FILE, Project, adhoc_project, compile_source
from ultracrawl.sources.durations import parse_interval
from ultracrawl.system.files import convert_write_errors, replace_file

ENGINES = ("whoosh", "tantivy")
"""The engines that need no options; the first one is the default."""
DELAY = 0.5
"""Seconds between two requests unless `--delay` says otherwise; the default of a source."""
EVERY = "24 h"
TIMEOUT = 10.0
"""Seconds that one step of a request may take."""
_WORD = re.compile(r"[^\W\d_]{3,30}")
"""A word to search for; a shell finds no other meaning in it."""


@dataclass(frozen=True, slots=True)
class _Questions:
    """Asks on the terminal, or takes the defaults."""

    is_asking: bool

    def answer(self, given: str, question: str, default: str, check: Callable[[str], object]) -> str:
        """Return what an option said; else the answer, for which `check` raises no error, or the default."""
        if given or not self.is_asking:
            return given or default

        def checked(answer: str) -> str:
            try:
                check(answer.strip())
            except (UserError, ValueError) as error:
                raise click.UsageError(str(error)) from None
            return answer.strip()

        return str(click.prompt(question, default=default or None, value_proc=checked, err=True))


@click.command("init")
@click.argument("url", required=False, default="")
@click.option(
    "-o", "--output", metavar="FILE", default=PROJECT_FILE, show_default=True, help="The file to write."
)
@click.option("--name", metavar="NAME", default="", help="Name of the source. Default: after the host.")
@scope_options
@click.option(
    "--every", metavar="LENGTH", default="", help=f"Crawl again after 12 h, 1 d, 1 w, or `{NEVER}`."
)
@click.option("--engine", type=click.Choice(ENGINES), help="The index engine.")
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=None,
    metavar="SECONDS",
    help=f"Time between two requests. Default: {DELAY:g}.",
)
@click.option("--no-look", is_flag=True, help="Send no requests to the site.")
@click.option("-y", "--yes", is_flag=True, help="Ask nothing: take the defaults.")
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@json_option
def command(
    url: str,
    output: str,
    name: str,
    scope: AdhocScope,
    every: str,
    engine: str | None,
    delay: float | None,
    no_look: bool,
    yes: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write a definition file for the site of URL, after a look at the site.

    What no option says is asked; with --yes or --json, and without a terminal, the defaults are taken. A few requests
    are sent, as a crawl would send them: for the front page, robots.txt, and some sitemaps or pages, from which the
    number of pages is estimated. The usual generators of sites are recognised, and what they add to pages is left out.
    What `crawl URL` or `serve --url` was told here about the same site, such as --path, is taken over.

    \b
    Examples:
      ultracrawl init
      ultracrawl init https://docs.example.com/en/ --every '1 d' --yes
    """  # noqa: D301 - click's mark for a block that keeps its lines
    given = _project_of(url) if url else None
    file = Path(output)
    if file.exists() and not force:
        raise Mistake.DEFINITION_EXISTS.error(file=output)
    questions = _Questions(is_asking=not (yes or as_json) and sys.stdin.isatty())
    if given is None and not questions.is_asking:
        raise Mistake.MISSING.error(command="ultracrawl init", what="URL")
    project = given or _project_of(questions.answer("", "URL of the site", "", _project_of))
    (source,) = project.sources.values()
    crawled = adhoc_options(source.start_urls, Path.cwd())
    delay = crawled.get("politeness", {}).get("delay") if delay is None else delay
    draft = Draft(
        name or source.name, source.start_urls[0], scope.applied_to(crawled), delay, every, engine or ""
    )
    draft.project(file)  # mistakes in options are reported before the site gets a request
    check_engine(engine or ENGINES[0])
    if not (yes or as_json or questions.is_asking):
        click.echo("Nobody can be asked here: the defaults are taken.", err=True)

    pages = None
    if not no_look:
        visitor = _visitor(project, DELAY if delay is None else delay)
        found = _survey(draft.start_urls[0], visitor)
        _print_site(found, is_quiet=as_json)
        draft = replace(draft, survey=found)
        draft = _with_scope(draft, questions)
        if not found.login:
            pages = _count_pages(draft, visitor, file)
            _print_size(pages, is_quiet=as_json)
    draft = replace(
        draft,
        every=questions.answer(every, f"Crawl again after (as 12 h, 1 d, 1 w; {NEVER})", EVERY, _check_every),
        engine=questions.answer(
            engine or "", f"Index engine ({', '.join(ENGINES)})", ENGINES[0], _check_engine
        ),
    )
    draft.project(file)
    _write(file, draft.text(), force=force)
    steps = _next_steps(file, draft)
    if as_json:
        print_json(_as_json(output, draft, pages) | {"next": steps})
        return
    if draft.survey and (login := draft.survey.login):
        variables = " and ".join(f"${name}" for name in login.variables)
        print_line(
            f"Only {login.page} can be read without a log-in: take the # from the line `logins` in {output}, "
            f"and set {variables}."
        )
    print_line(f"{output} was written. Next:")
    for step in steps:
        print_line(f"  {step}")


def _project_of(url: str) -> Project:
    """Return a project that crawls the site of a URL; a named host without a port is taken for one with https.

    Raises `UserError`.
    """
    if is_path(url):
        raise Mistake.FILES_AS_SITE.error(name=url)
    if not {".", ":"} & set(url):
        raise Mistake.NO_SITE.error(name=url, instead=f"ultracrawl startproject {url}")
    return adhoc_project([url if "://" in url else with_scheme(url) or f"https://{url}"], Path.cwd())


def _visitor(project: Project, delay: float) -> Visitor:
    (source,) = project.sources.values()
    rules = compile_source(source, project)
    return Visitor(probe_client_of(source, project, TIMEOUT), replace(rules.robots, obey_delay=True), delay)


def _survey(url: str, visitor: Visitor) -> Survey:
    """Return what the site of a URL is like. Raises `WorkError`, with nothing in it that steers a terminal."""
    try:
        return survey(url, visitor)
    except UnreadableSiteError as error:
        without_look = f"`ultracrawl init --no-look {shlex.quote(url)}` writes the file all the same"
        raise WorkError(escape_controls(f"{error}; {without_look}")) from None


def _with_scope(draft: Draft, questions: _Questions) -> Draft:
    """Return the definition with the path that belongs to it: as asked for, else that of the front page."""
    if "only" in draft.restrictions or draft.survey is None or draft.survey.folder == "/":
        return draft

    def check(path: str) -> None:
        replace(draft, restrictions={"only": [path]}).project(Path(PROJECT_FILE))

    path = questions.answer(
        "", "Only pages below this path (/ for the whole host)", draft.survey.folder, check
    )
    return replace(draft, restrictions={**draft.restrictions, "only": [path]})


def _count_pages(draft: Draft, visitor: Visitor, file: Path) -> PageCount:
    project = draft.project(file)
    rules = compile_source(project.sources[draft.name], project)
    assert draft.survey is not None
    return draft.survey.count_pages(visitor, rules.boundary)


def _check_every(text: str) -> None:
    """Raise ValueError for a text that is no length of time."""
    if text != NEVER:
        parse_interval(text)


def _check_engine(name: str) -> None:
    if name not in ENGINES:
        raise ValueError(f"write one of {', '.join(ENGINES)}")
    check_engine(name)


def _write(file: Path, text: str, *, force: bool) -> None:
    with convert_write_errors(file):
        if force and file.exists():
            replace_file(file, text.encode())
            return
        with file.open("x", encoding="utf-8") as stream:
            stream.write(text)


def _next_steps(file: Path, draft: Draft) -> list[str]:
    """Return the commands to type now, for the directory where this one was typed."""
    default, _ = locate_project(None)
    is_default = default is not None and Path(default).exists() and file.samefile(default)
    config = "" if is_default else f" -c {shlex.quote(str(file))}"
    page = draft.survey.page if draft.survey and not draft.survey.login else None
    words = [_WORD.findall(text) for text in ((page.title, page.text[:1000]) if page else ())]
    word = next((max(found, key=len) for found in (*words, _WORD.findall(draft.name)) if found), "index")
    return [f"ultracrawl crawl{config}", f"ultracrawl search{config} {word.lower()}"]


def _print_site(found: Survey, *, is_quiet: bool) -> None:
    """Print what was found out about a site, but not its size."""
    delay = f"; it asks for {found.crawl_delay:g} s between requests" if found.crawl_delay else ""
    missing = rendering.what_rendering_lacks() if found.lacks else ""
    lacks = f"before its scripts have run, the front page has {found.lacks}" if found.lacks else ""
    rows = {
        "title": found.page.title,
        "generator": found.generator.name if found.generator else "",
        "robots.txt": f"allows the front page{delay}",
        "text": ""
        if found.page.text.strip() or found.lacks
        else f"none; {advice_for(Cause(CauseCode.EMPTY))}",
        "log-in": f"the site answers with the form of {found.login.page}" if found.login else "",
        "scripts": f"{lacks}; a browser is missing: {missing}" if missing else lacks,
    }
    if is_quiet:
        return
    print_line(found.url if found.url == found.asked else f"{found.asked} -> {found.url}")
    for label, text in rows.items():
        if text:
            print_line(f"  {label:<12} {text}")


def _print_size(pages: PageCount, *, is_quiet: bool) -> None:
    if not is_quiet:
        print_line(f"  {'size':<12} {pages}")


def _as_json(output: str, draft: Draft, pages: PageCount | None) -> dict[str, object]:
    found = draft.survey
    site: Mapping[str, Any] = {
        "title": found and found.page.title,
        "generator": found.generator.name if found and found.generator else None,
        "crawl_delay": found and found.crawl_delay,
        "lacks": (found and found.lacks) or None,
        "login": found.login.page if found and found.login else None,
        "pages": pages and asdict(pages),
    }
    return {
        "file": output,
        "source": draft.name,
        "url": draft.start_urls[0],
        **site,
        "options": draft.options,
    }
