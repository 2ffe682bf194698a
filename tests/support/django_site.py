"""Django with its own admin log-in, CSRF tokens and sessions, in a process of its own.

Run as a program, it prints its port; `django_site` runs it. `/` leads to `/members/0` and so on, which need a user.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.child_server import child_server


@contextmanager
def django_site(
    folder: Path, user: str, password: str, *, pages: int = 6, lose_after: int = 0
) -> Iterator[str]:
    """Serve it; gives the address. After `lose_after` pages for members all sessions are thrown away, once."""
    with child_server(__file__, folder, user, password, pages, lose_after) as url:
        yield url


def log_of(folder: Path) -> list[str]:
    """Return what the server was asked: method, path, and whether a user was logged in."""
    return (folder / "requests.log").read_text().splitlines()


def _main(folder: Path, user: str, password: str, pages: int, lose_after: int) -> None:
    from django.conf import settings

    settings.configure(
        SECRET_KEY="test",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="__main__",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "db.sqlite3"}},
        INSTALLED_APPS=[
            f"django.contrib.{name}" for name in ("admin", "auth", "contenttypes", "sessions", "messages")
        ],
        MIDDLEWARE=[
            "django.middleware.security.SecurityMiddleware",
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.common.CommonMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "APP_DIRS": True,
                "OPTIONS": {
                    "context_processors": [
                        "django.template.context_processors.request",
                        "django.contrib.auth.context_processors.auth",
                        "django.contrib.messages.context_processors.messages",
                    ]
                },
            }
        ],
        LOGIN_REDIRECT_URL="/",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        STATIC_URL="/static/",
    )
    import django

    django.setup()
    from django.contrib import admin
    from django.contrib.auth.decorators import login_required
    from django.contrib.auth.models import User
    from django.contrib.sessions.models import Session
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse
    from django.urls import path

    call_command("migrate", verbosity=0)
    User.objects.create_superuser(user, password=password)
    served = []

    def home(request):
        links = "".join(f'<a href="/members/{number}">{number}</a>' for number in range(pages))
        return HttpResponse(f"<title>Home</title>{links}")

    @login_required(login_url="/admin/login/")
    def member(request, number):
        served.append(number)
        if len(served) == lose_after:
            Session.objects.all().delete()
        return HttpResponse(f"<title>Member {number}</title><p>secretword {request.user}</p>")

    urls = [path("", home), path("members/<int:number>", member), path("admin/", admin.site.urls)]
    sys.modules["__main__"].urlpatterns = urls  # Django asks this module for them
    application = get_wsgi_application()
    log = (folder / "requests.log").open("a", buffering=1)

    def logged(environ, start):
        log.write(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']} {environ.get('HTTP_COOKIE', '')}\n")
        return application(environ, start)

    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, *words):
            pass

    server = make_server("127.0.0.1", 0, logged, handler_class=Quiet)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)
    _main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
