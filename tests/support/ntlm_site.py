"""A site behind NTLM as pyspnego's own acceptor does it, in a process of its own.

Run as a program, it prints its port; `ntlm_site` runs it. `/` leads to `/private/0` and so on, which need the user.
"""

import base64
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.child_server import child_server


@contextmanager
def ntlm_site(folder: Path, user: str, password: str, pages: int = 6, takes: str = "3") -> Iterator[str]:
    """Serve it; gives the address. `DOMAIN\\user` is how the user is called.

    `takes` is the level of NTLM: 3 takes versions 1 and 2, 5 version 2 alone.
    """
    users = folder / "ntlm-users"
    domain, _, name = user.partition("\\")
    users.write_text(f"{domain}:{name}:{password}\n")
    environment = {"NTLM_USER_FILE": str(users), "LM_COMPAT_LEVEL": takes}
    with child_server(__file__, pages, folder / "ntlm.log", environment=environment) as url:
        yield url


def log_of(folder: Path) -> list[str]:
    """Return path, the first words of Authorization, and the status of each request."""
    return (folder / "ntlm.log").read_text().splitlines()


def _main(pages: int, log_file: Path) -> None:
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    import spnego
    from spnego.exceptions import SpnegoError

    log = log_file.open("a", buffering=1)

    class Handler(BaseHTTPRequestHandler):
        """One connection; what NTLM knows of it is kept with it."""

        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            self.context = None
            self.user = ""

        def log_message(self, *words):
            pass

        def do_GET(self):
            links = "".join(f'<a href="/private/{number}">{number}</a>' for number in range(pages))
            if self.path.startswith("/private/") and not self.user:
                self.reply(*self.negotiate())
            elif self.path == "/":
                self.reply(200, f"<title>Home</title>{links}")
            elif self.path.startswith("/private/"):
                self.reply(200, f"<title>In</title><p>secretword {self.path} {self.user}</p>")
            else:
                self.reply(404, "")

        def do_POST(self):
            log.write(f"{self.path} body {self.rfile.read(int(self.headers['Content-Length'])).decode()}\n")
            self.do_GET()

        def negotiate(self):
            scheme, _, token = self.headers.get("Authorization", "").partition(" ")
            if scheme != "NTLM":
                return 401, "", "NTLM"
            if self.context is None:
                self.context = spnego.server(protocol="ntlm")
            try:
                answer = self.context.step(base64.b64decode(token))
            except SpnegoError:
                self.context = None
                return 401, "", "NTLM"
            if not self.context.complete:
                return 401, "", f"NTLM {base64.b64encode(answer).decode()}"
            self.user = str(self.context.client_principal)
            return 200, f"<title>In</title><p>secretword {self.path} {self.user}</p>"

        def reply(self, status, text, challenge=""):
            words = self.headers.get("Authorization", "-")[:4]
            log.write(f"{self.path} {words} {status}\n")
            body = text.encode()
            self.send_response(status)
            if challenge:
                self.send_header("WWW-Authenticate", challenge)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _main(int(sys.argv[1]), Path(sys.argv[2]))
