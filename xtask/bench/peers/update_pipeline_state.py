"""A peer for the bench: an agent has ended, so the state machine moves and its history grows.

Reads the payload of SubagentStop; the JSON file is replaced by rename, without a lock or a sync.
"""

import json
import os
import sys
import time

NEXT = {
    "context-gatherer": "GATHERING",
    "context-refiner": "REFINING",
    "strategic-orchestrator": "EXECUTING",
}
FIELD = {
    "context-gatherer": "gathered",
    "context-refiner": "refined",
    "strategic-orchestrator": "orchestration",
}


def main():
    payload = json.load(sys.stdin)
    folder = os.environ["PIPELINE_STATE_DIR"]
    path = os.path.join(folder, "pipeline-state.json")
    with open(path) as file:
        state = json.load(file)
    agent, before = payload["agent_type"], state.get("state", "IDLE")
    after = NEXT.get(agent, before)
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    state["state"] = after
    state["timestamp"] = now
    if agent in FIELD:
        state["context"][FIELD[agent]] = payload.get("last_assistant_message")
    state["history"].append(
        {"agent": agent, "timestamp": now, "state_before": before, "state_after": after}
    )
    temp = os.path.join(folder, f".pipeline-state.tmp.{os.getpid()}")
    with open(temp, "w") as file:
        file.write(json.dumps(state))
    os.replace(temp, path)
    print(f"[{now}] [update-pipeline-state] {agent}: {before} -> {after}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
