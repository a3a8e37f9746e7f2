"""Run files by strangers: broken bytes, wrong types, foreign views, deep JSON. Every command answers, and in time."""

from __future__ import annotations

import json
import math
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import get_args

from PIL import Image
from typer.testing import CliRunner

from onprompt import load_run, plugins
from onprompt.cli import app
from onprompt.errors import OnpromptError, UserError
from onprompt.pages.review import Filters, Queue, ReviewDesk
from onprompt.runs.file import RunFile
from onprompt.runs.reading import Run
from onprompt.runs.reviews import Review, ReviewFile
from onprompt.runs.schema import verdict_digest
from tests.conftest import photo
from tests.hostile.damage import damaged_json

SAMPLES = 12
LONGEST = 60  # seconds for a command, on a busy machine
TRIED = 16  # commands on one file
PROMPTS = ("a red cup and two clocks on a table", "a blue cup and no dog", "a sign that says 'go'")
EDITS = ("id,before,after,instruction", "0,a.png,b.png,make the cup blue", "1,b.png,a.png,no cup")
ODD = (
    *(None, b"", b"\x00\xff", 0, -1, 2**40, 2**62, -(2**63), 0.5, -0.5, 1e308, math.inf, -math.inf),
    *("", "x", "-1", "nan", "/etc/passwd", "a\x00b", "\x1b[2J", "\u202e", "x" * 100_000, "9" * 5000),
    *("null", "[]", "{}", "3", '"x"', "[1e999]", '{"score": "x"}', '{"score": null}', '{"score": 1e400}'),
    *('{"a": NaN}', f'{{"score": {10**30}}}', '{"\\ud800": 1}', '["\\ud800"]', "[" * 100_000, '{"a":' * 50_000),
    *("[" * 400 + "]" * 400, '{"a":' * 400 + "1" + "}" * 400),
)
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
FOREIGN = (
    "CREATE VIEW more AS SELECT 1",
    "CREATE TABLE more (x)",
    "CREATE INDEX more ON samples (prompt)",
    "CREATE TRIGGER more AFTER INSERT ON reviews BEGIN DELETE FROM reviews; END",
    "CREATE VIRTUAL TABLE more USING fts5(x)",
    f"DROP VIEW present_verdicts; CREATE VIEW present_verdicts AS {ENDLESS} SELECT v.* FROM verdicts v, n WHERE x < 0",
    f"ALTER TABLE samples RENAME TO other; CREATE VIEW samples AS {ENDLESS} SELECT o.* FROM other o, n",
    "DROP TABLE errors; CREATE VIEW errors AS SELECT * FROM verdicts",
    "ALTER TABLE verdicts ADD COLUMN more AS (zeroblob(1000000000))",
)
COMMANDS = (  # the path of the run file comes second
    *("show", "show --worst 3", "show --flagged", "show --json", "show --by model", "show --by category"),
    *("show --id 0", "show --id 1 --json", "show --id 2 --picture OUT.png"),
    *("agree", "agree --json", "compare --by model", "compare --by category", "check"),
    "gate --fail-under value=.1 --fail-over errors=0 --baseline WHOLE",
    "gate --fail-under score=3@.5 --fail-over cost=1 --junit OUT.xml --summary OUT.md",
    *("report --out OUT", "report --out OUT.html", "report --to markdown", "report --to badge"),
    *(f"export --to {to} --out OUT.{to}" for to in ("csv", "claims.jsonl", "geneval")),
)


@cache
def whole(rubric: str = "verify") -> Path:
    """A run of the evidence without damage, with reviews."""
    folder = Path(mkdtemp(prefix="onprompt-hostile-"))
    for name, picture in (("a", "coffee.png"), ("b", "chelsea.png")):
        Image.fromarray(photo(picture)).resize((180, 120)).save(folder / f"{name}.png")
    rows = [f"{n},{'ab'[n % 2]}.png,{PROMPTS[n % 3]},m{n % 2},c{n % 3}" for n in range(SAMPLES)]
    lines = EDITS if rubric == "edit" else ("id,image,prompt,model,category", *rows, "none,none.png,a cup,m1,c1")
    path = folder / f"{rubric}.sqlite"
    path.with_suffix(".csv").write_text("\n".join(lines))
    invoke(f"run --rubric {rubric} --out {path}", path.with_suffix(".csv"))
    protocol = plugins.load("rubrics", rubric).RUBRIC
    with ReviewFile(path) as file:
        for number, rater in ((1, "Ada"), (1, "Bob"), (2, "Ada")):
            said = Review(dict.fromkeys(protocol.factors, number), {"a cup": "mismatch"}, "no")
            file.save(number, 1, rater, said, protocol)
    return path


