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
    # 4: documents with equal, or nearly equal, content
    """
    ALTER TABLE url ADD COLUMN fingerprint BLOB NOT NULL DEFAULT x'';
    ALTER TABLE url ADD COLUMN preference INTEGER NOT NULL DEFAULT 1;
    CREATE INDEX url_fingerprint ON url (fingerprint) WHERE fingerprint<>x'';
    CREATE TABLE near (
        block INTEGER NOT NULL,
        fingerprint BLOB NOT NULL,
        simhash INTEGER NOT NULL,
        PRIMARY KEY (block, fingerprint)
    ) WITHOUT ROWID;
    """,
)

SCHEMA_VERSION = len(MIGRATIONS)
