#!/usr/bin/env bash
# A peer for the bench: an agent has ended, so the state machine moves and its history grows.
# Reads the payload of SubagentStop; the JSON file is replaced by rename, without a lock or a sync.

set -euo pipefail

state_file="${PIPELINE_STATE_DIR}/pipeline-state.json"
temp_file="${PIPELINE_STATE_DIR}/.pipeline-state.tmp.$$"

log() {
    TZ=UTC printf '[%(%Y-%m-%dT%H:%M:%SZ)T] [update-pipeline-state] %s\n' -1 "$1" >&2
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

payload=$(cat)
agent=$(jq -r '.agent_type' <<<"${payload}")
before=$(jq -r '.state // "IDLE"' "${state_file}")
after=$(determine_next_state "${agent}" "${before}")

jq -c --argjson payload "${payload}" --arg agent "${agent}" \
    --arg before "${before}" --arg after "${after}" \
    --arg field "$(context_field "${agent}")" '
    (now | todate) as $now
    | .state = $after
    | .timestamp = $now
    | if $field == "" then . else .context[$field] = $payload.last_assistant_message end
    | .history += [{agent: $agent, timestamp: $now, state_before: $before, state_after: $after}]
' "${state_file}" >"${temp_file}"
mv "${temp_file}" "${state_file}"
log "${agent}: ${before} -> ${after}"