def case(chance: Random, folder: Path) -> Counter[str]:
    """One file with broken bytes, or with contents that onprompt would not write."""
    rubric, path = chance.choice(("verify", "edit")), folder / "run.sqlite"
    shutil.copy(whole(rubric), path)
    if chance.random() < 0.4:
        return flipped(chance, path, rubric)
    if chance.random() < 0.15:
        with closing(sqlite3.connect(path)) as database:
            database.executescript(chance.choice(FOREIGN))
    else:
        for _ in range(chance.choice((1, 1, 1, 2, 5))):
            spoil_cell(chance, path)
    codes = [attempt(line, path, rubric) for line in chance.sample((*COMMANDS, *OTHERS), TRIED)]
    return Counter(["contents: answered" if 0 in codes else "contents: refused"])


def flipped(chance: Random, path: Path, rubric: str) -> Counter[str]:
    """Some bytes flipped, or cut: a verdict that is not as it was written is found by `onprompt check`."""
    right, data = scores(path), bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 1, 1, 2, 8, 100))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data if chance.random() < 0.9 else data[: chance.randrange(len(data))])
    try:
        with RunFile(path) as file:
            damage = file.damage()
        found = scores(path)
    except OnpromptError:
        return Counter(["bytes: refused"])
    assert damage or found == right, "a verdict changed, and nobody says so"
    for line in chance.sample((*COMMANDS, *OTHERS), TRIED // 4):
        attempt(line, path, rubric)
    return Counter(["bytes: damage found" if damage else "bytes: unharmed"])


def scores(path: Path) -> dict[str, int | None]:
    """The score of each sample that has a verdict."""
    return {row.id: row.score for row in Run(path, 1).rows() if row.value is not None}


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
            odd = json.dumps(damaged_json(chance, json.loads(value)))
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
    update = "UPDATE sqlite_master SET sql = ? WHERE name = ?"
    with closing(sqlite3.connect(path)) as database:
        kept = database.execute("SELECT sql, name FROM sqlite_master WHERE type = 'table'").fetchall()
        database.execute("PRAGMA writable_schema = ON")
        loose = r"NOT NULL|(TEXT|REAL|INTEGER)(?! PRIMARY KEY)"
        database.executemany(update, [(re.sub(loose, "", sql), name) for sql, name in kept])
        database.commit()
    with closing(sqlite3.connect(path)) as database:  # which reads the schema anew
        yield database
        database.execute("PRAGMA writable_schema = ON")
        database.executemany(update, kept)
        database.commit()


def attempt(line: str, path: Path, rubric: str) -> int:
    """The exit code of something that reads a run file, which ends in time and raises no error but ours."""
    start = time.monotonic()
    try:
        if line in COMMANDS:
            out, baseline = path.parent / "out", whole(rubric)
            return invoke(line.replace("OUT", str(out)).replace("WHOLE", str(baseline)), path)
        return OTHERS[line](path, rubric) or 0
    except OnpromptError as error:
        return error.exit_code
    except Exception as error:
        raise AssertionError(f"{line}: {error!r}") from error
    finally:
        assert time.monotonic() - start < LONGEST, f"{line} takes too long"


def invoke(line: str, path: Path) -> int:
    """The exit code of a command, run in this process."""
    first, *rest = line.split()
    result = CliRunner().invoke(app, [first, str(path), *rest])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code


def resume(path: Path, rubric: str) -> int:
    """Go on with a run in the file."""
    return invoke(f"run --rubric {rubric} --out {path}", whole(rubric).with_suffix(".csv"))


def in_python(path: Path, rubric: str) -> None:
    """load_run, its rows and its verdicts, in a notebook."""
    loaded = load_run(path)
    _ = repr(loaded)
    with suppress(UserError):  # pandas is an extra
        loaded.to_pandas()
    for row in loaded:
        with suppress(OnpromptError):
            verdict = loaded.verdict(row["id"])
            _ = repr(verdict), verdict._repr_html_()


def in_a_browser(path: Path, rubric: str) -> None:
    """The pages of a review, a save and an undo."""
    with closing(ReviewDesk(path)) as desk:
        desk.start()
        for number in (desk.progress("Ada", Filters(kind)).following for kind in get_args(Queue)):
            if number is not None:
                desk.page(number, "Ada", Filters(), blind=False)
                with suppress(OnpromptError):
                    desk.picture(number, "image")
                desk.save(number, "Ada", Review({next(iter(desk.rubric.factors)): 1}, {"0": "matched"}))
                desk.undo("Ada")


Reader = Callable[[Path, str], int | None]
OTHERS: dict[str, Reader] = {"in Python": in_python, "in a browser": in_a_browser, "resumed": resume}
