"""All files of a release, as they would be published."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import zipfile
from email.parser import BytesParser
from pathlib import Path

import pytest
from support.project import ROOT

from .checkout import HOST, run_release
from .rehearsal import TOOLS, VERSION, build

pytestmark = [pytest.mark.servers, pytest.mark.timeout(1500)]  # compiles, and installs everything


def wheel_of(dist: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(dist / "packages" / f"ultracrawl-{VERSION}-py3-none-any.whl")


def test_checksums_name_every_file_and_nothing_else(dist: Path) -> None:
    listed = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    files = {path.relative_to(dist).as_posix(): path for path in dist.rglob("*") if path.is_file()}
    del files["SHA256SUMS"]
    assert {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()} == listed
    assert {path.name for path in (dist / "packages").iterdir()} == {
        f"ultracrawl-{VERSION}-py3-none-any.whl",
        f"ultracrawl-{VERSION}.tar.gz",
        *(path.name for path in (dist / "packages").glob("ultracrawl_core-*")),
    }


def test_the_wheel_has_the_package_with_all_its_files_and_nothing_of_the_tests(dist: Path) -> None:
    with wheel_of(dist) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(
        ["git", "ls-files", "ultracrawl"], cwd=dist.parent, capture_output=True, text=True, check=True
    )
    assert names == set(listed.stdout.splitlines())


def test_the_source_distribution_has_what_a_build_needs_and_no_tests(dist: Path) -> None:
    with tarfile.open(dist / "packages" / f"ultracrawl-{VERSION}.tar.gz") as archive:
        tops = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    assert tops >= {"LICENSE", "README.md", "pyproject.toml", "ultracrawl"}
    assert tops.isdisjoint({"tests", "var", "tools"})


def test_the_page_of_the_package_has_addresses_and_no_relative_link(dist: Path) -> None:
    with wheel_of(dist) as wheel:
        about = BytesParser().parsebytes(wheel.read(f"ultracrawl-{VERSION}.dist-info/METADATA"))
    assert any(HOST in url for url in about.get_all("Project-URL") or [])
    targets = re.findall(r"\]\(([^)]+)\)", str(about.get_payload()))
    assert targets
    assert [one for one in targets if not one.startswith(("https://", "http://", "#"))] == []


def test_the_wheel_of_the_core_needs_no_new_library_and_names_no_folder_of_this_machine(dist: Path) -> None:
    (file,) = (dist / "packages").glob("ultracrawl_core-*.whl")
    assert re.search(r"-cp311-abi3-manylinux2014_\w+\.manylinux_2_17_\w+\.whl$", file.name)
    with zipfile.ZipFile(file) as wheel:
        texts = {name: wheel.read(name) for name in wheel.namelist()}
    assert any(name.endswith(".cyclonedx.json") for name in texts)
    for name, text in texts.items():
        found = (str(Path.home() / ".cargo").encode() in text, b"/tmp/" in text)
        assert found == (False, False), name


@pytest.mark.skipif(not shutil.which("cargo"), reason="the compiled core needs cargo")
def test_the_same_tag_gives_the_same_bytes_elsewhere(dist: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "clone", "--quiet", dist.parent, tmp_path / "elsewhere"], check=True)
    build(tmp_path / "elsewhere", "packages", "core", "notes")
    first, second = (
        {path.relative_to(one): path.read_bytes() for path in one.rglob("*") if path.is_file()}
        for one in (dist, tmp_path / "elsewhere" / "dist")
    )
    assert [str(name) for name in second if second[name] != first[name]] == ["SHA256SUMS"]
    assert len(second) == 6


def test_the_bill_of_materials_names_version_licences_and_every_locked_package(dist: Path) -> None:
    bill = json.loads((dist / f"ultracrawl-{VERSION}.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["version"]) == (
        "ultracrawl",
        VERSION,
    )
    parts = {re.sub(r"[-_.]+", "-", one["name"]).lower(): one for one in bill["components"]}
    locked = dict(
        re.findall(
            r"^([a-z0-9-]+)==(\S+) \\$", (dist / "container" / "chromium.txt").read_text(), re.MULTILINE
        )
    )
    assert len(locked) > 80
    assert {name: parts[name]["version"] for name in locked} == locked
    assert parts["certifi"]["licenses"][0]["license"]["id"] == "MPL-2.0"
    whole = next(one for one in bill["dependencies"] if one["ref"] == "root-component")
    assert "scrapy" in {re.sub(r"==.*", "", one).lower() for one in whole["dependsOn"]}


def test_images_get_locked_versions_and_only_one_has_a_browser(dist: Path) -> None:
    slim, chromium = ((dist / "container" / f"{name}.txt").read_text() for name in ("slim", "chromium"))
    assert "playwright==" not in slim
    assert "playwright==" in chromium
    for name in ("scrapy", "fastapi", "tantivy"):
        (version,) = re.findall(rf"^{name}==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
        assert f"\n{name}=={version} \\\n    --hash=sha256:" in slim


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("Dockerfile", "--no-install-recommends ", ""),
        ("Dockerfile", "USER 10001:10001", "USERS 10001"),
        ("compose.yaml", "services:", "service:"),
    ],
)
def test_a_mistake_in_the_files_of_containers_ends_a_release(
    dist: Path, tmp_path: Path, name: str, old: str, new: str
) -> None:
    subprocess.run(["git", "clone", "--quiet", dist.parent, tmp_path / "spoilt"], check=True)
    file = tmp_path / "spoilt" / "dist" / "container" / name
    shutil.copytree(dist / "container", file.parent)
    file.write_text(file.read_text().replace(old, new))
    assert run_release(tmp_path / "spoilt", "images", python=TOOLS / "python").code == 1
