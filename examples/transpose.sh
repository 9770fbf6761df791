#!/bin/sh
# Measures one configuration for `tilewright search`: transpose.sh BLOCK_I BLOCK_J WIDE COMPILER_FLAG
# The last line of the output is the result; exit code 66 says that the configuration does not compile.
set -u
program=$(mktemp) || exit 1
trap 'rm -f "$program"' EXIT
${CC:-cc} "$4" -DBLOCK_I="$1" -DBLOCK_J="$2" -DWIDE="$([ "$3" = true ] && echo 1 || echo 0)" \
    "$(dirname "$0")/transpose.c" -o "$program" || exit 66
"$program"
