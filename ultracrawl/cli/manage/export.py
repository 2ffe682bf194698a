"""`ultracrawl export`: writes stored documents to a WARC file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

import click

from ultracrawl import __version__
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, known_sources, project_option
from ultracrawl.model.answer import StoredAnswer
from ultracrawl.model.warc import warc_info, warc_response
from ultracrawl.sources import DataSource, Project
from ultracrawl.stores.project_stores import open_documents, stored_documents_exist
from ultracrawl.system.files import convert_write_errors
from ultracrawl.system.nouns import counted


@click.command("export")
@click.argument("sources", type=SOURCE_NAME, nargs=-1)
@click.option(
    "--warc",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write; compressed, record by record, if its name ends in .gz. It must not exist.",
)
@project_option
def command(sources: tuple[str, ...], warc: Path | None, project: Project) -> None:
    """Write the stored documents of SOURCES (all that keep some, if none is named) to a WARC 1.1 file.

    \b
    Example:
      ultracrawl export handbook --warc handbook.warc.gz
    """  # noqa: D301 - click's mark for a block that keeps its lines
    if warc is None:
        file = next((name for name in sources if ".warc" in name), "documents.warc.gz")
        raise Mistake.NO_WARC.error(
            instead=" ".join(["ultracrawl export", *(n for n in sources if n != file), f"--warc {file}"])
        )
    chosen = [source for source in known_sources(project, sources) if stored_documents_exist(project, source)]
    if not chosen:
        raise Mistake.NOTHING_STORED.error()
    written = _write(warc, (answer for source in chosen for answer in _answers(project, source)))
    none = "" if written else ": none is stored yet; `ultracrawl crawl` stores what it reads"
    click.echo(f"{counted(written, 'document')} in {warc}{none}")


def _answers(project: Project, source: DataSource) -> Iterator[StoredAnswer]:
    with closing(open_documents(project, source)) as store:
        yield from filter(None, map(store.get, store.stored_keys()))


def _write(path: Path, answers: Iterator[StoredAnswer]) -> int:
    """Write the file and return the number of documents; removed on errors. Raises `UserError`, `WorkError`."""
    with convert_write_errors(path):
        try:
            file = path.open("xb")
        except FileExistsError as error:
            raise Mistake.FILE_EXISTS.error(file=path) from error
        try:
            with file:
                return _write_records(file, answers, compress=path.suffix == ".gz")
        except BaseException:
            path.unlink(missing_ok=True)
            raise


def _write_records(file: BinaryIO, answers: Iterator[StoredAnswer], *, compress: bool) -> int:
    number = 0
    file.write(warc_info(f"ultracrawl/{__version__}", time.time(), compress=compress))
    for number, answer in enumerate(answers, 1):  # noqa: B007 - the count is the result
        file.write(warc_response(answer, compress=compress))
    return number
