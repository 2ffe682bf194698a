"""The kind `table`: each row of a database table, view or query is a document (extra `table`).

`section` has the options, `kind` creates lister and fetcher, `database` connects, `shape` handles columns and row keys,
`rows` converts rows into entries, `change_log` reads a change log, `triggers` generates the SQL that creates one.
No other package imports SQLAlchemy. The names that `kind` takes from here are imported on first use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
