#!/usr/bin/env bash
# A peer for the bench: an agent has ended, so the state machine moves and its history grows.
# Reads the payload of SubagentStop; the JSON file is replaced by rename, without a lock or a sync.

set -euo pipefail

state_file="${PIPELINE_STATE_DIR}/pipeline-state.json"

log() {
    TZ=UTC printf '[%(%Y-%m-%dT%H:%M:%SZ)T] [update-pipeline-state] %s\n' -1 "$1" >&2
}

# What is not JSON is wrapped.
read_agent_output() {
    local output
    output=$(cat)
    if jq empty <<<"${output}" 2>/dev/null; then
        printf '%s' "${output}"
    else
        jq -n --arg output "${output}" '{last_assistant_message: $output}'
    fi
}

load_current_state() {
    if ! jq empty "${state_file}" 2>/dev/null; then
        log "warning: ${state_file} is no JSON"
        echo IDLE
        return
    fi
    jq -r '.state // "IDLE"' "${state_file}"
}

determine_next_state() {
    case "$1" in
        context-gatherer) echo GATHERING ;;
        context-refiner) echo REFINING ;;
        strategic-orchestrator) echo EXECUTING ;;
        *) echo "$2" ;;
    esac
}

context_field() {
    case "$1" in
        context-gatherer) echo gathered ;;
        context-refiner) echo refined ;;
        strategic-orchestrator) echo orchestration ;;
        *) echo '' ;;
    esac
}

update_state_file() {
    local output="$1" agent="$2" before="$3" after="$4" new_state
    local temp_file="${PIPELINE_STATE_DIR}/.pipeline-state.tmp.$$"
    new_state=$(jq --argjson output "${output}" --arg agent "${agent}" \
        --arg before "${before}" --arg after "${after}" \
        --arg field "$(context_field "${agent}")" '
        (now | todate) as $now
        | .state = $after
        | .timestamp = $now
        | if $field == "" then . else .context[$field] = $output.last_assistant_message end
        | .history += [{agent: $agent, timestamp: $now, state_before: $before, state_after: $after}]
    ' "${state_file}")
    echo "${new_state}" >"${temp_file}"
    mv "${temp_file}" "${state_file}"
}

output=$(read_agent_output)
agent=$(jq -r '.agent_type' <<<"${output}")
before=$(load_current_state)
after=$(determine_next_state "${agent}" "${before}")
update_state_file "${output}" "${agent}" "${before}" "${after}"
log "${agent}: ${before} -> ${after}"
