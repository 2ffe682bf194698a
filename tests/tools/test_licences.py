"""The page of licences names what users install, and marks what has conditions."""

from __future__ import annotations

import re
import tomllib
from email.message import Message
from importlib.metadata import distribution
from types import SimpleNamespace

import licences
import pytest
from packaging.requirements import Requirement
from support.project import ROOT

ROWS = {
    name.strip("*"): (name.startswith("**"), licence)
    for name, licence in re.findall(r"^\| (\S+) \| (.+?) \| .+ \|$", licences.PAGE.read_text(), re.MULTILINE)
}


OPTIONAL = {"typing-extensions", "backports-zstd", "async-timeout"}
"""What only some versions of Python need."""


def test_the_page_names_what_every_installation_brings() -> None:
    assert {name for name, extras in licences.packages().items() if "" in extras} - ROWS.keys() <= OPTIONAL


def test_the_page_names_what_each_extra_brings() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    chosen = [one for name in extras.keys() - licences.NOT_FOR_USERS for one in extras[name]]
    assert {Requirement(one).name.lower() for one in chosen} - {"ultracrawl"} <= ROWS.keys()


@pytest.mark.parametrize("name", ["psycopg", "py7zr", "pycurl", "certifi"])
def test_licences_with_conditions_are_marked(name: str) -> None:
    marked, licence = ROWS[name]
    assert marked
    assert licence == licences.licence_of(distribution(name))


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "other")], "MIT"),
        ([("Classifier", "License :: OSI Approved :: MIT License")], "MIT License"),
        ([("License", "BSD\nand all its text")], "BSD"),
        ([("License", "A | B")], "A / B"),
        ([], "unknown"),
    ],
)
def test_a_licence_is_one_line(fields: list[tuple[str, str]], licence: str) -> None:
    about = Message()
    for name, value in fields:
        about[name] = value
    assert licences.licence_of(SimpleNamespace(metadata=about)) == licence
