"""A peer for the bench: may this agent begin now? A state machine in one JSON file, in Python.

Reads the payload of PreToolUse; ends with 0 for yes and 2 for no.
"""

import json
import os
import sys
import time

UTILITY = {"Explore", "Plan", "general-purpose"}
LANGUAGE = ("bash-", "nix-", "c-")


def log(message):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(f"[{now}] [check-subagent-allowed] {message}", file=sys.stderr)


def is_agent_allowed(agent, state):
    if state in ("IDLE", "COMPLETE"):
        return agent == "context-gatherer"
    if state == "GATHERING":
        return agent == "context-refiner" or agent in UTILITY
    if state == "REFINING":
        return agent == "strategic-orchestrator" or agent in UTILITY
    if state == "EXECUTING":
        return agent.startswith(LANGUAGE) or agent in UTILITY
    return False


def load_state():
    try:
        with open(os.path.join(os.environ["PIPELINE_STATE_DIR"], "pipeline-state.json")) as file:
            return json.load(file).get("state", "IDLE")
    except (OSError, ValueError):
        return "IDLE"


def main():
    payload = json.load(sys.stdin)
    agent = payload.get("tool_input", {}).get("subagent_type", "general-purpose")
    state = load_state()
    if is_agent_allowed(agent, state):
        log(f"approved {agent} in {state}")
        print('{"decision":"approve"}')
        return 0
    log(f"blocked {agent} in {state}")
    print(f"{agent} may not work in state {state}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
