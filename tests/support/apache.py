"""A real Apache httpd for tests, with its own Basic and Digest: own folder, loopback only, always stopped."""

from __future__ import annotations

import hashlib
import shutil
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.free_port import serving
from support.requirement import require

REALM = "Staff area"
_MODULES = Path("/usr/lib/apache2/modules")
_LOADED = ("mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest")
_LOADED_TOO = ("dir", "mime")


@dataclass(frozen=True, slots=True)
class ApacheLine:
    """One line of the access log."""

    user: str
    path: str
    status: int


class Apache:
    """A running httpd; `/basic/` and `/digest/` hold the same pages, each behind its scheme."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self._folder = folder

    def requests(self) -> list[ApacheLine]:
        """Return what was asked so far; complete once the server has been stopped or has nothing to do."""
        lines = (self._folder / "access.log").read_text().splitlines()
        parts = (line.split("\t") for line in lines if line.count("\t") == 2)
        return [ApacheLine(user, path, int(status)) for user, path, status in parts]


@contextmanager
def apache_site(folder: Path, user: str, password: str, *, pages: int = 6) -> Iterator[Apache]:
    """Serve `/`, which links to `/basic/0.html` and `/digest/0.html` and so on; those let only the user in."""
    program = shutil.which("apache2") or shutil.which("apache2", path="/usr/sbin")
    require(program and (_MODULES / "mod_auth_digest.so").exists(), "Apache httpd", "apache2-bin")
    assert program is not None
    folder.mkdir(parents=True, exist_ok=True)
    _write_pages(folder / "root", pages)
    (folder / "basic-users").write_text(f"{user}:{sha_of(password)}\n")
    secret = hashlib.md5(f"{user}:{REALM}:{password}".encode(), usedforsecurity=False).hexdigest()
    (folder / "digest-users").write_text(f"{user}:{REALM}:{secret}\n")
    file = folder / "apache.conf"

    def command(port: int) -> list[str]:
        file.write_text(_configuration(folder, port))
        return [program, "-f", str(file), "-D", "FOREGROUND"]

    with serving(command, folder / "errors.txt") as port:
        yield Apache(f"http://127.0.0.1:{port}", folder)


def sha_of(password: str) -> str:
    """Return a password as files of users hold it."""
    return "{SHA}" + b64encode(hashlib.sha1(password.encode(), usedforsecurity=False).digest()).decode()


def _write_pages(root: Path, pages: int) -> None:
    links = ""
    for scheme in ("basic", "digest"):
        (root / scheme).mkdir(parents=True)
        for number in range(pages):
            words = f"<title>{scheme} {number}</title><p>secretword {scheme}word</p>"
            (root / scheme / f"{number}.html").write_text(words)
            links += f'<a href="/{scheme}/{number}.html">x</a>'
    (root / "index.html").write_text(f"<title>Home</title>{links}")


def _configuration(folder: Path, port: int) -> str:
    loaded = "\n".join(
        f"LoadModule {name}_module {_MODULES}/mod_{name}.so" for name in (*_LOADED, *_LOADED_TOO)
    )
    return f"""\
ServerRoot "{folder}"
ServerName localhost
Listen 127.0.0.1:{port}
PidFile "{folder}/httpd.pid"
DefaultRuntimeDir "{folder}"
Mutex "file:{folder}"
{loaded}
TypesConfig /dev/null
AddType text/html .html
DirectoryIndex index.html
DocumentRoot "{folder}/root"
ErrorLog "{folder}/error.log"
LogFormat "%u\\t%U\\t%>s" short
CustomLog "{folder}/access.log" short
<Directory "{folder}/root">
    Require all granted
</Directory>
<Location /basic/>
    AuthType Basic
    AuthName "{REALM}"
    AuthUserFile "{folder}/basic-users"
    Require valid-user
</Location>
<Location /digest/>
    AuthType Digest
    AuthName "{REALM}"
    AuthDigestDomain /digest/
    AuthUserFile "{folder}/digest-users"
    Require valid-user
</Location>
"""
