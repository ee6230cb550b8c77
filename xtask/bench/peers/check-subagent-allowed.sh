#!/usr/bin/env bash
# A peer for the bench: may this agent begin now? A state machine in one JSON file, read with jq.
# Reads the payload of PreToolUse; ends with 0 for yes and 2 for no. What is not JSON counts as IDLE.

set -uo pipefail

state_file="${PIPELINE_STATE_DIR}/pipeline-state.json"

log() {
    TZ=UTC printf '[%(%Y-%m-%dT%H:%M:%SZ)T] [check-subagent-allowed] %s\n' -1 "$1" >&2
}

read_tool_input() {
    jq -r '.tool_input.subagent_type // "general-purpose"'
}

load_current_state() {
    if ! jq empty "${state_file}" 2>/dev/null; then
        log "warning: ${state_file} is no JSON"
        echo IDLE
        return
    fi
    jq -r '.state // "IDLE"' "${state_file}"
}

is_utility_agent() {
    case "$1" in
        Explore | Plan | general-purpose) return 0 ;;
        *) return 1 ;;
    esac
}

is_agent_allowed() {
    local agent="$1" state="$2"
    case "${state}" in
        IDLE | COMPLETE) [[ "${agent}" == context-gatherer ]] ;;
        GATHERING) [[ "${agent}" == context-refiner ]] || is_utility_agent "${agent}" ;;
        REFINING) [[ "${agent}" == strategic-orchestrator ]] || is_utility_agent "${agent}" ;;
        EXECUTING) [[ "${agent}" =~ ^(bash-|nix-|c-) ]] || is_utility_agent "${agent}" ;;
        *) return 1 ;;
    esac
}

agent=$(read_tool_input) || exit 0
state=$(load_current_state)

if is_agent_allowed "${agent}" "${state}"; then
    log "approved ${agent} in ${state}"
    printf '{"decision":"approve"}\n'
    exit 0
fi
log "blocked ${agent} in ${state}"
printf '%s may not work in state %s\n' "${agent}" "${state}" >&2
exit 2
