#!/bin/sh
# A C compiler that optimises less than it is asked to: what most tests build runs for a moment, and compilers take most of
# their time. Threads share tiny grids as they would share large ones (TW_FEW). CC="sh tests/quick-cc.sh" compiles with -O1 at most, CC="sh tests/quick-cc.sh 0" as the text is written.
most=1
if [ "${1-}" = 0 ]; then most=0 && shift; fi
for word do
    shift
    case $word in -O[1-3]) word=-O$most ;; esac
    set -- "$@" "$word"
done
exec cc -DTW_FEW=0 "$@"
