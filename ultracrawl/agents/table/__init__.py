"""The kind `table`: rows of a table, a view or a query of a database, a document each (extra `table`).

`section` has the options, `kind` makes lister and fetcher, `database` connects, `shape` knows the columns and the keys
of what is read, `rows` makes entries of rows, `change_log` reads the log of changes, `triggers` writes the SQL for one.
No other package knows SQLAlchemy.
"""
