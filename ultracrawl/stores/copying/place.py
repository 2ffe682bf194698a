"""Where stores are, as it is typed in one word: a folder, or a schema of a database."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import UserError
from ultracrawl.sources import Project
from ultracrawl.stores.port.engine import NamedStoreEngine, StoreEngine
from ultracrawl.stores.port.notes import Notes, NotesOf
from ultracrawl.stores.port.transfer import TransferEngine
from ultracrawl.stores.project_stores import state_options, store_engine

_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_DEFAULT_SCHEMA = "ultracrawl"


@dataclass(frozen=True, slots=True)
class StorePlace:
    """The stores of a project, in a folder or a database."""

    engine_name: str
    folder: Path
    """Where the stores are, or what an engine keeps on this machine beside them."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options of the engine; `password` is in no text."""

    def __str__(self) -> str:
        """Return its name for messages, which can be typed."""
        if not self.options:
            return str(self.folder)
        url, schema = self.options["url"], self.options["schema"]
        return f"{url}{'&' if '?' in url else '?'}schema={schema}"

    @property
    def engine(self) -> StoreEngine:
        """Its storage engine. Raises `UserError`."""
        return store_engine(self.engine_name, self.options)

    @property
    def named(self) -> NamedStoreEngine:
        """Its engine, which lists stores. Raises `UserError`."""
        engine = self.engine
        if not isinstance(engine, NamedStoreEngine):
            raise self._cannot_be_copied()
        return engine

    @property
    def transfer(self) -> TransferEngine:
        """Its engine, whose stores can be copied. Raises `UserError`."""
        engine = self.engine
        if not isinstance(engine, TransferEngine):
            raise self._cannot_be_copied()
        return engine

    def _cannot_be_copied(self) -> UserError:
        return UserError(
            f"the state store {self.engine_name!r} cannot be copied; `sqlite` and `postgresql` can"
        )

    def notes(self, source: str = "") -> Notes:
        """Return the notes of a source, or those of the service. Raises `UserError`."""
        of = NotesOf.SOURCE if source else NotesOf.SERVICE
        notes = self.engine.open_notes(self.folder, source, of)
        if notes is None:
            raise self._cannot_be_copied()
        return notes

    @property
    def definition(self) -> Mapping[str, str]:
        """What the section `state` of a definition says about this place."""
        if not self.options:
            return {"engine": self.engine_name, "path": str(self.folder)}
        wanted = {"engine": self.engine_name, "url": self.options["url"]}
        schema = self.options["schema"]
        return wanted if schema == _DEFAULT_SCHEMA else wanted | {"schema_name": schema}


def place_of(project: Project) -> StorePlace:
    """Return the place of the stores of a project. Raises `UserError`."""
    return StorePlace(project.state.engine, project.state.path, state_options(project))


def place_at(text: str, project: Project | None) -> StorePlace:
    """Return the place that was typed: a folder, `sqlite:FOLDER`, or `postgresql://USER@HOST/DATABASE?schema=NAME`.

    A database has what it keeps on this machine in the folder of `project`, whose password is used if it has the same
    database. Raises `UserError`.
    """
    scheme, separator, rest = text.partition(":")
    if separator and scheme in ("postgresql", "postgres"):
        return _database_at(text, project)
    if separator and scheme != "sqlite" and rest.startswith("//"):
        raise UserError(
            f"{text} is no place of stores; write a folder, `sqlite:FOLDER`, "
            "or `postgresql://USER@HOST/DATABASE?schema=NAME`"
        )
    folder = rest.removeprefix("//") if separator and scheme == "sqlite" else text
    if not folder:
        raise UserError("the folder is missing; write `sqlite:FOLDER`")
    return StorePlace("sqlite", Path(os.path.abspath(folder)))


def _database_at(text: str, project: Project | None) -> StorePlace:
    parts = urlsplit(text)
    values = parse_qsl(parts.query, keep_blank_values=True)
    if ("@" in parts.netloc and ":" in parts.netloc.rpartition("@")[0]) or "password" in dict(values):
        raise UserError(
            "a password in a URL is seen by everybody on this machine; leave it out, and write it into $PGPASSWORD, "
            "~/.pgpass, or `state.password` of the definition"
        )
    schema = dict(values).get("schema", _DEFAULT_SCHEMA)
    if not _SCHEMA.fullmatch(schema):
        raise UserError(f"{schema!r} is no name of a schema; write small letters, digits and `_`")
    kept = urlencode([one for one in values if one[0] != "schema"], safe="/,")
    url = urlunsplit(parts._replace(query=kept))
    options = {"url": url, "schema": schema}
    folder = Path(os.path.abspath("var/state"))
    if project is not None:
        folder = project.state.path
        if (project.state.url, project.state.schema_name) == (url, schema):
            options = state_options(project)
    return StorePlace("postgresql", folder, options)
