#!/bin/sh
# Stands in for every agent of the fleet's real workers. What it began and ended is on the disk, beside this script and
# outside of every project, before it goes on.
log="${0%/*}/effects"
note() {
    echo "$1 $GATEWRIGHT_RUN $GATEWRIGHT_STAGE $GATEWRIGHT_CALL $GATEWRIGHT_START $HOME $(date +%s%3N)" >>"$log"
    sync "$log"
}
note began
cat >/dev/null
sleep 0.4
echo "$GATEWRIGHT_RUN $GATEWRIGHT_STAGE $GATEWRIGHT_CALL" >"$GATEWRIGHT_STAGE.txt"
sleep 0.4
note ended
