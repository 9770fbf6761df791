#!/bin/sh
# A linker for rustc: zig's, which knows the symbols of old C libraries. scripts/release-wheel.sh calls it, with the Python that
# has the package `ziglang` in TW_ZIG_PYTHON, and the target, such as x86_64-linux-gnu.2.28, in TW_ZIG_TARGET.
set -eu

# zig has LLVM's unwinder in place of GCC's, and links it statically.
for argument in "$@"; do
    shift
    case $argument in -lgcc_s) set -- "$@" -lunwind ;; *) set -- "$@" "$argument" ;; esac
done
exec "$TW_ZIG_PYTHON" -m ziglang cc -target "$TW_ZIG_TARGET" "$@"
