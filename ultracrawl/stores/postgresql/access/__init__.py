"""The way to a database: connections, tables, repeated transactions, and the token of the one writer of a source."""
