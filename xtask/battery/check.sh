# The check of the headless batteries: it takes a moment, in which it can be killed.
sleep 0.2
test -f mended.txt
