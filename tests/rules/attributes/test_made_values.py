"""Document attributes made by rules, from the definition to the search attributes of a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.sentences import sentence

from ultracrawl.content.reader import PageHeaders
from ultracrawl.model import Document
from ultracrawl.sources import Loaded, compile_source, load_project, require

HTML = b"""<html><head><title>Blue kettle</title><meta name="sku" content="K-7"></head><body>
<p class="price">12.50</p><p class="price">13</p><p class="price">cheap</p>
<span id="no"> A <b>b</b> </span></body></html>"""
URL = "https://shop.example.com/products/kettle"


def load(tmp_path: Path, **source: Any) -> Loaded:
    options = {"start_urls": ["https://shop.example.com/"], **source}
    definition = {"attributes": {"Price": "number", "Label": "string"}, "sources": {"shop": options}}
    file = tmp_path / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump(definition, sort_keys=False))
    return load_project(file)


def made(tmp_path: Path, url: str = URL, **source: Any) -> dict[str, Any]:
    project = require(load(tmp_path, **source))
    rules = compile_source(project.sources["shop"], project)
    page = rules.reader.read(HTML, url, "text/html", PageHeaders("text/html"))
    assert page is not None
    document = Document(
        url, url, "shop", page.title, page.text, "en", "text/html", attributes={**page.meta, **page.picked}
    )
    return dict(rules.attributes.map(document).values)


@pytest.mark.parametrize(
    ("rules", "values"),
    [
        pytest.param("=Sales", ["Sales"], id="constant"),
        pytest.param({"constant": "Sales"}, ["Sales"], id="constant in full"),
        pytest.param("{host}/{title}", ["shop.example.com/Blue kettle"], id="template"),
        pytest.param("{sku} {path} {SOURCE}", ["K-7 /products/kettle shop"], id="template with attributes"),
        pytest.param("{nothing}!", None, id="template with a hole"),
        pytest.param({"regexp": r"/products/(\w+)"}, ["kettle"], id="expression over the URL"),
        pytest.param({"regexp": r"\d+", "of": "text"}, ["12", "50", "13"], id="expression over the text"),
        pytest.param({"regexp": r"K-(\d)", "of": "SKU"}, ["7"], id="expression over an attribute"),
        pytest.param({"css": ".price"}, ["12.50", "13", "cheap"], id="css"),
        pytest.param({"css": "meta[name=sku]", "attribute": "Content"}, ["K-7"], id="css with attribute"),
        pytest.param({"css": ".nothing"}, None, id="css without an element"),
        pytest.param({"xpath": "//span[@id='no']"}, ["A b"], id="xpath of an element"),
        pytest.param({"xpath": "//meta/@content"}, ["K-7"], id="xpath of an attribute"),
        pytest.param({"xpath": "count(//p)"}, ["3"], id="xpath of a number"),
        pytest.param({"xpath": "//span[contains(.)]"}, None, id="xpath that fails on the page"),
        pytest.param({"css": ".nothing", "default": "free"}, ["free"], id="default"),
        pytest.param({"css": ".price", "default": "free"}, ["12.50", "13", "cheap"], id="default not needed"),
        pytest.param({"css": ".price", "strip": "1p"}, ["2.50", "3", "chea"], id="stripped"),
        pytest.param({"css": ".price", "strip": "12.503cheap", "default": "x"}, ["x"], id="nothing left"),
        pytest.param(["=a", "=b", "=a"], ["a", "b"], id="several rules"),
        pytest.param(
            {"constant": "x", "urls": "https://shop.example.com/products/"}, ["x"], id="urls inside"
        ),
        pytest.param({"constant": "x", "urls": [{"suffix": ".pdf"}]}, None, id="urls outside"),
        pytest.param({"css": ".price", "urls": [{"suffix": ".pdf"}]}, None, id="css outside"),
    ],
)
def test_every_kind_of_rule(tmp_path: Path, rules: Any, values: list[str] | None) -> None:
    assert made(tmp_path, extract={"label": rules}).get("Label") == values


def test_values_that_do_not_fit_are_dropped_and_counted(tmp_path: Path) -> None:
    project = require(load(tmp_path, extract={"Price": {"css": ".price"}}))
    rules = compile_source(project.sources["shop"], project)
    page = rules.reader.read(HTML, URL, "text/html")
    assert page is not None
    found = rules.attributes.map(Document(URL, URL, "shop", attributes=page.picked))
    assert found.values["Price"] == [12.5, 13.0]
    assert [one.value for one in found.dropped] == ["cheap"]


def test_rules_use_what_was_made_before(tmp_path: Path) -> None:
    rules = {
        "no": {"xpath": "//span[@id='no']"},
        "short": {"regexp": r"\w", "of": "no"},
        "label": "{short}-{no}",
    }
    assert made(tmp_path, extract=rules)["Label"] == ["A-A b"]


def test_what_is_made_takes_the_place_of_meta_and_is_mapped_like_it(tmp_path: Path) -> None:
    mapping = {"sku": "Label"}
    assert made(tmp_path, attributes=mapping)["Label"] == ["K-7"]
    assert made(tmp_path, attributes=mapping, extract={"sku": "=X"})["Label"] == ["X"]
    assert made(tmp_path, attributes=mapping, extract={"sku": {"css": ".nothing"}})["Label"] == ["K-7"]


def test_without_rules_nothing_is_looked_for(tmp_path: Path) -> None:
    project = require(load(tmp_path))
    assert compile_source(project.sources["shop"], project).reader.picks is None


@pytest.mark.parametrize(
    ("extract", "problem"),
    [
        pytest.param({"label": "Sales"}, "write `=Sales` for a constant", id="plain text"),
        pytest.param({"label": "{host"}, sentence("attributes.brace_no_partner"), id="open brace"),
        pytest.param({"label": "{host.__class__!r}"}, "names no field", id="format tricks"),
        pytest.param({"label": {"regexp": "("}}, "cannot be used", id="expression"),
        pytest.param({"label": {"css": "p["}}, "is no CSS selector", id="css"),
        pytest.param({"label": {"xpath": "//a["}}, "is no XPath 1.0 expression", id="xpath"),
        pytest.param(
            {"label": {"xpath": "foo()"}}, sentence("attributes.no_function_foo"), id="xpath function"
        ),
        pytest.param(
            {"label": {"xpath": "//p[foo(.)]"}},
            sentence("attributes.no_function_foo"),
            id="xpath inner function",
        ),
        pytest.param(
            {"label": {"xpath": "//p[$x]"}}, sentence("attributes.no_variable_x"), id="xpath variable"
        ),
        pytest.param(
            {"label": {"xpath": "zzz:test()"}},
            sentence("attributes.no_namespace_prefix_zzz"),
            id="xpath prefix",
        ),
        pytest.param(
            {"label": {"xpath": "//svg:path"}},
            sentence("attributes.no_namespace_prefix_svg"),
            id="xpath element prefix",
        ),
        pytest.param(
            {"label": {"xpath": "string(document('file:///etc/passwd'))"}},
            sentence("attributes.no_function_document"),
            id="xpath document",
        ),
        pytest.param(
            {"label": {"xpath": "substring('a')"}}, "Invalid number of arguments", id="xpath arguments"
        ),
        pytest.param({"label": {"css": "p", "regexp": "x"}}, "this one has 2", id="two kinds"),
        pytest.param({"label": {"urls": ["https://x/"]}}, "this one has 0", id="no kind"),
        pytest.param({"label": {"constant": "x", "attribute": "y"}}, "belongs to `css`", id="attribute"),
        pytest.param({"lable": "=x"}, "write `Label`", id="leads nowhere"),
    ],
)
def test_a_bad_rule_is_a_finding_with_its_place(tmp_path: Path, extract: Any, problem: str) -> None:
    (finding,) = load(tmp_path, extract=extract).findings
    assert problem in str(finding)
    assert finding.key.startswith("sources.shop.extract.")
    assert finding.line >= 9


def test_ultra_search_48_49_one_search_attribute_of_two_sources_and_one_name_in_two_meanings(
    tmp_path: Path,
) -> None:
    page = Document(URL, URL, "s", attributes={"version": ["3"], "revision": ["4"], "language": ["C"]})
    first = require(load(tmp_path, attributes={"version": "Label", "language": "Language"}))
    second = require(load(tmp_path, attributes={"revision": "Label", "language": "Subject"}))
    one = compile_source(first.sources["shop"], first).attributes.map(page).values
    other = compile_source(second.sources["shop"], second).attributes.map(page).values
    assert (one["Label"], other["Label"]) == (["3"], ["4"])
    assert "C" in one["Language"]
    assert other["Subject"] == ["C"]
