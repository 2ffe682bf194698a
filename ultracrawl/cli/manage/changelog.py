"""`ultracrawl changelog`: prints the SQL of the change log of a table source."""

from __future__ import annotations

import os

import click

from ultracrawl.agents.table.kind import require_extra
from ultracrawl.agents.table.section import TableSection
from ultracrawl.cli.mistakes import Mistake
from ultracrawl.cli.options import SOURCE_NAME, chosen_sources, project_option
from ultracrawl.sources import Project
from ultracrawl.sources.secrets import SecretReader


@click.command("changelog")
@click.argument("source", type=SOURCE_NAME)
@project_option
def command(source: str, project: Project) -> None:
    """Print the SQL that creates the change log of SOURCE, a table, and the triggers that fill it.

    It is for PostgreSQL, MariaDB or SQLite, as `connection` says; run it once with the right to change the table.
    `changes: {log: NAME}` of the source names the log. No connection is made.

    \b
    Examples:
      ultracrawl changelog tickets | psql tickets
      ultracrawl changelog tickets | sqlite3 tickets.db
    """  # noqa: D301 - click's mark for a block that keeps its lines
    (definition,) = chosen_sources(project, [source])
    if not isinstance(definition, TableSection):
        raise Mistake.NO_TABLE.error(name=source)
    require_extra()
    from ultracrawl.agents.table.triggers import change_log_sql  # noqa: PLC0415 - brings SQLAlchemy

    secrets = SecretReader(os.environ, project.key_file)
    click.echo(change_log_sql(definition, secrets, project.base), nl=False)
