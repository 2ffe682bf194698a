"""The migrations of the SQLite state store, one step per schema version."""

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
    # 3: sitemaps, and the `lastmod` dates announced in a run
    """
    CREATE TABLE sitemap (
        key INTEGER PRIMARY KEY,
        run INTEGER NOT NULL,
        is_index INTEGER NOT NULL DEFAULT 0,
        dates BLOB NOT NULL DEFAULT x''
    );
    CREATE TABLE announced (key INTEGER PRIMARY KEY, lastmod INTEGER NOT NULL);
    """,
    # 4: documents that wait for an approval
    "CREATE TABLE pending (key INTEGER PRIMARY KEY, document BLOB NOT NULL);",
    # 5: hops through documents in other languages
    "CREATE TABLE detour (key INTEGER PRIMARY KEY, hops INTEGER NOT NULL);",
    # 6: documents that are to leave the index, and errors of URLs by rule
    """
    ALTER TABLE url ADD COLUMN leaving TEXT NOT NULL DEFAULT '';
    CREATE INDEX url_leaving ON url (key) WHERE leaving<>'';
    CREATE TABLE failure (
        key INTEGER NOT NULL,
        rule TEXT NOT NULL,
        errors INTEGER NOT NULL,
        PRIMARY KEY (key, rule)
    ) WITHOUT ROWID;
    """,
    # 7: refresh cycles: the place of a run in them, ranks in the queue, when URLs were seen and changed
    """
    ALTER TABLE run ADD COLUMN cycle INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE run ADD COLUMN minor INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE run ADD COLUMN due REAL NOT NULL DEFAULT 0;
    ALTER TABLE run ADD COLUMN mode TEXT NOT NULL DEFAULT 'known';
    UPDATE run SET cycle=number, due=started;
    ALTER TABLE queue RENAME TO queue_before;
    CREATE TABLE queue (
        site TEXT NOT NULL,
        rank INTEGER NOT NULL DEFAULT 0,
        depth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        key INTEGER NOT NULL,
        hops INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, rank, depth, seq)
    ) WITHOUT ROWID;
    INSERT INTO queue (site, depth, seq, key, hops) SELECT site, depth, seq, key, hops FROM queue_before;
    DROP TABLE queue_before;
    CREATE TABLE revisit (
        key INTEGER PRIMARY KEY,
        seen INTEGER NOT NULL DEFAULT 0,
        first REAL NOT NULL DEFAULT 0,
        last REAL NOT NULL DEFAULT 0,
        checks INTEGER NOT NULL DEFAULT 0,
        changes INTEGER NOT NULL DEFAULT 0,
        quiet REAL NOT NULL DEFAULT 0,
        modified REAL NOT NULL DEFAULT 0,
        markup INTEGER NOT NULL DEFAULT 0,
        changefreq TEXT NOT NULL DEFAULT '',
        priority REAL
    );
    INSERT INTO revisit (key, seen, first, last)
        SELECT key, (SELECT coalesce(max(cycle), 0) FROM run), last_fetched, last_fetched FROM url;
    CREATE TRIGGER url_gone AFTER DELETE ON url BEGIN DELETE FROM revisit WHERE key=old.key; END;
    """,
    # 8: levels of the queue, sites
    """
    ALTER TABLE queue RENAME TO queue_without_levels;
    CREATE TABLE queue (
        site TEXT NOT NULL,
        level INTEGER NOT NULL DEFAULT 1,
        rank INTEGER NOT NULL DEFAULT 0,
        depth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        key INTEGER NOT NULL,
        hops INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, level, rank, depth, seq)
    ) WITHOUT ROWID;
    INSERT INTO queue (site, rank, depth, seq, key, hops)
        SELECT site, rank, depth, seq, key, hops FROM queue_without_levels;
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
    # 9: rows in the order of discovery: URLs fetched together are stored together, so few pages are written
    """
    CREATE TABLE url_in_order (
        id INTEGER PRIMARY KEY,
        key INTEGER NOT NULL,
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
        leaving TEXT NOT NULL DEFAULT '',
        links BLOB NOT NULL DEFAULT x''
    );
    INSERT INTO url_in_order (key, url, site, depth, display_url, status, outcome, reason, etag, last_modified,
            checksum, indexed, handed, first_seen, last_fetched, failures, leaving, links)
        SELECT key, url, site, depth, display_url, status, outcome, reason, etag, last_modified,
            checksum, indexed, handed, first_seen, last_fetched, failures, leaving, links
        FROM url ORDER BY first_seen, depth, url;
    CREATE TABLE revisit_in_order (
        id INTEGER PRIMARY KEY,
        seen INTEGER NOT NULL DEFAULT 0,
        first REAL NOT NULL DEFAULT 0,
        last REAL NOT NULL DEFAULT 0,
        checks INTEGER NOT NULL DEFAULT 0,
        changes INTEGER NOT NULL DEFAULT 0,
        quiet REAL NOT NULL DEFAULT 0,
        modified REAL NOT NULL DEFAULT 0,
        markup INTEGER NOT NULL DEFAULT 0,
        changefreq TEXT NOT NULL DEFAULT '',
        priority REAL
    );
    INSERT INTO revisit_in_order
        SELECT u.id, r.seen, r.first, r.last, r.checks, r.changes, r.quiet, r.modified, r.markup, r.changefreq,
            r.priority
        FROM url_in_order u JOIN revisit r ON r.key=u.key ORDER BY u.id;
    DROP TRIGGER url_gone;
    DROP TABLE url;
    DROP TABLE revisit;
    ALTER TABLE url_in_order RENAME TO url;
    ALTER TABLE revisit_in_order RENAME TO revisit;
    CREATE UNIQUE INDEX url_key ON url (key);
    CREATE INDEX url_handed ON url (key) WHERE handed = 1;
    CREATE INDEX url_display ON url (display_url) WHERE display_url<>'';
    CREATE INDEX url_leaving ON url (key) WHERE leaving<>'';
    CREATE TRIGGER url_gone AFTER DELETE ON url BEGIN DELETE FROM revisit WHERE id=old.id; END;
    """,
    # 10: mirrors of a site that was given up
    "ALTER TABLE site ADD COLUMN stand_in TEXT NOT NULL DEFAULT '';",
    # 11: remaining allowance of new URLs by site in a minor cycle
    "CREATE TABLE allowance (site TEXT PRIMARY KEY, remaining INTEGER NOT NULL) WITHOUT ROWID;",
    # 12: `lastmod` of pages according to sitemaps
    "ALTER TABLE revisit ADD COLUMN told REAL NOT NULL DEFAULT 0;",
    # 13: links of feeds
    """
    CREATE TABLE feed_link (
        feed INTEGER NOT NULL,
        key INTEGER NOT NULL,
        seen REAL NOT NULL,
        date REAL NOT NULL,
        place INTEGER NOT NULL,
        expired INTEGER NOT NULL,
        only INTEGER NOT NULL,
        PRIMARY KEY (feed, key)
    ) WITHOUT ROWID;
    """,
    # 14: when descriptions expire
    """
    CREATE TABLE expiry (key INTEGER PRIMARY KEY, at REAL NOT NULL);
    CREATE TRIGGER url_expired_gone AFTER DELETE ON url BEGIN DELETE FROM expiry WHERE key=old.key; END;
    """,
    # 15: duplicates and near-duplicates, and successors of documents that leave the index
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
    CREATE TABLE successor (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    """,
    # 16: anchor texts, the pages that have them, and links of deleted pages
    """
    CREATE TABLE anchor (
        target INTEGER NOT NULL,
        text TEXT NOT NULL,
        seen REAL NOT NULL,
        told INTEGER NOT NULL DEFAULT 0,
        gone INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (target, text)
    ) WITHOUT ROWID;
    CREATE TABLE anchor_page (key INTEGER PRIMARY KEY, marks BLOB NOT NULL);
    CREATE TABLE anchor_left (id INTEGER PRIMARY KEY, marks BLOB NOT NULL);
    CREATE TRIGGER url_anchors_gone AFTER DELETE ON url BEGIN
        INSERT INTO anchor_left (marks) SELECT marks FROM anchor_page WHERE key=old.key;
        DELETE FROM anchor_page WHERE key=old.key;
        DELETE FROM anchor WHERE target=old.key;
    END;
    """,
    # 17: documents with related URLs, and their lists as last submitted
    """
    CREATE TABLE told (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    CREATE TABLE told_lists (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    CREATE INDEX url_redirected ON url (reason) WHERE outcome='REDIRECTED';
    """,
    # 18: the queue refers to rows of the document table by row id instead of key, a hash that scatters lookups
    """
    ALTER TABLE queue RENAME TO queue_by_key;
    CREATE TABLE queue (
        site TEXT NOT NULL,
        level INTEGER NOT NULL DEFAULT 1,
        rank INTEGER NOT NULL DEFAULT 0,
        depth INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        id INTEGER NOT NULL,
        hops INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (site, level, rank, depth, seq)
    ) WITHOUT ROWID;
    INSERT INTO queue (site, level, rank, depth, seq, id, hops)
        SELECT q.site, q.level, q.rank, q.depth, q.seq, u.id, q.hops
        FROM queue_by_key q JOIN url u ON u.key=q.key ORDER BY q.site, q.level, q.rank, q.depth, q.seq;
    DROP TABLE queue_by_key;
    """,
    # 19: number of documents that a run removed from the index, across resumptions
    """
    ALTER TABLE run ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0;
    """,
    # 20: raw robots.txt responses
    """
    CREATE TABLE robots (
        origin TEXT PRIMARY KEY,
        asked REAL NOT NULL,
        status INTEGER NOT NULL,
        body BLOB NOT NULL,
        error TEXT NOT NULL,
        timed_out INTEGER NOT NULL,
        failed REAL NOT NULL,
        guessed REAL NOT NULL
    );
    """,
    # 21: anchor texts with the number of pages that have them; `anchor_counts` migrates the former tables
    """
    DROP TRIGGER url_anchors_gone;
    DROP TABLE anchor_left;
    ALTER TABLE anchor RENAME TO former_anchor;
    ALTER TABLE anchor_page RENAME TO former_anchor_page;
    CREATE TABLE anchor (
        mark INTEGER PRIMARY KEY,
        target INTEGER NOT NULL,
        fragment TEXT NOT NULL,
        text TEXT NOT NULL,
        pages INTEGER NOT NULL
    );
    CREATE INDEX anchor_unsaid ON anchor (mark) WHERE pages=0;
    CREATE TABLE anchor_text (
        text TEXT PRIMARY KEY,
        targets INTEGER NOT NULL,
        turned INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE INDEX anchor_text_turned ON anchor_text (text) WHERE turned;
    CREATE TABLE anchor_page (key INTEGER PRIMARY KEY, marks BLOB NOT NULL);
    CREATE TABLE anchor_redirect (key INTEGER PRIMARY KEY, target INTEGER NOT NULL);
    CREATE INDEX anchor_redirected ON anchor_redirect (target);
    CREATE TABLE anchor_document (
        key INTEGER PRIMARY KEY,
        told INTEGER,
        crowded INTEGER NOT NULL DEFAULT 0,
        due INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX anchor_due ON anchor_document (key) WHERE due=1;
    CREATE INDEX anchor_crowded ON anchor_document (key) WHERE crowded=1;
    INSERT INTO anchor_document (key, due) SELECT key, 1 FROM url WHERE indexed=1 OR handed=1;
    CREATE TABLE anchor_left (id INTEGER PRIMARY KEY, marks BLOB, target INTEGER);
    CREATE TRIGGER url_anchors_gone AFTER DELETE ON url BEGIN
        INSERT INTO anchor_left (marks) SELECT marks FROM anchor_page WHERE key=old.key;
        INSERT INTO anchor_left (target) SELECT target FROM anchor_redirect WHERE key=old.key;
        DELETE FROM anchor_page WHERE key=old.key;
        DELETE FROM anchor_redirect WHERE key=old.key;
        DELETE FROM anchor_document WHERE key=old.key;
    END;
    """,
    # 22: causes and removals are codes with data; `former_causes` converts the former sentences
    """
    DROP INDEX url_handed;
    DROP INDEX url_leaving;
    DROP INDEX url_redirected;
    ALTER TABLE url RENAME COLUMN handed TO submitted;
    ALTER TABLE url RENAME COLUMN reason TO detail;
    ALTER TABLE url RENAME COLUMN leaving TO removal_code;
    ALTER TABLE url ADD COLUMN cause_code TEXT NOT NULL DEFAULT '';
    ALTER TABLE url ADD COLUMN subject TEXT NOT NULL DEFAULT '';
    ALTER TABLE url ADD COLUMN removal_cause TEXT NOT NULL DEFAULT '';
    UPDATE url SET
        cause_code=former_cause(detail, outcome, status, 0),
        subject=former_cause(detail, outcome, status, 1),
        detail=former_cause(detail, outcome, status, 2)
        WHERE detail<>'';
    UPDATE url SET
        removal_code=former_removal(removal_code, status, 0),
        removal_cause=former_removal(removal_code, status, 1)
        WHERE removal_code<>'';
    CREATE INDEX url_submitted ON url (key) WHERE submitted = 1;
    CREATE INDEX url_removal ON url (key) WHERE removal_code<>'';
    CREATE INDEX url_redirected ON url (subject) WHERE outcome='REDIRECTED';
    """,
    # 23: clocks of sites and robots.txt belong to the project; `stores.opening.migrate_sites` moves the former rows
    """
    ALTER TABLE site RENAME TO former_site;
    ALTER TABLE robots RENAME TO former_robots;
    CREATE TABLE site (
        site TEXT PRIMARY KEY,
        seen REAL NOT NULL,
        own_delay REAL,
        given_up INTEGER NOT NULL,
        robots TEXT NOT NULL,
        stand_in TEXT NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO site (site, seen, own_delay, given_up, robots, stand_in)
        SELECT site, next_at, own_delay, given_up, robots, stand_in FROM former_site;
    """,
    # 24: documents also get the texts of links to their fragments
    "UPDATE anchor_document SET due=1 WHERE EXISTS (SELECT 1 FROM anchor WHERE fragment<>'' AND pages>0);",
    # 25: listing entries of documents, and listing state by run
    """
    CREATE TABLE IF NOT EXISTS listed (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    CREATE TABLE IF NOT EXISTS listing (run INTEGER PRIMARY KEY, state TEXT NOT NULL);
    """,
    # 26: sketches of documents, and changes that make many documents alike
    """
    ALTER TABLE url ADD COLUMN sketch BLOB NOT NULL DEFAULT x'';
    CREATE TABLE held (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    CREATE TABLE deferred (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
    """,
    # 27: which URL holds each checksum that the filters of a source compare; pages below which depths are corrected
    """
    CREATE TABLE IF NOT EXISTS copy (key INTEGER PRIMARY KEY, checksum TEXT NOT NULL, holds INTEGER NOT NULL);
    CREATE INDEX IF NOT EXISTS copy_checksum ON copy (checksum);
    CREATE TRIGGER IF NOT EXISTS url_copy_gone AFTER DELETE ON url BEGIN DELETE FROM copy WHERE key=old.key; END;
    CREATE TABLE IF NOT EXISTS depth_due (key INTEGER PRIMARY KEY, dropped BLOB NOT NULL);
    """,
    # 28: how many redirects in a row led to a URL, so that later runs count on
    "ALTER TABLE url ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;",
)

SCHEMA_VERSION = len(MIGRATIONS)
