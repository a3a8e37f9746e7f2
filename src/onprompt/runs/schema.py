"""The tables of a run file, and what their columns may hold."""

import sqlite3
from contextlib import closing
from functools import cache

VERSION, MARK = 3, 0x6F6E7072  # the mark identifies our files: "onpr"
# A row of `reviews` is all that a rater says of a sample; the last one that is not undone counts.
REVIEW_TABLES = """
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
"""
# For reviewers, who filter thousands of verdicts: all that a filter needs of them is in the index itself.
REVIEW_INDEX = """
CREATE INDEX IF NOT EXISTS verdicts_to_review ON verdicts (generation, sample, of, flags, score, value);
"""
TABLES = """
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
"""
# What a column must not hold, by its declared type; some have limits of their own. A share may be off by rounding.
WRONG = {
    "TEXT": "typeof({0}) != 'text'",
    "INTEGER": f"typeof({{0}}) != 'integer' OR {{0}} NOT BETWEEN -{2**53} AND {2**53}",
    "REAL": "typeof({0}) != 'real' OR {0} NOT BETWEEN -0.01 AND 1.01",
}
WRONG_IN = {
    "cost": "typeof({0}) != 'real' OR {0} NOT BETWEEN 0 AND 1e9",
    "versions": "typeof({0}) != 'text' OR NOT json_valid({0})",
    # JSON with a score for each factor; half of a surrogate pair can't be written.
    "factors": r"""typeof({0}) != 'text' OR NOT json_valid({0}) OR substr({0}, 1, 1) != '{{'
        OR {0} GLOB '*\u[dD][89a-fA-F]*' OR EXISTS
        (SELECT 1 FROM json_each({0}) e WHERE e.type != 'integer' OR e.value NOT BETWEEN -1000 AND 1000)""",
}
DECODED = ("documents", "checksums", "sample_sums")  # whose values are compared, or checked where JSON is decoded


@cache
def own_schema() -> dict[str, str]:
    """The SQL of every table, view and index of ours, by name, as SQLite stores it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(TABLES + REVIEW_TABLES + REVIEW_INDEX)
        return stored_schema(database)


def stored_schema(database: sqlite3.Connection) -> dict[str, str]:
    """The SQL of all that is in a file, by name."""
    rows = database.execute("SELECT name, sql FROM sqlite_master").fetchall()
    return {str(name): " ".join(str(sql).split()) for name, sql in rows}


@cache
def type_checks() -> dict[str, str]:
    """For each table a query that finds a row with a value that is not of its column's type and range."""
    checks = {}
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(TABLES + REVIEW_TABLES)
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            wrong = []
            for _, name, kind, required, _, in_key in database.execute(f"PRAGMA table_info({table})"):
                if not in_key:  # a key of another type belongs to no sample, and is found by no query
                    value = WRONG_IN.get(name, WRONG[kind]).format(name)
                    wrong.append(value if required else f"{name} IS NOT NULL AND ({value})")
            checks[table] = f"SELECT 1 FROM {table} WHERE {' OR '.join(wrong)} LIMIT 1"  # noqa: S608
    return {table: query for table, query in checks.items() if table not in DECODED}
