import pytest
from support.sentences import sentence

from ultracrawl.sources.dialects import is_yaml, locate_definitions, read_definitions

YAML = b"sources: {a: {start_urls: https://a.example/}}\n"


XML = "N-EMPTY: contains no collection"
BROKEN = "E-XML: is not well-formed XML: no element found"
PART = "is only a part of a portal robot's configuration"


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.yaml", b'<?xml version="1.0"?>\n<CrawlerConfig/>', XML),
        ("a.yaml", b"\xef\xbb\xbf<CrawlerConfig>", BROKEN),
        ("a.yaml", "\ufeff<CrawlerConfig/>".encode("utf-16-le"), XML),
        ("a.xml", b"<Login>", BROKEN),
        (
            "robot.conf",
            b'# robot\n<Process csid="x"\n  depth="-1">\n</Process>\n',
            sentence("definitions.cannot_read_no_such_file"),
        ),
        ("filter.conf", b'<Filter name="x">\n</Filter>\n', PART),
        ("filter.conf", b"# rules\n", PART),
        ("rules", b'# rules\n<FilterRule name="x">\n</FilterRule>\n', PART),
        ("classification.conf", b'Classify source=path by=is string="/" category="x"\n', PART),
    ],
)
def test_formats_are_recognised_by_content(tmp_path, name, data, problem):
    file = tmp_path / name
    file.write_bytes(data)
    loaded = read_definitions(file)
    assert problem in [finding.problem for finding in loaded.findings]
    assert loaded.project is None
    assert not is_yaml(file)


@pytest.mark.parametrize("name", ["a.yaml", "a.xml", "rules"])
def test_other_files_are_yaml(tmp_path, name):
    (tmp_path / name).write_bytes(YAML)
    assert list(read_definitions(tmp_path / name).project.sources) == ["a"]
    assert is_yaml(tmp_path / name)


def test_folders_and_missing_files_go_to_yaml(tmp_path):
    (tmp_path / "ultracrawl.yaml").write_bytes(YAML)
    assert list(read_definitions(tmp_path).project.sources) == ["a"]
    assert "no such file" in read_definitions(tmp_path / "none").findings[0].problem


def test_where_definitions_are_looked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ULTRACRAWL_CONFIG", raising=False)
    assert locate_definitions() is None
    (tmp_path / "ultracrawl.yaml").write_bytes(YAML)
    assert locate_definitions() == "ultracrawl.yaml"
    monkeypatch.setenv("ULTRACRAWL_CONFIG", "other.yaml")
    assert locate_definitions() == "other.yaml"
    assert locate_definitions("named.yaml") == "named.yaml"
