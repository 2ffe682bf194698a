from datetime import UTC, datetime

import pytest
from support.sentences import sentence

from ultracrawl.model import Document
from ultracrawl.rules.attributes.mapping import AttributeMap
from ultracrawl.rules.attributes.schema import (
    DEFAULT_ATTRIBUTES,
    OTHER_FIELDS,
    AttributeType,
    SearchAttribute,
    attribute_schema,
)
from ultracrawl.rules.attributes.values import convert

SCHEMA = attribute_schema(
    [
        SearchAttribute("Product"),
        SearchAttribute("Price", AttributeType.NUMBER),
        SearchAttribute("Published", AttributeType.DATE),
    ]
)


def document(**changes):
    return Document("https://Www.Example.com:8443/a", "https://inner.example/a", "s", **changes)


def mapped(mapping=None, *, fallback=False, **changes):
    return AttributeMap(mapping or {}, SCHEMA, fallback).map(document(**changes))


def test_ultra_search_50_eight_defaults_from_a_web_page():
    found = mapped(
        title="Heron",
        language="en",
        mimetype="text/HTML; charset=utf-8",
        last_modified="Wed, 01 May 2024 10:00:00 GMT",
        attributes={"author": ["Ann"], "description": ["About herons"], "subject": ["birds"]},
    ).values
    assert found == {
        "Title": ["Heron"],
        "Author": ["Ann"],
        "Description": ["About herons"],
        "Subject": ["birds"],
        "Mimetype": ["text/html"],
        "Language": ["en"],
        "Host": ["www.example.com"],
        "LastModifiedDate": [datetime(2024, 5, 1, 10, tzinfo=UTC)],
    }
    assert set(found) == {attribute.name for attribute in DEFAULT_ATTRIBUTES}


def test_host_is_that_of_the_display_url():
    assert mapped().values["Host"] == ["www.example.com"]


@pytest.mark.parametrize(
    ("mapping", "attributes", "expected"),
    [
        pytest.param(
            {"dc.creator": "Author"},
            {"dc.creator": ["Bo"]},
            {"Author": ["Bo"]},
            id="ultra_search_48 other name",
        ),
        pytest.param(
            {"author": "Product"}, {"author": ["Bo"]}, {"Product": ["Bo"]}, id="ultra_search_49 remapped"
        ),
        pytest.param(
            {"DC.Creator": "Author"}, {"dc.creator": ["Bo"]}, {"Author": ["Bo"]}, id="case of META names"
        ),
        pytest.param(
            {"dc.creator": "Author"},
            {"dc.creator": ["Bo", "Cy"], "author": ["Ann", "Bo"]},
            {"Author": ["Ann", "Bo", "Cy"]},
            id="several values, each once",
        ),
        pytest.param(
            {}, {"generator": ["x"], "og:title": ["y"]}, {}, id="unmapped attributes are not searchable"
        ),
        pytest.param(
            {"price": "Price"},
            {"price": ["12.50", " 3 "]},
            {"Price": [12.5, 3.0]},
            id="ultra_search_52 numbers",
        ),
        pytest.param(
            {"date": "Published"},
            {"date": ["2024-05-01"]},
            {"Published": [datetime(2024, 5, 1, tzinfo=UTC)]},
            id="ultra_search_52 date",
        ),
        pytest.param({"product": "Product"}, {"product": [" ", ""]}, {}, id="blank values"),
    ],
)
def test_mapping(mapping, attributes, expected):
    found = mapped(mapping, attributes=attributes)
    assert {name: values for name, values in found.values.items() if name != "Host"} == expected
    assert found.dropped == []


def test_a_value_that_does_not_fit_is_dropped_with_its_name():
    found = mapped({"price": "Price"}, last_modified="yesterday", attributes={"price": ["cheap", "7"]})
    assert found.values["Price"] == [7.0]
    assert "LastModifiedDate" not in found.values
    assert [(one.name, one.attribute.name) for one in found.dropped] == [
        ("lastmodifieddate", "LastModifiedDate"),
        ("price", "Price"),
    ]
    assert str(found.dropped[1]) == sentence("attributes.no_number")


@pytest.mark.parametrize(
    ("fallback", "attributes", "description"),
    [
        pytest.param(False, {}, None, id="ultra_search_58 stays empty"),
        pytest.param(True, {}, ["The body text."], id="ultra_search_59 from the body"),
        pytest.param(True, {"description": ["Own"]}, ["Own"], id="a META description wins"),
        pytest.param(
            True, {"description": [" "]}, ["The body text."], id="a blank META description does not"
        ),
    ],
)
def test_description(fallback, attributes, description):
    found = mapped(fallback=fallback, text="The body text.", attributes=attributes)
    assert found.values.get("Description") == description


def test_a_long_text_is_cut_at_a_word_for_the_description():
    ((description,),) = [mapped(fallback=True, text="heron " * 100).values["Description"]]
    assert len(description) <= 200
    assert description.endswith("heron")


def test_names_with_a_beginning_are_kept_under_the_rest_of_their_names():
    schema = {**SCHEMA, OTHER_FIELDS.name: OTHER_FIELDS}
    attributes = {
        "doc:Product": ["Pump"],
        "doc:price": ["12"],
        "doc:author": ["Ann"],
        "other": ["x"],
        "doc:": ["y"],
    }
    kept = AttributeMap({}, schema, keeps=("doc:",))
    assert kept.map(document(attributes=attributes)).values == {
        "Host": ["www.example.com"],
        "Product": ["Pump"],
        "RD_Fields": ["price=12"],
    }, "a rule for `author` says what that attribute gets"
    assert kept.is_searchable("doc:price")
    assert not kept.is_searchable("other")
    assert "RD_Fields" not in AttributeMap({}, schema).map(document(attributes=attributes)).values


@pytest.mark.parametrize(("language", "expected"), [("fr", ["fr"]), ("", ["de"])])
def test_ultra_search_41_default_language(language, expected):
    found = AttributeMap({}, SCHEMA, False, "de").map(document(language=language))
    assert found.values["Language"] == expected


def test_an_unknown_search_attribute_is_refused():
    with pytest.raises(KeyError):
        AttributeMap({"a": "Nowhere"}, SCHEMA)


MOMENT = datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        (" a  b ", AttributeType.STRING, "a  b"),
        ("", AttributeType.STRING, None),
        ("-1.5e3", AttributeType.NUMBER, -1500.0),
        ("nan", AttributeType.NUMBER, None),
        ("inf", AttributeType.NUMBER, None),
        ("1e999", AttributeType.NUMBER, None),
        ("1_000", AttributeType.NUMBER, None),
        ("1,5", AttributeType.NUMBER, None),
        ("Sun, 06 Nov 1994 08:49:37 GMT", AttributeType.DATE, MOMENT),
        ("Sunday, 06-Nov-94 08:49:37 GMT", AttributeType.DATE, MOMENT),
        ("Sun Nov  6 08:49:37 1994", AttributeType.DATE, MOMENT),
        ("1994-11-06T08:49:37Z", AttributeType.DATE, MOMENT),
        ("1994-11-06T10:49:37+02:00", AttributeType.DATE, MOMENT),
        ("1994-11-06 08:49:37", AttributeType.DATE, MOMENT),
        ("1994-11", AttributeType.DATE, datetime(1994, 11, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:59", AttributeType.DATE, None),
        ("soon", AttributeType.DATE, None),
    ],
)
def test_convert(text, kind, value):
    assert convert(text, kind) == value
