"""Builds all files of a release from its tag; publishing them is left to a person.

    python tools/release.py [STEP ...]

Without steps the folder `dist` is made anew. Exit status 2: this checkout is no release; 1: a step failed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PACKAGES, CONTAINER = DIST / "packages", DIST / "container"
BUILDERS = ("docker", "podman", "buildah")
"""Programs that build a container image; the first that works is used."""
IMAGES = ("slim", "chromium")
_RELATIVE = re.compile(r"(!?)\[[^\]]*\]\((?![a-z]+:|#)")
_VERSION = re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)


class NotReleasableError(Exception):
    """A checkout that is no release; its text says why."""


@dataclass(frozen=True)
class Release:
    """What is built: a copy of what was committed, the time of the commit (seconds since 1970), where its pages are."""

    version: str
    epoch: int
    tree: Path
    pages: str


def section_of(changelog: str, version: str) -> str:
    """Return what the changelog says of a version, without the heading; empty if it says nothing."""
    found = re.search(
        rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    return found[1].strip() if found else ""


def version_of(root: Path) -> str:
    """Return the version whose tag is checked out; `NotReleasableError` if that is no release."""
    if not (root / ".git").exists():
        raise NotReleasableError("this is no clone of the repository")
    if _git(root, "status", "--porcelain"):
        raise NotReleasableError("there are changes that are not committed: `git status` shows them")
    tags = [tag for tag in _git(root, "tag", "--points-at", "HEAD").split() if tag.startswith("v")]
    if len(tags) != 1:
        raise NotReleasableError(
            f"the commit has {len(tags)} tags of releases; check out one, as: git checkout v1.2.3"
        )
    version = tags[0].removeprefix("v")
    stated = _VERSION.search((root / "ultracrawl" / "__init__.py").read_text())
    if not stated or stated[1] != version:
        raise NotReleasableError(
            f"the tag is {tags[0]}, but ultracrawl.__version__ is {stated and stated[1]}"
        )
    if not section_of((root / "CHANGELOG.md").read_text(), version):
        raise NotReleasableError(f"CHANGELOG.md says nothing below a heading ## [{version}]")
    if not pages_of(root, version):
        raise NotReleasableError("pyproject.toml does not say where the repository is: docs/releasing.md")
    return version


def pages_of(root: Path, version: str) -> str:
    """Return the address below which the files of a release can be read; empty if the owner has set none."""
    about = tomllib.loads((root / "pyproject.toml").read_text())
    pages = about.get("tool", {}).get("ultracrawl", {}).get("pages", "")
    return str(pages).format(tag=f"v{version}") if about["project"].get("urls") else ""


def with_absolute_links(text: str, pages: str) -> str:
    """Return a page of the repository as it can stand elsewhere; pictures need the file itself."""
    files = pages.replace("/blob/", "/raw/")
    return _RELATIVE.sub(lambda found: found[0] + (files if found[1] else pages), text)


def with_settled_times(archive: bytes, epoch: int) -> bytes:
    """Return a source distribution (tar.gz) without the times and accounts of the machine that made it."""
    written = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        tarfile.open(fileobj=written, mode="w") as new,
    ):
        for member in sorted(old.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if member.isdir() else 0o644, {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(written.getvalue(), mtime=epoch)


def build_packages(release: Release) -> None:
    """Build wheel and source distribution, with the same bytes each time."""
    constraints = release.tree / "requirements.lock"
    readme = release.tree / "README.md"
    readme.write_text(with_absolute_links(readme.read_text(), release.pages))
    _run(release, "uv", "build", "--quiet", "--no-create-gitignore", "--build-constraints", constraints,
         "--out-dir", PACKAGES, release.tree)  # fmt: skip
    source = PACKAGES / f"ultracrawl-{release.version}.tar.gz"
    source.write_bytes(with_settled_times(source.read_bytes(), release.epoch))


def build_core(release: Release) -> None:
    """Build the compiled core of the index for this machine, and its source distribution."""
    if not shutil.which("cargo"):
        if os.environ.get("CI"):
            raise subprocess.SubprocessError("cargo is missing, and a release has the compiled core")
        print("no cargo: the compiled core is not built (docs/compiled-core.md)")
        return
    # With zig the wheel needs no newer C library than that of 2014, whatever is installed here.
    old = ("--zig", "--compatibility", "manylinux_2_17") if sys.platform == "linux" else ()
    manifest = ("--manifest-path", release.tree / "core" / "Cargo.toml", "--out")
    made = release.tree.parent / "core"
    _run(release, "maturin", "sdist", *manifest, PACKAGES)
    _run(release, "maturin", "build", "--quiet", "--release", "--locked", *old, *manifest, made)
    (wheel,) = made.glob("*.whl")
    # Its list of crates (CycloneDX) names the folder in which it was built.
    _run(release, "wheel", "unpack", "--dest", made, wheel)
    (content,) = (path for path in made.iterdir() if path.is_dir())
    for crates in content.glob("*.dist-info/sboms/*"):
        crates.write_text(crates.read_text().replace(f"file://{release.tree}", "file:///ultracrawl"))
    _run(release, "wheel", "pack", "--dest-dir", PACKAGES, content)


def lock_containers(release: Release) -> None:
    """Write what an image needs, and the versions with hashes that get into it."""
    shutil.copytree(release.tree / "container", CONTAINER, dirs_exist_ok=True)
    project = tomllib.loads((release.tree / "pyproject.toml").read_text())["project"]
    (everything,) = project["optional-dependencies"]["all"]
    extras = re.findall(r"[\w-]+", everything.removeprefix("ultracrawl"))
    for image, left_out in (("chromium", ""), ("slim", "javascript")):
        chosen = [word for extra in extras if extra != left_out for word in ("--extra", extra)]
        _run(release, "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-header",
             "--no-annotate", "--python-version", "3.11", *chosen, "--constraints", "requirements.lock",
             "--output-file", CONTAINER / f"{image}.txt", "pyproject.toml", cwd=release.tree)  # fmt: skip


def list_components(release: Release) -> None:
    """Write the bill of materials (CycloneDX) of an installation with all extras, in locked versions."""
    (wheel,) = PACKAGES.glob("ultracrawl-*.whl")
    python = release.tree.parent / "installation" / "bin" / "python"
    _run(release, "uv", "venv", "--quiet", "--python", sys.executable, python.parents[1])
    install = ("uv", "pip", "install", "--quiet", "--no-build", "--python", python)
    _run(release, *install, "--require-hashes", "--requirement", CONTAINER / "chromium.txt")
    _run(release, *install, "--no-deps", wheel)
    about = release.tree.parent / "pyproject.toml"
    text = (release.tree / "pyproject.toml").read_text()
    about.write_text(text.replace('dynamic = ["version"]', f'version = "{release.version}"'))
    _run(release, "cyclonedx-py", "environment", "--output-reproducible", "--pyproject", about,
         "--output-file", DIST / f"ultracrawl-{release.version}.cdx.json", python)  # fmt: skip


def build_images(release: Release) -> None:
    """Build the container images, or check the files for them and say that this is all."""
    _run(release, "hadolint", CONTAINER / "Dockerfile")
    _run(release, "check-jsonschema", "--quiet", "--builtin-schema", "vendor.compose-spec",
         *CONTAINER.glob("*.yaml"))  # fmt: skip
    builder = next((name for name in BUILDERS if _answers(name)), None)
    if not builder:
        print("no docker, podman or buildah works here: the container files were checked, no image was built")
        return
    for image in IMAGES:
        _run(release, builder, "build", "--file", CONTAINER / "Dockerfile", "--target", image,
             "--tag", f"ultracrawl:{image}", "--tag", f"ultracrawl:{release.version}-{image}", DIST)  # fmt: skip


def write_notes(release: Release) -> None:
    """Write the notes of the release."""
    text = section_of((release.tree / "CHANGELOG.md").read_text(), release.version)
    (DIST / "NOTES.md").write_text(f"{with_absolute_links(text, release.pages)}\n")


STEPS: Mapping[str, Callable[[Release], None]] = {
    "packages": build_packages,
    "core": build_core,
    "lock": lock_containers,
    "sbom": list_components,
    "images": build_images,
    "notes": write_notes,
}
"""What is done, in this order; the checksums of all files are written at the end."""


def main(arguments: list[str] | None = None) -> int:
    """Build a release, or some steps of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"one of {', '.join(STEPS)}; default: all")
    steps = parser.parse_args(arguments).steps
    if unknown := [one for one in steps if one not in STEPS]:
        parser.error(f"there is no step {unknown[0]}; the steps are {', '.join(STEPS)}")
    try:
        version = version_of(ROOT)
    except NotReleasableError as error:
        print(f"not a release: {error}", file=sys.stderr)
        return 2
    if not steps:
        shutil.rmtree(DIST, ignore_errors=True)
    PACKAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        release = Release(
            version, int(_git(ROOT, "log", "-1", "--format=%ct")), tree, pages_of(ROOT, version)
        )
        # What was committed, and nothing else that lies in this folder.
        _git(ROOT, "archive", "--output", f"{tree}.tar", "HEAD")
        with tarfile.open(f"{tree}.tar") as archive:
            archive.extractall(tree, filter="data")
        try:
            for name in steps or STEPS:
                print(f"{name} …", flush=True)
                STEPS[name](release)
        except (subprocess.SubprocessError, OSError) as error:
            print(f"the step {name} failed: {error}", file=sys.stderr)
            return 1
    _write_checksums()
    print(f"ultracrawl {version} is in {DIST}; nothing was published (docs/releasing.md)")
    return 0


def _git(root: Path, *words: str) -> str:
    program = shutil.which("git") or "git"
    done = subprocess.run([program, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _run(release: Release, program: str, *words: object, cwd: Path | None = None) -> None:
    """Run a program; those of this environment come before others of the same name."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    cargo = os.environ.get("CARGO_HOME") or Path.home() / ".cargo"
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {
        "PATH": path,
        "SOURCE_DATE_EPOCH": str(release.epoch),
        "RUSTFLAGS": f"--remap-path-prefix={release.tree}=ultracrawl --remap-path-prefix={cargo}=cargo",
    }
    subprocess.run(
        [shutil.which(program, path=path) or program, *map(str, words)], cwd=cwd, check=True, env=environment
    )


def _answers(builder: str) -> bool:
    found = shutil.which(builder)
    return (
        bool(found)
        and subprocess.run([str(found), "info"], capture_output=True, check=False, timeout=60).returncode == 0
    )


def _write_checksums() -> None:
    sums = DIST / "SHA256SUMS"
    files = sorted(path for path in DIST.rglob("*") if path.is_file() and path != sums)
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(DIST).as_posix()}\n"
        for path in files
    ]
    sums.write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
