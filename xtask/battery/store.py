"""Edits a store as a forger would who knows SQL: `list` shows what is there, `row` and `sql` edit it."""

import json
import sqlite3
import sys

task, path, *words = sys.argv[1:]
database = sqlite3.connect(path, isolation_level=None)
database.text_factory = lambda text: text.decode(errors="surrogateescape")


def names(kind):
    found = database.execute("SELECT name FROM sqlite_master WHERE type = ? ORDER BY name", [kind])
    return [name for (name,) in found]


def columns(table):
    """The columns that are stored, and those by which a row is found; a virtual one is computed."""
    found = [row for row in database.execute(f"PRAGMA table_xinfo({table})") if row[6] == 0]
    return [row[1] for row in found], [row[1] for row in found if row[5]] or ["rowid"]


def other(value, values):
    """A value that another row has."""
    return next((it for it in values if it != value), value)


def bumped(value, _):
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        middle = len(value) // 2
        return value[:middle] + ("0" if value[middle : middle + 1] != "0" else "1") + value[middle + 1 :]
    if isinstance(value, bytes) and value:
        middle = len(value) // 2
        return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
    return 1


CHANGES = {"other": other, "bump": bumped, "null": lambda *_: None}


def edit(table, column, number, how):
    _, key = columns(table)
    place = ", ".join(key)
    rows = f"SELECT {place} FROM {table} ORDER BY {place}"
    here = database.execute(f"{rows} LIMIT 1 OFFSET {int(number)}").fetchone()
    where = " AND ".join(f"{name} IS ?" for name in key)
    if how == "delete":
        return database.execute(f"DELETE FROM {table} WHERE {where}", here)
    value = database.execute(f"SELECT {column} FROM {table} WHERE {where}", here).fetchone()[0]
    values = [row[0] for row in database.execute(f"SELECT DISTINCT {column} FROM {table}")]
    changed = CHANGES[how](value, values)
    if changed == value:
        return None
    return database.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", [changed, *here])


if task == "list":
    shown = [
        {
            "table": table,
            "columns": columns(table)[0],
            "rows": database.execute(f"SELECT count(*) FROM {table}").fetchone()[0],
        }
        for table in names("table")
    ]
    print(json.dumps(shown))
else:
    # Triggers only prevent accidents. A row that SQLite itself refuses is no edit.
    for trigger in names("trigger"):
        database.execute(f"DROP TRIGGER {trigger}")
    database.execute("PRAGMA foreign_keys = OFF")
    try:
        if task == "sql":
            database.executescript(words[0])
            print(1)
        else:
            done = edit(*words)
            print(0 if done is None else done.rowcount)
    except (sqlite3.Error, OverflowError) as error:
        print(0)
        print(error, file=sys.stderr)
