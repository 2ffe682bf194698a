-- The stores of a project in one schema of a database. A change of it needs another VERSION in schema.py, and a step in
-- MIGRATIONS that makes it; LEAST says there which programs still work with it. Enums are numbers (codes.py of the room
-- above), an empty value is NULL, and no index is on a column that a visit changes: then PostgreSQL writes a new version
-- of a row beside the old one (HOT) and touches no index.
CREATE TABLE version (number integer NOT NULL, least integer NOT NULL DEFAULT 0);
CREATE FUNCTION moment() RETURNS double precision LANGUAGE sql VOLATILE AS
    'SELECT extract(epoch FROM clock_timestamp())::double precision';
CREATE TABLE source (
    source integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE
);
-- The document caches of all machines, by the names that are in them.
CREATE TABLE place (
    place integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE
);
-- One writer a part, which holds its token; `numbered` is the highest number of its table of URLs, `place` that of the
-- document cache with which it was written last.
CREATE TABLE part (
    source integer NOT NULL,
    part integer NOT NULL,
    token uuid,
    flush_no bigint NOT NULL DEFAULT 0,
    numbered bigint NOT NULL DEFAULT 0,
    machine text NOT NULL DEFAULT '',
    process text NOT NULL DEFAULT '',
    until double precision NOT NULL DEFAULT 0,
    place integer NOT NULL DEFAULT 0,
    PRIMARY KEY (source, part)
) WITH (fillfactor = 50);
CREATE TABLE run (
    source integer NOT NULL,
    part integer NOT NULL,
    number integer NOT NULL,
    started double precision NOT NULL,
    finished double precision NOT NULL DEFAULT 0,
    scope text NOT NULL,
    report text NOT NULL DEFAULT '',
    cycle integer NOT NULL DEFAULT 0,
    minor integer NOT NULL DEFAULT 0,
    due double precision NOT NULL DEFAULT 0,
    mode text NOT NULL DEFAULT 'known',
    deleted integer NOT NULL DEFAULT 0,
    PRIMARY KEY (source, part, number)
);
CREATE TABLE listing (
    source integer NOT NULL, part integer NOT NULL, run integer NOT NULL, state text NOT NULL,
    PRIMARY KEY (source, part, run)
);
CREATE TABLE host (
    source integer NOT NULL,
    part integer NOT NULL,
    site integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    PRIMARY KEY (source, part, name)
);
CREATE UNIQUE INDEX host_site ON host (source, part, site);
CREATE TABLE url (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    number bigint NOT NULL,
    site integer NOT NULL,
    depth integer NOT NULL,
    status integer NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    hops integer NOT NULL DEFAULT 0,
    outcome smallint NOT NULL DEFAULT 0,
    cause_code smallint,
    preference smallint NOT NULL DEFAULT 1,
    indexed boolean NOT NULL DEFAULT false,
    first_seen double precision NOT NULL DEFAULT 0,
    last_fetched double precision,
    url text COLLATE "C" NOT NULL,
    display_url text COLLATE "C",
    subject text COLLATE "C",
    detail text,
    etag text,
    last_modified text,
    language text,
    checksum bytea,
    fingerprint bytea,
    sketch bytea,
    links bytea,
    PRIMARY KEY (source, part, key)
) WITH (fillfactor = 70);
-- What a visit changes and what is looked up by it. A row may be left from an earlier visit: a query compares the
-- record, and the next run deletes the row.
CREATE TABLE content (
    source integer NOT NULL, part integer NOT NULL, fingerprint bytea NOT NULL, key bigint NOT NULL,
    PRIMARY KEY (source, part, fingerprint, key)
);
CREATE TABLE shown (
    source integer NOT NULL, part integer NOT NULL, display_hash bigint NOT NULL, key bigint NOT NULL,
    PRIMARY KEY (source, part, display_hash, key)
);
CREATE TABLE redirected (
    source integer NOT NULL, part integer NOT NULL, target_hash bigint NOT NULL, key bigint NOT NULL,
    PRIMARY KEY (source, part, target_hash, key)
);
-- In which cache the document of a URL is on its way to the index; 0: that is not known.
CREATE TABLE submitted (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, place integer NOT NULL DEFAULT 0,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE removal (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, reason smallint NOT NULL, cause text NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE near (
    source integer NOT NULL,
    part integer NOT NULL,
    block bigint NOT NULL,
    fingerprint bytea NOT NULL,
    signature bigint NOT NULL,
    PRIMARY KEY (source, part, block, fingerprint)
);
CREATE TABLE revisit (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    seen integer NOT NULL DEFAULT 0,
    checks integer NOT NULL DEFAULT 0,
    changes integer NOT NULL DEFAULT 0,
    markup boolean NOT NULL DEFAULT false,
    first_at double precision NOT NULL DEFAULT 0,
    last_at double precision NOT NULL DEFAULT 0,
    quiet double precision NOT NULL DEFAULT 0,
    modified double precision NOT NULL DEFAULT 0,
    changefreq text,
    priority double precision,
    told double precision,
    PRIMARY KEY (source, part, key)
) WITH (fillfactor = 70);
CREATE TABLE failure (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    rule text COLLATE "C" NOT NULL,
    errors integer NOT NULL,
    PRIMARY KEY (source, part, key, rule)
);
CREATE TABLE queue (
    source integer NOT NULL,
    part integer NOT NULL,
    site integer NOT NULL,
    level integer NOT NULL,
    rank integer NOT NULL,
    depth integer NOT NULL,
    seq bigint NOT NULL,
    key bigint NOT NULL,
    hops smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (source, part, site, level, rank, depth, seq)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE TABLE allowance (
    source integer NOT NULL, part integer NOT NULL, site text COLLATE "C" NOT NULL, remaining integer NOT NULL,
    PRIMARY KEY (source, part, site)
);
CREATE TABLE detour (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, hops integer NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE retained (
    source integer NOT NULL,
    part integer NOT NULL,
    purpose smallint NOT NULL,
    key bigint NOT NULL,
    document bytea NOT NULL,
    PRIMARY KEY (source, part, purpose, key)
);
CREATE TABLE expiry (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, at double precision NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE copy (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    checksum text COLLATE "C" NOT NULL,
    holds boolean NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE INDEX copy_checksum ON copy (source, part, checksum);
CREATE TABLE known_site (
    source integer NOT NULL,
    part integer NOT NULL,
    site text COLLATE "C" NOT NULL,
    seen double precision NOT NULL,
    own_delay double precision,
    given_up integer NOT NULL,
    robots text NOT NULL,
    stand_in text NOT NULL,
    PRIMARY KEY (source, part, site)
) WITH (fillfactor = 70);
CREATE TABLE sitemap (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    run integer NOT NULL,
    is_index boolean NOT NULL,
    dates bytea NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE announced (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, lastmod bigint NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE feed_link (
    source integer NOT NULL,
    part integer NOT NULL,
    feed bigint NOT NULL,
    key bigint NOT NULL,
    seen double precision NOT NULL,
    date double precision NOT NULL,
    place integer NOT NULL,
    expired boolean NOT NULL,
    alone boolean NOT NULL,
    PRIMARY KEY (source, part, feed, key)
);
CREATE TABLE anchor (
    source integer NOT NULL,
    part integer NOT NULL,
    mark bigint NOT NULL,
    target bigint NOT NULL,
    pages integer NOT NULL,
    fragment text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (source, part, mark)
) WITH (fillfactor = 80);
CREATE TABLE anchor_text (
    source integer NOT NULL,
    part integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    targets integer NOT NULL,
    turned boolean NOT NULL DEFAULT false,
    PRIMARY KEY (source, part, text)
) WITH (fillfactor = 70);
CREATE TABLE anchor_page (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, marks bytea NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE TABLE anchor_redirect (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, target bigint NOT NULL,
    PRIMARY KEY (source, part, key)
);
CREATE INDEX anchor_redirected ON anchor_redirect (source, part, target);
CREATE TABLE anchor_document (
    source integer NOT NULL,
    part integer NOT NULL,
    key bigint NOT NULL,
    told bigint,
    crowded boolean NOT NULL DEFAULT false,
    due boolean NOT NULL DEFAULT false,
    PRIMARY KEY (source, part, key)
) WITH (fillfactor = 70);
CREATE TABLE anchor_left (
    source integer NOT NULL,
    part integer NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    marks bytea,
    target bigint,
    PRIMARY KEY (source, part, number)
);
CREATE TABLE depth_due (
    source integer NOT NULL, part integer NOT NULL, key bigint NOT NULL, dropped bytea NOT NULL,
    PRIMARY KEY (source, part, key)
);

-- What all sources of a project share. The number of a crawl is random, not the next one of its sequence: a standby that
-- lost the last transactions would give one out again, and a crawl whose leases ended could write under a later one.
CREATE TABLE crawl (
    crawl bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text COLLATE "C" NOT NULL,
    token uuid NOT NULL,
    machine text NOT NULL,
    process text NOT NULL,
    node text NOT NULL,
    pid integer NOT NULL,
    until double precision NOT NULL
) WITH (fillfactor = 50);
-- The number of the last writer of an index: each writer of a source takes the next one, so that no index takes what an
-- earlier one sent for newer.
CREATE TABLE epoch (last bigint NOT NULL);
INSERT INTO epoch (last) VALUES (0);
CREATE TABLE site (
    site text COLLATE "C" PRIMARY KEY,
    next_at double precision NOT NULL DEFAULT 0,
    requested double precision NOT NULL DEFAULT 0,
    delay double precision NOT NULL DEFAULT 0,
    why text NOT NULL DEFAULT '',
    on_hold boolean NOT NULL DEFAULT false,
    errors integer NOT NULL DEFAULT 0,
    slowed double precision NOT NULL DEFAULT 0,
    last_error text NOT NULL DEFAULT '',
    error_at double precision NOT NULL DEFAULT 0,
    crawl bigint NOT NULL DEFAULT 0,
    since double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX site_leased ON site (crawl) WHERE crawl <> 0;
CREATE TABLE waiting (
    number bigint GENERATED ALWAYS AS IDENTITY,
    site text COLLATE "C" NOT NULL,
    crawl bigint NOT NULL,
    PRIMARY KEY (site, crawl)
);
CREATE INDEX waiting_crawl ON waiting (crawl);
CREATE TABLE robots (
    origin text COLLATE "C" NOT NULL,
    shown text COLLATE "C" NOT NULL,
    received double precision NOT NULL,
    status integer NOT NULL,
    body bytea NOT NULL,
    error text NOT NULL,
    timed_out boolean NOT NULL,
    failed double precision NOT NULL,
    guessed double precision NOT NULL,
    PRIMARY KEY (origin, shown)
);
CREATE TABLE session (name text COLLATE "C" PRIMARY KEY, since double precision NOT NULL, sealed bytea NOT NULL);
CREATE TABLE schedule (
    name text COLLATE "C" PRIMARY KEY,
    status text NOT NULL,
    error text NOT NULL,
    due double precision,
    begun double precision NOT NULL,
    ended double precision NOT NULL,
    log text NOT NULL,
    unfinished text NOT NULL
);
CREATE TABLE schedule_run (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule text COLLATE "C" NOT NULL,
    begun double precision NOT NULL,
    ended double precision NOT NULL,
    status text NOT NULL,
    error text NOT NULL,
    log text NOT NULL,
    sources text NOT NULL
);
CREATE INDEX schedule_run_of ON schedule_run (schedule, number);
CREATE TABLE paused (source text COLLATE "C" PRIMARY KEY);
CREATE TABLE command (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    of_source boolean NOT NULL,
    command text NOT NULL,
    at double precision NOT NULL
);
-- Machines that crawl. A node lives while it has a token and `until` is ahead; it runs the plans that its token holds.
CREATE TABLE node (
    name text COLLATE "C" PRIMARY KEY,
    token uuid,
    machine text NOT NULL DEFAULT '',
    process text NOT NULL DEFAULT '',
    host text NOT NULL DEFAULT '',
    program text NOT NULL DEFAULT '',
    version integer NOT NULL DEFAULT 0,
    draining boolean NOT NULL DEFAULT false,
    until double precision NOT NULL DEFAULT 0,
    told text NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);
CREATE TABLE taken (plan text COLLATE "C" PRIMARY KEY, token uuid NOT NULL, sources text[] NOT NULL);
-- The digests with which nodes may crawl sources, and those of the files from which they were made.
CREATE TABLE release (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, files text NOT NULL);
CREATE TABLE released (source text COLLATE "C" PRIMARY KEY, digest text NOT NULL, release bigint NOT NULL);
-- Of a source, its robot, or the service (`kind`). One with a token lasts as long as its process, or until its lease ends.
CREATE TABLE note (
    kind text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    text bytea NOT NULL,
    token uuid,
    machine text NOT NULL DEFAULT '',
    process text NOT NULL DEFAULT '',
    until double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, source, name)
) WITH (fillfactor = 50);
