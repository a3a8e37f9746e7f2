"""Run files by strangers: broken bytes, wrong types, foreign views, deep JSON. Every command answers, and in time."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from itertools import product
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, get_args

from typer.testing import CliRunner

from onprompt import load_run
from onprompt.api import judges
from onprompt.cli import app
from onprompt.errors import OnpromptError, UserError
from onprompt.pages.review import Filters, Queue, ReviewDesk
from onprompt.probe.pictures import draw
from onprompt.rubrics.edit import RUBRIC as EDIT
from onprompt.rubrics.verify import RUBRIC as VERIFY
from onprompt.runs import datasets
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.runs.run import JudgeJob, run
from onprompt.runs.schema import verdict_digest
from onprompt.settings import Settings
from tests.runs.test_run import judged, table

SAMPLES = 40
LONGEST = 60  # seconds for a command, on a busy machine
TRIED = 16  # commands on one file
PROMPTS = ("a red cup and two clocks on a table", "a blue cup and no dog", "a sign that says 'go'")
ODD = (
    *(None, b"", b"\x00\xff", 0, -1, 2**40, 2**62, -(2**63), 0.5, -0.5, 1e308, math.inf, -math.inf),
    *("", "x", "-1", "nan", "/etc/passwd", "a\x00b", "\x1b[2J", "\u202e", "x" * 100_000, "9" * 5000),
    *("null", "[]", "{}", "3", '"x"', "[1e999]", '{"score": "x"}', '{"score": null}', '{"score": 1e400}'),
    *('{"a": NaN}', f'{{"score": {10**30}}}', '{"\\ud800": 1}', '["\\ud800"]', "[" * 100_000, '{"a":' * 50_000),
    *("[" * 400 + "]" * 400, '{"a":' * 400 + "1" + "}" * 400),
)
ODD_JSON: tuple[Any, ...] = (
    *(None, True, 0, -1, 7, 2**40, 2**70, 0.5, -0.5, 1e308, math.inf, math.nan, "", "x", "matched", "\ud800"),
    *([], {}, [[]], [None], {"a": 1}, ["x", 1], {"type": "x"}, "x" * 10_000, json.loads("[" * 300 + "]" * 300)),
)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
FOREIGN = (
    "CREATE VIEW more AS SELECT 1",
    "CREATE TABLE more (x)",
    "CREATE INDEX more ON samples (prompt)",
    "CREATE TRIGGER more AFTER INSERT ON reviews BEGIN DELETE FROM reviews; END",
    "CREATE TRIGGER more AFTER UPDATE ON runs BEGIN DELETE FROM verdicts; END",
    "CREATE VIRTUAL TABLE more USING fts5(x)",
    f"DROP VIEW present_verdicts; CREATE VIEW present_verdicts AS {ENDLESS} SELECT v.* FROM verdicts v, n WHERE x < 0",
    f"ALTER TABLE samples RENAME TO other; CREATE VIEW samples AS {ENDLESS} SELECT o.* FROM other o, n",
    "DROP TABLE errors; CREATE VIEW errors AS SELECT * FROM verdicts",
    "ALTER TABLE verdicts ADD COLUMN more AS (zeroblob(1000000000))",
)


@cache
def whole() -> Path:
    """A run file without damage."""
    folder = Path(mkdtemp(prefix="onprompt-hostile-"))
    judged(folder, table(folder, SAMPLES))
    judges.close()
    return folder / "run.sqlite"


@cache
def honest() -> dict[str, Path]:
    """Runs of the evidence, on prompts and on edits, each with reviews."""
    folder = Path(mkdtemp(prefix="onprompt-hostile-"))
    for name, colour in (("a", "red"), ("b", "blue")):
        draw("table", f"{colour} cup, green clock").save(folder / f"{name}.png")
    rows = [f"{n},{'ab'[n % 2]}.png,{PROMPTS[n % 3]},m{n % 2},c{n % 3}" for n in range(6)]
    (folder / "verify.csv").write_text("\n".join(["id,image,prompt,model,category", *rows, "6,none.png,a cup,m1,c1"]))
    (folder / "edit.csv").write_text(
        "id,before,after,instruction\n0,a.png,b.png,make the cup blue\n1,b.png,a.png,no cup\n"
    )
    for rubric in (VERIFY, EDIT):
        path = folder / f"{rubric.name}.sqlite"
        run(datasets.open_dataset(str(path.with_suffix(".csv")), rubric, {}), path, JudgeJob(rubric.name, Settings()))
        with ReviewFile(path) as file:
            for number, rater in product((1, 2), ("Ada", "Bob")):
                written = Review(dict.fromkeys(rubric.factors, number), {"a cup": "mismatch"}, "no")
                file.save(number, 1, rater, written, rubric)
    judges.close()
    return {name: folder / f"{name}.sqlite" for name in ("verify", "edit")}


def case(chance: Random, folder: Path) -> Counter[str]:
    """One file with broken bytes, or with contents that onprompt would not write."""
    return (flipped if chance.random() < 0.4 else made_up)(chance, folder)


def flipped(chance: Random, folder: Path) -> Counter[str]:
    """Some bytes flipped, or cut: a verdict that is not as it was written is found by `onprompt check`."""
    path = folder / "run.sqlite"
    shutil.copy(whole(), path)
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 2, 8, 100))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data if chance.random() < 0.9 else data[: chance.randrange(len(data))])
    try:
        with RunFile(path) as file:
            damage = file.damage()
        found = {row.id: row.score for row in Run(path, 1).rows() if row.value is not None}
    except OnpromptError:
        return Counter(["bytes: refused"])
    right = {str(index): index % 10 % 5 for index in range(SAMPLES)}
    assert damage or found == right, "a verdict changed, and nobody says so"
    for each in chance.sample(commands("verify", path), TRIED // 4):
        attempt(*each)
    return Counter(["bytes: damage found" if damage else "bytes: unharmed"])


def made_up(chance: Random, folder: Path) -> Counter[str]:
    """Some commands on a file that a stranger wrote: each answers, or says in an error of ours why not."""
    name, source = chance.choice(list(honest().items()))
    path = folder / "run.sqlite"
    shutil.copy(source, path)
    if chance.random() < 0.15:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(chance.choice(FOREIGN))
    else:
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            spoil_cell(chance, path)
    codes = [attempt(*each) for each in chance.sample(commands(name, path), TRIED)]
    return Counter(["contents: answered" if 0 in codes else "contents: refused"])


def spoil_cell(chance: Random, path: Path) -> None:
    """Put something odd into a cell or all cells of a column, with digests that fit, as a stranger would."""
    with untyped(path) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        filled = [name for name in tables if database.execute(f"SELECT 1 FROM {name}").fetchone()]
        table = "documents" if chance.random() < 0.3 else chance.choice(filled)
        columns = {row[1]: row[5] for row in database.execute(f"PRAGMA table_info({table})")}
        column = "document" if table == "documents" and chance.random() < 0.9 else chance.choice(list(columns))
        keys = [name for name, in_key in columns.items() if in_key]
        *key, value = chance.choice(database.execute(f"SELECT {', '.join(keys)}, {column} FROM {table}").fetchall())
        odd = chance.choice(ODD)
        if isinstance(value, str) and value[:1] in ("{", "[") and chance.random() < 0.8:
            with suppress(ValueError, RecursionError):
                odd = json.dumps(spoil_json(chance, json.loads(value)))
        where = " AND ".join(f"{name} IS ?" for name in keys)
        if chance.random() < 0.2:
            where, key = "1", []
        with suppress(sqlite3.Error):  # the same key twice, or a number of a row that is none
            database.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (odd, *key))
        for pair in database.execute("SELECT sample, configuration FROM verdicts").fetchall():
            with suppress(sqlite3.Error, UnicodeError):
                digest = verdict_digest(database, pair), *pair
                database.execute("UPDATE verdicts SET digest = ? WHERE sample = ? AND configuration = ?", digest)


@contextmanager
def untyped(path: Path) -> Iterator[sqlite3.Connection]:
    """The database without types and constraints for a while, to put anything anywhere."""
    with closing(sqlite3.connect(path)) as database:
        kept = database.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
        set_schema(database, [(loosened(sql), name) for sql, name in kept])
    with closing(sqlite3.connect(path)) as database:
        yield database
        database.commit()
        set_schema(database, kept)


def set_schema(database: sqlite3.Connection, tables: list[tuple[str, str]]) -> None:
    """Write the SQL of tables as it is."""
    database.execute("PRAGMA writable_schema = ON")
    database.executemany("UPDATE sqlite_master SET sql = ? WHERE name = ?", tables)
    database.commit()


def loosened(sql: str) -> str:
    """The SQL of a table whose columns take anything."""
    for word in ("NOT NULL", "TEXT", "REAL", "INTEGER"):
        sql = sql.replace(word, "BLOB" if word != "NOT NULL" else "")
    return sql.replace("BLOB PRIMARY KEY", "INTEGER PRIMARY KEY")


def spoil_json(chance: Random, value: Any) -> Any:
    """JSON with one odd place."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        name = chance.choice(list(value))
        rest = {key: each for key, each in value.items() if key != name}
        return rest if chance.random() < 0.1 else {**value, name: spoil_json(chance, value[name])}
    if isinstance(value, list) and value and chance.random() < 0.9:
        place = chance.randrange(len(value))
        middle = [] if chance.random() < 0.1 else [spoil_json(chance, value[place])]
        return [*value[:place], *middle, *value[place + 1 :]]
    return chance.choice(ODD_JSON)


