"""The store on SQLite: document table, queue, runs."""
