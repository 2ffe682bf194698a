"""A source as the files of a portal robot: it decides as before, and what cannot be said is told."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ultracrawl.crawl.portal_filters.filtering import Filtering
from ultracrawl.sources import CompiledSource, DataSource, compile_source, definition_text, require
from ultracrawl.sources.dialects import read_definitions
from ultracrawl.sources.dialects.portal_robot.export.files import RobotText, robot_text, write_robot
from ultracrawl.sources.dialects.portal_robot.export.writing import line, quoted
from ultracrawl.sources.dialects.portal_robot.lexer import read_text

DEFAULTS = files("ultracrawl.sources.dialects.portal_robot") / "defaults"
HOSTS = ("a.example", "b.a.example", "xa.example", "other.test", "10.example")
PORTS = ("", ":8080", ":8443")
PATHS = ("/", "/x", "/x/y.html", "/x/z.PNG?a=1", "/xy", "/q?print=1", "/x/a+b(c).zip")
URLS = [
    f"{scheme}://{host}{port}{path}"
    for scheme, host, port, path in product(("http", "https"), HOSTS, PORTS, PATHS)
]

hosts = st.lists(
    st.sampled_from(
        [
            "a.example",
            ".a.example",
            "b.a.example",
            "b.*",
            {"suffix": "a.example"},
            {"regexp": r"[ab]\..*"},
            "*",
        ]
    ),
    max_size=3,
    unique_by=str,
)
named = st.lists(st.sampled_from(["a.example", ".a.example", "b.a.example"]), max_size=2, unique=True)
prefixes = st.lists(st.sampled_from(["/x", "/x/", "/q?", "/x/a+b"]), max_size=2, unique=True)
ports = st.lists(st.sampled_from([80, 443, 8080, 8443]), max_size=2, unique=True)
uris = st.lists(
    st.sampled_from(
        [
            {"exact": "http://a.example/x"},
            "http://a.example/x",
            "https://b.a.example/",
            {"suffix": ".html"},
            {"suffix": "b(c).zip"},
            {"regexp": r".*\?print=.*"},
            {"regexp": r"(?i).*\.png.*"},
        ]
    ),
    max_size=2,
    unique_by=str,
)
places = st.sampled_from(["*", "a.example", "b.a.example"])


def _ports(choice: tuple[bool, list[int]]) -> dict[str, list[int]]:
    return {"include" if choice[0] else "exclude": choice[1]} if choice[1] else {}


boundaries = st.fixed_dictionaries(
    {
        "domains": st.fixed_dictionaries(
            {
                "include": st.one_of(named, hosts),
                "exclude": st.lists(st.sampled_from(["xa.example", "b.*"]), max_size=1),
            }
        ),
        "paths": st.dictionaries(
            places,
            st.fixed_dictionaries({"include": prefixes, "exclude": prefixes, "follow_only": prefixes}),
            max_size=2,
        ),
        "ports": st.dictionaries(places, st.tuples(st.booleans(), ports).map(_ports), max_size=2),
        "uris": st.fixed_dictionaries({"include": uris, "exclude": uris, "follow_only": uris}),
        "schemes": st.sampled_from([["http", "https"], ["https"], ["http", "https", "ftp"]]),
        "exclude_extensions": st.sampled_from([[], [".png", "zip"]]),
        "combine": st.sampled_from(["all", "all", "any"]),
        "index_dynamic": st.booleans(),
    }
)


def project_at(folder: Path, source: dict[str, Any]) -> tuple[Path, DataSource, CompiledSource]:
    file = folder / "ultracrawl.yaml"
    file.write_text(yaml.safe_dump({"sources": {"s": source}}))
    project = require(read_definitions(file))
    return file, project.sources["s"], compile_source(project.sources["s"], project)


def exported(file: Path) -> RobotText:
    project = require(read_definitions(file))
    (source,) = project.sources.values()
    return robot_text(project, source, str(file))


def reread(text: RobotText, folder: Path) -> DataSource:
    write_robot(text, folder)
    loaded = read_definitions(folder / "config" / "robot.conf")
    assert [str(one) for one in loaded.findings] == []
    (source,) = require(loaded).sources.values()
    return source


def verdicts(source: DataSource, urls: Iterable[str]) -> dict[str, tuple[bool, bool]]:
    """Return for each URL whether its links are followed, and whether it is described."""
    filtering = Filtering(source.filters, lambda: 0.0)
    judged = {url: filtering.judge(url, 0) for url in urls}
    return {url: (one.enumeration is not None, one.generation is not None) for url, one in judged.items()}


SEED_BESIDE_RULES = {
    "domains": {"include": ["a.example", "*"]},
    "uris": {"include": [{"exact": "http://a.example/x"}]},
    "combine": "any",
}


@given(boundaries)
@example(SEED_BESIDE_RULES)
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_a_boundary_decides_alike_as_filters_and_sites(boundary: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file, source, rules = project_at(
            folder, {"start_urls": ["https://a.example/x"], "boundary": boundary}
        )
        text = exported(file)
        left = {finding.key for finding in text.findings if finding.key.startswith("boundary")}
        if left:
            return  # what cannot be said was told
        seeds = rules.seeds
        expected = {}
        for url in URLS:
            inside = rules.boundary.rejects(url, seed=url in seeds) is None
            expected[url] = (inside, inside and rules.boundary.follow_only(url) is None)
        assert verdicts(reread(text, folder / "robot"), URLS) == expected
        assert source.start_urls == ("https://a.example/x",)


ROBOT = """<Process csid="x-catalog://h:80/docs" depth=4 server-delay=2 email=me@siroe.com user-agent=iPlanetRobot/4.0
   connect-timeout=30 max-filesize-kb=512 loglevel=3 onCompletion=loop cmd-hook="mail 'to me'" referer=http://r/
   username=jack password=boots auto-proxy=http://proxy:3128/ proxy-type=manual max-classifications=3 enable-ip=off
   enumeration-filter=enumeration-default generation-filter=generation-default index-after-ngenerated=5
