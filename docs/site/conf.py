"""How Sphinx builds the site of the pages; `make site` stages them, and runs it (tools/docs_site.py)."""

import os

from ultracrawl import __version__

project = "ultracrawl"
release = __version__
project_copyright = "the authors of ultracrawl"
language = "en"
root_doc = "index"
extensions = ["myst_parser"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # examples have … where something is left out
nitpicky = True

html_theme = "furo"
html_title = f"ultracrawl {release}"
html_favicon = "../../ultracrawl/service/pages/static/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]
templates_path = ["templates"]
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "site-search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_context = {
    "search_service": os.environ.get("ULTRACRAWL_SITE_SERVICE", ""),
    "search_key": os.environ.get("ULTRACRAWL_SITE_KEY", ""),
}
