"""An engine and a destination of another package get options and secrets, which no command line and no file shows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr
from support.project import LOOPBACK, ROOT, Workspace
from support.site import Site

from ultracrawl.errors import UserError
from ultracrawl.index import IndexDocument
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.index.project_index import index_config
from ultracrawl.index.writing.cache import DocumentCache
from ultracrawl.index.writing.process import IndexProcess
from ultracrawl.index.writing.project_outputs import destination_config
from ultracrawl.index.writing.segments import Committed
from ultracrawl.model import DefinitionError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.searching.options import SearchingOptions
from ultracrawl.service.searching.orders import SearchOrder
from ultracrawl.service.searching.requests import Searching
from ultracrawl.sources import Project, load_project, require
from ultracrawl.sources.writing import definition_text

KEY = "Tr0ub4dor-and-3"
VAULT = """
import os
from pathlib import Path
from ultracrawl.errors import UserError
from ultracrawl.index.destinations import Destination
from ultracrawl.index.whoosh import WhooshIndex

class Vault(WhooshIndex):
    def __init__(self, *, path, attributes, options):
        place = Path(options["place"])
        note(place)
        if options.get("key") != "Tr0ub4dor-and-3":
            raise UserError("the vault does not open")
        super().__init__(place / "documents", attributes)

class Box(Destination):
    def __init__(self, name, options):
        self._place, self._key = Path(options["place"]), options.get("key")
        note(self._place)

    def deliver(self, batch):
        if self._key != "Tr0ub4dor-and-3":
            raise UserError("the box does not open")
        with (self._place / "delivered").open("a") as file:
            print(len(batch.changes), file=file)
        return len(batch.changes)

def note(place):
    place.mkdir(exist_ok=True)
    for pid in ("self", os.getppid()):
        with (place / "command-lines").open("ab") as file:
            file.write(Path(f"/proc/{pid}/cmdline").read_bytes() + b"\\n")
"""


@pytest.fixture(autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have the package installed; returns the search path for modules."""
    folder = tmp_path_factory.mktemp("vault")
    about = folder / "vault-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: vault\nVersion: 1.0\n")
    entries = "[ultracrawl.engines]\nvault = vault:Vault\n[ultracrawl.destinations]\nbox = vault:Box\n"
    (about / "entry_points.txt").write_text(entries)
    (folder / "vault.py").write_text(VAULT)
    monkeypatch.syspath_prepend(str(folder))
    path = f"{ROOT}:{folder}"
    monkeypatch.setenv("PYTHONPATH", path)
    return path


@pytest.fixture
def site() -> Site:
    return Site()


def project_of(folder: Path, **top: object) -> Project:
    sources = {"sources": {"birds": {"start_urls": ["http://birds.example/"]}}}
    (folder / "ultracrawl.yaml").write_text(yaml.safe_dump({**top, **sources}))
    return require(load_project(folder / "ultracrawl.yaml"))


def problems_of(folder: Path, **top: object) -> list[str]:
    with pytest.raises(DefinitionError) as raised:
        project_of(folder, **top)
    assert all(one.line for one in raised.value.findings)
    return [one.key for one in raised.value.findings]


def command_lines(place: Path) -> bytes:
    return (place / "command-lines").read_bytes()


@pytest.fixture
def locked(tmp_path: Path) -> Project:
    """A project whose index needs a key, which is in a file."""
    (tmp_path / "key").write_text(f"{KEY}\n")
    place = str(tmp_path / "vault")
    return project_of(
        tmp_path, index={"engine": "vault", "options": {"place": place}, "secrets": {"key": "file:key"}}
    )


def test_a_crawl_and_a_search_pass_them_on_and_show_them_nowhere(
    site: Site, url: str, tmp_path: Path, package: str
) -> None:
    site.page("/", title="Heron", text="the grey heron")
    workspace, place = Workspace(tmp_path), tmp_path / "places"
    place.mkdir()
    secrets = {"key": "${VAULT_KEY}"}
    workspace.write(
        {
            "index": {"engine": "vault", "options": {"place": str(place / "index")}, "secrets": secrets},
            "indexes": {
                "more": {"engine": "vault", "options": {"place": str(place / "more")}, "secrets": secrets}
            },
            "destinations": {
                "box": {"type": "box", "options": {"place": str(place / "box")}, "secrets": secrets}
            },
            "sources": {
                "site": {
                    "start_urls": [url],
                    "boundary": LOOPBACK,
                    "politeness": {"delay": 0},
                    "settings": {"LOG_LEVEL": "DEBUG"},
                    "feeding": {
                        "destinations": {
                            "first": {},
                            "second": {"index": "more"},
                            "third": {"destination": "box"},
                        }
                    },
                }
            },
        }
    )
    crawled = workspace.crawl(hosted=False, PYTHONPATH=package, VAULT_KEY=KEY)
    assert (crawled.run["outcomes"], crawled.run["problems"]) == ({"NEW": 1}, [])
    searches = [
        workspace.command(
            "search", "--json", "--as-typed", "heron", *words, PYTHONPATH=package, VAULT_KEY=KEY
        )
        for words in ([], [], ["--index", "more"])
    ]
    assert [[hit["title"] for hit in one.json["hits"]] for one in searches] == [["Heron"]] * 3
    assert (place / "box" / "delivered").read_text() == "1\n"
    for name in ("index", "more", "box"):
        assert b"ultracrawl.index.writing.worker" in command_lines(place / name)
    said = [one.out + one.err for one in (crawled, *searches)]
    files = [one.read_bytes() for one in tmp_path.rglob("*") if one.is_file()]
    assert not [one for one in (*files, *map(str.encode, said)) if KEY.encode() in one]
    without = workspace.command("search", "heron", PYTHONPATH=package)
    assert (without.code, without.err.count("\n"), "VAULT_KEY" in without.err) == (2, 1, True)


