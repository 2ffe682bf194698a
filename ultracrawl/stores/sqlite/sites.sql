-- The sites of a project. A change of it needs another version of `SITES` in shared.py.
-- AUTOINCREMENT: no id is reused, so that a crawl whose leases ended can never write under a later one (fencing).
CREATE TABLE crawl (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    machine TEXT NOT NULL,
    pid INTEGER NOT NULL,
    until REAL NOT NULL
);
CREATE TABLE site (
    site TEXT PRIMARY KEY,
    next_at REAL NOT NULL DEFAULT 0,
    requested REAL NOT NULL DEFAULT 0,
    delay REAL NOT NULL DEFAULT 0,
    why TEXT NOT NULL DEFAULT '',
    on_hold INTEGER NOT NULL DEFAULT 0,
    errors INTEGER NOT NULL DEFAULT 0,
    slowed REAL NOT NULL DEFAULT 0,
    last_error TEXT NOT NULL DEFAULT '',
    error_at REAL NOT NULL DEFAULT 0,
    crawl INTEGER NOT NULL DEFAULT 0,
    since REAL NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX site_leased ON site (crawl) WHERE crawl<>0;
CREATE TABLE waiting (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    site TEXT NOT NULL,
    crawl INTEGER NOT NULL,
    UNIQUE (site, crawl)
);
CREATE TABLE robots (
    origin TEXT NOT NULL,
    shown TEXT NOT NULL,
    received REAL NOT NULL,
    status INTEGER NOT NULL,
    body BLOB NOT NULL,
    error TEXT NOT NULL,
    timed_out INTEGER NOT NULL,
    failed REAL NOT NULL,
    guessed REAL NOT NULL,
    PRIMARY KEY (origin, shown)
);
CREATE TABLE session (name TEXT PRIMARY KEY, since REAL NOT NULL, sealed BLOB NOT NULL);
