"""A page of nginx in clear and over TLS, with a certificate of an authority of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.certificates import Authority
from support.free_port import free_port
from support.nginx import Nginx, nginx_site


@contextmanager
def secured(
    folder: Path, authority: Authority, body: str, *, listen: str = "", server: str = ""
) -> Iterator[tuple[Nginx, str]]:
    """Serve `/page` of nginx in clear and over TLS; gives the server and its https address."""
    certificate, key = authority.issue("server")
    root = folder / "root"
    root.mkdir()
    port = free_port()
    extra = (
        f'listen 127.0.0.1:{port} ssl {listen}; ssl_certificate "{certificate}"; ssl_certificate_key "{key}"; '
        f"{server} location = /page {{ default_type text/plain; {body} }}"
    )
    with nginx_site(root, extra=extra) as running:
        yield running, f"https://127.0.0.1:{port}"
