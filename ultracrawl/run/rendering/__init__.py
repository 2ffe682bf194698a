"""Pages whose scripts are run: the browser, and the choice of pages that are opened in it."""
