"""Settings in place of a definition: the same rules and checks, and every mistake under the name of its setting."""

from pathlib import Path
from typing import Any

import pytest
from support.named import named
from support.sentences import sentence

from ultracrawl.sources import Loaded, Project, require
from ultracrawl.sources.loading.settings_loader import load_settings, parse_rewrite_steps, source_name

START = ("http://www.example.com/",)


def loaded(*start_urls: str, **settings: Any) -> Loaded:
    named = {f"ULTRACRAWL_{name.upper()}": value for name, value in settings.items()}
    return load_settings({**named, "BOT_NAME": "b"}, "my spider", start_urls or START, Path("/data"))


def project(**settings: Any) -> Project:
    return require(loaded(**settings))


def reported(**settings: Any) -> list[str]:
    return [str(finding) for finding in loaded(**settings).fatal]


def test_without_settings_everything_is_as_by_default() -> None:
    whole = project()
    assert list(whole.sources) == ["my-spider"]
    assert whole.index.path == Path("/data/index")


def test_each_setting_is_an_option() -> None:
    whole = project(
        boundary={"domains": {"include": [".example.com"], "exclude": ("old.example.com",)}},
        rewrite_rules=["@/index\\.html$@/@"],
        rewriter="somebody.Rewriter",
        attributes={"author": "Author"},
        index="words",
    )
    source = whole.sources["my-spider"]
    assert [str(one.text) for one in source.boundary.domains.exclude] == ["old.example.com"]
    assert [rule.pattern for rule in source.urls.rewrite_rules] == ["/index\\.html$"]
    assert source.urls.rewriter == "somebody.Rewriter"
    assert dict(source.attributes) == {"author": "Author"}
    assert whole.index.path == Path("/data/words")


def test_on_a_command_line_a_setting_is_json() -> None:
    source = project(boundary='{"domains": {"include": ["a.example"]}}').sources["my-spider"]
    assert [one.text for one in source.boundary.domains.include] == ["a.example"]


def test_all_mistakes_are_reported_at_once_with_the_names_of_their_settings() -> None:
    found = loaded(
        boundary={"domain": {}, "schemes": ["gopher"]},
        rewrite_rules=["@a@", "canonicalize_url", {"url_cleaner": {}}, "@(@@"],
        index={"engine": "woosh"},
    ).fatal
    assert [finding.key for finding in found] == [
        "ULTRACRAWL_REWRITE_RULES.3",
        "ULTRACRAWL_INDEX.engine",
        "ULTRACRAWL_BOUNDARY.schemes.1",
        "ULTRACRAWL_BOUNDARY.domain",
        "ULTRACRAWL_REWRITE_RULES.1",
        "ULTRACRAWL_REWRITE_RULES.4",
    ]
    assert (found[3].file, named(found[3].instead)) == ("settings", ["domains: {include: [www.example.com]}"])


def test_a_mapping_of_attributes_defines_those_that_it_names() -> None:
    mapped = {
        "Author": "Author",
        "price": {"name": "Price", "type": "Number"},
        "cost": "Price",
        "ink": "Colour",
    }
    whole = project(attributes=mapped)
    source = whole.sources["my-spider"]
    assert dict(source.attributes) == {"author": "Author", "price": "Price", "cost": "Price", "ink": "Colour"}
    types = {name: whole.schema_attributes[name].type.value for name in ("Author", "Price", "Colour")}
    assert types == {"Author": "string", "Price": "number", "Colour": "string"}


def test_a_new_attribute_that_looks_like_a_slip_is_reported() -> None:
    found = loaded(attributes={"author": "Autor", "subject": {"name": "Subjekt", "type": "string"}})
    assert [(finding.key, finding.fatal) for finding in found.findings] == [
        ("ULTRACRAWL_ATTRIBUTES.author", False)
    ]
    assert "Author" in named(found.findings[0].instead)


@pytest.mark.parametrize(
    ("mapped", "place", "part"),
    [
        (["author"], "ULTRACRAWL_ATTRIBUTES", sentence("definitions.not_group_options")),
        ({"made": 5}, "ULTRACRAWL_ATTRIBUTES.made", sentence("definitions.not_group_options")),
        ({"made": {"type": "date"}}, "ULTRACRAWL_ATTRIBUTES.made.name", "is missing"),
        (
            {"made": {"name": "On", "type": "day"}},
            "ULTRACRAWL_ATTRIBUTES.made.type",
            sentence("definitions.not_known_value"),
        ),
        ({"made": "LastModifiedDate", "at": "lastmodifieddate"}, "ULTRACRAWL_ATTRIBUTES.at", "only in upper"),
        ({"by": {"name": "Author", "type": "date"}}, "ULTRACRAWL_ATTRIBUTES.by", "has the type `string`"),
        (
            {"a": {"name": "On", "type": "date"}, "b": {"name": "On", "type": "number"}},
            "ULTRACRAWL_ATTRIBUTES.b",
            "has the type `date`",
        ),
    ],
)
def test_a_mistake_in_the_mapping_names_its_member(mapped: Any, place: str, part: str) -> None:
    (line,) = reported(attributes=mapped)
    assert line.startswith(f"settings - {place} - ")
    assert part in line


@pytest.mark.parametrize(
    ("rules", "place", "part"),
    [
        (["canonicalize_url", "@a@"], "ULTRACRAWL_REWRITE_RULES.2", "separator three times"),
        ([{"url_cleaner": {}}], "ULTRACRAWL_REWRITE_RULES.1", "`url_cleaner` is no step of w3lib"),
        ([{"url_query_cleaner": {"list": ["a"]}}], "ULTRACRAWL_REWRITE_RULES.1", "unexpected keyword"),
        (["add_or_replace_parameter"], "ULTRACRAWL_REWRITE_RULES.1", "missing a required argument"),
    ],
)
def test_a_mistake_in_the_rewriting_names_its_member(rules: list[Any], place: str, part: str) -> None:
    (line,) = reported(rewrite_rules=rules)
    assert place in line
    assert part in line


def test_a_boundary_without_hosts_needs_start_urls() -> None:
    settings = {"ULTRACRAWL_BOUNDARY": {"schemes": ["https"]}}
    found = load_settings(settings, "s", (), Path("/data")).fatal
    assert [finding.key for finding in found] == ["ULTRACRAWL_BOUNDARY"]
    assert load_settings(settings, "s", START, Path("/data")).fatal == ()
    assert load_settings({}, "s", (), Path("/data")).fatal == ()


def test_what_only_sources_heed_is_an_advice() -> None:
    (advice,) = loaded(boundary={"networks": ["10.0.0.0/8"]}).findings
    assert (advice.key, advice.fatal) == ("ULTRACRAWL_BOUNDARY.networks", False)


def test_rules_and_steps_of_w3lib_go_in_their_order() -> None:
    steps = parse_rewrite_steps(
        {
            "ULTRACRAWL_REWRITE_RULES": [
                {"url_query_cleaner": {"parameterlist": ["sid"], "remove": True}},
                "@/old/@/new/@",
                "canonicalize_url",
            ]
        }
    )
    url = "http://a.example/old/?b=2&sid=9&a=1"
    for step in steps:
        url = step(url)
    assert url == "http://a.example/new/?a=1&b=2"


@pytest.mark.parametrize(
    ("spider", "name"), [("quotes", "quotes"), ("my spider/2", "my-spider-2"), ("é", "spider")]
)
def test_the_name_of_a_spider_becomes_that_of_a_source(spider: str, name: str) -> None:
    assert source_name(spider) == name
