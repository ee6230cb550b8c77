"""The loop of the bench in LangGraph: two nodes in turn, a durable checkpoint after each.

langgraph_loop.py FOLDER COUNT prints what COUNT steps took as one JSON object.
"""

import json
import os
import resource
import sqlite3
import sys
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

WARM_UP = 20


class State(TypedDict):
    turn: int
    last: int


def worker(state: State) -> dict:
    return {"turn": state["turn"] + 1}


def following(name: str):
    return lambda state: END if state["turn"] >= state["last"] else name


def compiled(saver: SqliteSaver):
    graph = StateGraph(State)
    graph.add_node("ping", worker)
    graph.add_node("pong", worker)
    graph.add_edge(START, "ping")
    graph.add_conditional_edges("ping", following("pong"), ["pong", END])
    graph.add_conditional_edges("pong", following("ping"), ["ping", END])
    return graph.compile(checkpointer=saver)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def lead(graph, thread: str, turns: int) -> None:
    config = {"configurable": {"thread_id": thread}, "recursion_limit": turns + 10}
    end = graph.invoke({"turn": 0, "last": turns}, config, durability="sync")
    assert end["turn"] == turns, end


def main() -> None:
    folder, count = sys.argv[1], int(sys.argv[2])
    connection = sqlite3.connect(f"{folder}/langgraph.db", check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    graph = compiled(SqliteSaver(connection))
    thread = f"loop-{os.getpid()}"
    if count > WARM_UP:
        lead(graph, f"warm-{thread}", WARM_UP)
    began, before = time.perf_counter(), cpu()
    lead(graph, thread, count)
    seconds, used = time.perf_counter() - began, cpu() - before
    query = "SELECT count(*) FROM checkpoints WHERE thread_id = ?"
    kept = connection.execute(query, [thread]).fetchone()[0]
    assert kept >= count, f"{kept} checkpoints of {count} steps"
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    taken = {"seconds": seconds, "cpu_seconds": used, "resident_bytes": resident}
    print(json.dumps({"transitions": count} | taken))


main()
