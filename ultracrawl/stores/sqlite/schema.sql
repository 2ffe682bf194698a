-- The state of one source. A change of it needs another SCHEMA_VERSION in database.py, and a step in MIGRATIONS there.
CREATE TABLE run (
    number INTEGER PRIMARY KEY,
    started REAL NOT NULL,
    finished REAL NOT NULL DEFAULT 0,
    scope TEXT NOT NULL,
    report TEXT NOT NULL DEFAULT '',
    cycle INTEGER NOT NULL DEFAULT 0,
    minor INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL DEFAULT 0,
    mode TEXT NOT NULL DEFAULT 'known',
    deleted INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE sitemap (
    key INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    is_index INTEGER NOT NULL DEFAULT 0,
    dates BLOB NOT NULL DEFAULT x''
);
CREATE TABLE announced (key INTEGER PRIMARY KEY, lastmod INTEGER NOT NULL);
CREATE TABLE pending (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE detour (key INTEGER PRIMARY KEY, hops INTEGER NOT NULL);
CREATE TABLE failure (
    key INTEGER NOT NULL,
    rule TEXT NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (key, rule)
) WITHOUT ROWID;
CREATE TABLE url (
    id INTEGER PRIMARY KEY,
    key INTEGER NOT NULL,
    url TEXT NOT NULL,
    site TEXT NOT NULL,
    depth INTEGER NOT NULL,
    display_url TEXT NOT NULL DEFAULT '',
    status INTEGER NOT NULL DEFAULT 0,
    outcome TEXT NOT NULL DEFAULT 'QUEUED',
    detail TEXT NOT NULL DEFAULT '',
    etag TEXT NOT NULL DEFAULT '',
    last_modified TEXT NOT NULL DEFAULT '',
    checksum BLOB NOT NULL DEFAULT x'',
    indexed INTEGER NOT NULL DEFAULT 0,
    submitted INTEGER NOT NULL DEFAULT 0,
    first_seen REAL NOT NULL DEFAULT 0,
    last_fetched REAL NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    removal_code TEXT NOT NULL DEFAULT '',
    links BLOB NOT NULL DEFAULT x'',
    fingerprint BLOB NOT NULL DEFAULT x'',
    preference INTEGER NOT NULL DEFAULT 1,
    cause_code TEXT NOT NULL DEFAULT '',
    subject TEXT NOT NULL DEFAULT '',
    removal_cause TEXT NOT NULL DEFAULT '',
    sketch BLOB NOT NULL DEFAULT x'',
    hops INTEGER NOT NULL DEFAULT 0,
    language TEXT NOT NULL DEFAULT ''
);
CREATE TABLE revisit (
    id INTEGER PRIMARY KEY,
    seen INTEGER NOT NULL DEFAULT 0,
    first_at REAL NOT NULL DEFAULT 0,
    last_at REAL NOT NULL DEFAULT 0,
    checks INTEGER NOT NULL DEFAULT 0,
    changes INTEGER NOT NULL DEFAULT 0,
    quiet REAL NOT NULL DEFAULT 0,
    modified REAL NOT NULL DEFAULT 0,
    markup INTEGER NOT NULL DEFAULT 0,
    changefreq TEXT NOT NULL DEFAULT '',
    priority REAL,
    told REAL NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX url_key ON url (key);
CREATE INDEX url_display ON url (display_url) WHERE display_url<>'';
CREATE TRIGGER url_gone AFTER DELETE ON url BEGIN DELETE FROM revisit WHERE id=old.id; END;
CREATE TABLE allowance (site TEXT PRIMARY KEY, remaining INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE feed_link (
    feed INTEGER NOT NULL,
    key INTEGER NOT NULL,
    seen REAL NOT NULL,
    date REAL NOT NULL,
    place INTEGER NOT NULL,
    expired INTEGER NOT NULL,
    alone INTEGER NOT NULL,
    PRIMARY KEY (feed, key)
) WITHOUT ROWID;
CREATE TABLE expiry (key INTEGER PRIMARY KEY, at REAL NOT NULL);
CREATE TRIGGER url_expired_gone AFTER DELETE ON url BEGIN DELETE FROM expiry WHERE key=old.key; END;
CREATE INDEX url_fingerprint ON url (fingerprint) WHERE fingerprint<>x'';
CREATE TABLE near (
    block INTEGER NOT NULL,
    fingerprint BLOB NOT NULL,
    signature INTEGER NOT NULL,
    PRIMARY KEY (block, fingerprint)
) WITHOUT ROWID;
CREATE TABLE successor (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE told (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE told_lists (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
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
CREATE TABLE anchor_left (number INTEGER PRIMARY KEY, marks BLOB, target INTEGER);
CREATE TRIGGER url_anchors_gone AFTER DELETE ON url BEGIN
    INSERT INTO anchor_left (marks) SELECT marks FROM anchor_page WHERE key=old.key;
    INSERT INTO anchor_left (target) SELECT target FROM anchor_redirect WHERE key=old.key;
    DELETE FROM anchor_page WHERE key=old.key;
    DELETE FROM anchor_redirect WHERE key=old.key;
    DELETE FROM anchor_document WHERE key=old.key;
END;
CREATE INDEX url_submitted ON url (key) WHERE submitted = 1;
CREATE INDEX url_removal ON url (key) WHERE removal_code<>'';
CREATE INDEX url_redirected ON url (subject) WHERE outcome='REDIRECTED';
CREATE TABLE known_site (
    site TEXT PRIMARY KEY,
    seen REAL NOT NULL,
    own_delay REAL,
    given_up INTEGER NOT NULL,
    robots TEXT NOT NULL,
    stand_in TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE listed (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE listing (run INTEGER PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE held (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE parts (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE deferred (key INTEGER PRIMARY KEY, document BLOB NOT NULL);
CREATE TABLE copy (key INTEGER PRIMARY KEY, checksum TEXT NOT NULL, holds INTEGER NOT NULL);
CREATE INDEX copy_checksum ON copy (checksum);
CREATE TRIGGER url_copy_gone AFTER DELETE ON url BEGIN DELETE FROM copy WHERE key=old.key; END;
CREATE TABLE depth_due (key INTEGER PRIMARY KEY, dropped BLOB NOT NULL);
-- The numbers of URLs by outcome: whoever looks at a source would otherwise read all its rows.
CREATE TABLE tally (
    outcome TEXT PRIMARY KEY,
    urls INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    documents INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER url_counted AFTER INSERT ON url BEGIN
    INSERT INTO tally VALUES (new.outcome, 1, new.indexed, new.indexed OR new.submitted)
    ON CONFLICT (outcome) DO UPDATE SET
        urls=urls+1, indexed=indexed+excluded.indexed, documents=documents+excluded.documents;
END;
CREATE TRIGGER url_uncounted AFTER DELETE ON url BEGIN
    UPDATE tally SET urls=urls-1, indexed=indexed-old.indexed, documents=documents-(old.indexed OR old.submitted)
    WHERE outcome=old.outcome;
END;
CREATE TRIGGER url_counted_again AFTER UPDATE OF outcome, indexed, submitted ON url
WHEN old.outcome<>new.outcome OR old.indexed<>new.indexed OR old.submitted<>new.submitted BEGIN
    UPDATE tally SET urls=urls-1, indexed=indexed-old.indexed, documents=documents-(old.indexed OR old.submitted)
    WHERE outcome=old.outcome;
    INSERT INTO tally VALUES (new.outcome, 1, new.indexed, new.indexed OR new.submitted)
    ON CONFLICT (outcome) DO UPDATE SET
        urls=urls+1, indexed=indexed+excluded.indexed, documents=documents+excluded.documents;
END;
