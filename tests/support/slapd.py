"""A real OpenLDAP server for tests, with one organisation: own folder, loopback only, always stopped."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.free_port import free_port, serving
from support.requirement import require

BASE = "dc=example,dc=com"
ADMIN = f"cn=admin,{BASE}"
PASSWORD = "grey"


class Directory:
    """A running server, and people to be added, changed and removed."""

    def __init__(self, url: str, secure_url: str = "") -> None:
        import ldap3

        self.url = url
        self.secure_url = secure_url
        """Where it listens for TLS from the beginning, if it has a certificate."""
        self._connection = ldap3.Connection(ldap3.Server(url), ADMIN, PASSWORD, raise_exceptions=True)
        self._connection.bind()
        self._connection.add(BASE, ["dcObject", "organization"], {"o": "Example"})

    def close(self) -> None:
        """Log out."""
        self._connection.unbind()

    def add(self, uid: str, name: str, **more: str) -> None:
        """Add somebody; whoever has a `userPassword` may log in."""
        person = {"cn": name, "sn": name, **more}
        self._connection.add(f"uid={uid},{BASE}", ["inetOrgPerson"], person)

    def change(self, uid: str, **values: str) -> None:
        """Replace values of somebody."""
        import ldap3

        changes: dict[str, Any] = {name: [(ldap3.MODIFY_REPLACE, [text])] for name, text in values.items()}
        self._connection.modify(f"uid={uid},{BASE}", changes)

    def rename(self, uid: str, new: str) -> None:
        """Give somebody another name in the directory."""
        self._connection.modify_dn(f"uid={uid},{BASE}", f"uid={new}")

    def remove(self, uid: str) -> None:
        """Remove somebody."""
        self._connection.delete(f"uid={uid},{BASE}")

    def add_group(self, name: str, *members: str) -> str:
        """Add a group with entries as members; returns its entry."""
        entry = f"cn={name},{BASE}"
        self._connection.add(entry, ["groupOfNames"], {"member": members})
        return entry

    def set_members(self, name: str, *members: str) -> None:
        """Replace the members of a group."""
        import ldap3

        self._connection.modify(f"cn={name},{BASE}", {"member": [(ldap3.MODIFY_REPLACE, list(members))]})

    def add_entry(self, entry: str, classes: list[str], **values: object) -> None:
        """Add any entry."""
        self._connection.add(entry, classes, values)


@contextmanager
def directory_server(
    certificate: tuple[Path, Path] | None = None, host: str = "127.0.0.1"
) -> Iterator[Directory]:
    """Run slapd with an empty organisation; everybody may read what is no password.

    With a certificate and its key it also listens for TLS, and takes StartTLS.
    """
    program = shutil.which("slapd") or shutil.which("slapd", path="/usr/sbin")
    require(program, "slapd", "slapd")
    with tempfile.TemporaryDirectory(prefix="slapd-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        (folder / "slapd.conf").write_text(_configuration(folder, certificate))
        secure_url = f"ldaps://{host}:{free_port(host)}" if certificate is not None else ""

        def command(port: int) -> list[str]:
            listen = " ".join({f"ldap://127.0.0.1:{port}": 1, f"ldap://{host}:{port}": 1, secure_url: 1})
            return [str(program), "-d", "0", "-h", listen.strip(), "-f", str(folder / "slapd.conf")]

        with serving(command, folder / "errors.txt") as port:
            directory = Directory(f"ldap://{host}:{port}", secure_url)
            try:
                yield directory
            finally:
                directory.close()


def _configuration(folder: Path, certificate: tuple[Path, Path] | None) -> str:
    schemas = "\n".join(
        f"include /etc/ldap/schema/{one}.schema" for one in ("core", "cosine", "nis", "inetorgperson")
    )
    if certificate is not None:
        schemas += "\nTLSCertificateFile {}\nTLSCertificateKeyFile {}".format(*certificate)
    return f"""\
{schemas}
modulepath /usr/lib/ldap
moduleload back_mdb
access to attrs=userPassword by anonymous auth by * none
access to * by * read
database mdb
maxsize 16777216
suffix "{BASE}"
rootdn "{ADMIN}"
rootpw {PASSWORD}
directory {folder}/data
"""
