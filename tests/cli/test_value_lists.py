"""Lists of values: from YAML and XML to what users see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result
from support.sentences import sentence

from ultracrawl.cli.main import cli
from ultracrawl.errors import UserError
from ultracrawl.rules.attributes.schema import ListedValue, ValueList
from ultracrawl.sources import load_project, require
from ultracrawl.stores.project_stores import value_lists

XML = """<lists><attribute name="country" type="string">
<value v="de"><display lang="en">Germany</display><display lang="de">Deutschland</display></value>
<value v="fr"/></attribute><attribute name="Size"><value v="10"><display> ten  inches </display></value></attribute>
</lists>"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    define()
    return tmp_path


def define(**head: Any) -> None:
    attributes = {"Country": "string", "Size": "number"}
    sources = {"shop": {"start_urls": ["https://shop.example.com/"]}}
    Path("ultracrawl.yaml").write_text(
        yaml.safe_dump({"attributes": attributes, "sources": sources, **head}, sort_keys=False)
    )


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, words)


def load(xml: str) -> Result:
    Path("lists.xml").write_text(xml)
    return run("load-metadata", "--type", "lov", "lists.xml")


def rows(*words: str) -> list[Any]:
    return [json.loads(line) for line in run("lists", "--json", *words).output.splitlines()]


def test_ultra_search_54_57_the_loader_keeps_value_name_and_translations(folder: Path) -> None:
    assert load(XML).output == "Country: 2 values\nSize: 1 value\n"
    names = {"en": "Germany", "de": "Deutschland"}
    assert rows() == [
        {"attribute": "Country", "value": "de", "display": "Germany", "names": names},
        {"attribute": "Country", "value": "fr", "display": "fr", "names": {}},
        {"attribute": "Size", "value": "10", "display": "ten inches", "names": {"": "ten inches"}},
    ]


def test_ultra_search_55_a_value_need_not_occur_in_any_document(folder: Path) -> None:
    define(lists={"Country": ["atlantis"]})
    assert [row["value"] for row in rows("Country")] == ["atlantis"]


@pytest.mark.parametrize(
    ("language", "display"),
    [
        ("de", "Deutschland"),
        ("de-AT", "Deutschland"),
        ("DE_at", "Deutschland"),
        ("en", "Germany"),
        ("it", "Germany"),
    ],
    ids=lambda value: f"ultra_search_56-{value}",
)
def test_the_display_name_is_that_of_the_users_language(folder: Path, language: str, display: str) -> None:
    load(XML)
    assert rows("Country", "--language", language)[0]["display"] == display


def test_a_value_of_a_document_is_named() -> None:
    sizes = ValueList("Size", (ListedValue("10", {"": "ten"}),))
    assert (sizes.display_name(10.0), sizes.display_name(10.5), sizes.display_name("x")) == (
        "ten",
        "10.5",
        "x",
    )


def test_the_definition_wins_over_what_was_loaded(folder: Path) -> None:
    load(XML)
    define(lists={"Country": {"it": "Italy", "de": {"en": "FRG"}, "xx": None}})
    project = require(load_project("ultracrawl.yaml"))
    assert [(one.value, one.display_name("en")) for one in value_lists(project)["Country"].values] == [
        ("it", "Italy"),
        ("de", "FRG"),
        ("xx", "xx"),
        ("fr", "fr"),
    ]
    assert "Size" in value_lists(project)


def test_a_list_that_is_loaded_replaces_the_one_before(folder: Path) -> None:
    load(XML)
    load('<attribute name="Country"><value v="it"/></attribute>')
    assert [row["value"] for row in rows()] == ["it", "10"]


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        pytest.param(
            "<attribute name='Country'><value v='de'>", "is broken after the value `de`", id="cut off"
        ),
        pytest.param("<!DOCTYPE a [<!ENTITY x 'y'>]><attribute name='Country'/>", "DTD", id="entities"),
        pytest.param(
            "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><attribute name='Country'/>", "DTD", id="outside"
        ),
        pytest.param("<attribute><value v='de'/></attribute>", "has no `name`", id="no name"),
        pytest.param(
            "<attribute name='Country'><value/></attribute>", "a <value> of Country has no `v`", id="no v"
        ),
        pytest.param(
            "<attribute name='Contry'><value v='x'/></attribute>", "write `Country`", id="unknown attribute"
        ),
        pytest.param(
            "<attribute name='Size'><value v='big'/></attribute>", "is no number", id="type of value"
        ),
        pytest.param(
            "<attribute name='Size' type='date'/>",
            sentence("search.size_number_not_date"),
            id="type of attribute",
        ),
        pytest.param("<attribute name='Size' type='money'/>", "none of string", id="unknown type"),
        pytest.param("<attribute name='Country'><display/></attribute>", "in the wrong place", id="place"),
        pytest.param(
            "<attribute name='Country'><item/></attribute>", "<item> is unknown", id="unknown element"
        ),
        pytest.param("<lists/>", "has no list", id="empty"),
    ],
)
def test_a_file_with_a_mistake_changes_nothing(folder: Path, xml: str, problem: str) -> None:
    load(XML)
    before = rows()
    error = load(xml).exception
    assert isinstance(error, UserError)
    assert problem in str(error)
    assert str(error).startswith("lists.xml: ")
    assert rows() == before


@pytest.mark.parametrize(
    ("lists", "problem"),
    [
        ({"Contry": ["de"]}, "write `Country`"),
        ({"Size": ["big"]}, "is no number"),
        ({"Size": {True: "x"}}, "is no number"),
    ],
)
def test_a_mistake_in_the_definition_is_a_finding_with_its_place(
    folder: Path, lists: Any, problem: str
) -> None:
    define(lists=lists)
    (finding,) = load_project("ultracrawl.yaml").findings
    assert problem in str(finding)
    assert finding.key.startswith("lists")
    assert finding.line > 3


def test_search_names_listed_values_in_the_users_language(folder: Path) -> None:
    from ultracrawl.index import IndexDocument
    from ultracrawl.index.project_index import open_index

    load(XML)
    project = require(load_project("ultracrawl.yaml"))
    index = open_index(project)
    index.apply(
        [IndexDocument("shop", "https://x/", "Hotel", "a bed", {"Country": ["de"], "Subject": ["rest"]})]
    )
    index.close()
    (hit,) = json.loads(run("search", "bed", "--json", "--language", "de-CH").output)["hits"]
    assert hit["attributes"]["Country"] == ["de"]
    assert hit["display_names"] == {"Country": ["Deutschland"]}
    assert "display_names" not in json.loads(run("search", "bed", "--json").output)["hits"][0]
