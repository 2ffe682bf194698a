"""What tests lean on: sites served on loopback, a real nginx, and the large documentation sites of Debian.

* `site.Site` is a small web site written as code, which also records every request it got.
* `resource.Resource`, `resource.Html` and `resource.Reply` say what one path of a site answers.
* `server.Server` is the HTTP/1.1 server beneath it; `server.Request` is one recorded request.
* `client.ask` makes one request and follows nothing.
* `nginx.nginx_site` serves directories with a real nginx; `nginx.Nginx` reads its access log.
* `files` makes small PDF, Office and other documents.
* `docs` finds the documentation sites; `requirement.require` skips, or in CI fails, for want of it.
"""
