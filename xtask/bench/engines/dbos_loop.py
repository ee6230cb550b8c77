"""The loop of the bench in DBOS: two steps in turn, each recorded durably in SQLite.

dbos_loop.py FOLDER COUNT prints what COUNT steps took as one JSON object.
"""

import json
import logging
import os
import resource
import sqlite3
import sys
import time

from dbos import DBOS, DBOSConfig, SetWorkflowID

WARM_UP = 20


@DBOS.step()
def ping(turn: int) -> int:
    return turn + 1


@DBOS.step()
def pong(turn: int) -> int:
    return turn + 1


@DBOS.workflow()
def loop(turns: int) -> int:
    turn = 0
    while turn < turns:
        turn = ping(turn) if turn % 2 == 0 else pong(turn)
    return turn


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def lead(identity: str, turns: int) -> None:
    with SetWorkflowID(identity):
        assert loop(turns) == turns


def main() -> None:
    folder, count = sys.argv[1], int(sys.argv[2])
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": f"sqlite:///{folder}/dbos.db",
        "run_admin_server": False,
        "log_level": "ERROR",
    }
    DBOS(config=config)
    DBOS.launch()
    identity = f"loop-{os.getpid()}"
    if count > WARM_UP:
        lead(f"warm-{identity}", WARM_UP)
    began, before = time.perf_counter(), cpu()
    lead(identity, count)
    seconds, used = time.perf_counter() - began, cpu() - before
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    DBOS.destroy()
    connection = sqlite3.connect(f"{folder}/dbos.db")
    query = "SELECT count(*) FROM operation_outputs WHERE workflow_uuid = ?"
    kept = connection.execute(query, [identity]).fetchone()[0]
    assert kept == count, f"{kept} records of {count} steps"
    taken = {"seconds": seconds, "cpu_seconds": used, "resident_bytes": resident}
    print(json.dumps({"transitions": count} | taken))


logging.disable(logging.ERROR)
main()