def commands(name: str, path: Path) -> list[tuple[str, Callable[[], int | None]]]:
    """Everything that reads a run file, by what it is called."""
    out = path.parent / "out"
    lines = [
        *("show", "show --worst 3", "show --flagged", "show --json", "show --by model", "show --by category"),
        *("show --id 0", "show --id 1 --json", f"show --id 2 --picture {out}.png", "show --id 6"),
        *("agree", "agree --json", "compare --by model", "compare --by generation", "compare --by category"),
        f"gate --fail-under value=.1 --fail-over errors=0 --baseline {honest()[name]}",
        f"gate --fail-under score=3@.5 --fail-over cost=1 --junit {out}.xml --summary {out}.md",
        *(f"report --out {out}", f"report --out {out}.html", "report --to markdown", "report --to badge"),
        *(f"export --to {to} --out {out}.{to}" for to in ("csv", "csv --answers", "claims.jsonl", "geneval")),
        *("check", f"fit --out {out}.toml", f"fit --no-reviews --out {out}.toml"),
    ]
    calls = [(line, partial(invoke, line, path)) for line in lines]
    return [*calls, *((each.__name__, partial(each, path)) for each in (in_python, in_a_browser, resumed))]


def invoke(line: str, path: Path) -> int:
    """The exit code of a command, run in this process."""
    first, *rest = line.split()
    result = CliRunner().invoke(app, [first, str(path), *rest])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code