def test_the_index_process_gets_them_by_its_input(locked: Project, tmp_path: Path) -> None:
    config = index_config(locked)
    cache = DocumentCache(tmp_path / "cache")
    cache.append(1, IndexDocument("birds", "http://birds.example/", "Heron", "grey"))
    sealed = cache.seal()
    assert sealed is not None
    for text in (repr(config), config.to_json(), config.shared_name(), repr(locked)):
        assert KEY not in text
    process = IndexProcess(config)
    process.submit(sealed)
    (report,) = process.close(60)
    assert isinstance(report, Committed)
    assert open_index(config).count() == 1
    assert b"ultracrawl.index.writing.worker" in command_lines(tmp_path / "vault")
    assert KEY.encode() not in command_lines(tmp_path / "vault")


def test_crawls_share_an_index_process_only_with_equal_options(locked: Project) -> None:
    config = index_config(locked)
    other = IndexConfig(
        config.engine, config.path, config.attributes, {"place": "/elsewhere"}, config.secrets
    )
    changed = IndexConfig(config.engine, config.path, config.attributes, config.options, {"key": "new"})
    assert config.shared_name() != other.shared_name()
    assert config.shared_name() == changed.shared_name(), "nothing that others see depends on a secret"
    assert IndexConfig.from_json(config.to_json(), config.options_to_json()) == config


def test_a_search_process_reads_the_secret_itself(locked: Project, tmp_path: Path) -> None:
    index = open_index(index_config(locked))
    index.apply([IndexDocument("birds", "http://birds.example/", "Heron", "grey")])
    index.close()
    searching = Searching(lambda: locked, options=SearchingOptions(processes=1, timeout=60.0))
    anybody = Requester("token:any", RequesterKind.TOKEN, Role.READER, ())
    try:
        found = asyncio.run(searching.run(anybody, SearchOrder("heron")))
    finally:
        searching.close()
    assert found["total"] == 1
    assert KEY.encode() not in command_lines(tmp_path / "vault")


@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("given", ["options", "secrets"])
def test_an_engine_without_options_refuses_them(tmp_path: Path, engine: str, given: str) -> None:
    project = project_of(tmp_path, index={"engine": engine, given: {"key": "${HOME}"}})
    with pytest.raises(UserError) as raised:
        open_index(index_config(project))
    assert engine in str(raised.value)
    assert os.environ["HOME"] not in str(raised.value)
    ended = Workspace(tmp_path).command("lint")
    assert (ended.code, "index.engine" in ended.out + ended.err) == (2, True)


def test_mistakes_have_their_place(tmp_path: Path) -> None:
    twice = {"options": {"key": "a"}, "secrets": {"key": "${B}"}}
    assert problems_of(tmp_path, index={"engine": "vault", **twice}) == ["index"]
    assert problems_of(tmp_path, indexes={"more": {"secrets": {"key": 7}}}) == ["indexes.more.secrets.key"]
    jsonl = {"type": "jsonl", "path": "x.jsonl"}
    assert problems_of(tmp_path, destinations={"x": {**jsonl, "secrets": {"key": "${B}"}}}) == [
        "destinations.x"
    ]


def test_a_secret_in_clear_is_advised_against_and_never_kept_for_searches(tmp_path: Path) -> None:
    (tmp_path / "var" / "state").mkdir(parents=True)
    options = {"engine": "vault", "options": {"place": str(tmp_path / "vault")}, "secrets": {"key": KEY}}
    project_of(tmp_path, index=options)
    (finding,) = load_project(tmp_path / "ultracrawl.yaml").findings
    assert (finding.key, finding.fatal) == ("index.secrets.key", False)
    ended = Workspace(tmp_path).command("search", "heron", PYTHONPATH=os.environ["PYTHONPATH"])
    assert KEY not in ended.out + ended.err
    assert [file.name for file in tmp_path.rglob("*") if file.is_file() and KEY in file.read_text()] == [
        "ultracrawl.yaml"
    ]


def test_options_survive_writing_and_a_destination_gets_both(tmp_path: Path) -> None:
    place = {"options": {"place": "here"}, "secrets": {"key": "${HOME}"}}
    project = project_of(
        tmp_path,
        index={"engine": "vault", **place},
        indexes={"more": {"engine": "vault", **place}},
        destinations={"box": {"type": "box", **place}},
    )
    written = yaml.safe_load(definition_text(project, tmp_path))
    for section in (written["index"], written["indexes"]["more"], written["destinations"]["box"]):
        assert {name: section[name] for name in place} == place
    assert destination_config(project, "box").options == {"place": "here", "key": os.environ["HOME"]}
    assert project.indexes["more"].path == tmp_path / "var" / "indexes" / "more"
    assert project.index.secrets["key"] == SecretStr("${HOME}")
