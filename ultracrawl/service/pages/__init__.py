"""The search page of the service, and what belongs to it: suggestions, cached copies, static files.

`app.add_pages` adds the routes to the application of the API; they need the extra `serve`. `rendering.render` makes a
page from a template; every template extends `base.html`. URLs are built by `rendering.page_url` alone, so that
everything works under the path prefix of a reverse proxy.
"""