def attempt(what: str, call: Callable[[], int | None]) -> int:
    """The exit code of a call, which ends in time and raises no error but ours."""
    start = time.monotonic()
    try:
        return call() or 0
    except OnpromptError as error:
        return error.exit_code
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    finally:
        assert time.monotonic() - start < LONGEST, f"{what} takes too long"


def in_python(path: Path) -> None:
    """load_run, its rows and its verdicts, in a notebook."""
    loaded = load_run(path)
    _ = repr(loaded)
    with suppress(UserError):  # pandas is an extra
        loaded.to_pandas()
    for row in loaded:
        with suppress(OnpromptError):
            verdict = loaded.verdict(row["id"])
            _ = repr(verdict), verdict._repr_html_()


def in_a_browser(path: Path) -> None:
    """The pages of a review, a save and an undo."""
    desk = ReviewDesk(path)
    with closing(desk):
        desk.start()
        for number in (desk.progress("Ada", Filters(kind)).following for kind in get_args(Queue)):
            if number is not None:
                desk.page(number, "Ada", Filters(), blind=False)
                with suppress(OnpromptError):
                    desk.picture(number, "image")
                desk.save(number, "Ada", Review({next(iter(desk.rubric.factors)): 1}, {"0": "matched"}))
                desk.undo("Ada")


def resumed(path: Path) -> None:
    """A run that goes on in the file."""
    try:
        judged(path.parent, table(path.parent, 2))
    finally:
        judges.close()
