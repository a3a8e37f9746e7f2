-- The tables of a run file as version 3 of the format had them.
PRAGMA application_id = 1869508722;
PRAGMA user_version = 3;
CREATE TABLE IF NOT EXISTS generations (
    id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, identity TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, generation INTEGER NOT NULL REFERENCES generations(id), data TEXT NOT NULL,
    versions TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), read_whole INTEGER NOT NULL DEFAULT 0,
    tokens_in INTEGER NOT NULL DEFAULT 0, tokens_out INTEGER NOT NULL DEFAULT 0, cost REAL
);
CREATE TABLE IF NOT EXISTS samples (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, prompt TEXT NOT NULL, image TEXT NOT NULL,
    model TEXT NOT NULL, category TEXT NOT NULL, given TEXT NOT NULL, stamp TEXT NOT NULL,
    version TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs(id), gone INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS verdicts (
    sample INTEGER NOT NULL REFERENCES samples(number), generation INTEGER NOT NULL REFERENCES generations(id),
    score INTEGER, value REAL NOT NULL, flags TEXT NOT NULL, summary TEXT NOT NULL, factors TEXT NOT NULL,
    coverage REAL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL, cost REAL, answers TEXT NOT NULL,
    image_sha256 TEXT NOT NULL, of TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (sample, generation)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, document TEXT NOT NULL, PRIMARY KEY (sample, generation)
);
CREATE TABLE IF NOT EXISTS checks (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL,
    asked TEXT NOT NULL, found TEXT NOT NULL, outcome TEXT NOT NULL, score REAL NOT NULL,
    confidence REAL NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (sample, generation, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checksums (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (sample, generation)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sample_sums (number INTEGER PRIMARY KEY, sum TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS errors (
    sample INTEGER NOT NULL, generation INTEGER NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, text TEXT NOT NULL,
    of TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (sample, generation)
) WITHOUT ROWID;
CREATE VIEW IF NOT EXISTS present_verdicts AS
    SELECT v.* FROM verdicts v JOIN samples s ON s.number = v.sample AND NOT s.gone AND s.version = v.of;
CREATE VIEW IF NOT EXISTS present_errors AS
    SELECT e.* FROM errors e JOIN samples s ON s.number = e.sample AND NOT s.gone AND s.version = e.of;
CREATE TABLE IF NOT EXISTS reviews (
    id INTEGER PRIMARY KEY, sample INTEGER NOT NULL, generation INTEGER NOT NULL, rubric TEXT NOT NULL,
    rater TEXT NOT NULL, of TEXT NOT NULL, scores TEXT NOT NULL, checks TEXT NOT NULL, comment TEXT NOT NULL,
    complete INTEGER NOT NULL, blind INTEGER NOT NULL, sum TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX IF NOT EXISTS reviews_by_rater ON reviews (rubric, rater, sample, id) WHERE NOT undone;
CREATE TABLE IF NOT EXISTS plans (
    id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, size INTEGER NOT NULL, seed INTEGER NOT NULL,
    samples TEXT NOT NULL, sum TEXT NOT NULL,
    created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')), UNIQUE (generation, size, seed)
);
CREATE VIEW IF NOT EXISTS present_reviews AS
    SELECT r.* FROM reviews r JOIN samples s ON s.number = r.sample AND NOT s.gone AND s.version = r.of
    WHERE NOT r.undone AND r.id = (
        SELECT max(id) FROM reviews l
        WHERE l.rubric = r.rubric AND l.rater = r.rater AND l.sample = r.sample AND NOT l.undone
    );
CREATE INDEX IF NOT EXISTS verdicts_to_review ON verdicts (generation, sample, of, flags, score, value);
