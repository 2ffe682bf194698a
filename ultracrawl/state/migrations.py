"""The schema of the SQLite state store, one step a version; a store of an older version is brought up to date."""

from __future__ import annotations

MIGRATIONS: tuple[str, ...] = (
    # 1: document table, queue, runs
    """
    CREATE TABLE url (
        key INTEGER PRIMARY KEY,
        url TEXT NOT NULL,
        site TEXT NOT NULL,
        depth INTEGER NOT NULL,
        display_url TEXT NOT NULL DEFAULT '',
        status INTEGER NOT NULL DEFAULT 0,
        outcome TEXT NOT NULL DEFAULT 'QUEUED',
        reason TEXT NOT NULL DEFAULT '',
        etag TEXT NOT NULL DEFAULT '',
        last_modified TEXT NOT NULL DEFAULT '',
        checksum BLOB NOT NULL DEFAULT x'',
        indexed INTEGER NOT NULL DEFAULT 0,
        handed INTEGER NOT NULL DEFAULT 0,
        first_seen REAL NOT NULL DEFAULT 0,
        last_fetched REAL NOT NULL DEFAULT 0,
        failures INTEGER NOT NULL DEFAULT 0,
        links BLOB NOT NULL DEFAULT x''
    );
    CREATE INDEX url_handed ON url (key) WHERE handed = 1;
    CREATE TABLE queue (
        site TEXT NOT NULL,
        depth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        key INTEGER NOT NULL,
        hops INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, depth, seq)
    ) WITHOUT ROWID;
    CREATE TABLE run (
        number INTEGER PRIMARY KEY,
        started REAL NOT NULL,
        finished REAL NOT NULL DEFAULT 0,
        scope TEXT NOT NULL,
        report TEXT NOT NULL DEFAULT ''
    );
    """,
    # 2: display URLs are unique within a source
    "CREATE INDEX url_display ON url (display_url) WHERE display_url<>'';",
    # 3: sitemaps, and what they say in a run
    """
    CREATE TABLE sitemap (
        key INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        is_index INTEGER NOT NULL DEFAULT 0,
        dates BLOB NOT NULL DEFAULT x''
    );
    CREATE TABLE announced (key INTEGER PRIMARY KEY, lastmod INTEGER NOT NULL);
    """,
    # 4: levels of the queue, and what is remembered of sites
    """
    ALTER TABLE queue RENAME TO queue_without_levels;
    CREATE TABLE queue (
        site TEXT NOT NULL,
        level INTEGER NOT NULL DEFAULT 1,
        depth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        key INTEGER NOT NULL,
        hops INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, level, depth, seq)
    ) WITHOUT ROWID;
    INSERT INTO queue (site, depth, seq, key, hops) SELECT site, depth, seq, key, hops FROM queue_without_levels;
    DROP TABLE queue_without_levels;
    CREATE TABLE site (
        site TEXT PRIMARY KEY,
        next_at REAL NOT NULL,
        why TEXT NOT NULL,
        own_delay REAL,
        errors INTEGER NOT NULL,
        slowed REAL NOT NULL,
        last_error TEXT NOT NULL,
        error_at REAL NOT NULL,
        given_up INTEGER NOT NULL,
        robots TEXT NOT NULL
    ) WITHOUT ROWID;
    """,
)

SCHEMA_VERSION = len(MIGRATIONS)
