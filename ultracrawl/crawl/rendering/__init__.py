"""Pages whose scripts are run: the browser, and which pages are opened in it."""
