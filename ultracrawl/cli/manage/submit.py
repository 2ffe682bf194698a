"""`ultracrawl submit`: submits a URL to the web sources."""

from __future__ import annotations

import click

from ultracrawl.cli.mistakes import Mistake, with_scheme
from ultracrawl.cli.options import (
    SOURCE_NAME,
    chosen_sources,
    json_option,
    print_json,
    readable_project_option,
)
from ultracrawl.cli.terminal import print_line
from ultracrawl.run.inspection.submission import SubmissionAnswer, SubmissionCode, keep_url, submit_url
from ultracrawl.sources import Project

_ADVICE = {
    SubmissionCode.OUT_OF_SCOPE: "`ultracrawl explain {url}` shows the rule; change it in the definition",
    SubmissionCode.DUPLICATE_URL: "--again has it fetched again",
}
"""What to do about an answer."""


@click.command("submit")
@click.argument("url")
@readable_project_option
@click.option("--source", type=SOURCE_NAME, metavar="S", default="", help="Hand it to this source only.")
@click.option("--again", is_flag=True, help="Have it fetched again if it is known.")
@json_option
def command(url: str, project: Project, source: str, again: bool, as_json: bool) -> None:
    """Let the next crawl fetch URL, for the first web source whose rules include it.

    The result is a number and a text: 0 OK, 1 no web source, 2 invalid URL, 3 disabled (`takes_submissions: false`),
    4 known already, 5 not a web source, 6 out of scope, 7 internal error, as for a damaged state. The exit code is 0 if
    the result is, 2 for an invalid URL, else 1; the number is printed with --json. If the source is being crawled, that
    crawl fetches the URL. If the definition of S has mistakes, its next crawl judges the URL.

    \b
    Examples:
      ultracrawl submit https://docs.example.com/new/page.html
      ultracrawl submit https://docs.example.com/new/page.html --source handbook --json
      ultracrawl submit https://docs.example.com/changed.html --again
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if source in project.invalid_sources:
        keep_url(project, source, url)
        answer = SubmissionAnswer(url, SubmissionCode.OK, f"kept for the crawl of {source}")
    else:
        answer = submit_url(project, url, chosen_sources(project, [source] if source else []), again=again)
    if answer.code is SubmissionCode.INVALID_URL and not as_json:
        if instead := with_scheme(url):
            raise Mistake.URL_WITHOUT_SCHEME.error(url=url, instead=f"ultracrawl submit {instead}")
        raise Mistake.NO_URL.error(url=url)
    if as_json:
        print_json(answer.as_json())
    else:
        advice = _ADVICE.get(answer.code, "")
        print_line(f"{answer.text}; {advice.format(url=url)}" if advice else answer.text)
    if answer.code is SubmissionCode.INVALID_URL:
        raise SystemExit(2)
    if answer.code is not SubmissionCode.OK:
        raise SystemExit(1)
