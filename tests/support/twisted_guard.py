"""A site behind Digest or Basic as `twisted.web.guard` does them, in a process of its own.

Run as a program, it prints its port; `guarded_site` runs it.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from support.child_server import child_server


@contextmanager
def guarded_site(scheme: str, user: str, password: str, pages: int = 5) -> Iterator[str]:
    """Serve `/` with links to `/private/0` and so on, which need the user; gives the address."""
    with child_server(__file__, scheme, user, password, pages) as url:
        yield url


def _main(scheme: str, user: str, password: str, pages: int) -> None:
    from twisted.cred.checkers import InMemoryUsernamePasswordDatabaseDontUse
    from twisted.cred.portal import IRealm, Portal
    from twisted.internet import reactor
    from twisted.web.guard import BasicCredentialFactory, DigestCredentialFactory, HTTPAuthSessionWrapper
    from twisted.web.resource import IResource, Resource
    from twisted.web.server import Site
    from twisted.web.static import Data
    from zope.interface import implementer

    private = Resource()
    for number in range(pages):
        text = f"<title>Private {number}</title><p>secretword number{number}</p>"
        private.putChild(str(number).encode(), Data(text.encode(), "text/html"))

    @implementer(IRealm)
    class Realm:
        def requestAvatar(self, name, mind, *interfaces):
            return IResource, private, lambda: None

    database = InMemoryUsernamePasswordDatabaseDontUse(**{user: password.encode()})
    factory = {
        "digest": lambda: DigestCredentialFactory(b"md5", b"Staff"),
        "basic": lambda: BasicCredentialFactory(b"Staff"),
    }[scheme]()
    root = Resource()
    links = "".join(f'<a href="/private/{number}">{number}</a>' for number in range(pages))
    root.putChild(b"", Data(f"<title>Home</title>{links}".encode(), "text/html"))
    root.putChild(b"private", HTTPAuthSessionWrapper(Portal(Realm(), [database]), [factory]))
    port = reactor.listenTCP(0, Site(root), interface="127.0.0.1")
    print(port.getHost().port, flush=True)
    reactor.run()


if __name__ == "__main__":
    _main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
