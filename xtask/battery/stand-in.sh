#!/bin/sh
# Stands in for every agent of the headless batteries. What it began and ended is noted beside this
# script, which lies outside of the project. Lines that begin with `by` differ each time: the same
# bytes as before would be an old artifact.
here="${0%/*}"
work="$GATEWRIGHT_STAGE ${GATEWRIGHT_STEP:--} $GATEWRIGHT_AGENT"
echo "began $GATEWRIGHT_CALL $$ $work" >>"$here/log"
cat >/dev/null
sleep 0.1
# Whoever wants this very work to take long says so there.
while read -r held 2>/dev/null <"$here/hold" && [ "$held" = "$work" ]; do sleep 0.1; done
verdict=needs_changes
if grep -q fixed plan.md 2>/dev/null; then verdict=approved; fi
by="by $GATEWRIGHT_CALL"
case "$work" in
'planning - planner') printf 'A plan.\n%s\n' "$by" >plan.md ;;
'reviewing - planner') printf 'A plan, fixed.\n%s\n' "$by" >plan.md ;;
'reviewing - first-reviewer') printf '{"verdict": "%s",\n"by": "%s"}\n' "$verdict" "$by" >first.json ;;
'reviewing - second-reviewer') printf '{"verdict": "%s",\n"by": "%s"}\n' "$verdict" "$by" ;;
'building '*)
    # In a folder of its own a step that is begun anew finds its part as it was.
    echo "built $GATEWRIGHT_STEP" >>"$GATEWRIGHT_STEP.txt"
    case "$GATEWRIGHT_STEP" in
    three) needed='one.txt two.txt' ;;
    four) needed=two.txt ;;
    *) needed= ;;
    esac
    { cat $needed "$GATEWRIGHT_STEP.txt"; echo "$by"; } >"report-$GATEWRIGHT_STEP.md" ;;
'mending - mender') echo mended >mended.txt ;;
esac
sleep 0.1
echo "ended $GATEWRIGHT_CALL $$ $work" >>"$here/log"
