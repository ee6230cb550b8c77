#!/bin/sh
# Stands in for Claude Code and for Codex in the night battery: it lies beside itself under both names. What it was
# told it keeps by conversation, so that one that goes on knows its task.
here="${0%/*}"
name="${0##*/}"
case "$name $1" in
'claude --version') echo 'CLAUDE_VERSION (Claude Code)'; exit ;;
'codex --version') echo 'codex-cli CODEX_VERSION'; exit ;;
esac
id=
while [ $# -gt 0 ]; do
    case "$1" in --session-id | --resume | resume) id=$2 ;; esac
    shift
done
[ -n "$id" ] || read -r id </proc/sys/kernel/random/uuid
told="$here/told.$id"
if [ -e "$told" ]; then cat >/dev/null; else cat >"$told.new" && mv "$told.new" "$told"; fi
part=$(sed -n 's/.*PART-\([A-Z0-9-]*\).*/\1/p' "$told" | head -n 1)
[ -n "$part" ] || exit 3

begins() {
    case "$name" in
    claude) echo "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"$id\"}" ;;
    codex) echo "{\"type\":\"thread.started\",\"thread_id\":\"$id\"}" ;;
    esac
}
ends() {
    case "$name" in
    claude) echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,\"result\":\"made\",\"session_id\":\"$id\",\"total_cost_usd\":0.01,\"usage\":{\"input_tokens\":10,\"output_tokens\":10}}" ;;
    codex)
        echo '{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"made"}}'
        echo '{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":5,"output_tokens":1}}' ;;
    esac
}
# Both vendors name the time at which their limit ends.
is_limited() {
    case "$name" in
    claude) echo '{"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","api_error_status":429,"result":"This request would exceed your rate limit. Please try again in 1s."}' ;;
    codex) echo '{"type":"turn.failed","error":{"message":"Rate limit reached. Please try again in 1s."}}' ;;
    esac
    exit 1
}
spends() {
    number=1
    while [ $number -le 600 ]; do
        echo "{\"type\":\"assistant\",\"message\":{\"id\":\"msg_$$.$number\",\"content\":[{\"type\":\"text\",\"text\":\"more\"}],\"usage\":{\"input_tokens\":490,\"output_tokens\":10}}}"
        number=$((number + 1))
        sleep 0.1
    done
}

begins
# Only the first to come is limited.
case "$part" in LIMIT-*) ! mkdir "$here/limited.$part" 2>/dev/null || is_limited ;; esac
case "$part" in SPEND-*) spends ;; SLOW-*) sleep 1.5 ;; *) sleep 0.2 ;; esac
mkdir -p made
echo "$part" >"made/$part.txt"
case "$part" in
EDIT-*) echo "The heading of $part" >heading.txt ;;
BREAK-*) echo BROKEN >>"made/$part.txt" ;;
esac
# An agent commits now and then, and may be killed while git works.
git add made && git commit --quiet --message="part of $part" >/dev/null 2>&1
ends
