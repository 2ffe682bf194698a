"""Plug-ins are found without being loaded; what is missing, broken or there twice is said in a line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from support.named import named
from support.project import ROOT, Workspace
from support.sentences import sentence

from ultracrawl import __version__
from ultracrawl.content.converters.registry import converter_for, converter_table, missing, type_of_name
from ultracrawl.errors import UserError
from ultracrawl.index.engines import IndexConfig, open_index
from ultracrawl.model import DefinitionError
from ultracrawl.rules.filters.functions import BUILT_IN
from ultracrawl.sources import Project, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.filter_files.custom_functions import installed_functions
from ultracrawl.sources.filter_files.filter_file import read_filters
from ultracrawl.sources.mistakes import format_names
from ultracrawl.system import plugins
from ultracrawl.system.plugins import CONVERTERS, ENGINES, REWRITERS, SOURCE_KINDS, STORES, PluginError

Bring = Callable[..., None]
Define = Callable[..., Project]


@pytest.fixture
def bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bring:
    """Have a package installed with entry points, and modules with the code of each."""

    def install(
        package: str, group: str, modules: dict[str, str] | None = None, *requires: str, **entries: str
    ) -> None:
        folder = tmp_path / package
        about = folder / f"{package}-1.0.dist-info"
        about.mkdir(parents=True)
        needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
        (about / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n{needs}\nRequires-Dist: ultracrawl<0.1\n"
        )
        lines = [f"{name.replace('_', '-')} = {value}" for name, value in entries.items()]
        (about / "entry_points.txt").write_text("\n".join([f"[ultracrawl.{group}]", *lines]))
        for name, code in (modules or {}).items():
            (folder / f"{name}.py").write_text(code)
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.syspath_prepend(str(folder))

    return install


@pytest.fixture
def define(tmp_path: Path) -> Define:
    def written(top: dict[str, object] | None = None, **source: object) -> Project:
        file = tmp_path / "ultracrawl.yaml"
        source = {"start_urls": ["https://www.example.com/"], **source}
        file.write_text(yaml.safe_dump({**(top or {}), "sources": {"s": source}}, sort_keys=False))
        return require(read_definitions(file))

    return written


def problem(define: Define, *place: object, **source: object) -> str:
    with pytest.raises(DefinitionError) as raised:
        define(*place, **source)
    (finding,) = raised.value.findings
    assert finding.line > 0
    return f"{finding.key}: {finding.problem}; {finding.instead}"


def test_nothing_is_imported_before_it_is_loaded(bring: Bring) -> None:
    bring(
        "far",
        "engines",
        FAR,
        far="far_engine:open_it",
    )
    assert "far" in ENGINES.names
    assert (ENGINES.find("far").package, "far_engine" in sys.modules) == ("far", False)
    assert open_index(IndexConfig("far", Path())) == "opened"


FAR = {"far_engine": "def open_it(*, path, attributes):\n    return 'opened'\n"}


@pytest.mark.parametrize(
    "requires",
    [
        [],
        ["ultracrawl"],
        ["ultracrawl[serve]>=0.1,<99"],
        [f"ultracrawl=={__version__}"],
        ["ultracrawl<0.1; extra == 'old'"],
        ["ultracrawl-birds<0.1", "other<0.1"],
        ["ultracrawl ???"],
    ],
)
def test_a_package_that_serves_this_version_is_loaded(bring: Bring, requires: list[str]) -> None:
    bring("far", "engines", FAR, *requires, far="far_engine:open_it")
    assert open_index(IndexConfig("far", Path())) == "opened"


@pytest.mark.parametrize(
    "requires",
    [
        ["ultracrawl<0.1"],
        ["UltraCrawl (>=99)"],
        ["other", "ultracrawl[serve]>=0.1,<0.1.0; python_version > '3'"],
    ],
)
def test_a_package_for_other_versions_is_named_and_not_imported(bring: Bring, requires: list[str]) -> None:
    bring("far", "engines", FAR, *requires, far="far_engine:open_it")
    with pytest.raises(PluginError) as raised:
        open_index(IndexConfig("far", Path()))
    assert "package far " in str(raised.value)
    assert __version__ in str(raised.value)
    assert "far_engine" not in sys.modules


def test_a_command_says_in_a_line_that_a_package_is_for_other_versions(bring: Bring, tmp_path: Path) -> None:
    bring("far", "engines", FAR, "ultracrawl<0.1", far="far_engine:open_it")
    workspace = Workspace(tmp_path)
    workspace.write({"index": {"engine": "far"}, "sources": {"s": {"start_urls": ["http://birds.example/"]}}})
    ended = workspace.command("search", "heron", PYTHONPATH=f"{ROOT}:{tmp_path / 'far'}")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("top", "source", "expected"),
    [
        ({"index": {"engine": "wosh"}}, {}, "index.engine: there is no index engine `wosh`; write `whoosh`"),
        (
            {"state": {"engine": "paper"}},
            {},
            sentence("plugins.no_state_store", names=format_names(sorted(STORES.names))),
        ),
        (
            {"indexes": {"more": {"engine": "memory", "path": "x"}}},
            {},
            sentence("plugins.no_index_engine", names=format_names(sorted(ENGINES.names))),
        ),
        (
            {},
            {"type": "gopher"},
            sentence("plugins.no_type_of_source", names=format_names(sorted(SOURCE_KINDS.names))),
        ),
        (
            {},
            {"urls": {"rewriter": "mine"}},
            "sources.s.urls.rewriter: there is no URL rewriter `mine`; "
            "write a dotted path, or install the package that brings it",
        ),
        (
            {},
            {"options": {"pages": 3}},
            "sources.s.options.pages: sources of this type have no option `pages`; remove it",
        ),
    ],
)
def test_what_nobody_brings_is_a_mistake_in_its_line(
    define: Define, top: dict[str, object], source: dict[str, object], expected: str
) -> None:
    assert problem(define, top, **source) == expected


def test_ours_is_not_shadowed_by_another_of_its_name(bring: Bring, define: Define) -> None:
    bring("rival", "engines", whoosh="rival:Index")
    told = problem(define, {"index": {"engine": "whoosh"}})
    assert (told.partition(":")[0], named(told)) == ("index.engine", ["whoosh"])
    assert "rival (rival:Index)" in told
    assert "ultracrawl (ultracrawl.index.whoosh:WhooshIndex)" in told
    with pytest.raises(PluginError, match=r"rival:Index"):
        open_index(IndexConfig("whoosh", Path()))
    assert define({"index": {"engine": "tantivy"}}), "who does not need it is not concerned"


def test_a_package_that_is_on_the_path_twice_is_one(bring: Bring, tmp_path: Path) -> None:
    bring("twice", "rewriters", mine="twice_module:Mine")
    (tmp_path / "again").mkdir()
    (tmp_path / "twice" / "twice-1.0.dist-info").rename(tmp_path / "again" / "twice-1.0.dist-info")
    sys.path.insert(0, str(tmp_path / "again"))
    try:
        assert REWRITERS.find("mine").package == "twice"
    finally:
        sys.path.remove(str(tmp_path / "again"))


def test_a_plug_in_that_fails_is_a_line_with_its_package_for_who_needs_it(
    bring: Bring, define: Define
) -> None:
    broken = {"broken_module": "import no_such_module_anywhere\n"}
    bring("fails", "engines", broken, fails="broken_module:Engine")
    define({"index": {"engine": "fails"}})
    with pytest.raises(UserError) as raised:
        open_index(IndexConfig("fails", Path()))
    assert named(str(raised.value)) == ["fails", "no_such_module_anywhere"]
    assert "package fails" in str(raised.value)
    assert "ModuleNotFoundError" in str(raised.value)


def test_a_store_that_fails_keeps_a_crawl_from_beginning_with_a_line(bring: Bring, tmp_path: Path) -> None:
    bring("fails", "stores", {"broken_store": "import no_such_module_anywhere\n"}, fails="broken_store:Store")
    workspace = Workspace(tmp_path)
    workspace.write(
        {"state": {"engine": "fails"}, "sources": {"s": {"start_urls": ["https://www.example.com/"]}}}
    )
    ended = workspace.command("crawl", PYTHONPATH=f"{ROOT}:{tmp_path / 'fails'}")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert named(ended.err) == ["fails", "no_such_module_anywhere"]
    assert "package fails" in ended.err


def test_a_type_of_sources_that_fails_is_a_mistake_of_its_source(bring: Bring, define: Define) -> None:
    bring("kinds", "source_kinds", {"kinds_module": "1 / 0\n"}, cards="kinds_module:Cards", odd="sys:maxsize")
    told = problem(define, type="cards")
    assert (told.partition(":")[0], named(told)) == ("sources.s.type", ["cards"])
    assert "package kinds" in told
    assert "ZeroDivisionError" in told
    assert "ultracrawl.spiders.SourceSpider" in problem(define, type="odd")


def converters(types: str, more: str = "") -> dict[str, str]:
    code = "from ultracrawl.content.converters.registry import Converter\n"
    return {"own_converters": f"{code}OURS = [Converter('own_reader', {types}{more})]\n"}


def test_a_converter_brings_its_types_and_suffixes(bring: Bring, define: Define) -> None:
    bring(
        "own",
        "converters",
        converters("('application/x-own',)", ", suffixes=('own',)"),
        own="own_converters:OURS",
    )
    found = converter_for("application/x-own")
    assert found is not None
    assert (found.module, "own_reader" in sys.modules) == ("own_reader", False)
    assert (type_of_name("a.OWN"), type_of_name("a.csv")) == ("application/x-own", "text/csv")
    source = define().sources["s"]
    assert "application/x-own" in source.conversion.types
    assert "application/x-own" in source.links.all_types
    assert "application/x-own" not in define(links={"types": ["text/html"]}).sources["s"].links.all_types


def test_what_a_converter_lacks_is_said_with_what_brings_it(bring: Bring) -> None:
    lacking = converters("('application/x-more',)", ", needs=('no_such_module',), install='own[all]'")
    bring("own", "converters", lacking, own="own_converters:OURS")
    assert missing("application/x-more").endswith("pip install 'own[all]'")


def test_two_converters_of_one_type_name_both_packages(bring: Bring) -> None:
    bring("own", "converters", converters("('application/pdf',)"), own="own_converters:OURS")
    with pytest.raises(PluginError) as raised:
        converter_table()
    for part in (
        "application/pdf",
        "own (own_converters:OURS)",
        "ultracrawl (ultracrawl.content.converters.registry:CONVERTERS)",
    ):
        assert part in str(raised.value)


@pytest.mark.parametrize(
    ("code", "told"),
    [("raise SystemExit(1)\n", "cannot be loaded: SystemExit: 1"), ("OURS = [1]\n", "has the wrong type")],
)
def test_a_converter_that_fails_stops_only_sources_with_types_that_nobody_reads(
    bring: Bring, define: Define, code: str, told: str
) -> None:
    bring("own", "converters", {"own_converters": code}, own="own_converters:OURS")
    define(types=["text/html", "text/*", "application/pdf"])
    line = problem(define, types=["text/html", "application/x-own"])
    assert line.startswith(sentence("plugins.converter_failed"))
    assert told in line
    assert told in missing("application/x-own")


MARKED = (
    "from ultracrawl.rules.filters import filter_function\n"
    "@filter_function('{name}')\n"
    "def function(pb, csf, csr):\n    return 0\n"
)


def test_functions_of_packages_may_stand_in_filters(bring: Bring) -> None:
    bring("own", "filter_functions", {"own_functions": MARKED.format(name="mine")}, own="own_functions")
    assert installed_functions().by_name.keys() == {*BUILT_IN, "mine"}


def test_a_function_that_two_packages_bring_names_both(bring: Bring) -> None:
    bring(
        "own",
        "filter_functions",
        {"own_functions": MARKED.format(name="filter-by-exact")},
        own="own_functions",
    )
    with pytest.raises(
        PluginError, match=r"the filter function 'filter-by-exact' is provided by .*own.*ultracrawl"
    ):
        installed_functions()


def test_functions_that_cannot_be_loaded_are_named_where_one_is_missing(bring: Bring) -> None:
    from ultracrawl.rules.filters.function import Robot
    from ultracrawl.rules.filters.phase import FilterKind

    bring("own", "filter_functions", {"own_functions": "1 / 0\n"}, own="own_functions")
    text = "<Filter name=g>\nGenerate fn=extract-html-text\nGenerate fn=mine\n</Filter>\n"
    read = read_filters(text)
    read.compile("g", FilterKind.GENERATION, Robot())
    (finding,) = read.text.findings
    assert (finding.line, named(finding.problem)) == (3, ["mine"])
    assert "package own" in finding.instead
    assert "ZeroDivisionError" in finding.instead


def test_without_what_an_installation_says_one_line_tells_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Not the checkout itself: an installation leaves what it says beside the package, too.
    (tmp_path / "ultracrawl").symlink_to(Path(__file__).parents[2] / "ultracrawl")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    with pytest.raises(UserError) as raised:
        ENGINES.find("whoosh")
    assert "\n" not in str(raised.value)
    assert "pip install --editable ." in str(raised.value)


def test_a_conversion_process_gets_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    told = [[one.name, one.reference] for one in CONVERTERS.all_plugins()]
    monkeypatch.setattr(CONVERTERS, "_passed_on", None)
    monkeypatch.setattr(sys, "path", [])
    CONVERTERS.use_plugins(told)
    assert converter_for("text/markdown") is not None


PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
(BOOKMARKS,) = (block for block in BLOCKS if "BOOKMARKS = " in block)


def test_a_dialect_of_a_package_is_known_to_all_commands(bring: Bring, tmp_path: Path) -> None:
    bring("marks", "dialects", {"own_dialect": BOOKMARKS}, bookmarks="own_dialect:BOOKMARKS")
    path = {"PYTHONPATH": f"{ROOT}:{tmp_path / 'marks'}"}
    workspace = Workspace(tmp_path)
    (tmp_path / "mine.txt").write_text("# bookmarks\nhttps://a.example/\nhttps://b.example/x\n")
    converted = workspace.command("convert", "mine.txt", **path)
    assert (converted.code, converted.err) == (0, "")
    sources = yaml.safe_load(converted.out)["sources"]
    assert sources["mine"]["start_urls"] == ["https://a.example/", "https://b.example/x"]
    assert "a list of bookmarks" in workspace.command("lint", "--help", **path).out
    (tmp_path / "mine.txt").write_text("# bookmarks\nhttps://a.example/\nwhatever\n")
    linted = workspace.command("lint", "mine.txt", **path)
    assert (linted.code, linted.out.startswith("mine.txt:3 ")) == (2, True)


def test_a_dialect_that_fails_stops_its_files_only(bring: Bring, define: Define, tmp_path: Path) -> None:
    bring("broken", "dialects", {"broken_dialect": "1 / 0\n"}, broken="broken_dialect:IT")
    assert define(), "YAML is not concerned"
    (tmp_path / "mine.txt").write_text("whatever")
    with pytest.raises(PluginError, match="package broken"):
        read_definitions(tmp_path / "mine.txt")
    (tmp_path / "c.xml").write_text("<CrawlerConfig/>")
    assert read_definitions(tmp_path / "c.xml").findings, "another dialect is not concerned"


@pytest.mark.parametrize(
    "code",
    [
        "IT = 3",
        "from ultracrawl.sources.dialects import Dialect\nIT = Dialect('it', lambda *head: True, lambda path: 1 / 0)",
        "from ultracrawl.sources.dialects import Dialect\nIT = Dialect('it', lambda name, head: 1 / 0, print)",
    ],
)
def test_what_a_dialect_raises_is_a_line_with_its_package(bring: Bring, tmp_path: Path, code: str) -> None:
    bring("raises", "dialects", {"raising_dialect": code}, raises="raising_dialect:IT")
    (tmp_path / "mine.txt").write_text("whatever")
    with pytest.raises(PluginError, match="package raises"):
        read_definitions(tmp_path / "mine.txt")


def test_a_file_that_two_dialects_recognise_names_both_packages(bring: Bring, tmp_path: Path) -> None:
    greedy = (
        "from ultracrawl.sources.dialects import Dialect\nIT = Dialect('it', lambda name, head: True, print)"
    )
    bring("greedy", "dialects", {"greedy_dialect": greedy}, greedy="greedy_dialect:IT")
    (tmp_path / "c.xml").write_text("<CrawlerConfig/>")
    with pytest.raises(PluginError, match=r"(?s)greedy.*ultracrawl|ultracrawl.*greedy"):
        read_definitions(tmp_path / "c.xml")


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_what_the_page_shows_runs(number: int) -> None:
    exec(BLOCKS[number], {"__name__": "shown"})


def test_the_page_names_every_group() -> None:
    groups = [one.group for one in vars(plugins).values() if isinstance(one, plugins.PluginGroup)]
    assert [group for group in groups if f"`{group}`" not in PAGE.read_text(encoding="utf-8")] == []
