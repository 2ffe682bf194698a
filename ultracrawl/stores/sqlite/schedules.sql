-- The schedules of a project. A change of it needs another version of `SCHEDULES` in shared.py.
CREATE TABLE schedule (
    name TEXT PRIMARY KEY,
    status TEXT NOT NULL,
    error TEXT NOT NULL,
    due REAL,
    begun REAL NOT NULL,
    ended REAL NOT NULL,
    log TEXT NOT NULL,
    left TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    schedule TEXT NOT NULL,
    begun REAL NOT NULL,
    ended REAL NOT NULL,
    status TEXT NOT NULL,
    error TEXT NOT NULL,
    log TEXT NOT NULL,
    sources TEXT NOT NULL
);
CREATE INDEX run_of_schedule ON run (schedule, number);
CREATE TABLE paused (source TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE command (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    of_source INTEGER NOT NULL,
    command TEXT NOT NULL,
    at REAL NOT NULL
);
