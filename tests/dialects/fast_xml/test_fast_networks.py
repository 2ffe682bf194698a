"""The file of networks beside collections: closed without it, open by it, for all collections of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fast import fast_options, fast_xml

from ultracrawl.sources import Loaded, compile_source
from ultracrawl.sources.dialects import read_definitions

START = {"start_uris": ("http://portal.example/",), "include_domains/suffix": (".example",)}
PART = f'<SubDomain name="part">{fast_options({"include_domains/exact": ("p.example",)})}</SubDomain>'
OTHER = f'</DomainSpecification><DomainSpecification name="other">{fast_options(START)}'


def load(folder: Path, networks: str | None) -> Loaded:
    if networks is not None:
        (folder / "networks.txt").write_text(networks)
    (folder / "collection.xml").write_text(fast_xml(START, inside=PART + OTHER))
    return read_definitions(folder / "collection.xml")


def reachable(loaded: Loaded, address: str) -> set[bool]:
    """Return whether the sources may reach an address; they should agree."""
    assert loaded.project
    sources = loaded.project.sources
    assert set(sources) == {"handbook", "handbook.part", "other"}
    return {compile_source(source).addresses.refuses(address) is None for source in sources.values()}


@pytest.mark.parametrize("address", ["10.1.2.3", "fd12::1", "127.0.0.1", "169.254.169.254"])
def test_without_the_file_nothing_inside_is_reached(tmp_path: Path, address: str) -> None:
    assert reachable(load(tmp_path, None), address) == {False}


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("10.1.2.3", True),
        ("fd12::1", True),
        ("10.2.0.1", False),
        ("127.0.0.1", False),
        ("169.254.169.254", False),
    ],
)
def test_the_file_opens_what_it_names_and_no_more(tmp_path: Path, address: str, inside: bool) -> None:
    loaded = load(tmp_path, "# ours\n\n 10.1.0.0/16 \nfd12::/48\n10.1.0.0/16\n")
    assert loaded.findings == ()
    assert reachable(loaded, address) == {inside}


@pytest.mark.parametrize("line", ["10.1.2.3/16", "intranet.example", "10.1.*"])
def test_a_line_that_is_no_network_is_reported_with_its_place(tmp_path: Path, line: str) -> None:
    loaded = load(tmp_path, f"10.1.0.0/16\n{line}\n")
    assert loaded.project is None
    (finding,) = loaded.findings
    assert (finding.file, finding.line) == (str(tmp_path / "networks.txt"), 2)
    assert finding.problem.startswith("E-VALUE")
    assert "10.1.0.0/16" in finding.instead


def test_a_file_that_is_no_text_is_one_finding(tmp_path: Path) -> None:
    (tmp_path / "networks.txt").write_bytes(b"\xff\xfe\x00")
    (finding,) = load(tmp_path, None).findings
    assert finding.problem.startswith("E-VALUE: cannot be read")
