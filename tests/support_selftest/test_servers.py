"""The nginx runner, the documentation sites and the sample server do what tests take for granted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import docs, requirement
from support.client import ask
from support.nginx import nginx_site


@pytest.mark.servers
def test_nginx_serves_and_counts(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>one</title>")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("a")
    with nginx_site(tmp_path) as nginx:
        status, headers, body = ask(f"{nginx.url}/")
        assert (status, body, headers["content-type"]) == (200, b"<title>one</title>", "text/html")
        assert ask(f"{nginx.url}/", headers={"If-None-Match": headers["etag"]})[0] == 304
        assert ask(f"{nginx.url}/none")[0] == 404
        lines = nginx.requests()
        assert [(line.path, line.status) for line in lines] == [("/", 200), ("/", 304), ("/none", 404)]
        assert lines[0].body_bytes == len(body)
        assert nginx.bodies == 1
        nginx.reset()
        ask(f"{nginx.url}/sub/a.txt")
        assert nginx.paths() == ["/sub/a.txt"]
    with pytest.raises(ConnectionRefusedError):
        ask(f"{nginx.url}/")


@pytest.mark.servers
def test_nginx_serves_several_directories(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir(mode=0o700)
        (tmp_path / name / "index.html").write_text(name)
    with nginx_site({"/": tmp_path / "one", "/docs/two": tmp_path / "two"}) as nginx:
        assert ask(f"{nginx.url}/")[2] == b"one"
        assert ask(f"{nginx.url}/docs/two/")[2] == b"two"


@pytest.mark.servers
def test_nginx_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="nonsense"), nginx_site(tmp_path, extra="nonsense;"):
        pass


@pytest.mark.servers
def test_a_missing_program_skips_on_a_desk_and_fails_in_ci(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(docs, "PYTHON", tmp_path)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"apt-get install python3\.11-doc"):
        docs.python_html()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"apt-get install python3\.11-doc"):
        docs.python_html()
    requirement.require(present=True, what="nothing", package="none")


@pytest.mark.servers
@pytest.mark.parametrize("find", [docs.postgresql_html, docs.python_html])
def test_documentation_sites_are_real(find: object) -> None:
    assert callable(find)
    assert len(list(find().rglob("*.html"))) > 400


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def sample(tmp_path: Path) -> tuple[subprocess.Popen[str], Path]:
    port_file = tmp_path / "port"
    command = [
        sys.executable,
        str(EXAMPLES / "serve.py"),
        str(EXAMPLES / "intranet"),
        "--port-file",
        str(port_file),
    ]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "CI": ""}
    ), port_file


def test_sample_server_serves_validates_and_ends(sample: tuple[subprocess.Popen[str], Path]) -> None:
    process, port_file = sample
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url == f"http://127.0.0.1:{port_file.read_text()}/"
        status, headers, body = ask(url)
        assert status == 200
        assert b"<title>" in body
        for validator in (
            {"If-None-Match": headers["etag"]},
            {"If-Modified-Since": headers["last-modified"]},
        ):
            assert ask(url, headers=validator)[::2] == (304, b"")
        assert ask(url, headers={"If-None-Match": '"other"'})[0] == 200
        assert ask(f"{url}../serve.py")[0] == 404
        assert ask(f"{url}none")[0] == 404
        assert ask(f"{url}images/")[0] == 404
        assert f"Sitemap: {url}sitemap.xml" in ask(f"{url}robots.txt")[2].decode()
        assert f"<loc>{url}safety/fire-drill.html</loc>" in ask(f"{url}sitemap.xml")[2].decode()
    finally:
        process.terminate()
        rest, _ = process.communicate(timeout=100)
    assert (process.returncode, rest) == (0, "")
