import pytest

from ultracrawl.sources.dialects import DIALECTS, locate_definitions, read_definitions

YAML = b"sources: {a: {start_urls: https://a.example/}}\n"


@pytest.mark.parametrize(
    ("name", "data", "dialect"),
    [
        ("a.yaml", YAML, "yaml"),
        ("a.xml", YAML, "yaml"),
        ("a.yaml", b'<?xml version="1.0"?>\n<CrawlerConfig/>', "xml"),
        ("a.yaml", b"\xef\xbb\xbf<CrawlerConfig>", "xml"),
        ("a.yaml", "\ufeff<CrawlerConfig/>".encode("utf-16-le"), "xml"),
        ("robot.conf", b'# robot\n<Process csid="x"\n  depth="-1">\n</Process>\n', "robot.conf"),
        ("filter.conf", b'<Filter name="x">\n</Filter>\n', "part of a robot"),
        ("rules", b'# rules\n<FilterRule name="x">\n</FilterRule>\n', "part of a robot"),
        ("classification.conf", b'Classify source=path by=is string="/" category="x"\n', "part of a robot"),
        ("a.yaml", b"", "yaml"),
    ],
)
def test_formats_are_recognised_by_content(tmp_path, name, data, dialect):
    assert next(one.name for one in DIALECTS if one.recognises(data)) == dialect
    file = tmp_path / name
    file.write_bytes(data)
    loaded = read_definitions(file)
    if dialect == "yaml" and data:
        assert list(loaded.project.sources) == ["a"]
    elif data:
        problems = {
            "xml": "N-EMPTY: contains no collection"
            if b"/>" in data.replace(b"\0", b"")
            else "E-XML: is not well-formed XML: no element found",
            "robot.conf": "cannot be read: No such file or directory",
            "part of a robot": "is only a part of a portal robot's configuration",
        }
        assert problems[dialect] in [finding.problem for finding in loaded.findings]
        assert loaded.project is None


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
