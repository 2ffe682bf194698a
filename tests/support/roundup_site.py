"""Roundup, an issue tracker, with its own log-in, tokens against forged requests and sessions, in a process of its own.

Run as a program, it prints its port; `roundup_site` runs it. Only who is logged in sees `/issue1`, `/issue2` and so on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.child_server import child_server


@contextmanager
def roundup_site(folder: Path, user: str, password: str, *, issues: int = 5) -> Iterator[str]:
    """Serve a tracker with so many issues; gives its address, `/issue1` and so on lie below it."""
    with child_server(__file__, folder, user, password, issues) as url:
        yield url


def log_of(folder: Path) -> list[str]:
    """Return what the server was asked: method and path."""
    return (folder / "roundup.log").read_text().splitlines()


def _main(folder: Path, user: str, password: str, issues: int) -> None:
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    from roundup.cgi.wsgi_handler import RequestDispatcher

    class Quiet(WSGIRequestHandler):
        def log_message(self, *words):
            pass

    server = make_server("127.0.0.1", 0, None, handler_class=Quiet)
    home = folder / "tracker"
    _install(home, f"http://127.0.0.1:{server.server_port}/")
    _fill(home, user, password, issues)
    application = RequestDispatcher(str(home))
    log = (folder / "roundup.log").open("a", buffering=1)

    def logged(environ, start):
        log.write(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}\n")
        return application(environ, start)

    server.set_app(logged)
    print(server.server_port, flush=True)
    server.serve_forever()


def _install(home: Path, url: str) -> None:
    from contextlib import redirect_stdout
    from io import StringIO

    from roundup.admin import AdminTool

    def admin(*words):
        sys.argv = ["roundup-admin", "-i", str(home), *words]
        with redirect_stdout(StringIO()):
            if AdminTool().main():
                raise SystemExit(f"roundup-admin {words[0]} failed")

    admin("install", "classic", "anydbm", f"tracker_web={url},mail_domain=example.com,mail_host=localhost")
    schema = home / "schema.py"
    text = schema.read_text()
    granted = "    db.security.addPermissionToRole('Anonymous', 'View', cl)"
    if granted not in text:
        raise SystemExit("the template of the tracker has changed")
    schema.write_text(text.replace(granted, "    pass"))
    admin("initialise", "not-used")


def _fill(home: Path, user: str, password: str, issues: int) -> None:
    from roundup import instance
    from roundup.password import Password

    tracker = instance.open(str(home))
    database = tracker.open("admin")
    secret = Password(password, config=database.config)
    database.user.create(username=user, password=secret, roles="User", address="robot@example.com")
    for number in range(1, issues + 1):
        database.issue.create(title=f"secretword issue {number}", status="1", priority="1")
    database.commit()
    database.close()


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
