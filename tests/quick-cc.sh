#!/bin/sh
# A C compiler that optimises less than it is asked to: what most tests build runs for a moment, and compilers take most of
# their time. CC="sh tests/quick-cc.sh"
for word do
    shift
    case $word in -O2 | -O3) word=-O1 ;; esac
    set -- "$@" "$word"
done
exec cc "$@"