</Process>
"""
SITES = """
<FilterRule name="only html" behavior=include default=off>
   Match source=url by=regex string=".*\\.html(\\?.*)?"
</FilterRule>
<FilterRule name=all>
   Match source=url by=regex string=".*"
</FilterRule>
<Site name=a.example>
   Host  name=a.example port=8080
   Host  name=a.example protocol=https
   Start url=https://a.example/ depth=1
   Use   rule=archive-files
   Use   rule=image-files enable=off
</Site>
<Site name=off.example enable=off>
</Site>
<Site name=a.example-below kind=domain>
   Host  name=a.example
   Start url=http://b.a.example/ enable=off
   Use   rule="only html"
   Use   rule=all
</Site>
"""


def robot_at(folder: Path) -> Path:
    config = folder / "config"
    config.mkdir(parents=True)
    for name in ("filter.conf", "filterrules.conf", "mime.types"):
        (config / name).write_text((DEFAULTS / name).read_text())
    with (config / "filterrules.conf").open("a") as rules:
        rules.write(SITES)
    (config / "classification.conf").write_text('Classify source=path by=contains string=/x category="A:B"\n')
    (config / "robot.conf").write_text(ROBOT)
    return config / "robot.conf"


def test_a_robot_comes_back_from_yaml_as_it_went(tmp_path: Path) -> None:
    first = robot_at(tmp_path / "first")
    project = require(read_definitions(first))
    (tmp_path / "second").mkdir()
    definition = tmp_path / "second" / "ultracrawl.yaml"
    definition.write_text(definition_text(project, definition.parent))
    text = exported(definition)
    assert [str(finding) for finding in text.findings] == []
    again = reread(text, tmp_path / "third")
    (before,) = project.sources.values()
    assert verdicts(again, URLS) == verdicts(before, URLS)
    assert len(set(verdicts(before, URLS).values())) == 2
    leave_out = {"filters"}
    assert again.model_dump(exclude=leave_out) == before.model_dump(exclude=leave_out)
    paths = {"file", "classification", "instance"}
    assert again.filters.model_dump(exclude=paths) == before.filters.model_dump(exclude=paths)
    twice = exported(tmp_path / "third" / "config" / "robot.conf")
    assert twice.files == text.files, "a second time nothing changes any more"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30))
@settings(max_examples=200)
def test_a_value_is_read_as_it_was_written(value: str) -> None:
    read = read_text(line("Match", ("string", value), ("by", "is")), "f", ("Match",))
    assert (read.findings, [one.get("string") for one in read.directives]) == ([], [value]), quoted(value)


UNSAID = {
    "networks": ({"boundary": {"networks": ["10.0.0.0/8"]}}, "boundary.networks"),
    "other hosts": ({"boundary": {"other_hosts": {"links": False}}}, "boundary.other_hosts"),
    "address mask": ({"boundary": {"domains": {"include": [{"mask": "192.0.2.0/24"}]}}}, "boundary.domains"),
    "attributes": ({"attributes": {"author": "Author"}}, "attributes"),
    "header": ({"headers": {"X-Team": "search"}}, "headers.X-Team"),
    "two users": (
        {
            "authentication": {
                "one": {"url": "https://a.example/", "user": "u", "password": "${P}"},
                "two": {"url": "https://a.example/x", "user": "v", "password": "${P}"},
            }
        },
        "authentication",
    ),
    "refresh": ({"refresh": {"mode": "scratch"}}, "refresh.mode"),
}


@pytest.mark.parametrize(("options", "key"), UNSAID.values(), ids=UNSAID)
def test_what_cannot_be_said_is_told_by_its_option(tmp_path: Path, options: dict[str, Any], key: str) -> None:
    source = {
        "start_urls": ["https://a.example/"],
        "sitemaps": {"use": False},
        "duplicates": {"detect": False},
        **options,
    }
    file, _, _ = project_at(tmp_path, source)
    found = exported(file).findings
    assert [(finding.key, finding.fatal) for finding in found] == [(key, False)]


@pytest.mark.parametrize("action", ["include", "exclude", "follow_only"])
def test_an_expression_that_a_robot_does_not_take_is_written_and_told(tmp_path: Path, action: str) -> None:
    expression = r"http://a\.example/(?!public/).*"
    uris = {action: [{"regexp": expression}]}
    sources = {"start_urls": ["http://a.example/public/"], "boundary": {"uris": uris}}
    file, _, _ = project_at(
        tmp_path, {**sources, "sitemaps": {"use": False}, "duplicates": {"detect": False}}
    )
    text = exported(file)
    found = text.findings[0]
    assert {one.key for one in text.findings} == {"boundary"}
    assert expression in found.problem
    write_robot(text, tmp_path / "robot")
    loaded = read_definitions(tmp_path / "robot" / "config" / "robot.conf")
    assert {Path(one.file).name for one in loaded.fatal} == {"filter.conf"}, (
        "it is not crawled without the rule"
    )


def test_own_functions_and_boundary_of_a_source_with_filters_are_taken_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "takes_along.py").write_text(
        "def judge(pb, csf, csr):\n    return -1 if '/x' in csr.url else 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    filters = "<Filter name=e>\nMetaData fn=judge\nEnumerate fn=enumerate-urls\n</Filter>\n<Filter name=g>\n</Filter>\n"
    (tmp_path / "filter.conf").write_text(filters)
    section = {
        "file": "filter.conf",
        "enumeration": "e",
        "generation": "g",
        "functions": {"judge": "takes_along.judge"},
    }
    source = {
        "start_urls": ["http://a.example/"],
        "sitemaps": {"use": False},
        "duplicates": {"detect": False},
        "filters": section,
    }
    file, _, _ = project_at(tmp_path, source)
    text = exported(file)
    assert [str(finding) for finding in text.findings] == []
    found = verdicts(reread(text, tmp_path / "robot"), URLS)
    assert found["http://a.example/"] == (True, True)
    assert found["http://a.example/x"] == (False, True), "the function of one's own"
    assert found["http://other.test/"] == (False, False), "the boundary"
